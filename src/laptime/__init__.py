"""laptime: tells where every training step's time goes, and what to change.

`laptime.open(path)` opens what a profiler recorded and returns a Run.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from laptime._version import __version__
from laptime.errors import LaptimeError

if TYPE_CHECKING:
    from laptime.model.trace import Run

__all__ = ["LaptimeError", "__version__", "open"]


def open(path: str | os.PathLike[str]) -> Run:  # the public name is laptime.open
    """Opens a recording: a file, a folder of ranks, a glob or an archive. Raises LaptimeError where it cannot."""
    from laptime.importers.opening import open_run

    return open_run(os.fspath(path))
