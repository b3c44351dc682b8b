"""MindSpore: its own profiler underneath, a folder for each window; steps, scopes and waits are in the log."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterable
from typing import Protocol, cast

from laptime.recorders.backends import LoaderProbe, TrainingFailed, Window
from laptime.recorders.event_log import EventLog
from laptime.recorders.mindspore_arguments import ASCEND
from laptime.recorders.mindspore_profile import WindowProfile, device_target, start_profile, taken_folder
from laptime.recorders.options import Options

_IMPORTERS = {ASCEND: "ascend_output"}
_IMPORTER_OF_OTHERS = "mindspore_cpu"


class MindSporeBackend:
    """Records by MindSpore's profiler, which keeps no ranges on CPU: scopes go to the log."""

    name = "mindspore"
    marks_scopes = False

    def __init__(self, options: Options) -> None:
        self._options = options
        self._mindspore = importlib.import_module("mindspore")
        self._closing = contextlib.ExitStack()
        self._running: WindowProfile | None = None

    def version(self) -> str | None:
        """mindspore.__version__."""
        return str(self._mindspore.__version__)

    def prepare(self) -> None:
        """The profiler is imported before a window begins."""
        importlib.import_module("mindspore.profiler")

    def start(self, window: Window) -> None:
        """Begins to record; what is still being executed ends before."""
        finish_pending()
        folder = self._closing.enter_context(taken_folder(window.path("mindspore")))
        self._running = start_profile(self._options, folder)

    def stop(self, window: Window) -> None:
        """Ends recording and tells of the window's folder."""
        try:
            finish_pending()
        finally:
            running, self._running = self._running, None
            with self._closing:
                if running is not None:
                    running.end()
            path = window.path("mindspore")
            if any(path.rglob("*")):
                window.add_file(path, _IMPORTERS.get(device_target(), _IMPORTER_OF_OTHERS))

    def begin_step(self, number: int) -> None:
        """Steps are in the log."""

    def end_step(self, number: int) -> None:
        """Steps are in the log; what a step called has run before it ends. Chips get MindSpore's own marks as well."""
        finish_pending()
        if self._running is not None:
            self._running.next_step()

    def open_scope(self, name: str) -> object:
        """Scopes are in the log."""
        return None

    def close_scope(self, token: object) -> None:
        """Scopes are in the log."""

    def watch(self, loader: Iterable[object], log: EventLog) -> LoaderProbe | None:
        """A dataset's queues are in the window's folder; waits are measured outside."""
        return None


def finish_pending() -> None:
    """Waits until operators that were called have run: in PyNative mode they are called ahead of time.

    Raises TrainingFailed where one of them failed; MindSpore tells that only once.
    """
    executor = _executor()
    if executor is None:
        return
    try:
        executor.sync()
    except Exception as error:
        raise TrainingFailed(error) from error


class _Executor(Protocol):
    def sync(self) -> None: ...


def _executor() -> _Executor | None:
    for module in ("mindspore.graph.api", "mindspore.common.api"):
        with contextlib.suppress(ImportError, AttributeError):
            return cast("_Executor", importlib.import_module(module)._pynative_executor)
    return None


def backend(options: Options) -> MindSporeBackend:
    """The recorder of MindSpore. Raises ImportError where it is not installed."""
    return MindSporeBackend(options)
