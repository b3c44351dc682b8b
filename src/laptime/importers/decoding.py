"""Chrome trace events: text of whole events in, columns out.

The format is the Trace Event Format of Chrome (`ph`, `name`, `cat`, `pid`, `tid`, `ts`, `dur`, `id`, `args`; times in
microseconds). A block is the text of some events without the brackets around them. A clean block is decoded in one
call into typed structs; a block with a fault goes element by element, so that one bad element costs only itself.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

import msgspec
import numpy as np

from laptime.importers.events import (
    FAULTS,
    MEMORY_COLUMNS,
    MEMORY_EVENT,
    BareEvent,
    Event,
    SliceArgs,
    decode_bare_events,
    decode_events,
    decode_memory_args,
    decode_one_memory_args,
    decode_one_slice_args,
    decode_raw_times,
    decode_slice_args,
)
from laptime.importers.recovery import recover, split_at_list_end
from laptime.model.arrays import CodeArray, IntArray, distinct_rows
from laptime.model.clock import EXACT_DOUBLE_US, ns_from_doubles, ns_from_mixed, ns_from_text
from laptime.model.vocabulary import NULL

T = TypeVar("T")
A = TypeVar("A")


@dataclass(slots=True)
class Decoded:
    """Columns of a block, one row per event. Codes point into the block's own lists; NULL is a missing number."""

    phase: CodeArray
    name: CodeArray
    category: CodeArray
    track: CodeArray
    ts_ns: IntArray
    dur_ns: IntArray
    id: IntArray
    numbers: dict[str, IntArray]
    texts: dict[str, CodeArray]
    args: bytes
    """Argument texts, joined with commas."""
    args_start: IntArray
    args_length: CodeArray
    phases: list[str]
    names: list[str]
    categories: list[str | None]
    tracks: list[tuple[object, object]]
    text_values: dict[str, list[str]]
    memory: dict[str, IntArray]
    """Columns of the memory events, whose rows are `memory_rows`."""
    memory_rows: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    rest: bytes = b""
    """What follows the closing bracket of the event list, when the block holds it."""
    closed: bool = False
    bad: int = 0
    """Elements that are no events or could not be repaired."""
    repaired: int = 0
    partial_at: int | None = None
    """Offset in the block of an element that was cut off."""
    skipped: int = 0
    """Events that are counted, but have no row."""

    def __len__(self) -> int:
        return len(self.phase)

    def args_text(self, row: int) -> bytes:
        """Argument text of one event."""
        start = int(self.args_start[row])
        return self.args[start : start + int(self.args_length[row])]


def decode_block(block: bytes, *, last: bool = False, bare: bool = False) -> Decoded:
    """Decodes the events of a block; `last` says that nothing follows, so the list's end or a cut may lie in it.

    `bare`: arguments are kept as text alone, durations and ids left out: for dialects whose arguments are others than
    PyTorch's, and which need neither.
    """
    body, rest, closed = split_at_list_end(block) if last else (block, b"", False)
    text = as_list(body)
    try:
        events: Sequence[Event | BareEvent] = decode_bare_events(text) if bare else decode_events(text)
    except FAULTS:
        recovered = recover(block)
        decoded = _columns(recovered.events, _time_column(recovered.times), bare=bare)
        decoded.rest, decoded.closed = recovered.rest, recovered.closed
        decoded.bad, decoded.repaired, decoded.partial_at = recovered.bad, recovered.repaired, recovered.partial_at
        return decoded
    times: list[object] = [event.ts for event in events]
    column = _exact_doubles(times)
    if column is None:
        column = _time_column([bytes(event.ts) for event in decode_raw_times(text)] if _needs_text(times) else times)
    decoded = _columns(events, column, bare=bare)
    decoded.rest, decoded.closed = rest, closed
    return decoded


def decode_text(block: bytes, *, last: bool = False, bare: bool = False) -> Decoded:
    """Decodes a block the shortest way: `bare` ones as columns straight from the text, where that can be."""
    if not bare:
        return decode_block(block, last=last)
    from laptime.importers.bare_events import decode_bare  # not at the top: it needs pyarrow, and this module

    return decode_bare(block, last=last)


def decode_part(path: str, offset: int, length: int, *, bare: bool = False) -> Decoded:
    """Decodes a block that lies uncompressed in a file, so that its text need not travel between processes."""
    with open(path, "rb") as handle:
        handle.seek(offset)
        return decode_text(handle.read(length), bare=bare)


def as_list(body: bytes) -> bytes:
    """The events of a block as a JSON list: brackets around, no comma after the last one."""
    end = body.rfind(b"}") + 1
    if body[end:].strip(b" \t\r\n,"):  # not an event: let the decoder say so
        end = len(body)
    return b"".join((b"[", memoryview(body)[:end], b"]"))


