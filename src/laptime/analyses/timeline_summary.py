"""What a timeline holds, as MindInsight's overview sums it up: devices, streams, tasks, executions, their time.

Definitions: docs/definitions.md, "Timeline summary".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.analyses.call_sites import OpTree, op_rows, scope_rows
from laptime.analyses.device import device_rows, devices_of
from laptime.analyses.ranges import recorded_span
from laptime.model.trace import Trace
from laptime.model.vocabulary import NULL


@dataclass(frozen=True)
class TimelineSummary:
    """Of device work; of a recording without any, of its operators (`on` host), whose streams are threads."""

    on: str
    devices: int
    streams: int
    tasks: int
    """Distinct names."""
    executions: int
    total_ns: int
    """Sum of the executions; of operators inside others their time counts once."""
    span_ns: int
    """From the first to the last moment recorded."""
    slices: int
    """All of the recording, those of threads too: what a download holds."""


def timeline_summary(trace: Trace) -> TimelineSummary:
    """Counts and times of a rank's timeline."""
    rows = device_rows(trace)
    on = "device" if len(rows) else "host"
    if on == "host":
        rows = op_rows(trace)
        rows = rows if len(rows) else scope_rows(trace)
    timed = rows[trace.slices["dur_ns"][rows] != NULL]
    outermost = timed[OpTree(trace, timed).parent < 0] if on == "host" else timed
    first, last = recorded_span(trace)
    return TimelineSummary(
        on=on,
        devices=len(np.unique(devices_of(trace, rows))) if on == "device" else 0,
        streams=len(np.unique(trace.slices["track_id"][rows])),
        tasks=len(np.unique(trace.slices["name"][rows])),
        executions=len(rows),
        total_ns=int(trace.slices["dur_ns"][outermost].sum()),
        span_ns=last - first,
        slices=trace.slices.row_count,
    )
