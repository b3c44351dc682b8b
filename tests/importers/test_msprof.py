"""Exports of msprof: own tiny folders of both layouts, missing files, damage."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from laptime.analyses.operators import operator_table
from laptime.analyses.report import report
from laptime.analyses.step_trace import step_trace
from laptime.errors import LaptimeError
from laptime.importers.opening import open_run
from laptime.importers.sources import discover
from laptime.model.trace import Run
from laptime.model.workspace import Workspace
from tests.fuzz.mutations import mutated

MUTATIONS = 100
BASE_US = 56_635_864_000.0
STEP_US = 1000
Event = dict[str, Any]

# name, stream, start and duration (us), task type, task id
_TASKS = [
    ("Default/net/Conv2D-op1", 2, 10.0, 100.25, "AI_CORE", 1),
    ("Default/net/AllReduceCell/Dropout-op2", 4, 50.0, 100.0, "AI_CPU", 2),
    ("EVENT_WAIT", 2, 110.25, 5.0, "EVENT_WAIT", 3),
    ("Gradients/Default/net/Conv2DGrad-op3", 2, 200.0, 100.0, "AI_CORE", 4),
    ("MEMCPY_ASYNC", 12, 320.0, 50.0, "MEMCPY_ASYNC", 5),
    ("MEMCPY_ASYNC", 12, 600.0, 20.0, "MEMCPY_ASYNC", 6),
]


def _named(pid: int, process: str, threads: dict[int, str]) -> list[Event]:
    events: list[Event] = [{"name": "process_name", "pid": pid, "tid": 0, "ph": "M", "args": {"name": process}}]
    return events + [
        {"name": "thread_name", "pid": pid, "tid": tid, "ph": "M", "args": {"name": name}}
        for tid, name in threads.items()
    ]


def _slice(pid: int, tid: int, name: str, start: float, dur: float, **more: object) -> Event:
    return {"name": name, "pid": pid, "tid": tid, "ts": BASE_US + start, "dur": dur, "ph": "X", **more}


def _steps(pid: int = 9, process: str = "Step Trace", thread: str = "Model ID:7") -> list[Event]:
    events = _named(pid, process, {90: thread})
    for iteration in (1, 2, 3):
        start = (iteration - 1) * STEP_US
        args = {"FP Start": BASE_US + start + 8, "BP End": BASE_US + start + 301.5}
        events.append(_slice(pid, 90, f"Iteration {iteration}", start, 500.0, args=args, cat="Iteration Time"))
        events.append(_slice(pid, 90, f"Reduce_{iteration}_0", start + 305, 110.0, args={}, cat="Reduce"))
    return events


def _tasks(iteration: int) -> list[Event]:
    start = (iteration - 1) * STEP_US
    return _named(3, "Ascend Hardware", {2: "Stream 2", 4: "Stream 4", 12: "Stream 12"}) + [
        _slice(3, stream, name, start + at, dur, args={"Task Type": kind, "Stream Id": stream, "Task Id": task})
        for name, stream, at, dur, kind, task in _TASKS
    ]


def _collectives(iteration: int) -> list[Event]:
    start = (iteration - 1) * STEP_US
    args = {"stream id": 12, "task id": 5, "dst rank": 1, "size(Byte)": 4096}
    return [
        *_named(4, "HCCL", {0: "Plane 0", 70000: "Communication Kernel"}),
        _slice(4, 0, "Memcpy", start + 320, 50.0, args=args),
        _slice(4, 70000, "Default/AllReduce-op9_0", start + 310, 100.0),
    ]


def _all(iteration: int, *, computing: float = 240.0) -> list[Event]:
    start = (iteration - 1) * STEP_US
    return [
        *_steps(3, "Ascend Hardware", "Step Trace(Model ID:7)"),
        *_tasks(iteration),
        *_collectives(iteration),
        *_named(5, "CANN", {77: "Thread 77"}),
        _slice(5, 77, "GE@Infer", start - 20, 400.0, args={"Model Id": 7}),
        *_named(6, "Overlap Analysis", {0: "Computing", 1: "Communication"}),
        _slice(6, 0, "Computing", start + 10, computing),
        _slice(6, 1, "Communication", start + 310, 100.0),
    ]


_PARTS = {"step_trace": lambda iteration: _steps(), "task_time": _tasks, "hccl": _collectives}


def _write(folder: Path, *, parts: tuple[str, ...] = ("step_trace", "task_time", "hccl", "msprof")) -> Path:
    """Two of three iterations of device 1."""
    timeline = folder / "device_1" / "timeline"
    timeline.mkdir(parents=True)
    (folder / "device_1" / "info.json.1").write_text('{"rank_id": 5, "DeviceInfo": [{"id": 1}]}')
    start = '{"collectionTimeBegin": "1692340024324979", "clockMonotonicRaw": "56579931060630"}'
    (folder / "device_1" / "start_info.1").write_text(start)
    (folder / "device_1" / "start_info.1.done").write_text("")
    for iteration in (1, 2):
        for part in parts:
            name = f"{part}_1_7_{iteration}.json"
            if part == "msprof":
                # Overlapping tasks: 10 .. 150 (Conv2D and Dropout) and 200 .. 300.
                text = json.dumps(_all(iteration)).encode()
                (timeline / f"{name}.gz").write_bytes(gzip.compress(text, mtime=0))
            else:
                (timeline / name).write_text(json.dumps(_PARTS[part](iteration)))
    return folder


def _rank(run: Run) -> dict[str, Any]:
    result: dict[str, Any] = report(run)
    return dict(result["ranks"][0])


def _check(run: Run) -> None:
    rank = _rank(run)
    assert [step["dur_ns"] for step in rank["steps"]] == [500_000] * 3
    for step in rank["steps"][:2]:
        budget = step["budget"]
        assert (budget["compute_ns"], budget["communication_exposed_ns"]) == (240_000, 100_000)
        assert (budget["copy_exposed_ns"], budget["idle_ns"]) == (0, 160_000)
    assert rank["devices"][0]["device"] == 1


@pytest.mark.parametrize(
    "parts", [("step_trace", "task_time", "hccl", "msprof"), ("step_trace", "task_time", "hccl"), ("msprof",)]
)
def test_iterations_of_a_device(tmp_path: Path, workspace: Workspace, parts: tuple[str, ...]) -> None:
    run = open_run(_write(tmp_path / "PROF_1", parts=parts), workspace=workspace)
    _check(run)
    rank = _rank(run)
    assert (rank["rank"], rank["source"], rank["framework"]) == (5, "PROF_1[1]", "mindspore")
    assert rank["steps"][2]["budget"] is None
    assert rank["devices"][0]["ops"] == 2 * 5
    assert rank["devices"][0]["copy_ns"] == 2 * 20_000
    assert rank["events"]["read"] == rank["events"]["kept"] + sum(rank["events"]["dropped"].values())
    steps = step_trace(run.traces[0]).steps
    assert [step["gap_before_ns"] for step in steps] == [0, 500_000, 500_000]
    assert {(step["forward_backward_ns"], step["tail_ns"]) for step in steps} == {(293_500, 198_500)}
    result: dict[str, Any] = report(run)
    assert {row["code"] for row in result["warnings"]} <= {"unlinked_device_ops"}


def test_a_device_folder_alone(tmp_path: Path, workspace: Workspace) -> None:
    run = open_run(_write(tmp_path / "PROF_1") / "device_1", workspace=workspace)
    assert run.traces[0].source == "device_1[1]"
    _check(run)


def test_collectives_count_once_and_transfers_never(tmp_path: Path, workspace: Workspace) -> None:
    run = open_run(_write(tmp_path / "PROF_1"), workspace=workspace)
    query = """select s.name, s.kind, t.name as track, sum(s.bytes)::bigint as bytes from slices s
        join tracks t using(rank_index, track_id) where s.step = 1 and t.kind = 'stream' group by all order by all"""
    assert [tuple(row.values()) for row in run.sql(query).to_pylist()] == [
        ("Default/AllReduce-op9_0", "communication", "Communication Kernel", None),
        ("Default/net/Conv2D-op1", "kernel", "Stream 2", None),
        ("Dropout-op2", "kernel", "Stream 4", None),  # its scope's name would make a collective of it
        ("EVENT_WAIT", "device_other", "Stream 2", None),
        ("Gradients/Default/net/Conv2DGrad-op3", "kernel", "Stream 2", None),
        ("MEMCPY_ASYNC", "device_other", "Stream 12", None),
        ("Memcpy", "device_other", "Plane 0", 4096),
    ]


def test_operators(tmp_path: Path, workspace: Workspace) -> None:
    folder = _write(tmp_path / "PROF_1")
    (folder / "device_1" / "summary").mkdir()
    (folder / "device_1" / "summary" / "op_summary_1_7_1.csv").write_text(
        "Op Name,OP Type,Input Shapes,Input Data Types,Output Shapes\n"
        'Default/net/Conv2D-op1,Conv2DFused,"""2,3;4""",FLOAT16;FLOAT,"""2"""\n'
        "Default/net/AllReduceCell/Dropout-op2,Dropout,N/A,N/A,N/A\n"
    )
    trace = open_run(folder, workspace=workspace).traces[0]
    ops = {row["name"]: row for row in trace.ops.arrow().to_pylist()}
    convolution = ops["Conv2D-op1"]
    assert (convolution["op_type"], convolution["subgraph"], convolution["device_kind"]) == (
        "Conv2DFused",
        "Default",
        "AI_CORE",
    )
    assert (convolution["input_shapes"], convolution["output_shapes"]) == ("[[2, 3], [4]]", "[[2]]")
    assert convolution["input_dtypes"] == '["FLOAT16", "FLOAT"]'
    assert (ops["Dropout-op2"]["device_kind"], ops["Dropout-op2"]["input_shapes"]) == ("AI_CPU", None)
    assert (ops["AllReduce-op9_0"]["op_type"], ops["AllReduce-op9_0"]["device_kind"]) == ("AllReduce", "HCCL")
    types = {row["name"]: row["count"] for row in operator_table(trace, by="op-type").rows}
    assert types["Conv2DFused"] == types["Conv2DGrad"] == types["AllReduce"] == 2


def test_without_collectives_the_reduce_rows_stand_for_them(tmp_path: Path, workspace: Workspace) -> None:
    run = open_run(_write(tmp_path / "PROF_1", parts=("step_trace", "task_time")), workspace=workspace)
    budget = _rank(run)["steps"][0]["budget"]
    assert budget["communication_exposed_ns"] == 110_000


def test_without_a_step_trace_there_are_no_steps(tmp_path: Path, workspace: Workspace) -> None:
    rank = _rank(open_run(_write(tmp_path / "PROF_1", parts=("task_time", "hccl")), workspace=workspace))
    assert (rank["steps"], rank["devices"][0]["compute_ns"]) == ([], 480_000)


def test_without_tasks_there_are_steps_all_the_same(tmp_path: Path, workspace: Workspace) -> None:
    run = open_run(_write(tmp_path / "PROF_1", parts=("step_trace",)), workspace=workspace)
    rank = _rank(run)
    assert [step["budget"] for step in rank["steps"]] == [None] * 3
    total = rank["device_total"]
    assert (total["compute_ns"], total["idle_ns"], total["communication_ns"]) == (None, None, 3 * 110_000)
    missing: Any = report(run)["not_recorded"]
    assert any("tasks of the device" in row["what"] for row in missing)


def test_an_iteration_without_tasks_between_others_is_not_whole(tmp_path: Path, workspace: Workspace) -> None:
    folder = _write(tmp_path / "PROF_1", parts=("step_trace", "task_time"))
    timeline = folder / "device_1" / "timeline"
    (timeline / "task_time_1_7_2.json").rename(timeline / "task_time_1_7_3.json")
    rank = _rank(open_run(folder, workspace=workspace))
    assert [step["complete"] for step in rank["steps"]] == [True, False, True]


def test_a_stored_overlap_that_contradicts_the_tasks(tmp_path: Path, workspace: Workspace) -> None:
    folder = _write(tmp_path / "PROF_1", parts=("msprof",))
    timeline = folder / "device_1" / "timeline"
    (timeline / "msprof_1_7_1.json.gz").unlink()
    (timeline / "msprof_1_7_1.json").write_text(json.dumps(_all(1, computing=99.0)))
    result: dict[str, Any] = report(open_run(folder, workspace=workspace))
    assert result["ranks"][0]["steps"][0]["budget"]["compute_ns"] == 240_000
    assert [row["message"] for row in result["warnings"] if row["code"] == "mismatch"] == [
        "iteration 1: the overlap analysis says 99.00 us computing, the tasks 240.00 us; the latter is shown"
    ]


def test_the_later_layout(tmp_path: Path, workspace: Workspace) -> None:
    folder = tmp_path / "PROF_2"
    output = folder / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    (folder / "device_1" / "data").mkdir(parents=True)
    (folder / "device_1" / "info.json.1").write_text('{"rank_id": 5}')
    events = _all(1) + _all(2)
    for event in events:  # times of the epoch, as text
        if "ts" in event:
            event["ts"] = f"{1_712_195_422_000_000 + event['ts'] - BASE_US:.3f}"
        for point in ("FP Start", "BP End"):
            if point in event.get("args", {}):
                event["args"][point] = f"{1_712_195_422_000_000 + event['args'][point] - BASE_US:.3f}"
    (output / "msprof_20240404.json").write_text(json.dumps(events))
    run = open_run(folder, workspace=workspace)
    assert (run.traces[0].rank, len(run.traces), run.notes) == (5, 1, [])
    _check(run)


def test_raw_data_tells_the_command_that_exports_it(tmp_path: Path, workspace: Workspace) -> None:
    folder = tmp_path / "PROF_3"
    (folder / "device_0" / "data").mkdir(parents=True)
    (folder / "device_0" / "data" / "hwts.data.0.slice_0").write_bytes(b"\0" * 64)
    with pytest.raises(LaptimeError) as failure:
        open_run(folder, workspace=workspace)
    assert failure.value.what == "msprof's raw data, not exported yet"
    assert f"`msprof --export=on --output={folder}`" in failure.value.remedy


@pytest.mark.parametrize("seed", range(MUTATIONS))
def test_damage_is_told_and_never_a_crash(tmp_path: Path, workspace: Workspace, seed: int) -> None:
    folder = _write(tmp_path / "PROF_1")
    timeline = folder / "device_1" / "timeline"
    for file in sorted(timeline.glob("*.gz")):
        file.with_suffix("").write_bytes(gzip.decompress(file.read_bytes()))
        file.unlink()
    (folder / "device_1" / "op_summary_1.csv").write_text(
        'Op Name,OP Type,Input Shapes\nDefault/net/Conv2D-op1,C,"1,2"\n'
    )
    random = Random(seed)
    files = [file for file in sorted((folder / "device_1").rglob("*")) if file.is_file()]
    others = [file.read_bytes() for file in files if file.stat().st_size]
    for file in random.sample(files, random.randint(1, 4)):
        file.write_bytes(mutated(file.read_bytes(), others, random))
    assert discover(folder)[0].format == "msprof"
    try:
        run = open_run(folder, workspace=workspace)
        events = _rank(run)["events"]
        assert events["read"] == events["kept"] + sum(events["dropped"].values())
        step_trace(run.traces[0])
        operator_table(run.traces[0], by="full-name")
    except LaptimeError:
        pass
