"""From decoded Chrome trace events to the rows of a TraceBuilder: what each phase letter becomes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

import msgspec
import numpy as np

from laptime.importers.categories import Meaning
from laptime.importers.decoding import Decoded
from laptime.model.arrays import CodeArray, Column, IntArray, distinct_rows
from laptime.model.builder import BASE_KIND_CODE, TraceBuilder
from laptime.model.tracks import TrackKey, plain_id
from laptime.model.vocabulary import NULL, TRACK_KINDS

Rows = IntArray

_PLACE_CODE = {kind: code for code, kind in enumerate(TRACK_KINDS)}
_ON_DEVICE = frozenset({"stream", "annotation", "sync"})


class _NameArgs(msgspec.Struct):
    name: str | int | float | None = None
    labels: str | int | float | None = None
    sort_index: int | float | str | None = None


_Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class _TrackArgs(msgspec.Struct):
    """The track that a row of laptime's own export was written from; see `laptime.exports.chrome_rows`."""

    kind: Literal["thread", "stream", "annotation", "sync", "span"]
    pid: str = ""
    tid: str = ""
    device: _Int64 | None = None
    stream: _Int64 | None = None


_OWN_TRACK = "laptime_track"
_LEGACY_DEVICE = "CUDA functions"
_DECODE_TRACK_ARGS = msgspec.json.Decoder(_TrackArgs).decode
_DECODE_NAME_ARGS = msgspec.json.Decoder(_NameArgs).decode


