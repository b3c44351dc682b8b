"""Executions on the device in a processed MindSpore folder, as slices; as sums where their clock is unknown.

`output_timeline_data_{id}.txt`: CSV op_name, stream_id, start_time(ms), duration(ms); the start is the device's cycle
counter in ms, to MindSpore 0.5 less that of `min_cycle_counter_{id}.txt`. `aicpu_intermediate_{id}.csv` (or
`output_data_preprocess_aicpu_{id}.txt`): total_time and dispatch_time in ms, run_start and run_end in us.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from laptime.importers.ascend_ai_cpu import (
    AI_CPU,
    AI_CPU_LANE,
    AiCpuRuns,
    add_ai_cpu_slices,
    ai_cpu_args,
    ai_cpu_kind,
)
from laptime.importers.mindinsight_operators import OperatorBook
from laptime.importers.mindinsight_reading import NS_OF_CYCLE, NS_OF_MS, NS_OF_US, Columns, Folder, ns_of, whole
from laptime.importers.mindinsight_steps import Region
from laptime.model.arrays import BoolArray, IntArray
from laptime.model.builder import BASE_KIND_CODE, GivenStep, TraceBuilder
from laptime.model.tracks import TrackKey
from laptime.model.vocabulary import NULL

_AICPU_TIMES = ("run_start", "run_end", "dispatch", "total")
_NEARLY_ALL = 0.9
_NEAR_NS = 30 * 10**9
"""Executions further away from all steps than this are on another clock: those differ by the machine's up time."""


@dataclass(frozen=True)
class Executions:
    """Executions of operators, in ns on the clock of their file; one entry each."""

    full_names: list[str]
    lanes: list[str]
    """Stream number as text, or the name of a lane without number."""
    start_ns: IntArray
    dur_ns: IntArray
    kinds: list[str]
    device_kind: str
    op_types: list[str | None] = field(default_factory=list)
    args: list[str] = field(default_factory=list)
    """JSON; empty where there is none."""

    def __len__(self) -> int:
        return len(self.full_names)

    def where(self, chosen: BoolArray) -> Executions:
        """Some of the executions."""
        rows = np.flatnonzero(chosen).tolist()

        def of(values: list[str]) -> list[str]:
            return [values[row] for row in rows] if values else []

        return Executions(
            of(self.full_names),
            of(self.lanes),
            self.start_ns[rows],
            self.dur_ns[rows],
            of(self.kinds),
            self.device_kind,
            [self.op_types[row] for row in rows] if self.op_types else [],
            of(self.args),
        )

    @property
    def span(self) -> tuple[int, int] | None:
        """First start to last end; None without executions."""
        known = self.start_ns != NULL
        if not known.any():
            return None
        start = self.start_ns[known]
        return int(start.min()), int((start + np.maximum(self.dur_ns[known], 0)).max())


# ---- reading ----


def read_timeline(folder: Folder) -> Executions | None:
    """Executions of `output_timeline_data`."""
    table = folder.table("timeline")
    if table is None:
        return None
    names = table.texts("op_name") or table.by_name[table.names[0]]
    streams = table.texts("stream_id") or ["0"] * table.count
    start, dur = ns_of(table.numbers("start_time"), NS_OF_MS), ns_of(table.numbers("duration"), NS_OF_MS)
    found = Executions(names, [lane.strip() for lane in streams], start, dur, ["kernel"] * table.count, "ai_core")
    return _readable(folder, "timeline", found)


def _readable(folder: Folder, kind: str, found: Executions) -> Executions:
    bad = found.start_ns == NULL
    folder.drop_rows(kind, int(bad.sum()))
    return found.where(~bad)


def read_aicpu(folder: Folder) -> tuple[Executions, IntArray] | None:
    """Executions on the AI CPU, and the total time that the source tells for each, waiting and dispatch included."""
    kind = "aicpu" if folder.path("aicpu") else "aicpu_text"
    table = folder.table("aicpu") if kind == "aicpu" else _aicpu_text(folder)
    if table is None:
        return None
    names = table.texts("node_type_name", "kernel_type", "op_type", "op_name", "node_name")
    if names is None:
        folder.note_bad(kind, "has no column of operator names; left out")
        return None
    start, end = ns_of(table.numbers("run_start"), NS_OF_US), ns_of(table.numbers("run_end"), NS_OF_US)
    known = (start != NULL) & (end != NULL)
    dur = np.where(known, end - np.where(known, start, 0), np.int64(NULL))
    total = ns_of(table.numbers("total_time"), NS_OF_MS)
    dispatch = ns_of(table.numbers("dispatch_time"), NS_OF_MS)
    times = zip(*(column.tolist() for column in (start, end, dispatch, total)), strict=True)
    args = [ai_cpu_args(dict(zip(_AICPU_TIMES, row, strict=True))) for row in times]
    kinds = [ai_cpu_kind(name) for name in names]
    types: list[str | None] = list(names)
    return Executions(names, [AI_CPU_LANE] * table.count, start, dur, kinds, AI_CPU, types, args), total


def _aicpu_text(folder: Folder) -> Columns | None:
    """The same table with blanks between the columns; other lines (rules, the sum at the end) have other lengths."""
    lines = [line.split() for line in (folder.text("aicpu_text") or "").splitlines()]
    header = next((place for place, parts in enumerate(lines) if parts and parts[0] == "serial_number"), None)
    if header is None:
        return None
    names = [name.split("(")[0] for name in lines[header]]
    rows = [parts for parts in lines[header + 1 :] if len(parts) == len(names) and parts[0].isdigit()]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names]
    return Columns(dict(zip(names, columns, strict=True)), names, len(rows))


