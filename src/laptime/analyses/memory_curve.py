"""Live bytes of a device and its counters over time, thinned for drawing without losing a peak.

Definitions: docs/definitions.md, "Memory over time".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.analyses.intervals import Intervals
from laptime.analyses.memory import LiveBytes, curve_of, live_bytes
from laptime.analyses.memory_counters import Counter, memory_counters, whole
from laptime.analyses.memory_time import hull, memory_time
from laptime.analyses.parts import WHOLE, Part
from laptime.analyses.ranges import recorded_span
from laptime.analyses.thinning import thinned
from laptime.model.trace import Trace

Json = dict[str, object]


@dataclass(frozen=True)
class MemoryCurve:
    """Live bytes as steps: `bytes[i]` from `times_ns[i]` on. Without blocks the curve is empty and its peak unknown.

    Of some steps it goes from the first to the last of them, the time between them included; their peak is inside one.
    """

    device: str | None
    devices: list[str | None]
    times_ns: list[int]
    bytes: list[int]
    changes: int
    """Points before thinning."""
    peak_bytes: int | None
    peak_at_ns: int | None
    start_ns: int
    """Where the recording, or the part of it, begins."""
    end_ns: int
    """Where it ends; the last level holds until then."""
    capacity_bytes: int | None
    counters: list[Json]


def memory_curve(trace: Trace, *, device: str | None = None, part: Part = WHOLE, points: int = 2000) -> MemoryCurve:
    """The curve of a device, by default of the one with the highest peak.

    Raises LaptimeError for an unknown device, and for a part that the trace does not have.
    """
    time = memory_time(trace, part)
    curves = list(live_bytes(trace, time))
    live = curve_of(device, curves, where=trace.source)
    chosen = device if live is None else live.device
    kept = thinned(live.times, live.levels, points) if live else np.empty(0, np.int64)
    peak = live.peak if live else (None, None)
    start, end = _span(trace, live, time)
    return MemoryCurve(
        device=chosen,
        devices=[each.device for each in curves],
        times_ns=live.times[kept].tolist() if live else [],
        bytes=[int(level) for level in live.levels[kept].tolist()] if live else [],
        changes=len(live.times) if live else 0,
        peak_bytes=peak[0],
        peak_at_ns=peak[1],
        start_ns=start,
        end_ns=end,
        capacity_bytes=_capacity(trace, chosen),
        counters=[_counter(each, time, points) for each in memory_counters(trace) if _is_of(each, chosen)],
    )


def _span(trace: Trace, live: LiveBytes | None, time: Intervals | None) -> tuple[int, int]:
    if time is not None:
        return int(time.start[0]), int(time.end[-1])
    first, last = recorded_span(trace)
    return (first, last) if live is None else (min(first, int(live.times[0])), max(last, int(live.times[-1])))


def _counter(counter: Counter, time: Intervals | None, points: int) -> Json:
    """A counter drawn as the curve is, and its most in the part."""
    most = counter.inside(time).as_json()
    drawn = counter_curve(counter if time is None else counter.inside(hull(time)), points)
    return {**drawn, "max_value": most["max_value"], "max_at_ns": most["max_at_ns"]}


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
