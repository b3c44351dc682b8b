"""Raw Ascend jobs: what a whole one holds, and what is left where files are missing, torn or damaged."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from laptime.analyses.operators import operator_table
from laptime.analyses.pipeline import pipeline
from laptime.analyses.report import report
from laptime.analyses.step_trace import step_trace
from laptime.errors import LaptimeError
from laptime.importers.opening import open_run
from laptime.model.trace import Run
from laptime.model.workspace import Workspace
from tests.importers import ascend_jobs as jobs

BUDGET = {"total_ns": 100_000, "compute_ns": 40_000, "communication_exposed_ns": 20_000, "idle_ns": 40_000}
"""Of every step but the first: tasks 1000..5000, communication 4000..7000, in counts of 10 ns."""


def _open(folder: Path, files: dict[str, bytes], workspace: Workspace) -> Run:
    return open_run(jobs.write_job(folder, files), workspace=workspace)


def _rank(run: Run) -> dict[str, Any]:
    ranks: Any = report(run)["ranks"]
    return dict(ranks[0])


def _warnings(run: Run) -> dict[str, int]:
    rows: Any = report(run)["warnings"]
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["code"]] = counts.get(row["code"], 0) + row["count"]
    return counts


@pytest.fixture
def job(tmp_path: Path, workspace: Workspace) -> Run:
    """A whole job."""
    return _open(tmp_path / "JOBAA", jobs.job_files(), workspace)


def test_steps_and_budgets(job: Run) -> None:
    steps = step_trace(job.traces[0])
    parts = [(s["interval_ns"], s["forward_backward_ns"], s["tail_ns"], s["total_ns"]) for s in steps.steps]
    assert parts == [(None, 55_000, 39_000, 94_000)] + [(6_000, 55_000, 39_000, 100_000)] * 3
    assert [s["step"] for s in steps.steps] == [1, 2, 3, 4]
    assert steps.average == {
        "steps_used": 3,
        "first_step_included": False,
        "interval_ns": 6_000,
        "forward_backward_ns": 55_000,
        "tail_ns": 39_000,
        "total_ns": 100_000,
    }
    assert (steps.forward_start_op, steps.backward_end_op) == ("Default/net/Mul-op1", "Gradients/net/Add-op2")
    region: Any = steps.steps[1]["communication"]
    assert [(r["name"], r["stream"], r["dur_ns"]) for r in region] == [("AllReduce-op9", "stream 7", 30_000)]
    for step in _rank(job)["steps"][1:]:
        assert {key: step["budget"][key] for key in BUDGET} == BUDGET


def test_operators_and_tasks(job: Run) -> None:
    rows = {row["name"]: row for row in operator_table(job.traces[0], by="full-name").rows}
    mul: Any = rows["Default/net/Mul-op1"]
    assert (mul["op_type"], mul["count"], mul["mean_ns"]) == ("Mul", 4, 20_000)
    assert (mul["info"]["subgraph"], mul["info"]["input_shapes"], mul["info"]["block_dim"]) == (
        "Default",
        [[32, 16]],
        32,
    )
    assert (mul["info"]["input_dtypes"], mul["info"]["input_0"]["format"]) == (["FLOAT16"], "NC1HWC0")
    found = job.sql("SELECT name, kind, count(*) AS n FROM slices GROUP BY ALL ORDER BY name, kind").to_pylist()
    assert [(row["name"], row["kind"], row["n"]) for row in found] == [
        ("Add-op2", "kernel", 4),
        ("AllReduce-op9", "communication", 4),
        ("GetNext-op3", "data", 1),
        ("Mul-op1", "kernel", 4),
        ("task 40000", "device_other", 4),
        ("task 41000", "device_other", 1),
    ]
    rank = _rank(job)
    assert rank["device_total"]["ops"] == 12
    assert rank["events"]["kept"] == rank["events"]["read"] - sum(rank["events"]["dropped"].values())


def test_ai_cpu_queues_and_clock(job: Run) -> None:
    trace = job.traces[0]
    rows = job.sql(
        "SELECT s.name, s.kind, s.dur_ns, o.op_type, t.kind AS lane, t.name AS track FROM slices s "
        "JOIN ops o USING (op_id) JOIN tracks t USING (track_id) WHERE o.device_kind = 'ai_cpu'"
    ).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        ("GetNext-op3", "data", 2_000, "GetNext", "stream", "AI CPU"),
    ]
    assert job.sql("SELECT count, total_ns FROM op_totals").to_pylist() == [{"count": 1, "total_ns": 2_000}]
    queues: Any = pipeline(trace)["queues"]
    assert [(q["queue"], q["samples"], q["empty_count"]) for q in queues] == [("device", 2, 1), ("transfer", 2, 1)]
    facts: Any = trace.meta["minddata"]
    assert facts["fetch_wait_ns"] == [20_000, 1_000]
    assert trace.meta["base_unix_ns"] == 1_591_183_963_784_568_740 - 9_000_000
    assert (trace.meta["framework"], trace.rank, trace.source) == ("mindspore", None, "JOBAA[0]")


@pytest.mark.parametrize("missing", [jobs.HWTS, jobs.TASKS])
def test_without_the_log_of_the_cores_compute_is_unknown(missing: str, tmp_path: Path, workspace: Workspace) -> None:
    """The log, or which operators its tasks are: the step trace's collectives and the AI CPU are not all there was."""
    files = jobs.job_files()
    del files[missing]
    rank = _rank(_open(tmp_path / "JOBAA", files, workspace))
    assert rank["step_summary"] is None
    for device in (rank["device_total"], *rank["devices"]):
        assert {device[part] for part in ("compute_ns", "busy_ns", "idle_ns", "copy_ns", "kernel_busy_share")} == {None}
        assert (device["ops"], device["communication_ns"] > 0) == (4, True)


