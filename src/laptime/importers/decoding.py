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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from laptime.model.arrays import CodeArray, IntArray
from laptime.model.clock import EXACT_DOUBLE_US, ns_from_doubles, ns_from_mixed, ns_from_text
from laptime.model.schema import NULL

_Scalar = int | float | str | bool | None
_NO_TEXT = msgspec.Raw(b"")


class _Event(msgspec.Struct, gc=False):
    ph: str = "X"
    name: _Scalar = None
    cat: str | None = None
    pid: _Scalar = None
    tid: _Scalar = None
    ts: _Scalar = None
    dur: _Scalar = None
    id: int | float | str | None = None
    args: msgspec.Raw = _NO_TEXT


class _RawTimeEvent(_Event, gc=False):
    """For files whose times are decimals that a double cannot hold."""

    ts: msgspec.Raw = _NO_TEXT  # type: ignore[assignment]  # the same field, kept as text


class Args(msgspec.Struct, gc=False):
    """The arguments that become columns; all of them are also kept as text."""

    correlation: _Scalar = None
    external_id: _Scalar = msgspec.field(name="External id", default=None)
    external_id_2021: _Scalar = msgspec.field(name="external id", default=None)
    device: _Scalar = None
    stream: _Scalar = None
    bytes: _Scalar = None
    size: _Scalar = None
    shapes: msgspec.Raw = msgspec.field(name="Input Dims", default=_NO_TEXT)
    shapes_2021: msgspec.Raw = msgspec.field(name="Input dims", default=_NO_TEXT)
    dtypes: msgspec.Raw = msgspec.field(name="Input type", default=_NO_TEXT)
    call_stack: str | None = msgspec.field(name="Call stack", default=None)
    module: str | None = msgspec.field(name="Module Hierarchy", default=None)
    collective: str | None = msgspec.field(name="Collective name", default=None)
    address: _Scalar = msgspec.field(name="Addr", default=None)
    memory_bytes: _Scalar = msgspec.field(name="Bytes", default=None)
    total_allocated: _Scalar = msgspec.field(name="Total Allocated", default=None)
    total_reserved: _Scalar = msgspec.field(name="Total Reserved", default=None)
    device_type: _Scalar = msgspec.field(name="Device Type", default=None)
    device_id: _Scalar = msgspec.field(name="Device Id", default=None)


_DECODE = msgspec.json.Decoder(list[_Event]).decode
_DECODE_RAW_TIME = msgspec.json.Decoder(list[_RawTimeEvent]).decode
_DECODE_ONE = msgspec.json.Decoder(_Event).decode
_DECODE_ARGS = msgspec.json.Decoder(list[Args]).decode
_DECODE_ONE_ARGS = msgspec.json.Decoder(Args).decode
_LENIENT = json.JSONDecoder(strict=False)
_FAULT = (msgspec.DecodeError, RecursionError)

EVENT_BOUNDARY = re.compile(rb"\}\s*,\s*(?=\{\s*\")")
_TEXT_BOUNDARY = re.compile(r"\}\s*,?\s*(?=\{\s*\")")
_BAD_ESCAPE = re.compile(r'\\(?:u(?![0-9a-fA-F]{4})|(?!["\\/bfnrtu]))')
_BARE_WORD = re.compile(r"(?<=[:,\[])(\s*)(?!true\b|false\b|null\b)[A-Za-z+][\w/+.-]*(?=\s*[,}\]])")

ARG_COLUMNS = (
    "correlation",
    "external_id",
    "device",
    "stream",
    "bytes",
    "address",
    "memory_bytes",
    "total_allocated",
    "total_reserved",
    "device_type",
    "device_id",
)
"""Integer columns taken from the arguments."""
ARG_TEXTS = ("shapes", "dtypes", "call_stack", "module", "collective")
"""Text columns taken from the arguments, interned; code -1 where absent."""


class Interned(dict[object, int]):
    """Gives each distinct value the next code, in order of first appearance."""

    def __missing__(self, value: object) -> int:
        code = self[value] = len(self)
        return code


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
    args_length: CodeArray
    phases: list[str]
    names: list[str]
    categories: list[str | None]
    tracks: list[tuple[object, object]]
    text_values: dict[str, list[str]]
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


