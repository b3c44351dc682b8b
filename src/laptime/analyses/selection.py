"""Choosing rows of a table as MindInsight's pages do: filters, sorting, paging. All interfaces share it.

Semantics: all conditions must hold; of several texts of one partial match any may. Matching ignores case. What is
unknown comes last, whichever the direction; what is equal is in the order of its names. Pages are counted from 0; the
size is that of the filtered rows, before paging. A search looks for words in columns of SEARCHED; see `search_hits`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from laptime.errors import LaptimeError

Row = dict[str, object]
SEARCHED = ("name", "op_type", "op", "track")
"""Columns in which a search looks, where a table has them."""
_SEPARATORS = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Selection:
    """What to keep of a table, and in which order."""

    one_of: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Column -> texts of which its value must be one."""
    none_of: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Column -> texts that its value must not be."""
    contains: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Column -> texts of which its value must contain one."""
    at_least: Mapping[str, float] = field(default_factory=dict)
    at_most: Mapping[str, float] = field(default_factory=dict)
    """Column -> bounds of its number; what is unknown lies within none."""
    search: str | None = None
    sort: str | None = None
    ascending: bool | None = None
    """None: numbers greatest first, texts A to Z."""
    limit: int | None = None
    page: int = 0
    offset: int = 0
    """Rows before those of page 0."""

    def page_of(self, size: int) -> slice:
        """Places of the page asked for among that many rows."""
        first = self.offset + (self.page * self.limit if self.limit is not None else 0)
        return slice(first, size if self.limit is None else first + self.limit)

    @property
    def filters(self) -> list[str]:
        """Columns that it filters by."""
        parts = (self.one_of, self.none_of, self.contains, self.at_least, self.at_most)
        return [column for part in parts for column in part]

    @property
    def columns(self) -> list[str]:
        """Columns that it filters or sorts by."""
        return [*self.filters, *([self.sort] if self.sort else [])]


@dataclass(frozen=True)
class Selected:
    """Rows of the page asked for; `size` counts all rows that match."""

    rows: list[Row]
    size: int


def select(rows: Sequence[Row], wanted: Selection) -> Selected:
    """Filters, sorts and pages. Raises LaptimeError for unknown columns and for sorting by what has no order."""
    if not rows:
        return Selected([], 0)
    for column in wanted.columns:
        if column not in rows[0] and not any(column in _details(row) for row in rows):
            raise LaptimeError(f"no column {column}", where="filter or sort", remedy=f"columns: {', '.join(rows[0])}")
    kept = [row for row in rows if _matches(row, wanted)] if wanted.filters else list(rows)
    if wanted.search is not None:
        columns = [column for column in SEARCHED if column in rows[0]]
        hits = search_hits([[row[column] for column in columns] for row in kept], wanted.search)
        kept = [row for row, hit in zip(kept, hits, strict=True) if hit]
    if wanted.sort is not None:
        kept = _sorted(kept, wanted.sort, ascending=wanted.ascending)
    return Selected(kept[wanted.page_of(len(kept))], len(kept))


def search_hits(texts: Sequence[Sequence[object]], search: str) -> list[bool]:
    """Which rows, given by their texts, a search finds: those that hold each of its words.

    Case is ignored, and so is all that is no letter and no digit. Where no row holds the words, those count that hold
    the letters of each word in its order, whatever stands between.
    """
    words = [word for part in search.split() if (word := _letters(part))]
    letters = [[_letters(str(text)) for text in row if text is not None] for row in texts]
    hits = [all(any(word in text for text in row) for word in words) for row in letters]
    if any(hits):
        return hits
    return [all(any(_in_order(word, text) for text in row) for word in words) for row in letters]


def _in_order(word: str, text: str) -> bool:
    rest = iter(text)
    return all(letter in rest for letter in word)


def _letters(text: str) -> str:
    return _SEPARATORS.sub("", text.casefold())


def _matches(row: Row, wanted: Selection) -> bool:
    return (
        all(_text(_value(row, column)) in _folded(texts) for column, texts in wanted.one_of.items())
        and all(_text(_value(row, column)) not in _folded(texts) for column, texts in wanted.none_of.items())
        and all(
            any(text in _text(_value(row, column)) for text in _folded(texts))
            for column, texts in wanted.contains.items()
        )
        and all(_number(row, column, -math.inf) >= least for column, least in wanted.at_least.items())
        and all(_number(row, column, math.inf) <= most for column, most in wanted.at_most.items())
    )


def _value(row: Row, column: str) -> object:
    """A column's value; columns that only some sources tell stand in `info`."""
    return row[column] if column in row else _details(row).get(column)


def _details(row: Row) -> Row:
    info = row.get("info")
    return info if isinstance(info, dict) else {}


def _number(row: Row, column: str, unknown: float) -> float:
    value = _value(row, column)
    return value if isinstance(value, (int, float)) else unknown


def _text(value: object) -> str:
    return "" if value is None else str(value).casefold()


def _folded(texts: Sequence[str]) -> list[str]:
    return [text.casefold() for text in texts]


def _sorted(rows: list[Row], column: str, *, ascending: bool | None) -> list[Row]:
    if any(isinstance(_value(row, column), (dict, list)) for row in rows):
        raise LaptimeError(f"{column} has no order", where="sort", remedy="sort by another column")
    by_name = sorted(rows, key=lambda row: (row.get("name") is None, str(row.get("name"))))
    unknown = [row for row in by_name if _value(row, column) is None]
    known = [row for row in by_name if _value(row, column) is not None]
    upwards = ascending if ascending is not None else _is_text(known, column)
    known.sort(key=lambda row: _key(_value(row, column)), reverse=not upwards)
    return known + unknown


def _is_text(rows: list[Row], column: str) -> bool:
    """Texts are sorted A to Z unless asked otherwise; numbers greatest first."""
    return bool(rows) and isinstance(_value(rows[0], column), str)


def _key(value: object) -> tuple[str, float, str]:
    """Mixed types sort by the name of their type."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return ("number", float(value), "")
    return (type(value).__name__, 0.0, str(value))