def test_kernels_of_the_ai_cpu_are_work_of_the_device(tmp_path: Path, workspace: Workspace) -> None:
    """In step 2, 1000 counts (10 us) in which no AI Core works; a run without a name is no work."""
    text = "[100] Node:Default/TopK-op4, Run start:120, Run end:128\0" + _thread(at=6000, total=10) + _thread(7000, 50)
    run = _open(tmp_path / "JOBAA", {**jobs.job_files(), jobs.AICPU: text.encode()}, workspace)
    found = run.sql(
        "SELECT s.name, s.kind, s.category, s.dur_ns, t.kind AS lane, t.name AS track, t.device, a.args FROM slices s "
        "JOIN tracks t USING (track_id) JOIN args a USING (slice_id) WHERE category = 'aicpu' ORDER BY s.start_ns"
    ).to_pylist()
    kernel = '{"run_start_us": 120, "run_end_us": 128, "dispatch_us": 1, "total_us": 10}'
    assert [tuple(row.values()) for row in found] == [
        ("TopK-op4", "kernel", "aicpu", 10_000, "stream", "AI CPU", 0, kernel),
        ("AI CPU task", "device_other", "aicpu", 50_000, "stream", "AI CPU", 0, '{"dispatch_us": 1, "total_us": 50}'),
    ]
    budgets = [step["budget"]["compute_ns"] for step in _rank(run)["steps"]]
    assert [own - budgets[0] for own in budgets] == [0, 10_000, 0, 0]
    assert {row["name"]: row["count"] for row in operator_table(run.traces[0]).rows}["TopK"] == 1


def _thread(at: int, total: int) -> str:
    start = jobs.ZERO + jobs.STEP + at
    return (
        f"Thread[ 1] process device[0]:aicpu[ 0] task end, tickDrvTopHalf={start},tickDrvBottomHalf={start + 1}, "
        f"tickBeforeRun={start + 2},tickAfterRun={start + 9}, dispatchTime=1 us, totalTime={total} us.\0"
    )


