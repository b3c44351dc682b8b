"""However training ends, what it recorded is written: normal exit, an exception, SIGTERM, Ctrl-C.

A process that is killed outright leaves its log up to the last step, and every finished window. A forked child has
nothing to do with what its parent records. Handlers of the user's own are never replaced for longer than a window takes
to open or to close.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
import weakref
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Protocol

from laptime.recorders import active


class Finishes(Protocol):
    """A recorder that runs."""

    def finish(self, *, cut: bool) -> None:
        """Writes what has been recorded; `cut` where training ends in the middle of a step."""
        ...

    def disown(self) -> None:
        """Stops without a trace, in a forked child."""
        ...


_living: weakref.WeakSet[Finishes] = weakref.WeakSet()
_installed = False
_inside = 0
"""How many calls of the recorder the main thread is in."""
_came_inside = False


def remember(recorder: Finishes) -> None:
    """Has a recorder finished if the process ends before it is forgotten."""
    global _installed
    if not _installed:
        _installed = True
        atexit.register(_finish_at_exit)
        active.call_after_fork(_leave_to_parent)
        if hasattr(os, "register_at_fork"):  # Python forgets signals that a child gets before it has come to itself
            os.register_at_fork(before=_release_sigterm, after_in_parent=_take_sigterm)
    _living.add(recorder)
    _take_sigterm()


def forget(recorder: Finishes) -> None:
    """The recorder has finished."""
    _living.discard(recorder)
    if not _living:
        _release_sigterm()


def finish_all(*, cut: bool) -> None:
    """Finishes what still runs."""
    for recorder in list(_living):
        recorder.finish(cut=cut)


def _finish_at_exit() -> None:
    finish_all(cut=getattr(sys, "last_value", None) is not None)  # set where an exception has ended the program


def _leave_to_parent() -> None:
    global _inside, _came_inside
    _inside, _came_inside = 0, False
    _release_sigterm()
    for recorder in list(_living):
        recorder.disown()
    _living.clear()


def _in_main_thread() -> bool:
    return threading.get_ident() == threading.main_thread().ident


def _take_sigterm() -> None:
    if _living and _in_main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _on_sigterm)


def _release_sigterm() -> None:
    if _in_main_thread() and signal.getsignal(signal.SIGTERM) is _on_sigterm:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _on_sigterm(number: int, frame: FrameType | None) -> None:
    global _came_inside
    if _inside:
        _came_inside = True
        return
    finish_all(cut=True)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)  # the exit status is that of a process killed by the signal


class Whole:
    """Lets a part of the recorder end before SIGTERM is answered. Costs next to nothing."""

    __slots__ = ("_counts",)

    def __enter__(self) -> None:
        global _inside
        self._counts = _in_main_thread()
        _inside += self._counts

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        global _inside, _came_inside
        _inside -= self._counts
        if _came_inside and not _inside:
            _came_inside = False
            os.kill(os.getpid(), signal.SIGTERM)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Holds SIGINT and SIGTERM back until the block has ended; then they act as they would have."""
    if not _in_main_thread():
        yield
        return
    waiting: list[int] = []
    try:
        with contextlib.ExitStack() as handlers:  # puts all of them back, even if the first one acts at once
            for number in (signal.SIGINT, signal.SIGTERM):
                handler = signal.getsignal(number)
                if handler is not None:  # None: not installed from Python, cannot be put back
                    handlers.callback(signal.signal, number, handler)
                    signal.signal(number, lambda got, frame: waiting.append(got))
            yield
    finally:
        for got in dict.fromkeys(waiting):
            signal.raise_signal(got)
