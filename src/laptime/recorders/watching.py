"""Watches how long training waits for its data, for any iterable; a framework's loader is looked into as well."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, Protocol, TypeVar, cast

from laptime.recorders.backends import LoaderProbe
from laptime.recorders.event_log import now

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


class Loader(Protocol[_T_co]):
    """Anything that gives batches."""

    def __iter__(self) -> Iterator[_T_co]: ...


class WaitListener(Protocol):
    """Hears of each wait for a batch; `fresh` is the first of an iteration."""

    def __call__(self, span: tuple[int, int], *, fresh: bool) -> None: ...


class Watched(Generic[_T]):
    """Stands for a loader: the same length, the same attributes, the same batches."""

    def __init__(
        self, loader: Iterable[_T], listener: WaitListener, probe: Callable[[Iterable[_T]], LoaderProbe | None]
    ) -> None:
        self._loader, self._listener, self._probe_for = loader, listener, probe

    def __iter__(self) -> Iterator[_T]:
        return WatchedIterator(self._loader, self._listener, self._probe_for(self._loader))

    def __len__(self) -> int:
        return len(self._loader)  # type: ignore[arg-type]  # raises TypeError like the loader itself

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)


class WatchedIterator(Generic[_T]):
    """Times each `next`; the end of the iteration is no wait for a batch."""

    def __init__(self, loader: Iterable[_T], listener: WaitListener, probe: LoaderProbe | None) -> None:
        self._listener, self._probe = listener, probe
        self._made = now()
        self._iterator = iter(loader) if probe is None else cast("Iterator[_T]", probe.iterate(loader))
        self._fresh = True

    def __iter__(self) -> Iterator[_T]:
        return self

    def __next__(self) -> _T:
        if self._probe is not None:
            self._probe.before()
        start = self._made if self._fresh else now()
        try:
            batch = next(self._iterator)
        except BaseException:
            self.close()
            raise
        self._listener((start, now()), fresh=self._fresh)
        self._fresh = False
        return batch if self._probe is None else cast("_T", self._probe.after(batch))

    def __getattr__(self, name: str) -> object:
        return getattr(self._iterator, name)

    def close(self) -> None:
        """Ends watching; the loader's own iterator is left as it is."""
        if self._probe is not None:
            self._probe.close()
            self._probe = None

    def __del__(self) -> None:
        self.close()
