"""The wheel, where there is neither Node nor a source tree, serves the pages; its recorder needs Python alone."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import EXAMPLE, ROOT
from tests.web.servers import free_port

_STATIC = ROOT / "src" / "laptime" / "web" / "static"
_LONGEST_S = 120


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built with the pages that are there already, so without Node and without a network."""
    if not (_STATIC / "index.html").is_file():
        pytest.skip("the pages are not built: make setup")
    folder = tmp_path_factory.mktemp("dist")
    _run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
        cwd=ROOT,
        env={**os.environ, "LAPTIME_SKIP_UI": "1"},
    )
    (built,) = folder.glob("laptime-*.whl")
    return built


@pytest.fixture(scope="session")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Commands of an environment with the wheel alone, as after `pip install --no-deps`."""
    return _installed(wheel, tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="session")
def whole(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with the packages of the lock, taken from the environment of the tests but without its laptime."""
    folder = tmp_path_factory.mktemp("whole")
    commands = _installed(wheel, folder)
    (site,) = folder.glob("env/**/site-packages")
    (site / "locked.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return commands


def test_the_wheel_serves_the_pages_and_the_interface(whole: Path, tmp_path: Path) -> None:
    (where,) = _run([whole / "python", "-c", "import laptime; print(laptime.__file__)"], env=_outside(whole, tmp_path))
    assert str(whole.parent) in where
    with _opened(whole, tmp_path) as url:
        page = _get(url)
        assets = sorted(set(re.findall(r'(?:src|href)="(/[^"]+)"', page.decode())))
        assert any(asset.endswith(".js") for asset in assets)
        assert any(asset.endswith(".css") for asset in assets)
        assert all(_get(url + asset) for asset in assets)
        (run,) = json.loads(_get(f"{url}/api/runs"))["runs"]
        row = json.loads(_get(f"{url}/api/runs/{run['run']}/import", method="POST"))
        with urllib.request.urlopen(f"{url}/api/events", timeout=_LONGEST_S) as events:
            while row["status"] not in ("ready", "failed"):
                row = json.loads(_get(f"{url}/api/runs/{run['run']}"))
                if row["status"] not in ("ready", "failed"):
                    events.readline()
        report = json.loads(_get(f"{url}/api/runs/{run['run']}/report"))
        assert [rank["step_summary"]["steps_used"] for rank in report["ranks"]] == [4, 4, 4, 4]


def test_the_wheel_holds_what_it_needs_and_no_more(wheel: Path) -> None:
    names = _run([sys.executable, "-m", "zipfile", "-l", wheel])
    files = {name.split()[0] for name in names[1:]}
    assert "laptime/web/static/index.html" in files
    assert {"laptime/py.typed", "laptime/recorders/__main__.py"} <= files
    outside = [file for file in files if not re.match(r"laptime/|laptime-[^/]+\.dist-info/", file)]
    assert not outside
    assert not [file for file in files if "node_modules" in file or file.endswith((".tsx", ".map"))]


def test_the_recorder_needs_nothing_else(bare: Path, tmp_path: Path) -> None:
    script = """
import laptime
with laptime.Profiler("recorded") as prof:
    for batch in prof.watch(range(3)):
        with laptime.scope("forward"):
            sum(range(1000))
        prof.step()
"""
    environment = _outside(bare, tmp_path)
    packages = "import importlib.metadata as m; print(*(d.name for d in m.distributions()))"
    assert _run([bare / "python", "-c", packages], env=environment) == ["laptime"]
    _run([bare / "python", "-c", script], env=environment, cwd=tmp_path)
    assert any(file.stat().st_size for file in (tmp_path / "recorded").rglob("*") if file.is_file())
    told = subprocess.run([bare / "laptime", EXAMPLE], env=environment, capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert "pip install laptime" in told.stderr


def _installed(wheel: Path, folder: Path) -> Path:
    """Commands of a new environment with the wheel."""
    environment = folder / "env"
    _run([sys.executable, "-m", "venv", "--without-pip", environment])
    commands = environment / ("Scripts" if os.name == "nt" else "bin")
    pip = [sys.executable, "-m", "pip", "--python", commands / "python", "install", "--quiet"]
    _run([*pip, "--disable-pip-version-check", "--no-index", "--no-deps", wheel])
    return commands


def _outside(commands: Path, home: Path) -> dict[str, str]:
    """Variables of a user who has this environment alone: no Node, no source tree."""
    return {"PATH": str(commands), "HOME": str(home), "XDG_CACHE_HOME": str(home), "PYTHONUNBUFFERED": "1"}


@contextmanager
def _opened(commands: Path, home: Path) -> Iterator[str]:
    """The address of `laptime open`, until the block ends."""
    words = [commands / "laptime", "open", EXAMPLE, "--no-browser", "--port", free_port()]
    with subprocess.Popen(
        list(map(str, words)), stdout=subprocess.PIPE, text=True, env=_outside(commands, home), cwd=home
    ) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().removeprefix("laptime: ").strip().rstrip("/")
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(_LONGEST_S)
    assert server.returncode == 0


def _get(url: str, method: str = "GET") -> bytes:
    with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=_LONGEST_S) as answer:
        return bytes(answer.read())


def _run(command: list[object], *, env: dict[str, str] | None = None, cwd: Path | None = None) -> list[str]:
    """Lines of a command that must succeed."""
    words = list(map(str, command))
    done = subprocess.run(words, env=env, cwd=cwd, capture_output=True, text=True, timeout=_LONGEST_S, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
