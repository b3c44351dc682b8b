"""Counters over time."""

from __future__ import annotations

from typing_extensions import TypedDict


class CounterCurve(TypedDict):
    """A counter; thinned where it has more samples than were asked for, without losing its extremes."""

    name: str
    device: str | None
    unit: str | None
    samples: int
    max_value: int | float
    mean_value: float | None
    times_ns: list[int]
    values: list[int | float]


class Processor(TypedDict):
    """Mean use of the host's processor cores."""

    processors: int | None
    user_percent: float | None
    sys_percent: float | None
    io_percent: float | None
    idle_percent: float | None


class Counters(TypedDict):
    """Counters of one recording that are not of device memory."""

    schema_version: int
    rank: int | None
    source: str
    counters: list[CounterCurve]
    processor: Processor | None
