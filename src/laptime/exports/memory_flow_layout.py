"""Where blocks of memory lie in a drawing: at their addresses with the gaps between them left out, or packed."""

from __future__ import annotations

import bisect
import heapq
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from laptime.model.arrays import IntArray
from laptime.model.vocabulary import NULL

_LEAST_ADDRESS = 4096
"""No allocator hands out the first page: lesser addresses are numbers that a source made up."""
_FOREVER = 2**100

Floats: TypeAlias = npt.NDArray[np.float64]


def has_addresses(address: IntArray) -> bool:
    """Whether blocks lie at true addresses."""
    return bool(len(address)) and int(address.min()) >= _LEAST_ADDRESS  # NULL is less


def by_address(address: IntArray, size: IntArray) -> tuple[Floats, float]:
    """Offset of each block, and of the end: addresses without the ranges in which no block ever lies."""
    order = np.argsort(address, kind="stable")
    begins = address[order].astype(np.float64)  # exact up to 2**53, far above any address in use
    reached = np.maximum.accumulate(begins + size[order])
    opens = np.concatenate([[True], begins[1:] > reached[:-1]])
    region = np.cumsum(opens) - 1
    first = np.flatnonzero(opens)
    last = np.append(first[1:] - 1, len(begins) - 1)
    lengths = reached[last] - begins[first]
    base = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    offsets = np.empty(len(address), np.float64)
    offsets[order] = base[region] + begins - begins[first][region]
    return offsets, float(lengths.sum())


def packed(size: IntArray, start: IntArray, end: IntArray) -> tuple[Floats, float]:
    """Offset of each block, and of the end, where each goes to the first room that is free for it when it begins."""
    offsets = np.zeros(len(size), np.float64)
    free = _Free()
    held: list[tuple[int, int, int]] = []
    for row in np.lexsort((-size, start)).tolist():
        while held and held[0][0] <= start[row]:
            _, offset, length = heapq.heappop(held)
            free.give(offset, length)
        length = int(size[row])
        offsets[row] = offset = free.take(length)
        heapq.heappush(held, (_FOREVER if end[row] == NULL else int(end[row]), offset, length))
    return offsets, float((offsets + size).max(initial=0))


class _Free:
    """Free room as ranges in order, the last of them without end."""

    def __init__(self) -> None:
        self._begins, self._ends = [0], [_FOREVER]

    def take(self, length: int) -> int:
        """Beginning of the first room that is long enough."""
        for place, begin in enumerate(self._begins):
            if self._ends[place] - begin >= length:
                if self._ends[place] - begin == length:
                    del self._begins[place], self._ends[place]
                else:
                    self._begins[place] = begin + length
                return begin
        raise AssertionError("the last room has no end")

    def give(self, begin: int, length: int) -> None:
        """Room is free again; it joins its neighbours."""
        if not length:
            return
        end, place = begin + length, bisect.bisect(self._begins, begin)
        if place < len(self._begins) and self._begins[place] == end:
            end = self._ends[place]
            del self._begins[place], self._ends[place]
        if place and self._ends[place - 1] == begin:
            self._ends[place - 1] = end
        else:
            self._begins.insert(place, begin)
            self._ends.insert(place, end)
