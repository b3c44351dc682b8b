"""The events of a MegEngine timeline as columns: spans, what their arguments say, counters, instants, names of threads.

Arguments stand at the end of a span, tensors' also at its begin; to MegEngine 1.5 at its begin, with the operator's
number as `id` and the tensors it takes and makes as lists. Names hold a tensor's number (`Input 4651`), which is taken
off: `Input`. Flow events repeat what ids tell and are only counted; so are the objects (N, O, D) of MegEngine 1.5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from laptime.importers.decoding import Decoded, id_column
from laptime.importers.events import FAULTS
from laptime.model.arrays import BoolArray, CodeArray, Column, IntArray
from laptime.model.builder import TraceBuilder
from laptime.model.rows import Rows
from laptime.model.tracks import TrackKey, plain_id
from laptime.model.vocabulary import NULL

_NUMBERED = frozenset({"Input", "Output", "Put", "Del", "Drop", "RecFree", "ReGen", "SwapIn", "SwapOut"})
Scalar = int | float | str | bool | None


class _Args(msgspec.Struct, gc=False):
    """What arguments tell of an operator, a tensor or a counter."""

    op: Scalar = msgspec.field(name="__id__", default=NULL)
    op_name: str | None = msgspec.field(name="__name__", default=None)
    tensor: Scalar = msgspec.field(name="id", default=NULL)
    shape: str | None = None
    dtype: str | None = None
    device: str | None = None
    backtrace: str | None = msgspec.field(name="python_backtrace", default=None)
    bytes: Scalar = NULL
    value: Scalar = None
    name: str | None = None
    inputs: str | None = None
    outputs: str | None = None


_decode_all = msgspec.json.Decoder(list[_Args]).decode
_decode_one = msgspec.json.Decoder(_Args).decode
_NO_ARGS = _Args()

_SPAN_COLUMNS: dict[str, tuple[type[np.generic], int]] = {
    "place": (np.int32, 0),
    "start": (np.int64, NULL),
    "name": (np.int32, 0),
    "category": (np.int32, 0),
    "is_end": (np.bool_, 0),
    "is_whole": (np.bool_, 0),
    "order": (np.int64, 0),
    "args_start": (np.int64, 0),
    "args_length": (np.int32, 0),
    "op": (np.int64, NULL),
    "op_name": (np.int32, -1),
    "tensor": (np.int64, NULL),
    "layout": (np.int32, -1),
    "backtrace": (np.int32, -1),
    "bytes": (np.int64, NULL),
    "lists": (np.int32, -1),
}
_COUNTER_COLUMNS: dict[str, tuple[type[np.generic], int]] = {
    "place": (np.int32, 0),
    "start": (np.int64, NULL),
    "name": (np.int32, 0),
    "value": (np.float64, 0),
}
_INSTANT_COLUMNS: dict[str, tuple[type[np.generic], int]] = {
    "place": (np.int32, 0),
    "start": (np.int64, NULL),
    "name": (np.int32, 0),
    "args_start": (np.int64, 0),
    "args_length": (np.int32, 0),
}


@dataclass
class _Texts:
    """Distinct values, numbered as they come."""

    codes: dict[object, int] = field(default_factory=dict)

    def of(self, values: Sequence[object]) -> list[int]:
        """Numbers of values, -1 for None."""
        known = self.codes
        return [-1 if value is None else known.setdefault(value, len(known)) for value in values]

    @property
    def values(self) -> list[object]:
        """Values by number."""
        return list(self.codes)


class Events:
    """Collects the blocks of one file."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._order = 0
        self.spans = Rows(_SPAN_COLUMNS)
        self.counters = Rows(_COUNTER_COLUMNS)
        self.instants = Rows(_INSTANT_COLUMNS)
        self.layouts = _Texts()
        """(shape, dtype) of tensors."""
        self.backtraces = _Texts()
        self.lists = _Texts()
        """(inputs, outputs) of operators, where their arguments list them."""
        self.devices: set[str] = set()
        """Texts that tell where tensors lie."""
        self.places: dict[tuple[str, str], int] = {}
        self.thread_names: dict[int, str] = {}

    def feed(self, block: Decoded) -> None:
        """Takes all events of a block."""
        builder = self._builder
        builder.read += len(block) + block.bad
        builder.drop("invalid_json", block.bad)
        letters = np.array([_GROUP.get(phase, "") for phase in block.phases] or [""])[block.phase]
        timed = block.ts_ns != NULL
        place = np.array([self._place(*thread) for thread in block.tracks] or [0], np.int32)[block.track]
        name = builder.names.codes(map(_plain_name, block.names))[block.name]
        spool = block.args_start + builder.spool.add(block.args)
        common: dict[str, Column] = {"place": place, "start": block.ts_ns, "name": name, "args_start": spool}
        common["args_length"] = block.args_length
        builder.drop("no_timestamp", int(np.count_nonzero(~timed & np.isin(letters, ["span", "counter", "instant"]))))
        args = _args_of(block)
        self._take_spans(block, np.flatnonzero((letters == "span") & timed), args, common)
        self._take_counters(np.flatnonzero((letters == "counter") & timed), args, common)
        rows = np.flatnonzero((letters == "instant") & timed)
        self.instants.append(len(rows), {key: column[rows] for key, column in common.items()})
        self._take_names(block, np.flatnonzero(letters == "metadata"))
        unknown = int(np.count_nonzero(letters == ""))
        builder.drop("unknown_phase", unknown)
        builder.warnings.add("unknown_events", "events of an unknown phase; dropped", unknown)
        self._order += len(block)

    def _place(self, pid: object, tid: object) -> int:
        return self.places.setdefault((plain_id(pid), plain_id(tid)), len(self.places))

    def _take_spans(self, block: Decoded, rows: IntArray, args: _ArgsOf, common: dict[str, Column]) -> None:
        letters = np.array(block.phases or [""])[block.phase[rows]]
        categories = self._builder.categories.codes(text or "" for text in block.categories)
        columns = {key: column[rows] for key, column in common.items()}
        columns["category"] = categories[block.category[rows]]
        columns["is_end"], columns["is_whole"] = letters == "E", letters == "X"
        columns["order"] = rows + self._order
        of_tensor = np.array([_plain_name(text) != text for text in block.names] or [False], bool)
        told = (letters != "B") | ~of_tensor[block.name[rows]]
        told = np.flatnonzero(told & (columns["args_length"] > 0))
        self._read_args(args(rows[told]), told, columns)
        self.spans.append(len(rows), columns)

    def _read_args(self, args: list[_Args], into: IntArray, columns: dict[str, Column]) -> None:
        count = len(columns["place"])
        listed = [each.inputs is not None for each in args]
        found: dict[str, Column] = {
            "op": id_column(
                [each.tensor if old else each.op for each, old in zip(args, listed, strict=True)]
                if any(listed)
                else [each.op for each in args]
            ),
            "tensor": id_column([each.tensor for each in args]),
            "bytes": id_column([each.bytes for each in args]),
            "op_name": self._name_codes(
                [each.name if old else each.op_name for each, old in zip(args, listed, strict=True)]
            ),
            "lists": np.array(
                self.lists.of(
                    [(each.inputs, each.outputs) if old else None for each, old in zip(args, listed, strict=True)]
                ),
                np.int32,
            ),
            "layout": np.array(
                self.layouts.of([None if a.shape is None and a.dtype is None else (a.shape, a.dtype) for a in args]),
                np.int32,
            ),
            "backtrace": np.array(self.backtraces.of([each.backtrace for each in args]), np.int32),
        }
        for key, values in found.items():
            dtype, default = _SPAN_COLUMNS[key]
            columns[key] = np.full(count, default, dtype)
            columns[key][into] = values
        self.devices.update({each.device for each in args if each.device})

    def _name_codes(self, names: list[str | None]) -> CodeArray:
        """Codes of names, -1 for None."""
        known = {name: -1 if name is None else self._builder.names.code(name) for name in dict.fromkeys(names)}
        return np.fromiter(map(known.__getitem__, names), np.int32, len(names))

    def _take_counters(self, rows: IntArray, args: _ArgsOf, common: dict[str, Column]) -> None:
        values = [each.value for each in args(rows)]
        found = np.array([value if isinstance(value, (int, float)) else np.nan for value in values], np.float64)
        known = np.isfinite(found)
        columns = {key: common[key][rows[known]] for key in ("place", "start", "name")}
        self.counters.append(int(np.count_nonzero(known)), {**columns, "value": found[known]})

    def _take_names(self, block: Decoded, rows: IntArray) -> None:
        for row in rows.tolist():
            if block.names[block.name[row]] != "thread_name":
                continue
            try:
                args = msgspec.json.decode(block.args_text(row), type=dict[str, object])
            except FAULTS:
                continue
            self.thread_names[self._place(*block.tracks[block.track[row]])] = plain_id(args.get("name"))


