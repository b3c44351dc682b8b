"""What damaged recordings once led to, as small as it goes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from laptime.analyses.operators import operator_table
from laptime.analyses.report import report
from laptime.importers.opening import open_run
from laptime.model.trace import Run
from laptime.model.workspace import Workspace
from tests.laws.report_checks import assert_consistent


def opened(path: Path, workspace: Workspace, *events: str) -> Run:
    """The run of a recording that holds some events, as their JSON text."""
    path.write_text('{"schemaVersion":1,"traceEvents":[\n' + ",\n".join(events) + "]}")
    return open_run(path, workspace=workspace)


def test_a_step_whose_device_work_takes_no_time(tmp_path: Path, workspace: Workspace) -> None:
    run = opened(
        tmp_path / "trace.json",
        workspace,
        '{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":10}',
        '{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":2,"dur":0,"args":{"device":0,"stream":7}}',
    )
    result: dict[str, Any] = report(run)
    assert_consistent(result)
    (rank,) = result["ranks"]
    assert (rank["device_total"]["ops"], rank["device_total"]["busy_ns"]) == (1, 0)
    assert rank["steps"][0]["budget"]["idle_ns"] == 10_000


def test_an_infinite_size_among_the_input_shapes(tmp_path: Path, workspace: Workspace) -> None:
    """1e400 is a number of JSON, but no number that JSON can be written with."""
    run = opened(
        tmp_path / "trace.json",
        workspace,
        '{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":9,"args":{"Input Dims":[[1e400,2]]}}',
    )
    rows = operator_table(run.traces[0], by="shape", on="host").rows
    assert len(rows) == 1
    json.dumps(rows, allow_nan=False)
