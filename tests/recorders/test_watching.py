"""A watched loader gives the same batches and behaves as the loader, whatever looks into it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import laptime
from laptime.recorders.watching import Watched, WatchedIterator


class _Loader:
    def __init__(self) -> None:
        self.epoch = 0
        self._hidden = "here"

    def __iter__(self) -> Iterator[int]:
        return iter(range(3))

    def __len__(self) -> int:
        return 3

    def __getitem__(self, key: int) -> int:
        return key * 10


class _Probe:
    """Notes what it is asked, and fails where told."""

    def __init__(self, fails_in: str = "") -> None:
        self.fails_in = fails_in
        self.calls: list[str] = []

    def _call(self, name: str) -> None:
        self.calls.append(name)
        if name == self.fails_in:
            raise RuntimeError(f"no {name}")

    def iterate(self, loader: Iterable[object]) -> Iterator[object]:
        self._call("iterate")
        return iter(loader)

    def before(self) -> None:
        self._call("before")

    def after(self, batch: object) -> object:
        self._call("after")
        return batch

    def close(self) -> None:
        self._call("close")


class _Waits:
    def __init__(self) -> None:
        self.heard: list[tuple[tuple[int, int], bool]] = []

    def __call__(self, span: tuple[int, int], *, fresh: bool) -> None:
        self.heard.append((span, fresh))


def test_it_stands_for_the_loader(tmp_path: Path) -> None:
    loader = _Loader()
    watched = laptime.Profiler(tmp_path).watch(loader)
    assert isinstance(watched, Watched)
    assert (list(watched), len(watched), watched[4], watched._hidden) == ([0, 1, 2], 3, 40, "here")
    watched.epoch = 5
    assert loader.epoch == 5
    with pytest.raises(AttributeError):
        watched.nothing  # noqa: B018 -- as the loader itself
    assert not laptime.Profiler(tmp_path).watch([])
    assert laptime.Profiler(tmp_path).watch([0])


def test_one_without_length(tmp_path: Path) -> None:
    class Endless:
        def __iter__(self) -> Iterator[int]:
            return iter(range(2))

    watched = laptime.Profiler(tmp_path).watch(Endless())
    assert watched
    assert list(watched) == [0, 1]
    with pytest.raises(TypeError):
        len(watched)


def test_an_iterator_stays_one(tmp_path: Path) -> None:
    with laptime.Profiler(tmp_path) as prof:
        watched = prof.watch(iter([1, 2, 3]))
        assert isinstance(watched, WatchedIterator)
        assert next(watched) == 1
        assert list(watched) == [2, 3]
        with pytest.raises(StopIteration):
            next(watched)


def test_a_generator_keeps_its_methods(tmp_path: Path) -> None:
    def generate() -> Iterator[int]:
        yield from (1, 2)

    watched = laptime.Profiler(tmp_path).watch(generate())
    assert next(iter(watched)) == 1
    watched.close()
    assert list(watched) == []


def test_copies(tmp_path: Path) -> None:
    watched = Watched([1, 2], _Waits(), _no_probe)
    assert list(copy.copy(watched)) == [1, 2]
    assert list(pickle.loads(pickle.dumps(watched))) == [1, 2]


def _no_probe(loader: object) -> None:
    return None


def test_waits_and_the_first_of_an_iteration() -> None:
    waits = _Waits()
    assert list(Watched([7, 8, 9], waits, lambda loader: None)) == [7, 8, 9]
    assert [fresh for _, fresh in waits.heard] == [True, False, False]
    times = [time for span, _ in waits.heard for time in span]
    assert times == sorted(times)


def test_what_the_loop_does_before_the_first_batch_is_no_wait() -> None:
    import time

    waits = _Waits()
    iterator = iter(Watched([7], waits, lambda loader: None))
    time.sleep(0.02)
    next(iterator)
    ((start, end), _) = waits.heard[0]
    assert end - start < 15_000_000


def test_a_probe_is_asked_around_each_batch_and_closed_once() -> None:
    probe = _Probe()
    assert list(Watched([1, 2], _Waits(), lambda loader: probe)) == [1, 2]
    assert probe.calls == ["iterate", "before", "after", "before", "after", "before", "close"]
    early = _Probe()
    for _ in Watched([1, 2], _Waits(), lambda loader: early):
        break
    assert early.calls == ["iterate", "before", "after", "close"]


@pytest.mark.parametrize("fails_in", ["iterate", "before", "after", "close"])
def test_a_probe_that_fails_harms_nothing(fails_in: str, capfd: pytest.CaptureFixture[str]) -> None:
    probe = _Probe(fails_in)
    assert list(Watched([1, 2, 3], _Waits(), lambda loader: probe)) == [1, 2, 3]
    assert probe.calls.count(fails_in) == 1
    assert capfd.readouterr().err == f"laptime: the loader is watched from outside only: RuntimeError: no {fails_in}\n"


def test_errors_of_the_loader_are_its_own() -> None:
    def failing() -> Iterator[int]:
        yield 1
        raise KeyError("broken sample")

    with pytest.raises(KeyError, match="broken sample"):
        list(Watched(failing(), _Waits(), lambda loader: None))
