"""What was read."""

from __future__ import annotations

from typing_extensions import TypedDict

from laptime.web.shapes.advice import NotRecorded
from laptime.web.shapes.report import Events, Warning


class Clock(TypedDict):
    """Time 0 of the tables: `origin_ns` in the file's own time, which counts from `base_unix_ns`."""

    base_unix_ns: int | None
    origin_ns: int | None


class TableColumn(TypedDict):
    """A column as a query sees it."""

    name: str
    type: str


class StoredTable(TypedDict):
    """A table of a recording."""

    name: str
    rows: int
    columns: list[TableColumn]


class Source(TypedDict):
    """One recording; `facts` are what it tells of how it was made."""

    rank: int | None
    source: str
    format: str | None
    framework: str | None
    events: Events
    clock: Clock
    facts: dict[str, object]
    warnings: list[Warning]
    tables: list[StoredTable]


class Files(TypedDict):
    """All recordings of a run, what is wrong with them and what they lack."""

    schema_version: int
    sources: list[Source]
    warnings: list[Warning]
    not_recorded: list[NotRecorded]
