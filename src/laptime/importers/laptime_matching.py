"""Which call each slice lies in: slices have the framework's times, calls those of laptime's log.

A call begins before the slice that it makes and ends after it, on a busy machine by milliseconds: how near their begins
and ends are tells nothing, that one lies in the other does. Where the clocks disagree, slices and calls of one name
tell by how much, if there are as many of both: the n-th slice is that of the n-th call. The wall clock may be set anew
while a framework that reads it records, so that what holds of one stretch of time need not hold of the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from laptime.model.arrays import IntArray
from laptime.model.nesting import containing_parents

_ROUNDED_NS = 1_000
"""What rounding may take from times."""
_BEYOND_NS = 10_000
"""How far a slice may lie beyond its call: clocks are not compared any better."""
_STRANGE_NS = 10_000_000
"""A slice without a call is as strange as one that far from either end of its call."""
_LONGEST_STRETCH = 1 << 12


@dataclass(frozen=True)
class Times:
    """Begins and ends; those of calls in order of time, outer ones first."""

    start: IntArray
    end: IntArray

    def __len__(self) -> int:
        return len(self.start)

    def earlier(self, by_ns: IntArray) -> Times:
        """All times moved back."""
        return Times(self.start - by_ns, self.end - by_ns)


# ---- how far apart the clocks are ----


@dataclass(frozen=True)
class Clocks:
    """By how much the slices' clock is ahead of the calls', at some times of the slices' clock."""

    at: IntArray
    as_before: IntArray
    """If the clock stays set as it is for as long as it can."""
    as_after: IntArray
    """If it was set as early as it can have been."""

    def between(self, times: IntArray) -> tuple[IntArray, list[IntArray]]:
        """Which two known times each of some times lies between, and what both tell of it; that may be the same."""
        after = np.searchsorted(self.at, times, side="right")
        if not (self.as_before.any() or self.as_after.any()):
            return after, [np.zeros(len(times), np.int64)]
        last = len(self.at) - 1
        return after, [self.as_before[np.clip(after - 1, 0, last)], self.as_after[np.clip(after, 0, last)]]


def clocks_of(pairs: Iterable[tuple[Times, Times]]) -> Clocks:
    """What slices and calls of a name each tell: by the right clock each slice lies in its call."""
    none = np.empty(0, np.int64)
    at, least, most = [none], [none], [none]
    for slices, calls in pairs:
        if len(slices) == len(calls) and (slices.end - slices.start <= calls.end - calls.start).all():
            at.append(slices.start)
            least.append(slices.end - calls.end)
            most.append(slices.start - calls.start)
    times = np.concatenate(at)
    order = np.argsort(times, kind="stable")
    low, high = np.concatenate(least)[order], np.concatenate(most)[order]
    return Clocks(times[order], _ahead(low, high), _ahead(low[::-1], high[::-1])[::-1])


def _ahead(least: IntArray, most: IntArray) -> IntArray:
    """A value within all bounds of a stretch, as long a one as has such a value; 0 where that does."""
    ahead = np.zeros(len(least), np.int64)
    if (least <= 0).all() and (most >= 0).all():
        return ahead
    begin = 0
    while begin < len(least):
        block = slice(begin, begin + _LONGEST_STRETCH)
        lows, highs = np.maximum.accumulate(least[block]), np.minimum.accumulate(most[block])
        length = int(np.count_nonzero(lows <= highs))
        low, high = int(lows[length - 1]), int(highs[length - 1])
        ahead[begin : begin + length] = 0 if low <= 0 <= high else (low + high) // 2
        begin += length
    return ahead


# ---- what lies in what ----


def calls_around(slices: Times, calls: Times, clocks: Clocks) -> IntArray:
    """Place of the innermost call that each slice lies in; -1 where it lies in none."""
    found = np.full(len(slices), -1, np.int64)
    if not len(calls):
        return found
    stretch, tellings = clocks.between(slices.start)
    least = np.full(len(slices), np.inf)
    for ahead in tellings:
        moved = slices.earlier(ahead)
        place = _calls_around(moved, calls)
        gaps = np.where(place < 0, _STRANGE_NS, _gaps(moved, calls, place))
        strangeness = np.bincount(stretch, gaps)[stretch]
        better = (place >= 0) & (strangeness < least)
        found[better], least[better] = place[better], strangeness[better]
    return found


def _gaps(slices: Times, calls: Times, place: IntArray) -> IntArray:
    """From each slice to the nearer end of its call: most often a slice begins or ends right after or before it."""
    return np.asarray(np.minimum(abs(slices.start - calls.start[place]), abs(calls.end[place] - slices.end)))


def _calls_around(slices: Times, calls: Times) -> IntArray:
    """The same by one clock. Without a call that holds all of a slice it is one that lacks least, if that is little."""
    place = _innermost(slices, calls)
    after = np.searchsorted(calls.start, slices.start, side="right")
    for other in (after - 1, np.where(after < len(calls), after, -1)):
        place = np.where(_beyond(slices, calls, other) < _beyond(slices, calls, place), other, place)
    return np.where(_beyond(slices, calls, place) <= _BEYOND_NS, place, -1)


def _innermost(slices: Times, calls: Times) -> IntArray:
    """The innermost call that holds each slice but for what rounding took; -1 without."""
    around = containing_parents(np.zeros(len(calls), np.int32), calls.start, calls.end)
    place = np.searchsorted(calls.start, slices.start + _ROUNDED_NS, side="right") - 1
    pending = np.flatnonzero(place >= 0)
    while len(pending):
        pending = pending[calls.end[place[pending]] + _ROUNDED_NS < slices.end[pending]]
        place[pending] = around[place[pending]]
        pending = pending[place[pending] >= 0]
    return place


def _beyond(slices: Times, calls: Times, place: IntArray) -> IntArray:
    """How much of each slice lies beyond its call; nothing where that may be rounding."""
    outside = np.maximum(calls.start[place] - slices.start, 0) + np.maximum(slices.end - calls.end[place], 0)
    outside[outside <= 2 * _ROUNDED_NS] = 0
    return np.where(place >= 0, outside, np.iinfo(np.int64).max)