# ---- one clock ----


def cycle_counter_ns(folder: Folder) -> int | None:
    """Where the clock of files with relative times begins."""
    value = whole((folder.text("cycle_counter") or "").strip())
    return value * NS_OF_CYCLE if value is not None and 0 < value < 10**17 else None


def clock_offset(found: Executions, span: tuple[int, int] | None, origin_ns: int | None) -> int | None:
    """What to add to the times of executions so that they lie on the clock of `span`; None where nothing tells it."""
    own = found.span
    if own is None:
        return 0
    if origin_ns is not None and own[0] < origin_ns // 2:
        return origin_ns
    apart = span is not None and (own[1] < span[0] - _NEAR_NS or own[0] > span[1] + _NEAR_NS)
    return None if apart else 0


# ---- adding ----


def add_slices(builder: TraceBuilder, book: OperatorBook, device: int, found: Executions, offset_ns: int) -> None:
    """Adds executions as slices of the device's streams, or of its AI CPU."""
    if not len(found):
        return
    builder.read += len(found)
    types: list[str | None] = found.op_types or [None] * len(found)
    names = [book.short_name(name) for name in found.full_names]
    start = found.start_ns + np.where(found.start_ns == NULL, 0, offset_ns)
    ops = np.fromiter(
        (
            -1 if kind == "device_other" else book.code(name, found.device_kind, op_type=op_type)
            for name, kind, op_type in zip(found.full_names, found.kinds, types, strict=True)
        ),
        np.int64,
        len(found),
    )
    book.timed.update(found.full_names)
    if found.device_kind == AI_CPU:
        args = found.args or [""] * len(found)
        add_ai_cpu_slices(AiCpuRuns(names, ops, start, found.dur_ns, args), device, builder)
        return
    tracks = {lane: builder.tracks.code(_stream(device, lane)) for lane in dict.fromkeys(found.lanes)}
    builder.add_slices(
        len(found),
        {
            "track": np.fromiter((tracks[lane] for lane in found.lanes), np.int32, len(found)),
            "start": start,
            "dur": found.dur_ns,
            "name": builder.names.codes(names),
            "category": np.full(len(found), builder.categories.code(found.device_kind), np.int32),
            "kind": np.array([BASE_KIND_CODE[kind] for kind in found.kinds], np.int8),
            "op": ops.astype(np.int32),
        },
    )


def _stream(device: int, lane: str) -> TrackKey:
    number = whole(lane)
    name = lane if number is None else ""
    return TrackKey("stream", str(device), lane, device=device, stream=number, name=name)


def add_sums(builder: TraceBuilder, book: OperatorBook, found: Executions, spent_ns: IntArray) -> None:
    """Adds executions as sums by operator, but for operators that are known already."""
    sums: dict[str, list[int]] = {}
    types: list[str | None] = found.op_types or [None] * len(found)
    type_of = dict(zip(found.full_names, types, strict=True))
    for name, spent in zip(found.full_names, spent_ns.tolist(), strict=True):
        if name not in book.timed and spent >= 0:
            entry = sums.setdefault(name, [0, 0])
            entry[0] += 1
            entry[1] = min(entry[1] + spent, 3 * 10**18)
    for name, (count, total) in sums.items():
        op = book.code(name, found.device_kind, op_type=type_of[name])
        builder.op_totals["device"].append((op, count, total, (2 * total + count) // (2 * count)))
    book.timed.update(sums)


def add_regions(builder: TraceBuilder, book: OperatorBook, device: int, regions: list[Region]) -> int:
    """Adds communication regions as slices of their streams; returns how many."""
    count = 0
    for region in regions:
        known = region.start_ns != NULL
        number = int(known.sum())
        absent = len(known) - number
        builder.warnings.add("other", "communication regions that the step trace does not hold for a step", absent)
        count += number
        builder.add_slices(
            number,
            {
                "track": np.full(number, builder.tracks.code(_stream(device, str(region.stream))), np.int32),
                "start": region.start_ns[known],
                "dur": region.end_ns[known] - region.start_ns[known],
                "name": np.full(number, builder.names.code(region.name), np.int32),
                "category": np.full(number, builder.categories.code("communication"), np.int32),
                "kind": np.full(number, BASE_KIND_CODE["communication"], np.int8),
                "op": np.full(number, book.code(region.name, "communication") if region.has_operator else -1, np.int32),
            },
        )
    builder.read += count
    return count


# ---- what the device's record covers ----


def covered_span(found: Executions, offset_ns: int, steps: list[GivenStep]) -> tuple[int, int] | None:
    """First to last execution, and beyond to the borders of steps that hold as many executions as the others do."""
    span = found.span
    if span is None:
        return None
    first, last = span[0] + offset_ns, span[1] + offset_ns
    starts = np.sort(found.start_ns[found.start_ns != NULL]) + offset_ns
    begins = np.array([step.start_ns for step in steps], np.int64)
    ends = np.array([step.end_ns for step in steps], np.int64)
    counts = np.searchsorted(starts, ends) - np.searchsorted(starts, begins)
    if not counts.any():
        return first, last
    full = np.flatnonzero(counts >= _NEARLY_ALL * np.median(counts[counts > 0]))
    return min(first, int(begins[full].min())), max(last, int(ends[full].max()))
