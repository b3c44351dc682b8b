"""From the events of one plane to rows of a TraceBuilder: tracks, times, kinds, operators, arguments."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from laptime.importers.xplane_args import ArgsWriter
from laptime.importers.xplane_events import Events, Stats, decode_events
from laptime.importers.xplane_hlo import HloModules
from laptime.importers.xplane_lines import DERIVED, DEVICE, EXECUTOR, HOST_CALL, Place, host_kind, shown_name
from laptime.importers.xplane_memory import add_memory
from laptime.importers.xplane_ops import OP_STATS, OpTable, as_references
from laptime.importers.xplane_runs import CALLS, FUNCTIONS, Runs, Span, Work
from laptime.importers.xplane_space import Line, Plane
from laptime.importers.xplane_steps import Markers
from laptime.importers.xplane_waits import CONSUMER, MARKS, with_waits
from laptime.importers.xplane_wire import Buffer
from laptime.model.arrays import BoolArray, CodeArray, Column, IntArray, distinct_codes
from laptime.model.builder import BASE_KIND_CODE, Op, TraceBuilder
from laptime.model.tracks import TrackKey
from laptime.model.vocabulary import NULL

_INTERNAL = ("_p", "_pt", "_ct", "_r", "_a", "_src")
"""Stats by which XLA links its own threads, and names the place in its own source; of `_c` only waits are told."""
_RUN_STATS = ("hlo_module", "run_id", "device_ordinal")
_TEXTS = (*OP_STATS, "memcpy_details", "allocator_name")
_LATEST_PS = 1 << 61
"""26 days: nothing is later in a line, or longer."""
_LATEST_NS = 1 << 61
_PS = np.uint64(1000)
_COPIED = re.compile(r"\bsize:(\d{1,18})\b")
_TWICE_NS = 100_000
_SCOPE, _STEP, _CALL, _WORKLESS = (BASE_KIND_CODE[kind] for kind in ("scope", "step", HOST_CALL, "device_other"))
_RUNTIME = [BASE_KIND_CODE[kind] for kind in ("host_other", "op", "compile", "sync", HOST_CALL)]


@dataclass(frozen=True)
class _Rows:
    """Events of a line that become slices, in ns on the profile's clock; NULL is unknown."""

    events: Events
    start: IntArray
    dur: IntArray
    names: CodeArray


@dataclass(frozen=True)
class _Origins:
    """Operator and call stack of device work; -1 is none."""

    op: CodeArray
    stack: CodeArray


