"""Programs that tests run beside laptime, each in a virtual environment of its own.

They lie in ~/.cache/laptime-envs, named by their requirements, and are made when first asked for. Where the Python or
the packages cannot be had the test is skipped and says why.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

_ENVIRONMENTS = Path.home() / ".cache" / "laptime-envs"
_HERE = Path(__file__).parent


def environment(name: str, *, python: str) -> Path:
    """Folder of the environment that holds what `{name}.txt` pins, for that version of Python."""
    requirements = _HERE / f"{name}.txt"
    key = hashlib.sha256(requirements.read_bytes() + python.encode()).hexdigest()[:12]
    folder = _ENVIRONMENTS / f"{name}-{key}"
    if not (folder / "complete").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        _make(folder, requirements, _interpreter(python))
        (folder / "complete").touch()
    return folder


def _interpreter(version: str) -> str:
    installed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    found = str(installed[-1]) if installed else shutil.which(f"python{version}")
    if found is None:
        pytest.skip(f"no Python {version} on this machine")
    return found


def _make(folder: Path, requirements: Path, interpreter: str) -> None:
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in ([interpreter, "-m", "venv", str(folder)], [*pip, "--no-deps", "-r", str(requirements)]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            last_line = (done.stderr.strip().splitlines() or ["no message"])[-1]
            shutil.rmtree(folder, ignore_errors=True)
            pytest.skip(f"{requirements.stem} cannot be installed: {last_line}")
