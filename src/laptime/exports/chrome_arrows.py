"""Arrows of an exported timeline: for each cause and effect the two times at which flow events bind to their slices.

A flow event binds to the innermost slice that holds its time on its (pid, tid). Its time is the start of the slice,
or, where a child covers that, the first time at which no child is open. Links for which there is no such time (ends on
waits and annotations, or below slices of equal span) have no arrow; the importer finds those by correlation id.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from laptime.exports.chrome_rows import Rows
from laptime.model.arrays import BoolArray
from laptime.model.nesting import Nest
from laptime.model.trace import Trace
from laptime.model.vocabulary import NULL

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Arrows:
    """One row per arrow: both ends' rows on the timeline and times on the trace's clock, and the kind's code."""

    from_row: IntArray
    from_ns: IntArray
    to_row: IntArray
    to_ns: IntArray
    kind: IntArray


def find_arrows(trace: Trace, rows: Rows, *, for_viewers: bool = False, drawn: BoolArray | None = None) -> Arrows:
    """Arrows of all links that can be drawn (of those `drawn`), in the order of the `flows` table.

    `for_viewers`: also those that no reader could bind to the same slices again; they begin and end where these start.
    """
    slices, flows = trace.slices, trace.flows
    slices.load("track_id", "start_ns", "parent_id", "lane")
    parent = np.where(slices["parent_id"] == NULL, -1, slices["parent_id"])
    nest = Nest(slices["track_id"].astype(np.int32), slices["start_ns"], trace.end_ns, parent)
    from_id, to_id, kind = flows["from_id"], flows["to_id"], flows["kind"]
    if drawn is not None:
        from_id, to_id, kind = from_id[drawn], to_id[drawn], kind[drawn]
    ends, place = np.unique(np.concatenate([from_id, to_id]), return_inverse=True)
    times = _binding_times(nest, ends)
    if for_viewers:
        times = np.where(times == NULL, nest.start[ends], times)
    times[~rows.bindable()[nest.track[ends]]] = NULL
    from_ns, to_ns = np.split(times[place], 2)
    shown = np.flatnonzero((from_ns != NULL) & (to_ns != NULL))
    row_of_end = rows.first_row[nest.track[ends]] + slices["lane"][ends]
    from_row, to_row = np.split(row_of_end[place], 2)
    return Arrows(from_row[shown], from_ns[shown], to_row[shown], to_ns[shown], kind[shown].astype(np.int64))


def _binding_times(nest: Nest, wanted: IntArray) -> IntArray:
    """For each slice (ascending rows) a time at which it is the innermost of its track; NULL where there is none."""
    times = nest.start[wanted].copy()
    covered = nest.innermost_at(nest.track[wanted], times) != wanted
    times[covered] = NULL
    is_covered = np.zeros(len(nest.start) + 1, bool)
    is_covered[wanted[covered]] = True
    children = np.flatnonzero(is_covered[nest.parents])  # parent -1 is the extra last entry
    after = nest.end[children] + 1
    free = nest.innermost_at(nest.track[children], after) == nest.parents[children]
    uncovered, first = np.unique(nest.parents[children[free]], return_index=True)
    times[np.searchsorted(wanted, uncovered)] = after[free][first]
    return times
