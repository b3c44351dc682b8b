"""Training steps: from markers, or inferred from what repeats; which slice belongs to which step and phase."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from laptime.model.arrays import BoolArray, IntArray, distinct_codes
from laptime.model.assembly import Assembled
from laptime.model.builder import GivenStep, Warnings
from laptime.model.classify import is_autograd_node, is_optimizer_step, is_profiler_step, phase_root, step_number
from laptime.model.links import Flows
from laptime.model.nesting import track_bounds
from laptime.model.repetition import find_cycles
from laptime.model.vocabulary import KIND_CODE, NULL, PHASE_CODE

_NEARLY_EMPTY = 0.1
"""A last marked step with less than this share of the others' slices and duration was cut by the end of the window."""
_CALLS = ("async", "launch")
"""Links from a call to what runs for it, in the order in which they follow each other."""


@dataclass
class Steps:
    """One row per step, in order of time. NULL is unknown."""

    step: IntArray
    start: IntArray
    end: IntArray
    label: list[str]
    source: str
    complete: BoolArray
    thread: int | None
    """Main thread's track id."""
    forward_start: IntArray
    backward_end: IntArray
    optimizer_start: IntArray
    window: IntArray

    def __len__(self) -> int:
        return len(self.step)

    def holding(self, times: IntArray) -> IntArray:
        """Index of the step whose span holds each time; -1 outside."""
        place = np.searchsorted(self.start, times, side="right") - 1
        inside = (place >= 0) & (times < self.end[np.maximum(place, 0)]) if len(self) else np.zeros(len(times), bool)
        return np.where(inside, place, -1)


def find_steps(slices: Assembled, names: list[str], warnings: Warnings, *, truncated: bool) -> Steps:
    """Marked steps of the thread with most markers; without markers the whole cycles of what repeats.

    A marker whose name has no number is none here: its source has told what is a step.
    """
    kinds = slices.columns["kind"]
    markers = np.flatnonzero(slices.on_thread & (kinds == KIND_CODE["step"]) & (slices.columns["dur"] != NULL))
    numbered = [step_number(names[code]) is not None for code in slices.columns["name"][markers]]
    markers = markers[np.array(numbered, bool)]
    own = np.array([is_profiler_step(names[code]) for code in slices.columns["name"][markers]], bool)
    markers = markers[own] if own.any() else markers
    steps = _marked(slices, names, markers, truncated=truncated) if len(markers) else _inferred(slices, names)
    warn_of_partial(steps, warnings)
    return steps


def warn_of_partial(steps: Steps, warnings: Warnings) -> None:
    """Names the steps that the recording does not hold whole."""
    if len(steps) and not steps.complete.all():
        warnings.add(
            "partial_step",
            "steps that the recording does not hold whole; left out of averages",
            int(np.count_nonzero(~steps.complete)),
        )


def _marked(slices: Assembled, names: list[str], markers: IntArray, *, truncated: bool) -> Steps:
    track = slices.columns["track"]
    tracks, counts = np.unique(track[markers], return_counts=True)
    thread = int(tracks[np.argmax(counts)])
    markers = markers[track[markers] == thread]
    labels = [names[code] for code in slices.columns["name"][markers]]
    start, end = slices.columns["start"][markers].astype(np.int64), slices.end[markers]
    complete = np.ones(len(markers), bool)
    complete[-1] = not truncated and not _is_nearly_empty_last(slices, thread, start, end)
    numbers = np.array([step_number(label) for label in labels], np.int64)
    return _with_unknown_phases(numbers, start, end, labels, "marked", complete, thread)


def _is_nearly_empty_last(slices: Assembled, thread: int, start: IntArray, end: IntArray) -> bool:
    if len(start) < 2:
        return False
    first, last = np.searchsorted(slices.columns["track"], [thread, thread + 1])
    starts = slices.columns["start"][first:last]
    counts = np.searchsorted(starts, end) - np.searchsorted(starts, start)
    durations = end - start
    return bool(
        counts[-1] < _NEARLY_EMPTY * np.median(counts[:-1])
        and durations[-1] < _NEARLY_EMPTY * np.median(durations[:-1])
    )


def _inferred(slices: Assembled, names: list[str]) -> Steps:
    cycles = find_cycles(slices, names)
    number = np.arange(1, len(cycles.start) + 1, dtype=np.int64)
    return _with_unknown_phases(
        number, cycles.start, cycles.end, [cycles.label] * len(number), "inferred", cycles.whole, cycles.thread
    )


def _with_unknown_phases(
    step: IntArray,
    start: IntArray,
    end: IntArray,
    label: list[str],
    source: str,
    complete: BoolArray,
    thread: int | None,
) -> Steps:
    unknown = np.full(len(step), NULL, np.int64)
    window = np.ones(len(step), np.int64)
    return Steps(step, start, end, label, source, complete, thread, unknown, unknown.copy(), unknown.copy(), window)


