"""Which slices, points, samples and rows of tables belong to the part of a recording that is written as a timeline.

Definitions: docs/definitions.md, "Ranges".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from laptime.analyses.intervals import Intervals
from laptime.analyses.parts import Part
from laptime.analyses.ranges import chosen_steps, must_hold, starting_in, time_of
from laptime.model.arrays import BoolArray, IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import NULL

_WITHOUT_TIME = ("op_totals",)
"""Tables whose rows have no place in time, so that none belongs to a part."""


@dataclass(frozen=True)
class Kept:
    """What is written of a trace."""

    slices: BoolArray
    time: Intervals
    steps: IntArray
    """Places of the steps."""

    def flows(self, trace: Trace) -> BoolArray:
        """Links of which both ends are written."""
        return np.asarray(self.slices[trace.flows["from_id"]] & self.slices[trace.flows["to_id"]])

    def rows(self, trace: Trace, table: str) -> pa.Table:
        """Rows of a table that belong to the part; of tables that tell what things are, all."""
        stored = trace.table(table)
        if table == "steps":
            return stored.arrow().take(self.steps)
        if table == "allocations":
            return stored.arrow().filter(pa.array(self._living(stored["start_ns"], stored["end_ns"])))
        if table == "queue_samples":
            return stored.arrow().filter(pa.array(self._sampled(stored["ts_ns"], stored["step"], trace)))
        return stored.arrow().slice(0, 0) if table in _WITHOUT_TIME else stored.arrow()

    def _living(self, start: IntArray, end: IntArray) -> BoolArray:
        last = np.where(end == NULL, self.time.end.max(initial=0), end)
        return self.time.meets(start, np.maximum(start, last))

    def _sampled(self, time: IntArray, step: IntArray, trace: Trace) -> BoolArray:
        in_step = np.isin(step, trace.steps["step"][self.steps])
        return np.asarray(np.where(time == NULL, in_step, self.time.holds(time)))


def kept_of(trace: Trace, part: Part) -> Kept | None:
    """What of a trace belongs to a part; None where all does. Raises LaptimeError for a part that it does not have."""
    must_hold(trace, part)
    if part.is_whole:
        return None
    slices = starting_in(trace, np.arange(trace.slices.row_count), part)
    return Kept(slices, time_of(trace, part), chosen_steps(trace, part))
