"""Choosing rows of a large table, given as columns; the same semantics as `selection`, without an object per row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from laptime.analyses.selection import SEARCHED, Selection, search_hits
from laptime.errors import LaptimeError
from laptime.model.arrays import BoolArray, Column, IntArray
from laptime.model.vocabulary import NULL

Columns = Mapping[str, Column]
"""Integers, NULL where unknown, or texts, None where unknown."""
_UNKNOWN = np.iinfo(np.int64).max
"""Rank of a text that is unknown."""


@dataclass(frozen=True)
class SelectedRows:
    """Places of the rows of the page asked for; `size` counts all rows that match."""

    rows: IntArray
    size: int


def select_rows(columns: Columns, wanted: Selection) -> SelectedRows:
    """Filters, sorts and pages. Raises LaptimeError for unknown columns."""
    for column in wanted.columns:
        if column not in columns:
            raise LaptimeError(f"no column {column}", where="filter or sort", remedy=f"columns: {', '.join(columns)}")
    kept = np.flatnonzero(_matching(columns, wanted))
    if wanted.search is not None:
        kept = kept[_found([columns[name][kept] for name in SEARCHED if name in columns], wanted.search)]
    if wanted.sort is not None:
        kept = kept[_order(columns, kept, wanted.sort, ascending=wanted.ascending)]
    return SelectedRows(kept[wanted.page_of(len(kept))], len(kept))


def _matching(columns: Columns, wanted: Selection) -> BoolArray:
    matching = np.ones(len(next(iter(columns.values()))), bool)
    for column, texts in wanted.one_of.items():
        matching &= _told(columns[column], _folded(texts).__contains__)
    for column, texts in wanted.none_of.items():
        matching &= ~_told(columns[column], _folded(texts).__contains__)
    for column, texts in wanted.contains.items():
        matching &= _told(columns[column], _holds_one_of(_folded(texts)))
    for column, least in wanted.at_least.items():
        matching &= _numbers(columns[column], -np.inf) >= least
    for column, most in wanted.at_most.items():
        matching &= _numbers(columns[column], np.inf) <= most
    return matching


def _holds_one_of(texts: list[str]) -> Callable[[str], bool]:
    return lambda own: any(text in own for text in texts)


def _told(column: Column, test: Callable[[str], bool]) -> BoolArray:
    """What a test says of each value as text; each distinct value is asked once."""
    values, codes = _distinct(column)
    said = [test("" if value is None or value == NULL else str(value).casefold()) for value in values]
    return np.array(said or [False], bool)[codes]


def _distinct(column: Column) -> tuple[list[object], IntArray]:
    """Distinct values and the code of each row."""
    if column.dtype == object:
        coded = pa.array(column, pa.string()).dictionary_encode("encode")
        return coded.dictionary.to_pylist(), coded.indices.to_numpy()
    values, codes = np.unique(column, return_inverse=True)
    return values.tolist(), codes.reshape(-1)


def _folded(texts: Sequence[str]) -> list[str]:
    return [text.casefold() for text in texts]


def _numbers(column: Column, unknown: float) -> Column:
    if column.dtype == object:
        return np.full(len(column), unknown)
    return np.where(column == NULL, unknown, column)


def _found(columns: list[Column], search: str) -> BoolArray:
    """Rows that a search finds; rows of equal texts are looked at once."""
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    distinct = {texts: place for place, texts in enumerate(dict.fromkeys(rows))}
    hits = np.array(search_hits(list(distinct), search) or [False], bool)
    return hits[np.array([distinct[texts] for texts in rows], np.int64)] if rows else np.zeros(0, bool)


def _order(columns: Columns, kept: IntArray, column: str, *, ascending: bool | None) -> IntArray:
    """Order by a column, equal ones by name, unknown last; else numbers greatest first, texts A to Z."""
    key = columns[column][kept]
    is_text = key.dtype == object
    rank = _alphabetical(key) if is_text else key
    unknown = rank == _UNKNOWN if is_text else key == NULL
    upwards = is_text if ascending is None else ascending
    names = _alphabetical(columns["name"][kept]) if "name" in columns else np.arange(len(kept))
    return np.lexsort((names, rank if upwards else -rank, unknown))


def _alphabetical(column: Column) -> IntArray:
    """Rank of each text; unknown is behind all."""
    coded = pa.array(column, pa.string()).dictionary_encode("encode")
    in_order = pc.sort_indices(coded.dictionary).to_numpy()  # by code points, as Python orders texts
    ranks = np.empty(len(in_order), np.int64)
    ranks[in_order] = np.arange(len(in_order))
    ranks[coded.dictionary.is_null().to_numpy(zero_copy_only=False)] = _UNKNOWN
    codes: IntArray = coded.indices.to_numpy()
    return ranks[codes]
