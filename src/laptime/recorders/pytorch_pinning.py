"""Times the copying of batches into pinned memory, on the thread that a DataLoader has for it or the training one."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable

from laptime.recorders.event_log import EventLog, native_id, now
from laptime.recorders.patching import Patches

PIN = "pin"


class PinTimes:
    """While open, what torch's `pin_memory` does for a batch is a slice of the log."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._local = threading.local()
        self._patches = Patches()
        self._patches.replace(importlib.import_module("torch.utils.data._utils.pin_memory"), "pin_memory", self._timed)

    def close(self) -> None:
        """Ends timing."""
        self._patches.undo()

    def _timed(self, found: object) -> object:
        pin: Callable[..., object] = found  # type: ignore[assignment]  # torch's function

        def pin_memory(data: object, device: object = None) -> object:
            if getattr(self._local, "inside", False):  # it calls itself for what a batch is made of
                return pin(data, device)
            self._local.inside = True
            start = now()
            try:
                return pin(data, device)
            finally:
                self._local.inside = False
                self._log.slice(native_id(), PIN, "data", (start, now()))

        return pin_memory
