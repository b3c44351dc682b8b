"""Watches how long training waits for its data, for any iterable; a framework's loader is looked into as well."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, Protocol, TypeVar, cast

from laptime.recorders.backends import LoaderProbe
from laptime.recorders.event_log import now
from laptime.recorders.telling import tell

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)
_OWN = ("_loader", "_listener", "_probe_for")


class Loader(Protocol[_T_co]):
    """Anything that gives batches."""

    def __iter__(self) -> Iterator[_T_co]: ...


class WaitListener(Protocol):
    """Hears of each wait for a batch; `fresh` is the first of an iteration."""

    def __call__(self, span: tuple[int, int], *, fresh: bool) -> None: ...


class Watched(Generic[_T]):
    """Stands for a loader: the same length, truth, items, attributes and batches. What is set on it is set there."""

    def __init__(
        self, loader: Iterable[_T], listener: WaitListener, probe: Callable[[Iterable[_T]], LoaderProbe | None]
    ) -> None:
        self._loader, self._listener, self._probe_for = loader, listener, probe

    def __iter__(self) -> Iterator[_T]:
        return WatchedIterator(self._loader, self._listener, self._probe_for(self._loader))

    def __len__(self) -> int:
        return len(self._loader)  # type: ignore[arg-type]  # raises TypeError like the loader itself

    def __bool__(self) -> bool:
        return bool(self._loader)

    def __getitem__(self, key: object) -> object:
        return self._loader[key]  # type: ignore[index]  # as above

    def __getattr__(self, name: str) -> object:
        if name in _OWN:  # copied or unpickled, not made by __init__
            raise AttributeError(name)
        return getattr(self._loader, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name in _OWN:
            object.__setattr__(self, name, value)
        else:
            setattr(self._loader, name, value)


class WatchedIterator(Generic[_T]):
    """Times each `next`; the end of the iteration is no wait for a batch. Of a loader, making its iterator counts as
    part of the first wait; where the loop does something else before that one, only `next` does."""

    def __init__(self, loader: Iterable[_T], listener: WaitListener, probe: LoaderProbe | None) -> None:
        self._listener, self._probe = listener, probe
        made = now()
        self._iterator = self._iterator_of(loader)
        self._made = (made, now())
        self._fresh = True

    def __iter__(self) -> Iterator[_T]:
        return self

    def __next__(self) -> _T:
        start = now()
        if self._fresh and start - self._made[1] < _AT_ONCE_NS:
            start = self._made[0]
        if self._probe is not None:
            self._asked(self._probe.before)
        try:
            batch = next(self._iterator)
        except BaseException:
            self.end_watching()
            raise
        self._listener((start, now()), fresh=self._fresh)
        self._fresh = False
        return batch if self._probe is None else self._told(self._probe, batch)

    def __len__(self) -> int:
        return len(self._iterator)  # type: ignore[arg-type]  # raises TypeError like the iterator itself

    def __getattr__(self, name: str) -> object:
        if name in _OWN_OF_ITERATION:
            raise AttributeError(name)
        return getattr(self._iterator, name)

    def end_watching(self) -> None:
        """Leaves the loader's own iterator as it is."""
        if self._probe is not None:
            self._asked(self._probe.close)
            self._probe = None

    def __del__(self) -> None:
        if "_probe" in self.__dict__:
            self.end_watching()

    # What looks into the loader must not harm it: where it fails, the iteration goes on without it.

    def _iterator_of(self, loader: Iterable[_T]) -> Iterator[_T]:
        if self._probe is not None:
            try:
                return cast("Iterator[_T]", self._probe.iterate(loader))
            except Exception as error:
                self._drop(error)
        return iter(loader)

    def _asked(self, ask: Callable[[], None]) -> None:
        try:
            ask()
        except Exception as error:
            self._drop(error)

    def _told(self, probe: LoaderProbe, batch: _T) -> _T:
        try:
            return cast("_T", probe.after(batch))
        except Exception as error:
            self._drop(error)
            return batch

    def _drop(self, error: Exception) -> None:
        self._probe = None
        with contextlib.suppress(Exception):  # of its own words
            tell(f"the loader is watched from outside only: {type(error).__name__}: {error}")


_OWN_OF_ITERATION = ("_iterator", "_listener", "_probe", "_made", "_fresh")
_AT_ONCE_NS = 1_000_000
"""A `for` loop asks for the first batch at once."""
