"""The dataset engine's own monitor, which MindSpore's profiler leaves off on CPU: queues, waits and CPU per operator.

It watches the first dataset that is iterated after `prepare`, and lives in C++ with traps (seen in 2.10): a second
`start` without `init` crashes the process, and so may `init` while the dataset it watched is still iterated. So a
monitor starts once for each dataset: in later windows of the same iteration there are no figures, which is told once.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import sys
from pathlib import Path
from typing import Protocol, cast

INTERVAL_MS = 200
"""Between two looks at the queues; each costs some 20 ms of a core, for MindSpore looks at the whole process too."""
_DEFAULT_MS = 1000
NEW, READY, RUNNING, USED = "new", "ready", "running", "used"


class _Engine(Protocol):
    def init(self) -> None: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def save(self, folder: str) -> None: ...


class DatasetMonitor:
    """Watches datasets in windows; there is one in a process, as there is one engine."""

    def __init__(self) -> None:
        self.state = NEW
        self._engine: _Engine | None = None

    def prepare(self, interval_ms: int | None = None) -> None:
        """Has the datasets watched that are iterated from now on."""
        if self.state in (READY, RUNNING) or (self.state == USED and _iterates_now()):
            return
        if self._engine is None:
            module = importlib.import_module("mindspore._c_dataengine")
            self._engine = cast("_Engine", module.GlobalContext.profiling_manager())
        _set_interval(interval_ms)
        self._engine.init()
        self.state = READY

    def start(self, interval_ms: int | None = None) -> bool:
        """Begins to look; False where the dataset that is iterated has been looked at in an earlier window."""
        self.prepare(interval_ms)
        if self.state != READY or self._engine is None:
            return False
        self._engine.start()
        self.state = RUNNING
        return True

    def stop(self, folder: Path) -> bool:
        """Ends looking and writes what there is; False where no dataset was iterated."""
        if self.state != RUNNING or self._engine is None:
            return False
        self.state = USED
        self._engine.stop()
        folder.mkdir(parents=True, exist_ok=True)
        self._engine.save(str(folder.resolve()))
        if any(folder.iterdir()):
            return True
        folder.rmdir()
        return False


monitor = DatasetMonitor()


def datasets_are_used() -> bool:
    """Whether the script has anything to do with MindSpore's datasets yet."""
    iterators = sys.modules.get("mindspore.dataset.engine.iterators")
    return bool(iterators is not None and iterators.ITERATORS_LIST)


def _iterates_now() -> bool:
    """Whether any dataset is iterated, or sent to a device."""
    iterators = sys.modules.get("mindspore.dataset.engine.iterators")
    if iterators is not None and any(reference() is not None for reference in iterators.ITERATORS_LIST):
        return True
    senders = getattr(sys.modules.get("mindspore.dataset.engine.datasets"), "_ToDevice", None)
    return senders is not None and any(type(each) is senders for each in gc.get_objects())


def _set_interval(interval_ms: int | None) -> None:
    """The one asked for; else the script's own, unless it has MindSpore's, which is too long for a window."""
    config = importlib.import_module("mindspore.dataset").config
    if interval_ms is None and config.get_monitor_sampling_interval() == _DEFAULT_MS:
        interval_ms = INTERVAL_MS
    if interval_ms is not None:
        with contextlib.suppress(ValueError):
            config.set_monitor_sampling_interval(interval_ms)
