"""The step trace of a processed MindSpore folder: steps, their points, communication regions.

`step_trace_raw_{id}_detail_time.csv`, in counts of 10 ns: step_num, start_point, end_point, total, fp_point, bp_point,
iteration_interval, fp_and_bp, tail, then communication regions, `stream_{s}_parallel_{i}` (to MindSpore 1.1) or
`stream_{s}_{i}_{operator}`, each with `..._start_point` and `..._end_point`. A region absent from a step is written as
zeros. Inference has no bp_point and no tail. The last row, step `-` (or 0 and all zeros), is an average that the source
stored: it is compared, never believed. The first step starts at its own forward start: its interval is unknown.

`step_trace_profiling_{id}.txt` (GPU, ns) is read where there is no table: a line per point, forward start, backward
end, step end, then communication operators; each `name start,end start,end ...`, a pair per step. Asynchronous launch
writes a line per step instead (see `_async_steps`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from laptime.importers.mindinsight_reading import NS_OF_CYCLE, NS_OF_MS, Columns, Folder, mean_of, whole
from laptime.model.arrays import IntArray
from laptime.model.builder import GivenStep
from laptime.model.vocabulary import NULL

_REGION = re.compile(r"(stream_(\d{1,9})_(?:parallel_\d{1,9}|\d{1,9}_(.+)))\Z")
_POINT_ENDS = ("_start_point", "_end_point")
_LARGEST_CYCLE = 3 * 10**17
_ROUNDING_CYCLES = 1
_UNUSABLE = "steps of the step trace without usable start and end; left out"
_PARTS = {"total_ns": "total", "interval_ns": "iteration_interval", "tail_ns": "tail"}


@dataclass(frozen=True)
class Region:
    """A communication region of every step that has it; NULL where a step has none."""

    name: str
    """The operator's, or that of the column where the source does not name the operator."""
    has_operator: bool
    stream: int
    start_ns: IntArray
    end_ns: IntArray


@dataclass(frozen=True)
class StepRows:
    """What a step trace holds, in ns on the device's clock."""

    steps: list[GivenStep]
    regions: list[Region]

    @property
    def span(self) -> tuple[int, int] | None:
        """First start to last end."""
        if not self.steps:
            return None
        return min(step.start_ns for step in self.steps), max(step.end_ns for step in self.steps)


def read_steps(folder: Folder) -> StepRows:
    """Steps and regions of the folder; also notes forward start, backward end and the stored average."""
    _read_points(folder)
    table = folder.table("step_trace")
    if table is None:
        return _gpu_steps(folder)
    if table.texts("start_point") is None or table.texts("end_point") is None:
        folder.note_bad("step_trace", "has no columns start_point and end_point; left out")
        return StepRows([], [])
    cycles = {name: _cycles(table, name) for name in table.names}
    stored = _average_row(table, cycles)
    valid = (cycles["end_point"] >= cycles["start_point"]) & (cycles["start_point"] > 0)
    numbers = table.integers("step_num")
    valid &= numbers != NULL
    bad = ~valid
    if stored is not None:
        bad[stored] = valid[stored] = False
    if bad.any():
        folder.builder.warnings.add("partial_step", _UNUSABLE, int(bad.sum()))
    rows = np.flatnonzero(valid)
    steps = [_step(row, int(numbers[row]), cycles) for row in rows.tolist()]
    if stored is not None:
        _compare_average(folder, cycles, stored, rows)
    return StepRows(steps, _regions(cycles, rows))


def _cycles(table: Columns, name: str) -> IntArray:
    values = table.integers(name)
    return np.where(np.abs(values) <= _LARGEST_CYCLE, values, np.int64(NULL))


def _average_row(table: Columns, cycles: dict[str, IntArray]) -> int | None:
    """Row that holds stored averages: the last, if it has no step number or is step 0 without times."""
    if not table.count:
        return None
    step = (table.texts("step_num") or [""] * table.count)[-1].strip()
    without_times = cycles["start_point"][-1] == 0 and cycles["end_point"][-1] == 0
    return table.count - 1 if step == "-" or (step == "0" and without_times) else None


def _step(row: int, number: int, cycles: dict[str, IntArray]) -> GivenStep:
    return GivenStep(
        step=number,
        start_ns=int(cycles["start_point"][row]) * NS_OF_CYCLE,
        end_ns=int(cycles["end_point"][row]) * NS_OF_CYCLE,
        label=f"step {number}",
        forward_start_ns=_point(cycles, "fp_point", row),
        backward_end_ns=_point(cycles, "bp_point", row),
    )


def _point(cycles: dict[str, IntArray], name: str, row: int) -> int | None:
    value = int(cycles[name][row]) if name in cycles else NULL
    return value * NS_OF_CYCLE if value > 0 else None


def _regions(cycles: dict[str, IntArray], rows: IntArray) -> list[Region]:
    found = []
    for column in cycles:
        match = _REGION.match(column)
        if not match or column.endswith(_POINT_ENDS):
            continue
        start, end = (cycles.get(column + ending) for ending in _POINT_ENDS)
        if start is None or end is None:
            continue
        start, end = start[rows], end[rows]
        known = (start > 0) & (end >= start)
        ns_start = np.where(known, start * NS_OF_CYCLE, np.int64(NULL))
        ns_end = np.where(known, end * NS_OF_CYCLE, np.int64(NULL))
        found.append(Region(match[3] or match[1], match[3] is not None, int(match[2]), ns_start, ns_end))
    return found


# ---- the stored average ----


