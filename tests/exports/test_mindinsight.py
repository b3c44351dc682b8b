"""The folder that MindInsight opens, written from raw jobs of a few steps: what it holds where something is missing."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.operators import operator_table
from laptime.analyses.pipeline import pipeline
from laptime.analyses.step_trace import step_trace
from laptime.exports.mindinsight import Written, write_processed
from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace
from tests.importers import ascend_jobs as jobs

STEPS = "step_trace_raw_3_detail_time.csv"


class Folder:
    """What was written for device 3."""

    def __init__(self, path: Path, written: Written) -> None:
        self.path, self.written = path, written

    def text(self, name: str) -> str:
        return (self.path / name).read_text()

    def rows(self, name: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.text(name))))


def written(tmp_path: Path, workspace: Workspace, files: dict[str, bytes]) -> Folder:
    run = open_run(jobs.write_job(tmp_path / "JOBAA", files), workspace=workspace)
    target = tmp_path / "profiler"
    return Folder(target, write_processed(run.traces[0], target, 3))


@pytest.fixture
def folder(tmp_path: Path, workspace: Workspace) -> Folder:
    """Of a whole job of four steps."""
    return written(tmp_path, workspace, jobs.job_files())


def test_every_file_of_a_whole_job(folder: Folder) -> None:
    assert sorted(folder.written.files) == sorted(path.name for path in folder.path.iterdir())
    assert sorted(folder.written.files) == [
        "aicore_intermediate_3_detail.csv",
        "aicore_intermediate_3_type.csv",
        "aicpu_intermediate_3.csv",
        "ascend_timeline_display_3.json",
        "ascend_timeline_summary_3.json",
        "framework_raw_3.csv",
        "min_cycle_counter_3.txt",
        "minddata_aicpu_3.txt",
        "output_op_compute_time_3.txt",
        "output_op_compute_time_detail_3.txt",
        "output_timeline_data_3.txt",
        "profiler_info_3.json",
        "step_trace_point_info_3.json",
        STEPS,
    ]


def test_steps_in_counts_of_the_device(folder: Folder) -> None:
    first, second, *_, average = folder.rows(STEPS)
    assert first == {
        "step_num": "1",
        "start_point": "1000500",
        "end_point": "1009900",
        "total": "9400",
        "fp_point": "1000500",
        "bp_point": "1006000",
        "iteration_interval": "0",
        "fp_and_bp": "5500",
        "tail": "3900",
        "stream_7_parallel_0_start_point": "1004000",
        "stream_7_parallel_0_end_point": "1007000",
        "stream_7_parallel_0": "3000",
    }
    assert (second["start_point"], second["iteration_interval"], second["total"]) == ("1009900", "600", "10000")
    assert (average["step_num"], average["total"], average["start_point"]) == ("-", "10000", "1019900")
    assert json.loads(folder.text("step_trace_point_info_3.json")) == {
        "fp_start": "Default/net/Mul-op1",
        "bp_end": "Gradients/net/Add-op2",
    }


def test_operators_and_executions(folder: Folder) -> None:
    mul, add = folder.rows("framework_raw_3.csv")
    assert (mul["task_id"], mul["stream_id"], mul["block_dim"]) == ("30001", "3", "32")
    assert (mul["full_kernel_name"], mul["kernel_name"]) == ("Default/net/Mul-op1", "Mul-op1")
    assert (add["kernel_type"], add["subgraph"], add["graph_id"]) == ("Add", "Gradients", "")
    side = {"format": "NC1HWC0", "data_type": "NUMBER_TYPE_FLOAT16", "shape": "32,16"}
    assert json.loads(mul["op_info"])["input_0"] == side
    assert folder.rows("aicore_intermediate_3_detail.csv") == [
        {"full_kernel_name": name, "execution_time": "0.02", "execution_frequency": "4"}
        for name in ("Default/net/Mul-op1", "Gradients/net/Add-op2")
    ]
    assert folder.rows("aicore_intermediate_3_type.csv")[0] == {
        "kernel_type": "Mul",
        "total_time": "0.08",
        "execution_frequency": "4",
        "percent": "0.5",
    }
    timeline = folder.text("output_timeline_data_3.txt").splitlines()
    assert timeline[1] == "Default/net/Mul-op1,3,10.01000,0.02000"
    assert len(timeline) == 1 + 8
    assert folder.text("min_cycle_counter_3.txt") == "1001000.0"


def test_ai_cpu_and_fetches(folder: Folder) -> None:
    assert folder.rows("aicpu_intermediate_3.csv") == [
        {
            "serial_number": "1",
            "kernel_type": "GetNext",
            "total_time": "0.002",
            "dispatch_time": "0.001",
            "execution_time": "0.03",
            "run_start": "120",
            "run_end": "150",
        }
    ]
    assert folder.text("minddata_aicpu_3.txt").splitlines() == [
        "GetNext_dequeue_wait 10 30 2",
        "GetNext_dequeue_wait 40 41 0",
    ]


def test_the_timeline_starts_at_the_first_operator(folder: Folder) -> None:
    events = json.loads(folder.text("ascend_timeline_display_3.json"))
    slices = [event for event in events if event["ph"] == "X"]
    assert [event["args"]["name"] for event in events if event["ph"] == "M"] == ["AI Core", "AI CPU", "Communication"]
    first = slices[0]
    assert (first["name"], first["pid"], first["tid"], first["ts"], first["dur"]) == ("Mul-op1", 3, 3, 0, 20)
    assert first["args"]["fullname"] == "Default/net/Mul-op1"
    assert {event["name"] for event in slices if event["pid"] == 10_000} == {"stream_7_parallel_0"}
    assert {event["name"] for event in slices if event["pid"] == 9_000} == {"GetNext"}
    assert json.loads(folder.text("ascend_timeline_summary_3.json")) == {
        "total_time": 160.0,
        "num_of_streams": 1,
        "num_of_ops": 2,
        "op_exe_times": 8,
        "max_scope_name_num": 0,
    }


def test_read_again_it_is_the_job(folder: Folder, tmp_path: Path, workspace: Workspace) -> None:
    again = open_run(folder.path, workspace=workspace).traces[0]
    job = open_run(tmp_path / "JOBAA", workspace=workspace).traces[0]
    assert step_trace(again).average == step_trace(job).average

    def rows(trace: Any) -> list[tuple[object, ...]]:
        table = operator_table(trace, by="full-name").rows
        own = [row for row in table if row["device_kind"] == "ai_core"]
        return sorted((row["name"], row["op_type"], row["count"], row["total_ns"]) for row in own)

    assert rows(again) == rows(job)
    assert len(rows(job)) == 2
    device = [each for each in pipeline(job)["queues"] if each["queue"] == "device"]  # type: ignore[attr-defined]  # JSON
    assert [each for each in pipeline(again)["queues"] if each["queue"] == "device"] == device  # type: ignore[attr-defined]  # JSON


def test_a_region_that_a_step_lacks_is_zeros_and_outside_the_mean(tmp_path: Path, workspace: Workspace) -> None:
    """The first step lacks it too: the columns are those of all steps."""
    steps = jobs.step_points(4)
    for place in (0, 2):
        steps[place] = [record for record in steps[place] if record[0] not in (3, 4)]
    folder = written(tmp_path, workspace, {**jobs.job_files(), jobs.POINTS: jobs.joined(steps)})
    rows = folder.rows(STEPS)
    assert [row["stream_7_parallel_0"] for row in rows] == ["0", "3000", "0", "3000", "3000"]
    assert rows[-1]["stream_7_parallel_0_start_point"] == str((1_014_000 + 1_034_000) // 2)


def test_a_step_without_its_end_is_left_out_and_no_number_shifts(tmp_path: Path, workspace: Workspace) -> None:
    steps = jobs.step_points(5)
    steps[2] = steps[2][:-1]
    folder = written(tmp_path, workspace, {**jobs.job_files(5), jobs.POINTS: jobs.joined(steps)})
    assert [row["step_num"] for row in folder.rows(STEPS)] == ["1", "2", "4", "5", "-"]
    assert folder.written.steps is not None
    assert folder.written.steps.left_out == [3]
    assert {row["total"] for row in folder.rows(STEPS)[1:]} == {"10000", "9400"}


def test_inference_has_no_backward_columns(tmp_path: Path, workspace: Workspace) -> None:
    steps = [[record for record in step if record[0] != 2] for step in jobs.step_points(3)]
    folder = written(tmp_path, workspace, {**jobs.job_files(3), jobs.POINTS: jobs.joined(steps)})
    row = folder.rows(STEPS)[1]
    assert (row["iteration_interval"], row["fp"], row["total"]) == ("600", "9400", "10000")
    assert "bp_point" not in row and "tail" not in row


def test_the_mean_of_an_operator_of_two_tasks_is_that_of_both(tmp_path: Path, workspace: Workspace) -> None:
    """Both run once a step; one step holds the first alone."""
    tasks = b"Default/net/Mul-op1 32 30001 3\nDefault/net/Mul-op1 32 30002 3\n"
    folder = written(tmp_path, workspace, {**jobs.job_files(), jobs.TASKS: tasks})
    (mul,) = folder.rows("aicore_intermediate_3_detail.csv")
    assert (mul["execution_time"], mul["execution_frequency"]) == ("0.04", "8")
    kept = [row["task_id"] for row in folder.rows("framework_raw_3.csv") if row["full_kernel_name"].endswith("op1")]
    assert kept == ["30001", "30002"]


def test_a_job_of_step_points_alone(tmp_path: Path, workspace: Workspace) -> None:
    folder = written(tmp_path, workspace, {jobs.POINTS: jobs.job_files()[jobs.POINTS]})
    assert sorted(folder.written.files) == [
        "ascend_timeline_display_3.json",
        "ascend_timeline_summary_3.json",
        "profiler_info_3.json",
        "step_trace_point_info_3.json",
        STEPS,
    ]
    events = json.loads(folder.text("ascend_timeline_display_3.json"))
    assert [event["ts"] for event in events if event["ph"] == "X"] == [0, 100, 200, 300]


def test_operators_of_the_data_pipeline(tmp_path: Path, workspace: Workspace) -> None:
    """Batch takes from Map, which has no queue and works inside it, and Map from two readers."""
    queue = {"output_queue": {"size": [0, 4], "length": 8}}
    tree = [
        (0, "BatchOp", None, [1]),
        (1, "MapOp", None, [2, 3]),
        (2, "TFReaderOp", queue, []),
        (3, "VocOp", queue, []),
    ]
    content = {
        "sampling_interval": 10,
        "op_info": [
            {"op_id": op, "op_type": kind, "num_workers": 2, "metrics": metrics, "children": children}
            for op, kind, metrics, children in tree
        ],
    }
    files = {**jobs.job_files(), "pipeline_profiling_0.json": json.dumps(content).encode()}
    folder = written(tmp_path, workspace, files)
    rows = folder.rows("minddata_pipeline_raw_3.csv")
    assert [(r["op_id"], r["op_type"], r["parent_id"], r["children_id"]) for r in rows] == [
        ("0", "Batch", "", "[2, 3]"),
        ("2", "TFReader", "0", ""),
        ("3", "Voc", "0", ""),
    ]
    assert (rows[1]["output_queue_size"], rows[1]["output_queue_usage_rate"]) == ("[0, 4]", "0.25")
    assert {row["sample_interval"] for row in rows} == {"10"}
