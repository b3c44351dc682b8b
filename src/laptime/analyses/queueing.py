"""Whether the device has work queued: how far it runs behind its launches, and what ends the gaps in which it has none.

Definitions: docs/definitions.md, "Queueing".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from laptime.analyses.averages import mean, quantile
from laptime.analyses.budget import StepSpans, gaps_of_spans, idle_causes
from laptime.analyses.device import device_rows, kernels_recorded, launch_of, work_of
from laptime.model.arrays import IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import NULL

Json = dict[str, object]
CAUSES = ("data_wait", "sync", "launch", "other")
_RECORDED = "device_ahead_ms"
"""MegEngine's own counter of how far the device's queue runs ahead."""
_MOST_MS = 1e12
"""Greater values, and what is no number, are no times."""


@dataclass(frozen=True)
class Gaps:
    """Gaps of a step in which no device works, counted by cause: each where most of its time belongs."""

    count: int
    data_wait: int
    sync: int
    launch: int
    other: int
    longest_ns: int | None
    longest_cause: str | None


@dataclass(frozen=True)
class Launches:
    """How long after the end of its launch each device slice of a step starts; negative where it starts before."""

    count: int
    mean_ns: int
    min_ns: int
    p50_ns: int
    p90_ns: int
    max_ns: int
    recorded_mean_ns: int | None
    """Mean of what the source itself recorded of it."""


def gaps(trace: Trace, spans: StepSpans) -> list[Gaps] | None:
    """Gaps of each span; None where no device slice was recorded."""
    rows = device_rows(trace)
    rows = rows[trace.slices["dur_ns"][rows] != NULL]
    if not len(rows) or not len(spans.start) or not kernels_recorded(trace):
        return None
    found = gaps_of_spans(work_of(trace, rows), spans)
    causes = idle_causes(trace, rows, found)
    length = found.end - found.start
    parts = [causes.data_wait, causes.sync, causes.launch]
    parts.append(length - sum(parts))
    cause = np.argmax(np.stack(parts), axis=0)
    return [_gaps_of(cause[found.step == place], length[found.step == place]) for place in range(len(spans.start))]


def _gaps_of(cause: IntArray, length: IntArray) -> Gaps:
    data_wait, sync, launch, other = np.bincount(cause, minlength=len(CAUSES)).tolist()
    longest = int(np.argmax(length)) if len(length) else None
    longest_ns = None if longest is None else int(length[longest])
    longest_cause = None if longest is None else CAUSES[int(cause[longest])]
    return Gaps(len(cause), data_wait, sync, launch, other, longest_ns, longest_cause)


@dataclass(frozen=True)
class Delays:
    """Launches of the whole recording: when each began, how long after its end the device slice started."""

    launched_ns: IntArray
    delay_ns: IntArray
    sampled_ns: IntArray
    recorded_ns: IntArray
    """Samples of the source's own counter."""

    def between(self, first: int, last: int) -> Launches | None:
        """Of launches that begin in [first, last); None without any."""
        return self.within([(first, last)])

    def within(self, spans: Sequence[tuple[int, int]]) -> Launches | None:
        """Of launches that begin in any of some spans; None without any."""
        delays, recorded = (
            [value for first, last in spans for value in values[(times >= first) & (times < last)].tolist()]
            for times, values in ((self.launched_ns, self.delay_ns), (self.sampled_ns, self.recorded_ns))
        )
        if not delays:
            return None
        middle, most = quantile(delays, 50), quantile(delays, 90)
        own = mean(recorded) if recorded else None
        return Launches(len(delays), mean(delays), min(delays), middle, most, max(delays), own)


def delays_of(trace: Trace) -> Delays:
    """Launches of all device slices whose launch was recorded."""
    rows = device_rows(trace)
    launch = launch_of(trace, rows)
    rows, launch = rows[launch >= 0], launch[launch >= 0]
    sampled, recorded = _recorded(trace)
    delay = trace.slices["start_ns"][rows] - trace.end_ns[launch]
    return Delays(trace.slices["start_ns"][launch], delay, sampled, recorded)


def _recorded(trace: Trace) -> tuple[IntArray, IntArray]:
    names = trace.tracks["name"]
    tracks = np.flatnonzero((names == _RECORDED) & (trace.tracks["kind"] == "counter"))
    counters = trace.table("counters")
    chosen = np.isin(counters["track_id"], tracks) & (np.abs(counters["value"]) < _MOST_MS)
    return counters["ts_ns"][chosen], np.rint(counters["value"][chosen] * 1e6).astype(np.int64)


def summary(steps: list[Json], delays: Delays) -> Json | None:
    """Over complete steps with a budget on the device: share busy, gaps per step by cause, all launches; else None."""
    budgets = [(step, step["budget"]) for step in steps if step["complete"]]
    used = [(step, budget) for step, budget in budgets if isinstance(budget, dict) and budget["basis"] == "device"]
    if not used:
        return None
    total = sum(budget["total_ns"] for _, budget in used)
    idle = sum(budget["idle_ns"] for _, budget in used)
    counted = [step["gaps"] for step, _ in used if isinstance(step["gaps"], dict)]
    begins = [(_int(step["start_ns"]), _int(step["dur_ns"])) for step, _ in used]
    launches = delays.within([(begin, begin + dur) for begin, dur in begins])
    return {
        "busy_share": (total - idle) / total if total else None,
        "gaps_per_step": {cause: sum(each[cause] for each in counted) / len(used) for cause in CAUSES},
        "launches": asdict(launches) if launches else None,
    }


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0
