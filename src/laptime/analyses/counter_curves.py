"""Counters of use: the processor's and the process's, use and clocks of devices, what a framework counts of itself.

Definitions: docs/definitions.md, "Counters".
"""

from __future__ import annotations

from dataclasses import dataclass

from laptime.analyses.memory_counters import counters, memory_counters
from laptime.analyses.memory_curve import counter_curve
from laptime.model.trace import Trace

Json = dict[str, object]
_RESIDENT = "resident memory"
"""Of the process, as laptime's recorder samples it beside its processor use."""
_PROCESSOR = ("processors", "user_percent", "sys_percent", "io_percent", "idle_percent")


@dataclass(frozen=True)
class CounterCurves:
    """Counters in order of their tracks, each with its samples; `processor` is None where no means were told."""

    counters: list[Json]
    processor: Json | None
    """Mean use of the host's processor cores, where a recording has no more than that."""


def counter_curves(trace: Trace, *, points: int = 1000) -> CounterCurves:
    """All counters but those of device memory."""
    found = []
    resident = (counter for counter in memory_counters(trace) if counter.name == _RESIDENT)
    for counter in (*counters(trace, of_memory=False), *resident):
        about = {key: value for key, value in counter.as_json().items() if key in ("max_value", "mean_value")}
        found.append({**counter_curve(counter, points), **about})
    return CounterCurves(found, _processor(trace))


def _processor(trace: Trace) -> Json | None:
    told = trace.meta.get("minddata")
    cpu = told.get("cpu") if isinstance(told, dict) else None
    if not isinstance(cpu, dict):
        return None
    means = {key: cpu.get(key) for key in _PROCESSOR}
    return means if any(value is not None for value in means.values()) else None
