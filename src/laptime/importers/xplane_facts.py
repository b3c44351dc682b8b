"""Facts about an XPlane profile: framework, versions, rank, the time of the epoch its clock began at."""

from __future__ import annotations

import re

from laptime.importers.chrome import rank_in_name
from laptime.importers.sources import Source
from laptime.importers.xplane_lines import is_device
from laptime.importers.xplane_space import Plane, Space
from laptime.model.builder import TraceBuilder

_WORKER = re.compile(r"(?:^|[-_.])(?:w|worker)[-_]?(\d{1,6})\.xplane\.pb")
_FRAMEWORKS = (
    ("jax", re.compile(r"^PjitFunction\(|^\$(?:pjit|pxla|xla_bridge)\.py:|^backend_compile")),
    ("pytorch", re.compile(r"^SyncTensorsGraph|^torch_xla|IrEmitter\b|^Lazy(?:Graph|Tensor)")),
    ("tensorflow", re.compile(r"^(?:FunctionRun|SessionRun|EagerExecute|EagerLocalExecute|ExecutorState::Process)\b")),
)
_RELATIVE_NS = 1 << 55
"""Clocks that count from the epoch are past it (1971); those that count from the recording's start are not."""


def facts_of(space: Space, source: Source, builder: TraceBuilder) -> dict[str, object]:
    """What the report names: `meta` of the trace."""
    metadata = space.plane("/host:metadata")
    jax = metadata.stats.get("jax_version") if metadata is not None else None
    return {
        "format": "xplane",
        "framework": "jax" if isinstance(jax, str) else _framework(builder.names.texts),
        "framework_version": jax if isinstance(jax, str) else None,
        "rank": _rank(source),
        "world_size": None,
        "records_launches": any(plane.stat_key("correlation_id") >= 0 for plane in space.planes if is_device(plane)),
        "base_unix_ns": _base_unix_ns(space),
    }


def _framework(names: list[str]) -> str | None:
    for framework, pattern in _FRAMEWORKS:
        if any(pattern.search(name) for name in names):
            return framework
    return None


def _rank(source: Source) -> int | None:
    """Number of the worker in the host's name; most hosts' names tell none."""
    match = _WORKER.search(source.base_name)
    return int(match[1]) if match else rank_in_name(source)


def _base_unix_ns(space: Space) -> int | None:
    times = [line.timestamp_ns for plane in space.planes for line in plane.lines if len(line.events)]
    if times and min(times) > _RELATIVE_NS:
        return 0
    environment: Plane | None = space.plane("Task Environment")
    start = environment.stats.get("profile_start_time") if environment is not None else None
    return start if isinstance(start, int) and start > _RELATIVE_NS else None
