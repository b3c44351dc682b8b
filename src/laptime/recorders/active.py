"""Which recorder runs in this process: scopes and hooks look here. A forked child has none."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol


class Recorder(Protocol):
    """What a running profiler offers to scopes."""

    def open_scope(self, name: str) -> object:
        """Begins a range of the calling thread; returns what `close_scope` needs."""
        ...

    def close_scope(self, token: object) -> None:
        """Ends a range."""
        ...


recorder: Recorder | None = None
"""The profiler that records now; None between windows as well."""
_after_fork: list[Callable[[], None]] = []


def call_after_fork(forget: Callable[[], None]) -> None:
    """Has a forked child call `forget`: what the parent records is none of its business."""
    _after_fork.append(forget)


def _forget_all() -> None:
    global recorder
    recorder = None
    for forget in _after_fork:
        forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
