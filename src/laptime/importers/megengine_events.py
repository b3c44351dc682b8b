"""The events of a MegEngine timeline as columns: spans, what their arguments say, counters, instants, names of threads.

Arguments stand at the end of a span, tensors' also at its begin; to MegEngine 1.5 at its begin, with the operator's
number as `id` and the tensors it takes and makes as lists. Names hold a tensor's number (`Input 4651`), which is taken
off: `Input`. Flow events repeat what ids tell and are only counted; so are the objects (N, O, D) of MegEngine 1.5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

import msgspec
import numpy as np

from laptime.importers.bare_events import COUNTED_ONLY, NUMBERED
from laptime.importers.decoding import Decoded, id_column, interned
from laptime.importers.events import FAULTS
from laptime.importers.megengine_args import Args, args_of, counter_values
from laptime.model.arrays import BoolArray, CodeArray, Column, IntArray, distinct_codes, distinct_rows
from laptime.model.builder import TraceBuilder
from laptime.model.rows import Rows
from laptime.model.tracks import TrackKey, plain_id
from laptime.model.vocabulary import NULL

T = TypeVar("T")
_SPAN_COLUMNS: dict[str, tuple[type[np.generic], int]] = {
    "place": (np.int32, 0),
    "start": (np.int64, NULL),
    "name": (np.int32, 0),
    "category": (np.int32, 0),
    "is_end": (np.bool_, 0),
    "is_whole": (np.bool_, 0),
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

    def of(self, values: list[T]) -> CodeArray:
        """Numbers of values, -1 for None."""
        codes, distinct = interned(values)
        known = [-1 if value is None else self.codes.setdefault(value, len(self.codes)) for value in distinct]
        return np.array(known or [-1], np.int32)[codes]

    @property
    def values(self) -> list[object]:
        """Values by number."""
        return list(self.codes)


class Events:
    """Collects the blocks of one file."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        builder.categories.code("")  # the first: that of events for which none is told
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
        builder.read += len(block) + block.skipped + block.bad
        builder.drop("invalid_json", block.bad)
        group = np.array([_GROUP.get(phase, _UNKNOWN) for phase in block.phases] or [0], np.int8)[block.phase]
        timed = block.ts_ns != NULL
        place = np.array([self._place(*thread) for thread in block.tracks] or [0], np.int32)[block.track]
        plain = [plain_name(name) for name in block.names]
        spool = block.args_start + builder.spool.add(block.args)
        common: dict[str, Column] = {"place": place, "start": block.ts_ns, "args_start": spool}
        common["name"] = builder.names.codes(plain)[block.name]
        common["args_length"] = block.args_length
        builder.drop("no_timestamp", int(np.count_nonzero(~timed & (group <= _INSTANT))))
        of_tensor = np.array([short != name for short, name in zip(plain, block.names, strict=True)] or [False], bool)
        self._take_spans(block, np.flatnonzero((group == _SPAN) & timed), of_tensor, common)
        self._take_counters(block, np.flatnonzero((group == _COUNTER) & timed), common)
        rows = np.flatnonzero((group == _INSTANT) & timed)
        self.instants.append(len(rows), {key: column[rows] for key, column in common.items()})
        self._take_names(block, np.flatnonzero(group == _METADATA))
        unknown = int(np.count_nonzero(group == _UNKNOWN))
        builder.drop("unknown_phase", unknown)
        builder.warnings.add("unknown_events", "events of an unknown phase; dropped", unknown)

    def _place(self, pid: object, tid: object) -> int:
        return self.places.setdefault((plain_id(pid), plain_id(tid)), len(self.places))

    def _take_spans(self, block: Decoded, rows: IntArray, of_tensor: BoolArray, common: dict[str, Column]) -> None:
        categories = self._builder.categories.codes(text or "" for text in block.categories)
        columns = {key: column[rows] for key, column in common.items()}
        columns["category"] = categories[block.category[rows]]
        is_end, is_whole = (np.array([phase == letter for phase in block.phases] or [False], bool) for letter in "EX")
        columns["is_end"], columns["is_whole"] = is_end[block.phase[rows]], is_whole[block.phase[rows]]
        tells = columns["is_end"] | columns["is_whole"] | ~of_tensor[block.name[rows]]
        told = np.flatnonzero(tells & (columns["args_length"] > 0))
        self._read_args(args_of(block, rows[told]), told, columns)
        self.spans.append(len(rows), columns)

    def _read_args(self, args: list[Args], into: IntArray, columns: dict[str, Column]) -> None:
        count = len(columns["place"])
        lists = [(each.inputs, each.outputs) if each.inputs is not None else None for each in args]
        op, op_name = [each.op for each in args], [each.op_name for each in args]
        if any(lists):  # of MegEngine 1.5
            op = [each.tensor if old else each.op for each, old in zip(args, lists, strict=True)]
            op_name = [each.name if old else each.op_name for each, old in zip(args, lists, strict=True)]
        found: dict[str, Column] = {
            "op": id_column(op),
            "tensor": id_column([each.tensor for each in args]),
            "bytes": id_column([each.bytes for each in args]),
            "op_name": self._name_codes(op_name),
            "lists": self.lists.of(lists),
            "layout": self._layout_codes([each.shape for each in args], [each.dtype for each in args]),
            "backtrace": self.backtraces.of([each.backtrace for each in args]),
        }
        for key, values in found.items():
            dtype, default = _SPAN_COLUMNS[key]
            columns[key] = np.full(count, default, dtype)
            columns[key][into] = values
        self.devices.update(device for device in {each.device for each in args} if device)

    def _name_codes(self, names: list[str | None]) -> CodeArray:
        """Codes of names, -1 for None."""
        codes, distinct = interned(names)
        known = [-1 if name is None else self._builder.names.code(name) for name in distinct]
        return np.array(known or [-1], np.int32)[codes]

    def _layout_codes(self, shapes: list[str | None], dtypes: list[str | None]) -> CodeArray:
        """Codes of (shape, dtype), numbered as they come; -1 where neither is told."""
        (shape, distinct_shapes), (dtype, distinct_dtypes) = interned(shapes), interned(dtypes)
        first, place = distinct_rows([shape, dtype])
        order = np.argsort(first)
        pairs = [(distinct_shapes[shape[row]], distinct_dtypes[dtype[row]]) for row in first[order].tolist()]
        known = np.empty(len(first), np.int32)
        known[order] = self.layouts.of([None if pair == (None, None) else pair for pair in pairs])
        return known[place]

    def _take_counters(self, block: Decoded, rows: IntArray, common: dict[str, Column]) -> None:
        found = counter_values(block, rows)
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


