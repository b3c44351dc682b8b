"""Names of modules and cells that list what is in them in a way of their own: training must not notice."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from laptime.recorders.mindspore_cells import CellNames
from laptime.recorders.pytorch_modules import ModulePaths


class Net:
    """A module and a cell of nothing but itself."""

    def named_modules(self) -> Iterator[tuple[str, Net]]:
        yield "", self

    def cells_and_names(self) -> Iterator[tuple[str, Net]]:
        return self.named_modules()


class Hides(Net):
    def named_modules(self) -> Iterator[tuple[str, Net]]:
        return iter(())


class Fails(Net):
    def named_modules(self) -> Iterator[tuple[str, Net]]:
        raise RuntimeError("not before it is built")


class HasNoHash(Net):
    __hash__ = None  # type: ignore[assignment]  # what a class with __eq__ alone gets


@pytest.mark.parametrize("kind", [Net, Hides, Fails, HasNoHash])
def test_names(kind: type[Net], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("mindspore", "mindspore.nn"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setattr(sys.modules["mindspore.nn"], "Optimizer", type("Optimizer", (), {}), raising=False)
    net = kind()
    paths, names = ModulePaths(), CellNames()
    assert [paths.path(net, around) for around in (None, "Outer")] == [kind.__name__] * 2
    assert [names.enter(net) for _ in range(2)] == [f"{kind.__name__}.forward"] * 2
