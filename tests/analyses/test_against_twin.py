"""Every number of `report`, `step` and `op`, equal to the nanosecond, against the plain twin of the JSON contract."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.operators import operator_table
from laptime.analyses.report import report
from laptime.analyses.step_trace import step_trace
from laptime.importers.opening import open_run
from laptime.model.trace import Trace
from laptime.model.workspace import Workspace
from tests.analyses.random_traces import random_trace
from tests.analyses.twin import P50, P90, Twin, half_up, mean, quantile, step_id
from tests.conftest import EXAMPLE, SAMPLES, corpus_folder

RANDOM_TRACES = 320
SEEDS_PER_GROUP = 40

CASES = (
    "hta-nccl-args-a100",
    "hta-amd-mi250-minitoy",
    "hta-cuda-event-sync",
    "tl-mi300-resnet-act-checkpoint",
    "own-cpu-dataloader-workers0",
    "own-cpu-dataloader-workers2",
    "own-cpu-ddp4-straggler",
    "own-cpu-flops",
    "tl-h100-bert-small",
)


@dataclass(frozen=True)
class Pair:
    """What both say about one file."""

    what: str
    twin: Twin
    trace: Trace
    rank: dict[str, Any]

    @staticmethod
    def of(path: Path, workspace: Workspace) -> Pair:
        """Opens the file twice, each in its own way."""
        run = open_run(path, workspace=workspace)
        result: dict[str, Any] = report(run)
        return Pair(path.name, Twin(path), run.traces[0], result["ranks"][0])


@pytest.fixture(scope="module", params=range(0, RANDOM_TRACES, SEEDS_PER_GROUP))
def random_pairs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Pair]:
    """Some of the random traces."""
    folder = tmp_path_factory.mktemp("random")
    workspace = Workspace.choose(folder / "workspace", say=lambda _: None)
    pairs = []
    for seed in range(request.param, request.param + SEEDS_PER_GROUP):
        path = folder / f"seed{seed}.json"
        path.write_text(json.dumps(random_trace(seed)))
        pairs.append(Pair.of(path, workspace))
    return pairs


def test_random_devices_and_host(random_pairs: list[Pair]) -> None:
    for pair in random_pairs:
        _check_devices(pair)
        _check_host(pair)


def test_random_step_budgets(random_pairs: list[Pair]) -> None:
    for pair in random_pairs:
        _check_steps(pair)
        _check_summary(pair)


def test_random_step_traces(random_pairs: list[Pair]) -> None:
    for pair in random_pairs:
        _check_step_trace(pair)


def test_random_operators_on_the_host(random_pairs: list[Pair]) -> None:
    for pair in random_pairs:
        _check_operators_on_host(pair)


def test_random_operators_on_the_device(random_pairs: list[Pair]) -> None:
    for pair in random_pairs:
        _check_operators_on_device(pair)


def _samples() -> list[Path]:
    recorded = [*SAMPLES.glob("pytorch/**/*.json*"), *EXAMPLE.glob("*.json*")]
    return sorted(path for path in recorded if path.name != "facts.json")


@pytest.mark.parametrize("path", _samples(), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_own_samples(workspace: Workspace, path: Path) -> None:
    _check_all(Pair.of(path, workspace))


def _corpus_files() -> list[Path]:
    folder = corpus_folder()
    if folder is None:
        return []
    return sorted(p for case in CASES for p in (folder / "pytorch" / case).glob("*.json*") if p.name != "facts.json")


@pytest.mark.corpus
@pytest.mark.parametrize("path", _corpus_files() or [Path()], ids=lambda path: f"{path.parent.name}-{path.name}")
def test_corpus(corpus: Path, workspace: Workspace, path: Path) -> None:
    _check_all(Pair.of(path, workspace))


# ---- the comparison ----


def _check_all(pair: Pair) -> None:
    _check_devices(pair)
    _check_host(pair)
    _check_steps(pair)
    _check_summary(pair)
    _check_step_trace(pair)
    _check_operators_on_host(pair)
    _check_operators_on_device(pair)


def _check_devices(pair: Pair) -> None:
    total, expected = pair.rank["device_total"], pair.twin.device_total()
    assert (total is None) == (expected is None), pair.what
    if expected is not None:
        assert _only(total, expected) == expected, pair.what
        assert total["device"] is None
    each = pair.twin.devices()
    assert [_only(device, each[0]) for device in pair.rank["devices"]] == each, pair.what


def _check_host(pair: Pair) -> None:
    host, twin = pair.rank["host"], pair.twin
    assert host["ops"] == len(twin.of_kind("op")), pair.what
    assert host["launches"] == len(twin.of_kind("launch")), pair.what
    if twin.work:
        syncs = twin.of_kind("sync")
        assert (host["syncs"], host["sync_ns"]) == (len(syncs), sum(s.dur or 0 for s in syncs)), pair.what


def _check_steps(pair: Pair) -> None:
    steps, twin = pair.rank["steps"], pair.twin
    markers = twin.markers()
    if markers:
        found = [(s["step"], s["start_ns"], s["dur_ns"], s["source"]) for s in steps]
        assert found == [(step_id(m), m.start, m.dur, "marked") for m in markers], pair.what
    assert [step["index"] for step in steps] == list(range(1, len(steps) + 1))
    for step in steps:
        span = (step["start_ns"], step["start_ns"] + step["dur_ns"])
        budget = step["budget"]
        assert budget == twin.budget(span), (pair.what, step["step"])
        _check_sums(budget)
        assert step["devices"] == twin.busy_in(span)
        _check_queueing(step, twin, span)


def _check_queueing(step: dict[str, Any], twin: Twin, span: tuple[int, int]) -> None:
    gaps, launches, delays = step["gaps"], step["launches"], twin.delays_in(span)
    assert (gaps is None) == (not twin.timed_work)
    if gaps is not None:
        counted = {cause: gaps[cause] for cause in ("data_wait", "sync", "launch", "other") if gaps[cause]}
        assert counted == dict(twin.gaps_in(span))
        assert gaps["count"] == sum(counted.values())
    assert (launches is None) == (not delays)
    if launches is not None:
        found = [launches[key] for key in ("count", "mean_ns", "min_ns", "max_ns", "p50_ns")]
        assert found == [len(delays), mean(delays), min(delays), max(delays), quantile(delays, P50)]


def _check_sums(budget: dict[str, Any]) -> None:
    parts = ("compute_ns", "communication_exposed_ns", "copy_exposed_ns", "idle_ns")
    causes = ("idle_data_wait_ns", "idle_sync_ns", "idle_launch_ns", "idle_other_ns")
    assert sum(budget[part] for part in parts) == budget["total_ns"]
    assert sum(budget[cause] or 0 for cause in causes) == budget["idle_ns"]
    assert all(value is None or value == budget["basis"] or value >= 0 for value in budget.values())


def _check_summary(pair: Pair) -> None:
    used = [step["budget"] for step in pair.rank["steps"] if step["complete"]]
    summary = pair.rank["step_summary"]
    assert (summary is None) == (not used)
    if not used:
        return
    durations = [budget["total_ns"] for budget in used]
    assert summary["steps_used"] == len(used)
    assert summary["mean_ns"] == summary["budget"]["total_ns"] == mean(durations)
    assert (summary["median_ns"], summary["p90_ns"]) == (quantile(durations, P50), quantile(durations, P90))
    _check_sums(summary["budget"])
    for part, value in summary["budget"].items():
        if part in ("basis", "compile_ns"):
            continue
        values = [budget[part] for budget in used]
        assert (value is None) == (None in values)
        assert value is None or abs(value * len(values) - sum(values)) < 2 * len(values)


def _check_step_trace(pair: Pair) -> None:
    trace, twin = pair.trace, pair.twin
    result = step_trace(trace)
    before = None
    for step, start, end in zip(result.steps, trace.steps["start_ns"], trace.steps["end_ns"], strict=True):
        span = (int(start), int(end))
        if before is not None and not twin.accumulates(span):  # for that see test_steps
            expected = twin.step_parts(before, span)
            assert _only(step, expected) == expected, (pair.what, step["step"])
            assert step["gap_before_ns"] == start - before
        assert step["total_ns"] == end - start + step["gap_before_ns"]
        found = [(c["name"], c["start_ns"], c["dur_ns"]) for c in step["communication"]]
        assert sorted(found) == sorted((c["name"], c["start_ns"], c["dur_ns"]) for c in twin.communication(span))
        before = span[1]
    _check_averages(result)


def _check_averages(result: Any) -> None:
    used = [step for step in result.steps[1:] if step["complete"]]
    with_first = not used
    used = used or [step for step in result.steps if step["complete"]]
    whole = [step for step in used if step["forward_backward_ns"] is not None]
    used = whole or used
    if not used:
        assert result.average is result.median is result.p90 is None
        return
    assert result.average["steps_used"] == len(used)
    assert result.average["first_step_included"] == with_first
    for part in ("interval_ns", "forward_backward_ns", "tail_ns", "total_ns"):
        values = [step[part] for step in used if step[part] is not None]
        if not values:
            assert result.average[part] is result.median[part] is result.p90[part] is None
            continue
        assert abs(result.average[part] * len(values) - sum(values)) <= len(values)
        assert (result.median[part], result.p90[part]) == (quantile(values, P50), quantile(values, P90))
    assert result.average["total_ns"] == mean([step["total_ns"] for step in used])
    if whole and not with_first:
        parts = [result.average[part] for part in ("interval_ns", "forward_backward_ns", "tail_ns")]
        assert sum(parts) == result.average["total_ns"]


def _check_operators_on_host(pair: Pair) -> None:
    _check_table(pair, operator_table(pair.trace, by="name", on="host").rows, pair.twin.host_ops())


def _check_operators_on_device(pair: Pair) -> None:
    trace, twin = pair.trace, pair.twin
    if not twin.timed_work:
        return
    _check_table(pair, operator_table(trace, by="name", on="device").rows, twin.device_ops())
    _check_table(pair, operator_table(trace, by="kernel", on="device").rows, twin.kernels())
    for by in ("op-type", "shape", "module"):
        rows = operator_table(trace, by=by, on="device").rows
        assert sum(row["self_ns"] for row in rows) == sum(twin.clipped.values()), (pair.what, by)


def _check_table(pair: Pair, rows: list[dict[str, Any]], expected: dict[str, dict[str, Any]]) -> None:
    assert sorted(row["name"] for row in rows) == sorted(expected)
    for row in rows:
        assert _only(row, expected[row["name"]]) == expected[row["name"]], (pair.what, row["name"])
    assert [row["self_ns"] for row in rows] == sorted((row["self_ns"] for row in rows), reverse=True)


def _only(found: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    return {key: found[key] for key in wanted}


def test_rounding_is_half_up() -> None:
    """The twin's own arithmetic, on values that floats and half-to-even rounding get wrong."""
    assert [mean(values) for values in ([1, 2], [2, 3], [0, 0, 1])] == [2, 3, 0]
    assert quantile([0, 5], P90) == 5
    assert quantile([1, 2, 3, 4], P50) == half_up(P50 * 5) == 3
