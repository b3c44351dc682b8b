"""Ranges of a module's backward pass: from the node of the graph that made its output.

A node's hook says which module runs from then on; the ranges of the modules around it are opened and closed to fit, so
that they nest like the modules. What no module made runs in the range of the module around it.
"""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable
from typing import Protocol

from laptime.recorders.pytorch_ranges import BACKWARD, MODULE, MakesRange, Range

Chain = tuple[str, ...]
"""Paths of modules, each inside the one before."""


class Node(Protocol):
    """What is used of a node of the graph."""

    def register_prehook(self, hook: Callable[..., None]) -> object: ...
    def register_hook(self, hook: Callable[..., None]) -> object: ...
    def _sequence_nr(self) -> int: ...


class _Engine(Protocol):
    def queue_callback(self, callback: Callable[[], None]) -> None: ...


class _Open:
    """Ranges that a thread has open, the innermost last."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.ranges: list[Range] = []

    def close(self, count: int) -> None:
        """Closes all but the first `count`."""
        while len(self.ranges) > count:
            self.paths.pop()
            self.ranges.pop().__exit__(None, None, None)


class BackwardRanges:
    """Marks the backward pass of modules whose outputs it followed."""

    def __init__(self, make_range: MakesRange) -> None:
        self.is_on = False
        self._make_range = make_range
        self._local = threading.local()
        self._all: list[_Open] = []
        self._engine: _Engine = importlib.import_module("torch.autograd").Variable._execution_engine

    def follow(self, node: Node, chain: Chain, *, is_leaf: bool) -> None:
        """Has the backward pass of a module marked, the last of `chain`; the innermost module of a node counts."""
        number = node._sequence_nr()
        if getattr(self._local, "last", None) == number:
            return
        self._local.last = number
        node.register_prehook(functools.partial(self._move, chain))
        if is_leaf and len(chain) > 1:
            node.register_hook(functools.partial(self._move, chain[:-1]))

    def end_open(self) -> None:
        """Ends what an exception left open."""
        for opened in self._all:
            opened.close(0)

    def _move(self, chain: Chain, *gradients: object) -> None:
        """The ranges of `chain`, and no others, are open from now on."""
        if not self.is_on:
            return
        opened = self._opened()
        if not opened.ranges:
            self._engine.queue_callback(functools.partial(opened.close, 0))
        same = 0
        for path, wanted in zip(opened.paths, chain, strict=False):
            if path != wanted:
                break
            same += 1
        opened.close(same)
        for path in chain[same:]:
            begun = self._make_range(f"{MODULE}{path}{BACKWARD}")
            begun.__enter__()
            opened.paths.append(path)
            opened.ranges.append(begun)

    def _opened(self) -> _Open:
        opened: _Open | None = getattr(self._local, "open", None)
        if opened is None:
            opened = self._local.open = _Open()
            self._all.append(opened)
        return opened
