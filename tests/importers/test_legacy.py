"""PyTorch before 1.8: no categories, device rows under the process `CUDA functions`."""

from __future__ import annotations

import json
from pathlib import Path

from laptime.analyses.report import report
from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace

EVENTS = [
    {"name": "mm", "ph": "X", "ts": 10.0, "dur": 50.5, "tid": 1, "pid": "CPU functions", "args": {}},
    {"name": "mm", "ph": "s", "ts": 10.0, "tid": 1, "pid": "CPU functions", "id": 0, "cat": "cpu_to_cuda", "args": {}},
    {"name": "gemm", "ph": "f", "ts": 100.0, "tid": 1, "pid": "CUDA functions", "id": 0, "cat": "cpu_to_cuda"},
    {"name": "gemm", "ph": "X", "ts": 100.0, "dur": 7.25, "tid": 1, "pid": "CUDA functions", "args": {}},
]


def test_device_rows_are_kernels_of_their_device_and_linked(tmp_path: Path, workspace: Workspace) -> None:
    path = tmp_path / "legacy.json"
    path.write_text(json.dumps(EVENTS))
    run = open_run(path, workspace=workspace)
    total = report(run)["ranks"][0]["devices"]  # type: ignore[index]  # JSON
    assert [(d["device"], d["ops"], d["linked_ops"], d["compute_ns"]) for d in total] == [(1, 1, 1, 7250)]
    assert run.sql("SELECT op_type, device_kind FROM ops").to_pylist() == [{"op_type": "mm", "device_kind": "host"}]
