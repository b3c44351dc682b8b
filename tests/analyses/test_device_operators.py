"""MindInsight's operator tables where a source holds only sums, and inputs and outputs as sources tell them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from laptime.analyses.average_step import Region, average_regions
from laptime.analyses.device_operators import ai_core_operators, ai_core_types, ai_cpu_executions
from laptime.analyses.tensors import tensors_of
from laptime.importers.opening import open_run
from laptime.model.trace import Trace
from laptime.model.workspace import Workspace

DETAIL = "full_op_name,execution_time\nDefault/net/Mul-op1,2.0\nDefault/net/Mul-op2,1.0\nGradients/Add-op3,0.5\n"
COUNTED = "full_kernel_name,execution_time,execution_frequency\nDefault/Mul-op1,2.0,4\nDefault/Mul-op2,1.0,2\n"
TYPES = "op_type,execution_time,execution_frequency,percent\nMul,3.0,2,75.00\nAdd,1.0,1,25.00\n"
AICPU = "serial_number,node_type_name,total_time,dispatch_time,run_start,run_end\n1,GetNext,0.5,0.1,100,300\n"


def _folder(tmp_path: Path, workspace: Workspace, **files: str) -> Trace:
    folder = tmp_path / "profiler"
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    return open_run(folder, workspace=workspace).traces[0]


def test_means_without_executions(tmp_path: Path, workspace: Workspace) -> None:
    trace = _folder(tmp_path, workspace, aicore_intermediate_0_detail=DETAIL)
    rows = {row["op_name"]: row for row in ai_core_operators(trace)}
    assert {name: row["avg_execution_time"] for name, row in rows.items()} == {
        "Mul-op1": 2.0,
        "Mul-op2": 1.0,
        "Add-op3": 0.5,
    }
    assert rows["Add-op3"]["subgraph"] == "Gradients"
    assert rows["Add-op3"]["op_info"] is None
    types = {row["op_type"]: row for row in ai_core_types(trace)}
    assert types["Mul"] == {"op_type": "Mul", "execution_time": 3.0, "execution_frequency": None, "percent": 85.71}


def test_types_sum_means_not_executions(tmp_path: Path, workspace: Workspace) -> None:
    trace = _folder(tmp_path, workspace, aicore_intermediate_0_detail=COUNTED)
    assert ai_core_types(trace) == [
        {"op_type": "Mul", "execution_time": 3.0, "execution_frequency": 6, "percent": 100.0}
    ]


def test_types_alone_are_taken_as_they_are_told(tmp_path: Path, workspace: Workspace) -> None:
    trace = _folder(tmp_path, workspace, aicore_intermediate_0_type=TYPES)
    assert ai_core_operators(trace) == []
    assert [list(row.values()) for row in ai_core_types(trace)] == [["Mul", 3.0, None, 75.0], ["Add", 1.0, None, 25.0]]


def test_ai_cpu_of_a_processed_folder(tmp_path: Path, workspace: Workspace) -> None:
    trace = _folder(tmp_path, workspace, aicpu_intermediate_0=AICPU, aicore_intermediate_0_detail=DETAIL)
    assert [list(row.values()) for row in ai_cpu_executions(trace)] == [[1, "GetNext", 0.5, 0.1, 100, 300]]
    assert "GetNext" not in {row["op_name"] for row in ai_core_operators(trace)}


@pytest.mark.parametrize(
    ("op", "tensors"),
    [
        ({"info": None}, {}),
        ({"info": "no JSON"}, {}),
        (
            {"info": '{"output_0": {"shape": [2, 3]}, "input_10": {}, "input_2": {"data_type": "NUMBER_TYPE_INT8"}}'},
            {"input_2": (None, "INT8", None), "input_10": (None, None, None), "output_0": (None, None, "2,3")},
        ),
        (
            {
                "info": '{"input_formats": "ND;NCHW", "output_dtypes": "FLOAT"}',
                "input_shapes": '["8,16", ""]',
                "input_dtypes": '["FLOAT16", "INT32"]',
                "output_shapes": "[[8]]",
            },
            {
                "input_0": ("ND", "FLOAT16", "8,16"),
                "input_1": ("NCHW", "INT32", ""),
                "output_0": (None, "FLOAT", "8"),
            },
        ),
    ],
)
def test_inputs_and_outputs(op: dict[str, object], tensors: dict[str, tuple[str | None, ...]]) -> None:
    found = tensors_of(op)
    assert {name: tuple(tensor.values()) for name, tensor in found.items()} == tensors
    assert list(found) == list(tensors)
    json.dumps(found)


def _step(begins: int, *, first: bool, regions: list[tuple[str, int, int]]) -> dict[str, object]:
    return {
        "start_ns": begins + 5,
        "gap_before_ns": 5,
        "complete": True,
        "first_of_window": first,
        "tail_ns": 1,
        "communication": [
            {"stream": stream, "name": "AllReduce", "start_ns": begins + at, "dur_ns": dur}
            for stream, at, dur in regions
        ],
    }


def test_average_regions_are_those_of_the_averaged_steps() -> None:
    """The first step does not count; the second collective of stream b is in one step only."""
    steps = [
        _step(0, first=True, regions=[("a", 500, 900)]),
        _step(1000, first=False, regions=[("a", 10, 100), ("b", 20, 10)]),
        _step(2000, first=False, regions=[("b", 40, 30), ("a", 30, 200), ("b", 90, 7)]),
    ]
    assert average_regions(steps) == [
        Region("a", "AllReduce", 20, 150),
        Region("b", "AllReduce", 30, 20),
        Region("b", "AllReduce", 90, 7),
    ]
    assert average_regions(steps[:1]) == [Region("a", "AllReduce", 500, 900)]
