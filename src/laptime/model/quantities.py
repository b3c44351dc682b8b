"""Numbers as people read them; the exact values are in the JSON. Imports nothing heavy."""

from __future__ import annotations

_TIME_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"))
_SIZE_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))

_THOUSANDS = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def time_text(ns: int | None) -> str:
    """`77.4 ms`; a dash for unknown."""
    if ns is None:
        return "-"
    for size, unit in _TIME_UNITS:
        if abs(ns) >= size:
            return f"{_three_digits(ns / size)} {unit}"
    return f"{ns} ns"


def size_text(count: int | None) -> str:
    """`1.21 GiB`; a dash for unknown."""
    if count is None:
        return "-"
    for size, unit in _SIZE_UNITS:
        if abs(count) >= size:
            return f"{_three_digits(count / size)} {unit}"
    return f"{count} B"


def quantity_text(value: float | None) -> str:
    """`1.21 G`, by thousands; a dash for unknown."""
    if value is None:
        return "-"
    for size, unit in _THOUSANDS:
        if abs(value) >= size:
            return f"{_three_digits(value / size)} {unit}"
    return f"{value:.0f}"


def count_text(count: int | None) -> str:
    """`1,234`; a dash for unknown."""
    return "-" if count is None else f"{count:,}"


def share_text(part: int | float | None, whole: int | float | None) -> str:
    """`12.3%`; a dash for unknown."""
    if part is None or not whole:
        return "-"
    share = 100 * part / whole
    return "<0.1%" if 0 < share < 0.05 else f"{share:.1f}%"


def _three_digits(value: float) -> str:
    size = abs(value)
    return f"{value:.0f}" if size >= 99.95 else f"{value:.1f}" if size >= 9.995 else f"{value:.2f}"
