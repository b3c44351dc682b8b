"""Device slices whose recorded end cannot be right: they swallow many later kernels of their own stream."""

from __future__ import annotations

import numpy as np

from laptime.model.arrays import CodeArray, IntArray
from laptime.model.nesting import track_bounds
from laptime.model.vocabulary import NULL

SWALLOWED = 8
"""A slice that holds at least this many later slices of its stream, of other correlations, is overrunning."""


def overrunning(track: CodeArray, start: IntArray, end: IntArray, correlation: IntArray) -> tuple[IntArray, IntArray]:
    """Rows that overrun and the end to use for them in sums by name: the next later start on their stream.

    Takes sorted device slices. A lock-step launch of many kernels (a graph) shares one correlation and never overruns.
    """
    rows: list[int] = []
    ends_to_use: list[int] = []
    bounds = track_bounds(track)
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        starts, ends = start[first:last], end[first:last]
        later = np.searchsorted(starts, ends, side="left") - np.arange(1, last - first + 1)
        for place in np.flatnonzero(later >= SWALLOWED).tolist():
            others = slice(place + 1, place + 1 + int(later[place]))
            held = (ends[others] <= ends[place]) & (starts[others] > starts[place])
            own = correlation[first + place]
            if own != NULL:
                held &= correlation[first:last][others] != own
            if np.count_nonzero(held) >= SWALLOWED:
                rows.append(first + place)
                ends_to_use.append(int(starts[np.searchsorted(starts, starts[place], side="right")]))
    return np.array(rows, np.int64), np.array(ends_to_use, np.int64)
