"""Collectives by name: how often, how long, and how long without compute beside them.

Definitions: docs/definitions.md, "Utilisation and overlap".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.analyses.device import device_rows, devices_of, kernels_recorded, work_of
from laptime.analyses.intervals import Intervals, intersect, subtract, union
from laptime.model.arrays import IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import KIND_CODE, NULL, TRACK_KINDS

_THREAD = TRACK_KINDS.index("thread")


@dataclass(frozen=True)
class Collective:
    """Collectives of one name; `exposed_ns` is None where what they could hide behind was not recorded."""

    name: str
    on: str
    """device, or host where no device's collectives were recorded."""
    count: int
    total_ns: int
    exposed_ns: int | None


def collectives(trace: Trace, time: Intervals | None = None) -> list[Collective]:
    """Collectives inside some time (None: all), longest together first; those of devices where there are any."""
    device = device_rows(trace)
    rows = device[trace.slices["kind"][device] == KIND_CODE["communication"]]
    on = "device"
    if not len(rows):
        on = "host"
        rows = np.flatnonzero((trace.track_kind == _THREAD) & (trace.slices["kind"] == KIND_CODE["communication"]))
    rows = rows[trace.slices["dur_ns"][rows] != NULL]
    if time is not None:
        rows = rows[time.meets(trace.slices["start_ns"][rows], trace.end_ns[rows])]
    compute = _compute_by_device(trace, device) if on == "device" and kernels_recorded(trace) else None
    names = trace.slices.texts("name")
    codes = trace.slices["name"][rows]
    found = [_of_name(trace, names[code], rows[codes == code], compute, time, on) for code in np.unique(codes).tolist()]
    return sorted(found, key=lambda each: (-each.total_ns, each.name))


def _of_name(
    trace: Trace, name: str, rows: IntArray, compute: dict[int, Intervals] | None, time: Intervals | None, on: str
) -> Collective:
    start, end = trace.slices["start_ns"][rows], trace.end_ns[rows]
    total = int((end - start).sum() if time is None else time.within(start, end).sum())
    exposed = None if compute is None else _exposed(devices_of(trace, rows), start, end, compute, time)
    return Collective(name, on, len(rows), total, exposed)


def _exposed(
    device: IntArray, start: IntArray, end: IntArray, compute: dict[int, Intervals], time: Intervals | None
) -> int:
    """Time with a collective and without compute, on each device by itself."""
    total = 0
    for key in np.unique(device).tolist():
        own = union(start[device == key], end[device == key])
        bare = subtract(own, compute[key])
        total += (bare if time is None else intersect(bare, time)).total_ns
    return total


def _compute_by_device(trace: Trace, rows: IntArray) -> dict[int, Intervals]:
    timed = rows[trace.slices["dur_ns"][rows] != NULL]
    device = devices_of(trace, rows)
    own = devices_of(trace, timed)
    return {key: work_of(trace, timed[own == key]).compute for key in np.unique(device).tolist()}
