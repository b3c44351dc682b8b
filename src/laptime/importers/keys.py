"""Under which keys traces and runs lie in the workspace. Imports nothing heavy."""

from __future__ import annotations

import os
from collections.abc import Sequence

from laptime._version import __version__
from laptime.importers.sources import Source
from laptime.model.workspace import fingerprint, joined_key

IMPORT_VERSION = "16"
"""Changes whenever the same file would give other tables."""


def trace_key(source: Source) -> str:
    """Key of a source's trace. Raises OSError where the file cannot be read."""
    files = source.files or (source.path,)
    prints = [f"{file.name} {fingerprint(file, source.member)}" for file in files]
    device = "" if source.device is None else str(source.device)
    return joined_key([*prints, source.base_name, source.format or "", device, IMPORT_VERSION, __version__])


def run_key(path: str | os.PathLike[str], sources: Sequence[Source]) -> str:
    """Key of what a path holds now: its place and all its sources, readable or not."""
    return joined_key([os.path.abspath(path), *sorted(_key_or_name(source) for source in sources)])


def _key_or_name(source: Source) -> str:
    try:
        return trace_key(source)
    except OSError:
        return source.name
