"""Every number of the raw Ascend jobs of the corpus, against values computed from their bytes by other means."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.operators import operator_table
from laptime.analyses.pipeline import pipeline
from laptime.analyses.report import report
from laptime.analyses.selection import Selection
from laptime.analyses.step_trace import step_trace
from laptime.importers.opening import open_run
from laptime.model.trace import Run
from laptime.model.workspace import Workspace
from tests.conftest import corpus_folder

pytestmark = pytest.mark.corpus

COUNT_NS = 10
"""The device's clock counts 10 ns."""

AVERAGE_REGIONS = {
    520: (1.4817, 2.8497),
    522: (1.6706, 2.4399),
    524: (4.7718, 0.7024),
    526: (4.9247, 0.5960),
    528: (5.8593, 0.6709),
    530: (6.0135, 0.6688),
    532: (49.0594, 31.8806),
    534: (57.4014, 26.4454),
    536: (90.3377, 2.2360),
    538: (99.8746, 3.2479),
    540: (118.3705, 49.2810),
}
"""Mean offset from the step's start and mean duration in ms of the communication of each stream, steps 2..322."""

TYPES = {
    "UnsortedSegmentSum": (44.607826, 2),
    "GatherV2": (43.155441, 2),
    "Slice": (20.376315, 16),
    "Concat": (5.808454, 4),
    "Split": (2.714277, 2),
    "MatMul": (1.936681, 15),
    "Mul": (1.902949, 32),
    "StridedSliceGrad": (1.506834, 2),
    "TransData": (1.115158, 30),
    "ReluGrad": (0.854069, 5),
    "Cast": (0.484685, 15),
    "ReLU": (0.483282, 5),
    "RealDiv": (0.422807, 15),
    "StridedSlice": (0.345569, 2),
    "Adam": (0.285936, 11),
    "BiasAdd": (0.189663, 5),
}
"""Sum of the mean times of its operators in ms, and how many they are, by type."""


def _open(corpus: Path, case: str, root: Path) -> Run:
    return open_run(corpus / "mindinsight" / case, workspace=Workspace.choose(root, say=lambda _: None))


