"""Steps of `Model.train`: a callback of MindSpore's that ends one after each batch."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Protocol, cast


class _Arguments(Protocol):
    cur_step_num: int


class _RunContext(Protocol):
    def original_args(self) -> _Arguments: ...


class StepEnds:
    """Hears of each call of the training graph, which with data sink runs several steps."""

    def __init__(self, step: Callable[[], None], sunk: Callable[[int], bool]) -> None:
        self._step, self._sunk = step, sunk
        self._last: int | None = None

    def begins(self, context: _RunContext) -> None:
        """Training begins, perhaps not for the first time."""
        self._last = getattr(context.original_args(), "cur_step_num", None)

    def ended(self, context: _RunContext) -> None:
        """A call has returned; `sunk` says whether one of several steps counts as one."""
        number = context.original_args().cur_step_num
        steps = 1 if self._last is None else number - self._last
        self._last = number
        if steps <= 1 or self._sunk(steps):
            self._step()


def make_callback(step: Callable[[], None], sunk: Callable[[int], bool]) -> object:
    """An instance of mindspore.train.Callback."""
    ends = StepEnds(step, sunk)
    parent: type = importlib.import_module("mindspore.train").Callback
    methods = {
        "on_train_begin": lambda _, context: ends.begins(context),
        "on_train_step_end": lambda _, context: ends.ended(context),
    }
    return cast("Callable[[], object]", type("LaptimeCallback", (parent,), methods))()
