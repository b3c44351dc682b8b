"""Memory."""

from __future__ import annotations

from typing_extensions import TypedDict


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
    """A counter of the allocator."""

    name: str
    device: str | None
    unit: str | None
    max_value: int | float
    max_at_ns: int
    mean_value: float | None
    samples: int


class Memory(TypedDict):
    """The JSON of `laptime memory`."""

    schema_version: int
    rank: int | None
    source: str
    devices: list[DeviceMemory]
    counters: list[MemoryCounter]
