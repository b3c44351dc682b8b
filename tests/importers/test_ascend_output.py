"""Folders of Ascend's profilers: what becomes of each file, and of the dialects of their columns."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.operators import operator_table
from laptime.analyses.report import report
from laptime.analyses.selection import Selection
from laptime.errors import LaptimeError
from laptime.importers.opening import open_run
from laptime.model.trace import Trace
from laptime.model.workspace import Workspace
from tests.importers.ascend_folders import (
    CANN,
    HARDWARE,
    complete,
    flow,
    recording_tables,
    table,
    timeline,
    us,
    write_database,
    write_output,
)

LEVEL0 = ("Step Id", "Name", "Type", "Accelerator Core", "Start Time(us)", "Duration(us)", "Wait Time(us)", "Block Dim")
_OLD = (
    "Step Id",
    "Model ID",
    "Task ID",
    "Stream ID",
    "Name",
    "Type",
    "Accelerator Core",
    "Start Time(us)",
    "Duration(us)",
)
_SHAPES = ("Input Shapes", "Input Data Types", "Input Formats", "Output Shapes", "Output Data Types", "Output Formats")
OLD = (
    *_OLD,
    "Wait Time(us)",
    "Block Dim",
    "Mix Block Dim",
    "HF32 Eligible",
    *_SHAPES,
    "Context ID",
    *(f"aic{n}" for n in range(12)),
)
LEVEL1 = (*OLD[:6], "OP State", *OLD[6:], *(f"aiv{n}" for n in range(13)))
LEVEL2 = ("Step ID", "Device_id", *LEVEL1[1:])
NEW = tuple({"Block Dim": "Block Num", "Mix Block Dim": "Mix Block Num"}.get(name, name) for name in LEVEL2)


def _row(columns: tuple[str, ...], **values: object) -> list[object]:
    known = {"Step Id": 7, "Step ID": 7, "Device_id": 4, "Stream ID": 5, "Block Dim": 32, "Block Num": 32, **values}
    return [known.get(name, "N/A") for name in columns]


def _kernels(columns: tuple[str, ...], kind: str = "MatMul", core: str = "AI_CORE", hccl: str = "HCCL") -> str:
    first = {"Name": "MatMul1", "Type": kind, "Accelerator Core": core, "Start Time(us)": us(100) + "\t"}
    second = {"Name": "Add2", "Type": kind, "Accelerator Core": core, "Start Time(us)": us(200) + "\t"}
    third = {"Name": "hcom_allReduce__1_0_1", "Type": "N/A", "Accelerator Core": hccl, "Stream ID": "N/A"}
    shapes = {"Input Shapes": '"""1,2;2,3"""', "Input Data Types": "FLOAT;FLOAT"}
    rows = [
        _row(columns, **first, **{"Duration(us)": "50.0"}, **shapes),
        _row(columns, **second, **{"Duration(us)": 40.5}),
        _row(columns, **third, **{"Start Time(us)": us(210) + "\t", "Duration(us)": "60.25"}),
    ]
    return table(columns, rows)


def _open(folder: Path, workspace: Workspace) -> Trace:
    return open_run(folder, workspace=workspace).traces[0]


def _report(folder: Path, workspace: Workspace) -> Any:
    return report(open_run(folder, workspace=workspace))


def _device_slices(trace: Trace) -> list[dict[str, Any]]:
    tracks = trace.tracks.arrow().to_pylist()
    rows = trace.table("slices").arrow(["track_id", "name", "kind", "start_ns", "dur_ns", "op_id"]).to_pylist()
    ops = trace.ops.arrow().to_pylist()
    found = [{**row, "track": tracks[row["track_id"]]} for row in rows if tracks[row["track_id"]]["kind"] == "stream"]
    for row in found:
        row["op"] = None if row["op_id"] is None else ops[row["op_id"]]
    return sorted(found, key=lambda row: row["start_ns"])


@pytest.mark.parametrize(("columns", "count"), [(LEVEL0, 8), (OLD, 32), (LEVEL1, 46), (LEVEL2, 47), (NEW, 47)])
def test_columns_are_found_by_name(tmp_path: Path, workspace: Workspace, columns: tuple[str, ...], count: int) -> None:
    assert len(columns) == count
    folder = write_output(tmp_path / "x_ascend_pt", {"kernel_details.csv": _kernels(columns)})
    trace = _open(folder, workspace)
    rows = _device_slices(trace)
    assert [(row["name"], row["kind"], row["dur_ns"]) for row in rows] == [
        ("MatMul1", "kernel", 50_000),
        ("Add2", "kernel", 40_500),
        ("hcom_allReduce__1_0_1", "communication", 60_250),
    ]
    assert [row["start_ns"] - rows[0]["start_ns"] for row in rows] == [0, 100_000, 110_000]
    assert rows[0]["track"]["stream"] == (5 if "Stream ID" in columns else None)
    assert rows[0]["track"]["device"] == (4 if "Device_id" in columns else None)
    assert [step["step"] for step in trace.steps.arrow().to_pylist()] == [7]
    assert (trace.rank, trace.meta["framework"]) == (3, "pytorch")
    if "Input Shapes" in columns:
        assert rows[0]["op"]["input_shapes"] == '["1,2","2,3"]'
        assert json.loads(rows[0]["op"]["info"]) == {"accelerator_core": "AI_CORE", "block_dim": "32"}


def test_one_type_on_two_processors_is_two_rows(tmp_path: Path, workspace: Workspace) -> None:
    """Cast on the vector core and on the AI CPU; cube, vector and mixed cores are all the AI Core."""
    cores = [("Cast", "AI_VECTOR_CORE"), ("Cast", "AI_CPU"), ("Cast", "MIX_AIV"), ("hcom_allReduce_", "HCCL")]
    rows = [
        _row(
            OLD,
            **{"Name": f"{kind}{place}", "Type": kind, "Accelerator Core": core},
            **{"Start Time(us)": us(100 * place), "Duration(us)": 10 + place},
        )
        for place, (kind, core) in enumerate(cores)
    ]
    trace = _open(write_output(tmp_path / "x_ascend_pt", {"kernel_details.csv": table(OLD, rows)}), workspace)
    found = {(row["name"], row["device_kind"]): row["total_ns"] for row in operator_table(trace).rows}
    assert found == {
        ("Cast", "ai_core"): 22_000,
        ("Cast", "ai_cpu"): 11_000,
        ("hcom_allReduce_", "communication"): 13_000,
    }
    on_ai_cpu = Selection(sort="self_ns", one_of={"device_kind": ["ai_cpu"]})
    assert [row["name"] for row in operator_table(trace, by="kernel", selection=on_ai_cpu).rows] == ["Cast1"]


def test_level_0_knows_no_types(tmp_path: Path, workspace: Workspace) -> None:
    files = {"kernel_details.csv": _kernels(LEVEL0, kind="N/A", core="N/A", hccl="N/A")}
    rows = _device_slices(_open(write_output(tmp_path / "x_ascend_pt", files), workspace))
    assert [row["kind"] for row in rows] == ["kernel", "kernel", "communication"]
    assert [row["op"]["op_type"] for row in rows] == [None, None, "hcom_allReduce_"]


def test_what_is_missing_is_told(tmp_path: Path, workspace: Workspace) -> None:
    files = {"kernel_details.csv": _kernels(LEVEL0, kind="N/A", core="N/A", hccl="N/A")}
    result = _report(write_output(tmp_path / "x_ascend_pt", files), workspace)
    told = {row["what"]: row["how_to_record"] for row in result["not_recorded"]}
    assert "analyse(DIR)" in told["operators and calls of the host"]
    assert "ProfilerLevel.Level1" in told["types and shapes of kernels"]
    assert "ProfilerLevel.Level1" in told["what collectives waited for"]


@pytest.mark.parametrize("packed", [False, True])
def test_the_timeline(tmp_path: Path, workspace: Workspace, packed: bool) -> None:
    text = json.dumps(timeline()).encode()
    files: dict[str, str | bytes] = {"kernel_details.csv": _kernels(LEVEL2)}
    files["trace_view.json.gz" if packed else "trace_view.json"] = gzip.compress(text) if packed else text
    folder = write_output(tmp_path / "x_ascend_pt", files)
    result = _report(folder, workspace)
    rank = result["ranks"][0]
    total = rank["device_total"]
    assert rank["events"]["read"] == len(timeline())
    assert (total["ops"], total["linked_ops"]) == (4, 2)
    assert total["compute_ns"] == 90_500
    assert total["communication_ns"] == 60_250
    assert total["communication_overlapped_ns"] == 30_500
    assert total["copy_ns"] == 10_000
    assert [device["device"] for device in rank["devices"]] == [4]
    assert [(step["step"], step["dur_ns"]) for step in rank["steps"]] == [(7, 1_000_000)]
    assert (rank["host"]["syncs"], rank["host"]["sync_ns"], rank["host"]["launches"]) == (1, 10_000, 1)
    rows = {row["name"]: row for row in _device_slices(_open(folder, workspace))}
    assert (rows["MatMul1"]["op"]["op_type"], rows["MatMul1"]["track"]["stream"]) == ("MatMul", 5)
    assert {rows["SDMA"]["kind"], rows["EVENT_WAIT"]["kind"]} == {"device_other"}
    assert "Notify_Wait" not in rows


def test_parts_of_collectives_are_told_without_names_of_rows(tmp_path: Path, workspace: Workspace) -> None:
    events = [event for event in timeline() if event["name"] != "thread_name"]
    folder = write_output(tmp_path / "x_ascend_pt", {"trace_view.json": json.dumps(events)})
    assert _report(folder, workspace)["ranks"][0]["device_total"]["communication_ns"] == 60_250
    assert "Notify_Wait" not in {row["name"] for row in _device_slices(_open(folder, workspace))}


def test_runtime_calls_lie_in_the_operators_that_made_them(tmp_path: Path, workspace: Workspace) -> None:
    folder = write_output(tmp_path / "x_ascend_pt", {"trace_view.json": json.dumps(timeline())})
    trace = _open(folder, workspace)
    rows = trace.table("slices").arrow(["name", "parent_id"]).to_pylist()
    wait = next(row for row in rows if "Synchronize" in row["name"])
    assert rows[wait["parent_id"]]["name"] == "aten::add"


def test_runtime_calls_launch_where_no_operator_does(tmp_path: Path, workspace: Workspace) -> None:
    events = [event for event in timeline() if event.get("cat") not in ("async_npu", "cpu_op")]
    folder = write_output(tmp_path / "x_ascend_ms", {"trace_view.json": json.dumps(events)})
    result = _report(folder, workspace)
    assert result["ranks"][0]["device_total"]["linked_ops"] == 1
    assert result["run"]["framework"] == "mindspore"


def test_durations_may_be_texts(tmp_path: Path, workspace: Workspace) -> None:
    events = [{**event, "dur": str(event["dur"])} if "dur" in event else event for event in timeline()]
    events += [
        complete(HARDWARE, 5, "Late", 900, "7.125", args={"Task Type": "Other"}),
        flow("s", 5, CANN, 9, 1, "fwdbwd"),
    ]
    folder = write_output(tmp_path / "x_ascend_ms", {"trace_view.json": json.dumps(events)})
    assert _report(folder, workspace)["ranks"][0]["device_total"]["compute_ns"] == 90_500 + 7_125


def test_a_timeline_without_the_device_takes_its_kernels_from_the_table(tmp_path: Path, workspace: Workspace) -> None:
    events = [event for event in timeline() if event["pid"] not in (72, 73)]
    files = {"trace_view.json": json.dumps(events), "kernel_details.csv": _kernels(LEVEL2)}
    rank = _report(write_output(tmp_path / "x_ascend_pt", files), workspace)["ranks"][0]
    assert rank["device_total"]["compute_ns"] == 90_500
    assert rank["events"]["read"] == len(events) + 3


def test_stored_sums_are_compared(tmp_path: Path, workspace: Workspace) -> None:
    columns = ("Step", "Computing", "Communication(Not Overlapped)", "Overlapped", "Communication", "Free", "Stage")
    files = {
        "kernel_details.csv": _kernels(LEVEL1),
        "step_trace_time.csv": table(columns, [(7, 95.5, 29.75, 30.5, 60.25, 1, 1)]),
    }
    folder = write_output(tmp_path / "x_ascend_pt", files)
    messages = [w["message"] for w in _report(folder, workspace)["warnings"] if w["code"] == "mismatch"]
    assert messages == ["step 7: the recording says computing 95.500 us, its slices give 90.500 us; the latter is used"]


def test_stored_sums_of_types_are_compared(tmp_path: Path, workspace: Workspace) -> None:
    columns = ("OP Type", "Core Type", "Count", "Total Time(us)")
    rows = [("MatMul", "AI_CORE", 2, 90.5), ("Cast", "AI_CPU", 1, 5), ("N/A", "HCCL", 1, 60.25)]
    files = {"kernel_details.csv": _kernels(LEVEL1), "op_statistic.csv": table(columns, rows)}
    warnings = _report(write_output(tmp_path / "x_ascend_pt", files), workspace)["warnings"]
    assert [(w["message"], w["count"]) for w in warnings if w["code"] == "mismatch"] == [
        ("op_statistic.csv differs from the kernels; these are used: Cast on AI_CPU", 1)
    ]


def test_memory_tables(tmp_path: Path, workspace: Workspace) -> None:
    curves = ("Component", "Timestamp(us)", "Total Allocated(MB)", "Total Reserved(MB)", "Device Type")
    rows = [("PTA", us(5) + "\t", 1.5, 2, "NPU:4"), ("GE", us(6), 1, "", "NPU:4"), ("PTA", us(7), "", 3, "NPU:4")]
    blocks = ("Name", "Size(KB)", "Allocation Time(us)", "Release Time(us)", "Device Type")
    lives = [("aten::mm", 0.5, us(10) + "\t", us(20) + "\t", "NPU:4"), ("aten::add", 2, us(12), "N/A", "NPU:4")]
    files = {"memory_record.csv": table(curves, rows), "operator_memory.csv": table(blocks, lives)}
    for ending, ge in (("pt", 2**20), ("ms", 1_024_000)):
        folder = write_output(tmp_path / f"x_ascend_{ending}", {**files, "kernel_details.csv": _kernels(LEVEL1)})
        trace = _open(folder, workspace)
        names = dict(zip(trace.tracks.objects("track_id"), trace.tracks.objects("name"), strict=True))
        counters = trace.table("counters").arrow().to_pylist()
        found = sorted((str(names[row["track_id"]]), row["value"]) for row in counters)
        mib = 2**20
        expected = [
            ("GE allocated", ge),
            ("PTA allocated", 1.5 * mib),
            ("PTA reserved", 2 * mib),
            ("PTA reserved", 3 * mib),
        ]
        assert found == expected
        kept = trace.table("allocations").arrow().to_pylist()
        assert sorted((row["size_bytes"], row["end_ns"] is None) for row in kept) == [(512, False), (2048, True)]
        assert {row["device"] for row in kept} == {"privateuse1:4"}


def test_collectives_tell_what_they_waited_for(tmp_path: Path, workspace: Workspace) -> None:
    times = {
        "Start Timestamp(us)": float(us(210)),
        "Elapse Time(ms)": 0.06025,
        "Wait Time(ms)": 0.05,
        "Idle Time(ms)": 0.01,
    }
    links = {"HCCS": {"Transit Size(MB)": 1.5, "Transit Time(ms)": 0.001}, "PCIE": {"Transit Size(MB)": 0}}
    entry = {"Communication Time Info": times, "Communication Bandwidth Info": links}
    content = {"step7": {"p2p": {}, "collective": {"hcom_allReduce__1_0_1@99": entry, "Total Op Info": entry}}}
    files = {"communication.json": json.dumps(content), "kernel_details.csv": _kernels(LEVEL1)}
    rows = _device_slices(_open(write_output(tmp_path / "a_ascend_pt", files), workspace))
    info = json.loads(rows[-1]["op"]["info"])
    assert (info["group"], info["elapse_ns"], info["wait_ns"], info["idle_ns"]) == ("99", 60_250, 50_000, 10_000)
    assert info["links"] == {"HCCS": {"bytes": 1_500_000, "transit_ns": 1_000}}
    del files["kernel_details.csv"]
    result = _report(write_output(tmp_path / "b_ascend_pt", files), workspace)
    rank = result["ranks"][0]
    assert rank["device_total"] is None  # unknown, not 0
    assert [row["what"] for row in result["not_recorded"]][-1] == "kernels of rank 3"
    assert [(step["step"], step["complete"], step["budget"]) for step in rank["steps"]] == [(7, False, None)]
    assert any("what the device computed is unknown" in warning["message"] for warning in result["warnings"])


def test_databases(tmp_path: Path, workspace: Workspace) -> None:
    folder = write_output(tmp_path / "x_ascend_pt", {})
    write_database(folder / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_3.db", recording_tables())
    result = _report(folder, workspace)
    rank = result["ranks"][0]
    total = rank["device_total"]
    assert (total["compute_ns"], total["communication_ns"], total["copy_ns"]) == (500, 400, 100)
    assert (total["ops"], total["linked_ops"]) == (3, 3)
    assert rank["devices"][0]["device"] == 2
    assert rank["devices"][0]["name"] == "Ascend910B"
    assert [(step["step"], step["dur_ns"]) for step in rank["steps"]] == [(4, 1200)]
    assert rank["events"] == {"read": 9, "kept": 9, "dropped": {}}
    trace = _open(folder, workspace)
    rows = trace.table("slices").arrow(["name"]).to_pydict()["name"]
    flows = {(rows[row["from_id"]], rows[row["to_id"]], row["kind"]) for row in trace.flows.arrow().to_pylist()}
    assert ("Enqueue", "MEMCPY_ASYNC", "launch") in flows
    assert ("aten::mm", "MatMul1", "launch") in flows
    assert ("Enqueue", "Dequeue@copy", "data") in flows
    assert [flow for flow in flows if flow[2] == "forward_backward"] == [
        ("aten::mm", "MmBackward0", "forward_backward")
    ]


def test_text_counts_before_databases(tmp_path: Path, workspace: Workspace) -> None:
    folder = write_output(tmp_path / "x_ascend_pt", {"kernel_details.csv": _kernels(LEVEL1)})
    write_database(folder / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_3.db", recording_tables())
    assert _report(folder, workspace)["ranks"][0]["device_total"]["compute_ns"] == 90_500


def test_several_ranks_are_several_entries(tmp_path: Path, workspace: Workspace) -> None:
    for rank in (2, 0, 10):
        files = {"kernel_details.csv": _kernels(LEVEL1)}
        write_output(tmp_path / f"rank{rank}_ascend_pt", files, {"rank_id": str(rank)})
    assert [trace.rank for trace in open_run(tmp_path, workspace=workspace).traces] == [0, 2, 10]


@pytest.mark.parametrize(("name", "module"), [("a_ascend_pt", "torch_npu"), ("b_ascend_ms", "mindspore")])
def test_a_raw_recording_names_the_export(tmp_path: Path, workspace: Workspace, name: str, module: str) -> None:
    raw = tmp_path / name / "PROF_000001" / "device_0"
    raw.mkdir(parents=True)
    (raw / "data.slice_0").write_bytes(b"\x00" * 64)
    with pytest.raises(LaptimeError) as caught:
        open_run(tmp_path / name, workspace=workspace)
    assert f'from {module}.profiler.profiler import analyse; analyse("{tmp_path / name}")' in str(caught.value)
    assert "\n" not in str(caught.value)