def _exact_doubles(times: Sequence[object]) -> IntArray | None:
    """Nanoseconds of times that are numbers, some with decimals, all of which doubles hold exactly; None for others."""
    kinds = set(map(type, times))
    if float not in kinds or not kinds <= {int, float}:
        return None
    try:
        doubles = np.array(times, np.float64)
    except OverflowError:  # an integer that no double holds
        return None
    exact = (np.abs(doubles) < EXACT_DOUBLE_US) | (doubles == float(NULL))
    return ns_from_doubles(doubles) if exact.all() else None


def _needs_text(times: Sequence[object]) -> bool:
    """Whether a time is a decimal beyond what a double holds to the nanosecond."""
    if float not in set(map(type, times)):
        return False
    return any(type(time) is float and not abs(time) < EXACT_DOUBLE_US for time in times)


# ---- columns ----


def _columns(events: Sequence[Event | BareEvent], ts_ns: IntArray, *, bare: bool) -> Decoded:
    count = len(events)
    phase, phases = interned([event.ph for event in events])
    name, names = interned([event.name for event in events])
    category, categories = interned([event.cat for event in events])
    pid, pids = interned([event.pid for event in events])
    tid, tids = interned([event.tid for event in events])
    first, track = distinct_rows([pid, tid])
    texts = [event.args for event in events]
    args_length = np.fromiter(map(len, texts), np.int32, count)
    rows = np.flatnonzero(args_length)
    args = b",".join([texts[row] for row in rows.tolist()] if len(rows) < count else texts)
    args_start = np.cumsum(args_length, dtype=np.int64) - args_length
    args_start[rows] += np.arange(len(rows))  # the commas
    decoded = Decoded(
        phase=phase,
        name=name,
        category=category,
        track=track.astype(np.int32),
        ts_ns=ts_ns,
        dur_ns=np.full(count, NULL, np.int64),
        id=np.full(count, NULL, np.int64),
        numbers={},
        texts={},
        args=args,
        args_start=args_start,
        args_length=args_length,
        phases=[str(value) for value in phases],
        names=["" if value is None else str(value) for value in names],
        categories=[None if value is None else str(value) for value in categories],
        tracks=[(pids[pid[row]], tids[tid[row]]) for row in first.tolist()],
        text_values={},
        memory={},
    )
    if not bare:
        whole = cast(Sequence[Event], events)
        decoded.dur_ns = _time_column([event.dur for event in whole])
        decoded.id = id_column([event.id for event in whole])
        _add_arg_columns(decoded, rows)
    return decoded


def interned(values: list[T]) -> tuple[CodeArray, list[T]]:
    """Codes of values, and the distinct values in order of appearance."""
    if values and values[0] == values[-1] and values.count(values[0]) == len(values):  # a process, mostly
        return np.zeros(len(values), np.int32), values[:1]
    table = {value: code for code, value in enumerate(dict.fromkeys(values))}
    return np.fromiter(map(table.__getitem__, values), np.int32, len(values)), list(table)


def _add_arg_columns(decoded: Decoded, rows: IntArray) -> None:
    """Fills in what the arguments hold; memory events have arguments of their own."""
    memory_names = [code for code, name in enumerate(decoded.names) if name == MEMORY_EVENT]
    is_memory = np.isin(decoded.name[rows], memory_names) if memory_names else np.zeros(len(rows), bool)
    events = rows[is_memory]
    if len(events):
        memory = _decode_args(decoded, events, decode_memory_args, decode_one_memory_args)
        for key in MEMORY_COLUMNS:
            decoded.memory[key] = int_column([getattr(args, key) for args in memory])
    decoded.memory_rows = events
    rows = rows[~is_memory]
    _add_slice_args(decoded, rows, _decode_args(decoded, rows, decode_slice_args, decode_one_slice_args))


def _add_slice_args(decoded: Decoded, rows: IntArray, args: Sequence[SliceArgs]) -> None:
    count = len(decoded)
    numbers = {
        "correlation": int_column([a.correlation for a in args]),
        "external_id": _first_known(
            int_column([a.external_id for a in args]), int_column([a.external_id_2021 for a in args])
        ),
        "device": int_column([a.device for a in args]),
        "stream": int_column([a.stream for a in args]),
        "bytes": _first_known(int_column([a.bytes for a in args]), int_column([a.size for a in args])),
    }
    for key, values in numbers.items():
        column = np.full(count, NULL, np.int64)
        column[rows] = values
        decoded.numbers[key] = column
    for key, texts in (
        ("shapes", [a.shapes or a.shapes_2021 for a in args]),
        ("dtypes", [a.dtypes for a in args]),
        ("call_stack", [a.call_stack for a in args]),
        ("module", [a.module for a in args]),
        ("collective", [a.collective for a in args]),
    ):
        codes = np.full(count, -1, np.int32)
        codes[rows], decoded.text_values[key] = _interned_texts(texts)
        decoded.texts[key] = codes


