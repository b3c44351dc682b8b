"""Plain Python: scopes, steps and waits for data are in the log; there is no profiler underneath."""

from __future__ import annotations

import platform
from collections.abc import Iterable

from laptime.recorders.backends import LoaderProbe, Window
from laptime.recorders.event_log import EventLog
from laptime.recorders.options import Options
from laptime.recorders.queues import QueueProbe


class PlainBackend:
    """Records nothing by itself."""

    name = "python"
    marks_scopes = False

    def version(self) -> str | None:
        """Python's version."""
        return platform.python_version()

    def prepare(self) -> None:
        """Nothing to warm up."""

    def start(self, window: Window) -> None:
        """Nothing to start."""

    def stop(self, window: Window) -> None:
        """Nothing to write."""

    def begin_step(self, number: int) -> None:
        """Steps are in the log."""

    def end_step(self, number: int) -> None:
        """Steps are in the log."""

    def open_scope(self, name: str) -> object:
        """Scopes are in the log."""
        return None

    def close_scope(self, token: object) -> None:
        """Scopes are in the log."""

    def watch(self, loader: Iterable[object], log: EventLog) -> LoaderProbe | None:
        """Of any iterator the queue it takes batches from, if it has one."""
        return QueueProbe(loader, log)


def backend(options: Options) -> PlainBackend:
    """The recorder of plain Python."""
    return PlainBackend()
