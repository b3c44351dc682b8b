"""Parents, depths and lanes against twins that look at every pair of slices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.model import nesting

Spans = list[tuple[int, int, int]]


@st.composite
def sorted_slices(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Track, start and end of slices in the order of the `slices` table; small numbers, so that many touch or cross."""
    drawn = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(0, 8)), max_size=25))
    ordered = sorted(drawn, key=lambda row: (row[0], row[1], -row[2]))
    columns = np.array(ordered, np.int64).reshape(-1, 3)
    return columns[:, 0].astype(np.int32), columns[:, 1], columns[:, 1] + columns[:, 2]


def brute_parents(track: list[int], start: list[int], end: list[int]) -> list[int]:
    """The nearest earlier slice that ends no sooner; a slice without duration holds nothing."""
    return [
        next(
            (j for j in reversed(range(i)) if track[j] == track[i] and end[j] >= end[i] and end[j] > start[j]),
            -1,
        )
        for i in range(len(end))
    ]


def crosses(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Whether b, which starts no sooner, neither follows a nor lies in it."""
    return b[0] < a[1] < b[1]


@given(sorted_slices())
def test_parents_are_the_nearest_earlier_slices_that_end_no_sooner(slices):
    track, start, end = slices
    expected = brute_parents(track.tolist(), start.tolist(), end.tolist())
    assert nesting.containing_parents(track, start, end).tolist() == expected


@given(sorted_slices())
def test_parents_contain_their_children(slices):
    track, start, end = slices
    parents = nesting.containing_parents(track, start, end)
    rows = np.flatnonzero(parents >= 0)
    assert np.all(start[parents[rows]] <= start[rows])
    assert np.all(end[parents[rows]] >= end[rows])


@given(sorted_slices())
def test_depth_is_the_number_of_ancestors(slices):
    track, start, end = slices
    parents = nesting.containing_parents(track, start, end)
    expected = []
    for row in range(len(parents)):
        count, above = 0, parents[row]
        while above >= 0:
            count, above = count + 1, parents[above]
        expected.append(count)
    assert nesting.depths(parents).tolist() == expected


def test_a_very_deep_stack_has_its_depth():
    count = 5000
    start, end = np.arange(count), 2 * count - np.arange(count)
    parents = nesting.containing_parents(np.zeros(count, np.int32), start, end)
    assert nesting.depths(parents).tolist() == list(range(count))
    assert start.tolist() == (parents + 1).tolist()


@given(sorted_slices())
def test_open_at_start_is_the_nearest_earlier_slice_still_running(slices):
    track, start, end = slices
    parents = nesting.containing_parents(track, start, end)
    expected = [
        next((j for j in reversed(range(i)) if track[j] == track[i] and end[j] > start[i]), -1)
        for i in range(len(track))
    ]
    assert nesting.open_at_start(start, end, parents, track).tolist() == expected


@given(sorted_slices())
def test_within_a_lane_host_slices_only_nest_or_follow(slices):
    track, start, end = slices
    lanes = nesting.nested_lanes(start, end, nesting.containing_parents(track, start, end), track)
    rows = list(zip(track.tolist(), lanes.tolist(), start.tolist(), end.tolist(), strict=True))
    for i, (track_a, lane_a, *a) in enumerate(rows):
        for track_b, lane_b, *b in rows[i + 1 :]:
            assert (track_a, lane_a) != (track_b, lane_b) or not crosses(tuple(a), tuple(b))


@given(sorted_slices())
def test_tracks_without_crossing_slices_have_one_lane(slices):
    track, start, end = slices
    lanes = nesting.nested_lanes(start, end, nesting.containing_parents(track, start, end), track)
    for number in set(track.tolist()):
        rows = np.flatnonzero(track == number)
        spans = list(zip(start[rows].tolist(), end[rows].tolist(), strict=True))
        crossing = any(crosses(a, b) for i, a in enumerate(spans) for b in spans[i + 1 :])
        assert bool(lanes[rows].any()) == crossing


@given(sorted_slices())
def test_within_a_lane_stream_slices_are_disjoint(slices):
    track, start, end = slices
    lanes = nesting.stream_lanes(start, end, track)
    for key in {*zip(track.tolist(), lanes.tolist(), strict=True)}:
        rows = np.flatnonzero((track == key[0]) & (lanes == key[1]))
        assert np.all(start[rows][1:] >= end[rows][:-1])


@given(sorted_slices())
def test_streams_have_as_many_lanes_as_slices_run_at_once(slices):
    track, start, end = slices
    lanes = nesting.stream_lanes(start, end, track)
    for number in set(track.tolist()):
        rows = np.flatnonzero(track == number)
        running = [1 + np.count_nonzero(end[rows[:i]] > start[row]) for i, row in enumerate(rows.tolist())]
        assert set(lanes[rows].tolist()) == set(range(max(running)))


@given(sorted_slices(), st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 22)), max_size=10))
def test_innermost_at_is_the_last_slice_that_holds_the_time(slices, asked):
    track, start, end = slices
    nest = nesting.Nest(track, start, end, nesting.containing_parents(track, start, end))
    found = nest.innermost_at(np.array([a[0] for a in asked], np.int32), np.array([a[1] for a in asked], np.int64))
    expected = [
        max((row for row in range(len(track)) if track[row] == on and start[row] <= time <= end[row]), default=-1)
        for on, time in asked
    ]
    assert found.tolist() == expected


@given(sorted_slices(), st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 22)), max_size=10))
def test_last_started_is_the_last_slice_begun_by_the_time(slices, asked):
    track, start, end = slices
    nest = nesting.Nest(track, start, end, nesting.containing_parents(track, start, end))
    found = nest.last_started(np.array([a[0] for a in asked], np.int32), np.array([a[1] for a in asked], np.int64))
    expected = [
        max((row for row in range(len(track)) if track[row] == on and start[row] <= time), default=-1)
        for on, time in asked
    ]
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("track", "bounds"), [([], [0]), ([7], [0, 1]), ([0, 0, 2, 2, 2, 5], [0, 2, 5, 6])], ids=["none", "one", "several"]
)
def test_track_bounds_are_where_the_track_changes(track, bounds):
    assert nesting.track_bounds(np.array(track, np.int32)).tolist() == bounds
