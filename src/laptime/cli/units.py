"""Numbers and names as people read them; the exact values are in the JSON."""

from __future__ import annotations

from laptime.model.quantities import count_text as count_text
from laptime.model.quantities import quantity_text as quantity_text
from laptime.model.quantities import share_text as share_text
from laptime.model.quantities import size_text as size_text
from laptime.model.quantities import time_text as time_text


def clean(text: str) -> str:
    """Text that moves no cursor and changes no colour: control characters and broken Unicode are shown as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text)


def shortened(text: str, width: int) -> str:
    """Clean text cut in the middle to a width, so that both ends stay readable."""
    text = clean(text)
    if len(text) <= width:
        return text
    keep = width - 1
    return f"{text[: keep - keep // 3]}…{text[len(text) - keep // 3 :]}"
