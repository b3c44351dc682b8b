"""Utilisation and overlap."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from laptime.web.shapes.op import OperatorRange
from laptime.web.shapes.report import Device


class StreamKinds(TypedDict):
    """Busy time of a stream by kind; kernels without collectives, copies with memsets."""

    kernel_ns: int | None
    communication_ns: int | None
    copy_ns: int | None


class Stream(TypedDict):
    """One stream; its share is of the span of its device."""

    stream: int | None
    name: str | None
    track_id: int
    slices: int
    busy_ns: int | None
    busy_share: float | None
    kinds: StreamKinds


class DeviceWithStreams(TypedDict):
    """The times of a device as the report has them, with its streams instead of their number."""

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
    kernel_busy_share: float | None
    streams: list[Stream]


class StepUse(TypedDict):
    """One step on one device, or on all devices together (`device` null); null where the record is not whole."""

    step: int
    index: int
    start_ns: int
    dur_ns: int
    device: int | None
    busy_ns: int | None
    busy_share: float | None
    communication_ns: int | None
    overlapped_ns: int | None
    exposed_ns: int | None


class CollectiveUse(TypedDict):
    """Collectives of one name; what those of the host hide behind is null."""

    name: str
    on: Literal["device", "host"]
    count: int
    total_ns: int
    exposed_ns: int | None


class Utilisation(TypedDict):
    """`steps` holds each device of each step, `together` all devices of each step as one."""

    schema_version: int
    rank: int | None
    source: str
    range: OperatorRange | None
    devices: list[DeviceWithStreams]
    device_total: Device | None
    steps: list[StepUse]
    together: list[StepUse]
    collectives: list[CollectiveUse]
