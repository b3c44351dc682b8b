"""Compiled graphs of MegEngine: its profiler would end training inside them, so it pauses while one runs."""

from __future__ import annotations

import functools
import importlib
import json
import threading
from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar, cast

from laptime.recorders.backends import Window
from laptime.recorders.event_log import now
from laptime.recorders.megengine_core import Stretches
from laptime.recorders.patching import Patches

_P = ParamSpec("_P")
_R = TypeVar("_R")

_NOTE = "graphs compiled by trace are recorded as a whole; trace(profiling=True) adds the times of their operators"


class Traced(Protocol):
    """A function under `megengine.jit.trace`."""

    def get_profile(self) -> dict[str, object]:
        """Times of operators in the last run."""
        ...


class CompiledGraphs:
    """Pauses recording while a traced function runs; keeps the profile of those made with `profiling=True`."""

    def __init__(self, window: Window, stretches: Stretches, patches: Patches) -> None:
        self._window, self._stretches = window, stretches
        self._thread = threading.get_ident()
        self._ran: dict[int, Traced] = {}
        self._depth = 0
        trace = importlib.import_module("megengine.jit").trace
        patches.replace(trace, "__call__", lambda call: self._paused(cast("Callable[..., object]", call)))

    def write(self) -> None:
        """Writes the profiles of the graphs that ran."""
        for number, traced in enumerate(self._profiled()):
            try:
                profile = json.dumps(traced.get_profile())
            except Exception as error:
                why = "it did not run after it was compiled" if isinstance(error, TypeError) else error
                self._window.log.add("note", f"no profile of the graph of {_name(traced)}: {why}")
                continue
            path = self._window.path(f"graph{number + 1}.json")
            path.write_text(profile, encoding="utf-8")
            self._window.add_file(path, "megengine_static")

    def _profiled(self) -> list[Traced]:
        return [each for each in self._ran.values() if getattr(getattr(each, "_trace", None), "profile", False)]

    def _paused(self, call: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(call)
        def traced(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            if self._depth or threading.get_ident() != self._thread:
                return call(*args, **kwargs)
            if not self._ran:
                self._window.log.add("note", _NOTE)
            graph = cast("Traced", args[0])
            self._ran[id(graph)] = graph
            self._depth += 1
            self._stretches.pause()
            start = now()
            try:
                return call(*args, **kwargs)
            finally:
                span = (start, now())
                self._depth -= 1
                self._window.log.slice(threading.get_native_id(), f"trace {_name(graph)}", "scope", span)
                self._stretches.resume()

        return traced


def _name(traced: object) -> str:
    return str(getattr(getattr(traced, "__wrapped__", None), "__name__", "function"))
