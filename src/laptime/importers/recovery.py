"""Events out of text that is not sound JSON: what can be mended is, what cannot is counted, the rest is kept."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field

import msgspec

from laptime.importers.events import FAULTS, NO_TEXT, Event, decode_event, decode_raw_time
from laptime.model.clock import EXACT_DOUBLE_US
from laptime.model.vocabulary import NULL

_LENIENT = json.JSONDecoder(strict=False)
_BETWEEN = " \t\r\n,"
_LONGEST_TOKEN = len("false") + 1
"""A literal, number or escape that is cut off is reported where it begins."""
_MOST_BRACKETS = 256
_TEXT_BOUNDARY = re.compile(r"\}\s*,?\s*(?=\{\s*\")")
_ESCAPE = re.compile(r'\\(?P<sound>["\\/bfnrt]|u[0-9a-fA-F]{4})?')
_BARE_WORD = re.compile(r"(?<=[:,\[])(\s*)(?!true\b|false\b|null\b)[A-Za-z+][\w/+.-]*(?=\s*[,}\]])")


@dataclass(slots=True)
class Recovered:
    events: list[Event] = field(default_factory=list)
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


def recover(block: bytes) -> Recovered:
    found = Recovered()
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


def _recover_element(text: str, start: int, found: Recovered) -> int:
    """Mends or drops the element that starts here; returns where the next one does."""
    boundary = _TEXT_BOUNDARY.search(text, start)
    end = boundary.start() + 1 if boundary else len(text)
    mended = _BARE_WORD.sub(r"\1null", _ESCAPE.sub(_mended_escape, text[start:end]))
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
        return end
    _, rest, closed = split_at_list_end(text[start:].encode("utf-8", "replace"))
    found.closed, found.rest = closed, rest
    if closed:
        found.bad += 1
    else:
        found.partial_at = len(text[:start].encode("utf-8", "surrogateescape"))
    return end


def _mended_escape(match: re.Match[str]) -> str:
    """A sound escape as it is; a lone backslash doubled."""
    return match[0] if match["sound"] else "\\\\"


def split_at_list_end(block: bytes) -> tuple[bytes, bytes, bool]:
    """Splits the last block into events and what follows the list's `]`; (block, b"", False) where no end is found."""
    end = len(block)
    for _ in range(_MOST_BRACKETS):
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
    except FAULTS:
        return False
    return True


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
    except (*FAULTS, UnicodeEncodeError):
        return False
    return True


def _read_event(text: str) -> tuple[Event | None, object]:
    clean = text.encode("utf-8", "replace")
    event: Event | None
    try:
        event = decode_event(clean)
    except FAULTS:
        event = _coerce(text)
    if event is None:
        return None, None
    return event, _exact_time(clean, event.ts)


def _exact_time(clean: bytes, time: object) -> object:
    if type(time) is float and not abs(time) < EXACT_DOUBLE_US:
        try:
            raw = decode_raw_time(clean).ts
        except FAULTS:
            return time
        return bytes(raw).decode("ascii", "replace")
    return time


def _coerce(text: str) -> Event | None:
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
    return Event(
        ph=str(scalars.get("ph") or "X"),
        name=kept["name"],
        cat=None if category is None else str(category),
        pid=kept["pid"],
        tid=kept["tid"],
        ts=NULL if kept["ts"] is None else kept["ts"],
        dur=NULL if kept["dur"] is None else kept["dur"],
        id=NULL if kept["id"] is None or isinstance(kept["id"], bool) else kept["id"],
        args=NO_TEXT if args is None else msgspec.Raw(json.dumps(args).encode("utf-8", "replace")),
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
