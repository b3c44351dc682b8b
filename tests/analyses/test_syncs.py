"""Waits of the host: which call, operator and source line, how often, how long."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from laptime.analyses.report import report
from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace


def _slice(category: str, name: str, ts: int, dur: int, **args: object) -> dict[str, Any]:
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, "args": args}


def _report(tmp_path: Path, workspace: Workspace, events: list[dict[str, Any]]) -> dict[str, Any]:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return dict(report(open_run(path, workspace=workspace))["ranks"][0])  # type: ignore[index]  # JSON


KERNEL = {**_slice("kernel", "k", 0, 5, device=0, stream=7), "pid": 0, "tid": 7}


def test_waits_are_grouped_by_call_operator_and_line(tmp_path: Path, workspace: Workspace) -> None:
    events = [
        KERNEL,
        _slice("python_function", "train.py(12): step", 0, 200),
        _slice("cpu_op", "aten::item", 10, 30),
        _slice("cuda_runtime", "cudaStreamSynchronize", 20, 10, correlation=1),
        _slice("cpu_op", "aten::item", 50, 30),
        _slice("cuda_runtime", "cudaStreamSynchronize", 60, 15, correlation=2),
        _slice("cuda_runtime", "cudaDeviceSynchronize", 300, 40, correlation=3),
    ]
    rank = _report(tmp_path, workspace, events)
    assert (rank["host"]["syncs"], rank["host"]["sync_ns"]) == (3, 65_000)
    assert rank["top_syncs"] == [
        {"name": "cudaDeviceSynchronize", "op": None, "source": None, "count": 1, "total_ns": 40_000},
        {"name": "cudaStreamSynchronize", "op": "aten::item", "source": "train.py:12", "count": 2, "total_ns": 25_000},
    ]


def test_without_a_device_the_operators_that_would_wait_count(tmp_path: Path, workspace: Workspace) -> None:
    events = [_slice("cpu_op", "aten::item", 10, 30), _slice("cpu_op", "aten::_local_scalar_dense", 12, 20)]
    rank = _report(tmp_path, workspace, events)
    assert rank["host"]["syncs"] == 1
    assert rank["top_syncs"] == [
        {
            "name": "aten::_local_scalar_dense",
            "op": "aten::_local_scalar_dense",
            "source": None,
            "count": 1,
            "total_ns": 20_000,
        }
    ]
    with_device = _report(tmp_path, workspace, [*events, KERNEL])
    assert with_device["host"]["syncs"] == 0
    assert with_device["top_syncs"] == []
