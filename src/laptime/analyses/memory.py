"""How much memory lives on each device over time, when it is most, and what lives then.

Definitions: docs/definitions.md, "Memory". A block lives from its allocation up to, not including, its release; of one
nanosecond all allocations and releases count together. Blocks that the recording never saw allocated or released are
unknown to it: counters of the allocator, where recorded, tell the whole.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from laptime.analyses.call_sites import OpTree, op_rows
from laptime.model.arrays import Column, IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import NULL

Json = dict[str, object]

OWNERS_LISTED = 10_000
"""Blocks of the peak that the result lists at most; `live_at_peak_count` counts all."""
_COUNTER_OF_MEMORY = re.compile(r"mem|alloc|reserved|bytes", re.IGNORECASE)
_DEVICE_IN_NAME = re.compile(r"\bof (?P<last>\S.*)$|^(?P<first>\w+:\d+)_alloc_mem\b")
_EXACT = 2.0**62


@dataclass(frozen=True)
class LiveBytes:
    """Bytes that live on one device: `levels[i]` from `times[i]` on; the first holds since before the recording."""

    device: str | None
    rows: IntArray
    """Rows of `allocations` that make it."""
    times: IntArray
    levels: Column

    @property
    def peak(self) -> tuple[int, int]:
        """Most bytes, and the first time there were so many."""
        place = int(np.argmax(self.levels))
        return int(self.levels[place]), int(self.times[place])

    def alive_at(self, time: int, start: IntArray, end: IntArray) -> IntArray:
        """Rows that live at a time."""
        start, end = start[self.rows], end[self.rows]
        return np.asarray(self.rows[((start == NULL) | (start <= time)) & ((end == NULL) | (end > time))])


@dataclass(frozen=True)
class Memory:
    """The result of `laptime memory`, with the curves that its page draws."""

    as_json: Json
    curves: list[LiveBytes]


def memory(trace: Trace) -> Memory:
    """Live bytes, their peak and its owners for each device, and the counters of memory."""
    curves = list(live_bytes(trace))
    result: Json = {
        "schema_version": 1,
        "rank": trace.rank,
        "source": trace.source,
        "devices": _devices(trace, curves),
        "counters": _counters(trace),
    }
    return Memory(result, curves)


def live_bytes(trace: Trace) -> Iterator[LiveBytes]:
    """The curve of each device, in order of name."""
    table = trace.table("allocations")
    table.load("size_bytes", "start_ns", "end_ns")
    device = table.arrow(["device"])["device"].combine_chunks().dictionary_encode("encode")
    codes = device.indices.to_numpy()
    names = device.dictionary.to_pylist()
    for name in sorted(names, key=lambda each: (each is not None, str(each))):
        rows = np.flatnonzero(codes == names.index(name))
        times, levels = curve(table["size_bytes"][rows], table["start_ns"][rows], table["end_ns"][rows])
        yield LiveBytes(name, rows, times, levels)


def curve(size: IntArray, start: IntArray, end: IntArray) -> tuple[IntArray, Column]:
    """Times at which the sum of living blocks may change, and the sum from then on; it begins at 0 or the first time.

    `start` NULL: alive before; `end` NULL: alive at the end.
    """
    exact: Column = size if float(np.abs(size.astype(np.float64)).sum()) < _EXACT else size.astype(object)
    begins, ends = start != NULL, end != NULL
    times = np.concatenate([start[begins], end[ends]])
    change = np.concatenate([exact[begins], -exact[ends]])
    first = min(0, int(times.min())) if len(times) else 0
    times = np.concatenate([[first], times])
    change = np.concatenate([np.array([exact[~begins].sum()], change.dtype), change])
    order = np.argsort(times, kind="stable")
    distinct, place = np.unique(times[order], return_index=True)
    return distinct, np.add.reduceat(change[order], place).cumsum()


def highest(times: Column, levels: Column, *, columns: int) -> list[int]:
    """The highest level inside each of equal spans of time, the level at its beginning included."""
    begin, end = int(times[0]), int(times[-1])
    edges = [begin + (end - begin) * column // columns for column in range(columns)]
    first = np.searchsorted(times, edges, side="right") - 1
    last = np.append(np.searchsorted(times, edges[1:], side="left"), len(times))
    return [
        int(levels[low : max(high, low + 1)].max()) for low, high in zip(first.tolist(), last.tolist(), strict=True)
    ]


# ---- devices ----


def _devices(trace: Trace, curves: list[LiveBytes]) -> list[Json]:
    table = trace.table("allocations")
    owners = _Owners(trace)
    found = []
    for each in curves:
        peak, at = each.peak
        alive = each.alive_at(at, table["start_ns"], table["end_ns"])
        alive = alive[np.lexsort((alive, -table["size_bytes"][alive]))]
        found.append(
            {
                "device": each.device,
                "allocations": len(each.rows),
                "peak_bytes": peak,
                "peak_at_ns": at,
                "end_bytes": int(each.levels[-1]),
                "before_bytes": sum(table["size_bytes"][each.rows[table["start_ns"][each.rows] == NULL]].tolist()),
                "live_at_peak_count": len(alive),
                "live_at_peak": owners.described(alive[:OWNERS_LISTED]),
            }
        )
    return found


class _Owners:
    """Says of blocks what they are called and which operator made them."""

    def __init__(self, trace: Trace) -> None:
        self._table = trace.table("allocations")
        self._op_names = trace.ops.objects("name")
        self._trace = trace

    def described(self, rows: IntArray) -> list[Json]:
        """One entry of `live_at_peak` for each row."""
        table = self._table
        keys = ("name", "layout", "size_bytes", "start_ns", "end_ns")
        columns: dict[str, Sequence[object]] = {key: list(map(_known, table[key][rows].tolist())) for key in keys}
        columns["op"] = self._ops(rows)
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]

    def _ops(self, rows: IntArray) -> list[str | None]:
        """The operator told, else the innermost one around the allocation, else the block's name where it is one's."""
        told, around = self._table["op_id"][rows], self._around(self._table["slice_id"][rows])
        known = set(self._op_names)
        return [
            str(self._op_names[op])
            if op != NULL
            else near
            if near is not None
            else str(name)
            if name in known and name is not None
            else None
            for op, near, name in zip(told.tolist(), around, self._table["name"][rows].tolist(), strict=True)
        ]

    def _around(self, slices: IntArray) -> list[str | None]:
        known = np.flatnonzero(slices != NULL)
        names: list[str | None] = [None] * len(slices)
        if not len(known):
            return names
        self._trace.slices.load("parent_id", "name")
        ops = op_rows(self._trace)
        inside = OpTree(self._trace, ops).op_around(slices[known])
        texts, codes = self._trace.slices.texts("name"), self._trace.slices["name"]
        for place, op in zip(known.tolist(), inside.tolist(), strict=True):
            names[place] = texts[codes[ops[op]]] if op >= 0 else None
        return names


def _known(value: object) -> object:
    return None if value == NULL else value


# ---- counters ----


def _counters(trace: Trace) -> list[Json]:
    """Counters of bytes, and those whose name speaks of memory; samples that are no numbers are left out."""
    tracks = trace.tracks.arrow(["track_id", "kind", "name", "unit", "device"]).to_pylist()
    table = trace.table("counters")
    table.load("track_id", "ts_ns", "value")
    found = []
    for track in tracks:
        name = str(track["name"])
        if track["kind"] != "counter" or not (track["unit"] == "bytes" or _COUNTER_OF_MEMORY.search(name)):
            continue
        rows = np.flatnonzero(table["track_id"] == track["track_id"])
        values = np.asarray(table["value"][rows], np.float64)
        finite = np.isfinite(values)
        if finite.any():
            found.append(_counter(name, track["unit"], values[finite], table["ts_ns"][rows][finite]))
    return found


def _counter(name: str, unit: object, values: npt.NDArray[np.float64], times: IntArray) -> Json:
    most = int(np.argmax(values))
    with np.errstate(over="ignore"):
        mean = float(np.mean(values))
    match = _DEVICE_IN_NAME.search(name)
    return {
        "name": name,
        "device": (match["last"] or match["first"]) if match else None,
        "unit": unit,
        "max_value": _whole(float(values[most])),
        "max_at_ns": int(times[most]),
        "mean_value": mean if math.isfinite(mean) else None,
        "samples": len(values),
    }


def _whole(value: float) -> int | float:
    """Bytes are whole numbers; what else a counter counts may not be."""
    return int(value) if value.is_integer() and abs(value) < _EXACT else value