@pytest.fixture(scope="module")
def wide_deep(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """job3_widedeep_raw."""
    folder = corpus_folder()
    if folder is None:
        pytest.skip("no corpus: set LAPTIME_CORPUS to the folder of real recordings")
    return _open(folder, "job3_widedeep_raw", tmp_path_factory.mktemp("workspace"))


def _ms(value: object, digits: int = 4) -> float:
    return round(float(str(value)) / 1e6, digits)


def _rank(run: Run) -> dict[str, Any]:
    ranks: Any = report(run)["ranks"]
    return dict(ranks[0])


def test_step_trace_of_job3(wide_deep: Run) -> None:
    steps = step_trace(wide_deep.traces[0])
    average: Any = steps.average
    assert len(steps.steps) == 322
    assert (average["steps_used"], average["first_step_included"]) == (321, False)
    parts = ("total_ns", "interval_ns", "forward_backward_ns", "tail_ns")
    assert [_ms(average[part]) for part in parts] == [205.3809, 0.2038, 118.0539, 87.1231]
    assert round(average["forward_backward_ns"] / COUNT_NS) / 1e5 == 118.05395  # 118.054 in whole counts
    shares = [100 * average[part] / average["total_ns"] for part in parts[1:]]
    assert [round(share, 2) for share in shares] == [0.10, 57.48, 42.42]
    first: Any = steps.steps[0]
    assert [_ms(first[part]) for part in parts if part != "interval_ns"] == [284.2712, 193.7811, 90.4900]
    totals = {s["step"]: s["total_ns"] for s in steps.steps[1:]}
    median: Any = steps.median
    assert _ms(median["total_ns"]) == 204.9675
    assert _ms(min(totals.values())) == 201.4255  # type: ignore[type-var]  # JSON
    longest = sorted(totals, key=totals.__getitem__, reverse=True)[:5]  # type: ignore[arg-type]  # JSON
    assert longest == [204, 110, 207, 153, 197] and _ms(totals[204]) == 211.4022


def test_points_of_job3(wide_deep: Run) -> None:
    trace = wide_deep.traces[0]
    steps = step_trace(trace)
    assert (steps.forward_start_op, steps.backward_end_op) == ("Default/Cast-op6", "Default/TransData-op7")
    origin: Any = trace.meta["origin_ns"]
    first = trace.steps.arrow().to_pylist()[0]
    counts = [(first[key] + origin) // COUNT_NS for key in ("forward_start_ns", "backward_end_ns", "end_ns")]
    assert counts == [43806850547, 43826228662, 43835277665]
    assert origin // COUNT_NS == 38753186165


def test_communication_of_job3(wide_deep: Run) -> None:
    sums: dict[int, list[float]] = {stream: [0.0, 0.0] for stream in AVERAGE_REGIONS}
    steps = step_trace(wide_deep.traces[0]).steps[1:]
    for step in steps:
        regions: Any = step["communication"]
        assert len(regions) == 11
        for region in regions:
            found = sums[int(region["stream"].removeprefix("stream "))]
            found[0] += region["start_ns"] - step["start_ns"]
            found[1] += region["dur_ns"]
    means = {stream: (_ms(offset / 321), _ms(dur / 321)) for stream, (offset, dur) in sums.items()}
    assert means == pytest.approx(AVERAGE_REGIONS, abs=6e-5)
    names: Any = [region["name"] for region in steps[0]["communication"]]  # type: ignore[attr-defined]  # JSON
    assert names[:3] == ["AllGather-op136", "ReduceScatter-op145", "AllGather-op147"]
    assert names[3:] == [f"stream_{stream}_parallel_0" for stream in range(526, 542, 2)]


def test_budgets_of_job3(wide_deep: Run) -> None:
    steps = _rank(wide_deep)["steps"]
    keys = ("total_ns", "compute_ns", "communication_exposed_ns", "idle_ns")
    assert [_ms(steps[1]["budget"][key]) for key in keys] == pytest.approx(
        [205.6836, 126.4958, 77.5715, 1.6163], abs=6e-5
    )
    means = [sum(step["budget"][key] for step in steps[1:14]) / 13 for key in keys]
    assert [_ms(mean, 2) for mean in means] == pytest.approx([205.38, 126.44, 77.43, 1.52], abs=0.006)
    assert [step["step"] for step in steps if step["budget"] is None] == list(range(15, 323))


def test_tasks_of_job3(wide_deep: Run) -> None:
    found = wide_deep.sql(
        "SELECT category, kind, count(*) AS n, count(DISTINCT op_id) AS ops FROM slices GROUP BY ALL ORDER BY ALL"
    ).to_pylist()
    assert [(row["category"], row["kind"], row["n"], row["ops"]) for row in found] == [
        ("aicpu", "device_other", 323, 0),
        ("hwts", "device_other", 31_385 - 2_817, 0),
        ("hwts", "kernel", 2_817, 199),
        ("training_trace", "communication", 322 * 11, 3),
    ]
    rank = _rank(wide_deep)
    assert rank["events"]["dropped"] == {"unclosed": 77}
    assert rank["events"]["read"] == 62_847 + 8_372 + 199 + 199 + 8 + 323 + 966
    streams = wide_deep.sql("SELECT count(DISTINCT track_id) AS n FROM slices WHERE category = 'hwts'").to_pylist()
    assert streams[0]["n"] == 59
    codes = [row["code"] for row in report(wide_deep)["warnings"]]  # type: ignore[attr-defined]  # JSON
    assert "lost_records" not in codes and "clock_disorder" not in codes


def test_operators_of_job3(wide_deep: Run) -> None:
    table: Any = operator_table(wide_deep.traces[0], by="full-name").rows
    rows: Any = [row for row in table if (row["info"] or {}).get("device_kind") == "ai_core"]
    assert len(rows) == 199
    assert sorted({row["count"] for row in rows}) == [14, 15]
    assert sum(row["count"] == 14 for row in rows) == 168
    means = {row["name"]: row["total_ns"] / row["count"] for row in rows}
    assert round(sum(means.values()) / 1e6, 9) == 126.436317571
    by_type: dict[str, list[float]] = {}
    for row in rows:
        by_type.setdefault(row["op_type"], []).append(row["total_ns"] / row["count"])
    assert len(by_type) == 29
    assert {name: (_ms(sum(by_type[name]), 6), len(by_type[name])) for name in TYPES} == TYPES
    large, small = (next(row for row in rows if row["name"].endswith(f"GatherV2-op{n}")) for n in (55, 33))
    assert (large["total_ns"] / large["count"], small["total_ns"] / small["count"]) == pytest.approx(
        (42220212.142857, 935229.333), abs=1e-3
    )
    assert large["info"]["input_shapes"] == [[184696, 8], [128000, 39]]
    assert large["info"]["input_dtypes"] == ["FLOAT32", "INT32"]
    assert large["info"]["output_shapes"] == [[128000, 39, 8]]


def test_types_of_job3_by_where_they_ran(wide_deep: Run) -> None:
    trace = wide_deep.traces[0]
    cores = operator_table(trace, selection=Selection(sort="self_ns", one_of={"device_kind": ["ai_core"]})).rows
    assert len(cores) == 29 and {*TYPES} <= {row["name"] for row in cores}
    others = operator_table(trace, selection=Selection(sort="self_ns", none_of={"device_kind": ["ai_core"]})).rows
    assert {(row["name"], row["device_kind"]) for row in others} == {
        ("[communication without operator]", "communication"),
        ("AllGather", "communication"),
        ("ReduceScatter", "communication"),
    }


def _twin(corpus: Path, name: str) -> list[list[str]]:
    """Rows of a table that MindInsight r1.1 made of job3_widedeep_raw, without the heading."""
    with (corpus / "mindinsight" / "job3_parsed_r1.1" / "profiler" / name).open(newline="") as handle:
        return list(csv.reader(handle))[1:]


def test_operators_of_job3_are_those_of_its_twin(wide_deep: Run, corpus: Path) -> None:
    found = wide_deep.sql("SELECT * FROM ops WHERE device_kind = 'ai_core'").to_pylist()
    ours = {}
    for row in found:
        info = json.loads(row["info"])
        block_dim, tasks = info.pop("block_dim"), info.pop("tasks")
        assert all(30_000 < task["task_id"] < 61_000 for task in tasks)
        ours[row["full_name"]] = (str(block_dim), row["name"], row["op_type"], row["subgraph"] or "", info)
    theirs = {row[3]: (row[2], *row[4:7], json.loads(row[7])) for row in _twin(corpus, "framework_raw_1.csv")}
    assert ours == theirs


def test_executions_of_job3_are_those_of_its_twin(wide_deep: Run, corpus: Path) -> None:
    origin: Any = wide_deep.traces[0].meta["origin_ns"]
    found = wide_deep.sql(
        "SELECT o.full_name, t.stream, s.start_ns, s.dur_ns FROM slices s JOIN ops o USING (op_id) "
        "JOIN tracks t USING (track_id) WHERE s.category = 'hwts'"
    ).to_pylist()
    ours = Counter(
        (row["full_name"], row["stream"], (row["start_ns"] + origin) // COUNT_NS, row["dur_ns"] // COUNT_NS)
        for row in found
    )
    theirs = Counter(
        (row[0], int(row[1]), round(float(row[2]) * 1e5), round(float(row[3]) * 1e5))
        for row in _twin(corpus, "output_timeline_data_1.txt")
    )
    assert len(found) == 2_817 and ours == theirs


def test_steps_of_job3_are_those_of_its_twin(wide_deep: Run, corpus: Path) -> None:
    rows = [[int(cell) for cell in row[:9]] for row in _twin(corpus, "step_trace_raw_1_detail_time.csv")[:-1]]
    ours = [
        [s["step"], *(None if (value := s[part]) is None else int(str(value)) // COUNT_NS for part in PARTS)]
        for s in step_trace(wide_deep.traces[0]).steps
    ]
    theirs = [[row[0], row[3], row[6], row[7], row[8]] for row in rows]
    assert ours[1:] == theirs[1:]


PARTS = ("total_ns", "interval_ns", "forward_backward_ns", "tail_ns")


def test_host_files_of_job3(wide_deep: Run) -> None:
    durations = wide_deep.sql("SELECT dur_ns FROM slices WHERE category = 'aicpu'").to_pylist()
    times = [row["dur_ns"] // 1000 for row in durations]
    assert (len(times), sum(times), max(times)) == (323, 324_140, 1567)
    queues: Any = pipeline(wide_deep.traces[0])["queues"]
    assert [(q["queue"], q["samples"], q["empty_count"]) for q in queues] == [("transfer", 966, 93)]
    full = wide_deep.sql("SELECT count(*) AS n FROM queue_samples WHERE size = 128").to_pylist()
    assert full[0]["n"] == 653
    warnings: Any = report(wide_deep)["warnings"]
    assert any("devices 0 and 1" in row["message"] for row in warnings)


def test_job3_with_the_older_point_file(corpus: Path, tmp_path: Path, workspace: Workspace) -> None:
    folder = corpus / "mindinsight"
    job = tmp_path / "JOB3"
    job.mkdir()
    for name in ("data", "host_start.log.1"):
        source = folder / "job3_widedeep_raw" / name
        shutil.copytree(source, job / name) if source.is_dir() else shutil.copy(source, job / name)
    points = (folder / "job3_point_two_tags" / "Framework.host.vm.point.1.slice_0").read_bytes().splitlines()[:2]
    (job / "Framework.host.vm.point.1.slice_0").write_bytes(b"\n".join(points))
    regions: Any = step_trace(open_run(job, workspace=workspace).traces[0]).steps[5]["communication"]
    assert [region["name"] for region in regions] == [f"stream_{stream}_parallel_0" for stream in range(520, 542, 2)]


def test_job1(corpus: Path, tmp_path: Path) -> None:
    run = _open(corpus, "job1_raw", tmp_path)
    steps = step_trace(run.traces[0])
    average: Any = steps.average
    parts = ("total_ns", "interval_ns", "forward_backward_ns", "tail_ns")
    assert [_ms(average[part]) for part in parts] == [130.4561, 90.3536, 17.0945, 23.0080]
    shares = [100 * average[part] / average["total_ns"] for part in parts[1:]]
    assert [round(share, 2) for share in shares] == [69.26, 13.10, 17.64]
    assert len(steps.steps) == 20 and _ms(steps.steps[0]["total_ns"]) == 40.0305
    for step in steps.steps:
        regions: Any = step["communication"]
        assert sorted(region["stream"] for region in regions) == ["stream 10"] * 3 + ["stream 11"]
    rank = _rank(run)
    assert rank["steps"][3]["budget"] is None
    total = rank["device_total"]  # collectives of the step trace alone: what was computed is unknown, not 0
    assert (total["compute_ns"], total["busy_ns"], total["copy_ns"], total["communication_exposed_ns"]) == (None,) * 4
    assert (total["ops"], total["communication_ns"]) == (80, 106_540_230)
    missing: Any = report(run)["not_recorded"]
    assert any("(hwts log)" in row["what"] for row in missing)
    assert [op["op_type"] for op in pipeline(run.traces[0])["operators"]].count("TFReader") == 3  # type: ignore[attr-defined]  # JSON
    blocks = run.sql("SELECT name, info FROM ops ORDER BY op_id").to_pylist()
    assert ['"block_dim": 32' in row["info"] for row in blocks] == [True, True, True, False]


@pytest.mark.parametrize("case", ["job2_raw", "job2_raw/JOB2", "job4_raw"])
def test_jobs_without_device_logs(case: str, corpus: Path, tmp_path: Path) -> None:
    run = _open(corpus, case, tmp_path)
    assert len(run.traces) == 1 and report(run)["warnings"] == []
    names = [row["name"] for row in run.sql("SELECT name FROM ops ORDER BY op_id").to_pylist()]
    assert names == ["Cast-op6", "TransData-op7", "Cast-op5", "Cast-op28"]
    if case == "job4_raw":
        assert run.traces[0].meta["forward_start_op"] == "Default/Cast-op6"
    else:
        assert len(pipeline(run.traces[0])["operators"]) == 4  # type: ignore[arg-type]  # JSON


def test_ai_cpu_log(corpus: Path, tmp_path: Path) -> None:
    run = _open(corpus, "job_aicpu/data", tmp_path)
    rows = run.sql(
        "SELECT o.op_type, s.dur_ns, a.args FROM slices s JOIN ops o USING (op_id) JOIN args a USING (slice_id)"
    ).to_pylist()
    assert {row["op_type"]: row["dur_ns"] for row in rows} == {
        "InitData": 1_567_000,
        "GetNext": 989_000,
        "TruncatedNormal": 1_566_000,
    }
    assert sum(row["dur_ns"] for row in rows) == 4_122_000
    first = next(row["args"] for row in rows if row["op_type"] == "InitData")
    assert first == '{"run_start_us": 2298200409, "run_end_us": 2298200538, "dispatch_us": 100, "total_us": 1567}'
