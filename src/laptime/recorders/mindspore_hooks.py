"""What MindSpore's profiler does not tell, measured in Python while a window is open, for the log.

Calls of cells, the backward pass and optimizers as scopes; compiling of graphs; waits for batches of any dataset; and
calls that wait for results, such as asnumpy, with the line of the call. Only calls of the thread that trains count.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from laptime.recorders.event_log import EventLog, now
from laptime.recorders.mindspore_cells import CellNames
from laptime.recorders.patching import Patches
from laptime.recorders.stacks import call_stack

Function = Callable[..., object]
_SYNCS = ("asnumpy", "numpy", "item", "tolist", "__bool__", "__int__", "__float__", "__index__", "__array__")
_LEAST_COMPILE_NS = 1_000_000
"""Shorter calls find a function that is compiled already."""
_SEEN = "_laptime_seen"
_FIRST, _LATER = ("data loader starts", "host_other"), ("next batch", "data")


def executors() -> str:
    """The module of MindSpore's executors, which moved in 2.8."""
    return next((name for name in _EXECUTORS if importlib.util.find_spec(name) is not None), _EXECUTORS[-1])


_EXECUTORS = ("mindspore.graph.api", "mindspore.common.api")


@dataclass
class Hooks:
    """Wraps MindSpore's own methods from `install` to `remove`; what they do and return stays the same."""

    log: EventLog
    with_backtrace: bool
    watched: bool = False
    """Whether a wait is measured from outside at the moment."""
    _thread: int = field(default_factory=threading.get_ident)
    _native_thread: int = field(default_factory=threading.get_native_id)
    _patches: Patches = field(default_factory=Patches)
    _names: CellNames = field(default_factory=CellNames)
    _inside_sync: bool = False
    _compiling: bool = False

    def install(self) -> None:
        """Begins."""
        self._wrap("mindspore.nn", "Cell", "__call__", self._cell)
        self._wrap("mindspore.dataset.engine.iterators", "Iterator", "__next__", self._next)
        for name in _SYNCS:
            self._wrap("mindspore", "Tensor", name, functools.partial(self._sync, name))
        module = executors()
        self._wrap(module, "_CellGraphExecutor", "compile", self._compile)
        self._wrap(module, "_JitExecutor", "compile", self._compile)
        self._wrap(module, "_PyNativeExecutor", "grad", functools.partial(self._scope, "backward"))

    def remove(self) -> None:
        """Puts everything back."""
        self._patches.undo()

    def _wrap(self, module: str, kind: str, name: str, wrapper: Callable[[Function], Function]) -> None:
        """Replaces a method; one that the release does not have is left out."""

        def made(found: object) -> object:
            method = cast("Function", found)
            return functools.wraps(method)(wrapper(method))

        with contextlib.suppress(ImportError, AttributeError):
            self._patches.replace(getattr(importlib.import_module(module), kind), name, made)

    def _is_ours(self) -> bool:
        return threading.get_ident() == self._thread and not self._compiling

    def _add(self, name: str, kind: str, start: int) -> None:
        stack = call_stack(2) if self.with_backtrace and kind in ("scope", "sync") else None
        self.log.slice(self._native_thread, name, kind, (start, now()), stack=stack)

    # ---- what is wrapped ----

    def _cell(self, call: Function) -> Function:
        def __call__(cell: object, *args: object, **kwargs: object) -> object:
            if not self._is_ours():
                return call(cell, *args, **kwargs)
            name, start = self._names.enter(cell), now()
            try:
                return call(cell, *args, **kwargs)
            finally:
                self._names.leave(cell)
                self._add(name, "scope", start)

        return __call__

    def _scope(self, name: str, call: Function) -> Function:
        def scoped(*args: object, **kwargs: object) -> object:
            if not self._is_ours():
                return call(*args, **kwargs)
            start = now()
            try:
                return call(*args, **kwargs)
            finally:
                self._add(name, "scope", start)

        return scoped

    def _compile(self, call: Function) -> Function:
        def compile(executor: object, *args: object, **kwargs: object) -> object:
            if not self._is_ours():
                return call(executor, *args, **kwargs)
            start, self._compiling, done = now(), True, True
            try:
                result = call(executor, *args, **kwargs)
                done = _compiled(result, now() - start)
                return result
            finally:
                self._compiling = False
                if done:
                    what = args[0] if args and not isinstance(args[0], str) else getattr(executor, "fn", executor)
                    self._add(f"compile {getattr(what, '__qualname__', type(what).__name__)}", "compile", start)

        return compile

    def _next(self, call: Function) -> Function:
        def __next__(iterator: object) -> object:
            if self.watched or not self._is_ours():
                return call(iterator)
            fresh = not getattr(iterator, _SEEN, False)
            start = now()
            batch = call(iterator)  # the end of an iteration is no wait for a batch
            end = now()
            setattr(iterator, _SEEN, True)
            self.log.slice(self._native_thread, *(_FIRST if fresh else _LATER), (start, end))
            if fresh:
                self.log.add("start_up", start, end)
            return batch

        return __next__

    def _sync(self, name: str, call: Function) -> Function:
        def sync(tensor: object, *args: object, **kwargs: object) -> object:
            if self._inside_sync or not self._is_ours():
                return call(tensor, *args, **kwargs)
            start, self._inside_sync = now(), True
            try:
                return call(tensor, *args, **kwargs)
            finally:
                self._inside_sync = False
                self._add(f"Tensor.{name}", "sync", start)

        return sync


def _compiled(result: object, took_ns: int) -> bool:
    """Whether a call compiled anything: the executor of cells tells it, of functions only the time does."""
    if isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], bool):
        return result[1]
    return took_ns >= _LEAST_COMPILE_NS
