"""Reports at the end of training: made by another process, and a hint where laptime is not installed whole."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from laptime.model.workspace import ENVIRONMENT
from laptime.recorders import analysing
from tests.recorders.running import START, run_python

_TRAIN = """
with laptime.Profiler(sys.argv[1]) as prof:
    train(prof, 4)
print(prof.analyse(**OPTIONS))
heavy = {"numpy", "pyarrow", "duckdb", "msgspec", "typer"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""


def _analysed(folder: Path, options: str = "{}", **environment: str) -> str:
    script = folder / "script.py"
    script.write_text(START + _TRAIN.replace("OPTIONS", options))
    return run_python(
        [str(script), str(folder / "out")], folder, **{ENVIRONMENT: str(folder / "workspace"), **environment}
    ).stdout


def test_the_report_comes_from_another_process(tmp_path: Path) -> None:
    printed = _analysed(tmp_path)
    assert "laptime recording" in printed.splitlines()[0]
    assert "(mean of 4 steps)" in printed
    assert "Scopes by own time" in printed


def test_options_of_the_report(tmp_path: Path) -> None:
    assert "(mean of 2 steps)" in _analysed(tmp_path, "{'steps': '2-3'}")


def test_what_lies_about_in_the_working_folder_is_not_imported(tmp_path: Path) -> None:
    """Users have modules of any name beside their script."""
    if hasattr(sys.flags, "safe_path"):
        (tmp_path / "rich.py").write_text("raise SystemExit('the wrong one')")
        assert "(mean of 4 steps)" in _analysed(tmp_path)


def test_all_ranks_are_in_the_report_of_one(tmp_path: Path) -> None:
    for rank in "10":
        printed = _analysed(tmp_path, RANK=rank, WORLD_SIZE="2")
    assert "2 ranks" in printed.splitlines()[0]


def test_where_laptime_is_not_installed_whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(analysing, "_NEEDED", ("a_package_that_nobody_has",))
    Path("runs/a").mkdir(parents=True)
    text = analysing.analyse(Path("runs/a"), command=("report", "--steps=2-3"))
    assert text == "recorded in runs/a; run `laptime report runs/a --steps=2-3` where laptime is installed whole"
    assert analysing.analyse(Path("runs/b")) == "nothing was recorded in runs/b"
    assert analysing.run(["prof"]) == "run `laptime prof` where laptime is installed whole"


def test_what_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "workspace"))
    (tmp_path / "empty").mkdir()
    text = analysing.analyse(tmp_path / "empty")
    assert "no recording that laptime reads" in text
    assert "\n" not in text


def test_no_process_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    assert analysing.run(["report", "x"]) == "`laptime report x` did not start: No such file or directory"
