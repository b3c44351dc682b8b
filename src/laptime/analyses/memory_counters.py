"""Counters over time: those of memory, which the allocator or the device itself told, and all others.

Definitions: docs/definitions.md, "Memory", "Counters".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from laptime.analyses.intervals import Intervals
from laptime.model.arrays import IntArray
from laptime.model.trace import Trace

_OF_MEMORY = re.compile(r"mem|alloc|reserved|bytes", re.IGNORECASE)
_DEVICE_IN_NAME = re.compile(r"\bof (?P<last>\S.*)$|^(?P<first>\w+:\d+)_alloc_mem\b")
_EXACT = 2.0**62


@dataclass(frozen=True)
class Counter:
    """Samples of one counter in order of time; none of them is NaN or infinite."""

    name: str
    device: str | None
    unit: str | None
    times: IntArray
    values: npt.NDArray[np.float64]

    def inside(self, time: Intervals | None) -> Counter:
        """The same counter with its samples of a time; with all where none is given."""
        if time is None:
            return self
        kept = time.holds(self.times)
        return replace(self, times=self.times[kept], values=self.values[kept])

    def as_json(self) -> dict[str, object]:
        """Its entry in `counters` of `laptime memory`; what no sample tells is None."""
        most = int(np.argmax(self.values)) if len(self.values) else None
        with np.errstate(over="ignore"):
            mean = math.nan if most is None else float(np.mean(self.values))
        return {
            "name": self.name,
            "device": self.device,
            "unit": self.unit,
            "max_value": None if most is None else whole(float(self.values[most])),
            "max_at_ns": None if most is None else int(self.times[most]),
            "mean_value": mean if math.isfinite(mean) else None,
            "samples": len(self.values),
        }


def memory_counters(trace: Trace) -> Iterator[Counter]:
    """Counters of bytes, and those whose name speaks of memory; samples that are no numbers are left out."""
    return counters(trace, of_memory=True)


def counters(trace: Trace, *, of_memory: bool) -> Iterator[Counter]:
    """Counters of memory, or all others; samples that are no numbers are left out."""
    tracks = trace.tracks.arrow(["track_id", "kind", "name", "unit", "device"]).to_pylist()
    table = trace.table("counters")
    table.load("track_id", "ts_ns", "value")
    for track in tracks:
        name = str(track["name"])
        if track["kind"] != "counter" or _is_of_memory(name, track["unit"]) != of_memory:
            continue
        rows = np.flatnonzero(table["track_id"] == track["track_id"])
        values = np.asarray(table["value"][rows], np.float64)
        finite = np.isfinite(values)
        if finite.any():
            match = _DEVICE_IN_NAME.search(name) if of_memory else None
            device = (match["last"] or match["first"]) if match else None
            yield Counter(name, device, track["unit"], table["ts_ns"][rows][finite], values[finite])


def _is_of_memory(name: str, unit: object) -> bool:
    return unit == "bytes" or _OF_MEMORY.search(name) is not None


def whole(value: float) -> int | float:
    """Bytes are whole numbers; what else a counter counts may not be."""
    return int(value) if value.is_integer() and abs(value) < _EXACT else value
