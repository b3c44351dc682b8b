"""Where each step's time goes: an exclusive partition of its span, and the causes of what is idle.

Definitions: docs/definitions.md, "Step budget" and "Idle by cause".
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from laptime.analyses.call_sites import op_rows
from laptime.analyses.device import (
    DeviceWork,
    caller_of,
    covered_span,
    device_rows,
    kernels_recorded,
    launch_of,
    work_of,
)
from laptime.analyses.intervals import EMPTY, Intervals, complement, join, subtract, union
from laptime.model.arrays import BoolArray, IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import KIND_CODE, NULL, TRACK_KINDS

_THREAD = TRACK_KINDS.index("thread")


@dataclass(frozen=True)
class Budget:
    """Parts of a span in ns: compute + communication_exposed + copy_exposed + idle = total; idle parts sum to idle."""

    basis: str
    total_ns: int
    compute_ns: int
    communication_exposed_ns: int
    copy_exposed_ns: int
    idle_ns: int
    idle_data_wait_ns: int
    idle_sync_ns: int
    idle_launch_ns: int | None
    idle_other_ns: int
    compile_ns: int | None

    def as_json(self) -> dict[str, object]:
        """BUDGET of the JSON contract."""
        return asdict(self)


@dataclass(frozen=True)
class StepSpans:
    """Start and end of each step, in order of time."""

    start: IntArray
    end: IntArray

    @staticmethod
    def of(trace: Trace) -> StepSpans:
        """Spans of a trace's steps."""
        return StepSpans(trace.steps["start_ns"], trace.steps["end_ns"])


def step_budgets(trace: Trace) -> list[Budget | None]:
    """Budget of each step; None for a step that the device's record does not cover."""
    return budgets_of(trace, StepSpans.of(trace))


def budgets_of(trace: Trace, steps: StepSpans) -> list[Budget | None]:
    """Budget of each span; None for one that the device's record does not cover, or whose kernels it left out."""
    if not len(steps.start):
        return []
    if not kernels_recorded(trace):
        return [None] * len(steps.start)
    rows = device_rows(trace)
    rows = rows[trace.slices["dur_ns"][rows] != NULL]
    compile_ns = _compile_ns(trace, steps)
    if not len(rows):
        return _host_budgets(trace, steps, compile_ns)
    first, last = covered_span(trace)
    covered = (steps.start >= first) & (steps.end <= last)
    budgets = _device_budgets(trace, steps, rows, compile_ns)
    return [budget if whole else None for budget, whole in zip(budgets, covered.tolist(), strict=True)]


# ---- on the device ----


def _device_budgets(
    trace: Trace, steps: StepSpans, rows: IntArray, compile_ns: list[int | None]
) -> list[Budget | None]:
    work = work_of(trace, rows)
    compute = work.compute.within(steps.start, steps.end)
    communication = work.communication_exposed.within(steps.start, steps.end)
    copy = work.copy_exposed.within(steps.start, steps.end)
    gaps = gaps_of_spans(work, steps)
    causes = idle_causes(trace, rows, gaps)
    budgets: list[Budget | None] = []
    for index in range(len(steps.start)):
        total = int(steps.end[index] - steps.start[index])
        own = gaps.step == index
        data_wait, sync, launch = (int(part[own].sum()) for part in (causes.data_wait, causes.sync, causes.launch))
        idle = total - int(compute[index]) - int(communication[index]) - int(copy[index])
        budgets.append(
            Budget(
                basis="device",
                total_ns=total,
                compute_ns=int(compute[index]),
                communication_exposed_ns=int(communication[index]),
                copy_exposed_ns=int(copy[index]),
                idle_ns=idle,
                idle_data_wait_ns=data_wait,
                idle_sync_ns=sync,
                idle_launch_ns=launch,
                idle_other_ns=idle - data_wait - sync - launch,
                compile_ns=compile_ns[index],
            )
        )
    return budgets


@dataclass(frozen=True)
class Gaps:
    """Idle parts of steps, [start, end) cut at the step's span; `whole_start` and `whole_end` are of the uncut gap.

    `whole_end` is NULL where no device slice follows.
    """

    step: IntArray
    start: IntArray
    end: IntArray
    whole_start: IntArray
    whole_end: IntArray


