"""The user's own SQL."""

from __future__ import annotations

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

MOST_ROWS = 10_000


class Query(BaseModel):
    """One SELECT over the tables of a run."""

    query: str = Field(min_length=1, max_length=50_000, examples=["SELECT kind, count(*) FROM slices GROUP BY 1"])
    rank: int | None = Field(None, ge=0, le=(1 << 31) - 1, description="Only this rank; default: all.")
    limit: int = Field(1000, ge=1, le=MOST_ROWS, description="Rows at most.")


class QueryResult(TypedDict):
    """Its first rows; `truncated` says that there are more."""

    schema_version: int
    columns: list[str]
    rows: list[list[object]]
    truncated: bool
