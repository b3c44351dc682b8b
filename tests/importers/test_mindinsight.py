"""Processed MindSpore folders, made by hand: every column dialect, every file left out, clocks, damaged content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.operators import operator_table
from laptime.analyses.report import report
from laptime.analyses.step_trace import step_trace
from laptime.errors import LaptimeError
from laptime.importers.mindinsight_files import files_by_device
from laptime.importers.opening import open_run
from laptime.importers.sources import discover
from laptime.model.trace import Trace
from laptime.model.workspace import Workspace

START = 100_000_000_000
"""Cycle counter (10 ns) at which the first operator starts."""
INFO = {
    "input_0": {"format": "ND", "data_type": "NUMBER_TYPE_FLOAT32", "shape": "32,3"},
    "input_1": {"format": "ND", "data_type": "NUMBER_TYPE_INT32", "shape": ""},
    "output_0": {"format": "ND", "data_type": "NUMBER_TYPE_FLOAT16", "shape": "32"},
}
QUOTED = json.dumps(INFO).replace('"', '""')


def timeline(first: int = START) -> str:
    """Two steps of 1 ms, each with Mul at 0.1 ms for 0.3 ms and Add at 0.5 ms for 0.2 ms."""
    rows = ["op_name, stream_id, start_time(ms), duration(ms)"]
    for step in range(2):
        begin = first / 1e5 + step
        rows.append(f"Default/net/Mul-op1,7,{begin + 0.1:.5f},0.3")
        rows.append(f"Gradients/Default/net/Add-op2,7,{begin + 0.5:.5f},0.2")
    return "\n".join(rows) + "\n"


def step_table(region: str = "stream_9_parallel_0", *, average: str = "-") -> str:
    columns = "step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail"
    rows = [f"{columns},{region}_start_point,{region}_end_point,{region}"]
    for step in (1, 2):
        begin = START + (step - 1) * 100_000
        points = f"{begin + 10_000},{begin + 70_000},{10_000 if step > 1 else 0},60000,30000"
        rows.append(f"{step},{begin},{begin + 100_000},100000,{points},{begin + 60_000},{begin + 90_000},30000")
    rows.append(f"{average},{START},{START},100000,{START},{START},10000,60000,30000,{START},{START},30000")
    return "\n".join(rows) + "\n"


def ascend_folder() -> dict[str, str]:
    """All files of an Ascend device."""
    return {
        "framework_raw_3.csv": "task_id,stream_id,block_dim,full_op_name,op_name,op_type,subgraph,op_info\n"
        f'1,7,32,Default/net/Mul-op1,Mul-op1,Mul,Default,"{QUOTED}"\n'
        "2,7,1,Gradients/Default/net/Add-op2,Add-op2,Add,Gradients,{}\n",
        "output_timeline_data_3.txt": timeline(),
        "min_cycle_counter_3.txt": f"{START}.0",
        "step_trace_raw_3_detail_time.csv": step_table(),
        "step_trace_point_info.json": '{"fp_start": "Default/net/Mul-op1", "bp_end": "Gradients/Default/net/Add-op2"}',
        "aicore_intermediate_3_type.csv": "op_type,execution_time,execution_frequency,percent\n"
        "Mul,0.3,1,60\nAdd,0.2,1,40\n",
        "aicore_intermediate_3_detail.csv": "full_op_name,execution_time\nDefault/net/Mul-op1,0.3\n"
        "Gradients/Default/net/Add-op2,0.2\n",
        "output_op_compute_time_3.txt": "====\nop_name compute_time(ms) stream_id\n--- --- ---\n"
        "Default/net/Mul-op1 0.3 7\nGradients/Default/net/Add-op2 0.2 7\ntotal op 0.5 0\n",
        "aicpu_intermediate_3.csv": "serial_number,op_type,total_time,dispatch_time,run_start,run_end\n"
        f"1,GetNext,0.5,0.1,{START // 100},{START // 100 + 20}\n"
        f"2,TruncatedNormal,0.4,0.1,{START // 100 + 1800},{START // 100 + 1850}\n",
        "timeline_display_3.json": display_events(),
        "timeline_summary_3.json": '{"total_time": 1000.0, "num_of_streams": 1, "num_of_ops": 2, "op_exe_times": 4}',
        "flops_3.txt": "full_op_name, MFLOPs(10^6), GFLOPS(10^9), utilization\nDefault/net/Mul-op1, 3.5, 7, 1.5\n",
        "flops_summary_3.json": '{"FLOPs": 3.5, "FLOPS": 7.0, "FLOPS_Utilization": 1.5}',
        "hccl_raw_3.csv": "step_num,communication_cost,wait_cost,link_info,communication_operator_cost\n"
        '1,0.3,0.1,"{""0-1"": {""SDMA"": [0.1, 2, 20]}}","{""stream_9_0"": [""1"", 0.3, 0.1, {}]}"\n'
        '-,0.3,0.1,"{""0-1"": {""SDMA"": [0.1, 2, 20]}}",{}\n',
        "ascend_cluster_analyse_data-parallel_1_8_3.csv": "computation_time,communication_alone_time\n"
        "0.5,0.2\n0.5,0.2\n0.5,0.2\n",
        "memory_usage_summary_3.json": '{"capacity": 30.0, "peak_mem": 12.5}',
        "parallel_strategy_3.json": '{"config": {"rankId": 3, "stageId": 0, "parallelType": "data_parallel",'
        ' "stageDevices": [{"dim": [{"size": "3"}]}]}, "graph": {"node": []}}',
        "profiler_info_3.json": '{"rank_id": "3", "rank_size": 8, "parallel_mode": "data_parallel",'
        ' "ms_version": "2.2.0"}',
        "pipeline_profiling_3.json": '{"sampling_interval": 10, "op_info": [{"op_id": 0, "op_type": "Batch",'
        ' "num_workers": 1, "children": [], "metrics": {"output_queue": {"size": [1, 2], "length": 8}}}]}',
    }


def display_events() -> str:
    events: list[dict[str, object]] = []
    for step in range(2):
        begin = step * 1000.0
        for name, full, start, dur in (
            ("Mul-op1", "Default/net/Mul-op1", 100.0, 300.0),
            ("Add-op2", "Gradients/Default/net/Add-op2", 500.0, 200.0),
        ):
            args = {"type": name[:3], "fullname": full}
            event = {"name": name, "ph": "X", "tid": 7, "ts": begin + start, "dur": dur, "pid": 3, "args": args}
            events.append(event)
        events.append({"name": "stream_9_parallel_0", "ph": "X", "tid": 9, "ts": begin + 600, "dur": 300, "pid": 10000})
    events.append({"name": "process_name", "ph": "M", "pid": 3, "args": {"name": "AI Core Op"}})
    events.append({"name": "1", "ph": "X", "pid": 3, "tid": 100000, "ts": 0, "dur": 1000})
    return json.dumps(events)


def gpu_folder() -> dict[str, str]:
    """All files of a GPU."""
    display = [
        {"name": "Default/Mul-op1", "ph": "X", "tid": "Ops", "ts": 1600695893269618.2, "dur": 300.5, "pid": 0},
        {
            "name": "MulKernel",
            "ph": "X",
            "tid": "17",
            "ts": 1600695893269700.4,
            "dur": 5.792,
            "pid": 0,
            "args": {"type": "cuLaunchKernel", "op_full_name": "Default/Mul-op1"},
        },
        {"name": "MemcpyH2D", "ph": "X", "tid": 17, "ts": 1600695893269800, "dur": 2, "args": {"type": "cuMemcpyHtoD"}},
    ]
    points = [("Default/Mul-op1", 0, 10), ("Gradients/Add-op2", 50, 60), ("Default/End-op3", 80, 90)]
    begin = 1_600_695_893_269_618_000
    lines = [
        f"{name} " + " ".join(f"{begin + k * 100 + start},{begin + k * 100 + end}" for k in (0, 1))
        for name, start, end in [*points, ("Default/AllReduce-op4", 55, 75)]
    ]
    return {
        "gpu_timeline_display_0.json": json.dumps(display),
        "gpu_timeline_summary_0.json": '{"total_time": 7.792, "num_of_streams": 1, "num_of_ops": 1, "op_exe_times": 2}',
        "step_trace_profiling_0.txt": "\n".join(lines),
        "gpu_op_detail_info_0.csv": "op_side,op_type,op_name,op_full_name,op_occurrences,op_total_time(us),"
        "op_avg_time(us),proportion,cuda_activity_cost_time(us),cuda_activity_call_count\n"
        "Device,Mul,Mul-op1,Default/Mul-op1,2,11.5,5.75,1.0,11.5,2\n",
        "gpu_op_type_info_0.csv": "op_type,type_occurrences,total_time(us),total_proportion,avg_time(us)\n"
        "Mul,2,11.5,1.0,5.75\n",
        "gpu_activity_data_0.csv": "name,type,op_full_name,stream_id,block_dim,grid_dim,occurrences,"
        "total_duration(us),avg_duration(us),max_duration(us),min_duration(us)\n"
        'MulKernel,cuLaunchKernel,Default/Mul-op1,17,"1,1,1","8,1,1",2,11.5,5.75,6,5.5\n',
        "dynamic_shape_info_0.json": '{"operator": {"1": [{"op_side": "gpu", "op_type": "Sub", "op_name": "Sub-op9",'
        ' "dur": 7.5, "shape_info": ["[2, 3]"]}]}, "kernel": {}}',
    }


def written(folder: Path, files: dict[str, str]) -> Path:
    """A folder of these files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def trace_of(tmp_path: Path, workspace: Workspace, files: dict[str, str]) -> Trace:
    (trace,) = open_run(written(tmp_path / "profiler", files), workspace=workspace).traces
    return trace


