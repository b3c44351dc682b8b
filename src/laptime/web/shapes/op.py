"""Time by operator."""

from __future__ import annotations

from typing import Literal

from typing_extensions import NotRequired, TypedDict


class OperatorRow(TypedDict):
    """An operator, kernel, module, shape, source line or track; what is unknown is null."""

    name: str
    op_type: str | None
    device_kind: str | None
    count: int | None
    total_ns: int | None
    self_ns: int | None
    mean_ns: int | None
    min_ns: int | None
    max_ns: int | None
    p50_ns: int | None
    p90_ns: int | None
    share: float | None
    info: dict[str, object] | None
    host_ns: NotRequired[int | None]
    device_ns: NotRequired[int | None]
    track: NotRequired[str | None]
    wall_ns: NotRequired[int | None]


class OperatorRange(TypedDict):
    """The part of the recording that was asked for."""

    from_ns: int | None
    to_ns: int | None
    steps: list[int] | None


class Operators(TypedDict):
    """The JSON of `laptime op`; `total_rows` counts the rows before paging."""

    schema_version: int
    rank: int | None
    source: str
    by: str
    on: Literal["host", "device"]
    device: int | None
    range: OperatorRange | None
    total_rows: int
    rows: list[OperatorRow]
