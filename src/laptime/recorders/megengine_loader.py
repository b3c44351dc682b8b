"""Looks into a DataLoader of MegEngine: batches that are ready, and how long fetching, transforming and collating take.

The loader's parts are replaced by ones that tell their times while an iterator is made; workers, which are forked
then, inherit them.
"""

from __future__ import annotations

import importlib
import multiprocessing
from collections.abc import Iterable, Iterator
from typing import Protocol, cast

from laptime.recorders import active
from laptime.recorders.event_log import EventLog, now
from laptime.recorders.patching import Patches
from laptime.recorders.worker_times import WorkerTimes

FETCH, TRANSFORM, COLLATE = "fetch", "transform", "collate"


class Dataset(Protocol):
    """Samples by number, or one after the other."""

    def __len__(self) -> int: ...
    def __getitem__(self, number: int) -> object: ...
    def __iter__(self) -> Iterator[object]: ...


class Loader(Protocol):
    """`megengine.data.DataLoader`."""

    num_workers: int
    dataset: Dataset

    def __iter__(self) -> Iterator[object]: ...


class _Running(Protocol):
    """The iterator of a loader with workers."""

    _data_queue: _Sized
    _task_info: dict[int, tuple[object, ...]]


class _Sized(Protocol):
    def qsize(self) -> int: ...


class _Timed:
    """Times the calls of a batch's stages, in whatever process they run."""

    def __init__(self, times: WorkerTimes) -> None:
        self._times = times
        self._fetching: tuple[int, int] | None = None

    def fetched(self, start: int) -> None:
        """A sample was fetched; those of a batch make one span."""
        self._fetching = (start if self._fetching is None else self._fetching[0], now())

    def did(self, stage: str, start: int) -> None:
        """A stage has ended; what was fetched before it began is told too."""
        end = now()
        if self._fetching is not None:
            self._times.add(FETCH, self._fetching)
            self._fetching = None
        self._times.add(stage, (start, end))


class _Stage:
    """Stands for a transform or collator: the same attributes, its calls timed."""

    def __init__(self, stage: str, whole: object, timed: _Timed) -> None:
        self._stage, self._whole, self._timed = stage, whole, timed

    def apply(self, batch: object) -> object:
        """A sample or batch."""
        start = now()
        result: object = self._whole.apply(batch)  # type: ignore[attr-defined]  # MegEngine's Transform or Collator
        self._timed.did(self._stage, start)
        return result

    def apply_batch(self, batch: object) -> object:
        """A batch."""
        start = now()
        result: object = self._whole.apply_batch(batch)  # type: ignore[attr-defined]  # MegEngine's Transform
        self._timed.did(self._stage, start)
        return result

    def __getattr__(self, name: str) -> object:
        return getattr(self._whole, name)


def _timed_dataset(dataset: Dataset, timed: _Timed) -> object:
    """Stands for a dataset: of MegEngine's class, which the loader asks for."""
    module = importlib.import_module("megengine.data.dataset")
    base = module.StreamDataset if isinstance(dataset, module.StreamDataset) else module.Dataset

    def item(self: object, number: int) -> object:
        start = now()
        value = dataset[number]
        timed.fetched(start)
        return value

    def items(self: object) -> Iterator[object]:
        iterator = iter(dataset)
        while True:
            start = now()
            try:
                value = next(iterator)
            except StopIteration:
                return
            timed.fetched(start)
            yield value

    members = {
        "__init__": lambda self: None,
        "__len__": lambda self: len(dataset),
        "__getitem__": item,
        "__iter__": items,
        "__getattr__": lambda self, name: getattr(dataset, name),
    }
    return type(type(dataset).__name__, (base,), members)()


class MegEngineLoaderProbe:
    """Watches one iteration of a loader."""

    def __init__(self, loader: Loader, log: EventLog, *, first_op: int) -> None:
        self._log = log
        self._workers = loader.num_workers
        self._times = WorkerTimes(log)
        self._running: _Running | None = None
        self._ready: tuple[int, int] | None = None
        self._is_first = True
        self._tell_stages(loader, first_op)

    def iterate(self, loader: Iterable[object]) -> Iterator[object]:
        """A fresh iterator, whose stages tell their times."""
        patches = Patches()
        if not self._workers or multiprocessing.get_context().get_start_method() == "fork":
            timed = _Timed(self._times)
            patches.replace(loader, "dataset", lambda whole: _timed_dataset(cast("Dataset", whole), timed))
            patches.replace(loader, "transform", lambda whole: _Stage(TRANSFORM, whole, timed))
            patches.replace(loader, "collator", lambda whole: _Stage(COLLATE, whole, timed))
        try:
            iterator = iter(loader)
        finally:
            patches.undo()
        if self._workers:
            self._running = cast("_Running", iterator)
        return iterator

    def before(self) -> None:
        """How many batches are ready."""
        self._times.drain()
        running = self._running
        if running is not None and active.recorder is not None:
            out_of_turn = sum(len(task) > 1 for task in running._task_info.values())
            self._ready = (now(), running._data_queue.qsize() + out_of_turn)

    def after(self, batch: object) -> object:
        """Logs what was ready, except for the first batch, for which workers start, and the end of the iteration."""
        ready, self._ready = self._ready, None
        if ready is not None and not self._is_first:
            time, size = ready
            capacity = 2 * self._workers
            self._log.add("queue", "host", "process", time, min(size, capacity), capacity)
        self._is_first = False
        return batch

    def close(self) -> None:
        """Ends watching."""
        self._running = None
        self._times.close()

    def _tell_stages(self, loader: Loader, first: int) -> None:
        queue = "host" if self._workers else None
        self._log.add("pipeline_op", first, "DataLoader", "DataLoader", self._workers, None, queue)
        stages = ((COLLATE, "collator"), (TRANSFORM, "transform"), (FETCH, "dataset"))
        for place, (stage, part) in enumerate(stages):
            name = type(getattr(loader, part)).__name__
            self._log.add("pipeline_op", first + place + 1, stage, name, self._workers, first + place, None)
