"""Tables of msprof without timelines: what JSON tells elsewhere, told by CSV; both together count once."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from laptime.analyses.operators import operator_table
from laptime.analyses.report import report
from laptime.analyses.step_trace import step_trace
from laptime.errors import LaptimeError
from laptime.importers.opening import open_run
from laptime.model.trace import Run
from laptime.model.workspace import Workspace
from tests.fuzz.mutations import mutated
from tests.importers.test_msprof import BASE_US, STEP_US, _check, _rank, _write

MUTATIONS = 100
NEW = "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us)"
OLD = "Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,Task Type,Task Start Time,Task Duration(us)"
SHORT = "Step Id,Model ID,Task ID,Stream ID,Op Name,OP Type,Task Type,Start Time(us),Task Duration(us)"
IN_NS = NEW.replace("(us)", "(ns)")
STEP_COLUMNS = (
    "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),"
    "Iteration Refresh(us),Data Aug Bound(us),Model ID,Reduce Start(us),Reduce Duration(us),Reduce Start(us),"
    "Reduce Duration(us)"
)
# name, type, stream, start and duration (us), task type: computes 10 .. 150 and 200 .. 300, communicates 310 .. 410
_ROWS = [
    ("Default/net/Conv2D-op1", "Conv2D", "2", 10.0, 100.25, "AI_CORE"),
    ("Default/net/AllReduceCell/Dropout-op2", "Dropout", "4", 50.0, 100.0, "AI_CPU"),
    ("Gradients/Default/net/Conv2DGrad-op3", "Conv2DGrad", "2", 200.0, 100.0, "MIX_AIC"),
    ("Default/AllReduce-op9_0", "hcom_allReduce_", "N/A", 310.0, 100.0, "HCCL"),
]
_SHAPES = ',"Input Shapes","Input Data Types","Output Shapes"'


def _summary(header: str, iterations: tuple[int, ...], *, collectives: bool = True, device: int = 1) -> str:
    lines = [header + _SHAPES]
    scale = 1000 if "(ns)" in header else 1
    for iteration in iterations:
        for place, (name, kind, stream, at, dur, core) in enumerate(_ROWS):
            start = BASE_US + (iteration - 1) * STEP_US + at
            told = {
                "Device_id": device,
                "Step Id": iteration,
                "Model ID": 7,
                "Task ID": place,
                "Stream ID": stream,
                "Op Name": name,
                "OP Type": kind,
                "Task Type": core,
                "Task Start Time": f"{start * scale:.3f}\t",
                "Start Time": f"{start * scale:.3f}\t",
                "Task Duration": dur * scale,
            }
            if collectives or core != "HCCL":
                cells = [str(told.get(column.partition("(")[0], "N/A")) for column in header.split(",")]
                lines.append(",".join([*cells, '"""2,3;4"""', "FLOAT16;FLOAT", '"""2"""']))
    return "\n".join(lines) + "\n"


def _step_table(header: str = STEP_COLUMNS) -> str:
    lines = [header]
    for iteration in (1, 2, 3):
        start = BASE_US + (iteration - 1) * STEP_US
        times = [start + 8, start + 301.5, start + 500, 500.0, 293.5, 198.5]
        bound = "N/A" if iteration == 1 else "508.0"
        reduce = [start + 305, 60.0, start + 365, 50.0]
        lines.append(",".join(str(cell) for cell in [1, iteration, *times, bound, 7, *reduce]))
    return "\n".join(lines) + "\n"


def _written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def _later(folder: Path, header: str = NEW) -> Path:
    """`mindstudio_profiler_output` beside the raw data of device 1."""
    output = "mindstudio_profiler_output"
    return _written(
        folder,
        {
            "device_1/info.json.1": '{"rank_id": 5}',
            f"{output}/op_summary_20240404120000.csv": _summary(header, (1, 2)),
            f"{output}/step_trace_20240404120000.csv": _step_table(),
        },
    )


def _kinds(run: Run) -> list[tuple[object, ...]]:
    query = """select s.name, s.kind, t.name as track, t.stream, count(*)::int as n from slices s
        join tracks t using(rank_index, track_id) where s.kind in ('kernel', 'communication')
        group by all order by all"""
    return [tuple(row.values()) for row in run.sql(query).to_pylist()]


EXPECTED = [
    ("Default/AllReduce-op9_0", "communication", "HCCL", None, 2),
    ("Default/net/Conv2D-op1", "kernel", "Stream 2", 2, 2),
    ("Dropout-op2", "kernel", "Stream 4", 4, 2),
    ("Gradients/Default/net/Conv2DGrad-op3", "kernel", "Stream 2", 2, 2),
]


def _check_tables(run: Run) -> None:
    """Iterations 1 and 2 of 3, as the timelines of `test_msprof` tell them, but for the copies."""
    rank = _rank(run)
    assert [step["dur_ns"] for step in rank["steps"]] == [500_000] * 3
    for step in rank["steps"][:2]:
        parts = ("compute_ns", "communication_exposed_ns", "copy_exposed_ns", "idle_ns")
        assert [step["budget"][part] for part in parts] == [240_000, 100_000, 0, 160_000]
    assert rank["devices"][0]["device"] == 1
    assert _kinds(run) == EXPECTED
    steps = step_trace(run.traces[0]).steps
    assert [step["gap_before_ns"] for step in steps] == [0, 500_000, 500_000]
    assert {(step["forward_backward_ns"], step["tail_ns"]) for step in steps} == {(293_500, 198_500)}
    assert rank["events"]["read"] == rank["events"]["kept"] + sum(rank["events"]["dropped"].values())


@pytest.mark.parametrize("header", [NEW, OLD, SHORT, IN_NS])
def test_columns_of_all_versions(tmp_path: Path, workspace: Workspace, header: str) -> None:
    run = open_run(_later(tmp_path / "PROF_1", header), workspace=workspace)
    _check_tables(run)
    assert (run.traces[0].rank, len(run.traces), run.notes) == (5, 1, [])
    assert run.traces[0].meta["framework"] == "mindspore"


def test_one_file_for_each_iteration(tmp_path: Path, workspace: Workspace) -> None:
    """CANN to 2023: each step trace tells all iterations; the third has no tasks, so no budget."""
    files = {f"device_1/summary/op_summary_1_7_{k}.csv": _summary(OLD, (k,)) for k in (1, 2)}
    files |= {f"device_1/summary/step_trace_1_7_{k}.csv": _step_table() for k in (1, 2)}
    folder = _written(tmp_path / "PROF_1", files)
    for path in (folder, folder / "device_1"):
        run = open_run(path, workspace=workspace)
        _check_tables(run)
        rank = _rank(run)
        assert rank["steps"][2]["budget"] is None
        assert rank["events"]["dropped"] == {"repeated": 3}


def test_a_second_export_repeats_the_first(tmp_path: Path, workspace: Workspace) -> None:
    folder = _later(tmp_path / "PROF_1")
    output = folder / "mindstudio_profiler_output"
    (output / "op_summary_20240405120000.csv").write_text(_summary(NEW, (1, 2)))
    run = open_run(folder, workspace=workspace)
    _check_tables(run)
    assert _rank(run)["events"]["dropped"] == {"repeated": 8}


def test_timelines_count_before_tables(tmp_path: Path, workspace: Workspace) -> None:
    folder = _write(tmp_path / "PROF_1")
    files = {f"device_1/summary/op_summary_1_7_{k}.csv": _summary(OLD, (k,)) for k in (1, 2)}
    _written(folder, {**files, "device_1/summary/step_trace_1_7_1.csv": _step_table()})
    run = open_run(folder, workspace=workspace)
    _check(run)
    rank = _rank(run)
    assert (rank["devices"][0]["ops"], len(rank["steps"])) == (2 * 5, 3)


@pytest.mark.parametrize("parts", [("step_trace",), ("hccl",), ("step_trace", "hccl")])
def test_tables_fill_in_for_timelines_that_are_missing(
    tmp_path: Path, workspace: Workspace, parts: tuple[str, ...]
) -> None:
    """Tasks are those of the table; collectives, where a timeline holds them, are not counted twice."""
    folder = _write(tmp_path / "PROF_1", parts=parts)
    files = {f"device_1/summary/op_summary_1_7_{k}.csv": _summary(OLD, (k,)) for k in (1, 2)}
    run = open_run(
        _written(folder, {**files, "device_1/summary/step_trace_1_7_1.csv": _step_table()}), workspace=workspace
    )
    rank = _rank(run)
    total = rank["device_total"]
    assert (total["ops"], total["compute_ns"], total["communication_ns"]) == (8, 480_000, 200_000)
    assert len(rank["steps"]) == 3


def test_sums_beside_a_timeline_of_collectives_are_those_of_kernels(tmp_path: Path, workspace: Workspace) -> None:
    folder = _write(tmp_path / "PROF_1", parts=("hccl",))
    text = "Device_id,OP Type,Core Type,Count,Total Time(us)\n1,MatMulV2,AI_CORE,3,90.5\n1,hcom_allReduce_,HCCL,2,200\n"
    run = open_run(_written(folder, {"device_1/summary/op_statistic_1_7_1.csv": text}), workspace=workspace)
    rows = operator_table(run.traces[0]).rows
    assert {(row["name"], row["device_kind"], row["count"]) for row in rows} == {
        ("MatMulV2", "ai_core", 3),
        ("AllReduce", "communication", 2),
    }
    assert _rank(run)["events"]["dropped"]["repeated"] == 1


def test_a_table_all_of_whose_rows_are_told_elsewhere(tmp_path: Path, workspace: Workspace) -> None:
    folder = _write(tmp_path / "PROF_1", parts=("step_trace", "hccl"))
    lines = _summary(OLD, (1, 2)).splitlines(keepends=True)
    only_collectives = lines[0] + "".join(line for line in lines if "HCCL" in line)
    run = open_run(_written(folder, {"device_1/summary/op_summary_1_7_1.csv": only_collectives}), workspace=workspace)
    rank = _rank(run)
    assert (rank["device_total"]["ops"], rank["device_total"]["compute_ns"]) == (2, None)
    assert rank["events"]["dropped"]["repeated"] == 6 + 2  # the second step_trace tells all iterations again


def test_without_collectives_the_reduce_columns_stand_for_them(tmp_path: Path, workspace: Workspace) -> None:
    folder = _later(tmp_path / "PROF_1")
    path = folder / "mindstudio_profiler_output" / "op_summary_20240404120000.csv"
    path.write_text(_summary(NEW, (1, 2), collectives=False))
    budget = _rank(open_run(folder, workspace=workspace))["steps"][0]["budget"]
    assert (budget["compute_ns"], budget["communication_exposed_ns"]) == (240_000, 110_000)


def test_devices_of_one_folder_are_told_apart(tmp_path: Path, workspace: Workspace) -> None:
    folder = _later(tmp_path / "PROF_1")
    other = _summary(NEW, (1, 2), device=3).splitlines(keepends=True)[1:]
    path = folder / "mindstudio_profiler_output" / "op_summary_20240404120000.csv"
    path.write_text(path.read_text() + "".join(other))
    run = open_run(folder, workspace=workspace)
    _check_tables(run)
    alone = _rank(open_run(folder / "mindstudio_profiler_output", workspace=workspace))
    assert [device["device"] for device in alone["devices"]] == [1, 3]


def test_tables_copied_elsewhere_and_their_steps(tmp_path: Path, workspace: Workspace) -> None:
    """An op_summary alone: its Step Id numbers the steps."""
    folder = _written(tmp_path / "copied", {"op_summary_1.csv": _summary(SHORT, (1, 2)), "notes.txt": "hello\n"})
    run = open_run(folder, workspace=workspace)
    assert [(step["step"], step["dur_ns"]) for step in _rank(run)["steps"]] == [(1, 400_000), (2, 400_000)]
    assert [note["message"] for note in run.notes] != []
    ops = {row["name"]: row for row in run.traces[0].ops.arrow().to_pylist()}
    convolution = ops["Conv2D-op1"]
    assert (convolution["op_type"], convolution["subgraph"], convolution["input_shapes"]) == (
        "Conv2D",
        "Default",
        "[[2, 3], [4]]",
    )
    found = {(row["name"], row["device_kind"]) for row in operator_table(run.traces[0]).rows}
    assert found == {
        ("Conv2D", "ai_core"),
        ("Dropout", "ai_cpu"),
        ("Conv2DGrad", "ai_core"),
        ("hcom_allReduce_", "communication"),
    }
    args = run.sql("select args::json->>'Task Type' as core from slices join args using(slice_id)").to_pylist()
    assert [row["core"] for row in args].count("AI_CPU") == 2


def test_a_table_of_sums_alone(tmp_path: Path, workspace: Workspace) -> None:
    text = (
        "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
        "1,MatMulV2,AI_CORE,3,90.5,1,2,3,60\n1,Cast,AI_CPU,2,10,1,5,9,40\n0,Other,AI_CORE,1,1,1,1,1,1\nx,,,,,,,,\n"
    )
    output = "mindstudio_profiler_output"
    folder = _written(tmp_path / "PROF_1", {"device_1/info.json.1": "{}", f"{output}/op_statistic_20240404.csv": text})
    run = open_run(folder, workspace=workspace)
    rows = operator_table(run.traces[0], on="device").rows
    assert [(row["name"], row["device_kind"], row["count"], row["total_ns"], row["mean_ns"]) for row in rows] == [
        ("MatMulV2", "ai_core", 3, 90_500, 30_167),
        ("Cast", "ai_cpu", 2, 10_000, 5_000),
    ]
    assert _rank(run)["events"]["dropped"] == {"not_shown": 1, "unreadable": 1}


def test_an_export_of_other_tables_tells_the_command(tmp_path: Path, workspace: Workspace) -> None:
    folder = _written(tmp_path / "PROF_1", {"mindstudio_profiler_output/api_statistic_2024.csv": "Level,API Name\n"})
    with pytest.raises(LaptimeError) as failure:
        open_run(folder, workspace=workspace)
    assert "msprof --export=on" in failure.value.remedy


@pytest.mark.parametrize("seed", range(MUTATIONS))
def test_damage_is_told_and_never_a_crash(tmp_path: Path, workspace: Workspace, seed: int) -> None:
    folder = _later(tmp_path / "PROF_1")
    random = Random(seed)
    files = sorted((folder / "mindstudio_profiler_output").iterdir())
    others = [file.read_bytes() for file in files]
    for file in random.sample(files, random.randint(1, 2)):
        file.write_bytes(mutated(file.read_bytes(), others, random))
    try:
        run = open_run(folder, workspace=workspace)
        result: dict[str, Any] = report(run)
        events = result["ranks"][0]["events"]
        assert events["read"] == events["kept"] + sum(events["dropped"].values())
        step_trace(run.traces[0])
        operator_table(run.traces[0], by="full-name")
    except LaptimeError:
        pass
