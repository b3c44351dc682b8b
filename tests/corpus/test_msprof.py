"""The facts of an exported msprof profile of two ranks: iterations, overlap and transfers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.report import report
from laptime.analyses.step_trace import step_trace
from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace

pytestmark = pytest.mark.corpus

CASE = "prof_2023_8p_rank0_1_iter1-6"
# iteration time, FP_BP, refresh; computing, communication, free (us)
_ITERATIONS = {
    0: [
        (47587.81, 4236.10, 43345.58, 5914.58, 41534.30, 113.63),
        (15369.16, 4269.15, 11095.07, 5928.10, 9303.05, 114.64),
        (15304.02, 4271.86, 11026.37, 5946.60, 9213.81, 120.80),
        (15375.02, 4269.04, 11101.00, 5930.85, 9306.28, 114.65),
        (17467.03, 4264.54, 13196.81, 5942.25, 11380.94, 124.11),
        (15528.70, 4280.74, 11242.18, 5939.22, 9450.12, 119.00),
    ],
    1: [
        (57532.96, 4247.60, 53279.83, 5927.58, 51464.47, 115.11),
        (16792.73, 4277.57, 12510.13, 5922.86, 10727.54, 118.87),
        (15654.64, 4273.85, 11376.12, 5951.24, 9560.20, 122.02),
        (15337.62, 4288.53, 11044.21, 5953.87, 9241.34, 118.10),
        (18017.48, 4281.19, 13731.61, 5947.18, 11920.31, 125.53),
        (16009.33, 4274.44, 11729.01, 5935.24, 9938.38, 109.71),
    ],
}
_BETWEEN_MS = [32.1, 23.3, 17.8, 15.6, 16.2]
# destination rank: bytes, us, of iteration 2
_TRANSFERS = {
    1: (98_323_456, 7721.36),
    2: (98_321_664, 7001.20),
    3: (98_323_456, 6591.32),
    4: (98_323_456, 6873.04),
    4294967295: (28_092_288, 104.06),
}


def _ns(microseconds: float) -> int:
    return round(microseconds * 1000)


@pytest.mark.parametrize("rank", [0, 1])
def test_iterations(corpus: Path, workspace: Workspace, rank: int) -> None:
    run = open_run(corpus / "mindinsight" / CASE, workspace=workspace)
    result: dict[str, Any] = report(run)
    entry = result["ranks"][rank]
    assert (entry["rank"], entry["devices"][0]["device"], entry["format"]) == (rank, rank, "msprof")
    assert [step["step"] for step in entry["steps"]] == list(range(1, 11))
    assert all(step["source"] == "marked" for step in entry["steps"])
    assert [step["budget"] is not None for step in entry["steps"]] == [True] * 6 + [False] * 4
    parts = step_trace(run.traces[rank]).steps
    for step, trace_step, facts in zip(entry["steps"], parts, _ITERATIONS[rank], strict=False):
        duration, forward_backward, tail, computing, communication, _ = (_ns(fact) for fact in facts)
        budget = step["budget"]
        assert step["dur_ns"] == budget["total_ns"] == duration
        assert (trace_step["forward_backward_ns"], trace_step["tail_ns"]) == (forward_backward, tail)
        assert (budget["compute_ns"], budget["communication_exposed_ns"]) == (computing, communication)
        assert budget["copy_exposed_ns"] == 0
        assert [row["dur_ns"] for row in trace_step["communication"]] == [communication]
        assert trace_step["communication"][0]["name"] == "Default/AllReduce-op534_0"


@pytest.mark.parametrize("rank", [0, 1])
def test_free_time_between_first_and_last_task(corpus: Path, workspace: Workspace, rank: int) -> None:
    run = open_run(corpus / "mindinsight" / CASE, workspace=workspace)
    query = """select step, max(start_ns + dur_ns) - min(start_ns) as span from slices
        where kind in ('kernel', 'communication') group by step order by step"""
    spans = {row["step"]: row["span"] for row in run.sql(query, rank=rank).to_pylist()}
    for iteration, facts in enumerate(_ITERATIONS[rank], start=1):
        assert spans[iteration] - _ns(facts[3]) - _ns(facts[4]) == _ns(facts[5])


def test_gaps_between_iterations(corpus: Path, workspace: Workspace) -> None:
    run = open_run(corpus / "mindinsight" / CASE, workspace=workspace)
    gaps: list[Any] = [step["gap_before_ns"] for step in step_trace(run.traces[0]).steps[1:6]]
    assert [round(gap / 1e6, 1) for gap in gaps] == _BETWEEN_MS


def test_transfers_are_no_device_work(corpus: Path, workspace: Workspace) -> None:
    run = open_run(corpus / "mindinsight" / CASE, workspace=workspace)
    query = """select (a.args::json->>'dst rank')::bigint as rank,
        sum(bytes)::bigint as bytes, sum(dur_ns)::bigint as ns
        from slices s join args a using(slice_id) join tracks t using(track_id)
        where t.process = 'HCCL' and s.kind = 'device_other' and step = 2 and s.name in ('Memcpy', 'Reduce_Inline')
        group by all order by all"""
    query = query.replace("using(", "using(rank_index, ")
    rows = run.sql(query, rank=0).to_pylist()
    assert {row["rank"]: (row["bytes"], row["ns"]) for row in rows} == {
        rank: (size, _ns(time)) for rank, (size, time) in _TRANSFERS.items()
    }


def test_nothing_to_warn_of_but_missing_links(corpus: Path, workspace: Workspace) -> None:
    result: dict[str, Any] = report(open_run(corpus / "mindinsight" / CASE, workspace=workspace))
    assert {row["code"] for row in result["warnings"]} <= {"unlinked_device_ops"}
