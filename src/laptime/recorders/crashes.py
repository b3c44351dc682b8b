"""However training ends, what it recorded is written: normal exit, an exception, SIGTERM, Ctrl-C.

A process that is killed outright leaves its log up to the last step, and every finished window.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import threading
import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Protocol

from laptime.recorders import active


class Finishes(Protocol):
    """A recorder that runs."""

    def finish(self, *, cut: bool) -> None:
        """Writes what has been recorded; `cut` where training ends in the middle of a step."""
        ...


_living: weakref.WeakSet[Finishes] = weakref.WeakSet()
_installed = False


def remember(recorder: Finishes) -> None:
    """Has a recorder finished if the process ends before it is forgotten."""
    global _installed
    if not _installed:
        _installed = True
        atexit.register(finish_all)
        active.call_after_fork(_living.clear)
    _take_sigterm()
    _living.add(recorder)


def forget(recorder: Finishes) -> None:
    """The recorder has finished."""
    _living.discard(recorder)


def finish_all() -> None:
    """Finishes what still runs."""
    for recorder in list(_living):
        recorder.finish(cut=True)


def _take_sigterm() -> None:
    """Finishes on SIGTERM, which would end the process at once; a handler of the user's own is left alone."""
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _on_sigterm)


def _on_sigterm(number: int, frame: FrameType | None) -> None:
    finish_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)  # the exit status is that of a process killed by the signal


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Holds SIGINT and SIGTERM back until the block has ended; then they act as they would have."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    before: dict[int, signal._HANDLER] = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        handler = signal.getsignal(number)
        if handler is not None:  # None: not installed from Python, cannot be put back
            before[number] = signal.signal(number, lambda got, frame: waiting.append(got))
    try:
        yield
    finally:
        for held, handler in before.items():
            signal.signal(held, handler)
        for got in dict.fromkeys(waiting):
            signal.raise_signal(got)
