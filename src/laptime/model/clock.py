"""Exact time: decimal microseconds, as text or as numbers, to int64 nanoseconds.

A double cannot hold every decimal microsecond of an epoch time (1712195478123456.75), so large decimals are read from
their digits. Below 2**43 us two neighbouring nanoseconds are different doubles and the conversion by whole and
fractional part is exact.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from laptime.model.arrays import IntArray
from laptime.model.vocabulary import NULL

if TYPE_CHECKING:
    import pyarrow as pa

EXACT_DOUBLE_US = float(2**43)
"""Largest microsecond value whose nanoseconds survive a trip through a double."""
_MAX_US = 9.2e15
"""Microseconds beyond this (year 2261) do not fit int64 nanoseconds."""
_MAX_DIGITS = 16
_PLAIN_DECIMAL = r"-?(?:\d{1,15}|[1-8]\d{15})(?:\.\d{1,9})?"
"""A decimal without exponent that fits; all else is read one by one."""
_PLAIN_DECIMALS = re.compile(rf"(?:{_PLAIN_DECIMAL}\n)*".encode())


def ns_from_doubles(microseconds: npt.NDArray[np.float64]) -> IntArray:
    """Nanoseconds of microsecond doubles below 2**43; NaN, infinite and out-of-range values become NULL."""
    valid = np.abs(microseconds) < _MAX_US  # False for NaN
    whole = np.floor(np.where(valid, microseconds, 0.0))
    fraction = np.where(valid, microseconds, 0.0) - whole
    ns = whole.astype(np.int64) * 1000 + np.rint(fraction * 1000).astype(np.int64)
    return np.where(valid, ns, np.int64(NULL))


def ns_from_text(texts: Sequence[bytes]) -> IntArray:
    """Nanoseconds of decimal microsecond texts (`1712195478123456.75`, `"12"`, `1.5e3`); NULL for unreadable ones."""
    if not _PLAIN_DECIMALS.fullmatch(b"\n".join(texts) + b"\n"):
        return np.fromiter((_ns_of_odd_text(text) for text in texts), np.int64, len(texts))
    import pyarrow as pa  # not at the top: processes that decode need it for few files

    return _ns_of_plain(pa.array(texts, pa.binary()).cast(pa.string()))


def ns_from_column(texts: pa.StringArray) -> IntArray:
    """As `ns_from_text`, of an Arrow column."""
    import pyarrow.compute as pc

    if pc.all(pc.match_substring_regex(texts, f"^{_PLAIN_DECIMAL}$")).as_py():
        return _ns_of_plain(texts)
    return ns_from_text([text.encode() for text in texts.to_pylist()])


def _ns_of_plain(texts: pa.StringArray) -> IntArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    scaled = pc.multiply(texts.cast(pa.decimal128(28, 9)), pa.scalar(Decimal(1000), pa.decimal128(4, 0)))
    return np.asarray(pc.round(scaled, 0, "half_towards_infinity").cast(pa.int64()), dtype=np.int64)


def ns_from_mixed(values: Sequence[object]) -> IntArray:
    """Nanoseconds of a JSON column that may mix integers, doubles, texts and nothing."""
    return np.fromiter((_ns_of_value(value) for value in values), np.int64, len(values))


def _ns_of_value(value: object) -> int:
    if value is None or isinstance(value, bool):
        return NULL
    if isinstance(value, int):
        return value * 1000 if abs(value) < _MAX_US else NULL
    if isinstance(value, float):
        return int(ns_from_doubles(np.array([value]))[0])
    return _ns_of_odd_text(str(value).encode())


def _ns_of_odd_text(text: bytes) -> int:
    try:
        microseconds = Decimal(text.decode("ascii").strip().strip('"').strip())
    except (InvalidOperation, UnicodeDecodeError):
        return NULL
    if not microseconds.is_finite() or microseconds.adjusted() > _MAX_DIGITS or abs(microseconds) >= Decimal(_MAX_US):
        return NULL
    if microseconds.adjusted() < -_MAX_DIGITS:
        return 0
    return int((microseconds * 1000).to_integral_value(ROUND_HALF_UP))
