"""The cheapest ranges that Kineto records, at a tenth of record_function's cost; other tools show them as operators."""

from __future__ import annotations

import importlib
from contextlib import AbstractContextManager
from typing import Protocol, cast

MODULE = "module: "
"""Begins the names of ranges of modules; laptime's importer knows them by it."""
FUNCTION = "function: "
"""Begins the names of ranges of functions and tensor methods."""

Range = AbstractContextManager[object]


class MakesRange(Protocol):
    """Makes a range of a name; it is recorded from entering to leaving."""

    def __call__(self, name: str) -> Range: ...


def cheap_ranges() -> MakesRange:
    """torch's `_RecordFunctionFast`, or `record_function` in releases before 2.2."""
    low_level = importlib.import_module("torch._C._profiler")
    found = getattr(low_level, "_RecordFunctionFast", None)
    return cast("MakesRange", found or full_ranges())


def full_ranges() -> MakesRange:
    """`record_function`, whose ranges all tools show as the user's own."""
    return cast("MakesRange", importlib.import_module("torch.autograd.profiler").record_function)
