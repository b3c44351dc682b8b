"""The facts of the MindSpore corpus: executions, sums, types, steps, memory and queues."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.operators import operator_table
from laptime.analyses.report import report
from laptime.analyses.step_trace import step_trace
from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace

pytestmark = pytest.mark.corpus

# case, window, instances, executions, sum ms, longest ms, span ms, steps, largest types (ms)
_CASES: list[tuple[str, int, int, int, float, float, float, int, dict[str, float]]] = [
    ("ms200-graph-baseline", 0, 27, 1620, 2137.7335, 112.924, 3268.73, 60,
     {"Conv2DBackpropFilter": 679.976, "Conv2D": 331.165, "MaxPoolGrad": 307.415}),
    ("ms200-graph-slow-map", 0, 27, 1620, 2516.8472, 127.216, 4595.05, 60,
     {"Conv2DBackpropFilter": 737.142, "MaxPoolGrad": 353.503, "Conv2D": 322.442}),
    ("ms200-graph-sink", 0, 27, 1620, 9564.1414, 681.11, 10970.91, 60,
     {"Conv2DBackpropFilter": 3352.052, "Conv2D": 1427.737, "MaxPoolGrad": 1304.757}),
    ("ms210-graph-schedule", 0, 29, 87, 743.4136, 197.518, 755.41, 3, {"Conv2D": 443.237}),
    ("ms210-graph-schedule", 1, 29, 87, 455.5253, 56.6034, 469.55, 3, {"Conv2D": 261.188}),
    ("ms210-graph-model", 0, 29, 348, 2390.0263, 118.038, 2432.61, 12,
     {"Conv2D": 1443.153, "Conv2DBackpropInput": 639.665, "MatMul": 123.034}),
    ("ms210-pynative-model", 0, 27, 384, 7577.8829, 734.367, 8028.26, 12,
     {"Conv2D": 3000.43, "Conv2DBackpropFilter": 1736.226, "Conv2DBackpropInput": 1703.725}),
    ("ms210-graph-minddata-slow-map", 0, 29, 870, 10157.398, 201.498, 10326.84, 30,
     {"Conv2D": 5756.357, "Conv2DBackpropInput": 2790.742, "MatMul": 345.219}),
]  # fmt: skip


@pytest.mark.parametrize("case", _CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_executions_and_steps(corpus: Path, workspace: Workspace, case: tuple[Any, ...]) -> None:
    name, window, instances, executions, total, longest, span, steps, largest = case
    run = open_run(corpus / "mindspore" / name, workspace=workspace)
    result: dict[str, Any] = report(run)
    rank, trace = result["ranks"][window], run.traces[window]
    assert (rank["rank"], rank["format"], rank["framework"]) == (0, "mindspore_cpu", "mindspore")
    device = rank["devices"][0]
    assert (device["device"], device["ops"]) == (0, executions)
    assert round(device["busy_ns"] / 1e6, 4) == total
    assert round(device["span_ns"] / 1e6, 2) == span
    kernels = operator_table(trace, by="full-name").rows
    assert len(kernels) == instances
    assert round(max(int(str(row["max_ns"])) for row in kernels) / 1e6, 4) == longest
    types = operator_table(trace, by="op-type").rows
    assert {str(row["name"]): round(int(str(row["total_ns"])) / 1e6, 3) for row in types[: len(largest)]} == largest
    assert [step["source"] for step in rank["steps"]] == ["inferred"] * steps
    assert all(step["complete"] and step["budget"]["basis"] == "device" for step in rank["steps"])
    assert sum(step["budget"]["compute_ns"] for step in rank["steps"]) == device["busy_ns"]
    assert not [row for row in result["warnings"] if row["code"] != "unlinked_device_ops"]


@pytest.mark.parametrize("name", sorted({case[0] for case in _CASES}))
def test_parts_of_steps_are_known(corpus: Path, workspace: Workspace, name: str) -> None:
    for trace in open_run(corpus / "mindspore" / name, workspace=workspace).traces:
        result = step_trace(trace)
        assert all(step["tail_ns"] is not None for step in result.steps)
        assert result.forward_start_op is not None and "Conv2D-op" in result.forward_start_op


def test_memory_of_each_window_is_told_once(corpus: Path, workspace: Workspace) -> None:
    run = open_run(corpus / "mindspore" / "ms210-graph-schedule", workspace=workspace)
    query = (
        "select t.name, count(*), max(value) from counters c join tracks t using(track_id) group by all order by all"
    )
    for trace, repeated in zip(run.traces, (0, 234), strict=True):
        events: Any = trace.meta["events"]
        assert events["dropped"].get("repeated", 0) == repeated
    rows = run.sql(query.replace("select", "select rank_index,").replace("using(", "using(rank_index, ")).to_pylist()
    found = {tuple(row.values())[:2]: tuple(row.values())[2:] for row in rows}
    for window in (0, 1):
        assert found[window, "allocated bytes of cpu"] == (234, 2819072)
        assert found[window, "reserved bytes of cpu"] == (234, 1073741824)


# case, samples, usage and empty share of Batch, Shuffle, Map, Generator
_QUEUES = [
    ("ms200-graph-baseline", 64, (0.2891, 0.2656), (0.0010, 0.9844), (0.0, 1.0), (0.0107, 0.9688)),
    ("ms200-graph-slow-map", 106, (0.0920, 0.6038), (0.0035, 0.9434), (0.0, 1.0), (0.8491, 0.1321)),
    ("ms200-graph-sink", 81, (0.7886, 0.0617), (0.3827, 0.3827), (0.3241, 0.6420), (0.2469, 0.7407)),
    ("ms210-graph-minddata-slow-map", 130, (0.5404, 0.1231), (0.0284, 0.5462), (0.0048, 0.9692), (0.4990, 0.4923)),
]


@pytest.mark.parametrize("case", _QUEUES, ids=lambda case: case[0])
def test_queues(corpus: Path, workspace: Workspace, case: tuple[Any, ...]) -> None:
    name, samples, *shares = case
    run = open_run(corpus / "mindspore" / name, workspace=workspace)
    assert len(run.traces) == 1 and not run.notes
    rows = run.traces[0].table("pipeline_ops").arrow().to_pylist()
    operators = {row["op_type"]: row for row in rows}
    for op_type, (usage, empty) in zip(("Batch", "Shuffle", "Map", "Generator"), shares, strict=True):
        row = operators[op_type]
        assert row["queue_samples"] == samples
        assert (round(row["queue_usage_share"], 4), round(row["queue_empty_share"], 4)) == (usage, empty)


def test_shapes_of_operators(corpus: Path, workspace: Workspace) -> None:
    trace = open_run(corpus / "mindspore" / "ms210-graph-model", workspace=workspace).traces[0]
    rows = trace.ops.arrow().to_pylist()
    assert all(row["input_shapes"] for row in rows)
    convolutions = sorted(row["input_shapes"] for row in rows if row["op_type"] == "Conv2D")
    assert convolutions == ["[[32, 1, 28, 28], [8, 1, 3, 3]]", "[[32, 8, 13, 13], [16, 8, 3, 3]]"]
    assert {row["subgraph"] for row in rows} == {"Default", "Gradients"}


@pytest.mark.parametrize(
    ("case", "waited_ms"),
    [
        ("ms200-graph-baseline", 912),
        ("ms200-graph-slow-map", 1851),
        ("ms200-graph-sink", 47),
        ("ms210-graph-minddata-slow-map", 0),
    ],
)
def test_idle_time_that_waits_for_data(corpus: Path, workspace: Workspace, case: str, waited_ms: int) -> None:
    """The iterator's waits but the first (59 of 15.458, 31.373 and 0.797 ms) lie between the operators; 2.10
    stamps them by another clock. Times are whole ms, so that a wait may reach half of one into an operator."""
    result: dict[str, Any] = report(open_run(corpus / "mindspore" / case, workspace=workspace))
    (rank,) = (entry for entry in result["ranks"] if entry["steps"])
    waited = sum(step["budget"]["idle_data_wait_ns"] for step in rank["steps"])
    assert waited <= waited_ms * 1e6
    assert waited == pytest.approx(waited_ms * 1e6, rel=0.01)
