"""Which time of a recording counts for memory.

Definitions: docs/definitions.md, "Memory".
"""

from __future__ import annotations

import numpy as np

from laptime.analyses.intervals import Intervals
from laptime.analyses.parts import Part
from laptime.analyses.ranges import must_hold, recorded_span, time_of
from laptime.errors import LaptimeError
from laptime.model.trace import Trace
from laptime.model.vocabulary import NULL


def memory_time(trace: Trace, part: Part) -> Intervals | None:
    """Time that a part covers, None for the whole recording. Raises LaptimeError for a part that the trace lacks."""
    if part.is_whole:
        return None
    span = _known_span(trace)
    must_hold(trace, part, span=span)
    time = time_of(trace, part, span=span)
    if not len(time):
        raise LaptimeError("the range takes no time", where=trace.source, remedy="choose more steps or a longer time")
    return time


def hull(time: Intervals) -> Intervals:
    """From the first to the last moment of a time."""
    return Intervals(time.start[:1], time.end[-1:])


def _known_span(trace: Trace) -> tuple[int, int]:
    """What was recorded, with blocks and samples: some recordings have nothing else. The last change is inside."""
    first, last = recorded_span(trace)
    blocks, samples = trace.table("allocations"), trace.table("counters")
    times = np.concatenate([blocks["start_ns"], blocks["end_ns"], samples["ts_ns"]])
    times = times[times != NULL]
    return min(first, int(times.min(initial=first))), max(last, int(times.max(initial=last - 1)) + 1)