@pytest.mark.parametrize(
    ("end", "start"),
    [(255, 0), (255, 10_010), (255, 65_535), (65_535, 0), (65_535, 70_000), (255, None), (65_535, None)],
)
def test_dialects_of_step_ends(end: int, start: int | None, tmp_path: Path, workspace: Workspace) -> None:
    files = {jobs.POINTS: jobs.joined(jobs.step_points(5, end=end, start=start))}
    steps = step_trace(_open(tmp_path / "JOBAA", files, workspace).traces[0])
    assert [s["total_ns"] for s in steps.steps] == [94_000] + [100_000] * 4
    assert {len(s["communication"]) for s in steps.steps} == {1}  # type: ignore[arg-type]  # JSON


def test_end_255_may_be_communication_of_the_new_dialect(tmp_path: Path, workspace: Workspace) -> None:
    steps = jobs.step_points(3, end=65_535, start=0)
    for place, records in enumerate(steps):
        zero = jobs.ZERO + place * jobs.STEP
        records[3:3] = [jobs.point(255, zero + 4100, 8), jobs.point(256, zero + 4200, 8)]
    found = step_trace(_open(tmp_path / "JOBAA", {jobs.POINTS: jobs.joined(steps)}, workspace).traces[0])
    assert [s["total_ns"] for s in found.steps] == [94_000, 100_000, 100_000]


@pytest.mark.parametrize("start", [0, 10_010, None])
def test_a_lost_end_shifts_no_number(start: int | None, tmp_path: Path, workspace: Workspace) -> None:
    steps = jobs.step_points(6, start=start)
    del steps[2][-1]
    run = _open(tmp_path / "JOBAA", {jobs.POINTS: jobs.joined(steps)}, workspace)
    found = step_trace(run.traces[0])
    assert [(s["step"], s["complete"]) for s in found.steps] == [(n, n != 3) for n in range(1, 7)]
    assert [s["total_ns"] for s in found.steps if s["step"] in (2, 4, 5, 6)] == [100_000, 94_000, 100_000, 100_000]
    assert {s["step"] for s in found.skipped} == {1, 3, 4}
    assert found.average is not None and found.average["total_ns"] == 100_000
    assert {"lost_records", "partial_step"} <= set(_warnings(run))


def test_lost_end_and_start_of_a_step(tmp_path: Path, workspace: Workspace) -> None:
    steps = jobs.step_points(4)
    del steps[1][-1], steps[2][0]
    found = step_trace(_open(tmp_path / "JOBAA", {jobs.POINTS: jobs.joined(steps)}, workspace).traces[0])
    assert [(s["step"], s["complete"]) for s in found.steps] == [(1, True), (2, False), (3, True), (4, True)]


def test_a_lost_point_costs_only_its_region(tmp_path: Path, workspace: Workspace) -> None:
    steps = jobs.step_points(3)
    del steps[1][2]
    run = _open(tmp_path / "JOBAA", {jobs.POINTS: jobs.joined(steps)}, workspace)
    assert [len(s["communication"]) for s in step_trace(run.traces[0]).steps] == [1, 0, 1]  # type: ignore[arg-type]  # JSON
    assert _warnings(run)["unbalanced"] == 1


def test_changing_job_number_is_told(tmp_path: Path, workspace: Workspace) -> None:
    steps = [*jobs.step_points(2, start=10_010), *jobs.step_points(4, start=10_011)[2:]]
    run = _open(tmp_path / "JOBAA", {jobs.POINTS: jobs.joined(steps)}, workspace)
    assert _warnings(run)["other"] == 1


def test_the_graph_that_sets_up_data_is_no_step(tmp_path: Path, workspace: Workspace) -> None:
    files = jobs.job_files()
    files[jobs.TASKS] += b"Default/InitDataSetQueue-op0 1 30009 3\n"
    found = step_trace(_open(tmp_path / "JOBAA", files, workspace).traces[0])
    assert [(s["step"], s["first_of_window"]) for s in found.steps] == [(0, True), (1, True), (2, False), (3, False)]


