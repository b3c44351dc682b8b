"""Numbers and names as people read them; the exact values are in the JSON."""

from __future__ import annotations

import re
import textwrap
from unicodedata import east_asian_width

from laptime.model.quantities import count_text as count_text
from laptime.model.quantities import quantity_text as quantity_text
from laptime.model.quantities import share_text as share_text
from laptime.model.quantities import size_text as size_text
from laptime.model.quantities import time_text as time_text

_BESIDE = re.compile(r"(?<=[\d<>]) (?=[-\d%]|(?:[nµm]?s|[KMGT]i?B|B)\b)")
_GLUE = "\N{NO-BREAK SPACE}"


def glued(text: str, width: int) -> str:
    """A sentence in lines of a width, in which no number is parted from its unit; Chinese as it is."""
    if any(east_asian_width(letter) in "WF" for letter in text):
        return text
    lines = textwrap.wrap(_BESIDE.sub(_GLUE, text), width, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace(_GLUE, " ")


def clean(text: str) -> str:
    """Text that moves no cursor and changes no colour: control characters and broken Unicode are shown as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text)


def clean_lines(text: str) -> str:
    """The same of several lines, such as code to copy."""
    return "\n".join(map(clean, text.split("\n")))


def shortened(text: str, width: int) -> str:
    """Clean text cut in the middle to a width, so that both ends stay readable."""
    text = clean(text)
    if len(text) <= width:
        return text
    keep = width - 1
    return f"{text[: keep - keep // 3]}…{text[len(text) - keep // 3 :]}"
