"""Chrome trace events: text of whole events in, columns out.

The format is the Trace Event Format of Chrome (`ph`, `name`, `cat`, `pid`, `tid`, `ts`, `dur`, `id`, `args`; times in
microseconds). A block is the text of some events without the brackets around them. A clean block is decoded in one
call into typed structs; a block with a fault goes element by element, so that one bad element costs only itself.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec
import numpy as np

from laptime.model.arrays import CodeArray, IntArray, distinct_rows
from laptime.model.clock import EXACT_DOUBLE_US, ns_from_doubles, ns_from_mixed, ns_from_text
from laptime.model.schema import NULL

_Scalar = int | float | str | bool | None
_NO_TEXT = msgspec.Raw(b"")
T = TypeVar("T")
A = TypeVar("A")


class _Event(msgspec.Struct, gc=False):
    """One event; NULL stands for a missing number, so that a column of numbers needs no look at each value."""

    ph: str = "X"
    name: _Scalar = None
    cat: str | None = None
    pid: _Scalar = None
    tid: _Scalar = None
    ts: _Scalar = NULL
    dur: _Scalar = NULL
    id: int | float | str | None = NULL
    args: msgspec.Raw = _NO_TEXT


class _RawTimeEvent(_Event, gc=False):
    """For files whose times are decimals that a double cannot hold."""

    ts: msgspec.Raw = _NO_TEXT  # type: ignore[assignment]  # the same field, kept as text


class _Args(msgspec.Struct, gc=False):
    """The arguments of slices that become columns; all of them are also kept as text."""

    correlation: _Scalar = NULL
    external_id: _Scalar = msgspec.field(name="External id", default=NULL)
    external_id_2021: _Scalar = msgspec.field(name="external id", default=NULL)
    device: _Scalar = NULL
    stream: _Scalar = NULL
    bytes: _Scalar = NULL
    size: _Scalar = NULL
    shapes: msgspec.Raw = msgspec.field(name="Input Dims", default=_NO_TEXT)
    shapes_2021: msgspec.Raw = msgspec.field(name="Input dims", default=_NO_TEXT)
    dtypes: msgspec.Raw = msgspec.field(name="Input type", default=_NO_TEXT)
    call_stack: str | None = msgspec.field(name="Call stack", default=None)
    module: str | None = msgspec.field(name="Module Hierarchy", default=None)
    collective: str | None = msgspec.field(name="Collective name", default=None)


class _MemoryArgs(msgspec.Struct, gc=False):
    """The arguments of memory events."""

    address: _Scalar = msgspec.field(name="Addr", default=NULL)
    memory_bytes: _Scalar = msgspec.field(name="Bytes", default=NULL)
    total_allocated: _Scalar = msgspec.field(name="Total Allocated", default=NULL)
    total_reserved: _Scalar = msgspec.field(name="Total Reserved", default=NULL)
    device_type: _Scalar = msgspec.field(name="Device Type", default=NULL)
    device_id: _Scalar = msgspec.field(name="Device Id", default=NULL)


_DECODE = msgspec.json.Decoder(list[_Event]).decode
_DECODE_RAW_TIME = msgspec.json.Decoder(list[_RawTimeEvent]).decode
_DECODE_ONE = msgspec.json.Decoder(_Event).decode
_DECODE_ARGS = msgspec.json.Decoder(list[_Args]).decode
_DECODE_ONE_ARGS = msgspec.json.Decoder(_Args).decode
_DECODE_MEMORY_ARGS = msgspec.json.Decoder(list[_MemoryArgs]).decode
_DECODE_ONE_MEMORY_ARGS = msgspec.json.Decoder(_MemoryArgs).decode
_LENIENT = json.JSONDecoder(strict=False)
_FAULT = (msgspec.DecodeError, RecursionError)

EVENT_BOUNDARY = re.compile(rb"\}\s*,\s*(?=\{\s*\")")
_BETWEEN = " \t\r\n,"
_LONGEST_TOKEN = len("false") + 1
"""A literal, number or escape that is cut off is reported where it begins."""
_TEXT_BOUNDARY = re.compile(r"\}\s*,?\s*(?=\{\s*\")")
_BAD_ESCAPE = re.compile(r'\\(?:u(?![0-9a-fA-F]{4})|(?!["\\/bfnrtu]))')
_BARE_WORD = re.compile(r"(?<=[:,\[])(\s*)(?!true\b|false\b|null\b)[A-Za-z+][\w/+.-]*(?=\s*[,}\]])")

MEMORY_EVENT = "[memory]"
MEMORY_COLUMNS = ("address", "memory_bytes", "total_allocated", "total_reserved", "device_type", "device_id")


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

    def __len__(self) -> int:
        return len(self.phase)

    def args_text(self, row: int) -> bytes:
        """Argument text of one event."""
        start = int(self.args_start[row])
        return self.args[start : start + int(self.args_length[row])]


def decode_block(block: bytes, *, last: bool = False) -> Decoded:
    """Decodes the events of a block; `last` says that nothing follows, so the list's end or a cut may lie in it."""
    body, rest, closed = split_at_list_end(block) if last else (block, b"", False)
    text = _as_list(body)
    try:
        events = _DECODE(text)
    except (*_FAULT, UnicodeDecodeError):
        recovered = _recover(block)
        decoded = _columns(recovered.events, recovered.times)
        decoded.rest, decoded.closed = recovered.rest, recovered.closed
        decoded.bad, decoded.repaired, decoded.partial_at = recovered.bad, recovered.repaired, recovered.partial_at
        return decoded
    times: list[object] = [event.ts for event in events]
    if _needs_text(times):
        times = [bytes(event.ts) for event in _DECODE_RAW_TIME(text)]
    decoded = _columns(events, times)
    decoded.rest, decoded.closed = rest, closed
    return decoded


