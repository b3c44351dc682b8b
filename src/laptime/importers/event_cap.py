"""The limit at which XLA silently cuts a profile's JSON: it keeps the million slices that start first.

Found in the converter of tsl (OpenXLA), GetTraceViewerMaxEvents. Older converters keep all slices that start together
with the last, so that a few more than a million may be left.
"""

from __future__ import annotations

import numpy as np

from laptime.model.builder import TraceBuilder

LIMIT = 1_000_000
_PROCESSES = ("/host:", "/device:", "Task Environment")


def warn_of_cap(builder: TraceBuilder) -> None:
    """Names the cut where a file of XLA's processes holds just as many slices as it leaves."""
    if builder.slices.count < LIMIT:
        return
    names = list(builder.tracks.process_names.values())
    if not names or not all(name.startswith(_PROCESSES) for name in names):
        return
    starts = builder.slices.joined("start")
    if int(np.count_nonzero(starts < starts.max())) < LIMIT:
        builder.warnings.add(
            "cut_by_recorder",
            f"JAX writes no more than {LIMIT:,} slices to its JSON; what started later is missing. Open the .xplane.pb",
        )
