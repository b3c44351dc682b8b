"""laptime's own interface with MegEngine: schedules, watched loaders, compiled graphs, and training that ends early."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.pipeline import pipeline
from laptime.model.trace import Run
from tests.conftest import ROOT
from tests.recorders.conftest import run_script
from tests.recorders.megengine_runs import SCRIPTS, counts, on_interpreter, opened

pytestmark = pytest.mark.frameworks

STEPS, WORKERS = 6, 2


@pytest.fixture(scope="module")
def folder(megengine_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two windows of three steps from a loader with workers; in `told` what was printed."""
    folder = tmp_path_factory.mktemp("api")
    done = run_script(megengine_python, SCRIPTS / "megengine_api.py", folder, folder / "run", str(WORKERS))
    (folder / "told.json").write_text(json.dumps([done.stdout.splitlines()[-1], done.stderr]))
    return folder


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    """Its recording."""
    return opened(folder / "run")


def told(folder: Path) -> tuple[dict[str, Any], str]:
    """What the script printed: facts, and standard error."""
    facts, errors = json.loads((folder / "told.json").read_text())
    return json.loads(facts), errors


def test_training_is_as_without_a_profiler(folder: Path) -> None:
    facts, errors = told(folder)
    assert facts == {"caught": 1, "same": STEPS, "traced": True}
    said = [line for line in errors.splitlines() if line.startswith("laptime:")]
    assert said == ["laptime: another Profiler is recording; this one does nothing"]


def test_windows_of_a_schedule_are_one_trace(run: Run) -> None:
    steps = [(step["step"], step["window"]) for step in run.traces[0].steps.arrow().to_pylist()]
    assert steps == [(1, 1), (2, 1), (3, 1), (4, 2), (5, 2), (6, 2)]
    # Five in training; the module that raises does so in its first, which is not counted.
    assert counts(run, "name = 'MatrixMul' and kind = 'op'", "step") == dict.fromkeys(range(1, STEPS + 1), 5)
    # Recording pauses twice in the second step and once in the third; the scope goes on after each.
    assert on_interpreter(run, "name = 'training'", "step") == {1: 1, 2: 3, 3: 2, 4: 1, 5: 1, 6: 1}


def test_a_compiled_graph_is_a_scope_and_its_operators_are_sums(run: Run) -> None:
    assert on_interpreter(run, "name = 'trace train_step'", "step") == {2: 2}
    totals = run.sql("select ops.name, op_totals.* from op_totals join ops using (op_id)").to_pylist()
    assert any("MatrixMul" in str(row["name"]) for row in totals)
    assert any("trace" in warning["message"] for warning in run.traces[0].meta["warnings"])


def test_a_scope_around_a_compiled_graph_goes_on_behind_it(run: Run) -> None:
    assert on_interpreter(run, "name in ('training', 'compiled') and step = 2") == {"training": 3, "compiled": 3}
    assert not [warning for warning in run.traces[0].meta["warnings"] if warning["code"] == "unbalanced"]


def test_megengines_own_profiler_may_run_inside(folder: Path, run: Run) -> None:
    files = list((folder / "run-of-megengine").glob("*.chrome_timeline.json"))
    assert len(files) == 1
    assert counts(opened(files[0]), "name = 'SIN' and kind = 'op'") == {"SIN": 1}
    assert "SIN" not in counts(run, "kind = 'op'")


def test_scopes_are_in_order_after_an_exception(run: Run) -> None:
    """What follows a module that raised lies in no scope of that module."""
    rows = run.sql(
        """with recursive up(slice_id, parent_id, name) as (
            select slice_id, parent_id, name from slices where name = 'COS' and kind in ('op', 'launch')
            union all select up.slice_id, slices.parent_id, slices.name
            from up join slices on slices.slice_id = up.parent_id)
        select distinct name from up"""
    ).to_pylist()
    names = {row["name"] for row in rows}
    assert "after" in names and not names & {"wrong shape", "fc1"}
    assert on_interpreter(run, "name = 'wrong shape'") == {"wrong shape": 1}


def test_the_pipeline_shows_the_queue_and_the_stages_of_the_workers(run: Run) -> None:
    found = pipeline(run.traces[0])
    queues: Any = found["queues"]
    assert [(queue["queue"], queue["stage"], queue["capacity"]) for queue in queues] == [
        ("host", "process", 2 * WORKERS)
    ]
    assert queues[0]["samples"] == STEPS - 1
    operators: Any = found["operators"]
    assert [(row["op_type"], row["name"], row["workers"]) for row in operators] == [
        ("DataLoader", "DataLoader", WORKERS),
        ("collate", "Collator", WORKERS),
        ("transform", "PseudoTransform", WORKERS),
        ("fetch", "ArrayDataset", WORKERS),
    ]
    bound: Any = found["data_bound"]
    assert bound["batches"] == STEPS - 1
    stages = counts(run, f"kind = 'data' and track_id != {run.traces[0].main_thread}")
    assert stages["fetch"] == stages["transform"] == stages["collate"] > 0
    names = run.sql("select distinct tracks.name from slices join tracks using (track_id) where slices.name = 'fetch'")
    assert all(str(row["name"]).startswith("loader worker") for row in names.to_pylist())


def test_without_workers_the_stages_are_parts_of_the_wait(megengine_python: Path, tmp_path: Path) -> None:
    run_script(megengine_python, SCRIPTS / "megengine_api.py", tmp_path, tmp_path / "run", "0")
    run = opened(tmp_path / "run")
    stages = on_interpreter(run, "kind = 'data' and name != 'next batch'")
    assert stages == dict.fromkeys(("fetch", "transform", "collate"), STEPS)
    found: Any = pipeline(run.traces[0])
    assert found["data_bound"]["batches"] == STEPS - 1 and found["queues"] == []


@pytest.mark.parametrize("how", ["exception", "signal"])
def test_what_ends_training_leaves_the_finished_windows(how: str, megengine_python: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [str(megengine_python), str(SCRIPTS / "megengine_crash.py"), str(tmp_path / "run"), how],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == (1 if how == "exception" else -signal.SIGTERM), done.stderr
    assert ("of the script's own" in done.stderr) == (how == "exception")
    run = opened(tmp_path / "run")
    steps = [(step["step"], step["window"], step["complete"]) for step in run.traces[0].steps.arrow().to_pylist()]
    assert steps == [(1, 1, True), (2, 1, True), (3, 2, True), (4, 2, False)]
    assert counts(run, "name = 'Reduce' and kind = 'op'", "step") == {1: 1, 2: 1, 3: 1, 4: 1}
