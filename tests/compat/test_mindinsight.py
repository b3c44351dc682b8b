"""The MindInsight Profiler's arguments, defaults and errors, and what `analyse` prints."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from laptime.compat.mindinsight import Profiler
from laptime.model.workspace import ENVIRONMENT
from tests.importers.ascend_jobs import job_files, write_job
from tests.recorders.running import run_python

_GUIDE = """
import os, sys, time
import laptime
{imports}

def test_profiler():
    # Init Profiler
    profiler = Profiler(output_path='./data', is_detail={detail}, is_show_op_path=False, subgraph='all'{more})
    # Model Train
    for _ in range(3):
        with laptime.scope("Conv2D"):
            time.sleep(0.002)
        with laptime.scope("Variable"):
            time.sleep(0.001)
        profiler.step()
    # Profiler end
    profiler.analyse()

test_profiler()
"""
_IMPORT = "from laptime.compat.mindinsight import Profiler"


def _run(folder: Path, **texts: str) -> str:
    script = folder / "guide.py"
    script.write_text(_GUIDE.format(**{"imports": _IMPORT, "detail": "True", "more": "", **texts}))
    return run_python([str(script)], folder, **{ENVIRONMENT: str(folder / "workspace"), "RANK": ""}).stdout


def test_arguments_and_defaults_of_the_guide() -> None:
    parameters = inspect.signature(Profiler).parameters
    assert {name: parameter.default for name, parameter in parameters.items()} == {
        "subgraph": "all",
        "is_detail": True,
        "is_show_op_path": False,
        "output_path": "./data",
        "optypes_to_deal": "",
        "optypes_not_deal": ("Variable",),
        "job_id": "",
    }


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"subgraph": "Backward"}, ValueError, "subgraph must be one of all, Default, Gradients, not 'Backward'"),
        ({"is_detail": 1}, TypeError, "is_detail must be True or False, not 1"),
        ({"is_show_op_path": "no"}, TypeError, "is_show_op_path must be True or False, not 'no'"),
        ({"optypes_to_deal": 3}, TypeError, "optypes_to_deal must be a text or a list of texts, not 3"),
        ({"optypes_not_deal": [3]}, TypeError, "optypes_not_deal must be a text or a list of texts"),
        ({"job_id": 7}, TypeError, "job_id must be a text, not 7"),
    ],
)
def test_arguments_that_cannot_be(
    arguments: dict[str, object], error: type[Exception], words: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=words):
        Profiler(output_path=tmp_path, **arguments)
    assert not list(tmp_path.iterdir())


def test_the_guides_script_prints_two_tables_and_the_steps(tmp_path: Path) -> None:
    types, operators, steps = _run(tmp_path).strip().split("\n\n", 2)
    assert "time by op-type" in types.splitlines()[0]
    assert "time by name" in operators.splitlines()[0]
    for table in (types, operators):
        assert [line.split()[:2] for line in table.splitlines()[2:]] == [["Conv2D", "3"]]  # not Variable, the default
    assert "average of 2 steps, without the first" in steps
    assert len(list((tmp_path / "data" / "profiler").glob("*.laptime.jsonl"))) == 1


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (", optypes_to_deal='Variable', optypes_not_deal=''", ["Variable"]),
        (", optypes_to_deal=['Variable', 'Conv2D'], optypes_not_deal=[]", ["Conv2D", "Variable"]),
        (", optypes_not_deal='Conv2D, Variable'", ["No"]),
    ],
)
def test_choices_of_types(more: str, expected: list[str], tmp_path: Path) -> None:
    printed = _run(tmp_path, more=more, detail="False")
    assert "time by name" not in printed
    table = printed.split("\n\n", 1)[0].splitlines()
    assert sorted(line.split()[0] for line in table[1:] if not line.startswith("op-type")) == expected


def test_a_second_run_into_the_same_folder_shows_itself_alone(tmp_path: Path) -> None:
    _run(tmp_path)
    again = _run(tmp_path, more=", optypes_not_deal=[]")
    assert "the first of" not in again
    assert [line.split()[1] for line in again.splitlines()[2:4]] == ["3", "3"]
    assert len(list((tmp_path / "data" / "profiler").glob("*.laptime.jsonl"))) == 2


def test_a_job_that_was_recorded_before(tmp_path: Path) -> None:
    """Nothing is recorded; the job is parsed as `laptime prof` does, and shown."""
    write_job(tmp_path / "JOBEXAMPLE", job_files())
    script = tmp_path / "job.py"
    script.write_text(f"{_IMPORT}\nProfiler(job_id={str(tmp_path / 'JOBEXAMPLE')!r}, output_path='data').analyse()\n")
    environment = {ENVIRONMENT: str(tmp_path / "workspace"), "DEVICE_ID": ""}
    printed = run_python([str(script)], tmp_path, **environment).stdout
    assert (tmp_path / "data" / "profiler").is_dir()
    assert "time by op-type" in printed
    assert "Steps of data/profiler" in printed


def test_a_job_that_is_not_there(tmp_path: Path) -> None:
    script = tmp_path / "job.py"
    script.write_text(f"{_IMPORT}\nProfiler(job_id='JOBNOWHERE', output_path='data').analyse()\nprint('trained')\n")
    printed = run_python([str(script)], tmp_path, **{ENVIRONMENT: str(tmp_path / "workspace")}).stdout
    reason, trained = printed.splitlines()
    assert reason.startswith("laptime: no ")
    assert trained == "trained"
