"""Decodes the blocks of large files in several processes, small ones in this one; either way in file order.

Any `concurrent.futures.Executor` will do, a Dask cluster's too. By default processes are started when the first large
file comes; below LARGE_BYTES one process is faster than starting others.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType, TracebackType

from laptime.errors import LaptimeError
from laptime.importers.decoding import Decoded, decode_part, decode_text
from laptime.importers.framing import Block, EventFile

LARGE_BYTES = 64 << 20
_LARGE_BARE_BYTES = 256 << 20
"""Of files whose arguments are not looked at here; they decode in half the time."""
_MOST_WORKERS = 6
_LONGEST_REJOINED = 64 << 20
_SPARE_TASKS = 2
"""Tasks in flight beyond one per worker, so that none waits for its next block."""


class Decoders:
    """The processes of one import run; a context manager that ends them."""

    def __init__(self, executor: Executor | None = None, *, workers: int | None = None) -> None:
        self._workers = workers or min(_usable_cores(), _MOST_WORKERS)
        self._executor = executor
        self._own: ProcessPoolExecutor | None = None

    def __enter__(self) -> Decoders:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._own is not None:
            self._own.shutdown(wait=True, cancel_futures=True)

    def decode(self, file: EventFile, *, inflated_bytes: int) -> Iterator[tuple[Block, Decoded]]:
        """Blocks of a file with their columns; `inflated_bytes` is about how much text there is."""
        if inflated_bytes < (_LARGE_BARE_BYTES if file.bare else LARGE_BYTES) or (
            self._workers < 2 and self._executor is None
        ):
            yield from _rejoined((block, block.decode()) for block in file.blocks())
            return
        try:
            yield from _rejoined(self._decode_elsewhere(file))
        except BrokenExecutor as error:
            raise LaptimeError(
                "a decoding process ended unexpectedly",
                where=file.name,
                remedy="free some memory and open the file again",
            ) from error

    def for_many(self, inflated_bytes: Sequence[int]) -> Executor | None:
        """Where to import several files at once; None where one after the other is as fast."""
        worth_it = len(inflated_bytes) > 1 and sum(inflated_bytes) >= LARGE_BYTES > max(inflated_bytes, default=0)
        return self._start() if worth_it and self._workers > 1 and self._executor is None else None

    def _decode_elsewhere(self, file: EventFile) -> Iterator[tuple[Block, Decoded]]:
        executor = self._executor or self._start()
        readable = file.plain_path if self._executor is None else None  # workers elsewhere may not see the file
        running: deque[tuple[Block, Future[Decoded]]] = deque()
        for block in file.blocks():
            if block.last:  # may hold the end of the list: cheap, and its faults are looked at here
                break
            with interrupts_held():
                if readable is None:
                    future = executor.submit(decode_text, block.data, bare=block.bare)
                else:
                    future = executor.submit(decode_part, readable, block.offset, len(block.data), bare=block.bare)
            running.append((block, future))
            if len(running) >= self._workers + _SPARE_TASKS:
                done, future = running.popleft()
                yield done, future.result()
        for done, future in running:
            yield done, future.result()
        yield block, block.decode()

    def _start(self) -> ProcessPoolExecutor:
        if self._own is None:
            # Spawned, not forked: threads of Arrow may exist already, and forked locks stay locked.
            context = multiprocessing.get_context("spawn")
            self._own = ProcessPoolExecutor(
                self._workers, mp_context=context, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)
            )  # Ctrl-C: the parent answers
        return self._own


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Holds Ctrl-C back while a process may start: the process inherits that and leaves the answer to its parent.

    The mask holds back what this thread would get and what the process inherits; other threads (Arrow's) may still take
    the signal, and Python would answer here, in the middle of writing what the new process reads first.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    handler = signal.getsignal(signal.SIGINT)
    held: list[tuple[int, FrameType | None]] = []
    if callable(handler) and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, lambda number, frame: held.append((number, frame)))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if callable(handler) and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if held and callable(handler):
            handler(*held[0])


def _rejoined(pairs: Iterable[tuple[Block, Decoded]]) -> Iterator[tuple[Block, Decoded]]:
    """Mends cuts that fell inside an event: its beginning goes before the next block, which is decoded anew."""
    beginning = b""
    for block, decoded in pairs:
        if beginning:
            block = replace(block, data=beginning + block.data, offset=block.offset - len(beginning))
            decoded = block.decode()
        beginning = b""
        if decoded.partial_at is not None and not block.last and len(block.data) < _LONGEST_REJOINED:
            beginning = block.data[decoded.partial_at :]
            decoded.partial_at = None
        yield block, decoded


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
