"""Runs scripts that record, in processes of their own, and reads what they left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from laptime.importers.opening import open_run
from laptime.model.trace import Trace
from laptime.model.workspace import Workspace
from tests.conftest import ROOT

Row = list[Any]

START = """
import os, signal, sys, threading, time
import laptime

def train(prof, steps):
    for _ in range(steps):
        with laptime.scope("forward"):
            time.sleep(0.001)
        prof.step()
"""
"""What the scripts begin with; the folder to record into is `sys.argv[1]`."""


def run(
    script: str, folder: Path, *arguments: str, code: int = 0, python: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Runs a script that records into `folder`/out. `code` is the exit code to expect, negative for a signal."""
    file = folder / "script.py"
    file.write_text(START + script, encoding="utf-8")
    return run_python([*python, str(file), str(folder / "out"), *arguments], folder, code=code)


def run_python(
    arguments: list[str], folder: Path, *, code: int = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs this Python with the checkout's laptime."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **environment}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def log_of(folder: Path) -> tuple[dict[str, object], list[Row]]:
    """Facts and rows of the only log of a folder; every line of it is whole."""
    (log,) = folder.glob("*.laptime.jsonl")
    first, *lines = log.read_text(encoding="utf-8").splitlines()
    return json.loads(first), [row for line in lines for row in json.loads(line)]


def rows_of(folder: Path, kind: str) -> list[Row]:
    """Rows of one kind, without the word."""
    return [row[1:] for row in log_of(folder)[1] if row[0] == kind]


def trace_of(folder: Path, workspace: Workspace) -> Trace:
    """The only recording of a folder, imported."""
    (trace,) = open_run(folder, workspace=workspace).traces
    return trace


def steps_of(trace: Trace) -> list[tuple[int, bool]]:
    """Number and completeness of each step."""
    table = trace.table("steps")
    return list(zip(table.objects("step"), table.objects("complete"), strict=True))


def warnings_of(trace: Trace) -> dict[str, str]:
    """Message of each warning, by code."""
    return {warning["code"]: warning["message"] for warning in trace.meta["warnings"]}
