"""The process that imports a run: `python -m laptime.web.worker`, started by the server for each import.

It reads one JSON line from stdin and writes JSON lines to stdout: `{"progress": 0..1}` now and then, then
`{"key": ...}`, or `{"error": ..., "where": ..., "remedy": ...}`. It ends when stdin does, so none outlives its server.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from laptime.advice.stored import read_report, store_report
from laptime.errors import LaptimeError
from laptime.importers.keys import run_key
from laptime.importers.opening import open_run
from laptime.importers.progress import Progress
from laptime.model.workspace import Workspace
from laptime.web.cards import card_of
from laptime.web.finding import RunFolder

_QUIET_S = 0.1
"""Least time between two reports of progress."""
_READING = 0.9
"""Share of the work that reading is; the rest is the report."""


@dataclass
class _Told:
    """Progress over all sources of a run, told now and then."""

    sources: int
    tell: Callable[[float], None]
    _parts: dict[str, float] = field(default_factory=dict)
    _last: float = 0.0
    _most: float = 0.0

    def start(self, name: str) -> Progress:
        """What a source tells its progress to."""

        def report(done: int, total: int) -> None:
            whole = self.sources if name.endswith(" recordings") else 1  # ranks that are imported at once
            self._parts[name] = whole * done / total if total else 0.0
            now = time.monotonic()
            share = min(sum(self._parts.values()) / self.sources, 1.0) * _READING
            if share > self._most and now - self._last > _QUIET_S:
                self._last, self._most = now, share
                self.tell(share)

        return report


def main() -> None:
    """Imports the run that stdin names."""
    asked = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_server, daemon=True).start()
    folder = RunFolder(
        Path(asked["base"]), Path(asked["path"]), asked["format"], inner=tuple(Path(each) for each in asked["inner"])
    )
    try:
        key = import_run(folder, Workspace(Path(asked["workspace"])), lambda share: _tell({"progress": share}))
        _tell({"key": key})
    except LaptimeError as error:
        _tell({"error": error.what, "where": error.where, "remedy": error.remedy})
    except MemoryError:
        _tell({"error": "not enough memory to import", "where": asked["path"], "remedy": "import on a larger machine"})
    except RecursionError:
        _tell({"error": "the recording nests too deep", "where": asked["path"], "remedy": "check the file"})


def import_run(folder: RunFolder, place: Workspace, tell: Callable[[float], None]) -> str:
    """Imports a run, computes its report and card; the key of the import. Raises LaptimeError where it cannot."""
    sources = folder.sources()
    told = _Told(len(sources) or 1, lambda share: tell(round(share, 4)))
    run = open_run(folder.path, workspace=place, progress=told.start, sources=sources)
    key = run_key(folder.path, sources)
    if read_report(place, key) is None:
        store_report(run)
    card_of(place, key)
    return key


def _tell(row: dict[str, object]) -> None:
    print(json.dumps(row), flush=True)


def _end_with_server() -> None:
    sys.stdin.read()
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():  # with the processes that decode
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    main()