def _first_known(first: IntArray, second: IntArray) -> IntArray:
    return np.where(first == NULL, second, first)


def _interned_texts(values: Sequence[msgspec.Raw | str | None]) -> tuple[CodeArray, list[str]]:
    """Codes of texts, -1 for none or an empty one."""
    if not any(values):
        return np.full(len(values), -1, np.int32), []
    codes, distinct = interned([bytes(value) if type(value) is msgspec.Raw else value for value in values])
    known = [place for place, value in enumerate(distinct) if value]
    renumbered = np.full(len(distinct), -1, np.int32)
    renumbered[known] = np.arange(len(known), dtype=np.int32)
    return renumbered[codes], [_decoded_text(distinct[place]) for place in known]


def _decoded_text(value: bytes | str | None) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _decode_args(
    decoded: Decoded, rows: IntArray, many: Callable[[bytes], list[A]], one: Callable[[bytes], A]
) -> list[A]:
    """Argument objects of some events, in one call; odd ones one by one."""
    whole = len(rows) == np.count_nonzero(decoded.args_length)
    blobs = [] if whole else [decoded.args_text(row) for row in rows.tolist()]
    try:
        return many(b"[" + (decoded.args if whole else b",".join(blobs)) + b"]")
    except FAULTS:
        return [_odd_args(decoded.args_text(row), one) for row in rows.tolist()]


def _odd_args(blob: bytes, one: Callable[[bytes], A]) -> A:
    """Arguments that are no object, or hold a known name with an unknown type, give what can be read."""
    try:
        return one(blob)
    except FAULTS:
        pass
    try:
        fields = msgspec.json.decode(blob, type=dict[str, msgspec.Raw])
    except FAULTS:
        return one(b"{}")
    readable = {name: raw for name, raw in fields.items() if _is_readable(name, raw, one)}
    return one(msgspec.json.encode(readable))


def _is_readable(name: str, raw: msgspec.Raw, one: Callable[[bytes], A]) -> bool:
    try:
        one(b"{" + msgspec.json.encode(name) + b":" + bytes(raw) + b"}")
    except FAULTS:
        return False
    return True


def int_column(values: Sequence[object], as_int: Callable[[object], int] | None = None) -> IntArray:
    """64-bit integers of a JSON column; NULL for what is no number or does not fit."""
    if set(map(type, values)) <= {int}:
        try:
            return np.array(values, np.int64)
        except OverflowError:
            pass
    return np.fromiter(map(as_int or _as_int, values), np.int64, len(values))


def id_column(values: Sequence[object]) -> IntArray:
    """Ids of a JSON column as 64-bit integers: equal ids, equal numbers; texts and huge numbers get a stable hash."""
    return int_column(values, _as_id)


def _as_int(value: object) -> int:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return NULL
    if isinstance(value, str):
        try:
            value = int(value, 0)
        except ValueError:
            return NULL
    return int(value) if isinstance(value, (int, float)) and (abs(value) < 2**63 or value == NULL) else NULL


def _as_id(value: object) -> int:
    number = _as_int(value)
    if number != NULL or value is None or value == NULL or value == "":
        return number
    return int.from_bytes(hashlib.blake2b(str(value).encode("utf-8", "replace"), digest_size=7).digest(), "big")


def _time_column(values: Sequence[object]) -> IntArray:
    """Exact nanoseconds of decimal microseconds; see `laptime.model.clock` for the three ways."""
    kinds = set(map(type, values))
    if kinds == {int}:
        column = int_column(values)
        if np.all((np.abs(column) < _MOST_US) | (column == NULL)):
            return np.where(column == NULL, NULL, column * 1000)
    if bytes in kinds:
        return ns_from_text([value if isinstance(value, bytes) else b"" for value in values])
    exact = _exact_doubles(values)
    if exact is not None:
        return exact
    if kinds <= {int, float, type(None)} and not _needs_text(values):
        doubles = np.array(values, dtype=np.float64)
        if not np.any((np.abs(doubles) >= EXACT_DOUBLE_US) & (doubles != float(NULL))):
            return ns_from_doubles(doubles)
    return ns_from_mixed(values)


_MOST_US = 9 * 10**15
"""Whole microseconds up to here fit int64 nanoseconds."""
