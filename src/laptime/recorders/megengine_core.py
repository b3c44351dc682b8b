"""What recording needs of MegEngine's core, and one stretch recorded by its profiler."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol, cast

Result = Callable[[str, str], None]
"""Writes what a stretch recorded: (path, format). May be called once; a second call ends the process."""


class Core(Protocol):
    """`megengine.core._imperative_rt.core2`, which MegEngine's own Profiler is a shell of."""

    def start_profile(self, options: dict[str, int], /) -> None:
        """Begins."""
        ...

    def stop_profile(self) -> Result:
        """Ends."""
        ...

    def full_sync(self) -> None:
        """Waits for all devices."""
        ...

    def push_scope(self, name: str, /) -> None:
        """Opens a scope."""
        ...

    def pop_scope(self, name: str, /) -> None:
        """Closes it."""
        ...

    def push_scope_with_type(self, name: str, kind: str, /) -> None:
        """Opens a scope of a module, a function or a tensor's method."""
        ...

    def pop_scope_with_type(self, name: str, kind: str, /) -> None:
        """Closes it."""
        ...

    def set_python_backtrace_enabled(self, enabled: bool, /) -> bool:
        """Has operators record where they were called; returns what was set before."""
        ...


class _OwnProfiler(Protocol):
    def is_profiling(self) -> bool: ...


def core() -> Core:
    """MegEngine's core. Raises ImportError where it is not installed."""
    return cast("Core", importlib.import_module("megengine.core._imperative_rt.core2"))


def own_profiler_runs() -> bool:
    """Whether MegEngine's own Profiler records at the moment."""
    return cast("_OwnProfiler", importlib.import_module("megengine.utils.profiler")).is_profiling()


class Suspends(Protocol):
    """Something that must not be open where a stretch begins or ends."""

    def left(self) -> AbstractContextManager[bool]:
        """Closes it inside the block and opens it again after it; whether it could."""
        ...


class Stretches:
    """MegEngine's profiler, started and stopped as often as a window needs it; every result is kept."""

    def __init__(self, options: dict[str, int], scopes: Suspends, *, with_backtrace: bool) -> None:
        self._core = core()
        self._options, self._scopes, self._with_backtrace = options, scopes, with_backtrace
        self._had_backtrace = False
        self._runs = False
        self.results: list[Result] = []
        self.failures: list[str] = []
        """Why it could not pause or go on."""

    def start(self) -> None:
        """Records from now on."""
        with self._scopes.left():
            self._core.start_profile(self._options)
        self._runs = True
        self._had_backtrace = self._core.set_python_backtrace_enabled(self._with_backtrace)

    def stop(self) -> None:
        """Ends the stretch."""
        if self._runs:
            self._runs = False
            self._core.set_python_backtrace_enabled(self._had_backtrace)
            with self._scopes.left():
                self._core.full_sync()
                self.results.append(self._core.stop_profile())

    def pause(self) -> None:
        """Ends the stretch in the middle of training, which a failure must not end."""
        try:
            self.stop()
        except Exception as error:
            self.failures.append(f"{type(error).__name__}: {error}")

    def resume(self) -> None:
        """Begins the next one."""
        try:
            if not self._runs and not self.failures:
                self.start()
        except Exception as error:
            self.failures.append(f"{type(error).__name__}: {error}")
