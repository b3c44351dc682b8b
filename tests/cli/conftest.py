"""The command line in this process, with a workspace that the tests of one run share."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from laptime.__main__ import main
from tests.importers import ascend_jobs as jobs

_POINTS = ("FP_POINT", "BP_POINT", "COMM_POINTS")


@dataclass(frozen=True)
class Ran:
    """What a command left: exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """stdout as one JSON object; fails where there is anything else, or NaN."""
        assert self.code == 0, self.err
        assert self.out.count("\n") == 1
        assert self.out.endswith("\n")
        value = json.loads(self.out, parse_constant=_refuse)
        assert isinstance(value, dict)
        assert next(iter(value)) == "schema_version"
        assert value["schema_version"] == 1
        return value


def _refuse(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


Cli = Callable[..., Ran]


@pytest.fixture(scope="session")
def shared_workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that is kept over all tests, so that each sample is imported once."""
    return tmp_path_factory.mktemp("workspace")


@pytest.fixture
def cli(shared_workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs a command line as the shell would."""
    monkeypatch.setenv("LAPTIME_WORKSPACE", str(shared_workspace))
    for name in _POINTS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["laptime", *(str(argument) for argument in arguments)])
        capsys.readouterr()
        try:
            main()
            code: object = 0
        except SystemExit as error:
            code = error.code or 0
        captured = capsys.readouterr()
        assert isinstance(code, int)
        return Ran(code, captured.out, captured.err)

    return run


Piped = Callable[..., Ran]


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A job of four steps on device 0: Mul takes 20 us, Add 20 us, one kernel on the AI CPU."""
    return jobs.write_job(tmp_path / "JOBAA", jobs.job_files())


@pytest.fixture
def piped(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Piped:
    """Runs `laptime shell` with lines on stdin."""

    def run(path: object, *lines: str, options: tuple[object, ...] = ()) -> Ran:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return cli("shell", "--op-path", path, *options)

    return run
