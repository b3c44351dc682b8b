"""MindSpore: its own profiler underneath, a folder for each window; steps, scopes and waits are in the log."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, cast

from laptime.recorders import mindspore_minddata as minddata
from laptime.recorders.backends import LoaderProbe, TrainingFailed, Window
from laptime.recorders.event_log import EventLog
from laptime.recorders.mindspore_arguments import ASCEND
from laptime.recorders.mindspore_callback import make_callback
from laptime.recorders.mindspore_hooks import Hooks, executors
from laptime.recorders.mindspore_profile import WindowProfile, device_target, start_profile, taken_folder
from laptime.recorders.options import Options
from laptime.recorders.telling import tell

_IMPORTERS = {ASCEND: "ascend_output"}
_IMPORTER_OF_OTHERS = "mindspore_cpu"
_ONE_WINDOW = "queues of a dataset are recorded in one window of each iteration: an iteration goes on in later windows"
_TOO_LATE = "queues are not recorded of a dataset whose iteration began before laptime.Profiler started"
_SUNK = {
    True: "the schedule counts calls, and each is shown as one step (sink_size=1 tells them apart)",
    False: "steps are told from the operators (sink_size=1 marks them)",
}


class MindSporeBackend:
    """Records by MindSpore's profiler, which keeps no ranges on CPU: scopes go to the log."""

    name = "mindspore"
    marks_scopes = False

    def __init__(self, options: Options) -> None:
        self._options = options
        self._mindspore = importlib.import_module("mindspore")
        self._closing = contextlib.ExitStack()
        self._running: WindowProfile | None = None
        self._hooks: Hooks | None = None
        self._told: set[str] = set()
        self._prepare_monitor()

    def version(self) -> str | None:
        """mindspore.__version__."""
        return str(self._mindspore.__version__)

    def prepare(self) -> None:
        """The profiler is imported before a window begins."""
        importlib.import_module("mindspore.profiler")
        self._prepare_monitor()

    def start(self, window: Window) -> None:
        """Begins to record; what is still being executed ends before."""
        finish_pending()
        folder = self._closing.enter_context(taken_folder(window.path("mindspore")))
        self._running = start_profile(self._options, folder)
        self._start_monitor(window)
        self._hooks = Hooks(window.log, self._options.with_backtrace)
        self._hooks.install()

    def stop(self, window: Window) -> None:
        """Ends recording and tells of the window's folder."""
        hooks, self._hooks = self._hooks, None
        if hooks is not None:
            hooks.remove()
        try:
            finish_pending()
        finally:
            self._stop_monitor(window)
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
        """A dataset's queues are in the window's folder; the wait for a batch is measured from outside, once."""
        module = sys.modules.get("mindspore.dataset")
        iterators = sys.modules.get("mindspore.dataset.engine.iterators")
        if module is None or iterators is None or not isinstance(loader, (module.Dataset, iterators.Iterator)):
            return None
        return DatasetProbe(self)

    def callback(self, step: Callable[[], None], *, counts_calls: bool) -> object:
        """For `Model.train(callbacks=[...])`; calls of several steps are steps where a schedule counts them alone."""

        def sunk(steps: int) -> bool:
            if "sink" not in self._told:
                self._told.add("sink")
                tell(f"data sink runs {steps} steps in one call; {_SUNK[counts_calls]}")
            return counts_calls

        return make_callback(step, sunk)

    @property
    def hooks(self) -> Hooks | None:
        """What measures in the window that is open."""
        return self._hooks

    # ---- the dataset engine's monitor ----

    def _interval_ms(self) -> int | None:
        interval = self._options.extra.get("monitor_sampling_interval")
        return interval if isinstance(interval, int) else None

    def _prepare_monitor(self) -> None:
        if self._options.extra.get("data_process", True):
            with contextlib.suppress(Exception):  # told when a window begins
                minddata.monitor.prepare(self._interval_ms())

    def _start_monitor(self, window: Window) -> None:
        if not self._options.extra.get("data_process", True):
            return
        try:
            looks = minddata.monitor.start(self._interval_ms())
        except Exception as error:
            return self._tell(window, f"the dataset engine's monitor did not start: {error}")
        if not looks:
            self._tell(window, _ONE_WINDOW)

    def _stop_monitor(self, window: Window) -> None:
        path = window.path("mindspore-data")
        used = minddata.datasets_are_used()
        try:
            looked, wrote = minddata.monitor.state == minddata.RUNNING, minddata.monitor.stop(path)
        except Exception as error:
            return self._tell(window, f"the dataset engine's monitor wrote nothing: {error}")
        if wrote:
            window.add_file(path, "minddata")
        elif looked and used:
            self._tell(window, _TOO_LATE)

    def _tell(self, window: Window, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            window.log.add("note", text)


class DatasetProbe:
    """Says when a wait is measured from outside, so that it is not measured twice."""

    def __init__(self, backend: MindSporeBackend) -> None:
        self._backend = backend

    def iterate(self, loader: Iterable[object]) -> Iterator[object]:
        """The dataset's own iterator."""
        return iter(loader)

    def before(self) -> None:
        """Training asks for a batch."""
        self._mark(watched=True)

    def after(self, batch: object) -> object:
        """It has got it."""
        self._mark(watched=False)
        return batch

    def close(self) -> None:
        """There is no further one."""
        self._mark(watched=False)

    def _mark(self, *, watched: bool) -> None:
        if self._backend.hooks is not None:
            self._backend.hooks.watched = watched


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
    with contextlib.suppress(ImportError, AttributeError):
        return cast("_Executor", importlib.import_module(executors())._pynative_executor)
    return None


def backend(options: Options) -> MindSporeBackend:
    """The recorder of MindSpore. Raises ImportError where it is not installed."""
    return MindSporeBackend(options)