def test_a_lost_record_is_counted_and_shifts_no_pair(tmp_path: Path, workspace: Workspace) -> None:
    files = jobs.job_files()
    log = jobs.hwts_log(4)
    lost = next(
        n
        for n, record in enumerate(log.records)
        if record[0] & 7 == 1 and record[6:8] == (30_001).to_bytes(2, "little")
    )
    del log.records[lost]
    files[jobs.HWTS] = log.bytes()
    run = _open(tmp_path / "JOBAA", files, workspace)
    rows = {row["name"]: row for row in operator_table(run.traces[0], by="name").rows}
    assert (rows["Mul-op1"]["count"], rows["Mul-op1"]["max_ns"]) == (3, 20_000)
    warnings = _warnings(run)
    assert (warnings["lost_records"], warnings["unbalanced"]) == (1, 1)
    assert _rank(run)["events"]["dropped"] == {"unclosed": 1}


def test_a_lost_start_leaves_an_end(tmp_path: Path, workspace: Workspace) -> None:
    files = jobs.job_files()
    log = jobs.hwts_log(4)
    del log.records[1]
    files[jobs.HWTS] = log.bytes()
    run = _open(tmp_path / "JOBAA", files, workspace)
    assert _rank(run)["events"]["dropped"] == {"unopened": 1}


def test_pairs_are_first_in_first_out_per_stream_and_task(tmp_path: Path, workspace: Workspace) -> None:
    log = jobs.HwtsLog()
    for kind, stream, time in (
        (0, 3, 10),
        (0, 5, 20),
        (1, 3, 30),
        (0, 3, 35),
        (0, 3, 36),
        (1, 3, 45),
        (1, 5, 50),
        (1, 3, 47),
    ):
        log.add(kind, stream, 7, time)
    files = {jobs.HWTS: log.bytes(), jobs.TASKS: b"Default/A-op1 1 7 3\nDefault/B-op2 1 7 5\n"}
    run = _open(tmp_path / "JOBAA", files, workspace)
    rows = run.sql("SELECT name, start_ns, dur_ns FROM slices ORDER BY start_ns").to_pylist()
    assert [(r["name"], r["start_ns"], r["dur_ns"]) for r in rows] == [
        ("A-op1", 0, 200),
        ("B-op2", 100, 300),
        ("A-op1", 250, 100),
        ("A-op1", 260, 110),
    ]


@pytest.mark.parametrize(("name", "size"), [(jobs.HWTS, 64), (jobs.POINTS, 20)])
def test_records_cut_by_a_slice_are_whole_again(name: str, size: int, tmp_path: Path, workspace: Workspace) -> None:
    files = jobs.job_files(12)
    whole = _open(tmp_path / "JOBAA", files, workspace)
    data = files.pop(name)
    cuts = [0, 3 * size + 7, *(5 * size + 10 * k + 3 for k in range(1, 11)), len(data)]
    for number, (first, last) in enumerate(itertools.pairwise(cuts)):  # slice_10 comes after slice_2
        files[name.replace("slice_0", f"slice_{number}")] = data[first:last]
    torn = _open(tmp_path / "JOBBB", files, workspace)
    assert _rank(torn)["steps"] == _rank(whole)["steps"]
    assert _warnings(torn) == _warnings(whole)


@pytest.mark.parametrize(("name", "size"), [(jobs.HWTS, 64), (jobs.POINTS, 20)])
def test_a_slice_cut_short_costs_only_its_record(name: str, size: int, tmp_path: Path, workspace: Workspace) -> None:
    files = jobs.job_files(12)
    data = files.pop(name)
    half = len(data) // size // 2 * size
    files[name] = data[: half - 13]
    files[name.replace("slice_0", "slice_1")] = data[half:]
    run = _open(tmp_path / "JOBAA", files, workspace)
    assert _warnings(run)["lost_records"] >= 1
    rank = _rank(run)
    assert [step["step"] for step in rank["steps"]] == list(range(1, 13))
    assert [step["budget"]["compute_ns"] for step in rank["steps"][-4:]] == [40_000] * 4


