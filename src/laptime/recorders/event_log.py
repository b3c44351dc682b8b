"""The recorder's own log, `{stem}.laptime.jsonl`: what no framework records, and where the framework's files lie.

The first line is an object: {"laptime": 1, pid, host, main_thread, rank, world_size, ...}. Each later line is a list of
rows, written at once, so that of a killed run all but the last line is whole. A row is a list whose first element says
what it is; see docs/formats.md. Times are nanoseconds of `time.perf_counter_ns`; each window tells how far the
wall clock is ahead of that.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

VERSION = 1
SUFFIX = ".laptime.jsonl"
_ROWS_AT_ONCE = 4096

now = time.perf_counter_ns


class EventLog:
    """Appends rows; writes them in batches, so that memory stays bounded. A failing disk ends writing, not training."""

    def __init__(self, folder: Path, stem: str, header: Mapping[str, object]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.stem = folder, stem
        self.failure: OSError | None = None
        """Why nothing is written any more."""
        self._rows: list[tuple[object, ...]] = []
        self._file: IO[bytes] = (folder / f"{stem}{SUFFIX}").open("xb", buffering=0)
        self._pid = os.getpid()
        self._stacks: dict[str, int] = {}
        self._threads: set[int] = set()
        self._write({"laptime": VERSION, **header})

    def add(self, *row: object) -> None:
        """Adds a row."""
        self._rows.append(row)
        if len(self._rows) >= _ROWS_AT_ONCE:
            self.flush()

    def slice(self, thread: int, name: str, kind: str, span: tuple[int, int], *, stack: str | None = None) -> None:
        """Something that a thread of this process did from span[0] to span[1]."""
        if thread not in self._threads:
            self.name_thread(thread, threading.current_thread().name)
        self.add("slice", thread, name, kind, *span, None if stack is None else self.stack_id(stack))

    def call(self, thread: int, name: str | None, span: tuple[int, int], stack: str) -> None:
        """A call whose stack is known, of a slice that the framework records without: a scope; None is a wait."""
        self.add("call", thread, name, *span, self.stack_id(stack))

    def stack_id(self, stack: str) -> int:
        """Number of a call stack: frames `file(line): function`, innermost first, separated by `;`."""
        known = self._stacks.get(stack)
        if known is None:
            known = self._stacks[stack] = len(self._stacks)
            self.add("stack", known, stack)
        return known

    def name_thread(self, thread: int, name: str, *, pid: int | None = None) -> None:
        """Names a thread, the first time."""
        if thread not in self._threads:
            self._threads.add(thread)
            self.add("thread", thread, name, self._pid if pid is None else pid)

    def flush(self) -> None:
        """Writes what has been added; nothing in a forked child."""
        rows, self._rows = self._rows, []
        if rows and self._pid == os.getpid():
            self._write(rows)

    def close(self) -> None:
        """Writes the rest and closes the file."""
        self.flush()
        self._file.close()

    def _write(self, value: object) -> None:
        if self.failure is not None:
            return
        try:
            data = json.dumps(value, separators=(",", ":"), ensure_ascii=True, default=str).encode() + b"\n"
            while data:  # a raw file may take a part only
                data = data[self._file.write(data) :]
        except (OSError, ValueError) as error:  # ValueError: closed at exit
            self.failure = error if isinstance(error, OSError) else OSError(str(error))


def wall_clock_ahead() -> int:
    """Nanoseconds to add to `now()` for Unix time; of several tries the one least disturbed."""
    tries = []
    for _ in range(5):
        before, wall, after = now(), time.time_ns(), now()
        tries.append((after - before, wall - (before + after) // 2))
    return min(tries)[1]
