"""The data pipeline."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from laptime.web.shapes.report import Range


class DataBound(TypedDict):
    """Waits for data; `waits` counts batches that found the queue empty."""

    waits: int | None
    batches: int
    wait_ns: int
    share_of_step: float | None
    mean_wait_ns: int | None
    first_wait_ns: int | None


class Queue(TypedDict):
    """A queue between stages; `samples` is null where the source does not tell which belong to the range."""

    queue: str
    stage: str
    samples: int | None
    capacity: int | None
    mean_size: float | None
    usage_share: float | None
    empty_count: int | None
    full_count: int | None


class OutputQueue(TypedDict):
    """The queue behind an operator; `samples` is null where the source does not tell which belong to the range."""

    capacity: int | None
    mean_size: float | None
    usage_share: float | None
    empty_share: float | None
    samples: int | None


class PipelineOperator(TypedDict):
    """An operator of the data pipeline."""

    op_id: int
    op_type: str
    name: str
    workers: int | None
    parent_id: int | None
    count: int | None
    total_ns: int | None
    output_queue: OutputQueue | None


class Bottleneck(TypedDict):
    """The slowest operator."""

    op_id: int
    op_type: str
    name: str
    reason: str
    advice: str


class StageEvidence(TypedDict):
    """A number behind a verdict."""

    name: str
    value: float
    unit: str


class StageVerdict(TypedDict):
    """Which stage is too slow."""

    stage: Literal["process", "send", "none"]
    reason: str
    evidence: list[StageEvidence]


class Pipeline(TypedDict):
    """The JSON of `laptime pipeline`."""

    schema_version: int
    rank: int | None
    source: str
    range: Range | None
    data_bound: DataBound | None
    start_up_ns: list[int] | None
    queues: list[Queue]
    operators: list[PipelineOperator]
    bottleneck: Bottleneck | None
    stage_verdict: StageVerdict | None


class QueueSample(TypedDict):
    """A queue's size at a step (its batch) or at a time, whichever the source tells."""

    step: int | None
    ts_ns: int | None
    size: int


class Wait(TypedDict):
    """Waiting for data in a step, or for a batch; `push_ns` is sending it on, `total_ns` all of it."""

    step: int
    wait_ns: int
    push_ns: int | None
    total_ns: int | None


class QueueSamples(TypedDict):
    """One queue over time; `queues` names all of them, `sample_count` counts samples before thinning.

    It is null where the source does not tell which of them belong to the range.
    """

    schema_version: int
    rank: int | None
    source: str
    range: Range | None
    queue: str | None
    stage: str | None
    capacity: int | None
    queues: list[str]
    sample_count: int | None
    samples: list[QueueSample]
    waits: list[Wait]
