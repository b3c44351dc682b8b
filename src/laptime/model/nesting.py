"""Which slice contains which: parents, depths and lanes of sorted slices, without a loop per slice.

All functions take columns of slices sorted by (track, start, longest first); a row is a slice.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass

import numpy as np

from laptime.model.arrays import BoolArray, CodeArray, IntArray


def track_bounds(track: CodeArray) -> IntArray:
    """First row of each run of equal track ids, and the row count at the end; run k is `bounds[k]:bounds[k + 1]`."""
    changes = np.flatnonzero(track[1:] != track[:-1]) + 1
    return np.concatenate([[0], changes, [len(track)]]).astype(np.int64) if len(track) else np.zeros(1, np.int64)


def containing_parents(track: CodeArray, start: IntArray, end: IntArray) -> IntArray:
    """Row of the nearest earlier slice of the track that ends no sooner, hence contains the slice; -1 where none does.

    Pointer jumping: all rows between a row and its pointer end before the row does. A pointer whose target ends too
    soon may therefore be replaced by the target's pointer, which doubles the distance each round.
    """
    pointer = np.arange(-1, len(track) - 1, dtype=np.int64)
    pointer[track_bounds(track)[:-1]] = -1
    pending = np.flatnonzero(pointer >= 0)
    while len(pending):
        pending = pending[end[pointer[pending]] < end[pending]]
        pointer[pending] = pointer[pointer[pending]]
        pending = pending[pointer[pending] >= 0]
    empty = end == start
    pending = np.flatnonzero((pointer >= 0) & empty[pointer])  # slices without duration hold nothing
    while len(pending):
        pointer[pending] = pointer[pointer[pending]]
        pending = pending[(pointer[pending] >= 0) & empty[pointer[pending]]]
    return pointer


def open_at_start(start: IntArray, end: IntArray, parents: IntArray, track: CodeArray) -> IntArray:
    """Row of the nearest earlier slice of the track that is still open when the slice starts; -1 where none is."""
    pointer = np.arange(-1, len(track) - 1, dtype=np.int64)
    pointer[track_bounds(track)[:-1]] = -1
    pending = np.flatnonzero(pointer >= 0)
    while len(pending):
        pending = pending[end[pointer[pending]] <= start[pending]]
        pointer[pending] = parents[pointer[pending]]
        pending = pending[pointer[pending] >= 0]
    return pointer


def depths(parents: IntArray) -> CodeArray:
    """Number of ancestors of each slice, by pointer doubling."""
    depth = (parents >= 0).astype(np.int32)
    pointer = parents.copy()
    pending = np.flatnonzero(pointer >= 0)
    while len(pending):
        target = pointer[pending]
        depth[pending] += depth[target]
        pointer[pending] = pointer[target]
        pending = pending[pointer[pending] >= 0]
    return depth


def nested_lanes(start: IntArray, end: IntArray, parents: IntArray, track: CodeArray) -> CodeArray:
    """Lane of each host slice: 0 unless it crosses an open slice; then the first other where it nests or follows."""
    lane = np.zeros(len(track), np.int32)
    opened = open_at_start(start, end, parents, track)
    crosses = (opened >= 0) & (opened != parents) & (end > start)
    crossing = np.flatnonzero(_with_descendants(crosses, parents)) if crosses.any() else np.empty(0, np.int64)
    for rows in np.split(crossing, np.flatnonzero(np.diff(track[crossing])) + 1):
        lane[rows] = 1 + np.array(_first_fitting_lanes(start[rows].tolist(), end[rows].tolist()), np.int32)
    return lane


def _with_descendants(chosen: BoolArray, parents: IntArray) -> BoolArray:
    """The chosen slices and all they contain, which move with them."""
    inside = chosen.copy()
    pointer = parents.copy()
    pending = np.flatnonzero(pointer >= 0)
    while len(pending):
        inside[pending] |= inside[pointer[pending]]
        pointer[pending] = pointer[pointer[pending]]
        pending = pending[pointer[pending] >= 0]
    return inside


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


def stream_lanes(start: IntArray, end: IntArray, track: CodeArray) -> CodeArray:
    """Lane of each slice of a queue: slices of one lane never overlap; a lane is reused as soon as it is free.

    Where slices only nest, the lane is the number of slices around. Only spans in which some cross are gone through.
    """
    lane = np.zeros(len(track), np.int32)
    for first, last in itertools.pairwise(track_bounds(track)):
        own_start, own_end = start[first:last], end[first:last]
        latest_end = np.maximum.accumulate(own_end)
        overlaps = own_start[1:] < latest_end[:-1]
        if overlaps.any():
            span = np.cumsum(np.concatenate([[0], ~overlaps]))
            lane[first:last] = _overlapping_lanes(own_start, own_end, span)
    return lane


def _overlapping_lanes(start: IntArray, end: IntArray, span: IntArray) -> CodeArray:
    """Lanes of one track, cut into spans between which nothing is open."""
    one_track = np.zeros(len(start), np.int32)
    opened = open_at_start(start, end, containing_parents(one_track, start, end), one_track)
    lane = depths(opened)
    crosses = (opened >= 0) & (end > end[opened])
    crossing = np.zeros(int(span[-1]) + 1, bool)
    crossing[span[crosses]] = True
    rows = np.flatnonzero(crossing[span])
    lane[rows] = _free_lanes(start[rows].tolist(), end[rows].tolist())
    return lane


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


@dataclass(frozen=True)
class Nest:
    """Sorted slices with their parents, to look up what was open at a time."""

    track: CodeArray
    start: IntArray
    end: IntArray
    parents: IntArray

    def innermost_at(self, track_ids: CodeArray, times: IntArray) -> IntArray:
        """Row of the innermost slice of a track that holds each time (start and end included); -1 where none does."""
        row = self.last_started(track_ids, times)
        pending = np.flatnonzero(row >= 0)
        while len(pending):
            pending = pending[self.end[row[pending]] < times[pending]]
            row[pending] = self.parents[row[pending]]
            pending = pending[row[pending] >= 0]
        return row

    def last_started(self, track_ids: CodeArray, times: IntArray) -> IntArray:
        """Row of the last slice of a track that starts at or before each time; -1 where none does."""
        row = np.full(len(times), -1, np.int64)
        for track_id in np.unique(track_ids):
            first, last = np.searchsorted(self.track, [track_id, track_id + 1])
            asked = np.flatnonzero(track_ids == track_id)
            found = first + np.searchsorted(self.start[first:last], times[asked], side="right") - 1
            row[asked] = np.where(found >= first, found, -1)
        return row
