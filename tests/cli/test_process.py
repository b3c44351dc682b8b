"""laptime as a process of its own: what it loads, how it ends on Ctrl-C, on a closed pipe and on a narrow encoding."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.recordings import DDP2, TINY
from tests.conftest import EXAMPLE

_LOADED = """
import sys
from laptime.__main__ import main
sys.argv[0] = "laptime"
try:
    main()
finally:
    print("LOADED", *sys.modules, file=sys.stderr)
"""


def environment(workspace: Path, **more: str) -> dict[str, str]:
    """Variables of a process whose workspace is a test's."""
    kept = {name: value for name, value in os.environ.items() if name not in ("FP_POINT", "BP_POINT", "COMM_POINTS")}
    return {**kept, "LAPTIME_WORKSPACE": str(workspace), **more}


def ran(*arguments: object, workspace: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """`python -m laptime` with its streams captured."""
    command = [sys.executable, "-m", "laptime", *map(str, arguments)]
    return subprocess.run(
        command, env=environment(workspace, **more), capture_output=True, text=True, timeout=120, check=False
    )


def loaded(*arguments: object, workspace: Path) -> set[str]:
    """Top-level packages that a command loads."""
    command = [sys.executable, "-c", _LOADED, *map(str, arguments)]
    done = subprocess.run(command, env=environment(workspace), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in done.stderr.rpartition("LOADED")[2].split()}


def test_the_process_prints_json_and_nothing_else(tmp_path: Path) -> None:
    done = ran("report", DDP2, "--json", workspace=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["run"]["ranks"] == [0, 1]
    again = ran("report", DDP2, "--json", workspace=tmp_path)
    assert again.stdout == done.stdout


def test_the_process_refuses_in_one_line(tmp_path: Path) -> None:
    done = ran("report", tmp_path / "missing", "--json", workspace=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"laptime: no such file or folder: {tmp_path / 'missing'}: check the path\n"
    assert ran("report", workspace=tmp_path).returncode == 2


@pytest.mark.parametrize("arguments", [("--help",), ("report", "--help"), ("--version",), ("op", "-h")], ids=" ".join)
def test_help_loads_nothing_heavy(arguments: tuple[str, ...], tmp_path: Path) -> None:
    heavy = {"numpy", "pyarrow", "duckdb", "pandas", "msgspec", "isal", "multiprocessing", "fastapi"}
    assert heavy & loaded(*arguments, workspace=tmp_path) == set()


@pytest.mark.parametrize("options", [("--json",), ()], ids=["json", "page"])
@pytest.mark.parametrize("path", [EXAMPLE, TINY], ids=["folder", "file"])
def test_a_second_report_loads_nothing_heavy(path: Path, options: tuple[str, ...], tmp_path: Path) -> None:
    assert ran("report", path, workspace=tmp_path).returncode == 0
    heavy = {"numpy", "pyarrow", "duckdb", "pandas", "msgspec", "isal"}
    assert heavy & loaded("report", path, *options, workspace=tmp_path) == set()


def large_recording(path: Path, *, events: int, padding: int) -> Path:
    """A trace whose import takes about a second; over 64 MiB it is decoded by several processes."""
    row = '{{"ph":"X","cat":"cpu_op","name":"op{0}","pid":1,"tid":1,"ts":{1},"dur":1,"args":{{"x":"{2}"}}}}'
    with path.open("w") as out:
        out.write('{"schemaVersion":1,"traceEvents":[\n')
        out.write(",\n".join(row.format(number % 100, 2 * number, "x" * padding) for number in range(events)))
        out.write("]}")
    return path


def interrupted(recording: Path, workspace: Path, *, wait_s: float) -> tuple[int, str, str]:
    """An import that gets Ctrl-C, with all its processes as on a terminal, some time after it begins to write."""
    command = [sys.executable, "-m", "laptime", "import", str(recording)]
    with subprocess.Popen(
        command,
        env=environment(workspace),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        _wait_for_import(workspace, process)
        time.sleep(wait_s)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for one process there")
@pytest.mark.parametrize("wait_s", [0.0, 0.3])
def test_ctrl_c_leaves_nothing_behind(wait_s: float, tmp_path: Path) -> None:
    recording = large_recording(tmp_path / "large.json", events=250_000, padding=20)
    _check_interrupted(recording, tmp_path / "workspace", wait_s=wait_s)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for one process there")
@pytest.mark.parametrize("wait_s", [0.02, 0.06, 0.12, 0.5])
def test_ctrl_c_while_several_processes_decode(wait_s: float, tmp_path: Path) -> None:
    """Also while they start, when they have not yet said that the parent answers."""
    recording = large_recording(tmp_path / "large.json", events=70_000, padding=1000)
    _check_interrupted(recording, tmp_path / "workspace", wait_s=wait_s)


def _check_interrupted(recording: Path, workspace: Path, *, wait_s: float) -> None:
    code, out, err = interrupted(recording, workspace, wait_s=wait_s)
    if code == 0:
        pytest.skip("the import was faster than the signal")
    assert "Traceback" not in err + out
    assert out == ""
    assert err.count("\n") <= 2
    assert list((workspace / "traces").iterdir()) == []
    assert list((workspace / "runs").iterdir()) == []


def _wait_for_import(workspace: Path, process: subprocess.Popen[str]) -> None:
    """Until the folder of a half-written trace is there."""
    deadline = time.monotonic() + 60
    while not any((workspace / "traces").glob(".*")) if (workspace / "traces").is_dir() else True:
        assert process.poll() is None, "it ended before it could be interrupted"
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise there")
def test_a_reader_that_goes_away_is_no_error_to_show(tmp_path: Path) -> None:
    command = f"'{sys.executable}' -m laptime sql '{EXAMPLE}' 'SELECT * FROM slices' --json | head -c 10"
    done = subprocess.run(
        command, shell=True, env=environment(tmp_path), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == '{"schema_v'
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("page", [("report",), ("step",), ("op",)], ids=" ".join)
def test_a_narrow_encoding_is_no_crash(page: tuple[str, ...], tmp_path: Path) -> None:
    """A terminal or a file that takes ASCII alone, as under LC_ALL=C or cron."""
    done = ran(*page, EXAMPLE, workspace=tmp_path, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "rank" in done.stdout or "self" in done.stdout or "step" in done.stdout


def test_pages_without_their_packages_say_what_to_install(tmp_path: Path) -> None:
    """As after `pip install --no-deps`."""
    script = "import sys\nsys.modules['typer'] = None\nfrom laptime.__main__ import main\nmain()\n"
    command = [sys.executable, "-c", script, "report", str(EXAMPLE)]
    done = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("laptime: typer is not installed: `pip install laptime`")
    assert "`python -m laptime.recorders` records" in done.stderr
