"""Looks into a torch DataLoader while it is iterated: how many batches are ready, what its workers do."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol, cast

from laptime.recorders.event_log import EventLog, native_id, now
from laptime.recorders.pytorch_fetching import Fetcher, TimedWorkers, WorkerFile, time_fetcher
from laptime.recorders.pytorch_pinning import PIN, PinTimes

FETCH, COLLATE = "fetch", "collate"
_COLLECT_EVERY = 64
"""Batches after which what the workers wrote is read, so that little is kept or lost."""


class DataLoader(Protocol):
    """What is used of torch.utils.data.DataLoader."""

    dataset: object
    collate_fn: object
    num_workers: int
    prefetch_factor: int | None
    pin_memory: bool
    worker_init_fn: Callable[[int], object] | None

    def __iter__(self) -> Iterator[object]: ...


class _Queue(Protocol):
    def qsize(self) -> int: ...


class _Running(Protocol):
    """The iterator of a loader."""

    _dataset_fetcher: Fetcher
    _worker_result_queue: _Queue
    _data_queue: _Queue
    _task_info: dict[int, tuple[object, ...]]
    _pin_memory: bool


class Pipeline:
    """A loader, however often it is iterated: its number, and the files in which its workers tell their times."""

    def __init__(self, loader: DataLoader, number: int) -> None:
        self.workers = loader.num_workers
        self.queues = tuple(name if not number else f"{name} {number + 1}" for name in ("host", "device"))
        self.capacity = (loader.prefetch_factor or 2) * loader.num_workers
        self._first_op = 10 * number
        self._folder: Path | None = None
        self._files: dict[str, WorkerFile] = {}
        self._is_described = False

    @property
    def folder(self) -> str:
        """Where workers write; made when it is first asked for, removed at the end of the process."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="laptime-"))
            weakref.finalize(self, _remove, self._folder, os.getpid())
        return str(self._folder)

    def describe(self, loader: DataLoader, log: EventLog, *, pins: bool) -> None:
        """Logs the stages, the last first, once."""
        if self._is_described:
            return
        self._is_described = True
        host, device = self.queues if self.workers else (None, None)
        collate = getattr(loader.collate_fn, "__qualname__", type(loader.collate_fn).__name__)
        stages = [(PIN, "pin_memory", 1 if self.workers else 0, device)] if pins else []
        stages.append((COLLATE, collate, self.workers, host))
        stages.append((FETCH, type(loader.dataset).__name__, self.workers, None))
        for place, (kind, name, workers, queue) in enumerate(stages):
            parent = None if not place else self._first_op + place - 1
            log.add("pipeline_op", self._first_op + place, kind, name, workers, parent, queue)

    def collect(self, log: EventLog, since: int) -> None:
        """Logs what the workers have told of batches that were made after `since`."""
        if self._folder is None:
            return
        for path in self._folder.iterdir():
            file = self._files.setdefault(path.name, WorkerFile(path))
            for thread, start, fetched, end in file.fresh():
                if end > since:
                    log.name_thread(thread, f"DataLoader worker {file.worker}", pid=file.pid)
                    log_batch(log, thread, (max(start, since), max(fetched, since), end))


class Pipelines:
    """The loaders of a recording."""

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[object, Pipeline] = weakref.WeakKeyDictionary()
        self._count = 0
        self.since = 0
        """When the window that is open began."""

    def of(self, loader: DataLoader) -> Pipeline:
        """That of a loader, the same each time."""
        known = self._known.get(loader)
        if known is None:
            known = self._known[loader] = Pipeline(loader, self._count)
            self._count += 1
        return known

    def collect(self, log: EventLog) -> None:
        """Logs what the workers of all loaders have told."""
        for pipeline in list(self._known.values()):
            pipeline.collect(log, self.since)


class DataLoaderProbe:
    """Watches one iteration over a DataLoader."""

    def __init__(self, pipelines: Pipelines, loader: DataLoader, log: EventLog) -> None:
        self._pipelines, self._pipeline, self._log = pipelines, pipelines.of(loader), log
        self._pid = os.getpid()
        self._running: _Running | None = None
        self._pins: PinTimes | None = None
        self._batches = 0
        self._ready: tuple[int, int, int] | None = None

    def iterate(self, loader: Iterable[object]) -> Iterator[object]:
        """The loader's own iterator; workers that it starts tell their times."""
        whole = cast("DataLoader", loader)
        iterator = self._started(whole)
        with contextlib.suppress(AttributeError):  # a loader with an iterator of its own
            self._look_into(cast("_Running", iterator), whole)
        return iterator

    def before(self) -> None:
        """Counts the batches that are ready; not for the first one, for which workers start."""
        running = self._running if self._batches and self._log.is_open else None
        self._ready = None if running is None else self._count(running)

    def after(self, batch: object) -> object:
        """The batch itself; at the end of the iteration there is none, and what was ready counts for nothing."""
        self._batches += 1
        if self._ready is not None:
            self._tell(*self._ready)
        if not self._batches % _COLLECT_EVERY:
            self._collect()
        return batch

    def close(self) -> None:
        """Takes in what is left. In a forked worker, which has a copy of the probe, it does nothing."""
        if os.getpid() != self._pid:
            return
        self._running = None
        if self._pins is not None:
            self._pins.close()
        self._collect()

    def _collect(self) -> None:
        if self._log.is_open:
            self._pipeline.collect(self._log, self._pipelines.since)

    def _started(self, loader: DataLoader) -> Iterator[object]:
        if not self._pipeline.workers:
            return iter(loader)
        own = loader.worker_init_fn
        loader.worker_init_fn = TimedWorkers(own, self._pipeline.folder)
        try:
            return iter(loader)
        finally:
            loader.worker_init_fn = own

    def _look_into(self, iterator: _Running, loader: DataLoader) -> None:
        if iterator._pin_memory:
            self._pins = PinTimes(self._log)
        self._pipeline.describe(loader, self._log, pins=iterator._pin_memory)
        if self._pipeline.workers:
            self._running = iterator if iterator._worker_result_queue is not None else None
        else:
            time_fetcher(iterator._dataset_fetcher, self._note)

    def _note(self, start: int, fetched: int, end: int) -> None:
        if self._log.is_open:
            log_batch(self._log, native_id(), (start, fetched, end))

    def _count(self, running: _Running) -> tuple[int, int, int] | None:
        """Now, batches that workers have made and training has not taken, and those of them that are pinned.

        Also those that wait for their turn.
        """
        time = now()
        try:
            made, pinned = running._worker_result_queue.qsize(), running._data_queue.qsize()
        except NotImplementedError:  # macOS
            self._running = None
            return None
        in_turn = sum(len(task) > 1 for task in running._task_info.values())
        return (time, made + in_turn + pinned, pinned + in_turn) if self._pins else (time, made + in_turn, 0)

    def _tell(self, time: int, ready: int, pinned: int) -> None:
        capacity = self._pipeline.capacity
        host, device = self._pipeline.queues
        self._log.add("queue", host, "process", time, min(ready, capacity), capacity)
        if self._pins is not None:
            self._log.add("queue", device, "send", time, min(pinned, capacity), capacity)


def log_batch(log: EventLog, thread: int, times: tuple[int, int, int]) -> None:
    """Logs the two stages of a batch: from the beginning, from when the items were there, until the end."""
    start, fetched, end = times
    log.slice(thread, FETCH, "data", (start, fetched))
    log.slice(thread, COLLATE, "data", (fetched, end))


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
