"""Fewer points of a curve for drawing, without losing a peak.

Definitions: docs/definitions.md, "Memory over time".
"""

from __future__ import annotations

import numpy as np

from laptime.model.arrays import Column, IntArray

LEAST_POINTS = 8
_KEPT = 3
"""Points of a span that are kept at most: its least, its greatest and its last."""


def thinned(times: IntArray, levels: Column, points: int) -> IntArray:
    """Places of at most `points` points: of equal spans of time the first least, the first greatest and the last one.

    With the last, the level between the spans is right; the first point of all is kept too.
    """
    count = len(times)
    if count <= max(points, LEAST_POINTS):
        return np.arange(count)
    spans = (max(points, LEAST_POINTS) - 1) // _KEPT
    begin, end = int(times[0]), int(times[-1])
    edges = [begin + (end - begin) * span // spans for span in range(1, spans)]
    first = np.unique(np.concatenate([[0], np.searchsorted(times, edges, side="left")]))
    sizes = np.diff(np.append(first, count))
    least = _first_equal(levels, np.repeat(np.minimum.reduceat(levels, first), sizes), first)
    greatest = _first_equal(levels, np.repeat(np.maximum.reduceat(levels, first), sizes), first)
    return np.unique(np.concatenate([[0], least, greatest, first + sizes - 1]))


def _first_equal(levels: Column, wanted: Column, first: IntArray) -> IntArray:
    """In each span the first place whose level is the one wanted there."""
    places = np.flatnonzero(levels == wanted)
    return np.asarray(places[np.searchsorted(places, first)])
