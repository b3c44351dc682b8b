"""`@laptime.profile()`: each call of the function is one step."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar, overload

from laptime.recorders.profiler import Profiler

_P = ParamSpec("_P")
_R = TypeVar("_R")


class StepCalls:
    """Ends a step of a profiler with each outermost call; the first call starts the profiler."""

    def __init__(self, profiler: Profiler) -> None:
        self._profiler = profiler
        self._depth = 0

    def wrap(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        """The function; its calls are steps."""

        @functools.wraps(function)
        def step(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            if not self._profiler.has_started:
                self._profiler.start()
            self._depth += 1
            try:
                result = function(*args, **kwargs)
            finally:
                self._depth -= 1
            if not self._depth:
                self._profiler.step()
            return result

        return step


@overload
def profile(function: Callable[_P, _R], /) -> Callable[_P, _R]: ...
@overload
def profile(path: str = ..., **options: object) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]: ...
def profile(path: object = "profile", **options: object) -> object:
    """Records a function, each of its calls as one step, from the first call until the process ends.

    Used as `@profile` or `@profile(path, ...)` with the arguments of Profiler. What happens between two calls belongs
    to the step that ends with the later one, as with `Profiler.step`.
    """
    if callable(path):
        return StepCalls(Profiler()).wrap(path)
    return StepCalls(Profiler(path, **options)).wrap  # type: ignore[arg-type]  # checked by Profiler