class Feeder:
    """Hands the events of one file to a builder, block by block."""

    def __init__(self, builder: TraceBuilder, meaning_of: Callable[[str], Meaning]) -> None:
        self._builder = builder
        self._meaning_of = meaning_of
        self._meanings: dict[str, Meaning] = {}
        self._device_tracks: dict[tuple[str, int | None, int | None], int] = {}
        self._declared: dict[tuple[str, str], TrackKey] = {}
        self._order = 0
        self.unknown = 0
        """Slices of categories that the dialect does not know."""

    def feed(self, block: Decoded) -> None:
        """Takes all events of a block."""
        builder = self._builder
        builder.read += len(block) + block.bad
        builder.drop("invalid_json", block.bad)
        _name_legacy_kernels(block)
        view = _View(block, builder)
        by_phase: dict[str, list[int]] = {}
        for code, letter in enumerate(block.phases):
            by_phase.setdefault(_GROUP.get(letter, "other"), []).append(code)
        for group, codes in by_phase.items():
            rows = np.flatnonzero(np.isin(block.phase, codes))
            if len(rows):
                self.take(group, view, rows)
        self._order += len(block)

    def take(self, group: str, view: _View, rows: Rows) -> None:
        """Takes the events of a block that are of one form."""
        _HANDLERS[group](self, view, rows)

    # ---- slices ----

    def _slices(self, view: _View, rows: Rows) -> None:
        rows = self._without_blanks(view.block, rows)
        self._builder.add_slices(len(rows), self._slice_columns(view, rows))

    def _without_blanks(self, block: Decoded, rows: Rows) -> Rows:
        """Without `{}`, which XLA writes behind its last event."""
        is_blank = (block.ts_ns[rows] == NULL) & (block.dur_ns[rows] == NULL) & (block.args_length[rows] == 0)
        if not is_blank.any():
            return rows
        is_blank &= np.array([not name for name in block.names], bool)[block.name[rows]]
        self._builder.drop("blank", int(np.count_nonzero(is_blank)))
        return np.asarray(rows[~is_blank])

    def _nested_points(self, view: _View, rows: Rows) -> None:
        self._builder.points.append(len(rows), self._point_columns(view, rows, "E"))

    def _async_points(self, view: _View, rows: Rows) -> None:
        columns = self._point_columns(view, rows, "eF", self._async_tracks(view, rows))
        self._builder.async_points.append(len(rows), columns)

    def _point_columns(
        self, view: _View, rows: Rows, end_letters: str, tracks: CodeArray | None = None
    ) -> dict[str, Column]:
        ends = [code for code, letter in enumerate(view.block.phases) if letter in end_letters]
        is_end = np.isin(view.block.phase[rows], ends)
        columns: dict[str, Column] = {}
        own_tracks = None if tracks is None else tracks[~is_end]
        for name, column in self._slice_columns(view, rows[~is_end], own_tracks).items():
            columns[name] = np.zeros(len(rows), column.dtype)  # what an end event says of itself is not used
            columns[name][~is_end] = column
        columns["start"], columns["name"] = view.block.ts_ns[rows], view.name_codes[view.block.name[rows]]
        columns["category"] = view.category_codes[view.block.category[rows]]
        columns["is_end"] = is_end
        columns["place"] = self._places(view)[view.block.track[rows]]
        columns["id"] = view.block.id[rows]
        columns["order"] = rows + self._order
        return columns

    def _slice_columns(self, view: _View, rows: Rows, tracks: CodeArray | None = None) -> dict[str, Column]:
        block = view.block
        category = block.category[rows]
        meanings = [self._meaning(text) for text in view.category_texts]
        kinds = np.array([BASE_KIND_CODE[meaning.kind] for meaning in meanings], np.int8)
        unknown = np.array([not meaning.known for meaning in meanings], bool)
        self.unknown += int(np.count_nonzero(unknown[category]))
        columns: dict[str, Column] = {
            "track": self._tracks(view, rows, meanings) if tracks is None else tracks,
            "start": block.ts_ns[rows],
            "dur": block.dur_ns[rows],
            "kind": kinds[category],
            **view.labels(rows),
            **{name: block.numbers[name][rows] for name in ("correlation", "external_id", "bytes")},
        }
        for name, codes in block.texts.items():
            known = view.text_codes[name]
            columns[name] = np.where(codes[rows] >= 0, known[codes[rows]], -1) if len(known) else codes[rows]
        return columns

    def _meaning(self, category: str) -> Meaning:
        if category not in self._meanings:
            self._meanings[category] = self._meaning_of(category)
        return self._meanings[category]

    def _tracks(self, view: _View, rows: Rows, meanings: list[Meaning]) -> CodeArray:
        block = view.block
        place = np.array([_PLACE_CODE[meaning.place] for meaning in meanings], np.int32)[block.category[rows]]
        on_device = np.isin(place, [_PLACE_CODE[kind] for kind in _ON_DEVICE])
        device = np.where(on_device, block.numbers["device"][rows], NULL)
        stream = np.where(on_device, block.numbers["stream"][rows], NULL)
        first, combination = distinct_rows([block.track[rows], place, device, stream])
        codes = [
            self._track(
                TRACK_KINDS[place[row]], block.tracks[block.track[rows[row]]], int(device[row]), int(stream[row])
            )
            for row in first.tolist()
        ]
        return np.array(codes, np.int32)[combination]

    def _track(self, kind: str, thread: tuple[object, object], device: int, stream: int) -> int:
        pid, tid = plain_id(thread[0]), plain_id(thread[1])
        declared = self._declared.get((pid, tid))
        if declared is not None:
            return self._builder.tracks.code(declared)
        if kind not in _ON_DEVICE:
            return self._builder.tracks.code(TrackKey(_host_kind(kind, pid, tid), pid, tid))
        device_id = device if device != NULL else _number_in(pid)
        stream_id = stream if stream != NULL else _number_in(tid)
        key = (kind, device_id, stream_id)
        if key not in self._device_tracks or device_id is None or stream_id is None:
            self._device_tracks[key] = self._builder.tracks.code(TrackKey(kind, pid, tid, device_id, stream_id))
        return self._device_tracks[key]

    def _async_tracks(self, view: _View, rows: Rows) -> CodeArray:
        block = view.block
        first, combination = distinct_rows([block.track[rows], block.category[rows], block.name[rows]])
        codes = []
        for row in rows[first].tolist():
            pid = plain_id(block.tracks[block.track[row]][0])
            name = block.names[block.name[row]]
            codes.append(self._builder.tracks.code(TrackKey("async", pid, "", name=name)))
        return np.array(codes, np.int32)[combination]

    # ---- points ----

    def _instants(self, view: _View, rows: Rows) -> None:
        block = view.block
        rows = self._with_time(view, rows)
        track = self._point_tracks(view, rows)
        self._builder.instants.append(len(rows), {"track": track, "ts": block.ts_ns[rows], **view.labels(rows)})
        own, place = np.isin(block.memory_rows, rows), np.searchsorted(rows, block.memory_rows)
        if own.any():
            columns: dict[str, Column] = {name: column[own] for name, column in block.memory.items()}
            columns["bytes"] = columns.pop("memory_bytes")
            columns["track"], columns["ts"] = track[place[own]], block.ts_ns[block.memory_rows[own]]
            self._builder.memory_events.append(int(np.count_nonzero(own)), columns)

    def _with_time(self, view: _View, rows: Rows) -> Rows:
        timed = view.block.ts_ns[rows] != NULL
        self._builder.drop("no_timestamp", int(np.count_nonzero(~timed)))
        return np.asarray(rows[timed])

    def _point_tracks(self, view: _View, rows: Rows) -> CodeArray:
        codes = np.zeros(len(view.block.tracks), np.int32)
        for local in np.unique(view.block.track[rows]).tolist():
            codes[local] = self._track("thread", view.block.tracks[local], NULL, NULL)
        return codes[view.block.track[rows]]

    def _flows(self, view: _View, rows: Rows) -> None:
        block = view.block
        ends = [code for code, letter in enumerate(block.phases) if letter == "f"]
        columns: dict[str, Column] = {
            "track": self._places(view)[block.track[rows]],
            "ts": block.ts_ns[rows],
            "id": block.id[rows],
            "name": view.name_codes[block.name[rows]],
            "category": view.category_codes[block.category[rows]],
            "is_end": np.isin(block.phase[rows], ends),
        }
        self._builder.flow_points.append(len(rows), columns)

    def _places(self, view: _View) -> CodeArray:
        """The builder's place of each of the block's (pid, tid)."""
        places = [self._builder.place(*self._own_place(plain_id(pid), plain_id(tid))) for pid, tid in view.block.tracks]
        return np.array(places, np.int32)

    def _own_place(self, pid: str, tid: str) -> tuple[str, str]:
        declared = self._declared.get((pid, tid))
        return (pid, tid) if declared is None else (declared.pid, declared.tid)

    def _counters(self, view: _View, rows: Rows) -> None:
        samples: list[tuple[int, int, float]] = []
        for row in self._with_time(view, rows).tolist():
            pid = plain_id(view.block.tracks[view.block.track[row]][0])
            name = view.block.names[view.block.name[row]]
            for series, value in _numbers_of(view.block.args_text(row)).items():
                title = name if series in ("value", name) else f"{name} {series}".strip()
                track = self._builder.tracks.code(TrackKey("counter", pid, "", name=title))
                samples.append((track, int(view.block.ts_ns[row]), value))
        if samples:
            track_column, ts, values = (np.array(column) for column in zip(*samples, strict=True))
            self._builder.counters.append(len(samples), {"track": track_column, "ts": ts, "value": values})

    def _metadata(self, view: _View, rows: Rows) -> None:
        block = view.block
        if _OWN_TRACK in block.names:
            self._declare_tracks(block, rows[block.name[rows] == block.names.index(_OWN_TRACK)])
        named = [code for code, name in enumerate(block.names) if name in _METADATA]
        for row in rows[np.isin(block.name[rows], named)].tolist():
            try:
                args = _DECODE_NAME_ARGS(view.block.args_text(row))
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
            pid, tid = (plain_id(part) for part in block.tracks[block.track[row]])
            _METADATA[block.names[block.name[row]]](self._builder, pid, tid, args)

    def _declare_tracks(self, block: Decoded, rows: Rows) -> None:
        """Rows of laptime's own export belong to the tracks they were written from."""
        for row in rows.tolist():
            try:
                args = _DECODE_TRACK_ARGS(block.args_text(row))
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
            pid, tid = (plain_id(part) for part in block.tracks[block.track[row]])
            self._declared[pid, tid] = TrackKey(args.kind, args.pid, args.tid, args.device, args.stream)
            self._builder.tracks.code(self._declared[pid, tid])

    def _others(self, view: _View, rows: Rows) -> None:
        objects = [code for code, letter in enumerate(view.block.phases) if letter in tuple("NODPcvVR(),")]
        tolerated = int(np.count_nonzero(np.isin(view.block.phase[rows], objects)))
        self._builder.drop("not_shown", tolerated)
        self._builder.drop("unknown_phase", len(rows) - tolerated)
        self._builder.warnings.add("unknown_events", "events of an unknown phase; dropped", len(rows) - tolerated)


