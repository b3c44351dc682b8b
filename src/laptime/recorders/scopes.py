"""`laptime.scope`: a named range of the calling thread. Costs next to nothing while nothing is recorded."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import ParamSpec, TypeVar

from laptime.recorders import active

_P = ParamSpec("_P")
_R = TypeVar("_R")


class scope:  # used like a function: with scope("forward")
    """Names what happens inside, as `with` block or decorator; scopes nest."""

    __slots__ = ("_recorder", "_token", "name")

    def __init__(self, name: str) -> None:
        self.name = name if type(name) is str else str(name)
        self._recorder: active.Recorder | None = None

    def __enter__(self) -> scope:
        recorder = self._recorder = active.recorder
        if recorder is not None:
            try:
                self._token = recorder.open_scope(self.name)
            except Exception:  # whatever a framework's recorder has against it, training goes on
                self._recorder = None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        recorder = self._recorder
        if recorder is not None:
            self._recorder = None
            try:  # noqa: SIM105 -- suppress takes as long as all the rest
                recorder.close_scope(self._token)
            except Exception:
                pass

    def __call__(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        """A function whose every call is such a range."""

        @functools.wraps(function)
        def scoped(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            with scope(self.name):
                return function(*args, **kwargs)

        return scoped