def decode_block(block: bytes, *, last: bool = False) -> Decoded:
    """Decodes the events of a block; `last` says that nothing follows, so the list's end or a cut may lie in it."""
    body, rest, closed = split_at_list_end(block) if last else (block, b"", False)
    try:
        events = _DECODE(b"[" + body.strip().rstrip(b",") + b"]")
    except (*_FAULT, UnicodeDecodeError):
        recovered = _recover(block)
        decoded = _columns(recovered.events, recovered.times)
        decoded.rest, decoded.closed = recovered.rest, recovered.closed
        decoded.bad, decoded.repaired, decoded.partial_at = recovered.bad, recovered.repaired, recovered.partial_at
        return decoded
    times: list[object] = [event.ts for event in events]
    if _needs_text(times):
        times = [bytes(event.ts) for event in _DECODE_RAW_TIME(b"[" + body.strip().rstrip(b",") + b"]")]
    decoded = _columns(events, times)
    decoded.rest, decoded.closed = rest, closed
    return decoded


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
    return any(type(time) is float and not abs(time) < EXACT_DOUBLE_US for time in times)


# ---- columns ----


def _columns(events: Sequence[_Event], times: Sequence[object]) -> Decoded:
    phases, names, categories, tracks = Interned(), Interned(), Interned(), Interned()
    count = len(events)
    phase = np.fromiter((phases[event.ph] for event in events), np.int32, count)
    name = np.fromiter((names[event.name] for event in events), np.int32, count)
    category = np.fromiter((categories[event.cat] for event in events), np.int32, count)
    track = np.fromiter((tracks[event.pid, event.tid] for event in events), np.int32, count)
    arg_texts = [event.args for event in events]
    blobs = [bytes(text) for text in arg_texts]
    args_length = np.fromiter(map(len, blobs), np.int32, count)
    numbers, texts, text_values = _arg_columns(blobs, args_length)
    return Decoded(
        phase=phase,
        name=name,
        category=category,
        track=track,
        ts_ns=_time_column(times),
        dur_ns=_time_column([event.dur for event in events]),
        id=int_column([event.id for event in events]),
        numbers=numbers,
        texts=texts,
        args=b"".join(blobs),
        args_length=args_length,
        phases=[str(value) for value in phases],
        names=["" if value is None else str(value) for value in names],
        categories=[None if value is None else str(value) for value in categories],
        tracks=list(tracks),  # type: ignore[arg-type]  # pairs by construction
        text_values=text_values,
    )


def _arg_columns(
    blobs: Sequence[bytes], lengths: CodeArray
) -> tuple[dict[str, IntArray], dict[str, CodeArray], dict[str, list[str]]]:
    rows = np.flatnonzero(lengths)
    args = _decode_args([blobs[row] for row in rows.tolist()])
    count = len(blobs)

    def spread(values: IntArray) -> IntArray:
        column = np.full(count, NULL, np.int64)
        column[rows] = values
        return column

    numbers = {
        "correlation": [a.correlation for a in args],
        "external_id": [a.external_id if a.external_id is not None else a.external_id_2021 for a in args],
        "device": [a.device for a in args],
        "stream": [a.stream for a in args],
        "bytes": [a.bytes if a.bytes is not None else a.size for a in args],
        "address": [a.address for a in args],
        "memory_bytes": [a.memory_bytes for a in args],
        "total_allocated": [a.total_allocated for a in args],
        "total_reserved": [a.total_reserved for a in args],
        "device_type": [a.device_type for a in args],
        "device_id": [a.device_id for a in args],
    }
    texts: dict[str, CodeArray] = {}
    values: dict[str, list[str]] = {}
    for key, column in (
        ("shapes", [bytes(a.shapes) or bytes(a.shapes_2021) or None for a in args]),
        ("dtypes", [bytes(a.dtypes) or None for a in args]),
        ("call_stack", [a.call_stack or None for a in args]),
        ("module", [a.module or None for a in args]),
        ("collective", [a.collective or None for a in args]),
    ):
        codes = np.full(count, -1, np.int32)
        codes[rows], values[key] = _intern_texts(column)
        texts[key] = codes
    return {key: spread(int_column(column)) for key, column in numbers.items()}, texts, values


