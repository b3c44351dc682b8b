"""The data pipeline: queue figures, waits, the operator that was planted as the slow one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.pipeline import pipeline
from laptime.analyses.queue_curve import queue_curve
from laptime.errors import LaptimeError
from laptime.importers.minddata import read_minddata
from laptime.importers.opening import open_run
from laptime.model.builder import TraceBuilder
from laptime.model.store import read_trace, write_trace
from laptime.model.tables import build_tables
from laptime.model.trace import Trace
from laptime.model.workspace import Workspace
from tests.conftest import EXAMPLE, SAMPLES

Explain = Callable[[Sequence[Path]], dict[str, Any]]


@pytest.fixture
def explain(tmp_path: Path) -> Explain:
    def run(files: Sequence[Path]) -> dict[str, Any]:
        folder = tmp_path / "trace"
        folder.mkdir(exist_ok=True)
        builder = TraceBuilder(folder)
        read_minddata(files, builder)
        write_trace(build_tables(builder), folder)
        builder.spool.discard()
        trace = read_trace(folder)
        trace.meta["source"] = "test"
        return pipeline(trace)

    return run


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("case", "usage", "empty", "waits", "mean_wait_ms", "slowest", "stage"),
    [
        (
            "ms200-graph-baseline/profiler",
            {"Batch": 0.2891, "Shuffle": 0.0010, "Map": 0, "Generator": 0.0107},
            {"Batch": 0.2656, "Shuffle": 0.9844, "Map": 1, "Generator": 0.9688},
            (23, 60),
            15.458,
            None,
            "process",
        ),
        (
            "ms200-graph-slow-map/profiler",
            {"Batch": 0.0920, "Shuffle": 0.0035, "Map": 0, "Generator": 0.8491},
            {"Batch": 0.6038, "Shuffle": 0.9434, "Map": 1, "Generator": 0.1321},
            (43, 60),
            31.373,
            "Map(id=3)",
            "process",
        ),
        (
            "ms200-graph-sink/profiler",
            {"Batch": 0.7886, "Shuffle": 0.3827, "Map": 0.3241, "Generator": 0.2469},
            {"Batch": 0.0617, "Shuffle": 0.3827, "Map": 0.6420, "Generator": 0.7407},
            (1, 60),
            0.797,
            None,
            "none",
        ),
        (
            "ms210-graph-minddata-slow-map",
            {"Batch": 0.5404, "Shuffle": 0.0284, "Map": 0.0048, "Generator": 0.4990},
            {"Batch": 0.1231, "Shuffle": 0.5462, "Map": 0.9692, "Generator": 0.4923},
            (1, 30),
            0.103,
            "Map(id=2)",
            "none",
        ),
    ],
)
def test_the_planted_operator_is_named(
    corpus: Path,
    explain: Explain,
    case: str,
    usage: dict[str, float],
    empty: dict[str, float],
    waits: tuple[int, int],
    mean_wait_ms: float,
    slowest: str | None,
    stage: str,
) -> None:
    result = explain(sorted((corpus / "mindspore" / case).rglob("*")))
    queues = {op["op_type"]: op["output_queue"] for op in result["operators"] if op["output_queue"]}
    kinds = {kind: next(name for name in queues if name.startswith(kind)) for kind in usage}
    assert {kind: round(queues[name]["usage_share"], 4) for kind, name in kinds.items()} == usage
    assert {kind: round(queues[name]["empty_share"], 4) for kind, name in kinds.items()} == empty
    bound = result["data_bound"]
    assert (bound["waits"], bound["batches"]) == waits
    assert round(bound["mean_wait_ns"] / 1e6, 3) == mean_wait_ms
    assert (result["bottleneck"] or {"name": None})["name"] == slowest
    assert result["stage_verdict"]["stage"] == stage


@pytest.mark.corpus
@pytest.mark.parametrize(("file", "op_id"), [("minddata_pipeline_raw_0.csv", 4), ("minddata_pipeline_raw_1.csv", 1)])
def test_the_queue_rule_on_tables(corpus: Path, explain: Explain, file: str, op_id: int) -> None:
    result = explain([corpus / "mindinsight" / "minddata_pipeline_cases" / file])
    assert (result["bottleneck"]["op_id"], result["bottleneck"]["op_type"]) == (op_id, "Shuffle")


@pytest.mark.corpus
def test_device_queue_and_fetches(corpus: Path, explain: Explain) -> None:
    result = explain(sorted((corpus / "mindinsight" / "run_2_alexnet_parsed" / "profiler").iterdir()))
    host, device = (next(q for q in result["queues"] if q["queue"] == name) for name in ("host", "device"))
    assert (host["samples"], host["capacity"], host["empty_count"], host["full_count"]) == (1, 64, 1, 0)
    assert (device["samples"], device["mean_size"], device["empty_count"]) == (3, 2, 0)
    assert result["stage_verdict"]["stage"] == "process"
    assert [op["output_queue"] and op["output_queue"]["usage_share"] for op in result["operators"]] == [
        0.015625,
        0,
        0,
        0,
        None,
    ]


def test_sending_is_slow_when_the_host_queue_is_full_and_the_chip_starves(tmp_path: Path, explain: Explain) -> None:
    (tmp_path / "device_queue_profiling_0.txt").write_text("1 8 1 8 10\n1 8 2 8 20\n0 0 1 0 10\n0 0 2 0 20\n")
    (tmp_path / "minddata_aicpu_0.txt").write_text("GetNext_dequeue_wait 100 400 0\nGetNext_dequeue_wait 500 900 0\n")
    result = explain(sorted(tmp_path.glob("*.txt")))
    assert result["stage_verdict"]["stage"] == "send"
    assert result["data_bound"]["waits"] == 2
    assert result["data_bound"]["mean_wait_ns"] == 400_000


def test_damaged_files_are_named_and_the_rest_is_kept(tmp_path: Path, explain: Explain) -> None:
    (tmp_path / "pipeline_profiling_0.json").write_text('{"op_info": [{"op_id"')
    (tmp_path / "minddata_cpu_utilization_0.json").write_text("[]")
    (tmp_path / "dataset_iterator_profiling_0.txt").write_text("1 16 1 0 5\n0 0 1 7 5\n")
    result = explain(sorted(tmp_path.iterdir()))
    assert result["operators"] == []
    assert result["data_bound"]["batches"] == 1


def test_pytorch_waits_are_the_loader_slices(workspace: Workspace) -> None:
    facts = json.loads((EXAMPLE.parent.parent / "tests/samples/pytorch/facts.json").read_text())
    trace = open_run(EXAMPLE, workspace=workspace).traces[0]
    bound = pipeline(trace)["data_bound"]
    assert isinstance(bound, dict)
    assert bound["batches"] == 4
    assert bound["wait_ns"] == facts["examples/ddp4-gloo/rank0.pt.trace.json.gz"]["data_loader_total_ns"]
    assert bound["waits"] is None


# ---- queues over time ----


@pytest.fixture
def sampled(tmp_path: Path) -> Trace:
    """A host queue of 8 over three batches, the chip's queue over two, an operator's queue over time."""
    (tmp_path / "device_queue_profiling_0.txt").write_text(
        "1 8 1 8 10\n1 8 2 3 20\n1 8 3 0 30\n0 0 1 4 10\n0 0 2 5 20\n"
    )
    (tmp_path / "minddata_aicpu_0.txt").write_text("GetNext_dequeue_wait 100 400 0\nGetNext_dequeue_wait 500 900 2\n")
    queue = {"size": [1, 2, 4], "length": 4}
    tree = {"sampling_interval": 10, "op_info": [{"op_id": 0, "op_type": "Batch", "metrics": {"output_queue": queue}}]}
    (tmp_path / "pipeline_profiling_0.json").write_text(json.dumps(tree))
    folder = tmp_path / "trace"
    folder.mkdir()
    builder = TraceBuilder(folder)
    read_minddata(sorted(tmp_path.glob("*_0.*")), builder)
    write_trace(build_tables(builder), folder)
    builder.spool.discard()
    trace = read_trace(folder)
    trace.meta["source"] = "test"
    return trace


def test_a_queue_by_batch_with_the_waits(sampled: Trace) -> None:
    found = queue_curve(sampled)
    assert (found.queue, found.stage, found.capacity, sorted(found.queues)) == (
        "host",
        "process",
        8,
        ["device", "host", "op 0"],
    )
    assert found.samples == [{"step": step, "ts_ns": None, "size": size} for step, size in ((1, 8), (2, 3), (3, 0))]
    assert [(row["step"], row["wait_ns"]) for row in found.waits] == [(1, 300_000), (2, 400_000)]


def test_a_queue_of_an_operator_by_time(sampled: Trace) -> None:
    found = queue_curve(sampled, "op 0")
    assert (found.stage, found.capacity) == ("pipeline", 4)
    assert [(row["ts_ns"], row["size"]) for row in found.samples] == [(0, 1), (10_000_000, 2), (20_000_000, 4)]
    with pytest.raises(LaptimeError, match="queues here"):
        queue_curve(sampled, "op 9")


def test_waits_of_a_loader_are_by_step(workspace: Workspace) -> None:
    (trace,) = open_run(SAMPLES / "pytorch" / "loader.pt.trace.json.gz", workspace=workspace).traces
    found = queue_curve(trace)
    bound: Any = pipeline(trace)["data_bound"]
    assert (found.queue, found.samples, found.capacity) == (None, [], None)
    assert [row["step"] for row in found.waits] == trace.steps["step"].tolist()
    assert sum(int(str(row["wait_ns"])) for row in found.waits) == bound["wait_ns"] > 0


@pytest.mark.corpus
@pytest.mark.parametrize(
    "case", ["mindspore/ms200-graph-sink", "mindspore/ms200-graph-slow-map", "megengine/loader_starved_workers1"]
)
def test_queues_of_real_recordings_agree_with_the_pipeline(corpus: Path, workspace: Workspace, case: str) -> None:
    trace = open_run(corpus / case, workspace=workspace).traces[0]
    told: Any = pipeline(trace)
    assert told["queues"] or told["data_bound"]
    for queue in told["queues"]:
        found = queue_curve(trace, queue["queue"])
        sizes = [int(str(row["size"])) for row in found.samples]
        assert (found.stage, found.capacity, found.sample_count) == (
            queue["stage"],
            queue["capacity"],
            queue["samples"],
        )
        assert (len(sizes), sizes.count(0)) == (queue["samples"], queue["empty_count"])
