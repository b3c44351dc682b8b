"""Lanes of slices: the rows inside a track on which they are drawn, so that none covers another.

All functions take columns of slices sorted by (track, start, longest first); a row is a slice.
"""

from __future__ import annotations

import heapq
import itertools

import numpy as np

from laptime.model.arrays import CodeArray, IntArray
from laptime.model.nesting import Nesting, track_bounds


def nested_lanes(track: CodeArray, start: IntArray, end: IntArray, nesting: Nesting) -> CodeArray:
    """Lane of each host slice: 0 unless it crosses an open slice; then the first other where it nests or follows."""
    lane = np.zeros(len(track), np.int32)
    crossing = _with_descendants(nesting.crossing, nesting.parents)
    for rows in np.split(crossing, np.flatnonzero(np.diff(track[crossing])) + 1):
        lane[rows] = 1 + np.array(_first_fitting_lanes(start[rows].tolist(), end[rows].tolist()), np.int32)
    return lane


def _with_descendants(chosen: IntArray, parents: IntArray) -> IntArray:
    """The chosen slices and all they contain, which move with them."""
    if not len(chosen):
        return chosen
    inside = np.zeros(len(parents), bool)
    inside[chosen] = True
    pointer = parents.copy()
    pending = np.flatnonzero(pointer >= 0)
    while len(pending):
        inside[pending] |= inside[pointer[pending]]
        pointer[pending] = pointer[pointer[pending]]
        pending = pending[pointer[pending] >= 0]
    return np.flatnonzero(inside)


def _first_fitting_lanes(starts: list[int], ends: list[int]) -> list[int]:
    open_ends: list[list[int]] = []  # per lane, the ends of its open slices, innermost last
    chosen = []
    for start, end in zip(starts, ends, strict=True):
        lane = next((k for k, stack in enumerate(open_ends) if _fits(stack, start, end)), len(open_ends))
        if lane == len(open_ends):
            open_ends.append([])
        open_ends[lane].append(end)
        chosen.append(lane)
    return chosen


def _fits(stack: list[int], start: int, end: int) -> bool:
    """Whether a slice nests in or follows what is open; closes what has ended."""
    while stack and stack[-1] <= start:
        stack.pop()
    return not stack or stack[-1] >= end


def stream_lanes(track: CodeArray, start: IntArray, end: IntArray, nesting: Nesting) -> CodeArray:
    """Lane of each slice of a queue: slices of one lane never overlap; a lane is reused as soon as it is free.

    Where slices only nest, the lane is the number of slices around. Only spans in which some cross are gone through.
    """
    lane = nesting.depth.copy()
    empty = np.flatnonzero(end <= start)
    around = nesting.parents[empty]  # which may be over when the slice is there
    while len(touching := np.flatnonzero((around >= 0) & (end[around] <= start[empty]))):
        around[touching] = nesting.parents[around[touching]]
    lane[empty] = np.where(around >= 0, nesting.depth[around] + 1, 0)
    for first, last in itertools.pairwise(track_bounds(track).tolist()):
        begin, stop = np.searchsorted(nesting.crossing, [first, last])
        if begin < stop:
            _free_crossing(lane[first:last], start[first:last], end[first:last], nesting.crossing[begin:stop] - first)
    return lane


def _free_crossing(lane: CodeArray, start: IntArray, end: IntArray, crossing: IntArray) -> None:
    """Sets the lanes of one track's spans, between which nothing is open, in which some slices cross."""
    overlaps = start[1:] < np.maximum.accumulate(end)[:-1]
    span = np.cumsum(np.concatenate([[0], ~overlaps]))
    is_crossed = np.zeros(int(span[-1]) + 1, bool)
    is_crossed[span[crossing]] = True
    rows = np.flatnonzero(is_crossed[span])
    lane[rows] = _free_lanes(start[rows].tolist(), end[rows].tolist())


def _free_lanes(starts: list[int], ends: list[int]) -> list[int]:
    busy: list[tuple[int, int]] = []  # (end, lane)
    free: list[int] = []
    chosen = []
    for start, end in zip(starts, ends, strict=True):
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        lane = heapq.heappop(free) if free else len(busy)
        heapq.heappush(busy, (end, lane))
        chosen.append(lane)
    return chosen
