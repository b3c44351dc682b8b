"""What tests that record real runs share: the frameworks' interpreters, and running a script with one of them.

Such a test is marked `frameworks`: it runs where `make test-frameworks` has made the environment, and else is skipped.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.environments import absence, named


def _interpreter(name: str) -> Path:
    environment = named(name)
    reason = absence(environment)
    if reason is not None:
        pytest.skip(f"{name}: {reason}")
    return environment.python


@pytest.fixture(scope="session")
def torch_python() -> Path:
    """A Python that has PyTorch, and NumPy 2."""
    return _interpreter("torch")


@pytest.fixture(scope="session")
def megengine_python() -> Path:
    """A Python 3.10 that has MegEngine."""
    return _interpreter("megengine")


@pytest.fixture(scope="session")
def mindspore_python() -> Path:
    """A Python that has MindSpore, and NumPy 1: with NumPy 2 a data set of Python objects fails."""
    return _interpreter("mindspore")


@pytest.fixture(scope="session")
def jax_python() -> Path:
    """A Python that has JAX."""
    return _interpreter("jax")


def run_script(
    python: Path, script: str | Path, tmp_path: Path, *args: str | Path, timeout: float = 120
) -> subprocess.CompletedProcess[str]:
    """Runs a script (text or file) in tmp_path with this checkout's laptime; the test fails where the script does."""
    if isinstance(script, str):
        text, script = script, tmp_path / "script.py"
        script.write_text(text, encoding="utf-8")
    command = [str(python), str(script.absolute()), *map(str, args)]
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    try:
        done = subprocess.run(
            command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired as late:
        pytest.fail(f"still running after {timeout} s: {late.cmd}\n{late.stdout!r}\n{late.stderr!r}", pytrace=False)
    assert done.returncode == 0, f"exit {done.returncode}: {command}\n{done.stdout}\n{done.stderr}"
    return done
