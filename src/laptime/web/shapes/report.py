"""The report of a run."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from laptime.web.shapes.advice import Finding, NotRecorded
from laptime.web.shapes.op import OperatorRow

Cause = Literal["data_wait", "sync", "launch", "other"]


class Budget(TypedDict):
    """Where a step's time goes: compute, exposed communication and copies, and idle sum to the total, idle's causes to
    idle."""

    basis: Literal["device", "host"]
    total_ns: int
    compute_ns: int
    communication_exposed_ns: int
    copy_exposed_ns: int
    idle_ns: int
    idle_data_wait_ns: int
    idle_sync_ns: int
    idle_launch_ns: int | None
    idle_other_ns: int
    compile_ns: int | None


class Device(TypedDict):
    """What a device did over the recording."""

    device: int | None
    name: str | None
    ops: int
    linked_ops: int
    span_ns: int
    busy_ns: int | None
    idle_ns: int | None
    compute_ns: int | None
    communication_ns: int | None
    communication_overlapped_ns: int | None
    communication_exposed_ns: int | None
    copy_ns: int | None
    copy_exposed_ns: int | None
    streams: int
    kernel_busy_share: float | None


class Range(TypedDict):
    """The part of the recording that was asked for."""

    from_ns: int | None
    to_ns: int | None
    steps: list[int] | None


class StageShares(TypedDict):
    """Time between and within the stages of pipeline parallelism."""

    between_stages_share: float
    within_stages_shares: list[float]


class PipelineStages(StageShares):
    """Stages of pipeline parallelism; `stored` is what the files themselves say."""

    stages: int
    stored: StageShares | None


class ReportRun(TypedDict):
    """The run."""

    path: str
    format: str
    framework: str | None
    framework_version: str | None
    world_size: int | None
    ranks: list[int | None]
    pipeline_stages: PipelineStages | None


class Events(TypedDict):
    """What was read of the source: kept and dropped, the latter by reason, sum to it."""

    read: int
    kept: int
    dropped: dict[str, int]


class Host(TypedDict):
    """Counts of the host."""

    tracks: int
    slices: int
    ops: int
    syncs: int
    sync_ns: int
    launches: int


class StepSummary(TypedDict):
    """The complete steps together."""

    steps_used: int
    mean_ns: int
    median_ns: int
    p90_ns: int
    budget: Budget


class BusyDevice(TypedDict):
    """A device in one step."""

    device: int | None
    busy_ns: int
    busy_share: float | None


class Gaps(TypedDict):
    """Gaps of the device, counted by cause."""

    count: int
    data_wait: int
    sync: int
    launch: int
    other: int
    longest_ns: int | None
    longest_cause: Cause | None


class Launches(TypedDict):
    """How long after its launch each device slice starts."""

    count: int
    mean_ns: int
    min_ns: int
    p50_ns: int
    p90_ns: int
    max_ns: int
    recorded_mean_ns: int | None


class ReportStep(TypedDict):
    """A step and its budget."""

    step: int
    index: int
    window: int
    label: str | None
    start_ns: int
    dur_ns: int
    source: Literal["marked", "inferred"]
    complete: bool
    budget: Budget | None
    devices: list[BusyDevice]
    gaps: Gaps | None
    launches: Launches | None


class RangeBudget(TypedDict):
    """The time asked for as one window."""

    start_ns: int
    dur_ns: int
    budget: Budget | None
    devices: list[BusyDevice]
    gaps: Gaps | None
    launches: Launches | None


class GapsPerStep(TypedDict):
    """Mean gaps of a step by cause."""

    data_wait: float
    sync: float
    launch: float
    other: float


class Queueing(TypedDict):
    """How busy the device is, and how far it runs behind its launches."""

    busy_share: float | None
    gaps_per_step: GapsPerStep
    launches: Launches | None


class Sync(TypedDict):
    """Waits of the host for the device that have the same place."""

    name: str
    op: str | None
    source: str | None
    count: int
    total_ns: int


class ReportRank(TypedDict):
    """One recording of the run."""

    rank: int | None
    source: str
    format: str
    framework: str | None
    events: Events
    devices: list[Device]
    device_total: Device | None
    host: Host
    step_summary: StepSummary | None
    steps: list[ReportStep]
    range: RangeBudget | None
    queueing: Queueing | None
    top_ops: list[OperatorRow]
    top_ops_on: Literal["host", "device"]
    top_syncs: list[Sync]
    top_kernels: list[OperatorRow]
    offset_ns: int | None


class Warning(TypedDict):
    """What is wrong with the recording, and how often."""

    code: str
    message: str
    count: int


class Report(TypedDict):
    """The JSON of `laptime report`."""

    schema_version: int
    run: ReportRun
    range: Range | None
    ranks: list[ReportRank]
    findings: list[Finding]
    not_recorded: list[NotRecorded]
    warnings: list[Warning]
