"""How much memory lives on each device over time, when it is most, and what lives then.

Definitions: docs/definitions.md, "Memory". A block lives from its allocation up to, not including, its release; of one
nanosecond all allocations and releases count together. Blocks that the recording never saw allocated or released are
unknown to it: counters of the allocator, where recorded, tell the whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from laptime.analyses.memory_counters import memory_counters
from laptime.analyses.memory_owners import Owners
from laptime.errors import NotThere
from laptime.model.arrays import Column, IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import NULL

Json = dict[str, object]

OWNERS_LISTED = 10_000
"""Blocks of the peak that the result lists at most; `live_at_peak_count` counts all."""
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

    def at(self, time: int) -> int:
        """Bytes that live at a time."""
        place = int(np.searchsorted(self.times, time, side="right")) - 1
        return int(self.levels[max(place, 0)])

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
        "counters": [counter.as_json() for counter in memory_counters(trace)],
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


def live_bytes_of(trace: Trace, device: str | None) -> LiveBytes | None:
    """The curve of one device; by default of the one whose peak is highest, None where no block is known."""
    curves = list(live_bytes(trace))
    if device is None:
        return max(curves, key=lambda each: each.peak[0], default=None)
    for each in curves:
        if each.device == device:
            return each
    known = ", ".join(str(each.device) for each in curves) or "none is named"
    raise NotThere(f"no memory of device {device}", where=trace.source, remedy=f"devices here: {known}")


def curve(size: IntArray, start: IntArray, end: IntArray) -> tuple[IntArray, Column]:
    """Times at which the sum of living blocks may change, and the sum from then on; it begins at 0 or the first time.

    `start` NULL: alive before; `end` NULL: alive at the end.
    """
    exact = exact_sizes(size)
    begins, ends = start != NULL, end != NULL
    times = np.concatenate([start[begins], end[ends]])
    change = np.concatenate([exact[begins], -exact[ends]])
    first = min(0, int(times.min())) if len(times) else 0
    times = np.concatenate([[first], times])
    change = np.concatenate([np.array([exact[~begins].sum()], change.dtype), change])
    order = np.argsort(times, kind="stable")
    distinct, place = np.unique(times[order], return_index=True)
    return distinct, np.add.reduceat(change[order], place).cumsum()


def exact_sizes(size: IntArray) -> Column:
    """The same sizes, as integers without bounds where a sum of them might not fit in 64 bits."""
    return size if float(np.abs(size.astype(np.float64)).sum()) < _EXACT else size.astype(object)


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
    owners = Owners(trace)
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
