"""Parents, depths and what crosses against twins that look at every pair of slices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.model import nesting
from tests.model.sorted_slices import crosses, sorted_slices


def brute_parents(track: list[int], start: list[int], end: list[int]) -> list[int]:
    """The nearest earlier slice that ends no sooner; a slice without duration holds nothing."""
    return [
        next(
            (j for j in reversed(range(i)) if track[j] == track[i] and end[j] >= end[i] and end[j] > start[j]),
            -1,
        )
        for i in range(len(end))
    ]


@given(sorted_slices())
def test_parents_are_the_nearest_earlier_slices_that_end_no_sooner(slices):
    track, start, end = slices
    expected = brute_parents(track.tolist(), start.tolist(), end.tolist())
    assert nesting.containing_parents(track, start, end).tolist() == expected


@given(sorted_slices(), st.integers(0, 4), st.sampled_from([1, 4, 99]), st.sampled_from([1, 1 << 30, 1 << 57]))
def test_parents_depths_and_crossings_are_the_same_however_they_are_found(slices, levels, block, unit):
    track, start, end = slices
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nesting, "_LEVELS", levels)
        patch.setattr(nesting, "_BLOCK", block)
        found = nesting.nesting_of(track, start * unit, end * unit)  # with the longest unit there is no room to move
    parents = brute_parents(track.tolist(), start.tolist(), end.tolist())
    assert found.parents.tolist() == parents
    assert found.depth.tolist() == nesting.depths(np.array(parents, np.int64)).tolist()
    rows = list(zip(track.tolist(), start.tolist(), end.tolist(), strict=True))
    running = [
        [other[1:] for other in rows[:row] if other[0] == on and other[2] > begin]
        for row, (on, begin, _) in enumerate(rows)
    ]
    expected = [row for row, open_ones in enumerate(running) if open_ones and crosses(open_ones[-1], rows[row][1:])]
    assert found.crossing.tolist() == expected


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
