"""Names of cells as scopes: from the outermost one that is called, `Net.encoder.layer1.forward`."""

from __future__ import annotations

import contextlib
import importlib
import weakref
from collections.abc import Iterator
from typing import Protocol, cast


class _Cell(Protocol):
    def cells_and_names(self) -> Iterator[tuple[str, object]]: ...


class CellNames:
    """Knows which cells are being called."""

    def __init__(self) -> None:
        nn = importlib.import_module("mindspore.nn")
        self._optimizer: type = nn.Optimizer
        self._open: list[object] = []
        self._known: weakref.WeakKeyDictionary[object, dict[int, str]] = weakref.WeakKeyDictionary()

    def enter(self, cell: object) -> str:
        """A cell is called; its name, with `.forward` unless it trains."""
        self._open.append(cell)
        kind = type(cell).__name__
        if isinstance(cell, self._optimizer):
            return f"Optimizer.step#{kind}"
        outermost = self._open[0]
        inner = self._places(outermost).get(id(cell), "")
        place = f"{type(outermost).__name__}.{inner}" if inner else kind
        return place if _trains(cell, self._optimizer) else f"{place}.forward"

    def leave(self, cell: object) -> None:
        """Its call has ended."""
        while self._open and self._open.pop() is not cell:
            pass

    def _places(self, outermost: object) -> dict[int, str]:
        """Dotted names of the cells inside; by identity, for cells compare by value."""
        with contextlib.suppress(Exception):  # a cell that cannot be a key, or lists others in a way of its own
            if outermost not in self._known:
                named = cast("_Cell", outermost).cells_and_names()
                self._known[outermost] = {id(inner): name for name, inner in named}
            return self._known[outermost]
        return {}


def _trains(cell: object, optimizer: type) -> bool:
    """Whether a cell holds an optimizer: it runs the forward and the backward pass and the update."""
    inner = cast("dict[str, object]", getattr(cell, "_cells", {}))
    return any(isinstance(each, optimizer) for each in inner.values())
