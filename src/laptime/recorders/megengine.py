"""MegEngine (1.13): its own profiler records operators, devices and scopes; each window is a file of its own."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import cast

from laptime.recorders.backends import LoaderProbe, Window
from laptime.recorders.event_log import EventLog
from laptime.recorders.megengine_core import Stretches, core, own_profiler_runs
from laptime.recorders.megengine_files import write_results
from laptime.recorders.options import FORMATS, Options

_EXTRA = {"num_tensor_watch": 10, "enable_cupti": 0}
"""Options of MegEngine's Profiler that only it has."""


class MegEngineBackend:
    """Drives MegEngine's profiler."""

    name = "megengine"
    marks_scopes = True

    def __init__(self, options: Options) -> None:
        self._options = options
        self._core = core()
        self._stretches: Stretches | None = None

    def version(self) -> str | None:
        """MegEngine's version."""
        return cast("str | None", getattr(importlib.import_module("megengine"), "__version__", None))

    def prepare(self) -> None:
        """Nothing to warm up."""

    def start(self, window: Window) -> None:
        """Begins to record. Raises RuntimeError where MegEngine's own Profiler runs."""
        if own_profiler_runs():
            raise RuntimeError("MegEngine's own Profiler is recording; stop it first")
        self._stretches = Stretches(self._profiler_options(), with_backtrace=self._options.with_backtrace)
        self._stretches.start()

    def stop(self, window: Window) -> None:
        """Ends recording and writes the window's files."""
        stretches, self._stretches = self._stretches, None
        if stretches is not None:
            stretches.stop()
            write_results(stretches.results, self._formats(), window)

    def begin_step(self, number: int) -> None:
        """Steps are in the log."""

    def end_step(self, number: int) -> None:
        """Marks the step in MegEngine's file too, which then tells its steps by itself."""
        if self._stretches is not None:
            self._core.stop_step()

    def open_scope(self, name: str) -> object:
        """Opens a scope of MegEngine."""
        self._core.push_scope(name)
        return name

    def close_scope(self, token: object) -> None:
        """Closes it."""
        self._core.pop_scope(cast("str", token))

    def watch(self, loader: Iterable[object], log: EventLog) -> LoaderProbe | None:
        """Looks into a DataLoader of MegEngine."""
        return None

    def _profiler_options(self) -> dict[str, int]:
        own = {"sample_rate": self._options.sample_rate, "profile_device": int(self._options.profile_device)}
        return {**own, **{name: int(str(self._options.extra.get(name, value))) for name, value in _EXTRA.items()}}

    def _formats(self) -> list[str]:
        wanted = {*self._options.formats, *(FORMATS[1:] if self._options.records_memory else ())}
        return [name for name in FORMATS if name in wanted]


def backend(options: Options) -> MegEngineBackend:
    """The recorder of MegEngine."""
    return MegEngineBackend(options)
