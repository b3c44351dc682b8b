"""Single slices of real recordings: times on host and device, and what they waited for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from laptime.analyses.device import device_rows, launch_of
from laptime.analyses.queueing import delays_of
from laptime.analyses.slice_details import slice_details
from laptime.importers.opening import open_run
from laptime.model.trace import Run
from laptime.model.workspace import Workspace

pytestmark = pytest.mark.corpus


def _opened(path: Path, workspace: Workspace) -> Run:
    return open_run(path, workspace=workspace)


def _details(run: Run, query: str, *, depth: int = 1) -> Any:
    number = run.sql(f"SELECT slice_id FROM slices WHERE rank_index = 0 AND {query} LIMIT 1").to_pylist()[0]["slice_id"]
    return slice_details(run.traces[0], number, depth=depth, limit=1000)


def _links(entries: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(entry["link"], entry["name"], entry["track"]) for entry in entries]


def test_a_megengine_operator_shows_all_its_threads(corpus: Path, workspace: Workspace) -> None:
    run = _opened(corpus / "megengine" / "mlp_backtrace", workspace)
    kernel = _details(run, "name = 'MatrixMul' AND kind = 'kernel' AND step = 2 ORDER BY start_ns")
    about = kernel.slice
    assert about["source"] == "/workspace/train/models.py:9"
    assert [tensor["shape"] for tensor in about["inputs"]] == ["64,784", "512,784"]
    assert [(each["name"], each["track"]) for each in about["elsewhere"]] == [
        ("MatrixMul", "interpreter"),
        ("MatrixMul", "worker"),
    ]
    execution = slice_details(run.traces[0], about["elsewhere"][1]["slice_id"])
    assert execution.slice["device_ns"] == about["dur_ns"]
    assert about["host_ns"] == execution.slice["dur_ns"]
    assert ("async", "MatrixMul", "interpreter") in _links(execution.waited_for)
    assert ("launch", "MatrixMul", "cpux:0") in _links(execution.waited_by)


def test_a_wait_names_what_makes_its_value(corpus: Path, workspace: Workspace) -> None:
    """`__getitem__` asks for the shape that CondTake computes."""
    run = _opened(corpus / "megengine" / "sync_shape_value_backtrace", workspace)
    wait = _details(run, "name = 'TensorWaitProp' AND step = 2 ORDER BY start_ns")
    assert ("data", "CondTake", "worker") in _links(wait.waited_for)
    assert [parent["name"] for parent in wait.slice["parents"]] == ["get_ground_truth", "step2"]
    table = run.sql(
        "SELECT count(*) AS n FROM flows f JOIN slices s ON s.slice_id = f.to_id "
        "WHERE f.kind = 'data' AND s.kind = 'sync'"
    )
    waits = run.sql("SELECT count(*) AS n FROM slices WHERE kind = 'sync'").to_pylist()[0]["n"]
    assert 0 < table.to_pylist()[0]["n"] <= waits


def test_values_flow_from_operator_to_operator(corpus: Path, workspace: Workspace) -> None:
    """Backwards along data alone, the last loss leads to the first layer."""
    run = _opened(corpus / "megengine" / "mlp_backtrace", workspace)
    last = _details(run, "kind = 'op' AND phase = 'forward' AND step = 2 ORDER BY start_ns DESC", depth=30)
    reached = {name for link, name, _ in _links(last.waited_for) if link == "data"}
    assert "MatrixMul" in reached
    depths = [entry["depth"] for entry in last.waited_for]
    assert depths == sorted(depths)
    assert len({entry["slice_id"] for entry in last.waited_for}) == len(depths)


def test_a_kernel_of_cuda_and_the_wait_for_it(corpus: Path, workspace: Workspace) -> None:
    run = _opened(corpus / "pytorch" / "hta-cuda-event-sync", workspace)
    wait = _details(run, "name = 'cudaEventSynchronize' ORDER BY start_ns")
    ((link, _, track),) = _links(wait.waited_for)
    assert (link, track) == ("wait", "stream 7")
    kernel = slice_details(run.traces[0], wait.waited_for[0]["slice_id"])
    assert ("wait", "cudaEventSynchronize") in [(each["link"], each["name"]) for each in kernel.waited_by]


def test_an_ascend_kernel(corpus: Path, workspace: Workspace) -> None:
    run = _opened(corpus / "ascend" / "pt-text-level1", workspace)
    kernel = _details(run, "kind = 'kernel' ORDER BY dur_ns DESC")
    about = kernel.slice
    assert about["operator"]["op_type"] == "ForeachAddList"
    assert about["source"].endswith("main.py:366")
    assert len(about["inputs"]) == 33
    assert {"queue", "launch"} <= {entry["link"] for entry in kernel.waited_for}


@pytest.mark.parametrize("case", ["mlp_backtrace", "resnet_default", "fault_reshape_sync_default"])
def test_how_far_the_device_runs_ahead_agrees_with_megengine(case: str, corpus: Path, workspace: Workspace) -> None:
    """At each launch its counter shows the distance in whole milliseconds, but for launches that share one sample."""
    trace = _opened(corpus / "megengine" / case, workspace).traces[0]
    delays = delays_of(trace)
    rows = device_rows(trace)
    launch = launch_of(trace, rows)
    ends = trace.end_ns[launch[launch >= 0]]
    before = np.searchsorted(delays.sampled_ns, ends, side="right") - 1
    off = np.abs(delays.recorded_ns[before] - delays.delay_ns)
    assert len(off) > 200
    assert np.count_nonzero(off < 1_000_000) > 0.9 * len(off)
