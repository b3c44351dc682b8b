"""Writes what MegEngine recorded. Its profiler gives a result away with the first file written of it, and ends the
process at a second one: where two formats are wanted, a forked child writes one of them from its copy of the result."""

from __future__ import annotations

import contextlib
import os
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

from laptime.recorders.backends import Window
from laptime.recorders.megengine_core import Result
from laptime.recorders.options import FORMATS

_IMPORTERS = dict(zip(FORMATS, ("megengine", "megengine_memory_flow"), strict=True))
_LONGEST_S = 120
"""Beyond this a child that draws hangs."""


def write_results(results: Sequence[Result], formats: Sequence[str], window: Window) -> None:
    """Writes each result in all formats, named alike, so that a drawing is read with its timeline."""
    for number, result in enumerate(results):
        part = "" if number == 0 else f"part{number + 1}."
        paths = [window.path(f"{part}{name}") for name in formats]
        child = _start_drawing(result, paths[1], formats[1]) if len(formats) > 1 else None
        result(str(paths[0]), formats[0])
        window.add_file(paths[0], _IMPORTERS[formats[0]])
        if child is not None and _ended_well(child):
            window.add_file(paths[1], _IMPORTERS[formats[1]])
        elif len(formats) > 1:
            paths[1].unlink(missing_ok=True)
            window.log.add("note", f"{formats[1]} could not be written beside {formats[0]}")


def _start_drawing(result: Result, path: Path, name: str) -> int | None:
    """A child process that writes the result and nothing else; None where there is no fork."""
    if not hasattr(os, "fork"):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads: the child only writes a file
        child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(BaseException):
            result(str(path), name)
            status = 0
        os._exit(status)
    return child


def _ended_well(child: int) -> bool:
    """Waits for a child."""
    deadline = time.monotonic() + _LONGEST_S
    pause = 0.001
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        if time.monotonic() > deadline:
            os.kill(child, 9)
            os.waitpid(child, 0)
            return False
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