def _name_legacy_kernels(block: Decoded) -> None:
    """Gives device rows of PyTorch before 1.8 what later ones carry: they had no category, pid `CUDA functions` and the
    device's number for a tid."""
    for local, (pid, tid) in enumerate(block.tracks):
        if pid == _LEGACY_DEVICE:
            rows = block.track == local
            block.category[rows & (block.category == _code_of(block.categories, None))] = _code_of(
                block.categories, "kernel"
            )
            block.numbers["device"][rows], block.numbers["stream"][rows] = _number_in(plain_id(tid)) or 0, 0


def _code_of(texts: list[str | None], text: str | None) -> int:
    if text not in texts:
        texts.append(text)
    return texts.index(text)


def _host_kind(kind: str, pid: str, tid: str) -> str:
    """Threads have numbers; the recorder's own rows (`Traces`, `Spans`) have names only."""
    return "span" if kind == "thread" and pid in ("Traces", "Spans", "") and not tid.isdigit() else kind


def _number_in(text: str) -> int | None:
    digits = text.rsplit(" ", 1)[-1]
    return int(digits) if digits.lstrip("-").isdigit() and len(digits) < 18 else None


def _numbers_of(args: bytes) -> dict[str, float]:
    """The series of a counter event."""
    try:
        fields = msgspec.json.decode(args or b"{}", type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}
    numbers = {}
    for name, value in fields.items():
        try:
            numbers[name] = float(value)  # type: ignore[arg-type]  # anything else raises
        except (TypeError, ValueError, OverflowError):
            continue
    return numbers


