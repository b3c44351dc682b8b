"""The timeline."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict


class TimelineSummary(TypedDict):
    """What a timeline holds; `on` says whether it is device work or, without any, operators of the host."""

    schema_version: int
    rank: int | None
    source: str
    on: Literal["device", "host"]
    devices: int
    streams: int
    tasks: int
    executions: int
    total_ns: int
    span_ns: int
    slices: int