def _compare_average(folder: Folder, cycles: dict[str, IntArray], stored: int, rows: IntArray) -> None:
    """Compares the stored average with the mean of the steps after the first, region by region where they occur."""
    names = [name for name in cycles if name != "step_num" and not name.endswith("_point")]
    kept = {name: int(cycles[name][stored]) for name in names if cycles[name][stored] != NULL}
    if not any(kept.values()):  # a single step has no average
        return
    builder = folder.builder
    fields = {**_PARTS, "forward_backward_ns": "fp_and_bp"}
    builder.meta["stored_average"] = {
        key: kept[name] * NS_OF_CYCLE if name in kept else None for key, name in fields.items()
    }
    own = {name: _mean_of_steps(cycles, name, rows) for name in kept}
    wrong = [name for name in kept if abs(kept[name] - (own[name] or 0)) > _ROUNDING_CYCLES]
    if not wrong:
        return
    shown = next((name for name in ("total", "iteration_interval") if name in wrong), wrong[0])
    path = folder.path("step_trace")
    builder.warnings.add(
        "mismatch",
        f"averages stored in {path.name if path else 'the step trace'} are not the means of its steps, which are shown "
        f"({shown}: stored {_ms(kept[shown])}, recomputed {_ms(own[shown])})",
        len(wrong),
    )


def _mean_of_steps(cycles: dict[str, IntArray], name: str, rows: IntArray) -> int | None:
    """Mean over all steps but the first; of a region, over the steps that have it."""
    values = cycles[name][rows[1:]]
    if _REGION.match(name):
        values = values[values != 0]
    return mean_of([None if value == NULL else value for value in values.tolist()])


def _ms(cycles: int | None) -> str:
    return "none" if cycles is None else f"{cycles * NS_OF_CYCLE / NS_OF_MS:.4f} ms"


# ---- names of the points ----


def _read_points(folder: Folder) -> None:
    content = folder.json("points")
    while isinstance(content, (list, dict)) and content and "fp_start" not in content:
        content = next(iter(content.values() if isinstance(content, dict) else content))
    if not isinstance(content, dict):
        return
    for key, field in (("forward_start_op", "fp_start"), ("backward_end_op", "bp_end")):
        name = content.get(field)
        if isinstance(name, str) and name:
            folder.builder.meta[key] = name


# ---- GPU, before it is made a table ----


def _gpu_steps(folder: Folder) -> StepRows:
    text = folder.text("gpu_step_trace")
    lines = [parts for line in (text or "").splitlines() if len(parts := line.split()) > 1]
    if lines and all(len(parts) >= 4 and "," in parts[0] for parts in lines):
        return _async_steps(folder, lines)
    if len(lines) < 3 or any(part.startswith("[") or part.count(",") != 1 for parts in lines for part in parts[1:]):
        if text is not None:
            folder.note_bad("gpu_step_trace", "is of another form than a line per point; left out")
        return StepRows([], [])
    points = [(parts[0], np.array([_pair(part) for part in parts[1:]], np.int64)) for parts in lines]
    if len({len(times) for _, times in points}) > 1:
        folder.note_bad(
            "gpu_step_trace",
            "has points that occur unequally often: choose others by PROFILING_FP_START and PROFILING_BP_END; left out",
        )
        return StepRows([], [])
    return _gpu_rows(folder, points)


def _gpu_rows(folder: Folder, points: list[tuple[str, IntArray]]) -> StepRows:
    (forward_op, forward), (backward_op, backward), (_, end) = points[:3]
    steps = []
    for row in range(len(end)):
        first, last, stop = int(forward[row, 0]), int(backward[row, 1]), int(end[row, 1])
        start = first if row == 0 else int(end[row - 1, 1])
        if NULL in (first, last, stop, start) or stop < start:
            folder.builder.warnings.add("partial_step", _UNUSABLE)
            continue
        steps.append(GivenStep(row + 1, start, stop, f"step {row + 1}", forward_start_ns=first, backward_end_ns=last))
    folder.builder.meta.setdefault("forward_start_op", forward_op)
    folder.builder.meta.setdefault("backward_end_op", backward_op)
    regions = []
    for stream, (name, times) in enumerate(points[3:]):
        known = (times[:, 0] > 0) & (times[:, 1] >= times[:, 0])
        start_ns, end_ns = (np.where(known, times[:, side], np.int64(NULL)) for side in (0, 1))
        regions.append(Region(name.rsplit("/", 1)[-1], True, stream, start_ns, end_ns))
    return StepRows(steps, regions)


def _async_steps(folder: Folder, lines: list[list[str]]) -> StepRows:
    """A line per step: `name,time` of start, forward start, backward end, end, then `name,start,end` of operators."""
    steps, found = [], []
    for row, parts in enumerate(lines, start=1):
        names, times = zip(*(_named_times(part) for part in parts[:4]), strict=True)
        start, first, last, stop = (each[0] for each in times)
        if start is None or stop is None or stop < start:
            folder.builder.warnings.add("partial_step", _UNUSABLE)
            continue
        steps.append(GivenStep(row, start, stop, f"step {row}", forward_start_ns=first, backward_end_ns=last))
        folder.builder.meta.setdefault("forward_start_op", names[1])
        folder.builder.meta.setdefault("backward_end_op", names[2])
        found += [_named_times(part) for part in parts[4:]]
    regions = [
        Region(name.rsplit("/", 1)[-1], True, 0, np.array([times[0]], np.int64), np.array([times[1]], np.int64))
        for name, times in found
        if len(times) == 2 and times[0] is not None and times[1] is not None and times[1] >= times[0]
    ]
    return StepRows(steps, regions)


def _named_times(text: str) -> tuple[str, list[int | None]]:
    name, *times = text.split(",")
    return name, [whole(time) for time in times] or [None]


def _pair(text: str) -> tuple[int, int]:
    start, end = (whole(part) for part in text.split(","))
    return (NULL if start is None else start, NULL if end is None else end)