class _View:
    """A block with its texts renumbered to the builder's and its arguments spooled."""

    def __init__(self, block: Decoded, builder: TraceBuilder) -> None:
        self.block = block
        self.category_texts = [text or "" for text in block.categories]
        self.name_codes = builder.names.codes(block.names)
        self.category_codes = builder.categories.codes(self.category_texts)
        self.text_codes = {key: builder.texts[key].codes(texts) for key, texts in block.text_values.items()}
        self._args_start = block.args_start + builder.spool.add(block.args)

    def labels(self, rows: Rows) -> dict[str, Column]:
        """Name, category and the place of the arguments."""
        return {
            "name": self.name_codes[self.block.name[rows]],
            "category": self.category_codes[self.block.category[rows]],
            "args_start": self._args_start[rows],
            "args_length": self.block.args_length[rows],
        }


def _name_process(builder: TraceBuilder, pid: str, tid: str, args: _NameArgs) -> None:
    builder.tracks.process_names[pid] = plain_id(args.name)


def _label_process(builder: TraceBuilder, pid: str, tid: str, args: _NameArgs) -> None:
    builder.tracks.process_labels[pid] = plain_id(args.labels)


def _name_thread(builder: TraceBuilder, pid: str, tid: str, args: _NameArgs) -> None:
    name = plain_id(args.name)
    known = builder.tracks.thread_names.get((pid, tid), "")
    if not known or name != builder.tracks.process_names.get(pid):  # a thread's own name counts before its process's
        builder.tracks.thread_names[pid, tid] = name


def _sort_process(builder: TraceBuilder, pid: str, tid: str, args: _NameArgs) -> None:
    if isinstance(args.sort_index, int):
        builder.tracks.process_sort[pid] = args.sort_index


def _sort_thread(builder: TraceBuilder, pid: str, tid: str, args: _NameArgs) -> None:
    if isinstance(args.sort_index, int):
        builder.tracks.thread_sort[pid, tid] = args.sort_index


_METADATA = {
    "process_name": _name_process,
    "process_labels": _label_process,
    "thread_name": _name_thread,
    "process_sort_index": _sort_process,
    "thread_sort_index": _sort_thread,
}

_GROUP = {
    "X": "slice",
    "B": "nested",
    "E": "nested",
    "b": "async",
    "e": "async",
    "S": "async",
    "F": "async",
    "i": "instant",
    "I": "instant",
    "n": "instant",
    "R": "instant",
    "T": "instant",
    "p": "instant",
    "C": "counter",
    "s": "flow",
    "t": "flow",
    "f": "flow",
    "M": "metadata",
}
_HANDLERS: dict[str, Callable[[Feeder, _View, Rows], None]] = {
    "slice": Feeder._slices,
    "nested": Feeder._nested_points,
    "async": Feeder._async_points,
    "instant": Feeder._instants,
    "counter": Feeder._counters,
    "flow": Feeder._flows,
    "metadata": Feeder._metadata,
    "other": Feeder._others,
}
