"""The step trace."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from laptime.web.shapes.report import Range


class StepParts(TypedDict):
    """Interval, forward+backward and tail, which sum to the total; all null where a point is unknown."""

    interval_ns: int | None
    forward_backward_ns: int | None
    tail_ns: int | None
    total_ns: int | None


class Collective(TypedDict):
    """A collective of a step."""

    name: str
    stream: str | int | None
    start_ns: int
    dur_ns: int
    slice_id: int


class AverageCollective(TypedDict):
    """The n-th collective of a stream, on average; its start counts from where the step begins."""

    name: str
    stream: str | int | None
    start_ns: int
    dur_ns: int


class TracedStep(StepParts):
    """A step; its total runs from the end of the step before."""

    step: int
    index: int
    start_ns: int
    gap_before_ns: int | None
    complete: bool
    source: Literal["marked", "inferred"]
    window: int
    first_of_window: bool
    communication: list[Collective]


class AverageStep(StepParts):
    """The mean of the complete steps."""

    steps_used: int
    first_step_included: bool
    communication: list[AverageCollective]


class SkippedStep(TypedDict):
    """A step whose parts are unknown or left out of the average."""

    step: int
    reason: str


class StepTrace(TypedDict):
    """The JSON of `laptime step`."""

    schema_version: int
    rank: int | None
    source: str
    unit: Literal["ns"]
    range: Range | None
    steps: list[TracedStep]
    average: AverageStep | None
    median: StepParts | None
    p90: StepParts | None
    forward_start_op: str | None
    backward_end_op: str | None
    skipped: list[SkippedStep]
