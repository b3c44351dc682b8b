"""A real run without a framework: what was recorded against what the script did and measured itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.report import report
from laptime.importers.opening import open_run
from laptime.model.trace import Run
from laptime.model.workspace import Workspace
from tests.recorders.conftest import run_script

_SCRIPT = Path(__file__).parent / "scripts" / "plain_training.py"
_STEPS = 5
_SLACK_NS = 3_000_000
"""The script's timers and the log's stand a few lines apart, and other programs run meanwhile."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, dict[str, list[int]]]:
    """The recording, and what the script did."""
    folder = tmp_path_factory.mktemp("plain")
    done = run_script(Path(sys.executable), _SCRIPT, folder, folder / "run")
    assert done.stderr == ""
    run = open_run(folder / "run", workspace=Workspace.choose(folder / "workspace", say=lambda _: None))
    return run, json.loads(done.stdout)


def _rows(run: Run, what: str) -> list[dict[str, Any]]:
    return run.sql(f"SELECT {what}").to_pylist()


def test_steps_and_waits_are_as_long_as_the_script_says(recorded: tuple[Run, dict[str, list[int]]]) -> None:
    run, did = recorded
    steps = report(run)["ranks"][0]["steps"]
    assert [step["step"] for step in steps] == [1, 2, 3, 4, 5]
    for place in range(1, _STEPS):
        budget = steps[place]["budget"]
        assert budget["total_ns"] == pytest.approx(did["steps_ns"][place], abs=_SLACK_NS)
        assert budget["idle_data_wait_ns"] == pytest.approx(did["waits_ns"][place], abs=_SLACK_NS)
    assert steps[0]["budget"]["idle_data_wait_ns"] == 0  # the loader's start is no wait of a step
    assert [span[1] - span[0] for span in run.traces[0].meta["start_ups"]] == [
        pytest.approx(did["waits_ns"][0], abs=_SLACK_NS)
    ]


def test_scopes_nest_and_name_their_lines(recorded: tuple[Run, dict[str, list[int]]]) -> None:
    run, _ = recorded
    rows = _rows(run, "name, depth, count(*) AS n FROM slices WHERE kind = 'scope' GROUP BY ALL ORDER BY name")
    assert rows == [
        {"name": "helper", "depth": 0, "n": _STEPS},
        {"name": "inner", "depth": 1, "n": _STEPS},
        {"name": "train", "depth": 0, "n": _STEPS},
    ]
    line = next(n for n, text in enumerate(_SCRIPT.read_text().splitlines(), 1) if 'scope("train")' in text)
    where = "name = 'inner' AND depth_1 = 0 AND file LIKE '%plain_training.py'"
    of_inner = (
        "DISTINCT line FROM (SELECT name, line, file, stacks.depth AS depth_1 FROM slices JOIN stacks USING (stack_id))"
    )
    assert _rows(run, f"{of_inner} WHERE {where}") == [{"line": line}]


def test_other_threads_have_tracks_of_their_own(recorded: tuple[Run, dict[str, list[int]]]) -> None:
    run, _ = recorded
    threads = """t.name, count(*) AS n FROM slices s JOIN tracks t USING (track_id)
        WHERE s.kind = 'scope' AND t.kind = 'thread' GROUP BY t.name ORDER BY t.name"""
    assert _rows(run, threads) == [{"name": "MainThread", "n": 2 * _STEPS}, {"name": "helper", "n": _STEPS}]


def test_pauses_of_the_garbage_collector_are_as_long_as_the_script_says(
    recorded: tuple[Run, dict[str, list[int]]],
) -> None:
    run, did = recorded
    rows = _rows(run, "dur_ns FROM slices WHERE name LIKE 'garbage collection (generation 2)%' ORDER BY start_ns")
    assert [row["dur_ns"] for row in rows] == [pytest.approx(each, abs=_SLACK_NS) for each in did["collections_ns"]]


def test_memory_and_processor_are_sampled_ten_times_a_second(recorded: tuple[Run, dict[str, list[int]]]) -> None:
    run, did = recorded
    seconds = sum(did["steps_ns"]) / 1e9
    rows = _rows(
        run,
        "t.name, count(*) AS n, min(value) AS least, max(value) AS most "
        "FROM counters JOIN tracks t USING (track_id) GROUP BY t.name",
    )
    by_name = {row["name"]: row for row in rows}
    if sys.platform == "linux":
        assert by_name["resident memory"]["least"] > 1 << 20
    assert 3 * seconds <= by_name["processor use"]["n"] <= 10 * seconds + 1
    assert 0 <= by_name["processor use"]["least"] <= by_name["processor use"]["most"] < 400