def decode_part(path: str, offset: int, length: int) -> Decoded:
    """Decodes a block that lies uncompressed in a file, so that its text need not travel between processes."""
    with open(path, "rb") as handle:
        handle.seek(offset)
        return decode_block(handle.read(length))


def _as_list(body: bytes) -> bytes:
    """The events as a JSON list: brackets around, no comma after the last one."""
    end = body.rfind(b"}") + 1
    if body[end:].strip(b" \t\r\n,"):  # not an event: let the decoder say so
        end = len(body)
    return b"".join((b"[", memoryview(body)[:end], b"]"))


def split_at_list_end(block: bytes) -> tuple[bytes, bytes, bool]:
    """Splits the last block into events and what follows the list's `]`; (block, b"", False) where no end is found."""
    end = len(block)
    for _ in range(256):
        end = block.rfind(b"]", 0, end)
        if end < 0:
            break
        after = block[end + 1 :].strip()
        if after in (b"", b"}") or (after.startswith(b",") and _completes_object(after)):
            return block[:end], after, True
    return block, b"", False


def _completes_object(after: bytes) -> bool:
    try:
        msgspec.json.decode(b"{" + after.lstrip(b", \r\n\t"), type=dict[str, msgspec.Raw])
    except _FAULT:
        return False
    return True


def _needs_text(times: Sequence[object]) -> bool:
    """Whether a time is a decimal beyond what a double holds to the nanosecond."""
    if float not in set(map(type, times)):
        return False
    return any(type(time) is float and not abs(time) < EXACT_DOUBLE_US for time in times)


# ---- columns ----


def _columns(events: Sequence[_Event], times: Sequence[object]) -> Decoded:
    count = len(events)
    phase, phases = _interned([event.ph for event in events])
    name, names = _interned([event.name for event in events])
    category, categories = _interned([event.cat for event in events])
    pid, pids = _interned([event.pid for event in events])
    tid, tids = _interned([event.tid for event in events])
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
        ts_ns=_time_column(times),
        dur_ns=_time_column([event.dur for event in events]),
        id=int_column([event.id for event in events]),
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
    _add_arg_columns(decoded, rows)
    return decoded


def _interned(values: list[T]) -> tuple[CodeArray, list[T]]:
    """Codes of values, and the distinct values in order of appearance."""
    table = {value: code for code, value in enumerate(dict.fromkeys(values))}
    return np.fromiter(map(table.__getitem__, values), np.int32, len(values)), list(table)


def _add_arg_columns(decoded: Decoded, rows: IntArray) -> None:
    """Fills in what the arguments hold; memory events have arguments of their own."""
    memory_names = [code for code, name in enumerate(decoded.names) if name == MEMORY_EVENT]
    is_memory = np.isin(decoded.name[rows], memory_names) if memory_names else np.zeros(len(rows), bool)
    events = rows[is_memory]
    if len(events):
        memory = _decode_args(decoded, events, _DECODE_MEMORY_ARGS, _DECODE_ONE_MEMORY_ARGS)
        for key in MEMORY_COLUMNS:
            decoded.memory[key] = int_column([getattr(args, key) for args in memory])
    decoded.memory_rows = events
    rows = rows[~is_memory]
    _add_slice_args(decoded, rows, _decode_args(decoded, rows, _DECODE_ARGS, _DECODE_ONE_ARGS))


