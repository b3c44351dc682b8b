"""Gaps of the devices that the host causes: what ended each, how far the host was from its launch before, which wait
came last.

Definitions: docs/definitions.md, "Idle by cause" and "Findings".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.analyses.budget import StepSpans, ending_slices, gaps_of_spans, idle_causes
from laptime.analyses.device import DeviceWork, caller_of, launch_of
from laptime.model.arrays import IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import KIND_CODE, NULL


@dataclass(frozen=True)
class LateGaps:
    """One row for each gap, or part of it in a step, of which some time is `sync` or `launch`."""

    step: IntArray
    """Place of the step among the spans."""
    start_ns: IntArray
    end_ns: IntArray
    sync_ns: IntArray
    launch_ns: IntArray
    slice_id: IntArray
    """The device slice that ends it."""
    call_id: IntArray
    """Its launch, or the main thread's call for that; -1 where unknown."""
    since_launch_ns: IntArray
    """From the launch before on the same thread to this one; -1 where there is none."""
    wait_id: IntArray
    """The last wait on the same thread that began before the launch; -1 where there is none."""

    def __len__(self) -> int:
        return len(self.step)


def late_gaps(trace: Trace, rows: IntArray, work: DeviceWork, spans: StepSpans) -> LateGaps:
    """Late gaps of the device work `rows` (its unions: `work`) in each of the spans."""
    found = gaps_of_spans(work, spans)
    causes = idle_causes(trace, rows, found)
    late = np.flatnonzero(causes.sync + causes.launch)
    ending = ending_slices(trace, rows, found.whole_end[late])
    launch = np.where(ending >= 0, launch_of(trace, np.maximum(ending, 0)), -1)
    call = np.where(launch >= 0, caller_of(trace, np.maximum(launch, 0)), -1)
    since, wait = _before(trace, call)
    return LateGaps(
        found.step[late],
        found.start[late],
        found.end[late],
        causes.sync[late],
        causes.launch[late],
        ending,
        call,
        since,
        wait,
    )


def _before(trace: Trace, calls: IntArray) -> tuple[IntArray, IntArray]:
    """For each call the time since the launch before it on its thread, and the last wait there that began before it."""
    since, wait = np.full(len(calls), -1, np.int64), np.full(len(calls), -1, np.int64)
    track, start, kind = (trace.slices[name] for name in ("track_id", "start_ns", "kind"))
    known = np.flatnonzero(calls >= 0)
    for thread in np.unique(track[calls[known]]).tolist():
        own = known[track[calls[known]] == thread]
        first, last = np.searchsorted(track, [thread, thread + 1])
        launches = first + np.flatnonzero(kind[first:last] == KIND_CODE["launch"])
        place = np.searchsorted(start[launches], start[calls[own]], side="left") - 1
        has_one = place >= 0
        since[own[has_one]] = start[calls[own[has_one]]] - start[launches[place[has_one]]]
        timed = trace.slices["dur_ns"][first:last] != NULL
        waits = first + np.flatnonzero((kind[first:last] == KIND_CODE["sync"]) & timed)
        place = np.searchsorted(start[waits], start[calls[own]], side="right") - 1
        wait[own[place >= 0]] = waits[place[place >= 0]]
    return since, wait


def median_pace_ns(trace: Trace, spans: StepSpans) -> int | None:
    """Median time between two launches of one thread that follow each other in a step; None without any."""
    chosen = np.flatnonzero(trace.slices["kind"] == KIND_CODE["launch"])
    start, track = trace.slices["start_ns"][chosen], trace.slices["track_id"][chosen]
    place = np.searchsorted(spans.start, start, side="right") - 1
    inside = (place >= 0) & (start < spans.end[np.maximum(place, 0)])
    same = (track[1:] == track[:-1]) & (place[1:] == place[:-1]) & inside[1:] & inside[:-1]
    apart = (start[1:] - start[:-1])[same]
    return int(np.median(apart)) if len(apart) else None
