"""How much memory lives on each device over time, when it is most, and what lives then.

Definitions: docs/definitions.md, "Memory". A block lives from its allocation up to, not including, its release; of one
nanosecond all allocations and releases count together. Blocks that the recording never saw allocated or released are
unknown to it: counters of the allocator, where recorded, tell the whole. Of a part of the recording, what lives at its
begin counts there; between its steps nothing does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from laptime.analyses.intervals import Intervals
from laptime.analyses.memory_counters import memory_counters
from laptime.analyses.memory_owners import Owners
from laptime.analyses.memory_time import hull, memory_time
from laptime.analyses.parts import WHOLE, Part
from laptime.analyses.ranges import as_json as part_as_json
from laptime.errors import NotThere
from laptime.model.arrays import BoolArray, Column, IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import NULL

Json = dict[str, object]
Lives = tuple[IntArray, IntArray, IntArray]
"""Sizes, starts and ends of blocks."""

OWNERS_LISTED = 10_000
"""Blocks of the peak that the result lists at most; `live_at_peak_count` counts all."""
_EXACT = 2.0**62


@dataclass(frozen=True)
class LiveBytes:
    """Bytes that live on one device in a part of the recording: `levels[i]` from `times[i]` on.

    The first level holds since before the recording, or when the part begins.
    """

    device: str | None
    rows: IntArray
    """Rows of `allocations` that live in the part."""
    curve_rows: IntArray
    """Those that live between its first and last moment, which make the curve."""
    times: IntArray
    levels: Column
    peak: tuple[int, int]
    """Most bytes in the part, and the first time there were so many."""
    before_bytes: int
    """What lived before the part."""
    end_ns: int | None
    """Where the part ends; None for the whole recording."""

    def at(self, time: int) -> int:
        """Bytes that live at a time."""
        place = int(np.searchsorted(self.times, time, side="right")) - 1
        return int(self.levels[max(place, 0)])

    def nearest(self, time: int) -> int:
        """The time of the curve that is nearest to a time."""
        time = max(time, int(self.times[0]))
        return time if self.end_ns is None else min(time, self.end_ns - 1)

    def alive_at(self, time: int, start: IntArray, end: IntArray) -> IntArray:
        """Rows that live at a time."""
        rows = self.curve_rows
        start, end = start[rows], end[rows]
        return np.asarray(rows[((start == NULL) | (start <= time)) & ((end == NULL) | (end > time))])


@dataclass(frozen=True)
class Memory:
    """The result of `laptime memory`, with the curves that its page draws."""

    as_json: Json
    curves: list[LiveBytes]


def memory(trace: Trace, part: Part = WHOLE) -> Memory:
    """Live bytes, their peak and its owners for each device, and the counters of memory.

    Raises LaptimeError for a part that the trace does not have.
    """
    time = memory_time(trace, part)
    curves = list(live_bytes(trace, time))
    result: Json = {
        "schema_version": 1,
        "rank": trace.rank,
        "source": trace.source,
        "range": part_as_json(part, trace),
        "devices": _devices(trace, curves),
        "counters": [counter.inside(time).as_json() for counter in memory_counters(trace)],
    }
    return Memory(result, curves)


def live_bytes(trace: Trace, time: Intervals | None = None) -> Iterator[LiveBytes]:
    """The curve of each device, in order of name; of a time where one is given."""
    table = trace.table("allocations")
    table.load("size_bytes", "start_ns", "end_ns")
    device = table.arrow(["device"])["device"].combine_chunks().dictionary_encode("encode")
    codes = device.indices.to_numpy()
    names = device.dictionary.to_pylist()
    for name in sorted(names, key=lambda each: (each is not None, str(each))):
        rows = np.flatnonzero(codes == names.index(name))
        lives = (table["size_bytes"][rows], table["start_ns"][rows], table["end_ns"][rows])
        yield live_bytes_in(time, lives, rows=rows, device=name)


def live_bytes_in(time: Intervals | None, lives: Lives, *, rows: IntArray, device: str | None) -> LiveBytes:
    """The curve of the blocks of a device, which are some rows; of a time where one is given."""
    size, start, end = lives
    if time is None:
        times, levels = curve(size, start, end)
        before = sum(size[start == NULL].tolist())
        return LiveBytes(device, rows, rows, times, levels, _peak(times, levels), before, None)
    begin, last = int(time.start[0]), int(time.end[-1])
    near = _living_in(hull(time), start, end)
    # What was there at the begin counts as there since before, what stays beyond the end as staying.
    starts, ends = np.where(start <= begin, NULL, start)[near], np.where(end >= last, NULL, end)[near]
    times, levels = curve(size[near], starts, ends, begin=begin)
    before = sum(size[(start < begin) & ((end == NULL) | (end >= begin))].tolist())
    living = rows[_living_in(time, start, end)]
    return LiveBytes(device, living, rows[near], times, levels, _peak(times, levels, time), before, last)


def _living_in(time: Intervals, start: IntArray, end: IntArray) -> BoolArray:
    """Whether each block lives in a time; one released at once, whether that moment lies in it."""
    begin, last = int(time.start[0]), int(time.end[-1])
    return time.meets(np.maximum(start, begin - 1), np.where(end == NULL, last, end))


def _peak(times: IntArray, levels: Column, inside: Intervals | None = None) -> tuple[int, int]:
    """Most bytes, and the first time there were so many; where a time is given, inside it."""
    if inside is not None:
        held = np.searchsorted(times, inside.start, side="right") - 1
        kept = inside.holds(times)
        times, levels = np.concatenate([inside.start, times[kept]]), np.concatenate([levels[held], levels[kept]])
        order = np.argsort(times, kind="stable")
        times, levels = times[order], levels[order]
    place = int(np.argmax(levels))
    return int(levels[place]), int(times[place])


def live_bytes_of(trace: Trace, device: str | None, part: Part = WHOLE) -> LiveBytes | None:
    """The curve of one device; by default of the one whose peak is highest, None where no block is known."""
    return curve_of(device, list(live_bytes(trace, memory_time(trace, part))), where=trace.source)


def curve_of(device: str | None, curves: list[LiveBytes], *, where: str) -> LiveBytes | None:
    """The same, of curves at hand."""
    if device is None:
        return max(curves, key=lambda each: each.peak[0], default=None)
    for each in curves:
        if each.device == device:
            return each
    known = ", ".join(str(each.device) for each in curves) or "none is named"
    raise NotThere(f"no memory of device {device}", where=where, remedy=f"devices here: {known}")


def curve(size: IntArray, start: IntArray, end: IntArray, *, begin: int | None = None) -> tuple[IntArray, Column]:
    """Times at which the sum of living blocks may change, and the sum from then on.

    It begins at `begin`, by default at 0 or the first time. `start` NULL: alive before; `end` NULL: alive at the end.
    """
    exact = exact_sizes(size)
    begins, ends = start != NULL, end != NULL
    times = np.concatenate([start[begins], end[ends]])
    change = np.concatenate([exact[begins], -exact[ends]])
    first = int(times.min(initial=0)) if begin is None else begin
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
    found: list[Json] = []
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
                "before_bytes": each.before_bytes,
                "live_at_peak_count": len(alive),
                "live_at_peak": owners.described(alive[:OWNERS_LISTED]),
            }
        )
    return found
