"""Real runs of JAX under `laptime.Profiler`: what was recorded against what the script did and measured itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.report import report
from laptime.importers.opening import open_run
from laptime.model.trace import Run
from laptime.model.workspace import Workspace
from tests.conftest import ROOT
from tests.recorders.conftest import run_script

pytestmark = pytest.mark.frameworks

_SCRIPT = Path(__file__).parent / "scripts" / "jax_training.py"
_STEPS = 5
_TOLERANCE = 0.05
_SLACK_NS = 500_000
"""The script's timers and the log's stand a few lines apart, and other programs run meanwhile."""


@dataclass
class Recorded:
    """A run of the script, and its recording."""

    run: Run
    did: dict[str, Any]
    folder: Path
    told: str

    def rows(self, what: str) -> list[dict[str, Any]]:
        return self.run.sql(f"SELECT {what}").to_pylist()

    def one(self, what: str) -> Any:
        (row,) = self.rows(what)
        (value,) = row.values()
        return value

    @property
    def budget(self) -> dict[str, Any]:
        """Mean of all steps but the first, whose wait for the loader to start is none of it."""
        steps = report(self.run)["ranks"][0]["steps"][1:]
        assert len(steps) == _STEPS - 1
        return {key: sum(step["budget"][key] for step in steps) / len(steps) for key in _PARTS}


_PARTS = ("total_ns", "compute_ns", "idle_data_wait_ns", "idle_sync_ns", "idle_launch_ns", "idle_other_ns")
Recorder = Callable[[str], Recorded]
_MODES = (
    *("plain", "backtrace", "input", "recompile", "two_windows", "asynchronous"),
    *("no_steps", "own_trace", "second_trace", "exception"),
)


@pytest.fixture(scope="module")
def recorded(jax_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Recorder:
    """Recordings of the script's modes, all made by one process."""
    folder = tmp_path_factory.mktemp("jax")
    done = run_script(jax_python, _SCRIPT, folder, folder, *_MODES, timeout=240)
    did = {row["mode"]: row for row in map(json.loads, done.stdout.splitlines())}
    told = dict(part.partition("\n")[::2] for part in done.stderr.split("== ")[1:])
    known: dict[str, Recorded] = {}

    def recording(mode: str) -> Recorded:
        if mode not in known:
            known[mode] = Recorded(_opened(folder / mode), did[mode], folder / mode, told[mode])
        return known[mode]

    return recording


def _opened(folder: Path) -> Run:
    return open_run(folder, workspace=Workspace.choose(folder.parent / "workspace", say=lambda _: None))


def test_steps_scopes_and_waits_are_those_of_the_script(recorded: Recorder) -> None:
    plain = recorded("plain")
    assert plain.rows("step, complete, source FROM steps ORDER BY step") == [
        {"step": number, "complete": True, "source": "marked"} for number in range(1, _STEPS + 1)
    ]
    named = "name, count(*) AS n FROM slices WHERE kind IN ('scope', 'data') GROUP BY name"
    counts = {row["name"]: row["n"] for row in plain.rows(named)}
    assert counts == {"update": _STEPS, "read loss": _STEPS, "next batch": _STEPS - 1}  # the first is start-up
    assert plain.run.traces[0].meta["framework"] == "jax"
    assert plain.told == ""


def test_everything_of_the_training_thread_is_on_its_track(recorded: Recorder) -> None:
    kinds = "count(DISTINCT track_id) FROM slices WHERE kind IN ('step', 'scope', 'data', 'op', 'launch', 'sync')"
    assert recorded("plain").one(kinds) == 1


def test_each_step_runs_the_program_once(recorded: Recorder) -> None:
    plain = recorded("plain")
    assert plain.one("count(*) FROM slices WHERE name = 'PjitFunction(train_step)' AND kind = 'op'") == _STEPS
    launches = "count(DISTINCT from_id) FROM flows WHERE kind = 'launch'"
    assert plain.one(launches) == _STEPS
    counts = plain.rows("op_id, count(*) AS n FROM slices WHERE kind = 'kernel' GROUP BY op_id")
    assert counts
    assert {row["n"] for row in counts} == {_STEPS}
    assert {row["subgraph"] for row in plain.rows("subgraph FROM ops WHERE subgraph IS NOT NULL")} == {"jit_train_step"}


def test_the_profile_alone_is_kept(recorded: Recorder) -> None:
    names = sorted(path.name.partition(".")[2] for path in recorded("plain").folder.iterdir())
    assert [name.partition(".")[2] for name in names] == ["laptime.jsonl", "window1.xplane.pb"]


@pytest.mark.parametrize("mode", ["plain", "input"])
def test_steps_and_waits_for_data_are_as_long_as_the_script_says(recorded: Recorder, mode: str) -> None:
    budget, did = recorded(mode).budget, recorded(mode).did
    steps, waits = (sum(did[key][1:_STEPS]) / (_STEPS - 1) for key in ("steps_ns", "waits_ns"))
    slack = _TOLERANCE * steps + _SLACK_NS
    assert budget["total_ns"] == pytest.approx(steps, abs=slack)
    assert budget["idle_data_wait_ns"] == pytest.approx(waits, abs=slack)
    assert (budget["idle_data_wait_ns"] > 0.5 * budget["total_ns"]) == (mode == "input")


