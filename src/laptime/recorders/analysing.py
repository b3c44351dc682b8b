"""The report of a recording, made in a process of its own: the libraries it needs never enter the training process."""

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


def analyse(folder: Path, *, command: Sequence[str] = ("report",), environment: dict[str, str] | None = None) -> str:
    """What `laptime <command> FOLDER` prints; where laptime is not installed whole, one line saying what to run."""
    words = " ".join(command)
    if not can_analyse():
        return f"recorded in {folder}; run `laptime {words} {folder}` where laptime is installed whole"
    path = os.pathsep.join(filter(None, [str(_PACKAGES), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-m", "laptime", *command[:1], str(folder), *command[1:]],
        env={**os.environ, **(environment or {}), "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.rstrip("\n") if done.returncode == 0 else (done.stderr.strip() or "no report could be made")