def _intern_texts(column: Sequence[bytes | str | None]) -> tuple[CodeArray, list[str]]:
    interned = Interned({None: -1})
    codes = np.fromiter((interned[value] for value in column), np.int32, len(column))
    texts = [value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value) for value in interned]
    return np.where(codes > 0, codes - 1, -1).astype(np.int32), texts[1:]


def _decode_args(blobs: Sequence[bytes]) -> list[Args]:
    try:
        return _DECODE_ARGS(b"[" + b",".join(blobs) + b"]")
    except (*_FAULT, UnicodeDecodeError):
        return [_decode_odd_args(blob) for blob in blobs]


def _decode_odd_args(blob: bytes) -> Args:
    """Arguments that are no object, or hold a known name with an unknown type, give what can be read."""
    try:
        return _DECODE_ONE_ARGS(blob)
    except (*_FAULT, UnicodeDecodeError):
        pass
    try:
        fields = msgspec.json.decode(blob, type=dict[str, msgspec.Raw])
    except (*_FAULT, UnicodeDecodeError):
        return Args()
    kept = {}
    for name, raw in fields.items():
        try:
            _DECODE_ONE_ARGS(b"{" + msgspec.json.encode(name) + b":" + bytes(raw) + b"}")
        except (*_FAULT, UnicodeDecodeError):
            continue
        kept[name] = raw
    return _DECODE_ONE_ARGS(msgspec.json.encode(kept))


def int_column(values: Sequence[object]) -> IntArray:
    """64-bit integers of a JSON column; texts that are no number get a stable hash, nothing becomes NULL."""
    try:
        return np.fromiter((NULL if value is None else value for value in values), np.int64, len(values))
    except (TypeError, ValueError, OverflowError):
        return np.fromiter((_as_int(value) for value in values), np.int64, len(values))


def _as_int(value: object) -> int:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return NULL
    if isinstance(value, (int, float)):
        return int(value) if abs(value) < 2**63 else NULL
    try:
        number = int(str(value), 0)
    except ValueError:
        return int.from_bytes(hashlib.blake2b(str(value).encode(), digest_size=7).digest(), "big")
    return number if abs(number) < 2**63 else NULL


def _time_column(values: Sequence[object]) -> IntArray:
    """Exact nanoseconds of decimal microseconds; see `laptime.model.clock` for the three ways."""
    kinds = set(map(type, values))
    if kinds <= {int, type(None)} and all(value is None or abs(value) < 9 * 10**15 for value in values):  # type: ignore[arg-type]  # ints
        column = int_column(values)
        return np.where(column == NULL, NULL, column * 1000)
    if bytes in kinds:
        return ns_from_text([value if isinstance(value, bytes) else b"" for value in values])
    if kinds <= {int, float, type(None)} and not _needs_text(values):
        doubles = np.array(values, dtype=np.float64)
        if not np.any(np.abs(doubles) >= EXACT_DOUBLE_US):
            return ns_from_doubles(doubles)
    return ns_from_mixed(values)


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
    position = 0
    while True:
        position = _skip(text, position)
        if position >= len(text):
            return found
        if text[position] == "]":
            found.rest, found.closed = text[position + 1 :].strip().encode("utf-8", "replace"), True
            return found
        end = _element_end(text, position)
        if end is not None:
            element = text[position:end]
            found.repaired += not _is_strict(element)
            found.add(element)
            position = end
            continue
        position = _recover_element(text, position, found)


def _recover_element(text: str, start: int, found: _Recovered) -> int:
    """Mends or drops the element that starts here; returns where the next one does."""
    boundary = _TEXT_BOUNDARY.search(text, start)
    end = boundary.start() + 1 if boundary else len(text)
    mended = _BARE_WORD.sub(r"\1null", _BAD_ESCAPE.sub(r"\\\\", text[start:end]))
    mended_end = _element_end(mended, 0)
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
    while position < len(text) and text[position] in " \t\r\n,":
        position += 1
    return position


def _element_end(text: str, start: int) -> int | None:
    try:
        return _LENIENT.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return None


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
        ts=kept["ts"],
        dur=kept["dur"],
        id=None if isinstance(kept["id"], bool) else kept["id"],
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


def intern_all(values: Iterable[str], into: Interned) -> CodeArray:
    """Codes of the values in a longer-lived table."""
    return np.array([into[value] for value in values], dtype=np.int32)
