"""What the list of runs shows of each, from its report."""

from __future__ import annotations

from pathlib import Path
from statistics import mean

from laptime.advice.stored import store_report
from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace
from laptime.web.cards import card_of
from tests.importers.test_mindinsight import step_table


def test_steps_without_a_budget_have_a_mean_and_no_cause(tmp_path: Path, workspace: Workspace) -> None:
    folder = tmp_path / "profiler"
    folder.mkdir()
    (folder / "step_trace_raw_3_detail_time.csv").write_text(step_table(), encoding="utf-8")
    run = open_run(folder, workspace=workspace)
    store_report(run)
    assert run.folder is not None
    card = card_of(workspace, run.folder.name)
    assert card is not None
    (trace,) = run.traces
    assert card["step_mean_ns"] == mean((trace.steps["end_ns"] - trace.steps["start_ns"]).tolist())
    assert (card["steps"], card["biggest_cause"]) == (2, None)
