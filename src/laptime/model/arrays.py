"""Types of numpy columns."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Column: TypeAlias = np.ndarray[Any, Any]  # numpy's types cannot say "some numbers" and still allow arithmetic
IntArray: TypeAlias = npt.NDArray[np.int64]
CodeArray: TypeAlias = npt.NDArray[np.int32]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


def repeated(value: Column, count: int) -> Column:
    """A column that holds one value everywhere, without the memory; it cannot be written to."""
    return np.broadcast_to(value, count)


def is_repeated(column: Column) -> bool:
    """Whether a column is one of `repeated`."""
    return column.strides == (0,) and len(column) > 0


def chosen_rows(column: Column, rows: Column) -> Column:
    """`column[rows]` for numbers of rows, which leaves one of `repeated` what it is."""
    return repeated(column[:1], len(rows)) if is_repeated(column) else column[rows]


def codes_in(column: Column, codes: list[int]) -> BoolArray:
    """Which values of a column of small non-negative integers are among the codes: np.isin, faster."""
    wanted = np.zeros(256, bool)
    wanted[codes] = True
    return np.asarray(wanted[column])


def distinct_codes(codes: Column) -> tuple[IntArray, IntArray]:
    """Distinct integers in order and the place of each value among them: np.unique, faster where the range is small."""
    if not len(codes):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    least, most = int(codes.min()), int(codes.max())
    if 0 < least <= most <= 4 * len(codes):
        least = 0
    if most - least > 4 * len(codes) + 1024:
        values, place = np.unique(codes, return_inverse=True)
        return values.astype(np.int64), place.reshape(-1)
    present = np.zeros(most - least + 1, bool)
    shifted = codes - least if least else codes
    present[shifted] = True
    values = np.flatnonzero(present)
    if len(values) == len(present):
        return values + least, shifted.astype(np.int64)
    place_of = np.cumsum(present) - 1
    return values + least, place_of[shifted]


def stable_order(codes: Column) -> IntArray:
    """Rows by integer, equal ones as they come: np.argsort, faster where all are small."""
    if len(codes) and codes.min() >= 0 and codes.max() <= np.iinfo(np.uint16).max:
        codes = codes.astype(np.uint16)  # sorted by digits, not by comparing
    return np.argsort(codes, kind="stable")


def distinct_rows(keys: list[Column]) -> tuple[IntArray, IntArray]:
    """First row of each distinct combination of integers, and each row's combination."""
    combined = np.zeros(len(keys[0]), np.int64)
    size = 1
    for key in keys:
        values, place = distinct_codes(key)
        if size * len(values) >= 2**62:
            combined = distinct_codes(combined)[1]
            size = int(combined.max(initial=0)) + 1
        combined = combined * len(values) + place
        size *= max(len(values), 1)
    used, place = distinct_codes(combined)
    first = np.empty(len(used), np.int64)
    first[place[::-1]] = np.arange(len(place) - 1, -1, -1)
    return first, place
