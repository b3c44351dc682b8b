"""A window while it is open: its steps, its scopes, what it tells the log."""

from __future__ import annotations

import contextlib
from typing import cast

from laptime.recorders import active
from laptime.recorders.backends import Backend, Window
from laptime.recorders.event_log import EventLog, native_id, now, wall_clock_ahead
from laptime.recorders.sampling import ProcessSampler
from laptime.recorders.stacks import call_stack


class LogScopes:
    """Scopes that go to the log."""

    def __init__(self, log: EventLog, *, with_backtrace: bool) -> None:
        self._log = log
        self._with_backtrace = with_backtrace

    def open_scope(self, name: str) -> tuple[str, str | None, int]:
        """The name, the call stack and the time."""
        return (name, call_stack(2) if self._with_backtrace else None, now())

    def close_scope(self, token: object) -> None:
        """Adds the range to the log."""
        name, stack, start = cast("tuple[str, str | None, int]", token)
        self._log.slice(native_id(), name, "scope", (start, now()), stack=stack)


class OpenWindow:
    """Records from construction until `close`. Steps follow each other: where one ends the next begins."""

    def __init__(self, number: int, log: EventLog, backend: Backend, *, with_backtrace: bool) -> None:
        self.window = Window(number, log)
        self._log, self._backend = log, backend
        self._step_start: int | None = None
        self._is_whole_step = True
        self._has_steps = False
        """Whether a step ended in this window."""
        self._batches = 0
        self._sampler = ProcessSampler(log)
        log.add("begin", number, now(), wall_clock_ahead())
        log.flush()
        log.is_open = True
        try:
            backend.start(self.window)
            self._sampler.start()
        except BaseException:
            self._sampler.stop()
            with contextlib.suppress(Exception):  # what had begun
                backend.stop(self.window)
            self._end(now(), "failed")
            raise
        active.recorder = backend if backend.marks_scopes else LogScopes(log, with_backtrace=with_backtrace)

    def begin_step(self, number: int, *, is_whole: bool = True) -> None:
        """A step begins; not whole where its beginning is in another window."""
        self._step_start = now()
        self._backend.begin_step(number)
        self._batches = 0
        self._is_whole_step = is_whole

    def end_step(self, number: int, *, complete: bool = True) -> None:
        """The step ends; what it recorded is written."""
        if self._step_start is None:
            return
        self._backend.end_step(number)
        complete = complete and self._is_whole_step
        self._log.add("step", number, self._step_start, now(), complete, self.window.number)
        self._step_start = None
        self._has_steps = True
        self._log.flush()

    def waited(self, span: tuple[int, int], *, fresh: bool) -> None:
        """The training thread waited for a batch; of a fresh iterator that is start-up, and the step begins after it.

        Only where the step has had no batch yet.
        """
        thread = native_id()
        if not fresh:
            self._log.slice(thread, "next batch", "data", span)
        else:
            self._log.slice(thread, "data loader starts", "host_other", span)
            self._log.add("start_up", *span)
            if self._step_start is not None and not self._batches:
                self._step_start = span[1]
        self._batches += 1

    def close(self, number: int, *, cut: bool) -> None:
        """Ends the window; `cut` says that training ended inside step `number`, which is kept as incomplete."""
        active.recorder = None
        try:
            if cut:
                self.end_step(number, complete=False)
            elif self._step_start is not None:
                self.window.unended_step = number
                self._backend.end_step(number)
                if not self._has_steps:
                    self._log.add("block", number, self._step_start, now(), self.window.number)
        finally:
            self._sampler.stop()
            end = now()
            try:
                self._backend.stop(self.window)
            finally:
                self._end(end, "cut" if cut else "whole")

    def disown(self) -> None:
        """In a forked child: what still happens is the parent's."""
        self._sampler.disown()

    def _end(self, time: int, state: str) -> None:
        self._log.add("end", self.window.number, time, state)
        self._log.is_open = False
        self._log.flush()