def warning_codes(trace: Trace) -> list[str]:
    rows: Any = trace.meta["warnings"]
    return [row["code"] for row in rows]


def slices_of(trace: Trace) -> list[dict[str, Any]]:
    tracks = trace.tracks.arrow().to_pylist()
    rows = trace.slices.arrow().to_pylist()
    return [
        {**row, "stream": tracks[row["track_id"]]["stream"], "lane": tracks[row["track_id"]]["name"]} for row in rows
    ]


def totals_of(trace: Trace) -> dict[str, tuple[object, object, object]]:
    names = trace.ops.objects("name")
    rows = trace.table("op_totals").arrow().to_pylist()
    return {str(names[row["op_id"]]): (row["count"], row["total_ns"], row["mean_ns"]) for row in rows}


# ---- which files make a recording ----


def test_a_recording_for_each_device_id(tmp_path: Path) -> None:
    names = {
        "framework_raw_0.csv": "a",
        "framework_raw_10.csv": "a",
        "notes.txt": "a",
        "step_trace_point_info.json": "{}",
    }
    sources = discover(written(tmp_path / "profiler", names))
    assert [(source.format, source.device, [file.name for file in source.files]) for source in sources] == [
        ("mindinsight", 0, ["framework_raw_0.csv", "step_trace_point_info.json"]),
        ("mindinsight", 10, ["framework_raw_10.csv", "step_trace_point_info.json"]),
        (None, None, []),
    ]


