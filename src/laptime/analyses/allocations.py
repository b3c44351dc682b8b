"""The table of memory blocks: how large, how long, made by what; chosen, sorted and paged as columns.

Definitions: docs/definitions.md, "Memory over time".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.analyses.column_selection import select_rows
from laptime.analyses.memory import live_bytes_of
from laptime.analyses.memory_owners import Owners, or_none
from laptime.analyses.parts import WHOLE, Part
from laptime.analyses.selection import Selection
from laptime.model.arrays import Column, IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import NULL

Json = dict[str, object]
_STORED = (
    "name",
    "layout",
    "size_bytes",
    "start_ns",
    "end_ns",
    "slice_id",
    "free_slice_id",
    "address",
    "stream",
    "pool",
)
ALLOCATION_COLUMNS = ("op", "dur_ns", *_STORED)
"""What blocks can be chosen and sorted by."""
BY_SIZE = Selection(sort="size_bytes", limit=100)


@dataclass(frozen=True)
class Allocations:
    """Blocks of one device; `total_rows` counts those that match, before paging."""

    device: str | None
    total_rows: int
    rows: list[Json]


def allocations(
    trace: Trace, *, device: str | None = None, part: Part = WHOLE, selection: Selection = BY_SIZE
) -> Allocations:
    """Blocks of a device that live in a part, by default of the device with the highest peak.

    Raises LaptimeError for unknown devices and columns, and for a part that the trace does not have.
    """
    live = live_bytes_of(trace, device, part)
    of_device = np.empty(0, np.int64) if live is None else live.rows
    columns = _columns(trace, of_device)
    owners = Owners(trace)
    if "op" in selection.columns or selection.search is not None:
        columns["op"] = np.array(owners.ops(of_device), object)
    else:
        columns["op"] = np.full(len(of_device), None)
    chosen = select_rows(columns, selection)
    described = owners.described(of_device[chosen.rows])
    rest = [key for key in ALLOCATION_COLUMNS if not described or key not in described[0]]
    listed = [[or_none(value) for value in columns[key][chosen.rows].tolist()] for key in rest]
    rows = [
        {**block, **dict(zip(rest, values, strict=True))} for block, *values in zip(described, *listed, strict=True)
    ]
    return Allocations(device if live is None else live.device, chosen.size, rows)


def _columns(trace: Trace, rows: IntArray) -> dict[str, Column]:
    table = trace.table("allocations")
    table.load(*_STORED)
    start, end = table["start_ns"][rows], table["end_ns"][rows]
    lasted = np.where((start == NULL) | (end == NULL), NULL, end - start)
    return {**{key: table[key][rows] for key in _STORED}, "dur_ns": lasted}
