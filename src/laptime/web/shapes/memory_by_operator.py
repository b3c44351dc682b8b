"""Memory by operator."""

from __future__ import annotations

from typing_extensions import TypedDict

from laptime.web.shapes.report import Range


class OperatorMemory(TypedDict):
    """What an operator allocated; `op` is the name of the blocks where that is not known, null where nothing is."""

    op: str | None
    count: int
    total_bytes: int
    max_bytes: int
    live_at_peak_bytes: int


class MemoryByOperator(TypedDict):
    """Operators of a device, largest sum first; `total_rows` counts those left out too."""

    schema_version: int
    rank: int | None
    source: str
    range: Range | None
    device: str | None
    total_rows: int
    rows: list[OperatorMemory]
