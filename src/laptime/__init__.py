"""laptime: tells where every training step's time goes, and what to change.

`laptime.Profiler` records a training run, `laptime.scope` names a part of it, `laptime.open(path)` opens what a
profiler recorded and returns a Run.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from laptime._version import __version__
from laptime.errors import LaptimeError
from laptime.recorders import Profiler, Schedule, profile, schedule, scope

if TYPE_CHECKING:
    from laptime.model.trace import Run

__all__ = ["LaptimeError", "Profiler", "Schedule", "__version__", "open", "profile", "schedule", "scope"]


def open(path: str | os.PathLike[str]) -> Run:  # the public name is laptime.open
    """Opens a recording: a file, a folder of ranks, a glob or an archive. Raises LaptimeError where it cannot."""
    from laptime.importers.opening import open_run

    return open_run(os.fspath(path))
