"""Looks into the queue of a prefetching iterator, whatever made it: how many batches lie ready when training asks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import GeneratorType
from typing import Protocol, cast

from laptime.recorders.event_log import EventLog, now

_QUEUE, _STAGE = "host", "process"
"""As MindSpore calls the queue that the loading of data fills, and training takes from."""


class _Queue(Protocol):
    def qsize(self) -> int: ...


class QueueProbe:
    """Samples the queue that a loader is, or holds in an attribute, or as a generator in a variable."""

    def __init__(self, loader: Iterable[object], log: EventLog) -> None:
        self._loader, self._log = loader, log
        self._iterator: Iterator[object] | None = None
        self._queue: _Queue | None = None

    def iterate(self, loader: Iterable[object]) -> Iterator[object]:
        """The loader's own iterator."""
        self._iterator = iter(loader)
        return self._iterator

    def before(self) -> None:
        """Looks how full the queue is; a generator makes it with its first batch only."""
        if self._queue is None:
            self._queue = next(_queues(self._loader, self._iterator), None)
            if self._queue is None:
                return
            self._log.add("pipeline_op", 0, "iterator", _name(self._loader), None, None, _QUEUE)
        try:
            size = self._queue.qsize()
        except (NotImplementedError, OSError):  # of processes on macOS; closed
            return
        self._log.add("queue", _QUEUE, _STAGE, now(), size, _capacity(self._queue))

    def after(self, batch: object) -> object:
        """The batch as it is."""
        return batch

    def close(self) -> None:
        """Ends looking."""
        self._queue = self._iterator = None


def _queues(*places: object) -> Iterator[_Queue]:
    for place in places:
        if _is_queue(place):
            yield cast("_Queue", place)
        for value in list(_variables(place).values()):
            if _is_queue(value):
                yield cast("_Queue", value)


def _variables(place: object) -> Mapping[str, object]:
    if isinstance(place, GeneratorType):
        return place.gi_frame.f_locals if place.gi_frame is not None else {}
    return getattr(place, "__dict__", {})


def _is_queue(value: object) -> bool:
    return callable(getattr(type(value), "qsize", None)) and callable(getattr(type(value), "get", None))


def _capacity(queue: object) -> int | None:
    """What fits in; None where that is not limited."""
    for name in ("maxsize", "_maxsize"):  # of threads, of processes
        size = getattr(queue, name, None)
        if isinstance(size, int):
            return size if 0 < size < 1 << 30 else None
    return None


def _name(loader: object) -> str:
    name = getattr(loader, "__name__", None)
    return name if isinstance(name, str) else type(loader).__name__
