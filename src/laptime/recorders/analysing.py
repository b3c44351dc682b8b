"""Reports of a recording, made in a process of their own: the libraries they need never enter the training process."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_NEEDED = ("pyarrow", "numpy", "duckdb", "msgspec", "typer")
_PACKAGES = Path(__file__).parent.parent.parent


def can_analyse() -> bool:
    """Whether laptime is installed whole here, not only its recorders."""
    try:
        return all(importlib.util.find_spec(name) is not None for name in _NEEDED)
    except (ImportError, ValueError):
        return False


def analyse(folder: Path, *, command: Sequence[str] = ("report",)) -> str:
    """What `laptime <command> FOLDER` prints; where laptime is not installed whole, one line saying what to run.

    One line as well where the folder is not there, because recording failed.
    """
    if not os.path.exists(folder):
        return f"nothing was recorded in {folder}"
    if not can_analyse():
        words = " ".join((command[0], str(folder), *command[1:]))
        return f"recorded in {folder}; run `laptime {words}` where laptime is installed whole"
    return run([command[0], str(folder), *command[1:]])


def run(words: Sequence[str]) -> str:
    """What a command line of laptime prints, or why it fails."""
    if not can_analyse():
        return f"run `laptime {' '.join(words)}` where laptime is installed whole"
    path = os.pathsep.join(filter(None, [str(_PACKAGES), os.environ.get("PYTHONPATH")]))
    try:
        done = subprocess.run(
            [sys.executable, "-m", "laptime", *words],
            env={**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:  # no memory for another process, no interpreter
        return f"`laptime {' '.join(words)}` did not start: {error.strerror}"
    return done.stdout.rstrip("\n") if done.returncode == 0 else (done.stderr.strip() or "no report could be made")
