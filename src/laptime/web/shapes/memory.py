"""Memory."""

from __future__ import annotations

from typing_extensions import TypedDict

from laptime.web.shapes.report import Range


class Block(TypedDict):
    """A block of memory and its life."""

    name: str | None
    layout: str | None
    op: str | None
    size_bytes: int
    start_ns: int | None
    end_ns: int | None
    slice_id: int | None


class DeviceMemory(TypedDict):
    """Blocks of a device."""

    device: str | None
    allocations: int
    peak_bytes: int
    peak_at_ns: int
    end_bytes: int
    before_bytes: int
    live_at_peak_count: int
    live_at_peak: list[Block]


class MemoryCounter(TypedDict):
    """A counter of the allocator; null where no sample lies in the range."""

    name: str
    device: str | None
    unit: str | None
    max_value: int | float | None
    max_at_ns: int | None
    mean_value: float | None
    samples: int


class Memory(TypedDict):
    """The JSON of `laptime memory`."""

    schema_version: int
    rank: int | None
    source: str
    range: Range | None
    devices: list[DeviceMemory]
    counters: list[MemoryCounter]


class CounterCurve(TypedDict):
    """A counter over time; `samples` counts them before thinning. Null: no sample lies in the range."""

    name: str
    device: str | None
    unit: str | None
    samples: int
    times_ns: list[int]
    values: list[int | float]
    max_value: int | float | None
    max_at_ns: int | None


class MemoryCurve(TypedDict):
    """Live bytes of a device as steps: `bytes[i]` from `times_ns[i]` on, the last until `end_ns`."""

    schema_version: int
    rank: int | None
    source: str
    range: Range | None
    device: str | None
    devices: list[str | None]
    times_ns: list[int]
    bytes: list[int]
    changes: int
    peak_bytes: int | None
    peak_at_ns: int | None
    start_ns: int
    end_ns: int
    capacity_bytes: int | None
    counters: list[CounterCurve]


class LiveBlocks(TypedDict):
    """What lives at an instant; `bytes` and `total_rows` count all of it, `owners` are the largest."""

    schema_version: int
    rank: int | None
    source: str
    range: Range | None
    device: str | None
    at_ns: int | None
    bytes: int | None
    total_rows: int
    owners: list[Block]


class Allocation(Block):
    """A row of the table of blocks."""

    dur_ns: int | None
    free_slice_id: int | None
    address: int | None
    stream: int | None
    pool: str | None


class Allocations(TypedDict):
    """Blocks of a device; `total_rows` counts those that match, before paging."""

    schema_version: int
    rank: int | None
    source: str
    range: Range | None
    device: str | None
    total_rows: int
    rows: list[Allocation]
