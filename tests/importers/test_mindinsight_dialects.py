"""Column dialects of processed MindSpore folders, from MindSpore 0.5 to 2.3."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.operators import operator_table
from laptime.analyses.step_trace import step_trace
from laptime.model.workspace import Workspace
from tests.importers.test_mindinsight import (
    QUOTED,
    ascend_folder,
    ranks_of,
    slices_of,
    step_table,
    timeline,
    totals_of,
    trace_of,
    warning_codes,
)

# ---- operators ----

_TEN = "task_id,stream_id,block_dim,full_kernel_name,op_name,kernel_name,kernel_type,subgraph,op_info,graph_id\n"
_NINE = "task_id,stream_id,block_dim,full_kernel_name,op_name,kernel_name,kernel_type,subgraph,op_info\n"
_EIGHT = "task_id,stream_id,block_dim,full_op_name,op_name,op_type,subgraph,op_info\n"


@pytest.mark.parametrize(
    "text",
    [
        f'{_EIGHT}1,7,32,Default/net/Mul-op1,Mul-op1,Mul,Default,"{QUOTED}"\n',
        f'{_NINE}1,7,32,Default/net/Mul-op1,Default/net/Mul-op1,Mul-op1,Mul,Default,"{QUOTED}"\n',
        f'{_TEN}1,7,32,Default/net/Mul-op1,Default/net/Mul-op1,Mul-op1,Mul,Default,"{QUOTED}",11\n',
        f"{_TEN}1,7,32,Default/net/Mul-op1,Default/net/Mul-op1,Mul-op1,Mul,Default,"
        f'"{QUOTED.replace(chr(34) * 2 + "32,3" + chr(34) * 2, "[32, 3]")}",11\n',
    ],
    ids=["8 columns", "9 columns", "10 columns", "shapes as lists"],
)
def test_framework_dialects(tmp_path: Path, workspace: Workspace, text: str) -> None:
    files = {"framework_raw_3.csv": text, "output_timeline_data_3.txt": timeline()}
    trace = trace_of(tmp_path, workspace, files)
    (mul,) = [op for op in trace.ops.arrow().to_pylist() if op["name"] == "Mul-op1"]
    assert (mul["op_type"], mul["full_name"], mul["subgraph"]) == ("Mul", "Default/net/Mul-op1", "Default")
    assert (mul["input_shapes"], mul["input_dtypes"]) == ("[[32, 3], []]", '["FLOAT32", "INT32"]')
    assert mul["output_shapes"] == "[[32]]"
    assert json.loads(mul["info"])["block_dim"] == 32
    (add,) = [op for op in trace.ops.arrow().to_pylist() if op["name"] == "Add-op2"]
    assert (add["op_type"], add["subgraph"], add["input_shapes"]) == ("Add", "Gradients", None)  # from its name alone


@pytest.mark.parametrize(
    ("header", "row", "expected"),
    [
        ("full_op_name,execution_time", "0.00012", (None, None, 120)),
        ("full_op_time,execution_time", "0.00012", (None, None, 120)),
        ("full_op_name,execution_time(ms)", "0.00012", (None, None, 120)),
        ("full_op_name,execution_time,execution_frequency", "0.00012,3", (3, 360, 120)),
        ("full_kernel_name,execution_time,execution_frequency", "0.00012,3", (3, 360, 120)),
        ("full_kernel_time,execution_time,execution_frequency", "0.00012,3", (3, 360, 120)),
        ("full_kernel_name,task_duration,execution_frequency,task_type", "0.00012,3,AI_CORE", (3, 360, 120)),
    ],
)
def test_detail_dialects(
    tmp_path: Path, workspace: Workspace, header: str, row: str, expected: tuple[object, ...]
) -> None:
    text = f"{header}\nDefault/net/Mul-op1,{row}\n"
    trace = trace_of(tmp_path, workspace, {"aicore_intermediate_3_detail.csv": text})
    assert totals_of(trace) == {"Mul-op1": expected}
    (op,) = trace.ops.arrow().to_pylist()
    assert op["device_kind"] == "ai_core"


@pytest.mark.parametrize(
    ("header", "sums", "totals"),
    [
        ("op_type,execution_time,execution_frequency,percent", {"sum_of_means_ns": 300, "operators": 2}, {}),
        ("kernel_type,total_time,execution_frequency,percent", {"total_ns": 300, "count": 2}, {"Mul": (2, 300, 150)}),
        ("kernel_type,task_time,execution_frequency,percent", {"total_ns": 300, "count": 2}, {"Mul": (2, 300, 150)}),
    ],
)
def test_type_dialects(
    tmp_path: Path, workspace: Workspace, header: str, sums: dict[str, int], totals: dict[str, object]
) -> None:
    trace = trace_of(tmp_path, workspace, {"aicore_intermediate_3_type.csv": f"{header}\nMul,0.0003,2,100.0\n"})
    assert trace.meta["op_types"] == [{"op_type": "Mul", **sums}]
    assert totals_of(trace) == totals


def test_compute_times_where_nothing_else_tells_them(tmp_path: Path, workspace: Workspace) -> None:
    name = "output_op_compute_time_3.txt"
    trace = trace_of(tmp_path, workspace, {name: ascend_folder()[name]})
    assert totals_of(trace) == {"Mul-op1": (None, None, 300_000), "Add-op2": (None, None, 200_000)}


def test_stored_means_that_contradict_executions(tmp_path: Path, workspace: Workspace) -> None:
    files = ascend_folder()
    files["aicore_intermediate_3_detail.csv"] = "full_op_name,execution_time\nDefault/net/Mul-op1,0.31\n"
    files["timeline_summary_3.json"] = '{"total_time": 1000.0, "op_exe_times": 5}'
    trace = trace_of(tmp_path, workspace, files)
    assert warning_codes(trace) == ["mismatch", "mismatch"]
    mul = next(row for row in operator_table(trace, by="name").rows if row["name"] == "Mul-op1")
    assert mul["mean_ns"] == 300_000


# ---- AI CPU ----


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "aicpu_intermediate_3.csv",
            "serial_number,op_type,total_time,dispatch_time,run_start,run_end\n1,X,1.5,0.1,9,20\n",
        ),
        (
            "aicpu_intermediate_3.csv",
            "serial_number,kernel_type,total_time,dispatch_time,execution_time,run_start,run_end\n1,X,1.5,0.1,0.2,9,20\n",
        ),
        (
            "output_data_preprocess_aicpu_3.txt",
            "serial_number node_type_name total_time(ms) dispatch_time(ms) run_start run_end\n"
            "------------- ---- --- --- --- ---\n1 X 1.5 0.1 9 20\nAI CPU Total Time(ms): 1.5\n",
        ),
    ],
)
def test_aicpu_dialects(tmp_path: Path, workspace: Workspace, name: str, text: str) -> None:
    trace = trace_of(tmp_path, workspace, {name: text})
    (row,) = slices_of(trace)
    assert (row["name"], row["kind"], row["dur_ns"], row["lane"]) == ("X", "kernel", 11_000, "AI CPU")
    assert row["category"] == "aicpu"
    args = trace.table("args").arrow().to_pylist()
    assert json.loads(args[0]["args"]) == {
        "run_start_us": 9,
        "run_end_us": 20,
        "dispatch_us": 100,
        "total_us": 1500,
    }


# ---- steps ----


def test_named_communication_columns(tmp_path: Path, workspace: Workspace) -> None:
    files = {"step_trace_raw_3_detail_time.csv": step_table("stream_9_0_AllReduce-op4")}
    trace = trace_of(tmp_path, workspace, files)
    steps: Any = step_trace(trace).steps
    region = {"name": "AllReduce-op4", "stream": "stream 9", "start_ns": 600_000, "dur_ns": 300_000, "slice_id": 0}
    assert steps[0]["communication"] == [region]
    assert [op["op_type"] for op in trace.ops.arrow().to_pylist()] == ["AllReduce"]
    (rank,) = ranks_of(tmp_path, workspace)
    assert [step["budget"] for step in rank["steps"]] == [None, None]  # what computed then was not recorded


def test_regions_absent_from_a_step_are_no_zeros(tmp_path: Path, workspace: Workspace) -> None:
    lines = step_table().splitlines()
    lines[2] = ",".join([*lines[2].split(",")[:-3], "0", "0", "0"])
    trace = trace_of(tmp_path, workspace, {"step_trace_raw_3_detail_time.csv": "\n".join(lines)})
    steps: Any = step_trace(trace).steps
    assert [len(step["communication"]) for step in steps] == [1, 0]
    assert "other" in warning_codes(trace)


def test_inference_has_no_backward_end(tmp_path: Path, workspace: Workspace) -> None:
    header = "step_num,start_point,end_point,total,fp_point,iteration_interval,fp\n"
    rows = "1,100,200,100,110,0,90\n2,200,300,100,210,10,90\n"
    trace = trace_of(tmp_path, workspace, {"step_trace_raw_3_detail_time.csv": header + rows})
    steps: Any = step_trace(trace)
    assert [step["total_ns"] for step in steps.steps] == [1000, 1000]
    assert steps.average["interval_ns"] is None
    assert "no backward pass is known" in [skipped["reason"] for skipped in steps.skipped]


@pytest.mark.parametrize("text", ["-", "0"])
def test_average_rows_are_no_steps(tmp_path: Path, workspace: Workspace, text: str) -> None:
    header = "step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail\n"
    rows = f"1,100,200,100,100,180,0,80,20\n2,200,300,100,210,280,10,70,20\n{text},0,0,107,0,0,17,70,20\n"
    trace = trace_of(tmp_path, workspace, {"step_trace_raw_3_detail_time.csv": header + rows})
    steps: Any = step_trace(trace)
    assert [step["step"] for step in steps.steps] == [1, 2]
    assert steps.average["total_ns"] == 1000  # recomputed; the stored 1070 is named
    assert trace.meta["stored_average"] == {
        "total_ns": 1070,
        "interval_ns": 170,
        "forward_backward_ns": 700,
        "tail_ns": 200,
    }
    assert "mismatch" in warning_codes(trace)


@pytest.mark.parametrize(
    "text",
    [
        '{"fp_start": "A", "bp_end": "B"}',
        '[{"fp_start": "A", "bp_end": "B"}, {"fp_start": "A", "bp_end": "B"}]',
        '{"1": {"fp_start": "A", "bp_end": "B"}}',
    ],
)
def test_point_files(tmp_path: Path, workspace: Workspace, text: str) -> None:
    files = {"step_trace_point_info_3.json": text, "step_trace_raw_3_detail_time.csv": step_table()}
    steps = step_trace(trace_of(tmp_path, workspace, files))
    assert (steps.forward_start_op, steps.backward_end_op) == ("A", "B")


def test_steps_of_asynchronous_launch(tmp_path: Path, workspace: Workspace) -> None:
    text = "S,100 A,120 B,180 E,200 Default/AllReduce-op4,150,190\nS,200 A,230 B,280 E,300\nS,x A,1 B,2 E,3\n"
    trace = trace_of(tmp_path, workspace, {"step_trace_profiling_0.txt": text})
    steps: Any = step_trace(trace)
    assert [step["total_ns"] for step in steps.steps] == [100, 100]
    assert steps.average["interval_ns"] == 30
    assert [len(step["communication"]) for step in steps.steps] == [1, 0]
    assert "partial_step" in warning_codes(trace)


def test_points_that_occur_unequally_often(tmp_path: Path, workspace: Workspace) -> None:
    text = "A 1,2 5,6\nB 2,3\nE 3,4 7,8\n"
    trace = trace_of(tmp_path, workspace, {"step_trace_profiling_0.txt": text})
    assert not step_trace(trace).steps
    rows: Any = trace.meta["warnings"]
    assert "PROFILING_FP_START" in rows[0]["message"]


# ---- the printed hwts log ----

HWTS = """====================45 HWTS data====================
Type           cnt  Core_ID  Block_ID  Task_ID  Cycle_counter   Stream_ID
Start of task  0    0        0         7_4      1000            7
Start of block 1    0        0         7_4      1001            7
End of task    2    0        0         7_4      1030            7
Start of task  3    0        0         30001    1030            8
Start of task  4    0        0         7_4      1040            7
not a row
End of task    5    0        0         7_4      1060            7
End of task    6    0        0         30001    1090            8
Start of task  7    0        0         9_4      1100            9
End of task    8    0        0         9_4      1150            9
Start of task  9    0        0         9_5      1200            9
"""
FRAMEWORK = (
    "task_id,stream_id,block_dim,full_op_name,op_name,op_type,subgraph,op_info\n"
    "4,7,1,Default/Mul-op1,Mul-op1,Mul,Default,{}\n30001,3,1,Default/Add-op2,Add-op2,Add,Default,{}\n"
)


def test_the_printed_hwts_log(tmp_path: Path, workspace: Workspace) -> None:
    """Tasks are those of their stream, or of the job from 25000 on; what is no operator is no kernel."""
    files = {"output_format_data_hwts_3.txt": HWTS, "framework_raw_3.csv": FRAMEWORK}
    trace = trace_of(tmp_path, workspace, files)
    assert [(row["name"], row["kind"], row["stream"], row["start_ns"], row["dur_ns"]) for row in slices_of(trace)] == [
        ("Mul-op1", "kernel", 7, 0, 300),
        ("Mul-op1", "kernel", 7, 400, 200),
        ("Add-op2", "kernel", 8, 300, 600),
        ("task 4", "device_other", 9, 1000, 500),
    ]
    assert warning_codes(trace) == ["other", "unbalanced"]
    events: Any = trace.meta["events"]
    assert events["dropped"] == {"unclosed": 1} and events["kept"] == events["read"] - 1 == 4


def test_the_timeline_counts_before_the_printed_hwts_log(tmp_path: Path, workspace: Workspace) -> None:
    timeline = "op_name, stream_id, start_time(ms), duration(ms)\nDefault/Mul-op1,7,0.01,0.0003\n"
    files = {"output_format_data_hwts_3.txt": HWTS, "framework_raw_3.csv": FRAMEWORK}
    trace = trace_of(tmp_path, workspace, {**files, "output_timeline_data_3.txt": timeline})
    assert [(row["name"], row["dur_ns"]) for row in slices_of(trace)] == [("Mul-op1", 300)]