def test_companions_alone_make_no_recording() -> None:
    assert files_by_device(["profiler_info_0.json", "step_trace_point_info.json", "trace_view.json"]) == {}


def test_empty_files_are_an_error(tmp_path: Path, workspace: Workspace) -> None:
    with pytest.raises(LaptimeError, match="empty"):
        open_run(written(tmp_path / "profiler", {"framework_raw_0.csv": ""}), workspace=workspace)


# ---- the whole folder ----


def test_ascend(tmp_path: Path, workspace: Workspace) -> None:
    trace = trace_of(tmp_path, workspace, ascend_folder())
    (rank,) = ranks_of(tmp_path, workspace)
    assert trace.rank == 3
    assert (trace.meta["world_size"], trace.meta["framework_version"]) == (8, "2.2.0")
    assert rank["device_total"]["compute_ns"] == 1_050_000  # TruncatedNormal on the AI CPU counts, GetNext waits
    budget = rank["steps"][1]["budget"]
    parts = ("total_ns", "compute_ns", "communication_exposed_ns", "idle_ns")
    assert [budget[part] for part in parts] == [1_000_000, 550_000, 150_000, 300_000]
    steps = step_trace(trace)
    assert steps.average == {
        "steps_used": 1,
        "first_step_included": False,
        "interval_ns": 100_000,
        "forward_backward_ns": 600_000,
        "tail_ns": 300_000,
        "total_ns": 1_000_000,
    }
    assert (steps.forward_start_op, steps.backward_end_op) == ("Default/net/Mul-op1", "Gradients/Default/net/Add-op2")
    assert totals_of(trace) == {"GetNext": (1, 500_000, 500_000)}
    assert not warning_codes(trace)


def ranks_of(tmp_path: Path, workspace: Workspace) -> Any:
    return report(open_run(tmp_path / "profiler", workspace=workspace))["ranks"]


def test_gpu(tmp_path: Path, workspace: Workspace) -> None:
    trace = trace_of(tmp_path, workspace, gpu_folder())
    kinds = {row["name"]: (row["kind"], row["stream"], row["dur_ns"]) for row in slices_of(trace)}
    assert kinds == {
        "Default/Mul-op1": ("op", None, 300_500),
        "MulKernel": ("kernel", 17, 5_792),
        "MemcpyH2D": ("copy", 17, 2_000),
        "AllReduce-op4": ("communication", 0, 20),
    }
    steps: Any = step_trace(trace)
    assert [step["total_ns"] for step in steps.steps] == [90, 100]
    assert steps.average["interval_ns"] == 10
    assert steps.average["tail_ns"] == 30
    assert totals_of(trace) == {"Mul-op1": (2, 11_500, 5_750), "Sub-op9": (1, 7_500, 7_500)}
    activities: Any = trace.meta["gpu_activities"]
    assert activities[0]["total_ns"] == 11_500


