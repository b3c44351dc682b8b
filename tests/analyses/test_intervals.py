"""Every function on sets of time, against sets of whole numbers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from laptime.analyses.intervals import EMPTY, Intervals, complement, intersect, join, subtract, union

GRID = 24
_times = st.integers(-GRID, GRID)
_pairs = st.lists(st.tuples(_times, _times), max_size=9)


def _columns(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _of(pairs: list[tuple[int, int]]) -> Intervals:
    return union(*_columns(pairs))


def _points(pairs: list[tuple[int, int]]) -> set[int]:
    """The nanoseconds that half-open intervals hold; empty and backward ones hold none."""
    return {point for start, end in pairs for point in range(start, end)}


def _held(found: Intervals) -> set[int]:
    """The nanoseconds of a result, whose form is checked: ordered, disjoint, not touching, none empty, integers."""
    assert found.start.dtype == found.end.dtype == np.int64
    assert len(found) == len(found.start) == len(found.end)
    edges = list(zip(found.start.tolist(), found.end.tolist(), strict=True))
    assert all(start < end for start, end in edges)
    assert all(earlier[1] < later[0] for earlier, later in pairwise(edges))
    return _points(edges)


@given(_pairs)
def test_union(pairs: list[tuple[int, int]]) -> None:
    assert _held(_of(pairs)) == _points(pairs)


@given(_pairs)
def test_total(pairs: list[tuple[int, int]]) -> None:
    found = _of(pairs).total_ns
    assert type(found) is int
    assert found == len(_points(pairs))


@given(st.lists(_pairs, min_size=1, max_size=4))
def test_join(sets: list[list[tuple[int, int]]]) -> None:
    assert _held(join(*map(_of, sets))) == set().union(*map(_points, sets))


@given(_pairs, _pairs)
def test_intersect(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> None:
    assert _held(intersect(_of(a), _of(b))) == _points(a) & _points(b)


@given(_pairs, _pairs)
def test_subtract(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> None:
    assert _held(subtract(_of(a), _of(b))) == _points(a) - _points(b)


@given(_pairs, _times, _times)
def test_complement(pairs: list[tuple[int, int]], first: int, last: int) -> None:
    assert _held(complement(_of(pairs), first, last)) == set(range(first, last)) - _points(pairs)


@given(_pairs, _pairs)
def test_within(pairs: list[tuple[int, int]], spans: list[tuple[int, int]]) -> None:
    points = _points(pairs)
    found = _of(pairs).within(*_columns(spans))
    assert found.tolist() == [len(points & set(range(first, last))) for first, last in spans]


@given(_pairs, st.lists(_times, max_size=9))
def test_holds(pairs: list[tuple[int, int]], times: list[int]) -> None:
    points = _points(pairs)
    assert _of(pairs).holds(np.array(times, np.int64)).tolist() == [time in points for time in times]


@given(_pairs, _pairs)
def test_parts_make_the_whole(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> None:
    """What is shared, what is only in one and what is only in the other are all of both, once."""
    left, right = _of(a), _of(b)
    parts = intersect(left, right).total_ns, subtract(left, right).total_ns, subtract(right, left).total_ns
    assert sum(parts) == join(left, right).total_ns


def test_of_nothing() -> None:
    none = np.empty(0, np.int64)
    some = _of([(1, 4), (6, 9)])
    assert EMPTY.total_ns == 0
    assert len(union(none, none)) == len(join(EMPTY, EMPTY)) == len(intersect(EMPTY, some)) == 0
    assert _held(subtract(some, EMPTY)) == _held(join(some, EMPTY)) == _held(some)
    assert EMPTY.within(np.array([0]), np.array([9])).tolist() == [0]
    assert EMPTY.holds(np.array([0, 1])).tolist() == [False, False]
    assert some.within(none, none).tolist() == some.holds(none).tolist() == []


def test_epoch_times_keep_their_nanoseconds() -> None:
    """Integers beyond what a double holds stay exact."""
    epoch = 1_712_195_478_123_456_751
    found = subtract(_of([(epoch, epoch + 3)]), _of([(epoch + 1, epoch + 2)]))
    assert _held(found) == {epoch, epoch + 2}
    assert found.within(np.array([epoch]), np.array([epoch + 3])).tolist() == [2]
