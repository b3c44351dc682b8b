"""The recorder's own log, `{stem}.laptime.jsonl`: what no framework records, and where the framework's files lie.

The first line is an object: {"laptime": 1, pid, host, main_thread, rank, world_size, ...}. Each later line is a list of
rows, written at once, so that of a killed run all but the last line is whole. A row is a list whose first element says
what it is; see docs/formats.md. Times are nanoseconds of `time.perf_counter_ns`; each window tells how far the
wall clock is ahead of that.

Rows come from any thread, also from a callback of the garbage collector in the midst of a flush: they are appended to a
deque, which is atomic, and leave it only under a lock.
"""

from __future__ import annotations

import functools
import json
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from laptime.recorders import active

VERSION = 1
SUFFIX = ".laptime.jsonl"
_ROWS_AT_ONCE = 4096
_OF_WINDOWS = frozenset(("slice", "call", "counter", "queue", "start_up"))

now = time.perf_counter_ns


class EventLog:
    """Appends rows; writes them in batches, so that memory stays bounded. A failing disk ends writing, not training."""

    def __init__(self, folder: Path, stem: str, header: Mapping[str, object]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.stem = folder, stem
        self.path = folder / f"{stem}{SUFFIX}"
        self.failure: OSError | None = None
        """Why nothing is written any more."""
        self.is_open = False
        """Whether a window is open; between windows slices, counters and queues are no one's business."""
        self.written = 0
        """Rows that were written."""
        self._rows: deque[tuple[object, ...]] = deque()
        self._batch: list[tuple[object, ...]] = []
        self._lock = threading.RLock()
        self._flushing = False
        self._is_inherited = False
        self._stacks: dict[str, int] = {}
        self._threads: set[int] = set()
        self._pid = os.getpid()
        self._file: IO[bytes] | None = self.path.open("xb", buffering=0)
        _logs.add(self)
        self._write(_json({"laptime": VERSION, **header}))

    def add(self, *row: object) -> None:
        """Adds a row."""
        if self.is_open or row[0] not in _OF_WINDOWS:
            rows = self._rows
            rows.append(row)
            if len(rows) >= _ROWS_AT_ONCE:
                self.flush()

    def slice(self, thread: int, name: str, kind: str, span: tuple[int, int], *, stack: str | None = None) -> None:
        """Something that a thread of this process did from span[0] to span[1]."""
        if thread not in self._threads:
            self.name_thread(thread, _name_of(thread))
        if self.is_open:  # as `add`, without a call of it: there is a slice for every scope
            rows = self._rows
            known = None if stack is None else self.stack_id(stack)
            rows.append(("slice", thread, name, kind, span[0], span[1], known))
            if len(rows) >= _ROWS_AT_ONCE:
                self.flush()

    def call(self, thread: int, name: str | None, span: tuple[int, int], stack: str) -> None:
        """A call whose stack is known, of a slice that the framework records without: a scope; None is a wait."""
        self.add("call", thread, name, *span, self.stack_id(stack))

    def stack_id(self, stack: str) -> int:
        """Number of a call stack: frames `file(line): function`, innermost first, separated by `;`."""
        known = self._stacks.get(stack)
        if known is None:
            with self._lock:
                known = self._stacks.setdefault(stack, len(self._stacks))
            self.add("stack", known, stack)
        return known

    def name_thread(self, thread: int, name: str, *, pid: int | None = None) -> None:
        """Names a thread, the first time."""
        if thread not in self._threads:
            self._threads.add(thread)
            self.add("thread", thread, name, self._pid if pid is None else pid)

    def flush(self) -> None:
        """Writes what has been added. Inside another flush of this thread it leaves that to the outer one."""
        if self._is_inherited:
            self._rows.clear()
            return
        with self._lock:
            if self._flushing:
                return
            self._flushing = True
            try:
                while self._rows or self._batch:
                    self._write_batch()
            finally:
                self._flushing = False

    def close(self) -> None:
        """Writes the rest and closes the file; what is added later opens it again."""
        self.flush()
        with self._lock:
            file, self._file = self._file, None
            if file is not None:
                file.close()

    def disown(self) -> None:
        """In a forked child: the log is the parent's; a lock that another thread held then stays locked."""
        self._is_inherited, self.is_open = True, False
        self._lock = threading.RLock()
        self._rows.clear()

    def _write_batch(self) -> None:
        """Rows stay in the batch until they are written, so that an exception amid it loses none."""
        batch = self._batch
        while len(batch) < _ROWS_AT_ONCE and self._rows:
            batch.append(self._rows.popleft())
        try:
            self._write(_line(batch))
        except Exception as error:  # a row that is no row: an error of a recorder
            self.failure = OSError(f"{type(error).__name__}: {error}")
        self._batch = []
        self.written += len(batch)

    def _write(self, line: str) -> None:
        if self.failure is not None:
            return
        try:
            if self._file is None:
                self._file = self.path.open("ab", buffering=0)
            data = f"{line}\n".encode()
            while data:  # a raw file may take a part only
                data = data[self._file.write(data) :]
        except (OSError, ValueError) as error:  # ValueError: closed at exit
            self.failure = error if isinstance(error, OSError) else OSError(str(error))


_json = json.JSONEncoder(separators=(",", ":"), default=str, check_circular=False).encode
_name = functools.lru_cache(4096)(_json)


def _line(rows: list[tuple[object, ...]]) -> str:
    return f"[{','.join(_slice(row) if row[0] == 'slice' else _json(row) for row in rows)}]"


def _slice(row: tuple[object, ...]) -> str:
    """A slice as JSON, in a third of the time that the encoder takes: there may be thousands in a step."""
    _, thread, name, kind, start, end, stack = row
    return f'["slice",{thread},{_name(name)},"{kind}",{start},{end},{"null" if stack is None else stack}]'


_logs: weakref.WeakSet[EventLog] = weakref.WeakSet()


def _disown_all() -> None:
    for log in list(_logs):
        log.disown()


active.call_after_fork(_disown_all)


def _name_of(thread: int) -> str:
    """Its name; a thread that Python did not start has none."""
    return next((each.name for each in threading.enumerate() if each.native_id == thread), f"thread {thread}")


class _Native(threading.local):
    """The system's number of the calling thread, asked for once: that is a system call."""

    def __init__(self) -> None:
        self.id = threading.get_native_id()


_native = _Native()


def native_id() -> int:
    """`threading.get_native_id`, ten times as fast."""
    return _native.id


def _forget_natives() -> None:
    global _native
    _native = _Native()


active.call_after_fork(_forget_natives)


def wall_clock_ahead() -> int:
    """Nanoseconds to add to `now()` for Unix time; of several tries the one least disturbed."""
    tries = []
    for _ in range(5):
        before, wall, after = now(), time.time_ns(), now()
        tries.append((after - before, wall - (before + after) // 2))
    return min(tries)[1]
