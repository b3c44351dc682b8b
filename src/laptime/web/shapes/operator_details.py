"""One operator in full."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from laptime.web.shapes.op import OperatorRange
from laptime.web.shapes.slices import Frame, Tensor


class OperatorTimes(TypedDict):
    """A row of the operator table on one side."""

    count: int | None
    total_ns: int | None
    self_ns: int | None
    mean_ns: int | None
    min_ns: int | None
    max_ns: int | None
    p50_ns: int | None
    p90_ns: int | None
    share: float | None


class Histogram(TypedDict):
    """Executions by time; bin i is [edges_ns[i], edges_ns[i + 1]), the last one with its end."""

    edges_ns: list[int]
    counts: list[int]


class OfStep(TypedDict):
    """Executions of one step, or of none (null)."""

    step: int | None
    count: int
    total_ns: int


class Variant(TypedDict):
    """Executions on tensors of the same formats, types and shapes."""

    inputs: list[Tensor]
    outputs: list[Tensor]
    count: int
    total_ns: int


class Execution(TypedDict):
    """One execution, by its slice."""

    slice_id: int
    name: str
    step: int | None
    start_ns: int
    dur_ns: int


class OperatorDetails(TypedDict):
    """A row of the operator table; `inputs` and `outputs` are those of the first variant."""

    schema_version: int
    rank: int | None
    source: str
    range: OperatorRange | None
    by: str
    on: Literal["host", "device"]
    name: str
    op_type: str | None
    device_kind: str | None
    info: dict[str, object] | None
    inputs: list[Tensor]
    outputs: list[Tensor]
    variants: list[Variant]
    variants_left_out: int
    host: OperatorTimes | None
    device: OperatorTimes | None
    histogram: Histogram | None
    by_step: list[OfStep]
    called_from: str | None
    stack: list[Frame]
    longest: list[Execution]