def plain_name(name: str) -> str:
    """A name without the number of a tensor."""
    head, _, number = name.rpartition(" ")
    return head if head in NUMBERED and number.isdigit() else name


def add_counters(events: Events, builder: TraceBuilder) -> dict[str, float]:
    """Adds the samples of counters, each name a row of the timeline of its process; returns each name's last value."""
    columns = events.counters.take_all()
    if not len(columns["place"]):
        return {}
    pids = [pid for pid, _ in events.places]
    names = builder.names.texts
    key = columns["name"].astype(np.int64) * len(pids) + columns["place"]
    distinct, which = distinct_codes(key)
    tracks = [
        builder.tracks.code(TrackKey("counter", pids[each % len(pids)], "", name=names[each // len(pids)]))
        for each in distinct.tolist()
    ]
    samples = {"track": np.array(tracks, np.int32)[which], "ts": columns["start"], "value": columns["value"]}
    builder.counters.append(len(which), samples)
    values, place = distinct_codes(columns["name"])
    last = np.zeros(len(values), np.int64)
    last[place] = np.arange(len(place))
    return {names[code]: value for code, value in zip(values.tolist(), columns["value"][last].tolist(), strict=True)}


_SPAN, _COUNTER, _INSTANT, _METADATA, _COUNTED, _UNKNOWN = range(6)
"""What phases are; those up to instants need a time."""
_GROUP = {
    **dict.fromkeys("BEX", _SPAN),
    "C": _COUNTER,
    **dict.fromkeys("iIR", _INSTANT),
    "M": _METADATA,
    **dict.fromkeys(COUNTED_ONLY, _COUNTED),
}
