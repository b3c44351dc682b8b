"""Live bytes of a device and its counters over time, thinned for drawing without losing a peak.

Definitions: docs/definitions.md, "Memory over time".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.analyses.memory import live_bytes, live_bytes_of
from laptime.analyses.memory_counters import Counter, memory_counters, whole
from laptime.analyses.ranges import recorded_span
from laptime.analyses.thinning import thinned
from laptime.model.trace import Trace

Json = dict[str, object]


@dataclass(frozen=True)
class MemoryCurve:
    """Live bytes as steps: `bytes[i]` from `times_ns[i]` on. Without blocks the curve is empty and its peak unknown."""

    device: str | None
    devices: list[str | None]
    times_ns: list[int]
    bytes: list[int]
    changes: int
    """Points before thinning."""
    peak_bytes: int | None
    peak_at_ns: int | None
    end_ns: int
    """Where the recording ends; the last level holds until then."""
    capacity_bytes: int | None
    counters: list[Json]


def memory_curve(trace: Trace, *, device: str | None = None, points: int = 2000) -> MemoryCurve:
    """The curve of a device, by default of the one with the highest peak. Raises LaptimeError for an unknown one."""
    names = [each.device for each in live_bytes(trace)]
    live = live_bytes_of(trace, device)
    chosen = device if live is None else live.device
    kept = thinned(live.times, live.levels, points) if live else np.empty(0, np.int64)
    peak = live.peak if live else (None, None)
    return MemoryCurve(
        device=chosen,
        devices=names,
        times_ns=live.times[kept].tolist() if live else [],
        bytes=[int(level) for level in live.levels[kept].tolist()] if live else [],
        changes=len(live.times) if live else 0,
        peak_bytes=peak[0],
        peak_at_ns=peak[1],
        end_ns=max(recorded_span(trace)[1], int(live.times[-1]) if live else 0),
        capacity_bytes=_capacity(trace, chosen),
        counters=[counter_curve(each, points) for each in memory_counters(trace) if _is_of(each, chosen)],
    )


def _is_of(counter: Counter, device: str | None) -> bool:
    return device is None or counter.device in (device, None)


def counter_curve(counter: Counter, points: int) -> Json:
    """Samples of a counter, thinned."""
    kept = thinned(counter.times, counter.values, points)
    values = [whole(value) for value in counter.values[kept].tolist()]
    return {
        "name": counter.name,
        "device": counter.device,
        "unit": counter.unit,
        "samples": len(counter.times),
        "times_ns": counter.times[kept].tolist(),
        "values": values,
    }


def _capacity(trace: Trace, device: str | None) -> int | None:
    """Memory that the source says the device has; its number stands at the end of its name (`cuda:0`)."""
    told = trace.meta.get("device_memory_bytes")
    number = (device or "").rpartition(":")[2]
    size = told.get(number) if isinstance(told, dict) and ":" in (device or "") else None
    return size if isinstance(size, int) else None