def test_the_queue_of_a_loader_is_seen(recorded: Recorder) -> None:
    samples = recorded("input").rows("queue, size, capacity FROM queue_samples")
    assert len(samples) == _STEPS  # the first batch makes the queue; the last sample is before the end
    assert {(row["queue"], row["capacity"]) for row in samples} == {("host", 3)}
    assert min(row["size"] for row in samples) == 0


def test_compilation_in_every_step_is_as_long_as_jax_says(recorded: Recorder) -> None:
    run = recorded("recompile")
    steps = report(run.run)["ranks"][0]["steps"]
    compiling = [step["budget"]["compile_ns"] for step in steps]
    assert all(compiling)
    assert sum(compiling) == pytest.approx(run.did["compiled_ns"], rel=0.1)


def test_call_stacks_name_the_lines_of_the_model(recorded: Recorder) -> None:
    line = next(n for n, text in enumerate(_SCRIPT.read_text().splitlines(), 1) if "jnp.tanh(" in text)
    stacks = """count(*) FROM slices JOIN stacks USING (stack_id)
        WHERE kind = 'kernel' AND function = 'model' AND file LIKE '%jax_training.py' AND line = {line}"""
    assert recorded("plain").one(stacks.format(line=line)) >= _STEPS
    reads = """count(*) FROM slices JOIN stacks USING (stack_id)
        WHERE kind IN ('sync', 'op') AND function = 'train' AND file LIKE '%jax_training.py'"""
    assert recorded("plain").one(reads) == 0
    assert recorded("backtrace").one(reads) >= _STEPS
    assert recorded("backtrace").one("count(*) FROM slices WHERE kind = 'python'") > _STEPS


def test_windows_of_a_schedule_are_one_trace(recorded: Recorder) -> None:
    two = recorded("two_windows")
    steps = two.rows('step, "window" FROM steps ORDER BY step')
    assert [(row["step"], row["window"]) for row in steps] == [(2, 1), (3, 1), (5, 2), (6, 2)]
    assert two.one("count(*) FROM slices WHERE kind = 'launch'") == 4


def test_what_runs_when_the_window_ends_is_recorded(recorded: Recorder) -> None:
    run = recorded("asynchronous")
    counts = {row["n"] for row in run.rows("op_id, count(*) AS n FROM slices WHERE kind = 'kernel' GROUP BY op_id")}
    assert counts == {_STEPS}


def test_without_steps_the_rest_is_recorded(recorded: Recorder) -> None:
    run = recorded("no_steps")
    assert run.one("count(*) FROM steps WHERE source = 'marked'") == 0
    assert run.one("count(*) FROM slices WHERE name = 'update' AND kind = 'scope'") == _STEPS


def test_beside_a_trace_of_the_users_own_the_log_is_kept(recorded: Recorder) -> None:
    run = recorded("own_trace")
    assert run.told.count("laptime:") == 1
    assert run.one("count(*) FROM steps") == _STEPS
    assert run.one("count(*) FROM slices WHERE name = 'update' AND kind = 'scope'") == _STEPS
    assert list(run.folder.with_name(f"{run.folder.name}-own").rglob("*.xplane.pb"))
    assert run.did["loss"] == recorded("plain").did["loss"]


def test_a_trace_that_the_user_begins_meanwhile_goes_on(recorded: Recorder) -> None:
    run = recorded("second_trace")
    assert run.told.count("laptime:") == 1
    assert run.one("count(*) FROM steps") == _STEPS
    assert list(run.folder.with_name(f"{run.folder.name}-own").rglob("*.xplane.pb"))
    assert run.did["loss"] == recorded("plain").did["loss"]


def test_an_exception_stays_the_users_and_the_recording_whole(recorded: Recorder) -> None:
    run = recorded("exception")
    assert run.did["raised"] == repr("the user's")
    steps = run.rows("step, complete FROM steps ORDER BY step")
    assert [row["complete"] for row in steps] == [True, True, True, False]
    assert run.one("count(*) FROM slices WHERE kind = 'launch'") == 3


def test_sigterm_leaves_the_recording_and_the_exit_status(jax_python: Path, tmp_path: Path) -> None:
    command = [str(jax_python), str(_SCRIPT), str(tmp_path), "terminated"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "trained\n"
        process.terminate()
        assert process.wait(timeout=60) == -signal.SIGTERM
    run = _opened(tmp_path / "terminated")
    counts = run.sql("SELECT count(*) AS steps, count(*) FILTER (complete) AS whole FROM steps").to_pylist()
    assert counts == [{"steps": 4, "whole": 3}]
    assert run.sql("SELECT count(*) AS n FROM slices WHERE kind = 'launch'").to_pylist() == [{"n": 3}]
