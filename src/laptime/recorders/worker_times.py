"""Times that a loader's worker processes tell the recorder, through a pipe that never makes a worker wait."""

from __future__ import annotations

import contextlib
import os
import threading

from laptime.recorders import active
from laptime.recorders.event_log import EventLog

_LONGEST = 4096
"""Longer lines could be torn apart by those of another worker."""


class WorkerTimes:
    """Takes spans in the recording process and in forked workers alike; what no longer fits into the pipe is lost."""

    def __init__(self, log: EventLog) -> None:
        self._log, self._pid = log, os.getpid()
        self._read, self._write = os.pipe()
        self._rest = b""
        for end in (self._read, self._write):
            os.set_blocking(end, False)

    def add(self, name: str, span: tuple[int, int]) -> None:
        """The calling thread did something for a batch. Never raises."""
        thread = threading.get_native_id()
        if os.getpid() == self._pid:
            if active.recorder is not None:
                self._log.slice(thread, name, "data", span)
            return
        line = f"{os.getpid()} {thread} {span[0]} {span[1]} {name}\n".encode()
        if len(line) <= _LONGEST:
            with contextlib.suppress(OSError):
                os.write(self._write, line)

    def drain(self) -> None:
        """Logs what workers have told; outside of windows it is forgotten."""
        with contextlib.suppress(OSError):
            while data := os.read(self._read, 1 << 16):
                self._rest += data
        lines = self._rest.split(b"\n")
        self._rest = lines.pop()
        if active.recorder is None:
            return
        for line in lines:
            pid, thread, start, end, name = line.decode().split(" ", 4)
            self._log.name_thread(int(thread), f"loader worker {pid}", pid=int(pid))
            self._log.slice(int(thread), name, "data", (int(start), int(end)))

    def close(self) -> None:
        """Logs the rest and closes the pipe; workers that go on are not disturbed."""
        if self._read >= 0:
            self.drain()
            for end in (self._read, self._write):
                with contextlib.suppress(OSError):
                    os.close(end)
            self._read = self._write = -1  # the numbers may soon be those of other files
