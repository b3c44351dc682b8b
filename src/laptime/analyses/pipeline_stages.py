"""The stages of a data pipeline whose work was timed.

Definitions: docs/definitions.md, "Data pipeline".
"""

from __future__ import annotations

import numpy as np

from laptime.analyses.parts import WHOLE, Part
from laptime.analyses.ranges import starting_in
from laptime.model.arrays import BoolArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import KIND_CODE

StageTimes = dict[str, tuple[int, int]]
"""By type of operator: batches, and nanoseconds over all of them and all workers."""


def named(trace: Trace, name: str) -> BoolArray:
    """Slices of a name."""
    codes = [code for code, text in enumerate(trace.slices.texts("name")) if text == name]
    return np.isin(trace.slices["name"], codes)


def stage_times(trace: Trace, op_types: set[str], part: Part = WHOLE) -> StageTimes:
    """Times of the data slices that bear the name of a stage and start in the part, in whatever process they ran."""
    data = (trace.slices["kind"] == KIND_CODE["data"]) & (trace.slices["dur_ns"] >= 0)
    found = {}
    for op_type in sorted(op_types):
        rows = np.flatnonzero(data & named(trace, op_type))
        if len(rows):
            rows = rows[starting_in(trace, rows, part)]
            found[op_type] = (len(rows), int(trace.slices["dur_ns"][rows].sum()))
    return found
