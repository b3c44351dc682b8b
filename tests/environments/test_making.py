"""Environments of a package made here, installed without a network."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.environments import Environment, absence, ensure, named, places

_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where pip looks, and the pins of two environments that take the place of the real ones."""
    for name in ("lap", "pythonless"):
        (tmp_path / f"{name}.txt").write_text("lap==1.2\n")
    environments = (Environment("lap", _PYTHON), Environment("pythonless", "3.99"))
    monkeypatch.setattr(places, "FRAMEWORKS", environments)
    monkeypatch.setattr(places, "_HERE", tmp_path)
    monkeypatch.setenv("LAPTIME_ENVS", str(tmp_path / "environments"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    return tmp_path


def _write_wheel(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("lap.py", "turns = 3\n")
        wheel.writestr("lap-1.2.dist-info/METADATA", "Metadata-Version: 2.1\nName: lap\nVersion: 1.2\n")
        wheel.writestr("lap-1.2.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("lap-1.2.dist-info/RECORD", "")


def test_refused_in_one_line_then_made_once(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert absence(named("lap")) == "not made yet: run make test-frameworks"
    assert ensure("lap") is None
    assert capsys.readouterr().out.splitlines()[-1] == "skipped: lap: No matching distribution found for lap==1.2"
    assert absence(named("lap")) == "No matching distribution found for lap==1.2"
    assert not named("lap").folder.exists()

    _write_wheel(place / "lap-1.2-py3-none-any.whl")
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(ensure, ["lap", "lap"])
    assert first == second == ensure("lap") == named("lap").python
    said = capsys.readouterr().out
    assert said.count("installing into") == said.count("installed in") == 1
    assert absence(named("lap")) is None
    assert first.is_relative_to(place / "environments")
    ran = subprocess.run([str(first), "-c", "import lap; print(lap.turns)"], capture_output=True, text=True, check=True)
    assert ran.stdout == "3\n"


def test_other_pins_are_another_environment(place: Path) -> None:
    before = named("lap").folder
    (place / "lap.txt").write_text("lap==1.3\n")
    assert named("lap").folder != before


def test_a_python_that_cannot_be_had(capsys: pytest.CaptureFixture[str]) -> None:
    assert ensure("pythonless") is None
    assert capsys.readouterr().out == "skipped: pythonless: no Python 3.99 on this machine\n"
