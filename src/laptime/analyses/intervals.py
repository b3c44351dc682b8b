"""Sets of time: unions of half-open intervals [start, end) in integer nanoseconds, and what can be done with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.model.arrays import BoolArray, IntArray


@dataclass(frozen=True)
class Intervals:
    """Disjoint, non-touching, non-empty intervals in order; the only form the functions below take and give."""

    start: IntArray
    end: IntArray

    def __len__(self) -> int:
        return len(self.start)

    @property
    def total_ns(self) -> int:
        """Time covered."""
        return int((self.end - self.start).sum())

    def within(self, first: IntArray, last: IntArray) -> IntArray:
        """Time covered inside each span [first, last)."""
        return np.asarray(np.maximum(self.passed(last) - self.passed(first), 0))

    def passed(self, times: IntArray) -> IntArray:
        """Time covered before each time."""
        sums = np.concatenate([[0], np.cumsum(self.end - self.start)])
        place = np.searchsorted(self.start, times, side="right")
        last = np.maximum(place - 1, 0)
        beyond = np.maximum(self.end[last] - times, 0) if len(self) else np.zeros(len(times), np.int64)
        return np.where(place > 0, sums[place] - beyond, 0)

    def holds(self, times: IntArray) -> BoolArray:
        """Whether each time lies inside."""
        place = np.searchsorted(self.start, times, side="right") - 1
        return (place >= 0) & (times < self.end[np.maximum(place, 0)]) if len(self) else np.zeros(len(times), bool)

    def meets(self, start: IntArray, end: IntArray) -> BoolArray:
        """Whether each span shares time with the set; a span of no time, whether it lies inside."""
        return np.asarray(np.where(end > start, self.within(start, end) > 0, self.holds(start)))


EMPTY = Intervals(np.empty(0, np.int64), np.empty(0, np.int64))


def union(start: IntArray, end: IntArray) -> Intervals:
    """Union of any intervals; empty ones (end <= start) add nothing."""
    real = end > start
    start, end = start[real], end[real]
    if not len(start):
        return EMPTY
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order])
    opens = np.ones(len(start), bool)
    opens[1:] = start[1:] > end[:-1]
    closes = np.concatenate([np.flatnonzero(opens)[1:] - 1, [len(start) - 1]])
    return Intervals(start[opens], end[closes])


def join(*sets: Intervals) -> Intervals:
    """Union of sets."""
    return union(np.concatenate([s.start for s in sets]), np.concatenate([s.end for s in sets]))


def complement(covered: Intervals, first: int, last: int) -> Intervals:
    """What [first, last) holds outside a set."""
    inside = intersect(covered, Intervals(np.array([first]), np.array([last]))) if last > first else EMPTY
    edges_start = np.concatenate([[first], inside.end])
    edges_end = np.concatenate([inside.start, [last]])
    real = edges_end > edges_start
    return Intervals(edges_start[real], edges_end[real])


def intersect(a: Intervals, b: Intervals) -> Intervals:
    """Time in both sets."""
    if not len(a) or not len(b):
        return EMPTY
    first = np.searchsorted(b.end, a.start, side="right")
    last = np.searchsorted(b.start, a.end, side="left")
    counts = np.maximum(last - first, 0)
    of_a = np.repeat(np.arange(len(a)), counts)
    of_b = np.arange(len(of_a)) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(first, counts)
    start, end = np.maximum(a.start[of_a], b.start[of_b]), np.minimum(a.end[of_a], b.end[of_b])
    return Intervals(start, end)


def subtract(a: Intervals, b: Intervals) -> Intervals:
    """Time in `a` that is not in `b`."""
    if not len(a) or not len(b):
        return a
    first = int(min(a.start[0], b.start[0]))
    last = int(max(a.end[-1], b.end[-1]))
    return intersect(a, complement(b, first, last))
