"""What a framework's recorder must offer, and which one fits the process."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from laptime.recorders.event_log import EventLog
from laptime.recorders.options import Options


@dataclass
class Window:
    """A stretch of time that is recorded as a whole: its number, and where its files go."""

    number: int
    log: EventLog
    files: list[tuple[str, str]] = field(default_factory=list)
    unended_step: int | None = None
    """The step that had begun when the window was closed, and that training never ended: it is no step."""

    def path(self, suffix: str) -> Path:
        """Where a file or folder of this window goes; `suffix` begins without a dot."""
        return self.log.folder / f"{self.log.stem}.window{self.number}.{suffix}"

    def add_file(self, path: Path, importer: str) -> None:
        """Tells of a file or folder that the framework has written whole, and which importer reads it."""
        self.files.append((path.name, importer))
        self.log.add("file", self.number, path.name, importer)


class TrainingFailed(Exception):
    """Something that training did earlier turned out wrong while recording waited for it: training gets the error."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class Backend(Protocol):
    """A framework's own profiler. Methods may raise: the profiler warns once and training goes on without it.

    All are called on the thread that trains. A window: `start`, then steps and scopes, then `stop`,
    which also takes back what `start` had begun where that failed.
    """

    name: str
    """As `framework=` names it: pytorch, megengine, mindspore, jax, python."""
    marks_scopes: bool
    """Whether scopes go to the framework's own recording; otherwise they go to the log."""

    def version(self) -> str | None:
        """The framework's version."""
        ...

    def prepare(self) -> None:
        """Warms up before a window, in a step that the schedule calls warmup; may be called several times."""
        ...

    def start(self, window: Window) -> None:
        """Begins to record."""
        ...

    def stop(self, window: Window) -> None:
        """Ends recording and writes the window's files, telling each by `window.add_file`."""
        ...

    def begin_step(self, number: int) -> None:
        """A training step begins inside a window."""
        ...

    def end_step(self, number: int) -> None:
        """The step is about to end: what still belongs to it may be waited for."""
        ...

    def open_scope(self, name: str) -> object:
        """Begins a range of the calling thread; what it returns is given to `close_scope`."""
        ...

    def close_scope(self, token: object) -> None:
        """Ends a range."""
        ...

    def watch(self, loader: Iterable[object], log: EventLog) -> LoaderProbe | None:
        """What looks inside a loader of this framework; None where it is none."""
        ...


class LoaderProbe(Protocol):
    """Looks into a loader while it is iterated: its queues, its workers."""

    def iterate(self, loader: Iterable[object]) -> Iterator[object]:
        """A fresh iterator over the loader; the probe may wrap what the loader is made of meanwhile."""
        ...

    def before(self) -> None:
        """Training is about to ask for a batch."""
        ...

    def after(self, batch: object) -> object:
        """Training got this batch; what is returned is what the user gets."""
        ...

    def close(self) -> None:
        """The iteration has ended, early or not."""
        ...


class _Factory(Protocol):
    def __call__(self, options: Options) -> Backend: ...


BACKENDS = {
    "pytorch": ("torch", "laptime.recorders.pytorch"),
    "megengine": ("megengine", "laptime.recorders.megengine"),
    "mindspore": ("mindspore", "laptime.recorders.mindspore"),
    "jax": ("jax", "laptime.recorders.jax"),
    "python": (None, "laptime.recorders.plain"),
}
"""By name: the framework's package, and the module here whose `backend(options)` makes its recorder."""
_OTHER_NAMES = {"torch": "pytorch", "mge": "megengine", "ms": "mindspore", "plain": "python"}


def framework_name(named: str | None) -> str:
    """The framework asked for, else the one that is imported. Raises ValueError for an unknown name."""
    if named is not None:
        name = _OTHER_NAMES.get(named.lower(), named.lower())
        if name not in BACKENDS:
            raise ValueError(f"unknown framework {named!r}: choose from {', '.join(BACKENDS)}")
        return name
    found = [name for name, (package, _) in BACKENDS.items() if package is not None and package in sys.modules]
    return found[0] if found else "python"


def make_backend(name: str, options: Options) -> Backend:
    """The recorder of a framework. Raises ImportError where it is not installed."""
    module = importlib.import_module(BACKENDS[name][1])
    factory: _Factory = module.backend
    return factory(options)
