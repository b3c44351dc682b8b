"""The stages of a data pipeline whose work was timed.

Definitions: docs/definitions.md, "Data pipeline".
"""

from __future__ import annotations

import numpy as np

from laptime.model.arrays import BoolArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import KIND_CODE

StageTimes = dict[str, tuple[int, int]]
"""By type of operator: batches, and nanoseconds over all of them and all workers."""


def named(trace: Trace, name: str) -> BoolArray:
    """Slices of a name."""
    codes = [code for code, text in enumerate(trace.slices.texts("name")) if text == name]
    return np.isin(trace.slices["name"], codes)


def stage_times(trace: Trace, op_types: set[str]) -> StageTimes:
    """Times of the data slices that bear the name of a stage, in whatever process they ran."""
    data = (trace.slices["kind"] == KIND_CODE["data"]) & (trace.slices["dur_ns"] >= 0)
    found = {}
    for op_type in sorted(op_types):
        chosen = data & named(trace, op_type)
        if chosen.any():
            found[op_type] = (int(np.count_nonzero(chosen)), int(trace.slices["dur_ns"][chosen].sum()))
    return found
