"""laptime's own export of a timeline whose format is none of Chrome trace events.

What the events alone do not tell stands in metadata events before them; see `laptime.exports.chrome_facts`. What is
missing of them, in a file that was cut or mended, is unknown: kinds by category, no links, steps from markers.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

import msgspec
import numpy as np
import pyarrow as pa

from laptime.importers.categories import chrome_meaning
from laptime.importers.chrome import ChromeJson
from laptime.importers.decoders import Decoders
from laptime.importers.decoding import Decoded
from laptime.importers.event_lists import read_events
from laptime.importers.events import FAULTS
from laptime.importers.feeding import Feeder, Rows, _numbers_of, _View
from laptime.importers.progress import Progress
from laptime.importers.sources import Source
from laptime.model.arrays import CodeArray, Column, IntArray
from laptime.model.builder import BASE_KIND_CODE, GivenStep, Op, TraceBuilder
from laptime.model.classify import MIRROR
from laptime.model.schema import SCHEMAS
from laptime.model.tracks import TrackKey, plain_id
from laptime.model.vocabulary import BETWEEN_OPERATORS, FLOW_KINDS, KINDS, NULL, PHASE_CODE

_OWN = re.compile(rb'"laptimeFormat"\s*:\s*"(?!(?:pytorch_kineto|chrome_trace)")')
_TOLD = ("correlation", "external_id", "bytes")
_WITH_ORIGIN = ("device_covered_ns", "device_log_ns")
Cells = dict[str, list[object]]
_Row = TypeVar("_Row")
_FACTS = (
    *("slice_id", "start_ns", "kind", "phase", "correlation", "external_id", "bytes"),
    *("op_id", "stack_id", "args_length"),
)
_FRAME = ("stack_id", "function", "file", "line")
_MOST = 1 << 62
"""Greater integers are no times or numbers of anything."""


class _Table(msgspec.Struct):
    table: str
    columns: Cells


class _FactsArgs(msgspec.Struct):
    columns: Cells


class _Meta(msgspec.Struct):
    meta: dict[str, object]
    main: tuple[str, str] | None = None
    executors: list[tuple[str, str]] = []
    units: list[tuple[str, str, str]] = []


class _Totals(msgspec.Struct):
    op_id: int
    count: int | None
    total_ns: int | None
    mean_ns: int | None
    side: str


class OwnExport(ChromeJson):
    """Timelines that laptime exported from formats other than Chrome trace events."""

    name = "laptime_export"

    def matches(self, head: bytes, source: Source) -> bool:
        """Whether the header names such a format."""
        return bool(_OWN.search(head, 0, 4096)) and super().matches(head, source)

    def read(self, source: Source, builder: TraceBuilder, progress: Progress, decoders: Decoders) -> None:
        """Reads all events of the source, and what is told of them."""
        feeder = _OwnFeeder(builder)
        fields = read_events(source, builder, progress, decoders, feeder.feed)
        self._take_header(fields, builder)
        builder.meta.update({"format": fields.get("laptimeFormat"), "framework": None, "framework_version": None})
        feeder.finish()


class _OwnFeeder(Feeder):
    """Feeds events with what is told of them."""

    def __init__(self, builder: TraceBuilder) -> None:
        super().__init__(builder, chrome_meaning)
        self._facts: list[tuple[int, Cells]] = []
        self._pending: Cells = {}
        self._tables: dict[str, Cells] = {}
        self._meta = _Meta({})
        self._units: dict[tuple[str, str], str] = {}
        self._slice_ids: list[IntArray] = []

    def feed(self, block: Decoded) -> None:
        """Takes what is told first: it stands before the events, but may share their block."""
        names = {"laptime_meta": _Meta, "laptime_table": _Table, "laptime_facts": _FactsArgs}
        codes = [code for code, name in enumerate(block.names) if name in names]
        for row in np.flatnonzero(np.isin(block.name, codes)).tolist():
            try:
                self._take(msgspec.json.decode(block.args_text(row), type=names[block.names[block.name[row]]]))
            except FAULTS:
                self._warn()
        super().feed(block)

    def _take(self, told: _Meta | _Table | _FactsArgs) -> None:
        if isinstance(told, _Meta):
            self._meta = told
            self._units = {(pid, name): unit for pid, name, unit in told.units}
            return
        columns = _FACTS if isinstance(told, _FactsArgs) else SCHEMAS[told.table].names if told.table in SCHEMAS else ()
        if set(told.columns) != set(columns) or len(set(map(len, told.columns.values()))) != 1:
            self._warn()
            return
        into = self._pending if isinstance(told, _FactsArgs) else self._tables.setdefault(told.table, {})
        for name in columns:
            into.setdefault(name, []).extend(told.columns[name])

    def _warn(self) -> None:
        self._builder.warnings.add("invalid_json", "facts of laptime's own export that cannot be read")

    # ---- slices ----

    def _slice_columns(self, view: _View, rows: Rows, tracks: CodeArray | None = None) -> dict[str, Column]:
        columns = super()._slice_columns(view, rows, tracks)
        place = self._places_of(columns["start"] - self._origin)
        told = {name: _taken(values, place) for name, values in self._pending.items()}
        self._drop_until(int(place.max(initial=-1)) + 1)
        self._slice_ids.append(_numbers(told.get("slice_id", []), len(rows), -1))
        if not told:
            return columns
        bases = {kind: BASE_KIND_CODE[self._base(str(kind))] for kind in dict.fromkeys(map(str, told["kind"]))}
        kinds = [None if kind is None else bases[str(kind)] for kind in told["kind"]]
        known = place >= 0
        columns["kind"] = np.where(known, _numbers(kinds, len(rows), 0), columns["kind"])
        phases = [PHASE_CODE.get(str(phase), -1) for phase in told["phase"]]
        columns["phase"] = np.array(phases, np.int8)
        for name in _TOLD:
            columns[name] = _numbers(told[name], len(rows), NULL)
        columns["op"] = _below(_numbers(told["op_id"], len(rows), -1), len(self._ops))
        self._cut_args(view, rows, columns, _numbers(told["args_length"], len(rows), 0), known)
        stack = _below(_numbers(told["stack_id"], len(rows), -1), len(self._stack_codes))
        if len(self._stack_codes):
            columns["call_stack"] = np.where(stack >= 0, self._stack_codes[np.maximum(stack, 0)], -1).astype(np.int32)
        return columns

    def _base(self, kind: str) -> str:
        """Base kind that no name changes, but for steps of which nothing is told."""
        if kind == "step" and not self._steps:
            return "scope"
        return MIRROR if kind == "scope" else kind if kind in KINDS else "host_other"

    def _places_of(self, starts: IntArray) -> IntArray:
        """Place of each slice among the facts that wait; -1 where there are none of it."""
        waiting = _numbers(self._pending.get("start_ns", []), 0, NULL)
        if len(waiting) >= len(starts) and np.array_equal(waiting[: len(starts)], starts):
            return np.arange(len(starts))
        at_time: dict[int, list[int]] = defaultdict(list)
        for place, start in enumerate(waiting.tolist()):
            at_time[start].append(place)
        found, after = [], 0
        for start in starts.tolist():  # events are missing, or facts
            places = at_time.get(start, [])
            later = bisect_left(places, after)
            found.append(places[later] if later < len(places) else -1)
            after = max(after, found[-1] + 1)
        self._builder.warnings.add("mismatch", "slices of which laptime's own export tells nothing", found.count(-1))
        return np.array(found, np.int64)

    def _drop_until(self, count: int) -> None:
        for values in self._pending.values():
            del values[:count]

    def _cut_args(self, view: _View, rows: Rows, columns: dict[str, Column], own: IntArray, known: Column) -> None:
        """Takes off what the export added to the arguments."""
        longer = np.flatnonzero(known & (own >= 0) & (own < columns["args_length"]))
        texts = [_cut(view.block.args_text(int(rows[row])), int(own[row])) for row in longer.tolist()]
        lengths = np.array([len(text) for text in texts], np.int64)
        columns["args_start"][longer] = self._builder.spool.add(b"".join(texts)) + np.cumsum(lengths) - lengths
        columns["args_length"][longer] = lengths

    @cached_property
    def _ops(self) -> list[Op]:
        """Operators; they and the stacks are told before all slices."""
        rows = _records(self._tables.get("ops"))
        return self._converted([{key: row[key] for key in row if key != "op_id"} for row in rows], Op)

    @cached_property
    def _steps(self) -> list[GivenStep]:
        rows = [_step(row, self._origin) for row in _records(self._tables.get("steps"))]
        return [step for step in self._converted(rows, GivenStep) if _is_sound(step)]

    @cached_property
    def _stack_codes(self) -> CodeArray:
        """Code of each call stack as the builder takes them."""
        table = self._tables.get("stacks")
        frames = [] if table is None else zip(*(table[name] for name in _FRAME), strict=True)
        texts = [";".join(map(_frame, parts)) for _, parts in groupby(frames, key=itemgetter(0))]
        return self._builder.texts["call_stack"].codes(texts)

    def _converted(self, rows: list[dict[str, object]], kind: type[_Row]) -> list[_Row]:
        """Rows as what they should be; none where one is not."""
        try:
            return msgspec.convert(rows, list[kind])  # type: ignore[valid-type]  # mypy knows no type of a variable
        except FAULTS:
            self._warn()
            return []

    # ---- links and counters ----

    def take(self, group: str, view: _View, rows: Rows) -> None:
        """Arrows are for viewers, since the links stand in a table; counters have units that events cannot tell."""
        if group == "counter":
            self._take_counters(view, rows)
        elif group != "flow":
            super().take(group, view, rows)

    def _take_counters(self, view: _View, rows: Rows) -> None:
        for row in self._with_time(view, rows).tolist():
            pid = plain_id(view.block.tracks[view.block.track[row]][0])
            name = view.block.names[view.block.name[row]]
            track = TrackKey("counter", pid, "", name=name, unit=self._units.get((pid, name), ""))
            for value in _numbers_of(view.block.args_text(row)).values():
                code = np.array([self._builder.tracks.code(track)], np.int32)
                sample: dict[str, Column] = {"track": code, "ts": view.block.ts_ns[[row]], "value": np.array([value])}
                self._builder.counters.append(1, sample)

    # ---- the rest ----

    def finish(self) -> None:
        """Hands over what is told of the whole trace."""
        builder, meta = self._builder, self._meta.meta
        origin = self._origin
        if meta:
            spans = {key: [time + origin for time in _span(meta.get(key))] or None for key in _WITH_ORIGIN}
            own = {key: builder.meta[key] for key in ("format", "framework", "framework_version")}
            builder.meta = {**own, **{key: value for key, value in meta.items() if key != "origin_ns"}, **spans}
        else:
            self._warn()
        self._tell_threads()
        builder.steps = self._steps
        builder.ops = self._ops
        for row in self._converted(_records(self._tables.get("op_totals")), _Totals):
            if 0 <= row.op_id < len(builder.ops) and row.side in builder.op_totals:
                builder.op_totals[row.side].append((row.op_id, row.count, row.total_ns, row.mean_ns))
        ids = np.concatenate([*self._slice_ids, np.empty(0, np.int64)])
        builder.phases_told = bool(np.any(ids >= 0))
        whole = np.array_equal(ids, np.arange(len(ids)))
        builder.queue_samples, builder.pipeline_ops = (self._rows(name) for name in ("queue_samples", "pipeline_ops"))
        self._shift_start_ups(origin)
        builder.allocations_read_back = self._allocations(whole=whole)
        self._add_links(ids)

    @property
    def _origin(self) -> int:
        origin = self._meta.meta.get("origin_ns")
        return origin if isinstance(origin, int) and abs(origin) < _MOST else 0

    def _shift_start_ups(self, origin: int) -> None:
        """Start-ups and queue samples are on the source's clock until the tables are made."""
        told = self._builder.meta.get("start_ups")
        if isinstance(told, list):
            self._builder.meta["start_ups"] = [[time + origin for time in _span(each)] for each in told]
            for sample in self._builder.queue_samples:
                time = sample["ts_ns"]
                if isinstance(time, int) and sample["stage"] != BETWEEN_OPERATORS:
                    sample["ts_ns"] = time + origin

    def _tell_threads(self) -> None:
        builder, told = self._builder, self._meta
        threads = {(key.pid, key.tid): code for code, key in enumerate(builder.tracks.keys) if key.kind == "thread"}
        builder.executor_tracks = [threads[each] for each in told.executors if each in threads]
        if told.main is not None:
            builder.main_track = threads.get(told.main)

    def _rows(self, name: str) -> list[dict[str, object]]:
        """Rows of a table as they are stored."""
        rows = _records(self._tables.get(name))
        try:
            return list(pa.Table.from_pylist(rows, SCHEMAS[name]).to_pylist())
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, TypeError):
            self._warn()
            return []

    def _allocations(self, *, whole: bool) -> list[dict[str, object]]:
        """Lives of memory blocks; their slices are known where all slices are there."""
        unknown: dict[str, object] = {} if whole else {"slice_id": None, "free_slice_id": None}
        return [{**row, **unknown} for row in self._rows("allocations")]

    def _add_links(self, ids: IntArray) -> None:
        table = self._tables.get("flows")
        if table is None:
            return
        ends = [_numbers(table[name], len(table[name]), -1) for name in ("from_id", "to_id")]
        order = np.argsort(ids, kind="stable")
        before, after = (_place_among(ids, order, end) for end in ends)
        codes = {name: code for code, name in enumerate(FLOW_KINDS)}
        kind = np.array([codes.get(str(each), -1) for each in table["kind"]], np.int8)
        kept = (before >= 0) & (after >= 0) & (kind >= 0)
        columns: dict[str, Column] = {"from": before[kept], "to": after[kept], "kind": kind[kept]}
        self._builder.links.append(int(np.count_nonzero(kept)), columns)


