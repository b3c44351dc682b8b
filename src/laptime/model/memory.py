"""Lives of memory blocks and the curve of allocated bytes, from allocation and free events."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.model.arrays import Column, IntArray
from laptime.model.assembly import Assembled
from laptime.model.builder import TraceBuilder
from laptime.model.tracks import TrackKey
from laptime.model.vocabulary import NULL

DEVICE_TYPES = {
    0: "cpu",
    1: "cuda",
    2: "mkldnn",
    6: "hip",
    9: "xla",
    12: "xpu",
    13: "mps",
    17: "meta",
    20: "privateuse1",
}
"""c10::DeviceType of PyTorch for the numbers in `Device Type`; others are shown as they are."""


def device_label(device_type: int, device_id: int) -> str:
    """`cuda:0`, `cpu`, ..."""
    name = DEVICE_TYPES.get(device_type, f"device type {device_type}")
    return name if device_id in (-1, NULL) else f"{name}:{device_id}"


def add_memory_counters(builder: TraceBuilder, events: dict[str, Column]) -> None:
    """Adds the recorder's own totals as counters, one track per device and total."""
    pairs = np.stack([events["device_type"], events["device_id"]])
    distinct, place = np.unique(pairs, axis=1, return_inverse=True)
    for code, (device_type, device_id) in enumerate(distinct.T.tolist()):
        for column, title in (("total_allocated", "allocated"), ("total_reserved", "reserved")):
            rows = np.flatnonzero((place.reshape(-1) == code) & (events[column] != NULL))
            if not len(rows) or not events[column][rows].any():
                continue
            name = f"{title} bytes of {device_label(device_type, device_id)}"
            track = builder.tracks.code(TrackKey("counter", "", "", name=name, unit="bytes"))
            builder.counters.append(
                len(rows), {"track": np.full(len(rows), track), "ts": events["ts"][rows], "value": events[column][rows]}
            )


@dataclass(frozen=True)
class Allocations:
    """Blocks: rows of the memory events that allocated and freed them (-1: outside the recording)."""

    born: IntArray
    freed: IntArray


def pair_allocations(events: dict[str, Column]) -> Allocations:
    """Pairs each allocation with the next free of its address on its device.

    A free without an allocation is a block alive before the recording; an allocation without a free is alive at its
    end. Events without an address cannot be paired and give no blocks.
    """
    rows = np.flatnonzero((events["address"] != NULL) & (events["bytes"] != NULL) & (events["bytes"] != 0))
    keys = [events[name][rows] for name in ("ts", "address", "device_id", "device_type")]
    rows = rows[np.lexsort([rows, *keys])]
    allocates = events["bytes"][rows] > 0
    same = np.ones(max(len(rows) - 1, 0), bool)
    for name in ("address", "device_id", "device_type"):
        same &= events[name][rows][1:] == events[name][rows][:-1]
    closes = np.zeros(len(rows), bool)
    closes[1:] = same & allocates[:-1] & ~allocates[1:]
    born = rows[allocates]
    freed = np.full(len(rows), -1, np.int64)
    freed[:-1] = np.where(closes[1:], rows[1:], -1)
    before = rows[~allocates & ~closes]
    return Allocations(
        np.concatenate([born, np.full(len(before), -1, np.int64)]), np.concatenate([freed[allocates], before])
    )


def allocations_table(events: dict[str, Column], slices: Assembled, names: list[str]) -> dict[str, list[object]]:
    """Columns of the `allocations` table; the slices that allocated and freed are the innermost ones at the time."""
    pairs = pair_allocations(events)
    owner = slices.nest.innermost_at(events["track"], events["ts"]) if len(events["ts"]) else np.empty(0, np.int64)
    table: dict[str, list[object]] = {key: [] for key in _COLUMNS}
    for born, freed in zip(pairs.born.tolist(), pairs.freed.tolist(), strict=True):
        event = born if born >= 0 else freed
        slice_id = int(owner[born]) if born >= 0 else -1
        freeing = int(owner[freed]) if freed >= 0 else -1
        row: dict[str, object] = {
            "device": device_label(int(events["device_type"][event]), int(events["device_id"][event])),
            "pool": None,
            "stream": None,
            "address": int(events["address"][event]),
            "size_bytes": abs(int(events["bytes"][event])),
            "start_ns": int(events["ts"][born]) if born >= 0 else None,
            "end_ns": int(events["ts"][freed]) if freed >= 0 else None,
            "slice_id": slice_id if slice_id >= 0 else None,
            "free_slice_id": freeing if freeing >= 0 else None,
            "name": _owner_name(int(events["name"][event]), slice_id, slices, names),
            "op_id": None,
            "layout": None,
        }
        for key, value in row.items():
            table[key].append(value)
    return table


def _owner_name(told: int, slice_id: int, slices: Assembled, names: list[str]) -> str | None:
    """Name that the source gives a block, else that of the slice which allocated it."""
    if told >= 0:
        return names[told]
    return names[slices.columns["name"][slice_id]] if slice_id >= 0 else None


_COLUMNS = (
    "device",
    "pool",
    "stream",
    "address",
    "size_bytes",
    "start_ns",
    "end_ns",
    "slice_id",
    "free_slice_id",
    "name",
    "op_id",
    "layout",
)
