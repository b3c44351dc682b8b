"""Rules on the time between steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from laptime.advice.draft import Draft, on_each_rank
from laptime.advice.finding import Finding, Value
from laptime.advice.results import RankResults, Results
from laptime.advice.weight import Weight, weigh
from laptime.analyses.average_step import averaged_steps
from laptime.analyses.intervals import Intervals, complement, intersect, union
from laptime.model.arrays import IntArray
from laptime.model.vocabulary import KIND_CODE, NULL, TRACK_KINDS

_THREAD = TRACK_KINDS.index("thread")
_MOSTLY = 0.5


def step_interval(results: Results) -> Iterator[Finding]:
    """The device does nothing between the end of a step and the begin of the next one."""
    return on_each_rank(results, _step_interval)


def _step_interval(rank: RankResults) -> Iterator[Draft]:
    if rank.basis == "device":
        yield from _between_markers(rank)
    elif rank.budget is None:
        yield from _told_by_step_trace(rank)


def _between_markers(rank: RankResults) -> Iterator[Draft]:
    """Where the device's work is known: idle time between the markers, which no step's budget holds."""
    gap, totals = _gaps_before(rank)
    if not len(gap.start) or not (gap.end > gap.start).any():
        return
    idle = complement(rank.work.busy, int(gap.start.min()), int(gap.end.max()))
    waiting = intersect(idle, _waiting(rank)).within(gap.start, gap.end)
    saved = idle.within(gap.start, gap.end)
    weight = weigh(saved, totals)
    if weight is None or not weight.counts:
        return
    for_data = waiting.sum() >= _MOSTLY * saved.sum()
    draft = _draft(rank, weight, "gap_before_ns", for_data=for_data, waiting=int(waiting.sum()) // len(saved))
    yield replace(draft, rows=_first_after(rank, gap, saved))


def _first_after(rank: RankResults, gap: Intervals, saved: IntArray) -> IntArray:
    """What the device did first after the longest of the gaps."""
    longest: IntArray = np.argsort(-saved, kind="stable")[:3]
    start = rank.trace.slices["start_ns"][rank.device_rows]
    order = np.argsort(start, kind="stable")
    place = np.searchsorted(start[order], gap.end[longest])
    rows: IntArray = rank.device_rows[order[place[place < len(order)]]]
    return rows


def _gaps_before(rank: RankResults) -> tuple[Intervals, IntArray]:
    """Time between each step of the summary and the one before it in its window, and both together."""
    table = rank.trace.steps
    start, end, window = (table[name] for name in ("start_ns", "end_ns", "window"))
    follows = np.flatnonzero(window[1:] == window[:-1]) + 1
    follows = follows[np.isin(start[follows], rank.spans.start) & (start[follows] >= end[follows - 1])]
    return Intervals(end[follows - 1], start[follows]), end[follows] - end[follows - 1]


def _waiting(rank: RankResults) -> Intervals:
    """Time in which threads wait for data, in steps or between them."""
    slices = rank.trace.slices
    rows = np.flatnonzero(
        (slices["kind"] == KIND_CODE["data"]) & (rank.trace.track_kind == _THREAD) & (slices["dur_ns"] != NULL)
    )
    return union(slices["start_ns"][rows], rank.trace.end_ns[rows])


def _told_by_step_trace(rank: RankResults) -> Iterator[Draft]:
    """Where it is not: the intervals of the step trace, of the steps that the report is on."""
    listed = rank.entry["steps"]
    if not isinstance(listed, list) or not listed:
        return
    numbers = {step["step"] for step in listed}
    averaged = [step for step in averaged_steps(rank.step_trace.steps) if step["step"] in numbers]
    steps = [step for step in averaged if isinstance(step["interval_ns"], int)]
    interval, total = (np.array([step[name] for step in steps], np.int64) for name in ("interval_ns", "total_ns"))
    weight = weigh(interval, total)
    if weight is not None and weight.counts:
        yield _draft(rank, weight, "interval_ns", for_data=False, waiting=0)


def _draft(rank: RankResults, weight: Weight, part: str, *, for_data: bool, waiting: int) -> Draft:
    evidence = [Value("interval_per_step", weight.saving_ns, "ns")]
    return Draft(
        rank,
        "step_interval",
        "data_loading" if for_data else "host_busy",
        weight,
        (part,),
        title_kinds=("data",) if for_data else ("told",) if rank.budget is None else (),
        fix_kinds=("data",) if for_data else (),
        evidence=(*evidence, *([Value("data_wait_between_steps", waiting, "ns")] if waiting else [])),
        at_most="info" if rank.runs_on_cpu and not for_data else None,
    )