def _plain_name(name: str) -> str:
    """Without the number of a tensor."""
    head, _, number = name.rpartition(" ")
    return head if head in _NUMBERED and number.isdigit() else name


_ArgsOf = Callable[[IntArray], list[_Args]]
"""Arguments of some rows of a block."""


def _args_of(block: Decoded) -> _ArgsOf:
    """Decodes all arguments of a block at once; of odd ones what is sound."""
    rows = np.flatnonzero(block.args_length)
    try:
        decoded = _decode_all(b"".join((b"[", block.args, b"]")))
    except FAULTS:
        decoded = [_one(block.args_text(row)) for row in rows.tolist()]
    place = np.full(len(block), -1, np.int64)
    place[rows] = np.arange(len(rows))
    decoded.append(_NO_ARGS)  # place -1

    def of(wanted: IntArray) -> list[_Args]:
        return [decoded[each] for each in place[wanted].tolist()]

    return of


def _one(text: bytes) -> _Args:
    try:
        return _decode_one(text)
    except FAULTS:
        return _NO_ARGS


def add_counters(events: Events, builder: TraceBuilder) -> dict[str, float]:
    """Adds the samples of counters, each name a row of the timeline of its process; returns each name's last value."""
    columns = events.counters.take_all()
    if not len(columns["place"]):
        return {}
    pids = [pid for pid, _ in events.places]
    names = builder.names.texts
    key = columns["name"].astype(np.int64) * len(pids) + columns["place"]
    distinct, which = np.unique(key, return_inverse=True)
    tracks = [
        builder.tracks.code(TrackKey("counter", pids[each % len(pids)], "", name=names[each // len(pids)]))
        for each in distinct.tolist()
    ]
    values = {"track": np.array(tracks, np.int32)[which], "ts": columns["start"], "value": columns["value"]}
    builder.counters.append(len(which), values)
    return dict(zip((names[code] for code in columns["name"].tolist()), columns["value"].tolist(), strict=True))


def ends_of(columns: dict[str, Column]) -> BoolArray:
    """Rows that are begin or end events."""
    return np.asarray(~columns["is_whole"])


_GROUP = {
    "B": "span",
    "E": "span",
    "X": "span",
    "C": "counter",
    "i": "instant",
    "I": "instant",
    "R": "instant",
    "M": "metadata",
    "N": "object",
    "O": "object",
    "D": "object",
    "s": "flow",
    "t": "flow",
    "f": "flow",
}
