"""Call stacks that MegEngine's profiler does not record: of waits (what reads a tensor's value or shape), and of
backward passes, whose operators are not called from Python."""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from laptime.recorders.event_log import EventLog, now
from laptime.recorders.patching import Patches
from laptime.recorders.stacks import call_stack

_P = ParamSpec("_P")
_R = TypeVar("_R")

_READ_BY = ("numpy", "shape", "_tuple_shape")
"""What waits in the end, whatever the user calls: item, tolist, bool, float, len, an index."""
_SHORTEST_NS = 2000
"""A call shorter than this found the value there and did not wait."""


class WaitStacks:
    """Logs the call stacks of what may have waited, on the thread that trains."""

    def __init__(self, log: EventLog, patches: Patches) -> None:
        self._log = log
        self._thread, self._native = threading.get_ident(), threading.get_native_id()
        self._inside = False
        tensor = cast("type", importlib.import_module("megengine").Tensor)
        for name in _READ_BY:
            patches.replace(tensor, name, self._wrapped_member)
        manager = importlib.import_module("megengine.autodiff").GradManager
        patches.replace(manager, "backward", lambda call: self._backward(cast("Callable[..., object]", call)))

    def _backward(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def backward(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            if threading.get_ident() != self._thread:
                return function(*args, **kwargs)
            stack, start = call_stack(2), now()
            try:
                return function(*args, **kwargs)
            finally:
                self._log.call(self._native, "backward", (start, now()), stack)

        return backward

    def _wrapped_member(self, member: object) -> object:
        if isinstance(member, property) and member.fget is not None:
            return property(self._wrapped(member.fget), member.fset, member.fdel, member.__doc__)
        return self._wrapped(cast("Callable[..., object]", member))

    def _wrapped(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def timed(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            if self._inside or threading.get_ident() != self._thread:
                return function(*args, **kwargs)
            self._inside = True
            start = now()
            try:
                return function(*args, **kwargs)
            finally:
                end = now()
                self._inside = False
                if end - start >= _SHORTEST_NS:
                    self._log.call(self._native, None, (start, end), call_stack(2))

        return timed
