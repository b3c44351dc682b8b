"""Call stacks with the line of each call, from what torch.profiler knows but does not export.

Its trace names the line of each function's `def`. Its tree of events has the line of each call as well; after a window
the log is told of the stacks of operators and ranges, to which the importer joins them by name and time.
"""

from __future__ import annotations

import functools
import importlib
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, cast

from laptime.recorders.event_log import EventLog
from laptime.recorders.patching import Patches

_OWN = (str(Path(__file__).parent), "laptime/recorders/")
_BY_INTERPRETER = ("__bool__", "__int__", "__float__", "__index__")
"""Methods that wait for a value and that the interpreter calls (`if loss > 1:`), unseen by torch.profiler."""
_DEEPEST = 100


class _Place(Protocol):
    file_name: str
    line_number: int
    function_name: str


class _Fields(Protocol):
    caller: _Place
    callsite: _Place


class Event(Protocol):
    """torch's `_ProfilerEvent`."""

    name: str
    start_time_ns: int
    end_time_ns: int
    start_tid: int
    children: list[Event]
    typed: tuple[object, object]


class _Profile(Protocol):
    profiler: _Inner


class _Inner(Protocol):
    kineto_results: _Results


class _Results(Protocol):
    def experimental_event_tree(self) -> list[Event]: ...


class SlotCalls:
    """While installed, Python functions stand for the methods that the interpreter calls by itself, so that these show
    in call stacks."""

    def __init__(self) -> None:
        self._patches = Patches()

    def install(self) -> None:
        """Puts them there."""
        tensor = importlib.import_module("torch").Tensor
        for name in _BY_INTERPRETER:
            self._patches.replace(tensor, name, _called_from_python)

    def remove(self) -> None:
        """Takes them away."""
        self._patches.undo()


def _called_from_python(found: object) -> object:
    method = cast("Callable[[object], object]", found)

    @functools.wraps(method)
    def call(self: object) -> object:
        return method(self)

    return call


_Around = tuple["_Fields", bool, "_Around | None"]
"""A Python call, whether of a Python function, and the call around it."""


def log_stacks(profile: object, log: EventLog, ahead_ns: int, thread: int) -> None:
    """Tells the log of the stack of each operator and range that Python code called, on the thread with most of them.

    `ahead_ns` is what Unix time is ahead of the log's clock, `thread` the number of the training thread.
    """
    roots = cast("_Profile", profile).profiler.kineto_results.experimental_event_tree()
    found: dict[int, list[tuple[Event, _Around]]] = defaultdict(list)
    waiting: list[tuple[Event, _Around | None]] = [(root, None) for root in roots]
    while waiting:
        event, around = waiting.pop()
        kind, fields = event.typed
        name = getattr(kind, "name", "")
        if name in ("PyCall", "PyCCall"):
            around = (cast("_Fields", fields), name == "PyCall", around)
        elif name == "TorchOp" and around is not None:
            found[event.start_tid].append((event, around))
        waiting += [(child, around) for child in event.children]
    texts: dict[int, str] = {}
    for event, around in max(found.values(), key=len, default=[]):
        stack = texts.get(id(around)) or texts.setdefault(id(around), _text(around))
        if stack:
            log.call(thread, event.name, (event.start_time_ns - ahead_ns, event.end_time_ns - ahead_ns), stack)


def _text(around: _Around) -> str:
    """Frames `file(line): function`, innermost first: where each call was made.

    Of a Python function that runs no further call, the line of its `def` is all that is known.
    """
    fields, is_python, outer = around
    frames = [_frame(fields.callsite)] if is_python else []
    frames.append(_frame(fields.caller))
    while outer is not None and len(frames) < _DEEPEST:
        fields, _, outer = outer
        frames.append(_frame(fields.caller))
    return ";".join(filter(None, frames))


def _frame(place: _Place) -> str:
    if place.file_name.startswith(_OWN):
        return ""
    return f"{place.file_name}({place.line_number}): {place.function_name}"