class PlaneReader:
    """Reads the lines of one plane."""

    def __init__(
        self, plane: Plane, buffer: Buffer, modules: HloModules, builder: TraceBuilder, *, host_is_device: bool
    ) -> None:
        self._plane = plane
        self._buffer = buffer
        self._builder = builder
        self._host_is_device = host_is_device
        self._ops = OpTable(plane, modules, builder)
        self._args = ArgsWriter(buffer, plane, builder.spool)
        self._texts = [key for name in _TEXTS if (key := plane.stat_key(name)) >= 0]
        self._ignored = np.array([key for name in _INTERNAL if (key := plane.stat_key(name)) >= 0], np.int64)
        self._tids: dict[str, str] = {}
        self.runs = Runs()
        """Executions of programs on XLA:CPU, and their calls."""
        builder.tracks.process_names[plane.name] = plane.name
        builder.categories.code("")  # the first, which slices have that tell none

    def pour_line(self, line: Line, place: Place, markers: Markers) -> None:
        """Adds the events of a line."""
        self._builder.read += len(line.events)
        if not len(line.events):
            return
        events = self._named(self._decoded(line))
        events = self._without_sums(events)
        if not len(events):
            return
        rows = self._rows(events, line)
        if place.role == DERIVED:
            self._add(rows, self._track(line, place), np.full(len(events), _SCOPE, np.int8))
        elif place.role == DEVICE:
            self._add_work(rows, self._track(line, place), np.ones(len(events), bool))
        elif place.role == EXECUTOR:
            self._add_work(rows, self._track(line, place), self._has(events, "hlo_op"))
        else:
            self._add_thread(rows, line, place, markers)

    # ---- events ----

    def _decoded(self, line: Line) -> Events:
        events = decode_events(self._buffer, line.events, self._ignored)
        self._builder.drop("damaged", events.bad)
        self._builder.warnings.add("lost_records", "events that cannot be decoded; dropped", events.bad)
        return events.with_stats(as_references(events.stats, self._texts, self._plane, self._buffer))

    def _named(self, events: Events) -> Events:
        """Without the events whose name is lost with the end of the plane."""
        known, place = distinct_codes(events.metadata)
        has_name = np.array([code in self._plane.event_kinds for code in known.tolist()] or [True], bool)
        if has_name.all():
            return events
        keep = has_name[place]
        lost = len(events) - int(np.count_nonzero(keep))
        self._builder.drop("nameless", lost)
        self._builder.warnings.add("lost_records", "events whose names are lost; dropped", lost)
        return events.chosen(keep)

    def _without_sums(self, events: Events) -> Events:
        """Without events that stand for many executions, which become sums."""
        summed = events.occurrences != NULL
        if not summed.any():
            return events
        for row in np.flatnonzero(summed).tolist():
            count, total = int(events.occurrences[row]), int(events.duration_ps[row]) // 1000
            if count > 0 and total >= 0:
                name = shown_name(self._plane.event_kinds[int(events.metadata[row])])
                op = self._builder.add_op(Op(name, op_type=name, device_kind="XLA"))
                self._builder.op_totals["device"].append((op, count, total, (2 * total + count) // (2 * count)))
        return events.chosen(~summed)

    def _rows(self, events: Events, line: Line) -> _Rows:
        start, dur = _times(events, line)
        known, place = distinct_codes(events.metadata)
        kinds = self._plane.event_kinds
        names = self._builder.names.codes(shown_name(kinds[code]) for code in known.tolist())
        return _Rows(events, start, dur, names[place])

    def _has(self, events: Events, stat: str) -> BoolArray:
        has = np.zeros(len(events), bool)
        key = self._plane.stat_key(stat)
        if key >= 0:
            has[events.stats.of(key)[0]] = True
        return has

    def _are(self, pattern: re.Pattern[str], events: Events) -> BoolArray:
        known, place = distinct_codes(events.metadata)
        kinds = self._plane.event_kinds
        return np.array([bool(pattern.search(kinds[code].name)) for code in known.tolist()] or [False])[place]

    # ---- slices ----

    def _add_work(self, rows: _Rows, track: int, works: BoolArray) -> None:
        """Device work where `works`, and what surrounds it."""
        chosen = np.flatnonzero(works)
        op, kind = np.full(len(works), -1, np.int32), np.full(len(works), _WORKLESS, np.int8)
        stack = np.full(len(works), -1, np.int32)
        op[chosen], stack[chosen], kind[chosen] = self._ops.of(rows.events, chosen)
        first = self._add(rows, track, kind, _Origins(op, stack))
        if self._host_is_device:
            self._add_runs(rows, chosen, first)

    def _add_runs(self, rows: _Rows, chosen: IntArray, first: int) -> None:
        columns = [rows.events.column(self._plane.stat_key(name))[chosen] for name in _RUN_STATS]
        work = Work(first + chosen, rows.start[chosen], columns[0], columns[1], self._plane.stat_names)
        self.runs.add_work(work, columns[2])

    def _add_thread(self, rows: _Rows, line: Line, place: Place, markers: Markers) -> None:
        track = self._track(line, place)
        events = rows.events
        marks, ends = self._are(MARKS, events), self._has(events, CONSUMER)
        dur, wait_ends = with_waits(rows.start, rows.dur, marks=marks, ends=ends)
        rows = replace(rows, dur=dur)
        called = self._has(events, "correlation_id")
        works = self._has(events, "hlo_op") & ~called if self._host_is_device else np.zeros(len(events), bool)
        kind = self._host_kinds(events, place.role)
        kind[called] = _CALL
        key = self._plane.stat_key("step_num")
        marked, numbers = events.stats.of(key) if key >= 0 else (_NO_ROWS, _NO_ROWS)
        kind[marked] = _STEP
        kind[wait_ends] = BASE_KIND_CODE["host_other"]
        kind[_told_twice(rows, kind)] = BASE_KIND_CODE["host_other"]
        kind[_inside_runtime(rows.start, rows.dur, kind)] = BASE_KIND_CODE["host_other"]
        whole = (rows.dur[marked] != NULL) & (rows.start[marked] != NULL)
        marked, numbers = marked[whole], numbers[whole]
        if len(marked):
            texts = self._builder.names.texts
            labels = [texts[code] for code in rows.names[marked].tolist()]
            markers.add(track, numbers, rows.start[marked], rows.start[marked] + rows.dur[marked], labels)
        tracks = np.full(len(events), track, np.int32)
        add_memory(events, rows.start, tracks, self._plane, self._builder)
        own = np.flatnonzero(~works)
        threads = rows if len(own) == len(works) else _only(rows, own)
        first = self._add(threads, track, kind[own])
        if self._host_is_device:
            self._add_calls(threads, first)
        if not works.any():
            return
        inline = _only(rows, np.flatnonzero(works))
        self._add_work(inline, self._inline_track(line), np.ones(len(inline.events), bool))

    def _add_calls(self, rows: _Rows, first: int) -> None:
        calls = np.flatnonzero(self._are(CALLS, rows.events) & (rows.start != NULL) & (rows.dur != NULL))
        functions = np.flatnonzero(self._are(FUNCTIONS, rows.events) & (rows.start != NULL) & (rows.dur != NULL))
        self.runs.add_calls(first + calls, self._spans(rows, calls), self._spans(rows, functions))

    def _spans(self, rows: _Rows, chosen: IntArray) -> list[Span]:
        texts = self._builder.names.texts
        starts, ends = rows.start[chosen], rows.start[chosen] + rows.dur[chosen]
        names = [FUNCTIONS.sub(r"\1", texts[code]) for code in rows.names[chosen].tolist()]
        return [Span(*each) for each in zip(starts.tolist(), ends.tolist(), names, strict=True)]

    def _host_kinds(self, events: Events, role: str) -> Column:
        known, place = distinct_codes(events.metadata)
        kinds = [host_kind(self._plane.event_kinds[code].name, role) for code in known.tolist()]
        return np.array([BASE_KIND_CODE[kind] for kind in kinds], np.int8)[place]

    def _add(self, rows: _Rows, track: int, kind: Column, origins: _Origins | None = None) -> int:
        """Adds slices; the number of the first."""
        first = self._builder.slices.count
        events, count = rows.events, len(rows.events)
        columns: dict[str, Column] = {
            "track": np.full(count, track, np.int32),
            "start": rows.start,
            "dur": rows.dur,
            "name": rows.names,
            "kind": kind,
        }
        correlation = self._plane.stat_key("correlation_id")
        if correlation >= 0:
            columns["correlation"] = events.column(correlation)
        details = self._plane.stat_key("memcpy_details")
        if details >= 0:
            columns["bytes"] = self._copied_bytes(events.column(details))
        if origins is not None:
            columns["op"], columns["call_stack"] = origins.op, origins.stack
        told = self._told(events, correlation, None if origins is None else origins.op)
        columns["args_start"], columns["args_length"] = self._args.write(told, count)
        self._builder.add_slices(count, columns)
        return first

    def _told(self, events: Events, correlation: int, op: CodeArray | None) -> Stats:
        """Stats that are no column, nor part of the slice's operator."""
        keep = ~np.isin(events.stats.key, [correlation, self._plane.stat_key(CONSUMER)])
        if op is not None:
            in_op = np.isin(events.stats.key, self._ops.keys) & (op >= 0)[events.stats.row]
            keep &= ~in_op
        return events.stats.chosen(np.flatnonzero(keep))

    def _copied_bytes(self, details: IntArray) -> IntArray:
        sizes = np.full(len(details), NULL)
        rows = np.flatnonzero(details != NULL)
        known, place = distinct_codes(details[rows])
        for code, text in enumerate(self._plane.stat_names.get(code, "") for code in known.tolist()):
            match = _COPIED.search(text)
            sizes[rows[place == code]] = int(match[1]) if match else NULL
        return sizes

    # ---- tracks ----

    def _track(self, line: Line, place: Place) -> int:
        tid = self._tid(line)
        pid = self._plane.name
        if place.role in (DEVICE, EXECUTOR):
            return self._builder.tracks.code(TrackKey("stream", pid, tid, place.device, place.stream))
        if place.role == DERIVED:
            return self._builder.tracks.code(TrackKey("annotation", pid, tid, place.device, name=line.name))
        return self._builder.tracks.code(TrackKey("thread", pid, tid))

    def _inline_track(self, line: Line) -> int:
        """For XLA's work on the calling thread itself."""
        tid = f"{self._tid(line)} XLA"
        self._builder.tracks.thread_names[self._plane.name, tid] = f"{line.name} (XLA)"
        return self._builder.tracks.code(TrackKey("stream", self._plane.name, tid, 0))

    def _tid(self, line: Line) -> str:
        """The line's id, made unique where lines of other names share it."""
        tid, again = str(line.id), 1
        while self._tids.setdefault(tid, line.name) != line.name:
            again += 1
            tid = f"{line.id} {again}"
        self._builder.tracks.thread_names[self._plane.name, tid] = line.name
        return tid


_NO_ROWS = np.empty(0, np.int64)


def _times(events: Events, line: Line) -> tuple[IntArray, IntArray]:
    """Start and duration in ns, both ends rounded; NULL where they cannot be."""
    offset, duration = events.offset_ps, events.duration_ps
    is_late = abs(line.timestamp_ns) >= _LATEST_NS
    odd = is_late or offset.min() < 0 or duration.min() < 0 or max(offset.max(), duration.max()) >= _LATEST_PS
    if not odd:
        start = (offset + 500).view(np.uint64) // _PS
        end = (offset + duration + 500).view(np.uint64) // _PS
        return start.view(np.int64) + line.timestamp_ns, (end - start).view(np.int64)
    offset = np.where(offset == NULL, 0, offset)
    placed = (offset >= 0) & (offset < _LATEST_PS) & (not is_late)
    timed = placed & (duration >= 0) & (duration < _LATEST_PS)
    offset = np.where(placed, offset, 0)
    begin = (offset + 500) // 1000
    last = (offset + np.where(timed, duration, 0) + 500) // 1000
    base = 0 if is_late else line.timestamp_ns
    return np.where(placed, begin + base, NULL), np.where(timed, last - begin, NULL)


def _only(rows: _Rows, chosen: IntArray) -> _Rows:
    keep = np.zeros(len(rows.events), bool)
    keep[chosen] = True
    return _Rows(rows.events.chosen(keep), rows.start[chosen], rows.dur[chosen], rows.names[chosen])


def _told_twice(rows: _Rows, kind: Column) -> IntArray:
    """Calls that lie directly inside an event of the same name: JAX marks each call of a function two times."""
    ops = np.flatnonzero((kind == BASE_KIND_CODE["op"]) & (rows.dur != NULL) & (rows.start != NULL))
    ops = ops[np.lexsort((-rows.dur[ops], rows.start[ops]))]
    start, name = rows.start[ops], rows.events.metadata[ops]
    end = start + rows.dur[ops]
    inside = (name[1:] == name[:-1]) & (end[1:] <= end[:-1]) & (start[1:] - start[:-1] < _TWICE_NS)
    return np.asarray(ops[1:][inside])


def _inside_runtime(start: IntArray, dur: IntArray, kind: Column) -> IntArray:
    """Ranges inside an event of the runtime: they are the runtime's own, whatever their name says."""
    if not (kind == _SCOPE).any():
        return _NO_ROWS
    order = np.lexsort((-np.maximum(dur, 0), start))
    end = np.where(dur == NULL, start, start + dur)[order]
    ends = np.where(np.isin(kind[order], _RUNTIME), end, NULL)
    latest = np.maximum.accumulate(np.concatenate([[NULL], ends[:-1]]))
    inside = (kind[order] == _SCOPE) & (end <= latest) & (start[order] < latest)
    return np.asarray(order[inside])
