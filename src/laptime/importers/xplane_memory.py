"""Allocations that XLA's allocators recorded: MemoryAllocation and MemoryDeallocation on the threads that asked."""

from __future__ import annotations

import re

import numpy as np

from laptime.importers.xplane_events import Events
from laptime.importers.xplane_space import Plane
from laptime.model.arrays import CodeArray, IntArray, distinct_codes
from laptime.model.builder import TraceBuilder
from laptime.model.tracks import TrackKey
from laptime.model.vocabulary import NULL

_SIGNS = {"MemoryAllocation": 1, "MemoryDeallocation": -1}
_ALLOCATOR = re.compile(r"^(?P<type>GPU|TPU)_(?P<device>\d{1,6})_")
_XLA, _CUDA, _HIP = 9, 1, 6
"""Device types as numbered by PyTorch, in which the memory tables name them."""


def add_memory(events: Events, start: IntArray, track: CodeArray, plane: Plane, builder: TraceBuilder) -> None:
    """Adds the allocations among the events, and the allocator's own peak as a counter."""
    signs = {code: _SIGNS[kind.name] for code, kind in plane.event_kinds.items() if kind.name in _SIGNS}
    if not signs:
        return
    rows = np.flatnonzero(np.isin(events.metadata, list(signs)))
    if not len(rows):
        return
    names, by_row = plane.stat_names, events.column(plane.stat_key("allocator_name"))
    rows = rows[(by_row[rows] != NULL) & (start[rows] != NULL)]
    if not len(rows):
        return
    told = {key: events.column(plane.stat_key(key))[rows] for key in _STATS}
    known, place = distinct_codes(events.metadata[rows])
    sign = np.array([signs[code] for code in known.tolist()], np.int64)[place]
    size = told["allocation_bytes"]
    codes, place = distinct_codes(by_row[rows])
    device = np.array([_device(names.get(code, ""), builder) for code in codes.tolist()], np.int64)[place]
    builder.memory_events.append(
        len(rows),
        {
            "track": track[rows],
            "ts": start[rows],
            "address": told["addr"],
            "bytes": np.where(size == NULL, NULL, np.where(size == NULL, 0, size) * sign),
            "total_allocated": told["bytes_allocated"],
            "total_reserved": told["bytes_reserved"],
            "device_type": device[:, 0],
            "device_id": device[:, 1],
        },
    )
    for code in codes.tolist():
        own = np.flatnonzero((by_row[rows] == code) & (told["peak_bytes_in_use"] != NULL))
        key = TrackKey("counter", "", "", name=f"peak bytes in use of {names.get(code, 'memory')}", unit="bytes")
        columns = {"ts": start[rows][own], "value": told["peak_bytes_in_use"][own]}
        builder.counters.append(len(own), {"track": np.full(len(own), builder.tracks.code(key)), **columns})


_STATS = ("addr", "allocation_bytes", "bytes_allocated", "bytes_reserved", "peak_bytes_in_use")


def _device(allocator: str, builder: TraceBuilder) -> tuple[int, int]:
    match = _ALLOCATOR.match(allocator)
    if match is None:
        return 0, NULL
    if match["type"] == "TPU":
        return _XLA, int(match["device"])
    names = builder.meta.get("device_names")
    own = str(names.get(match["device"], "")) if isinstance(names, dict) else ""
    return _HIP if "AMD" in own else _CUDA, int(match["device"])
