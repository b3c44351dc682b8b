"""Progress bars for imports: shown on stderr once the work has taken a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from laptime.importers.progress import Progress as Report

_QUIET_SECONDS = 1.0


class Bars:
    """One bar per source; a context manager that gives the function which starts a bar."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._began = time.monotonic()
        self._shown = False

    def __enter__(self) -> Callable[[str], Report]:
        return self._start

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._shown:
            self._progress.stop()

    def _start(self, name: str) -> Report:
        task: list[TaskID] = []

        def report(done: int, total: int) -> None:
            if not self._shown and time.monotonic() - self._began > _QUIET_SECONDS:
                self._progress.start()
                self._shown = True
            if self._shown and not task:
                task.append(self._progress.add_task(f"importing {name}", total=total))
            if task:
                self._progress.update(task[0], completed=done)

        return report