def _add_slice_args(decoded: Decoded, rows: IntArray, args: Sequence[_Args]) -> None:
    count = len(decoded)
    numbers = {
        "correlation": int_column([a.correlation for a in args]),
        "external_id": _first_known([a.external_id for a in args], [a.external_id_2021 for a in args]),
        "device": int_column([a.device for a in args]),
        "stream": int_column([a.stream for a in args]),
        "bytes": _first_known([a.bytes for a in args], [a.size for a in args]),
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


def _first_known(values: list[_Scalar], others: list[_Scalar]) -> IntArray:
    first, second = int_column(values), int_column(others)
    return np.where(first == NULL, second, first)


def _interned_texts(values: Sequence[msgspec.Raw | str | None]) -> tuple[CodeArray, list[str]]:
    """Codes of texts, -1 for none or an empty one."""
    if not any(values):
        return np.full(len(values), -1, np.int32), []
    codes, distinct = _interned([bytes(value) if type(value) is msgspec.Raw else value for value in values])
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
    except (*_FAULT, UnicodeDecodeError):
        return [_odd_args(decoded.args_text(row), one) for row in rows.tolist()]


def _odd_args(blob: bytes, one: Callable[[bytes], A]) -> A:
    """Arguments that are no object, or hold a known name with an unknown type, give what can be read."""
    try:
        return one(blob)
    except (*_FAULT, UnicodeDecodeError):
        pass
    try:
        fields = msgspec.json.decode(blob, type=dict[str, msgspec.Raw])
    except (*_FAULT, UnicodeDecodeError):
        return one(b"{}")
    readable = {name: raw for name, raw in fields.items() if _is_readable(name, raw, one)}
    return one(msgspec.json.encode(readable))


def _is_readable(name: str, raw: msgspec.Raw, one: Callable[[bytes], A]) -> bool:
    try:
        one(b"{" + msgspec.json.encode(name) + b":" + bytes(raw) + b"}")
    except (*_FAULT, UnicodeDecodeError):
        return False
    return True


def int_column(values: Sequence[object]) -> IntArray:
    """64-bit integers of a JSON column; texts that are no number get a stable hash, nothing becomes NULL."""
    if set(map(type, values)) <= {int}:
        try:
            return np.array(values, np.int64)
        except OverflowError:
            pass
    return np.fromiter((_as_int(value) for value in values), np.int64, len(values))


def _as_int(value: object) -> int:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return NULL
    if isinstance(value, (int, float)):
        return int(value) if abs(value) < 2**63 or value == NULL else NULL
    try:
        number = int(str(value), 0)
    except ValueError:
        return int.from_bytes(hashlib.blake2b(str(value).encode(), digest_size=7).digest(), "big")
    return number if abs(number) < 2**63 else NULL


def _time_column(values: Sequence[object]) -> IntArray:
    """Exact nanoseconds of decimal microseconds; see `laptime.model.clock` for the three ways."""
    kinds = set(map(type, values))
    if kinds == {int}:
        column = int_column(values)
        if np.all((np.abs(column) < _MOST_US) | (column == NULL)):
            return np.where(column == NULL, NULL, column * 1000)
    if bytes in kinds:
        return ns_from_text([value if isinstance(value, bytes) else b"" for value in values])
    if kinds <= {int, float, type(None)} and not _needs_text(values):
        doubles = np.array(values, dtype=np.float64)
        if not np.any((np.abs(doubles) >= EXACT_DOUBLE_US) & (doubles != float(NULL))):
            return ns_from_doubles(doubles)
    return ns_from_mixed(values)


_MOST_US = 9 * 10**15
"""Whole microseconds up to here fit int64 nanoseconds."""


# ---- faults ----


@dataclass(slots=True)
class _Recovered:
    events: list[_Event] = field(default_factory=list)
    times: list[object] = field(default_factory=list)
    rest: bytes = b""
    closed: bool = False
    bad: int = 0
    repaired: int = 0
    partial_at: int | None = None

    def add(self, text: str) -> None:
        """Takes an element whose JSON is sound; `text` is exactly its text."""
        event, time = _read_event(text)
        if event is None:
            self.bad += 1
            return
        self.events.append(event)
        self.times.append(time)


def _recover(block: bytes) -> _Recovered:
    found = _Recovered()
    text = block.decode("utf-8", "surrogateescape")
    end_of_text = len(text.rstrip(_BETWEEN))
    position = 0
    while True:
        position = _skip(text, position)
        if position >= len(text):
            return found
        if text[position] == "]":
            found.rest, found.closed = text[position + 1 :].strip().encode("utf-8", "replace"), True
            return found
        end, fault_at = _element_end(text, position)
        if end is not None:
            element = text[position:end]
            found.repaired += not _is_strict(element)
            found.add(element)
            position = end
        elif fault_at >= end_of_text - _LONGEST_TOKEN:  # nothing is wrong but that the text ends here
            found.partial_at = len(text[:position].encode("utf-8", "surrogateescape"))
            return found
        else:
            position = _recover_element(text, position, found)


def _recover_element(text: str, start: int, found: _Recovered) -> int:
    """Mends or drops the element that starts here; returns where the next one does."""
    boundary = _TEXT_BOUNDARY.search(text, start)
    end = boundary.start() + 1 if boundary else len(text)
    mended = _BARE_WORD.sub(r"\1null", _BAD_ESCAPE.sub(r"\\\\", text[start:end]))
    mended_end, _ = _element_end(mended, 0)
    if mended_end is not None:
        found.repaired += 1
        found.add(mended[:mended_end])
        if not boundary:  # keep what follows the mended element: the end of the list and the keys after it
            remaining = mended[mended_end:].strip()
            found.closed = remaining.startswith("]")
            found.rest = remaining[1:].strip().encode("utf-8", "replace") if found.closed else b""
        return end
    if boundary:
        found.bad += 1
    else:
        found.partial_at = len(text[:start].encode("utf-8", "surrogateescape"))
    return end


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _BETWEEN:
        position += 1
    return position


def _element_end(text: str, start: int) -> tuple[int | None, int]:
    """Where the JSON value ends that starts here; else None and where its fault lies (the text's end: it was cut)."""
    try:
        return _LENIENT.raw_decode(text, start)[1], -1
    except json.JSONDecodeError as error:
        return None, len(text) if error.msg.startswith("Unterminated string") else error.pos
    except (ValueError, RecursionError):
        return None, -1


def _is_strict(text: str) -> bool:
    try:
        msgspec.json.decode(text.encode("utf-8", "surrogateescape"), type=msgspec.Raw)
        text.encode("utf-8")
    except (*_FAULT, UnicodeError):
        return False
    return True


def _read_event(text: str) -> tuple[_Event | None, object]:
    clean = text.encode("utf-8", "replace")
    event: _Event | None
    try:
        event = _DECODE_ONE(clean)
    except (*_FAULT, UnicodeDecodeError):
        event = _coerce(text)
    if event is None:
        return None, None
    return event, _exact_time(clean, event.ts)


def _exact_time(clean: bytes, time: object) -> object:
    if type(time) is float and not abs(time) < EXACT_DOUBLE_US:
        try:
            raw = msgspec.json.decode(clean, type=_RawTimeEvent).ts
        except _FAULT:
            return time
        return bytes(raw).decode("ascii", "replace")
    return time


def _coerce(text: str) -> _Event | None:
    """An event out of lenient JSON: NaN and infinite numbers, control characters, values of unexpected types."""
    try:
        fields = _LENIENT.decode(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    fields = {_text(key): _finite(value) for key, value in fields.items()}
    scalars = {key: value for key, value in fields.items() if value is None or isinstance(value, (str, int, float))}
    kept = {key: scalars.get(key) for key in ("name", "cat", "pid", "tid", "ts", "dur", "id")}
    category = kept["cat"]
    args = fields.get("args")
    return _Event(
        ph=str(scalars.get("ph") or "X"),
        name=kept["name"],
        cat=None if category is None else str(category),
        pid=kept["pid"],
        tid=kept["tid"],
        ts=NULL if kept["ts"] is None else kept["ts"],
        dur=NULL if kept["dur"] is None else kept["dur"],
        id=NULL if kept["id"] is None or isinstance(kept["id"], bool) else kept["id"],
        args=_NO_TEXT if args is None else msgspec.Raw(json.dumps(args).encode("utf-8", "replace")),
    )


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {_text(key): _finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return _text(value) if isinstance(value, str) else value


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
