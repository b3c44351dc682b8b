"""Numbers as people read them, as the pages write them; the exact values are in the JSON. Imports nothing heavy."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

TIMES = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns"))
SIZES = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))
"""Units, greatest first."""
_THOUSANDS = ((10**15, "P"), (10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))
_ROUNDED_UP = 0.9995
"""Part of a unit from which on a number reads as one of it: 999,600 ns is 1.00 ms, not 1000 µs."""


def time_text(ns: int | None) -> str:
    """`77.4 ms`; a dash for unknown."""
    return "-" if ns is None else _in_unit(ns, TIMES)


def size_text(count: int | None) -> str:
    """`1.21 GiB`; a dash for unknown."""
    return "-" if count is None else _in_unit(count, SIZES)


def quantity_text(value: float | None) -> str:
    """`1.21 G`, by thousands; a dash for unknown."""
    if value is None:
        return "-"
    for size, unit in _THOUSANDS:
        if abs(value) >= size * _ROUNDED_UP:
            return f"{_three_digits(value / size)} {unit}"
    return _rounded(value, 0)


def count_text(count: int | None) -> str:
    """`1,234`; a dash for unknown."""
    return "-" if count is None else f"{count:,}"


def share_text(part: int | float | None, whole: int | float | None) -> str:
    """`12.3 %`; what is too little to show is not 0; a dash for unknown."""
    if part is None or not whole:
        return "-"
    percent = 100 * part / whole
    if 0 < abs(percent) < 0.05:
        return "< 0.1 %" if percent > 0 else "> -0.1 %"
    return f"{_rounded(percent, 0 if abs(percent) >= 99.95 else 1)} %"


def _in_unit(value: int, units: tuple[tuple[int, str], ...]) -> str:
    size, unit = next((each for each in units if abs(value) >= each[0] * _ROUNDED_UP), units[-1])
    return f"{value if size == 1 else _three_digits(value / size)} {unit}"


def _three_digits(value: float) -> str:
    size = abs(value)
    return _rounded(value, 0 if size >= 99.95 else 1 if size >= 9.995 else 2)


def _rounded(value: float, decimals: int) -> str:
    """Halves go up, as in the pages; Python would round them to even."""
    return str(Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP))