def _taken(values: list[object], place: IntArray) -> list[object]:
    return [values[each] if each >= 0 else None for each in place.tolist()]


def _numbers(values: Sequence[object], count: int, missing: int) -> IntArray:
    column = [each if isinstance(each, int) and abs(each) < _MOST else missing for each in values]
    return np.array(column or [missing] * count, np.int64)


def _place_among(ids: IntArray, order: IntArray, wanted: IntArray) -> IntArray:
    """Place of each wanted id; -1 where it is not there."""
    if not len(ids):
        return np.full(len(wanted), -1, np.int64)
    found = order[np.minimum(np.searchsorted(ids[order], wanted), len(ids) - 1)]
    return np.where((ids[found] == wanted) & (wanted >= 0), found, -1)


def _cut(text: bytes, length: int) -> bytes:
    """The first part of the arguments as an object of its own; all of them where it is none."""
    if not length:
        return b""
    own = text[: length - 1] + b"}"
    try:
        msgspec.json.decode(own)
    except FAULTS:
        return text
    return own


def _below(codes: IntArray, count: int) -> IntArray:
    """Codes of a list of that many; -1 for others."""
    return np.where((codes >= 0) & (codes < count), codes, -1)


def _frame(row: tuple[object, ...]) -> str:
    """A frame as the builder takes it: `file(line): function`."""
    _, function, file, line = row
    return str(function or "") if file is None else f"{file}({0 if line is None else line}): {function}"


def _records(table: Cells | None) -> list[dict[str, object]]:
    if table is None:
        return []
    return [dict(zip(table, cells, strict=True)) for cells in zip(*table.values(), strict=True)]


def _span(value: object) -> list[int]:
    """Begin and end; nothing where they are unknown."""
    times = [time for time in value if isinstance(time, int)] if isinstance(value, list) else []
    return times if len(times) == 2 and max(map(abs, times)) < _MOST else []


def _is_sound(step: GivenStep) -> bool:
    """Whether its numbers fit, and it ends after it begins."""
    points = (step.forward_start_ns, step.backward_end_ns, step.optimizer_start_ns)
    numbers = (step.step, step.window, step.start_ns, step.end_ns, *(point or 0 for point in points))
    return step.start_ns <= step.end_ns and max(map(abs, numbers)) < _MOST


def _step(row: dict[str, object], origin: int) -> dict[str, object]:
    times = {key: time + origin if isinstance(time := row[key], int) else None for key in row if key.endswith("_ns")}
    return {**{key: row[key] for key in ("step", "label", "complete", "window", "source")}, **times}
