"""Runs whose tables are open, the last used ones: reading a column again costs more than keeping it."""

from __future__ import annotations

import threading
from collections import OrderedDict

from laptime.errors import LaptimeError
from laptime.importers.opening import reopened
from laptime.model.trace import Run
from laptime.model.workspace import Workspace

_MOST_RUNS = 16
_MOST_SLICES = 6_000_000
"""Slices of all open runs together; the columns that analyses read take about 100 bytes each."""


class OpenedRuns:
    """The last used runs; the one just asked for always stays."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._runs: OrderedDict[str, tuple[Run, int]] = OrderedDict()
        self._lock = threading.Lock()

    def run(self, key: str, shown_path: str) -> Run:
        """The run of a key, called by a path that may be shown. Raises LaptimeError or OSError where it is gone."""
        with self._lock:
            if key in self._runs and self._workspace.has_run(key):
                self._runs.move_to_end(key)
                return self._runs[key][0]
            self._runs.pop(key, None)
        stored = self._workspace.listed(key)
        if stored is None:
            raise LaptimeError("the import is gone", where=key, remedy="import the run again")
        run = reopened(stored, self._workspace)
        run.path = shown_path
        slices = sum(trace.slices.row_count for trace in run.traces)
        with self._lock:
            run, slices = self._runs.setdefault(key, (run, slices))
            self._runs.move_to_end(key)
            self._make_room()
        return run

    def _make_room(self) -> None:
        while len(self._runs) > 1 and (
            len(self._runs) > _MOST_RUNS or sum(slices for _, slices in self._runs.values()) > _MOST_SLICES
        ):
            self._runs.popitem(last=False)
