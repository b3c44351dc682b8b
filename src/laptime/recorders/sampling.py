"""What the process uses while a window is open: memory, processor time, garbage collection."""

from __future__ import annotations

import contextlib
import gc
import os
import threading

from laptime.recorders.event_log import EventLog, native_id, now

_INTERVAL_S = 0.1
_STATM = "/proc/self/statm"
_SHORTEST_PAUSE_NS = 50_000
"""Collections of the youngest objects are over before that, and there may be thousands a second."""


class ProcessSampler:
    """Samples resident memory and processor use ten times a second, and notes pauses of the garbage collector."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._collecting: int | None = None

    def start(self) -> None:
        """Begins to sample; where the system gives no further thread, collections alone are noted."""
        gc.callbacks.append(self._on_collection)
        thread = threading.Thread(target=self._sample, name="laptime sampler", daemon=True)
        with contextlib.suppress(RuntimeError):
            thread.start()
            self._thread = thread

    def stop(self) -> None:
        """Ends it, with a last sample."""
        self._listen_no_more()
        self._ended.set()
        if self._thread is not None:
            self._thread.join(timeout=1)
            self._note_memory(now())

    def disown(self) -> None:
        """In a forked child: the thread is not there any more."""
        self._listen_no_more()

    def _listen_no_more(self) -> None:
        with contextlib.suppress(ValueError):
            gc.callbacks.remove(self._on_collection)

    def _sample(self) -> None:
        last_time, last_used = now(), _processor_seconds()
        self._note_memory(last_time)
        while not self._ended.wait(_INTERVAL_S):
            time, used = now(), _processor_seconds()
            share = round(1e11 * (used - last_used) / (time - last_time), 1)
            self._log.add("counter", "processor use", "percent", time, share)
            self._note_memory(time)
            last_time, last_used = time, used

    def _note_memory(self, time: int) -> None:
        resident = resident_bytes()
        if resident is not None:
            self._log.add("counter", "resident memory", "bytes", time, resident)

    def _on_collection(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._collecting = now()
        elif self._collecting is not None and now() - self._collecting >= _SHORTEST_PAUSE_NS:
            span = (self._collecting, now())
            name = f"garbage collection (generation {info.get('generation', '?')})"
            self._log.slice(native_id(), name, "host_other", span)


def resident_bytes() -> int | None:
    """Resident memory of this process; None where the system does not tell."""
    try:
        with open(_STATM, "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return None


def _processor_seconds() -> float:
    times = os.times()
    return times.user + times.system
