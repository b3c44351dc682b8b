"""JSON that ends too early: cut back to its last whole value and closed."""

from __future__ import annotations

import re

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],]', re.DOTALL)
_CLOSING = {b"{": b"}", b"[": b"]"}
_DEEPEST = 100


def closed_json(data: bytes) -> tuple[bytes, int]:
    """The text up to the last comma or closing bracket that stands outside texts, with what was open closed; and where
    that is."""
    open_now: list[bytes] = []
    kept, open_there = 0, b""
    place = 0
    for token in _TOKEN.finditer(data):
        between = data[place : token.start()]
        if b'"' in between:
            break  # a text without its end
        place = token.end()
        mark = token[0]
        if mark in _CLOSING:
            open_now.append(_CLOSING[mark])
            if len(open_now) > _DEEPEST:
                break
        elif mark in (b"}", b"]"):
            if not open_now or open_now.pop() != mark:
                break
            kept, open_there = place, b"".join(reversed(open_now))
        elif mark == b",":
            kept, open_there = token.start(), b"".join(reversed(open_now))
    return data[:kept] + open_there, kept
