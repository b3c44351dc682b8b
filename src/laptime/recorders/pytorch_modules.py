"""Ranges of the forward calls of modules, by torch's global hooks, which change nothing of what a module gets or gives.

The backward pass of a module needs no hooks: torch.profiler links each node of it to the operator of the forward pass,
from which the importer tells the module.
"""

from __future__ import annotations

import contextlib
import importlib
import threading
import warnings
import weakref
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Protocol, cast

from laptime.recorders.pytorch_ranges import MODULE, MakesRange, Range


class Module(Protocol):
    """What is used of torch.nn.Module."""

    def named_modules(self) -> Iterable[tuple[str, Module]]: ...


class _Handle(Protocol):
    def remove(self) -> None: ...


class ModulePaths:
    """Names modules by the attributes that lead to them from the outermost module that was called."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Module], str]] = {}

    def path(self, module: Module, around: str | None) -> str:
        """The path; `around` is that of the module whose forward calls this one, None for an outermost one."""
        known = self._known.get(id(module))
        if known is not None and known[0]() is module:
            return known[1]
        name = type(module).__name__
        self._learn(module, name if around is None else f"{around}.{name}")
        return self._known[id(module)][1]

    def _learn(self, root: Module, path: str) -> None:
        for number in [number for number, (ref, _) in self._known.items() if ref() is None]:
            del self._known[number]
        self._known[id(root)] = (weakref.ref(root), path)
        with contextlib.suppress(Exception):  # a module may list others in a way of its own, and not itself
            for name, module in root.named_modules():
                self._known[id(module)] = (weakref.ref(module), f"{path}.{name}" if name else path)


class _Calls(threading.local):
    """Forward calls that a thread is inside of, the innermost last."""

    def __init__(self) -> None:
        self.open: list[tuple[Module, str, Range]] = []


class ModuleScopes:
    """Marks modules while installed."""

    def __init__(self, make_range: MakesRange) -> None:
        self._make_range = make_range
        self._paths = ModulePaths()
        self._calls = _Calls()
        self._handles: list[_Handle] = []
        self._is_compiling = compiling_test()

    def install(self) -> None:
        """Begins to mark."""
        hooks: ModuleType = importlib.import_module("torch.nn.modules.module")
        warnings.filterwarnings("ignore", "Using `torch.compile.module.` when there are global hooks")
        self._handles = [
            hooks.register_module_forward_pre_hook(self._enter),
            hooks.register_module_forward_hook(self._leave, always_call=True),
        ]

    def remove(self) -> None:
        """Ends marking; open ranges of the calling thread end."""
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self.end_open()

    def end_open(self) -> None:
        """Ends ranges that an exception left open in the calling thread."""
        self._close(0)

    def _enter(self, module: Module, inputs: object) -> None:
        if self._is_compiling():
            return
        calls = self._calls.open
        path = self._paths.path(module, calls[-1][1] if calls else None)
        entered = self._make_range(MODULE + path)
        entered.__enter__()
        calls.append((module, path, entered))

    def _leave(self, module: Module, inputs: object, output: object) -> None:
        if self._is_compiling():
            return
        calls = self._calls.open
        if calls and calls[-1][0] is module:
            calls.pop()[2].__exit__(None, None, None)
            return
        place = next((at for at in range(len(calls) - 1, -1, -1) if calls[at][0] is module), None)
        if place is not None:  # None: the hooks were installed inside its forward
            self._close(place)

    def _close(self, place: int) -> None:
        calls = self._calls.open
        while len(calls) > place:
            calls.pop()[2].__exit__(None, None, None)


def compiling_test() -> Callable[[], bool]:
    """torch.compiler.is_compiling, which torch before 2.3 has elsewhere."""
    found = getattr(importlib.import_module("torch.compiler"), "is_compiling", None)
    return cast("Callable[[], bool]", found or importlib.import_module("torch._utils").is_compiling)