def test_a_missing_slice_is_told(tmp_path: Path, workspace: Workspace) -> None:
    files = {jobs.POINTS.replace("slice_0", "slice_2"): jobs.joined(jobs.step_points(3)), jobs.POINTS: b""}
    run = _open(tmp_path / "JOBAA", files, workspace)
    assert len(run.traces[0].steps["step"]) == 3
    assert _warnings(run)["truncated"] == 1


@pytest.mark.parametrize("name", sorted(jobs.job_files()))
def test_each_file_is_optional(name: str, tmp_path: Path, workspace: Workspace) -> None:
    files = jobs.job_files()
    del files[name]
    run = _open(tmp_path / "JOBAA", files, workspace)
    rank = _rank(run)
    assert len(rank["steps"]) == (0 if name == jobs.POINTS else 4)
    budgets = [step["budget"] for step in rank["steps"][1:]]
    if name in (jobs.HWTS, jobs.TASKS):
        assert budgets == [None] * 3
    elif name != jobs.POINTS:
        assert [budget["compute_ns"] for budget in budgets] == [40_000] * 3
    missing: Any = run.traces[0].meta["not_recorded"]
    assert len(missing) == (name not in (jobs.HOST_START, jobs.DEV_START))
    rows = {row["name"] for row in operator_table(run.traces[0], by="name", on="device").rows}
    assert ({"Mul-op1", "Add-op2"} <= rows) == (name not in (jobs.HWTS, jobs.TASKS))


@pytest.mark.parametrize("name", [jobs.HWTS, jobs.POINTS, jobs.GRAPH, jobs.TASKS, jobs.AICPU])
def test_each_file_may_be_alone_or_empty(name: str, tmp_path: Path, workspace: Workspace) -> None:
    assert _rank(_open(tmp_path / "JOBAA", {name: jobs.job_files()[name]}, workspace))["events"]["read"] > 0
    assert _warnings(_open(tmp_path / "JOBBB", {**jobs.job_files(), name: b""}, workspace))["other"] == 1
    with pytest.raises(LaptimeError):
        _open(tmp_path / "JOBCC", {name: b""}, workspace)


def test_two_devices_are_two_entries(tmp_path: Path, workspace: Workspace) -> None:
    files = jobs.job_files()
    second = {re.sub(r"\.0(?=\.slice|$)", ".1", name): content for name, content in files.items()}
    run = _open(tmp_path / "JOBAA", {**files, **second}, workspace)
    assert [trace.source for trace in run.traces] == ["JOBAA[0]", "JOBAA[1]"]
    devices: Any = [rank["devices"][0]["device"] for rank in report(run)["ranks"]]  # type: ignore[attr-defined]  # JSON
    assert devices == [0, 1]


def test_a_wrong_device_number_is_told(tmp_path: Path, workspace: Workspace) -> None:
    files = jobs.job_files()
    moved = {
        name.replace(".0.slice", ".3.slice") if name in (jobs.HWTS, jobs.POINTS) else name: c
        for name, c in files.items()
    }
    run = _open(tmp_path / "JOBAA", moved, workspace)
    assert [trace.source for trace in run.traces] == ["JOBAA[3]"]
    assert _rank(run)["steps"][2]["budget"]["compute_ns"] == 40_000
    assert _warnings(run)["other"] == 1