def gaps_of_spans(work: DeviceWork, steps: StepSpans) -> Gaps:
    """All gaps of the work, cut at the spans they lie in."""
    busy = work.busy
    first_work, last_work = (busy.start[0], busy.end[-1]) if len(busy) else (steps.end.max(), steps.start.min())
    before, after = int(min(first_work, steps.start.min())), int(max(last_work, steps.end.max()))
    idle = complement(busy, before, after)
    spans_first = np.searchsorted(idle.end, steps.start, side="right")
    spans_last = np.searchsorted(idle.start, steps.end, side="left")
    counts = np.maximum(spans_last - spans_first, 0)
    step = np.repeat(np.arange(len(steps.start)), counts)
    gap = np.arange(len(step)) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(spans_first, counts)
    whole_end = np.where(idle.end[gap] > last_work, NULL, idle.end[gap])
    return Gaps(
        step,
        np.maximum(idle.start[gap], steps.start[step]),
        np.minimum(idle.end[gap], steps.end[step]),
        np.where(idle.start[gap] < first_work, NULL + 1, idle.start[gap]),
        whole_end,
    )


@dataclass(frozen=True)
class IdleCauses:
    """Time of each gap by cause; what is left of the gap is `other`."""

    data_wait: IntArray
    sync: IntArray
    launch: IntArray


def idle_causes(trace: Trace, rows: IntArray, gaps: Gaps) -> IdleCauses:
    """Splits gaps by why the device had nothing to do.

    The first device slice n after a gap [a, b) tells: its launch L on thread T. Launched before a, the slice was queued
    in time: other. Else the host was late: time of [a, min(L, b)) inside data slices of T waited for data; the rest
    waited for the host to come back from a blocking wait, if T was in one at a or one ended after the last device
    slice and before L with no launch after it; else simply for the launch.

    Where another thread launches what the main thread called (an executor beside the interpreter), T is the main thread
    and L is its call where that is known, while the launch itself tells whether the slice was queued in time.
    """
    count = len(gaps.step)
    ending = ending_slices(trace, rows, gaps.whole_end)
    launch = np.where(ending >= 0, launch_of(trace, np.maximum(ending, 0)), -1)
    has_links = bool((launch_of(trace, rows) >= 0).any())
    known = launch >= 0
    launch_start = np.where(known, trace.slices["start_ns"][np.maximum(launch, 0)], NULL)
    call = np.where(known, caller_of(trace, launch), 0)
    call_start = np.where(known, trace.slices["start_ns"][call], NULL)
    thread = np.where(known, trace.slices["track_id"][call], -1)
    main = -1 if trace.main_thread is None else trace.main_thread
    thread = np.where(np.isin(thread, trace.executor_threads), main, thread)
    unfinished = gaps.whole_end == NULL
    if not has_links:
        thread, call_start, known = np.full(count, main), gaps.end.copy(), ~unfinished & (main >= 0)
        launch_start = call_start
    late = known & (launch_start >= gaps.start)
    called_late = late & (call_start >= gaps.start)
    data_wait = np.zeros(count, np.int64)
    sync = np.zeros(count, np.int64)
    waiting = np.zeros(count, bool)
    for track in np.unique(thread[called_late]).tolist():
        own = np.flatnonzero(called_late & (thread == track))
        data_wait[own] = time_of_kind(trace, "data", track).within(
            gaps.start[own], np.minimum(call_start[own], gaps.end[own])
        )
        waiting[own] = _waited(trace, track, gaps, own, call_start[own])
    if main >= 0:
        data_wait[unfinished] = time_of_kind(trace, "data", main).within(gaps.start[unfinished], gaps.end[unfinished])
    elif not has_links:  # of the host only its waits were recorded
        data_wait = _on_any_thread(trace, "data").within(gaps.start, gaps.end)
    rest = gaps.end - gaps.start - data_wait
    sync[late & waiting] = rest[late & waiting]
    return IdleCauses(data_wait, sync, np.where(late & ~waiting, rest, 0))


