"""Timelines of formats that are no Chrome traces: exported and read again they are equal, and viewers see the same."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.report import report
from laptime.exports.chrome import write_chrome
from laptime.importers.opening import open_run
from laptime.model.trace import Run, Trace
from laptime.model.workspace import Workspace
from tests.exports.chrome_checks import assert_equal_traces, assert_only_nests_or_follows, events_of, import_alone
from tests.exports.megengine_timeline import write_timeline
from tests.importers.ascend_jobs import job_files, write_job
from tests.laws.report_checks import assert_consistent

CORPUS = (
    "megengine/mlp_backtrace",
    "megengine/dtr_recompute",
    "megengine/streams_and_copies",
    "megengine/synthetic_gpu_cupti",
    "megengine/static_infer_timeline",
    "megengine/static_profile_mlp_train",
    "megengine/memflow_resnet",
    "jax_xplane/jax_cpu_dp4",
    "jax_xplane/rocm_mi300_conv_min_08",
    "ascend/pt-text-level1",
    "ascend/pt-db-level1",
    "mindinsight/job3_widedeep_raw",
    "mindinsight/run_2_alexnet_parsed",
    "mindinsight/prof_2023_8p_rank0_1_iter1-6",
    "mindspore/ms200-graph-sink",
    "mindspore/ms210-pynative-model",
)


def _round_trip(first: Trace, tmp_path: Path, workspace: Workspace) -> tuple[Trace, Path]:
    target = tmp_path / "exported.json"
    write_chrome(first, target)
    return import_alone(target, workspace), target


@pytest.fixture
def timeline(tmp_path: Path, workspace: Workspace) -> Trace:
    """MegEngine's."""
    return import_alone(write_timeline(tmp_path), workspace)


def _assert_same(first: Trace, second: Trace, target: Path) -> None:
    assert_only_nests_or_follows(events_of(target))
    assert_equal_traces(first, second)
    assert first.executor_threads == second.executor_threads
    ours, theirs = ({**rank(trace), "events": None, "source": None} for trace in (first, second))
    assert ours == theirs


def rank(trace: Trace) -> dict[str, Any]:
    """The report of a trace."""
    result: Any = report(Run("x", [trace]))
    return dict(result["ranks"][0])


def test_a_megengine_timeline_comes_back_equal(timeline: Trace, tmp_path: Path, workspace: Workspace) -> None:
    second, target = _round_trip(timeline, tmp_path, workspace)
    assert timeline.meta["format"] == second.meta["format"] == "megengine"
    _assert_same(timeline, second, target)
    third, again = _round_trip(second, tmp_path / "workspace", workspace)
    assert_equal_traces(timeline, third)
    assert again.read_text() == target.read_text()


def test_an_ascend_job_comes_back_equal(tmp_path: Path, workspace: Workspace) -> None:
    first = open_run(write_job(tmp_path / "JOBAA", job_files()), workspace=workspace).traces[0]
    second, target = _round_trip(first, tmp_path, workspace)
    assert second.table("queue_samples").row_count == first.table("queue_samples").row_count
    _assert_same(first, second, target)


@pytest.mark.corpus
@pytest.mark.parametrize("case", CORPUS)
def test_real_recordings_come_back_equal(case: str, corpus: Path, tmp_path: Path, workspace: Workspace) -> None:
    first = open_run(corpus / case, workspace=workspace).traces[0]
    _assert_same(first, *_round_trip(first, tmp_path, workspace))


# ---- what viewers see ----


def test_every_link_is_an_arrow(timeline: Trace, tmp_path: Path, workspace: Workspace) -> None:
    """Both ends lie on the row of their slice, from its begin to its end."""
    _, target = _round_trip(timeline, tmp_path, workspace)
    events = events_of(target)
    names = {"launch": "ac2g", "forward_backward": "fwdbwd"}
    wanted = Counter(names.get(str(kind), str(kind)) for kind in timeline.flows.objects("kind"))
    assert wanted == {"ac2g": 6, "async": 6, "data": 6}
    for letter in "sf":
        assert Counter(event["cat"] for event in events if event["ph"] == letter) == wanted
    slices = [event for event in events if event["ph"] == "X"]
    for arrow in (event for event in events if event["ph"] in "sf"):
        held = [
            event
            for event in slices
            if event["tid"] == arrow["tid"]
            and float(str(event["ts"])) <= float(str(arrow["ts"])) <= float(str(event["ts"])) + float(str(event["dur"]))
        ]
        assert held, arrow


def test_a_click_shows_the_call_stack(timeline: Trace, tmp_path: Path, workspace: Workspace) -> None:
    _, target = _round_trip(timeline, tmp_path, workspace)
    kernels: list[Any] = [event for event in events_of(target) if event.get("cat") == "Kernel"]
    matmul, add = (next(e["args"] for e in kernels if e["name"] == name) for name in ("MatrixMul", "ADD"))
    assert matmul["source"] == "/train/model.py:1"
    assert matmul["python stack"] == "/train/model.py:1 forward\n/train/run.py:5 <module>"
    assert {key: value for key, value in matmul.items() if key not in ("source", "python stack")} == {
        "__id__": 1,
        "__name__": "MatrixMul",
        "mode": 'a "b" }, {',
    }
    assert "source" not in add
    dispatch: Any = next(e for e in events_of(target) if e["ph"] == "X" and "python_backtrace" in e.get("args", {}))  # type: ignore[operator]  # JSON
    assert dispatch["args"]["source"] == "/train/model.py:1"
    assert "python stack" not in dispatch["args"]  # the source tells it itself