@pytest.mark.parametrize("left_out", sorted(ascend_folder()))
def test_each_ascend_file_is_optional(tmp_path: Path, workspace: Workspace, left_out: str) -> None:
    files = ascend_folder()
    del files[left_out]
    trace = trace_of(tmp_path, workspace, files)
    (rank,) = ranks_of(tmp_path, workspace)
    assert len(step_trace(trace).steps) == (0 if left_out.startswith("step_trace_raw") else 2)
    assert rank["device_total"]["ops"] == 4 + 2 + (left_out != "aicpu_intermediate_3.csv")
    assert not warning_codes(trace)
    assert {op["name"] for op in trace.ops.arrow().to_pylist()} >= {"Mul-op1", "Add-op2"}


@pytest.mark.parametrize("left_out", sorted(gpu_folder()))
def test_each_gpu_file_is_optional(tmp_path: Path, workspace: Workspace, left_out: str) -> None:
    files = gpu_folder()
    del files[left_out]
    trace = trace_of(tmp_path, workspace, files)
    assert len(step_trace(trace).steps) == (0 if left_out.startswith("step_trace") else 2)
    operator_table(trace)


@pytest.mark.parametrize("alone", sorted({**ascend_folder(), **gpu_folder()}))
def test_each_file_alone(tmp_path: Path, workspace: Workspace, alone: str) -> None:
    files = {alone: {**ascend_folder(), **gpu_folder()}[alone]}
    if alone.startswith(("profiler_info", "step_trace_point_info")):  # companions of a recording
        files["min_cycle_counter_3.txt"] = "1"
    trace = trace_of(tmp_path, workspace, files)
    report(open_run(tmp_path / "profiler", workspace=workspace))
    operator_table(trace)


# ---- clocks ----


def test_times_less_the_least_cycle_counter(tmp_path: Path, workspace: Workspace) -> None:
    files = {**ascend_folder(), "output_timeline_data_3.txt": timeline(first=0)}
    trace = trace_of(tmp_path, workspace, files)
    (first,) = [row for row in slices_of(trace) if row["name"] == "Mul-op1" and row["step"] == 1]
    assert first["start_ns"] == 100_000


def test_times_that_nothing_ties_to_the_steps_are_sums(tmp_path: Path, workspace: Workspace) -> None:
    files = {"output_timeline_data_3.txt": timeline(first=0), "step_trace_raw_3_detail_time.csv": step_table()}
    trace = trace_of(tmp_path, workspace, files)
    assert totals_of(trace) == {"Mul-op1": (2, 600_000, 300_000), "Add-op2": (2, 400_000, 200_000)}
    assert "clock_disorder" in warning_codes(trace)
    assert len(step_trace(trace).steps) == 2


@pytest.mark.parametrize("display", [display_events(), display_events()[:-1] + ",]"])
def test_display_instead_of_the_timeline(tmp_path: Path, workspace: Workspace, display: str) -> None:
    """Its communication ties it to the steps; a comma too many does not matter."""
    files = {"ascend_timeline_display_3.json": display, "step_trace_raw_3_detail_time.csv": step_table()}
    trace = trace_of(tmp_path, workspace, files)
    names = sorted((row["name"], row["start_ns"]) for row in slices_of(trace) if row["kind"] == "kernel")
    assert names == [("Add-op2", 500_000), ("Add-op2", 1_500_000), ("Mul-op1", 100_000), ("Mul-op1", 1_100_000)]
    assert trace.meta["events"] == {"read": 8, "kept": 6, "dropped": {"derived": 2}}
    assert "truncated" not in warning_codes(trace)


def test_display_alone_has_its_communication(tmp_path: Path, workspace: Workspace) -> None:
    trace = trace_of(tmp_path, workspace, {"timeline_display_3.json": display_events()[:-100]})
    assert sorted(row["kind"] for row in slices_of(trace)) == ["communication"] * 2 + ["kernel"] * 4
    assert "truncated" in warning_codes(trace)


def test_execution_without_a_start(tmp_path: Path, workspace: Workspace) -> None:
    text = "op_name, stream_id, start_time(ms), duration(ms)\nA,1,nan,0.1\nA,1,1e400,0.1\nA,1,3,0.1\nA,1,3\n"
    trace = trace_of(tmp_path, workspace, {"output_timeline_data_3.txt": text})
    assert [row["dur_ns"] for row in slices_of(trace)] == [100_000]
    rows: Any = trace.meta["warnings"]
    assert sum(row["count"] for row in rows if row["code"] == "other") == 3


# ---- ranks ----


def test_a_rank_beyond_the_number_of_ranks_is_a_device(tmp_path: Path, workspace: Workspace) -> None:
    name = "ascend_cluster_analyse_data-parallel_1_1_1.csv"
    trace = trace_of(tmp_path, workspace, {name: "iteration_interval, fp_and_bp, tail\n0, 2366808, 4097\n"})
    assert (trace.rank, trace.meta["world_size"]) == (None, 1)
    cluster: Any = trace.meta["cluster"]
    assert cluster["stored_average"]["fp_and_bp_ns"] == 23_668_080
