"""Lives of memory blocks and the curve of allocated bytes, from allocation and free events."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from laptime.model.arrays import CodeArray, Column, IntArray, distinct_rows
from laptime.model.arrow import coded, nullable
from laptime.model.assembly import Assembled
from laptime.model.builder import TraceBuilder
from laptime.model.schema import SCHEMAS
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
    types, ids = events["device_type"], events["device_id"]
    first, place = distinct_rows([types, ids])
    for code, (device_type, device_id) in enumerate(zip(types[first].tolist(), ids[first].tolist(), strict=True)):
        for column, title in (("total_allocated", "allocated"), ("total_reserved", "reserved")):
            rows = np.flatnonzero((place == code) & (events[column] != NULL))
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


def allocations_table(events: dict[str, Column], slices: Assembled, names: list[str]) -> pa.Table:
    """The `allocations` table; the slices that allocated and freed are the innermost ones at the time."""
    schema = SCHEMAS["allocations"]
    if not len(events["ts"]):
        return schema.empty_table()
    pairs = pair_allocations(events)
    born, freed = pairs.born, pairs.freed
    event = np.where(born >= 0, born, freed)
    owner = np.append(slices.nest.innermost_at(events["track"], events["ts"]), -1)  # -1: the last, which is none
    times = np.append(events["ts"], NULL)
    columns = {
        "device": _devices(events, event),
        "address": pa.array(events["address"][event]),
        "size_bytes": pa.array(np.abs(events["bytes"][event])),
        "start_ns": nullable(times[born], pa.int64()),
        "end_ns": nullable(times[freed], pa.int64()),
        "slice_id": nullable(owner[born], pa.int64(), -1),
        "free_slice_id": nullable(owner[freed], pa.int64(), -1),
        "name": coded(_owner_names(events["name"][event], owner[born], slices), names),
    }
    arrays = [
        columns[field.name].cast(field.type) if field.name in columns else pa.nulls(len(event), field.type)
        for field in schema
    ]
    return pa.table(arrays, schema=schema)


def _devices(events: dict[str, Column], rows: IntArray) -> pa.DictionaryArray:
    """Label of each row's device."""
    types, ids = events["device_type"][rows], events["device_id"][rows]
    first, place = distinct_rows([types, ids])
    labels = [device_label(*pair) for pair in zip(types[first].tolist(), ids[first].tolist(), strict=True)]
    return coded(place, labels)


def _owner_names(told: CodeArray, slice_ids: IntArray, slices: Assembled) -> IntArray:
    """Name that the source gives each block, else that of the slice which allocated it; -1: none."""
    codes = np.append(slices.columns["name"], -1)[slice_ids]
    return np.where(told >= 0, told, codes)