def given_steps(rows: list[GivenStep], origin_ns: int, thread: int | None = None) -> Steps:
    """Steps that the source itself tells, on the rank's own clock, in order of time; and its main thread if it does."""
    rows = sorted(rows, key=lambda row: row.start_ns)

    def times(values: list[int | None]) -> IntArray:
        return np.array([NULL if value is None else value - origin_ns for value in values], np.int64)

    return Steps(
        step=np.array([row.step for row in rows], np.int64),
        start=times([row.start_ns for row in rows]),
        end=times([row.end_ns for row in rows]),
        label=[row.label for row in rows],
        source=rows[0].source,
        complete=np.array([row.complete for row in rows], bool),
        thread=thread,
        forward_start=times([row.forward_start_ns for row in rows]),
        backward_end=times([row.backward_end_ns for row in rows]),
        optimizer_start=times([row.optimizer_start_ns for row in rows]),
        window=np.array([row.window for row in rows], np.int64),
    )


def main_thread(slices: Assembled, steps: Steps, told: int | None = None) -> int | None:
    """Track of the main training thread: the told one, that of the step markers, else that with the most op time."""
    if told is not None or steps.thread is not None:
        return steps.thread if told is None else told
    is_op = slices.on_thread & (slices.columns["kind"] == KIND_CODE["op"])
    parent_is_op = is_op[slices.parent] & (slices.parent >= 0)
    outer = np.flatnonzero(is_op & ~parent_is_op & (slices.columns["dur"] != NULL))
    if not len(outer):
        return None
    sums = np.bincount(slices.columns["track"][outer], weights=slices.columns["dur"][outer])
    return int(np.argmax(sums))


def slice_steps(slices: Assembled, flows: Flows, steps: Steps) -> IntArray:
    """Step number of each slice: that of its start on the host, of its launch on a device; NULL outside.

    What another thread runs for a call belongs to the call's step.
    """
    index = _holding_slices(slices, steps)
    for kind in _CALLS:
        called = flows.kind == kind
        index[flows.to_id[called]] = index[flows.from_id[called]]
    return np.append(steps.step, NULL)[index]  # -1: the last


def _holding_slices(slices: Assembled, steps: Steps) -> IntArray:
    """`steps.holding` of all slices' starts, which are in order on each track."""
    starts = slices.columns["start"]
    if not len(steps):
        return np.full(len(starts), -1, np.int64)
    bounds = track_bounds(slices.columns["track"])
    if len(steps) * len(bounds) > len(starts):
        return steps.holding(starts)
    spans: list[IntArray] = []
    for first, last in itertools.pairwise(bounds.tolist()):
        begin = first + np.searchsorted(starts[first:last], steps.start)
        end = np.minimum(first + np.searchsorted(starts[first:last], steps.end), np.append(begin[1:], last))
        spans.append(np.stack([begin, np.maximum(end, begin)], axis=1).reshape(-1))
    edges = np.concatenate([[0], *spans, [len(starts)]])
    held = np.stack([np.full(len(steps), -1), np.arange(len(steps))], axis=1).reshape(-1)
    return np.repeat(np.append(np.tile(held, len(bounds) - 1), -1), np.diff(edges))


def slice_phases(slices: Assembled, flows: Flows, names: list[str], steps: Steps) -> npt.NDArray[np.int8]:
    """Phase code of each slice, -1 where unknown; also fills in the phase points of the steps.

    A range or op that names a phase passes it on to all it contains; for forward see `_mark_forward`. Device slices
    take their launch's.
    """
    phase = _inherited_phases(slices, names)
    if steps.thread is None and len(steps):  # the source told the steps, and their points
        return phase
    if (slices.columns["kind"] == KIND_CODE["op"]).any():
        _mark_forward(slices, phase, steps, _fill_points(slices, names, steps))
    else:
        _points_of_scopes(slices, phase, steps)
    for kind in _CALLS:
        called = flows.kind == kind
        phase[flows.to_id[called]] = phase[flows.from_id[called]]
    return phase


def _inherited_phases(slices: Assembled, names: list[str]) -> npt.NDArray[np.int8]:
    columns = slices.columns
    phase = columns["phase"].astype(np.int8)
    for kind in ("op", "scope"):
        rows = np.flatnonzero(columns["kind"] == KIND_CODE[kind])
        distinct, place = distinct_codes(columns["name"][rows])
        roots = [phase_root(kind, names[code]) for code in distinct.tolist()]
        codes = np.array([-1 if root is None else PHASE_CODE[root] for root in roots], np.int8)
        if len(rows):
            phase[rows] = np.where(phase[rows] < 0, codes[place], phase[rows])
    if phase.max(initial=-1) < 0:
        return phase
    for level in slices.levels[1:]:
        rows = level[phase[level] < 0]
        phase[rows] = phase[slices.parent[rows]]
    return phase