def test_marks_and_compressed_copies_are_ignored(tmp_path: Path, workspace: Workspace) -> None:
    extra = {f"{jobs.HWTS}.done": b"", f"{jobs.HWTS}.zip": b"PK\x03\x04junk", f"{jobs.POINTS}.join": b"junk"}
    run = _open(tmp_path / "JOBAA", {**jobs.job_files(), **extra}, workspace)
    assert set(_warnings(run)) <= {"unlinked_device_ops"}


def test_files_in_the_data_folder_and_in_a_container(tmp_path: Path, workspace: Workspace) -> None:
    files = jobs.job_files()
    moved = {f"JOBAA/data/{name}": content for name, content in files.items() if "Framework" not in name}
    moved |= {
        f"container/0/data/{name.replace('.slice', '.JOBAA.slice')}": content
        for name, content in files.items()
        if "Framework" in name
    }
    whole = open_run(jobs.write_job(tmp_path / "profiling", moved), workspace=workspace)
    alone = open_run(tmp_path / "profiling" / "JOBAA", workspace=workspace)
    for run in (whole, alone):
        assert len(run.traces) == 1
        assert _rank(run)["steps"][1]["budget"]["compute_ns"] == 40_000


def test_numbers_of_the_ge_backend(tmp_path: Path, workspace: Workspace) -> None:
    line = (
        'op_name:a/Conv+a/Relu op_type:Conv2D input_id:0 input_format:29 input_data_type:1 input_shape:"2" '
        'output_id:0 output_format:0 output_data_type:9 output_shape:""'
    )
    files = {
        "Framework.host.graph_desc_info.0.slice_0": line.encode(),
        "Framework.host.task_desc_info.0.slice_0": b"5 a/Conv+a/Relu 1 4 2\nbroken\n",
    }
    run = _open(tmp_path / "JOBAA", files, workspace)
    row = run.sql("SELECT name, input_dtypes, output_shapes, info FROM ops").to_pylist()[0]
    assert (row["name"], row["input_dtypes"], row["output_shapes"]) == ("Conv+Relu", '["FLOAT16"]', "[[]]")
    assert '"FRACTAL_NZ"' in row["info"] and '"NCHW"' in row["info"] and '"DT_INT64"' in row["info"]
    assert _warnings(run)["other"] == 1


def test_damaged_jobs_are_refused_in_one_line_or_shown(tmp_path: Path, workspace: Workspace) -> None:
    files = jobs.job_files(3)
    for seed in range(200):
        random = Random(seed)
        folder = tmp_path / f"JOB{seed}"
        jobs.write_job(folder, _mutated(files, random))
        try:
            run = open_run(folder, workspace=workspace)
        except LaptimeError:
            continue
        for trace in run.traces:
            step_trace(trace)
            operator_table(trace)
            pipeline(trace)
        rank = _rank(run)
        assert rank["events"]["kept"] + sum(rank["events"]["dropped"].values()) == rank["events"]["read"]
        for step in rank["steps"]:
            budget = step["budget"]
            assert budget is None or budget["total_ns"] == sum(
                budget[part] for part in ("compute_ns", "communication_exposed_ns", "copy_exposed_ns", "idle_ns")
            )


def _mutated(files: dict[str, bytes], random: Random) -> dict[str, bytes]:
    """Some files cut, some with bytes changed, put in or taken out, some missing."""
    result = {}
    for name, content in files.items():
        data = bytearray(content)
        for _ in range(random.choice((0, 0, 1, 3, 30))):
            place = random.randrange(len(data) + 1)
            how = random.randrange(4)
            if how == 0:
                data[place : place + 1] = bytes([random.randrange(256)])
            elif how == 1:
                data[place:place] = random.randbytes(random.randrange(1, 90))
            elif how == 2:
                del data[place : place + random.randrange(1, 90)]
            else:
                data[place : place + 8] = b"\xff" * random.randrange(9)
        if random.random() < 0.15:
            del data[random.randrange(len(data) + 1) :]
        if random.random() > 0.1:
            result[name] = bytes(data)
    return result or {jobs.HWTS: b"x"}
