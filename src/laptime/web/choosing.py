"""Options that choose rows of a table: filters, search, order, page; the same for all tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query

from laptime.analyses.options import conditions, number_bounds
from laptime.analyses.selection import Selection

_MOST = 1_000_000
_Condition = Annotated[str, Query(max_length=1000)]
_Conditions = Annotated[list[_Condition] | None, Query(max_length=50)]


@dataclass(frozen=True)
class Choice:
    """What was asked of a table."""

    sort: Annotated[str | None, Query(max_length=100, description="A column to sort by.")] = None
    ascending: Annotated[bool | None, Query(description="Default: numbers greatest first, texts A to Z.")] = None
    limit: Annotated[int | None, Query(ge=1, le=_MOST, description="Rows at most.")] = None
    offset: Annotated[int, Query(ge=0, le=_MOST, description="Rows before the first.")] = 0
    search: Annotated[str | None, Query(max_length=200, description="Words that name or type must hold.")] = None
    contains: Annotated[_Conditions, Query(alias="filter", description="COL=TEXT: the column contains it.")] = None
    one_of: Annotated[_Conditions, Query(alias="in", description="COL=A,B: it is one of these.")] = None
    none_of: Annotated[_Conditions, Query(alias="not_in", description="COL=A,B: it is none of these.")] = None
    at_least: Annotated[_Conditions, Query(description="COL=N: it is N or more.")] = None
    at_most: Annotated[_Conditions, Query(description="COL=N: it is N or less.")] = None

    def selection(self, columns: tuple[str, ...], *, sort: str | None, limit: int | None) -> Selection:
        """The rows that it means, by a column's own name. Raises BadOption for columns that there are not."""
        return Selection(
            one_of=conditions(self.one_of, "in", columns),
            none_of=conditions(self.none_of, "not_in", columns),
            contains=conditions(self.contains, "--filter", columns),
            at_least=number_bounds(self.at_least, "at_least", columns),
            at_most=number_bounds(self.at_most, "at_most", columns),
            search=self.search,
            sort=sort,
            ascending=self.ascending,
            limit=self.limit or limit,
            offset=self.offset,
        )


ChoiceOf = Annotated[Choice, Depends()]
