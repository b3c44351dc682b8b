"""Ranges of modules: each forward call by global hooks, each backward pass by hooks on the graph's nodes.

Neither changes what a module gets or returns. Full backward hooks of torch would: they wrap the outputs, which breaks
operations in place.
"""

from __future__ import annotations

import functools
import importlib
import threading
import warnings
import weakref
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Protocol, cast

from laptime.recorders.pytorch_backward import BackwardRanges, Node
from laptime.recorders.pytorch_ranges import MODULE, MakesRange, Range


class Module(Protocol):
    """What is used of torch.nn.Module."""

    def named_modules(self) -> Iterable[tuple[str, Module]]: ...
    def named_children(self) -> Iterable[tuple[str, Module]]: ...


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
        for name, module in root.named_modules():
            forget = functools.partial(self._forget, id(module))
            self._known[id(module)] = (weakref.ref(module, forget), f"{path}.{name}" if name else path)

    def _forget(self, number: int, gone: object) -> None:
        self._known.pop(number, None)


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
        self._backward = BackwardRanges(make_range)
        self._handles: list[_Handle] = []
        self._is_compiling = _compiling_test()

    def install(self) -> None:
        """Begins to mark."""
        hooks: ModuleType = importlib.import_module("torch.nn.modules.module")
        warnings.filterwarnings("ignore", "Using `torch.compile.module.` when there are global hooks")
        self._backward.is_on = True
        self._handles = [
            hooks.register_module_forward_pre_hook(self._enter),
            hooks.register_module_forward_hook(self._leave, always_call=True),
        ]

    def remove(self) -> None:
        """Ends marking; open ranges end."""
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self._backward.is_on = False
        self.end_open()

    def end_open(self) -> None:
        """Ends ranges that an exception left open in the calling thread, and those of the backward pass."""
        self._close(0)
        self._backward.end_open()

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
        place = next((at for at in range(len(calls) - 1, -1, -1) if calls[at][0] is module), None)
        if place is None:  # installed inside its forward
            return
        chain = tuple(path for _, path, _ in calls[: place + 1])
        self._close(place)
        node = _node_of(output)
        if node is not None:
            self._backward.follow(node, chain, is_leaf=not any(True for _ in module.named_children()))

    def _close(self, place: int) -> None:
        calls = self._calls.open
        while len(calls) > place:
            calls.pop()[2].__exit__(None, None, None)


class _Test(Protocol):
    def __call__(self) -> bool: ...


def _compiling_test() -> _Test:
    """torch.compiler.is_compiling, which torch 2.1 and 2.2 have elsewhere."""
    compiler = importlib.import_module("torch.compiler")
    found = getattr(compiler, "is_compiling", None)
    return cast("_Test", found or importlib.import_module("torch._utils").is_compiling)


def _node_of(output: object) -> Node | None:
    """The graph's node that made a module's output, of the first tensor in it."""
    if isinstance(output, Mapping):
        output = tuple(output.values())
    if isinstance(output, (list, tuple)):
        return next((node for each in output if (node := _node_of(each)) is not None), None)
    return cast("Node | None", getattr(output, "grad_fn", None))
