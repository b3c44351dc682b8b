"""`@laptime.profile()`: each call of the function is one step."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar, cast, overload

from laptime.recorders.profiler import Profiler

_P = ParamSpec("_P")
_R = TypeVar("_R")


class StepCalls:
    """Ends a step of a profiler with each outermost call; the first call starts the profiler.

    Calls of other threads than that of the first one are no steps.
    """

    def __init__(self, profiler: Profiler) -> None:
        self.calls = 0
        """Outermost calls that ended."""
        self._profiler = profiler
        self._depth = 0
        self._thread: int | None = None

    def wrap(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        """The function; its calls are steps, of a coroutine function from call to result."""
        if inspect.iscoroutinefunction(function):
            return cast("Callable[_P, _R]", self._wrap_coroutine(cast("Callable[_P, Awaitable[object]]", function)))

        @functools.wraps(function)
        def step(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            if not self._begin():
                return function(*args, **kwargs)
            try:
                result = function(*args, **kwargs)
            finally:
                self._depth -= 1
            self._end()
            return result

        return step

    def _wrap_coroutine(self, function: Callable[_P, Awaitable[object]]) -> Callable[_P, object]:
        @functools.wraps(function)
        async def step(*args: _P.args, **kwargs: _P.kwargs) -> object:
            if not self._begin():
                return await function(*args, **kwargs)
            try:
                result = await function(*args, **kwargs)
            finally:
                self._depth -= 1
            self._end()
            return result

        return step

    def _begin(self) -> bool:
        """Whether the call counts."""
        thread = threading.get_ident()
        if self._thread is None:
            self._thread = thread
        if thread != self._thread:
            return False
        if not self._profiler.has_started:
            self._profiler.start()
        self._depth += 1
        return True

    def _end(self) -> None:
        if not self._depth:
            self.calls += 1
            self._profiler.step()


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
