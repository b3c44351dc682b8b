"""Which slice contains which: parents and depths of sorted slices, without a loop per slice.

All functions take columns of slices sorted by (track, start, longest first); a row is a slice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.model.arrays import CodeArray, Column, IntArray

_LEVELS = 24
"""Depth from which on pointers are followed: going through the slices once for each level costs more there."""
_BLOCK = 1 << 15
_LATEST = float(1 << 61)


@dataclass(frozen=True)
class Nesting:
    """Parents (-1: none) and depths of slices; rows that end after the innermost slice that is open when they start."""

    parents: IntArray
    depth: CodeArray
    crossing: IntArray


def track_bounds(track: Column) -> IntArray:
    """First row of each run of equal track ids, and the row count at the end; run k is `bounds[k]:bounds[k + 1]`."""
    changes = np.flatnonzero(track[1:] != track[:-1]) + 1
    return np.concatenate([[0], changes, [len(track)]]).astype(np.int64) if len(track) else np.zeros(1, np.int64)


def containing_parents(track: CodeArray, start: IntArray, end: IntArray) -> IntArray:
    """Row of the nearest earlier slice of the track that ends no sooner, hence contains the slice; -1 where none does.

    Slices without duration contain nothing.
    """
    return nesting_of(track, start, end).parents


def nesting_of(track: CodeArray, start: IntArray, end: IntArray) -> Nesting:
    """Parents as of `containing_parents`, depths, and what crosses."""
    lasting = np.flatnonzero(end > start)
    nesting = _Nester(track, start, end).nesting(lasting)
    if len(lasting) < len(track):
        _place_empty(np.flatnonzero(end <= start), lasting, nesting, (track, end))
    return nesting


class _Nester:
    """Nesting level by level: what ends after all before it has no parent, and holds what follows up to the next such.

    Tracks are laid one after the other in time, and so is what crosses, moved apart with all it contains. Then one
    running maximum finds the outermost of all slices that are left.
    """

    def __init__(self, track: CodeArray, start: IntArray, end: IntArray) -> None:
        count = len(track)
        self._parents = np.full(count, -1, np.int64)
        self._depth = np.zeros(count, np.int32)
        self._crossing: list[IntArray] = [_NO_ROWS]
        self._track = track
        moved = _moves(track, start, end)
        self._has_room = moved is not None
        self._start = start.copy() if moved is None else start + moved
        self._end = end if moved is None else end + moved

    def nesting(self, rows: IntArray) -> Nesting:
        """Of the rows, which have a duration."""
        for block in self._blocks(rows) if self._has_room else [rows]:
            self._settle(block)
        return Nesting(self._parents, self._depth, np.sort(np.concatenate(self._crossing)))

    def _blocks(self, rows: IntArray) -> list[IntArray]:
        """Cuts the rows where nothing is open, if possible into blocks that stay in the processor's cache."""
        if len(rows) <= _BLOCK:
            return [rows]
        is_gap = self._start[rows[1:]] >= np.maximum.accumulate(self._end[rows])[:-1]
        gaps = np.append(np.flatnonzero(is_gap) + 1, len(rows))
        cuts = gaps[np.searchsorted(gaps, np.arange(_BLOCK, len(rows), _BLOCK))]
        return np.split(rows, np.unique(cuts))

    def _settle(self, rows: IntArray) -> None:
        owner, end, level = np.full(len(rows), -1, np.int64), self._end[rows], 0
        while len(rows) and level < _LEVELS and self._has_room:
            rows, owner, end = self._outermost(rows, owner, end, level=level)
            level += 1
        if len(rows):
            self._follow_pointers(rows, owner, end, level=level)

    def _outermost(
        self, rows: IntArray, owner: IntArray, end: IntArray, *, level: int
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Settles the outermost of the rows; returns the others, what contains them, their ends."""
        is_outer = np.ones(len(rows), bool)
        np.greater(end[1:], np.maximum.accumulate(end)[:-1], out=is_outer[1:])
        place, inner = np.flatnonzero(is_outer), np.flatnonzero(~is_outer)
        outer = rows[place]
        self._parents[outer] = owner[place]
        self._depth[outer] = level
        held = np.diff(place, append=len(rows)) - 1
        overlap = end[place[:-1]] - self._start[outer[1:]]
        rows, owner, end = rows[inner], np.repeat(outer, held), end[inner]
        if overlap.max(initial=0) > 0:
            self._crossing.append(outer[1:][overlap > 0])
            apart = np.repeat(np.cumsum(np.concatenate([[0], np.maximum(overlap, 0)])), held)
            end += apart
            self._start[rows] += apart
        return rows, owner, end

    def _follow_pointers(self, rows: IntArray, owner: IntArray, end: IntArray, *, level: int) -> None:
        """Settles rows of great depth, or all of them."""
        start = self._start[rows]
        segment: Column = owner if level else self._track[rows]
        pointer = followed_parents(segment, end)
        opened = open_at_start(start, end, pointer, segment)
        self._crossing.append(rows[(opened >= 0) & (opened != pointer)])
        self._parents[rows] = np.where(pointer >= 0, rows[pointer], owner)
        self._depth[rows] = depths(pointer) + level


_NO_ROWS = np.empty(0, np.int64)


def _moves(track: CodeArray, start: IntArray, end: IntArray) -> IntArray | None:
    """By how much to move each slice so that no track begins before the one before it ends; None: no room for it."""
    if not len(track):
        return np.zeros(0, np.int64)
    bounds = track_bounds(track)
    first, last = start[bounds[:-1]], np.maximum.reduceat(end, bounds[:-1])
    extents = last.astype(np.float64) - first
    if extents.sum() + (end - start).sum(dtype=np.float64) > _LATEST:
        return None
    moves = np.concatenate([[0], np.cumsum(last - first)[:-1]]) - first
    return np.repeat(moves, np.diff(bounds))


def _place_empty(rows: IntArray, lasting: IntArray, nesting: Nesting, columns: tuple[CodeArray, IntArray]) -> None:
    """Parents and depths of slices without duration."""
    track, end = columns
    place = rows - np.arange(1, len(rows) + 1)  # the last of `lasting` before each
    around = np.where(place >= 0, lasting[np.maximum(place, 0)] if len(lasting) else -1, -1)
    around[(around >= 0) & (track[around] != track[rows])] = -1
    pending = np.flatnonzero(around >= 0)
    while len(pending):
        pending = pending[end[around[pending]] < end[rows[pending]]]
        around[pending] = nesting.parents[around[pending]]
        pending = pending[around[pending] >= 0]
    nesting.parents[rows] = around
    nesting.depth[rows] = np.where(around >= 0, nesting.depth[around] + 1, 0)


def followed_parents(track: Column, end: IntArray) -> IntArray:
    """Row of the nearest earlier slice of the track that ends no sooner; -1 where none does.

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
    return pointer


def open_at_start(start: IntArray, end: IntArray, parents: IntArray, track: Column) -> IntArray:
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
