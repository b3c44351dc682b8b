"""Which call a slice lies in, on busy machines and by clocks that disagree."""

from __future__ import annotations

import numpy as np
import pytest

from laptime.importers.laptime_matching import Times, calls_around, clocks_of

MS = 1_000_000
US = 1000
WINDOWS, STEPS, CALLS = 4, 100, 12
"""Each window has so many steps, each step a pass and so many reads of a shape or a value, of which some wait."""


def times(*spans: tuple[float, float]) -> Times:
    """In microseconds."""
    start, end = np.array([(start * US, end * US) for start, end in spans], np.int64).reshape(-1, 2).T
    return Times(start, end)


def found(slices: Times, calls: Times, *names: tuple[Times, Times]) -> list[int]:
    """Place of each slice's call, by the clocks that slices and calls of some names tell."""
    return calls_around(slices, calls, clocks_of(names)).tolist()


def test_a_wait_is_that_of_the_call_it_lies_in_however_late_the_call_ends() -> None:
    """As MegEngine 1.13 and the log told it beside three busy loops: the second thread had the core for 11 ms."""
    calls = times((116651.6, 116653.9), (116689.9, 117609.5), (117657.9, 129156.9), (129653.1, 129659.5))
    assert found(times((116694.1, 117591.0), (117663.6, 117701.2)), calls) == [1, 2]


def test_a_wait_may_begin_long_after_its_call() -> None:
    calls = times((55625.4, 55632.7), (55653.5, 55656.0), (55700.7, 58816.5), (58885.9, 59014.6))
    assert found(times((58684.8, 58784.5), (58896.6, 59000.2)), calls) == [2, 3]


def test_a_wait_whose_call_is_not_known_has_none() -> None:
    calls = times((1000, 1010), (1060, 1100))
    assert found(times((1030, 1035), (5000, 5001)), calls) == [-1, -1]
    assert found(times((1030, 1035)), times()) == [-1]
    assert found(times(), calls) == []


def test_of_nested_calls_the_innermost_that_holds_a_slice_is_its() -> None:
    calls = times((1000, 9000), (2000, 5000), (3000, 4000), (6000, 7000))
    slices = times((1000.2, 8999), (1999.9, 5000.1), (3010, 3020), (4500, 4600), (5500, 5600), (6500, 7600))
    assert found(slices, calls) == [0, 1, 2, 1, 0, 0]


def test_clocks_that_disagree_are_told_by_names() -> None:
    """The framework's is 3 ms ahead; that the first pass fits as it is too tells nothing."""
    calls = times((1000, 1020), (1100, 1130), (9000, 9040), (9100, 9120))
    waits = times((4005, 4015), (4103, 4126), (12004, 12036), (12102, 12118))
    passes = times((3001, 5990), (10005, 10995)), times((0, 6000), (7000, 8000))
    assert found(waits, calls) == [-1, -1, -1, -1]
    assert found(waits, calls, passes) == [0, 1, 2, 3]


def test_names_tell_nothing_where_slices_are_cut_or_calls_are_lost() -> None:
    calls = times((0, 6000), (7000, 8000))
    for slices in (times((3001, 5990)), times((3001, 9500), (10005, 10995))):
        assert len(clocks_of([(slices, calls)]).at) == 0


def on_a_busy_machine(random: np.random.Generator) -> tuple[Times, Times]:
    """Passes and reads: one after the other, with 50 ms before each window."""
    lasting = random.integers(3 * US, 60 * US, (WINDOWS, STEPS, CALLS + 1))
    lasting += np.where(random.random(lasting.shape) < 0.2, random.integers(0, 15 * MS, lasting.shape), 0)
    pauses = random.integers(15 * US, 80 * US, lasting.shape)
    pauses[:, 0, 0] += 50 * MS
    end = np.cumsum(lasting + pauses).reshape(lasting.shape)
    start = end - lasting
    return Times(start[..., 0].ravel(), end[..., 0].ravel()), Times(start[..., 1:].ravel(), end[..., 1:].ravel())


def inside(calls: Times, random: np.random.Generator) -> Times:
    """A slice in each call: some microseconds at either side, and now and then milliseconds at one of them."""
    room = calls.end - calls.start
    before, after = (np.minimum(random.integers(500, 8 * US, len(calls)), room // 3) for _ in range(2))
    is_late = random.random(len(calls)) < 0.3
    stolen = np.where(is_late, (room - before - after) * random.random(len(calls)), 0).astype(np.int64)
    at_begin = random.random(len(calls)) < 0.3
    return Times(calls.start + before + stolen * at_begin, calls.end - after - stolen * ~at_begin)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("ahead_us", [(0, 0, 0, 0), (0, 3000, 3000, 300), (5000, -4000, 700, 0), (-90, 40, 0, 2000)])
def test_waits_have_their_calls_by_a_clock_that_is_set_for_each_window(ahead_us: tuple[int, ...], seed: int) -> None:
    """One in five reads waits; only passes have a name."""
    random = np.random.default_rng(seed)
    passes, calls = on_a_busy_machine(random)
    waiting = np.sort(random.choice(len(calls), len(calls) // 5, replace=False))
    begins, ahead = passes.start[::STEPS] - 25 * MS, np.array(ahead_us) * US

    def by_the_clock(slices: Times) -> Times:
        return slices.earlier(-ahead[np.searchsorted(begins, slices.start) - 1])

    waits = by_the_clock(inside(Times(calls.start[waiting], calls.end[waiting]), random))
    place = calls_around(waits, calls, clocks_of([(by_the_clock(inside(passes, random)), passes)]))
    wrong = np.flatnonzero(place != waiting)
    assert len(wrong) == 0, (wrong, place[wrong], waiting[wrong])
