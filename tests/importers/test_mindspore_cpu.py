"""MindSpore on CPU: own tiny folders of both versions, missing files, damage."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest

from laptime.analyses.operators import operator_table
from laptime.analyses.pipeline import pipeline
from laptime.analyses.report import report
from laptime.analyses.step_trace import step_trace
from laptime.errors import LaptimeError
from laptime.importers.folders import folder_recordings
from laptime.importers.opening import open_run
from laptime.importers.sources import discover
from laptime.model.trace import Run
from laptime.model.workspace import Workspace
from tests.fuzz.mutations import mutated

STEP_NS = 1_000_000
MUTATIONS = 100

# full name, start in the step (ns), duration (ms as written), the same in ns
_OPS = [
    ("Default/net/Conv2D-op1", 0, "0.1", 100_000),
    ("Default/net/ReLU-op2", 100_000, "0.05", 50_000),
    ("Gradients/Default/net/gradConv2D/Conv2DBackpropFilter-op3", 150_000, "0.123456", 123_456),
    ("Default/optimizer/ApplyMomentum-op4", 400_000, "1e-05", 10),
    ("Default/optimizer/ApplyMomentum-op5", 300_000, "0.2", 200_000),
]
_BUSY_NS = 100_000 + 50_000 + 123_456 + 200_000


def _write(
    folder: Path, *, steps: int = 3, first_ns: int = 5_000_000_000, gap_ns: int = STEP_NS, skip: tuple[str, ...] = ()
) -> Path:
    """The files of a recording; in odd steps the last two operators change places."""
    folder.mkdir(parents=True, exist_ok=True)
    executions = []
    for full_name, offset, duration, _ in _OPS:
        swapped = {400_000: 520_000}.get(offset, offset)
        starts = [first_ns + step * gap_ns + (swapped if step % 2 else offset) for step in range(steps)]
        executions.append(f"{full_name};HostCpuOps;" + " ".join(f"{start},{duration},0" for start in starts) + " ")
    detail = ["op_side,op_type,op_name,full_op_name,op_occurrences,op_total_time(ms),subgraph,pid"]
    detail += [
        f"Host,{name.rpartition('/')[2].partition('-')[0]},{name.rpartition('/')[2]},{name},{steps},1,Default,77"
        for name, *_ in _OPS
    ]
    types = "op_type,type_occurrences,execution_frequency(per-step),total_compute_time,avg_time(ms),percent\n"
    types += f"Conv2D,{steps},1,{0.1 * steps},0.1,0.2\nOther,{steps},1,{(_BUSY_NS + 10 - 1e5) / 1e6 * steps},0.1,0.8\n"
    in_order = sorted(_OPS, key=lambda op: op[1])
    framework = [
        f"{name.rpartition('/')[2].partition('-')[0]};{name.rpartition('/')[2]};9;input_1:[2, 3];input_2:NoShape;"
        for name, *_ in in_order
    ]
    memory = "Timestamp(ns),Total Allocated(Byte),Total Reserved(Byte),Total Active(Byte)\n"
    memory += "".join(f"{first_ns + place},{100 * place},1000,50\n" for place in range(4))
    content = {
        "cpu_op_execute_timestamp_0.txt": "\n".join(executions) + "\n",
        "cpu_op_detail_info_0.csv": "\n".join(detail) + "\n",
        "cpu_op_type_info_0.csv": types,
        "cpu_framework_0.txt": "\n".join(framework * steps) + "\n",
        "cpu_ms_memory_record_0.txt": memory,
        "profiler_info_0.json": '{"rank_id": "3", "rank_size": 8, "ms_version": "2.0.0", "context_mode": "graph"}',
        "pipeline_profiling_0.json": '{"sampling_interval": 10, "op_info": [{"op_id": 0, "op_type": "Batch",'
        ' "num_workers": 2, "metrics": {"output_queue": {"size": [0, 4], "length": 16}}}]}',
    }
    for name, text in content.items():
        if name not in skip:
            (folder / name).write_text(text)
    return folder


def _rank(run: Run, place: int = 0) -> dict[str, Any]:
    result: dict[str, Any] = report(run)
    return dict(result["ranks"][place])


def test_executions_become_slices_of_a_device(tmp_path: Path, workspace: Workspace) -> None:
    run = open_run(_write(tmp_path / "profiler"), workspace=workspace)
    rank = _rank(run)
    assert (rank["rank"], rank["source"]) == (3, "profiler")
    device = rank["devices"][0]
    assert (device["device"], device["name"], device["ops"]) == (0, "CPU", 15)
    assert device["busy_ns"] == 3 * _BUSY_NS + 10  # the tiny one lies inside another but in the middle step
    result: dict[str, Any] = report(run)
    assert (result["run"]["framework_version"], result["run"]["world_size"]) == ("2.0.0", 8)
    assert rank["events"] == {"read": 19, "kept": 19, "dropped": {}}


_MS = 1_000_000


def _with_waits(folder: Path, first_ms: int) -> Path:
    """Steps every 100 ms; the second waits 30 ms for its batch, the third not at all, but for what fell below 1 ms."""
    _write(folder, gap_ns=100 * _MS)
    rows = [(1, 700, first_ms - 900), (2, 30, first_ms + 90), (3, 0, first_ms + 195)]
    lines = [
        f"0 {part} {batch} {value if part != 1 else 0} {time}" for batch, value, time in rows for part in (1, 2, 0)
    ]
    lines += [f"1 16 {batch} 0 {time}" for batch, _, time in rows]
    (folder / "dataset_iterator_profiling_0.txt").write_text("\n".join([*lines, ""]))
    return folder


def test_waits_for_batches_on_the_clock_of_the_operators(tmp_path: Path, workspace: Workspace) -> None:
    run = open_run(_with_waits(tmp_path / "profiler", 5_000), workspace=workspace)
    steps = _rank(run)["steps"]
    assert [step["budget"]["idle_data_wait_ns"] for step in steps] == [0, 30 * _MS, 0]
    for step in steps:
        budget = step["budget"]
        assert budget["idle_other_ns"] == budget["idle_ns"] - budget["idle_data_wait_ns"]
        assert (budget["basis"], budget["idle_launch_ns"], budget["idle_sync_ns"]) == ("device", 0, 0)
    found = run.sql("SELECT kind, dur_ns FROM slices WHERE name = 'wait for batch' ORDER BY start_ns").to_pylist()
    assert [(row["kind"], row["dur_ns"]) for row in found] == [("data", 700 * _MS), ("data", 30 * _MS), ("data", 0)]
    data = pipeline(run.traces[0])["data_bound"]
    assert isinstance(data, dict) and data["batches"] == 3


def test_waits_on_another_clock_are_placed_nowhere(tmp_path: Path, workspace: Workspace) -> None:
    run = open_run(_with_waits(tmp_path / "profiler", 1_798_055), workspace=workspace)
    rank = _rank(run)
    assert [step["budget"]["idle_data_wait_ns"] for step in rank["steps"]] == [0, 0, 0]
    assert rank["host"]["slices"] == 0
    data = pipeline(run.traces[0])["data_bound"]
    assert isinstance(data, dict) and data["wait_ns"] == 30 * _MS


def test_steps_are_inferred_from_counts_in_any_order(tmp_path: Path, workspace: Workspace) -> None:
    trace = open_run(_write(tmp_path / "profiler"), workspace=workspace).traces[0]
    result = step_trace(trace)
    assert [step["source"] for step in result.steps] == ["inferred"] * 3
    assert [(step["start_ns"], step["total_ns"]) for step in result.steps] == [
        (0, 500_000),
        (500_000, 1_020_010),
        (1_520_010, 979_990),
    ]
    assert [step["interval_ns"] for step in result.steps] == [None, 500_000, 479_990]
    assert {step["forward_backward_ns"] for step in result.steps} == {273_456}
    assert result.forward_start_op == "Default/net/Conv2D-op1"
    assert result.backward_end_op == "Gradients/Default/net/gradConv2D/Conv2DBackpropFilter-op3"


def test_operators_have_type_subgraph_and_shapes(tmp_path: Path, workspace: Workspace) -> None:
    trace = open_run(_write(tmp_path / "profiler", steps=2), workspace=workspace).traces[0]
    ops = {row["full_name"]: row for row in trace.ops.arrow().to_pylist()}
    gradient = ops["Gradients/Default/net/gradConv2D/Conv2DBackpropFilter-op3"]
    assert (gradient["op_type"], gradient["subgraph"]) == ("Conv2DBackpropFilter", "Gradients")
    assert gradient["input_shapes"] == "[[2, 3], null]"
    assert [(row["name"], row["count"], row["total_ns"]) for row in operator_table(trace, by="op-type").rows][:2] == [
        ("ApplyMomentum", 4, 400_020),
        ("Conv2DBackpropFilter", 2, 246_912),
    ]


@pytest.mark.parametrize(
    "missing",
    [
        ("cpu_op_detail_info_0.csv",),
        ("cpu_op_type_info_0.csv",),
        ("cpu_framework_0.txt",),
        ("cpu_ms_memory_record_0.txt",),
        ("profiler_info_0.json",),
        ("pipeline_profiling_0.json",),
        (
            "cpu_op_detail_info_0.csv",
            "cpu_op_type_info_0.csv",
            "cpu_framework_0.txt",
            "cpu_ms_memory_record_0.txt",
            "profiler_info_0.json",
            "pipeline_profiling_0.json",
        ),
    ],
)
def test_every_other_file_is_optional(tmp_path: Path, workspace: Workspace, missing: tuple[str, ...]) -> None:
    run = open_run(_write(tmp_path / "profiler", skip=missing), workspace=workspace)
    rank = _rank(run)
    assert (rank["devices"][0]["ops"], len(rank["steps"])) == (15, 3)
    assert rank["rank"] == (0 if "profiler_info_0.json" in missing else 3)
    types = {row["name"] for row in operator_table(run.traces[0], by="op-type").rows}
    assert types == {"Conv2D", "ReLU", "Conv2DBackpropFilter", "ApplyMomentum"}


def test_one_step_counts_only_if_the_table_tells_so(tmp_path: Path, workspace: Workspace) -> None:
    told = _write(tmp_path / "told" / "profiler", steps=1)
    untold = _write(tmp_path / "untold" / "profiler", steps=1, skip=("cpu_op_type_info_0.csv",))
    assert len(_rank(open_run(told, workspace=workspace))["steps"]) == 1
    assert _rank(open_run(untold, workspace=workspace))["steps"] == []


def test_windows_are_entries_and_tell_their_own_memory(tmp_path: Path, workspace: Workspace) -> None:
    second = 1_795_957_202_500_000_000  # 2026-11-29 13:00:02.5 UTC; the folder's name is in UTC+8
    folder = _write(tmp_path / "vm_7_20261129210002008_ascend_ms" / "FRAMEWORK", first_ns=second)
    _write(tmp_path / "vm_7_20261129205959305_ascend_ms" / "FRAMEWORK", first_ns=second - 2_500_000_000)
    memory = folder / "cpu_ms_memory_record_0.txt"
    header, *rows = memory.read_text().splitlines()
    old = (tmp_path / "vm_7_20261129205959305_ascend_ms" / "FRAMEWORK" / memory.name).read_text().splitlines()[1:]
    memory.write_text("\n".join([header, *old, *rows]) + "\n")
    (folder.parent / "ASCEND_PROFILER_OUTPUT").mkdir()
    (folder.parent / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").write_text("[]")
    run = open_run(tmp_path, workspace=workspace)
    assert [trace.source for trace in run.traces] == [
        "vm_7_20261129205959305_ascend_ms",
        "vm_7_20261129210002008_ascend_ms",
    ]
    assert run.notes == []
    assert [_rank(run, place)["events"]["dropped"] for place in (0, 1)] == [{}, {"repeated": 4}]
    counters = run.sql("select rank_index, count(*) as n from counters group by all order by 1").to_pylist()
    assert counters == [{"rank_index": 0, "n": 12}, {"rank_index": 1, "n": 12}]


def test_ranks_of_one_folder_are_entries(tmp_path: Path, workspace: Workspace) -> None:
    folder = _write(tmp_path / "profiler", skip=("profiler_info_0.json",))
    for file in sorted(folder.glob("cpu_*_0.*")):
        shutil.copy(file, file.with_name(file.name.replace("_0.", "_5.")))
    run = open_run(folder, workspace=workspace)
    assert [(trace.rank, trace.source) for trace in run.traces] == [(0, "profiler[0]"), (5, "profiler[5]")]


def test_dataset_files_beside_the_folder_belong_to_it(tmp_path: Path, workspace: Workspace) -> None:
    recording = tmp_path / "vm_7_20261129205959305_ascend_ms"
    _write(recording / "FRAMEWORK", skip=("pipeline_profiling_0.json",))
    beside = _write(tmp_path / "other") / "pipeline_profiling_0.json"
    (tmp_path / "minddata").mkdir()
    shutil.move(beside, tmp_path / "minddata")
    shutil.rmtree(tmp_path / "other")
    run = open_run(tmp_path, workspace=workspace)
    assert len(run.traces) == 1 and run.notes == []
    rows = run.traces[0].table("pipeline_ops").arrow().to_pylist()
    assert [(row["op_type"], row["queue_usage_share"]) for row in rows] == [("Batch", 0.125)]


def test_cpu_operators_of_a_training_on_another_device_are_left_alone(tmp_path: Path) -> None:
    folder = _write(tmp_path / "profiler")
    assert folder_recordings(folder)[0].format == "mindspore_cpu"
    (folder / "framework_raw_0.csv").write_text("x")
    assert all(found.format != "mindspore_cpu" for found in folder_recordings(folder))


def test_what_cannot_be_read_is_counted(tmp_path: Path, workspace: Workspace) -> None:
    folder = _write(tmp_path / "profiler")
    file = folder / "cpu_op_execute_timestamp_0.txt"
    file.write_text(file.read_text().replace("0.1,0", "0.1,x", 1) + "Default/Cut-op9;HostCpuOps;5000000000,0.1")
    (folder / "cpu_framework_0.txt").write_text("one line only;;;")
    (folder / "profiler_info_0.json").write_text("{")
    run = open_run(folder, workspace=workspace)
    result: dict[str, Any] = report(run)
    assert result["ranks"][0]["events"]["dropped"] == {"unreadable": 2}
    told = {row["message"].partition(";")[0]: row["count"] for row in result["warnings"] if row["code"] == "other"}
    assert told == {
        "executions that cannot be read": 2,
        "cpu_framework and the executions differ in number": 1,
        "profiler_info cannot be read": 1,
    }
    assert any(row["code"] == "mismatch" for row in result["warnings"])


def test_a_rest_after_the_last_cycle_is_no_whole_step(tmp_path: Path, workspace: Workspace) -> None:
    folder = _write(tmp_path / "profiler")
    file = folder / "cpu_op_execute_timestamp_0.txt"
    lines = file.read_text().splitlines()
    late = [f"{line}{5_003_000_000 + 100_000 * place},0.01,0" for place, line in enumerate(lines[:2])]
    file.write_text("\n".join([*late, *lines[2:]]) + "\n")
    steps = _rank(open_run(folder, workspace=workspace))["steps"]
    assert [step["complete"] for step in steps] == [True, True, True, False]


def test_an_empty_recording_has_no_events(tmp_path: Path, workspace: Workspace) -> None:
    folder = tmp_path / "profiler"
    folder.mkdir()
    (folder / "cpu_op_execute_timestamp_0.txt").write_text("")
    rank = _rank(open_run(folder, workspace=workspace))
    assert (rank["events"]["read"], rank["devices"], rank["steps"]) == (0, [], [])


@pytest.mark.parametrize("seed", range(MUTATIONS))
def test_damage_is_told_and_never_a_crash(tmp_path: Path, workspace: Workspace, seed: int) -> None:
    folder = _write(tmp_path / "vm_7_20261129210002008_ascend_ms" / "FRAMEWORK", first_ns=1_795_957_202_500_000_000)
    if seed % 2:
        _with_waits(folder, 5_000)
    random = Random(seed)
    others = [file.read_bytes() for file in sorted(folder.iterdir())]
    for file in random.sample(sorted(folder.iterdir()), random.randint(1, 3)):
        file.write_bytes(mutated(file.read_bytes(), others, random))
    assert discover(folder.parent)[0].format == "mindspore_cpu"
    try:
        run = open_run(folder.parent, workspace=workspace)
        rank = _rank(run)
        events = rank["events"]
        assert events["read"] == events["kept"] + sum(events["dropped"].values())
        step_trace(run.traces[0])
        operator_table(run.traces[0], by="full-name")
    except LaptimeError:
        pass
