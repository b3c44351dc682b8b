"""Parts of a drawing: text that XML takes, ticks at round numbers, axes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from laptime.model.quantities import SIZES, TIMES

INK, PALE = "#222222", "#DDDDDD"
_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ROUND = (1, 2, 5, 10)


def escaped(text: object) -> str:
    """Text for an attribute or an element; what XML 1.0 cannot hold becomes a question mark of Unicode."""
    return _FORBIDDEN.sub("\ufffd", str(text)).translate(_ESCAPES)


def label(x: float, y: float, text: object, *, anchor: str = "start", size: int = 12) -> str:
    """A line of text."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{INK}">{escaped(text)}</text>\n'
    )


def line(x1: float, y1: float, x2: float, y2: float, *, colour: str = INK, dashes: str = "") -> str:
    """A thin straight line."""
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{dashed}/>\n'


@dataclass(frozen=True)
class Scale:
    """Maps values from `low` to `high` to pixels; `from_px` is where `low` lies."""

    low: int
    high: int
    from_px: float
    to_px: float

    def __call__(self, value: int | float) -> float:
        """Pixel of a value."""
        return self.from_px + (value - self.low) / max(self.high - self.low, 1) * (self.to_px - self.from_px)


def time_ticks(low: int, high: int, *, at_most: int) -> list[tuple[int, str]]:
    """Round times between two, with their text."""
    return _ticks(low, high, at_most, units=TIMES, rounds=_decimal_steps)


def size_ticks(low: int, high: int, *, at_most: int) -> list[tuple[int, str]]:
    """Round sizes between two, with their text."""
    return _ticks(low, high, at_most, units=SIZES, rounds=_binary_steps)


def _ticks(
    low: int, high: int, at_most: int, *, units: tuple[tuple[int, str], ...], rounds: Callable[[int], int]
) -> list[tuple[int, str]]:
    step = rounds(max(-(-(high - low) // max(at_most - 1, 1)), 1))
    size, unit = next((entry for entry in units if max(abs(low), abs(high)) >= entry[0]), units[-1])
    first = -(-low // step) * step
    return [(value, f"{value / size:.6g} {unit}") for value in range(first, high + 1, step)]


def _decimal_steps(least: int) -> int:
    """1, 2 or 5 times a power of ten, at least `least`."""
    power = int(10 ** (len(str(least)) - 1))
    return next(factor * power for factor in _ROUND if factor * power >= least)


def _binary_steps(least: int) -> int:
    """1, 2, 5, 10, ... 500 times a power of 1024, at least `least`."""
    unit = 1
    while least > 500 * unit:
        unit *= 1024
    return unit * _decimal_steps(-(-least // unit))