def _fill_points(slices: Assembled, names: list[str], steps: Steps) -> IntArray:
    """Sets backward end and optimizer start of each step; returns where its last autograd node starts (NULL: none)."""
    last_node = np.full(len(steps), NULL, np.int64)
    if not len(steps):
        return last_node
    columns = slices.columns
    ops = np.flatnonzero(slices.on_thread & (columns["kind"] == KIND_CODE["op"]))
    backward = _rows_named(columns["name"], ops, names, is_autograd_node)
    _reduce(steps.backward_end, steps.holding(columns["start"][backward]), slices.end[backward], np.maximum)
    scopes = np.flatnonzero(slices.on_thread & (columns["kind"] == KIND_CODE["scope"]))
    optimizer = _rows_named(columns["name"], scopes, names, is_optimizer_step)
    start = columns["start"][optimizer].astype(np.int64)
    _reduce(steps.optimizer_start, steps.holding(start), start, np.minimum)
    start = columns["start"][backward].astype(np.int64)
    _reduce(last_node, steps.holding(start), start, np.maximum)
    return last_node


def _mark_forward(slices: Assembled, phase: npt.NDArray[np.int8], steps: Steps, last_backward: IntArray) -> None:
    """Ops of the main thread between the first data slice and the last backward node that have no phase are forward.

    The step's forward starts with the first one after the last data slice: gradients may be accumulated over batches.
    """
    if not len(steps) or steps.thread is None:
        return
    columns = slices.columns
    first, last = np.searchsorted(columns["track"], [steps.thread, steps.thread + 1])
    rows = np.arange(first, last)
    kinds, starts = columns["kind"][rows], columns["start"][rows].astype(np.int64)
    is_data = rows[kinds == KIND_CODE["data"]]
    in_step = steps.holding(columns["start"][is_data])
    first_data_end, last_data_end = steps.start.copy(), steps.start.copy()
    _reduce(last_data_end, in_step, slices.end[is_data], np.maximum)
    fresh = np.unique(in_step[in_step >= 0])
    first_data_end[fresh] = NULL
    _reduce(first_data_end, in_step, slices.end[is_data], np.minimum)
    index = steps.holding(starts)
    at = np.maximum(index, 0)
    is_op = (index >= 0) & (kinds == KIND_CODE["op"]) & ~_inside_kind(slices, rows, "data")
    between = (starts >= first_data_end[at]) & (starts < last_backward[at]) & (steps.backward_end[at] != NULL)
    phase[rows[is_op & between & (phase[rows] < 0)]] = PHASE_CODE["forward"]
    marked = is_op & (phase[rows] == PHASE_CODE["forward"]) & (starts >= last_data_end[at])
    _reduce(steps.forward_start, index[marked], starts[marked], np.minimum)
    _spread_to_children(slices, rows, phase)


def _points_of_scopes(slices: Assembled, phase: npt.NDArray[np.int8], steps: Steps) -> None:
    """Of a recording without operators the ranges that name a phase tell where it begins and ends."""
    columns = slices.columns
    scopes = np.flatnonzero((columns["track"] == steps.thread) & (columns["kind"] == KIND_CODE["scope"]))
    start = columns["start"].astype(np.int64)
    for name, points, times, how in (
        ("forward", steps.forward_start, start, np.minimum),
        ("backward", steps.backward_end, slices.end, np.maximum),
        ("optimizer", steps.optimizer_start, start, np.minimum),
    ):
        rows = scopes[phase[scopes] == PHASE_CODE[name]]
        _reduce(points, steps.holding(start[rows]), times[rows], how)


def _inside_kind(slices: Assembled, rows: IntArray, kind: str) -> BoolArray:
    """Rows of one track that lie in a slice of the kind."""
    inside = slices.columns["kind"][rows] == KIND_CODE[kind]
    first = rows[0] if len(rows) else 0
    local_parent = slices.parent[rows] - first
    for _ in range(int(slices.depth[rows].max(initial=0))):
        inherited = inside | ((local_parent >= 0) & inside[np.maximum(local_parent, 0)])
        if np.array_equal(inherited, inside):
            break
        inside = inherited
    return np.asarray(inside)


def _spread_to_children(slices: Assembled, rows: IntArray, phase: npt.NDArray[np.int8]) -> None:
    """Calls inside ops (launches, waits) take the op's phase."""
    pending = rows[(phase[rows] < 0) & (slices.parent[rows] >= 0)]
    for _ in range(int(slices.depth[rows].max(initial=0))):
        found = phase[slices.parent[pending]]
        is_op = np.isin(slices.columns["kind"][slices.parent[pending]], [KIND_CODE["op"], KIND_CODE["launch"]])
        phase[pending] = np.where(is_op, found, phase[pending])
        still = pending[phase[pending] < 0]
        if len(still) == len(pending):
            break
        pending = still


def _rows_named(codes: IntArray, rows: IntArray, names: list[str], test: Callable[[str], bool]) -> IntArray:
    distinct, place = distinct_codes(codes[rows])
    wanted = np.array([test(names[code]) for code in distinct.tolist()], bool)
    return rows[wanted[place]] if len(rows) else rows


def _reduce(into: IntArray, index: IntArray, values: IntArray, how: np.ufunc) -> None:
    """Least or greatest value per step; NULL entries of `into` are replaced by the first value."""
    inside = index >= 0
    index, values = index[inside], values[inside]
    fresh = np.unique(index[into[index] == NULL])
    if len(fresh):
        into[fresh] = np.iinfo(np.int64).max if how is np.minimum else np.iinfo(np.int64).min + 1
    how.at(into, index, values)
