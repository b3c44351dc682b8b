"""Files that JAX writes beside an XPlane profile and that repeat it, told by names. Imports nothing heavy.

A run is `plugins/profile/{time}/`: `{host}.xplane.pb` for each host, and of the same recording `{host}.trace.json.gz`
and `perfetto_trace.json.gz`, which are cut at a million events.
"""

from __future__ import annotations

import re
from collections.abc import Set

_PROFILE = re.compile(r"^(?P<host>.*)\.xplane\.pb(?:\.gz)?$")
_JSON = re.compile(r"^(?P<host>.*)\.trace\.json(?:\.gz)?$|^perfetto_trace\.json(?:\.gz)?$")


def twins(files: Set[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Of (folder, name) pairs those that repeat a profile in the same folder, and that profile's name."""
    profiles: dict[str, dict[str, str]] = {}
    for folder, name in sorted(files):
        match = _PROFILE.match(name)
        if match is not None:
            profiles.setdefault(folder, {})[match["host"]] = name
    found: dict[tuple[str, str], str] = {}
    for folder, name in files:
        match = _JSON.match(name)
        hosts = profiles.get(folder, {})
        if match is not None and hosts:
            first = min(hosts.values())
            owner = first if match["host"] is None else hosts.get(match["host"])
            if owner is not None:
                found[folder, name] = owner
    return found