def test_counters_are_written(timeline: Trace, tmp_path: Path, workspace: Workspace) -> None:
    second, target = _round_trip(timeline, tmp_path, workspace)
    values = [event["args"] for event in events_of(target) if event["ph"] == "C"]
    assert len(values) == timeline.table("counters").row_count == second.table("counters").row_count == 6


# ---- damage ----


def test_cut_short_it_never_crashes(timeline: Trace, tmp_path: Path, workspace: Workspace) -> None:
    _, target = _round_trip(timeline, tmp_path, workspace)
    text = target.read_bytes()
    before = 0
    for length in range(400, len(text), len(text) // 40):
        path = tmp_path / f"cut{length}.json"
        path.write_bytes(text[:length])
        run = open_run(path, workspace=workspace)
        assert_consistent(report(run))  # type: ignore[arg-type]  # JSON
        assert run.traces[0].slices.row_count >= before
        before = run.traces[0].slices.row_count
    assert before == timeline.slices.row_count


@pytest.mark.parametrize("which", [0, 7, 20])
def test_a_lost_slice_takes_only_its_own_facts_with_it(
    which: int, timeline: Trace, tmp_path: Path, workspace: Workspace
) -> None:
    _, target = _round_trip(timeline, tmp_path, workspace)
    document = json.loads(target.read_text())
    places = [place for place, event in enumerate(document["traceEvents"]) if event["ph"] == "X"]
    del document["traceEvents"][places[which]]
    target.write_text(json.dumps(document))
    second = import_alone(target, workspace)
    kept = [row for row in range(timeline.slices.row_count) if row != which]
    for column in ("name", "kind", "phase", "step", "correlation", "external_id", "bytes"):
        values = timeline.slices.objects(column)
        assert second.slices.objects(column) == [values[row] for row in kept], column
    own = [row for row in timeline.flows.arrow().to_pylist() if which not in (row["from_id"], row["to_id"])]
    assert second.flows.row_count == len(own)
    assert [trace_args(second, k) for k in range(len(kept))] == [trace_args(timeline, row) for row in kept]


def trace_args(trace: Trace, row: int) -> object:
    """Arguments of a slice."""
    return trace.table("args").row(row)["args"]


@pytest.mark.parametrize("name", ["laptime_meta", "laptime_table", "laptime_facts"])
@pytest.mark.parametrize("damage", ["absent", "odd"])
def test_facts_that_are_lost_or_odd_lose_no_slice(
    name: str, damage: str, timeline: Trace, tmp_path: Path, workspace: Workspace
) -> None:
    _, target = _round_trip(timeline, tmp_path, workspace)
    document = json.loads(target.read_text())
    for event in document["traceEvents"]:
        if event["name"] == name:
            event["args"] = {} if damage == "absent" else {"columns": [], "table": 3, "meta": []}
    target.write_text(json.dumps(document))
    second = import_alone(target, workspace)
    assert second.slices.row_count == timeline.slices.row_count
    assert_consistent(report(Run("x", [second])))  # type: ignore[arg-type]  # JSON
    assert second.meta["warnings"]


ODD = {
    "a huge slice id": ("laptime_facts", "slice_id", 9223372036854776),
    "a number beyond 64 bits": ("laptime_facts", "bytes", 2**64),
    "an operator that is not there": ("laptime_facts", "op_id", 999),
    "a stack that is not there": ("laptime_facts", "stack_id", 999),
    "arguments that end inside a text": ("laptime_facts", "args_length", 6),
    "arguments that are longer than they are": ("laptime_facts", "args_length", 10**6),
    "an unknown kind": ("laptime_facts", "kind", "nonsense"),
    "a step number beyond 64 bits": ("steps", "step", 2**70),
    "a step that ends before it begins": ("steps", "end_ns", -5),
    "an unknown kind of link": ("flows", "kind", "nonsense"),
    "a link to nowhere": ("flows", "to_id", 10**9),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_facts_are_taken_as_unknown(case: str, timeline: Trace, tmp_path: Path, workspace: Workspace) -> None:
    where, column, value = ODD[case]
    _, target = _round_trip(timeline, tmp_path, workspace)
    document = json.loads(target.read_text())
    changed = 0
    for event in document["traceEvents"]:
        if event["name"] == where or event.get("args", {}).get("table") == where:
            event["args"]["columns"][column][0] = value
            changed += 1
    assert changed
    target.write_text(json.dumps(document))
    run = open_run(target, workspace=workspace)
    assert run.traces[0].slices.row_count == timeline.slices.row_count
    assert_consistent(report(run))  # type: ignore[arg-type]  # JSON
    write_chrome(run.traces[0], tmp_path / "again.json")
    assert import_alone(tmp_path / "again.json", workspace).slices.row_count == timeline.slices.row_count