def ending_slices(trace: Trace, rows: IntArray, ends: IntArray) -> IntArray:
    """The first device slice that starts where each gap ends; -1 where there is none."""
    starts = trace.slices["start_ns"][rows]
    order = np.lexsort((rows, starts))
    place = np.minimum(np.searchsorted(starts[order], ends), len(rows) - 1)
    return np.where(ends == NULL, -1, rows[order[place]])


def time_of_kind(trace: Trace, kind: str, track: int) -> Intervals:
    """Union of the slices of a kind on a track."""
    first, last = np.searchsorted(trace.slices["track_id"], [track, track + 1])
    chosen = first + np.flatnonzero(trace.slices["kind"][first:last] == KIND_CODE[kind])
    return union(trace.slices["start_ns"][chosen], trace.end_ns[chosen])


def _waited(trace: Trace, track: int, gaps: Gaps, own: IntArray, call_start: IntArray) -> BoolArray:
    first, last = np.searchsorted(trace.slices["track_id"], [track, track + 1])
    kinds = trace.slices["kind"][first:last]
    waits = first + np.flatnonzero(kinds == KIND_CODE["sync"])
    if not len(waits):
        return np.zeros(len(own), bool)
    inside = time_of_kind(trace, "sync", track).holds(gaps.start[own])
    wait_ends = np.sort(trace.end_ns[waits])
    place = np.searchsorted(wait_ends, call_start, side="right") - 1
    ended = wait_ends[np.maximum(place, 0)]
    launches = np.sort(trace.slices["start_ns"][first + np.flatnonzero(kinds == KIND_CODE["launch"])])
    between = np.searchsorted(launches, call_start, side="left") - np.searchsorted(launches, ended, side="left")
    came_back = (place >= 0) & (ended >= gaps.whole_start[own]) & (between <= 0)
    return np.asarray(inside | came_back)


# ---- on the host ----


def _host_budgets(trace: Trace, steps: StepSpans, compile_ns: list[int | None]) -> list[Budget | None]:
    """Each instant of the main thread goes to the first that applies: data, communication (any thread), sync, op.

    Of a recording without operators ranges take their place.
    """
    thread = trace.main_thread
    if thread is None:
        return [None] * len(steps.start)
    data = time_of_kind(trace, "data", thread)
    communication = subtract(_on_any_thread(trace, "communication"), data)
    taken = join(data, communication)
    sync = subtract(time_of_kind(trace, "sync", thread), taken)
    taken = join(taken, sync)
    op = subtract(time_of_kind(trace, "op" if len(op_rows(trace)) else "scope", thread), taken)
    parts = [part.within(steps.start, steps.end) for part in (op, communication, data, sync)]
    budgets: list[Budget | None] = []
    for index, (compute, exposed, wait, blocked) in enumerate(np.stack(parts, axis=1).tolist()):
        total = int(steps.end[index] - steps.start[index])
        idle = total - compute - exposed
        budgets.append(
            Budget(
                basis="host",
                total_ns=total,
                compute_ns=compute,
                communication_exposed_ns=exposed,
                copy_exposed_ns=0,
                idle_ns=idle,
                idle_data_wait_ns=wait,
                idle_sync_ns=blocked,
                idle_launch_ns=None,
                idle_other_ns=idle - wait - blocked,
                compile_ns=compile_ns[index],
            )
        )
    return budgets


def _on_any_thread(trace: Trace, kind: str) -> Intervals:
    rows = np.flatnonzero((trace.track_kind == _THREAD) & (trace.slices["kind"] == KIND_CODE[kind]))
    return union(trace.slices["start_ns"][rows], trace.end_ns[rows])


def _compile_ns(trace: Trace, steps: StepSpans) -> list[int | None]:
    """Time inside compile slices of the main thread; None where the source shows no compilation at all."""
    thread = trace.main_thread
    compiling = EMPTY if thread is None else time_of_kind(trace, "compile", thread)
    if not len(compiling):
        return [None] * len(steps.start)
    return list(compiling.within(steps.start, steps.end).tolist())
