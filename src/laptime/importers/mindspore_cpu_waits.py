"""Waits of MindSpore's training loop for its dataset, as slices: `dataset_iterator_profiling_{id}.txt`.

Rows `type extra batch value time`; type 0, extra 0 is a wait of `value` ms that ended at `time`, both cut to whole
ms of the boot clock. MindSpore 2.0 stamps its operators by the same clock, 2.10 by the epoch: there nothing places the
waits among the operators, and they stay durations (see `minddata`).
"""

from __future__ import annotations

import numpy as np

from laptime.importers.mindspore_cpu_executions import Executions
from laptime.model.arrays import IntArray
from laptime.model.builder import BASE_KIND_CODE, TraceBuilder
from laptime.model.tracks import TrackKey

_MS = 1_000_000
_TRUNCATED_NS = _MS // 2
"""A time truncated to ms was half a ms later on average."""
_NEARLY_ALL = 0.9
_NEAR_NS = 10**9
_LATEST_MS = 2**62 // _MS


def add_waits(text: str, executions: Executions, builder: TraceBuilder) -> None:
    """Adds the waits where they lie on the clock of the executions."""
    start, end = _waits(text)
    if not _on_one_clock(end, executions):
        return
    count = len(end)
    builder.read += count
    builder.tracks.process_names["dataset"] = "Dataset"
    track = builder.tracks.code(TrackKey("thread", "dataset", "iterator", name="dataset iterator"))
    builder.add_slices(
        count,
        {
            "track": np.full(count, track, np.int32),
            "start": start,
            "dur": end - start,
            "name": np.full(count, builder.names.code("wait for batch"), np.int32),
            "category": np.full(count, builder.categories.code("dataset_iterator"), np.int32),
            "kind": np.full(count, BASE_KIND_CODE["data"], np.int8),
        },
    )


def _waits(text: str) -> tuple[IntArray, IntArray]:
    """Start and end in ns; lines that are no numbers are left to `minddata`, which names them."""
    rows = [fields for line in text.splitlines() if len(fields := line.split()) == 5 and fields[:2] == ["0", "0"]]
    known = [(int(value), int(time)) for *_, value, time in rows if value.isdecimal() and time.isdecimal()]
    ends = np.array([time for value, time in known if value <= time < _LATEST_MS], np.int64) * _MS + _TRUNCATED_NS
    durations = np.array([value for value, time in known if value <= time < _LATEST_MS], np.int64) * _MS
    return ends - durations, ends


def _on_one_clock(end: IntArray, executions: Executions) -> bool:
    """Whether batches came while operators ran; the first came before them."""
    later = end[1:] if len(end) > 1 else end
    if not len(later) or not len(executions.start):
        return False
    first, last = int(executions.start.min()) - _NEAR_NS, int(executions.end.max()) + _NEAR_NS
    return bool(np.mean((later >= first) & (later <= last)) >= _NEARLY_ALL)
