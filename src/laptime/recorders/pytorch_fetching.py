"""Times what a DataLoader's fetcher does for each batch, in the training process and in worker processes.

A worker writes what it measured to a file of its own, 32 bytes for each batch, so that nothing is lost when it is
killed. Batches, random numbers and what the dataset sees are not touched: the fetcher's own calls are timed, nothing
is wrapped that a dataset or a collate function could tell.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol, cast

from laptime.recorders.event_log import now

_RECORD = struct.Struct("<4q")
Listener = Callable[[int, int, int], None]
"""Hears of a batch: when its fetching began, when the items were there, when they were collated."""


class Fetcher(Protocol):
    """torch's `_BaseDatasetFetcher`."""

    collate_fn: Callable[[object], object]
    fetch: Callable[[object], object]


def time_fetcher(fetcher: Fetcher, listener: Listener) -> None:
    """Has the listener told of each batch that a fetcher makes."""
    collate, fetch = fetcher.collate_fn, fetcher.fetch
    fetched = 0

    def timed_collate(items: object) -> object:
        nonlocal fetched
        fetched = now()
        return collate(items)

    def timed_fetch(indices: object) -> object:
        start = now()
        batch = fetch(indices)
        listener(start, fetched, now())
        return batch

    fetcher.collate_fn, fetcher.fetch = timed_collate, timed_fetch


class TimedWorkers:
    """Stands for `worker_init_fn`: in a worker, has the fetcher timed, then calls the user's own function."""

    def __init__(self, own: Callable[[int], object] | None, folder: str) -> None:
        self.own, self.folder = own, folder

    def __call__(self, worker: int) -> None:
        with contextlib.suppress(Exception):
            _time_worker(worker, Path(self.folder))
        if self.own is not None:
            self.own(worker)


def _time_worker(worker: int, folder: Path) -> None:
    data = importlib.import_module("torch.utils.data")
    kinds = data._DatasetKind
    create: Callable[..., Fetcher] = kinds.create_fetcher
    dataset = data.get_worker_info().dataset
    file = (folder / f"{worker}-{os.getpid()}").open("ab", buffering=0)
    thread = threading.get_native_id()

    def note(start: int, fetched: int, end: int) -> None:
        with contextlib.suppress(OSError, ValueError):
            file.write(_RECORD.pack(thread, start, fetched, end))

    def create_timed(kind: object, of: object, *rest: object) -> Fetcher:
        fetcher = create(kind, of, *rest)
        if of is dataset:
            time_fetcher(fetcher, note)
        return fetcher

    kinds.create_fetcher = staticmethod(create_timed)


class WorkerFile:
    """Reads what a worker has written so far."""

    def __init__(self, path: Path) -> None:
        self.worker, self.pid = (int(part) for part in path.name.split("-"))
        self._path, self._place = path, 0

    def fresh(self) -> Iterator[tuple[int, int, int, int]]:
        """(thread, start, fetched, end) of each batch since the last call."""
        with contextlib.suppress(OSError):
            with self._path.open("rb") as file:
                file.seek(self._place)
                data = file.read()
            whole = len(data) - len(data) % _RECORD.size
            self._place += whole
            yield from cast("Iterator[tuple[int, int, int, int]]", _RECORD.iter_unpack(data[:whole]))
