"""One slice."""

from __future__ import annotations

from typing_extensions import TypedDict


class SliceReference(TypedDict):
    """A slice that another one names."""

    slice_id: int
    name: str
    kind: str
    track: str | None
    step: int | None
    start_ns: int
    dur_ns: int | None


class LinkedSlice(SliceReference):
    """A slice that was waited for or waits, and by which link."""

    link: str
    depth: int
    via: int
    gap_ns: int


class OperatorOfSlice(TypedDict):
    """The operator of a slice."""

    name: str
    op_type: str | None
    full_name: str | None
    subgraph: str | None
    module: str | None


class Tensor(TypedDict):
    """An input or output."""

    format: str | None
    data_type: str | None
    shape: str | None


class Frame(TypedDict):
    """A frame of a call stack, innermost first."""

    function: str | None
    file: str | None
    line: int | None


class Slice(TypedDict):
    """All about a slice."""

    slice_id: int
    name: str
    kind: str
    category: str | None
    step: int | None
    phase: str | None
    start_ns: int
    dur_ns: int | None
    bytes: int | None
    correlation: int | None
    external_id: int | None
    track: str | None
    track_kind: str | None
    process: str | None
    device: int | None
    stream: int | None
    self_ns: int | None
    host_ns: int | None
    device_ns: int | None
    device_slices: int
    arguments: object
    operator: OperatorOfSlice | None
    inputs: list[Tensor]
    outputs: list[Tensor]
    source: str | None
    stack: list[Frame]
    parents: list[SliceReference]
    elsewhere: list[SliceReference]
    elsewhere_left_out: int


class LeftOut(TypedDict):
    """How many are not listed."""

    waited_for: int
    waited_by: int
    candidates: int


class SliceAnswer(TypedDict):
    """The JSON of `laptime slice`."""

    schema_version: int
    rank: int | None
    source: str
    slice: Slice
    waited_for: list[LinkedSlice]
    waited_by: list[LinkedSlice]
    left_out: LeftOut
    candidates: list[SliceReference]
