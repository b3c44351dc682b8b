"""memory_record.csv (curves) and operator_memory.csv (blocks). KB and MB are 1024 and 1024**2 bytes.

MindSpore divides the KB of its GE rows by 1000 when it writes memory_record.csv. Blocks have no address in the file:
each gets its row's number instead, counted from 1. A block without a release was still held at the end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from laptime.importers.ascend_output_tables import TextTable, rows_of_each
from laptime.model.arrays import Column, IntArray
from laptime.model.builder import TraceBuilder
from laptime.model.tracks import TrackKey
from laptime.model.vocabulary import NULL

KB, MB = 1024, 1024**2
_MINDSPORE_GE_MB = 1000 * 1024
_NPU = 20
"""c10::DeviceType of the NPU: PyTorch's first backend for others."""
_TOTALS = ("Allocated", "Reserved", "Active")


def device_in(table: TextTable | None) -> int | None:
    """Device that the first row of a table names (`NPU:4`)."""
    texts = table.texts("Device Type") if table is not None else []
    match = re.search(r":(\d{1,9})$", texts[0]) if texts else None
    return int(match[1]) if match else None


def add_curves(table: TextTable, builder: TraceBuilder, *, mindspore: bool) -> None:
    """Totals over time, a counter per component and total."""
    times = table.times_ns("Timestamp(us)")
    units = (MB, _MINDSPORE_GE_MB if mindspore else MB)
    totals = {total: [table.integers(f"Total {total}(MB)", factor=unit) for unit in units] for total in _TOTALS}
    for component, own in rows_of_each(table.texts("Component")).items():
        for total in _TOTALS:
            values = totals[total][component == "GE"]
            rows = own[(values[own] != NULL) & (times[own] != NULL)]
            add_curve(f"{component} {total.lower()}", times[rows], values[rows], builder)


def add_curve(name: str, times: IntArray, values: Column, builder: TraceBuilder, unit: str = "bytes") -> None:
    """One counter."""
    if not len(times):
        return
    builder.tracks.process_names["memory"] = "Memory"
    track = builder.tracks.code(TrackKey("counter", "memory", "", name=name, unit=unit))
    builder.counters.append(len(times), {"track": np.full(len(times), track), "ts": times, "value": values})


@dataclass(frozen=True)
class Blocks:
    """Blocks of memory: who asked for them, bytes, and when they were taken and given back (NULL: not recorded)."""

    names: list[str]
    sizes: IntArray
    taken: IntArray
    released: IntArray


def blocks_of(table: TextTable) -> Blocks:
    """Blocks of operator_memory.csv."""
    return Blocks(
        table.texts("Name"),
        table.integers("Size(KB)", factor=KB),
        table.times_ns("Allocation Time(us)"),
        table.times_ns("Release Time(us)"),
    )


def add_blocks(blocks: Blocks, device: int | None, builder: TraceBuilder) -> None:
    """Adds each block as an allocation and a release."""
    address = np.arange(1, len(blocks.names) + 1)
    name = builder.names.codes(blocks.names)
    track = builder.tracks.code(TrackKey("span", "memory", "blocks", name="memory blocks"))
    for times, sign in ((blocks.taken, 1), (blocks.released, -1)):
        rows = np.flatnonzero((times != NULL) & (blocks.sizes != NULL))
        columns: dict[str, Column] = {
            "track": np.full(len(rows), track),
            "ts": times[rows],
            "address": address[rows],
            "bytes": sign * blocks.sizes[rows],
            "device_type": np.full(len(rows), _NPU),
            "device_id": np.full(len(rows), NULL if device is None else device),
            "name": name[rows],
        }
        builder.memory_events.append(len(rows), columns)
