"""MegEngine (1.13): its own profiler records operators, devices and scopes; each window is a file of its own."""

from __future__ import annotations

import functools
import importlib
import sys
import threading
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar, cast

from laptime.recorders.backends import LoaderProbe, Window
from laptime.recorders.event_log import EventLog, now
from laptime.recorders.megengine_core import Stretches, core, own_profiler_runs
from laptime.recorders.megengine_files import write_results
from laptime.recorders.megengine_graphs import CompiledGraphs
from laptime.recorders.megengine_loader import Loader, MegEngineLoaderProbe
from laptime.recorders.megengine_scopes import FunctionScopes, Scopes
from laptime.recorders.megengine_waits import WaitStacks
from laptime.recorders.options import FORMATS, Options
from laptime.recorders.patching import Patches
from laptime.recorders.stacks import call_stack

_P = ParamSpec("_P")
_R = TypeVar("_R")

_OPS_OF_A_LOADER = 4
_EXTRA = {"num_tensor_watch": 10, "enable_cupti": 0}
"""Options of MegEngine's Profiler that only it has."""


class MegEngineBackend:
    """Drives MegEngine's profiler."""

    name = "megengine"
    marks_scopes = True

    def __init__(self, options: Options) -> None:
        unknown = [name for name in options.extra if name not in _EXTRA]
        if unknown:
            print(f"laptime: MegEngine's profiler has no option {', '.join(unknown)}; ignored", file=sys.stderr)
        self._options = options
        self._core = core()
        self._scopes = Scopes(self._core)
        self._recording: _Recording | None = None
        self._loaders: dict[int, int] = {}

    def version(self) -> str | None:
        """MegEngine's version."""
        return cast("str | None", getattr(importlib.import_module("megengine"), "__version__", None))

    def prepare(self) -> None:
        """Nothing to warm up."""

    def start(self, window: Window) -> None:
        """Begins to record. Raises RuntimeError where MegEngine's own Profiler runs."""
        if own_profiler_runs():
            raise RuntimeError("MegEngine's own Profiler is recording; stop it first")
        self._recording = _Recording(window, self._options, self._scopes)
        self._recording.start()

    def stop(self, window: Window) -> None:
        """Ends recording and writes the window's files."""
        recording, self._recording = self._recording, None
        if recording is not None:
            recording.stop()

    def begin_step(self, number: int) -> None:
        """Marks the step in MegEngine's file too, which then tells its steps by itself."""
        self._scopes.begin_step(number)

    def end_step(self, number: int) -> None:
        """The step ends. One that ends with its window does so when the devices are done, as a block of MegEngine's."""
        if self._recording is not None and self._recording.window.unended_step == number:
            self._core.full_sync()
        self._scopes.end_step()

    def open_scope(self, name: str) -> object:
        """Opens a scope of MegEngine, which records no call stack of it: that goes to the log."""
        stack = call_stack(2) if self._options.with_backtrace else None
        start = now()
        return (*self._scopes.open(name), start, stack)

    def close_scope(self, token: object) -> None:
        """Closes it."""
        name, modules, start, stack = cast("tuple[str, int, int, str | None]", token)
        self._scopes.close(name, modules)
        if stack is not None and self._recording is not None:
            self._recording.window.log.call(threading.get_native_id(), name, (start, now()), stack)

    def watch(self, loader: Iterable[object], log: EventLog) -> LoaderProbe | None:
        """Looks into a DataLoader of MegEngine."""
        if not isinstance(loader, importlib.import_module("megengine.data").DataLoader):
            return None
        number = self._loaders.setdefault(id(loader), len(self._loaders))
        return MegEngineLoaderProbe(cast("Loader", loader), log, first_op=number * _OPS_OF_A_LOADER)


class _Recording:
    """A window while it is open."""

    def __init__(self, window: Window, options: Options, scopes: Scopes) -> None:
        self.window = window
        self._formats = _formats(options)
        self._patches = Patches()
        self._functions = FunctionScopes(core()) if options.with_scopes else None
        self._stretches = Stretches(_profiler_options(options), scopes, with_backtrace=options.with_backtrace)
        self._graphs = CompiledGraphs(window, self._stretches, self._patches)
        self._with_backtrace = options.with_backtrace

    def start(self) -> None:
        """Begins; `stop` takes back what has begun, also where this raises."""
        self._yield_to_own_profiler()
        if self._with_backtrace:
            WaitStacks(self.window.log, self._patches)
        if self._functions is not None:
            self._functions.start()
        self._stretches.start()

    def stop(self) -> None:
        """Ends recording and writes what was recorded; what was replaced in MegEngine is as before."""
        try:
            self._stretches.stop()
        finally:
            if self._functions is not None:
                self._functions.stop()
            self._patches.undo()
        write_results(self._stretches.results, self._formats, self.window)
        self._graphs.write()
        for failure in self._stretches.failures:
            self.window.log.add("note", f"window {self.window.number} is recorded in part: {failure}")

    def _yield_to_own_profiler(self) -> None:
        """While MegEngine's own Profiler runs inside a window, it records, as the script wants it to."""
        profiler = importlib.import_module("megengine.utils.profiler").Profiler
        stretches = self._stretches

        def pausing(start: Callable[_P, _R]) -> Callable[_P, _R]:
            @functools.wraps(start)
            def started(*args: _P.args, **kwargs: _P.kwargs) -> _R:
                stretches.pause()
                return start(*args, **kwargs)

            return started

        def resuming(stop: Callable[_P, _R]) -> Callable[_P, _R]:
            @functools.wraps(stop)
            def stopped(*args: _P.args, **kwargs: _P.kwargs) -> _R:
                try:
                    return stop(*args, **kwargs)
                finally:
                    stretches.resume()

            return stopped

        self._patches.replace(profiler, "start", lambda start: pausing(cast("Callable[..., object]", start)))
        self._patches.replace(profiler, "stop", lambda stop: resuming(cast("Callable[..., object]", stop)))


def _profiler_options(options: Options) -> dict[str, int]:
    own = {"sample_rate": options.sample_rate, "profile_device": int(options.profile_device)}
    return {**own, **{name: int(str(options.extra.get(name, value))) for name, value in _EXTRA.items()}}


def _formats(options: Options) -> list[str]:
    wanted = {*options.formats, *(FORMATS[1:] if options.records_memory else ())}
    return [name for name in FORMATS if name in wanted]


def backend(options: Options) -> MegEngineBackend:
    """The recorder of MegEngine."""
    return MegEngineBackend(options)
