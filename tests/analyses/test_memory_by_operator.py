"""What each operator allocated, and counters that are not of memory."""

from __future__ import annotations

from typing import Any

import pytest

from laptime.analyses.counter_curves import counter_curves
from laptime.analyses.memory import live_bytes_of
from laptime.analyses.memory_by_operator import memory_by_operator
from laptime.errors import LaptimeError
from laptime.importers.opening import open_run
from laptime.model.trace import Trace
from laptime.model.workspace import Workspace
from tests.analyses.events import US, op
from tests.analyses.test_memory import change
from tests.conftest import SAMPLES


@pytest.fixture
def trace(open_events: Any) -> Trace:
    (found,) = open_events(
        op("aten::mm", 0, 50),
        op("aten::add", 60, 70),
        change(12, 1, 512),
        change(15, 2, 2048),
        change(30, 1, -512),
        change(40, 1, 100),
        change(61, 3, 1024),
        change(62, 2, -2048),
        change(80, 4, 9),
        {"ph": "C", "name": "GPU 0 Utilization", "pid": 1, "tid": 1, "ts": 3, "args": {"value": 7.5}},
        {"ph": "C", "name": "GPU 0 Utilization", "pid": 1, "tid": 1, "ts": 5, "args": {"value": 2.5}},
    ).traces
    return found  # type: ignore[no-any-return]


def test_sums_by_operator_largest_first(trace: Trace) -> None:
    found = memory_by_operator(trace)
    assert (found.device, found.total_rows) == ("cuda:0", 3)
    assert found.rows == [
        {"op": "aten::mm", "count": 3, "total_bytes": 2660, "max_bytes": 2048, "live_at_peak_bytes": 2148},
        {"op": "aten::add", "count": 1, "total_bytes": 1024, "max_bytes": 1024, "live_at_peak_bytes": 1024},
        {"op": None, "count": 1, "total_bytes": 9, "max_bytes": 9, "live_at_peak_bytes": 0},
    ]
    assert memory_by_operator(trace, limit=1).rows == found.rows[:1]


def test_the_parts_sum_to_the_device(workspace: Workspace) -> None:
    (trace,) = open_run(SAMPLES / "pytorch" / "memory.pt.trace.json.gz", workspace=workspace).traces
    live = live_bytes_of(trace, None)
    found = memory_by_operator(trace)
    assert live is not None
    assert sum(row["count"] for row in found.rows) == len(live.rows)  # type: ignore[misc]
    assert sum(row["live_at_peak_bytes"] for row in found.rows) == live.peak[0]  # type: ignore[misc]
    assert sum(row["total_bytes"] for row in found.rows) == int(
        trace.table("allocations")["size_bytes"][live.rows].sum()
    )  # type: ignore[misc]


def test_nothing_recorded_has_no_rows_and_an_unknown_device_is_told(open_events: Any, trace: Trace) -> None:
    (empty,) = open_events(op("aten::mm", 0, 9)).traces
    assert memory_by_operator(empty).rows == []
    with pytest.raises(LaptimeError, match="no memory of device npu:0"):
        memory_by_operator(trace, device="npu:0")


def test_counters_of_use(trace: Trace) -> None:
    (counter,) = counter_curves(trace).counters
    assert (counter["samples"], counter["max_value"], counter["mean_value"]) == (2, 7.5, 5.0)
    assert (counter["times_ns"], counter["values"]) == ([3 * US, 5 * US], [7.5, 2.5])
    assert counter_curves(trace).processor is None


def test_resident_memory_of_a_recording_is_among_them(workspace: Workspace) -> None:
    (trace,) = open_run(SAMPLES / "laptime", workspace=workspace).traces
    assert [(row["name"], row["unit"]) for row in counter_curves(trace).counters] == [("resident memory", "bytes")]
