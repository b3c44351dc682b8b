"""The step trace in MindInsight's processed folder: `step_trace_raw_{id}_detail_time.csv`, in counts of 10 ns.

step_num, start_point, end_point, total, fp_point, bp_point, iteration_interval, fp_and_bp, tail, then three columns for
each communication region (`stream_{s}_parallel_{i}_start_point`, `..._end_point`, and its length). The last row, step
`-`, is the average. A region that a step does not have is zeros, which the format has for "absent"; averages leave it
out. Inference has no end of a backward pass: `fp` instead of bp_point, fp_and_bp and tail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from laptime.analyses.averages import mean
from laptime.exports.mindinsight_executions import device_counts
from laptime.exports.mindinsight_tables import csv_text
from laptime.model.arrays import IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import KINDS, NULL

_TRAINING = ("start_point", "end_point", "total", "fp_point", "bp_point", "iteration_interval", "fp_and_bp", "tail")
_INFERENCE = ("start_point", "end_point", "total", "fp_point", "iteration_interval", "fp")


@dataclass(frozen=True)
class StepTable:
    """What the file holds."""

    text: str
    steps: int
    left_out: list[int]
    """Numbers of steps of which a point is missing; the file has no way to say that."""
    spans: list[tuple[int, int]]
    """Start and end of the steps."""


@dataclass(frozen=True)
class Regions:
    """Communication on streams, in order of time; counts of the device's clock."""

    stream: IntArray
    start: IntArray
    end: IntArray


@dataclass(frozen=True)
class _Step:
    number: int
    first_of_window: bool
    points: dict[str, int]


def step_table(trace: Trace, regions: Regions) -> StepTable | None:
    """The table; None where no step is known. The step that only sets up the data queue (number 0) is left out."""
    rows = trace.steps.arrow().to_pylist()
    numbers = [int(str(row["step"])) for row in rows]
    training = any(row["backward_end_ns"] is not None for row in rows)
    windows = [row["window"] for row in rows]
    steps, left_out = [], []
    for place, row in enumerate(rows):
        points = _points(trace, row, training=training)
        if points is not None and numbers[place] > 0:
            first = place == 0 or windows[place - 1] != windows[place]
            steps.append(_Step(numbers[place], first, points))
        elif numbers[place] > 0:
            left_out.append(numbers[place])
    if not steps:
        return None
    columns, found = _by_step(regions, steps)
    names = list(_TRAINING if training else _INFERENCE)
    values = [[step.points[name] for name in names] + own for step, own in zip(steps, found, strict=True)]
    average = _average(values, [step.first_of_window for step in steps], regions_from=len(names))
    table = [[step.number, *row] for step, row in zip(steps, values, strict=True)]
    text = csv_text(["step_num", *names, *columns], [*table, ["-", *average]])
    spans = [(step.points["start_point"], step.points["end_point"]) for step in steps]
    return StepTable(text, len(steps), left_out, spans)


def _points(trace: Trace, row: dict[str, object], *, training: bool) -> dict[str, int] | None:
    """Points and parts of a step; None where one is missing or they are out of order."""
    keys = ("start_ns", "forward_start_ns", *(("backward_end_ns",) if training else ()), "end_ns")
    if not row["complete"] or any(row[key] is None for key in keys):
        return None
    times = [int(time) for time in device_counts(trace, np.array([row[key] for key in keys], np.int64))]
    if times != sorted(times):
        return None
    start, forward, *backward, end = times
    known = {"start_point": start, "end_point": end, "total": end - start, "fp_point": forward}
    known["iteration_interval"] = forward - start
    if backward:
        return {**known, "bp_point": backward[0], "fp_and_bp": backward[0] - forward, "tail": end - backward[0]}
    return {**known, "fp": end - forward}


def communication(trace: Trace) -> Regions:
    """Communication slices on numbered streams."""
    slices = trace.slices
    streams = trace.tracks["stream"]
    rows = np.flatnonzero((slices["kind"] == KINDS.index("communication")) & (slices["dur_ns"] != NULL))
    rows = rows[streams[slices["track_id"][rows]] != NULL]
    rows = rows[np.argsort(slices["start_ns"][rows], kind="stable")]
    return Regions(
        stream=streams[slices["track_id"][rows]],
        start=device_counts(trace, slices["start_ns"][rows]),
        end=device_counts(trace, trace.end_ns[rows]),
    )


def region_names(regions: Regions, steps: Sequence[tuple[int, int]]) -> list[str]:
    """`stream_{s}_parallel_{i}`: the i-th region of its stream within its step (start, end), else within the log."""
    names = [""] * len(regions.start)
    bounds = [(int(a), int(b)) for a, b in np.searchsorted(regions.start, np.array(steps).reshape(-1, 2)).tolist()]
    inside = np.zeros(len(names), bool)
    for first, last in bounds:
        inside[first:last] = True
        _number(regions, range(first, last), names)
    _number(regions, np.flatnonzero(~inside).tolist(), names)
    return names


def _number(regions: Regions, rows: Sequence[int], names: list[str]) -> None:
    seen: dict[int, int] = {}
    for row in rows:
        stream = int(regions.stream[row])
        names[row] = f"stream_{stream}_parallel_{seen.get(stream, 0)}"
        seen[stream] = seen.get(stream, 0) + 1


def _by_step(regions: Regions, steps: Sequence[_Step]) -> tuple[list[str], list[list[int]]]:
    """Columns of all regions that any step has, and their values in each step; zeros where it has none."""
    spans = [(step.points["start_point"], step.points["end_point"]) for step in steps]
    names = region_names(regions, spans)
    bounds = np.searchsorted(regions.start, np.array(spans)).tolist()
    found = [{names[row]: row for row in range(first, last)} for first, last in bounds]
    columns = sorted({name for each in found for name in each}, key=_order)
    values = [[value for name in columns for value in _region(regions, each.get(name))] for each in found]
    return [f"{name}{end}" for name in columns for end in ("_start_point", "_end_point", "")], values


def _order(name: str) -> tuple[int, int]:
    _, stream, _, place = name.split("_")
    return int(stream), int(place)


def _region(regions: Regions, row: int | None) -> tuple[int, int, int]:
    if row is None:
        return 0, 0, 0
    start, end = int(regions.start[row]), int(regions.end[row])
    return start, end, end - start


def _average(values: list[list[int]], first: list[bool], *, regions_from: int) -> list[int]:
    """Means, to whole counts, without the first step of each window; with it where nothing else is left.

    A region counts in the steps that have it: those where its start is no zero.
    """
    used = np.array([row for row, is_first in zip(values, first, strict=True) if not is_first] or values, np.int64)
    means = []
    for place, column in enumerate(used.T):
        start = place - (place - regions_from) % 3
        chosen = column if place < regions_from else column[used[:, start] != 0]
        means.append(mean(chosen.tolist()) if len(chosen) else 0)
    return means
