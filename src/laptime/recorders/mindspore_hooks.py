"""What MindSpore's profiler does not tell, measured in Python while a window is open, for the log.

Calls of cells, the backward pass and optimizers as scopes; compiling of graphs; waits for batches of any dataset; and
calls that wait for results, such as asnumpy, with the line of the call. Only calls of the thread that trains count.
"""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from laptime.recorders.event_log import EventLog, now
from laptime.recorders.mindspore_cells import CellNames
from laptime.recorders.stacks import call_stack

Function = Callable[..., object]
_SYNCS = ("asnumpy", "numpy", "item", "tolist", "__bool__", "__int__", "__float__", "__index__", "__array__")
_LEAST_COMPILE_NS = 1_000_000
"""Shorter calls of compile find a graph that is compiled already."""
_MODULES_OF_EXECUTORS = ("mindspore.graph.api", "mindspore.common.api")


@dataclass
class _Replaced:
    owner: type
    name: str
    original: object


@dataclass
class Hooks:
    """Wraps MindSpore's own methods from `install` to `remove`; what they do and return stays the same."""

    log: EventLog
    with_backtrace: bool
    watched: bool = False
    """Whether a wait is measured from outside at the moment."""
    _thread: int = field(default_factory=threading.get_ident)
    _native_thread: int = field(default_factory=threading.get_native_id)
    _replaced: list[_Replaced] = field(default_factory=list)
    _names: CellNames = field(default_factory=CellNames)
    _inside_sync: bool = False
    _compiling: bool = False

    def install(self) -> None:
        """Begins."""
        self._wrap("mindspore.nn", "Cell", "__call__", self._cell)
        self._wrap("mindspore.dataset.engine.iterators", "Iterator", "__next__", self._next)
        for name in _SYNCS:
            self._wrap("mindspore", "Tensor", name, functools.partial(self._sync, name))
        for module in _MODULES_OF_EXECUTORS:
            self._wrap(module, "_CellGraphExecutor", "compile", self._compile)
            self._wrap(module, "_JitExecutor", "compile", self._compile)
            self._wrap(module, "_PyNativeExecutor", "grad", functools.partial(self._scope, "backward"))
            if self._replaced and self._replaced[-1].name == "grad":
                break

    def remove(self) -> None:
        """Puts everything back."""
        for each in reversed(self._replaced):
            if isinstance(each.original, _Inherited):
                delattr(each.owner, each.name)
            else:
                setattr(each.owner, each.name, each.original)
        self._replaced.clear()

    def _wrap(self, module: str, kind: str, name: str, wrapper: Callable[[Function], Function]) -> None:
        """Replaces a method; one that the release does not have is left out."""
        try:
            owner = getattr(importlib.import_module(module), kind)
            found = cast("Function", getattr(owner, name))
        except (ImportError, AttributeError):
            return
        self._replaced.append(_Replaced(owner, name, owner.__dict__.get(name, _Inherited())))
        setattr(owner, name, functools.wraps(found)(wrapper(found)))

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
            start, self._compiling = now(), True
            try:
                return call(executor, *args, **kwargs)
            finally:
                self._compiling = False
                if now() - start >= _LEAST_COMPILE_NS:
                    what = args[0] if args and not isinstance(args[0], str) else getattr(executor, "fn", executor)
                    self._add(f"compile {getattr(what, '__name__', type(what).__name__)}", "compile", start)

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


class _Inherited:
    """Stands for a method that the class itself did not have."""


_SEEN = "_laptime_seen"
_FIRST, _LATER = ("data loader starts", "host_other"), ("next batch", "data")
