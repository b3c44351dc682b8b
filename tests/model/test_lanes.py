"""Lanes against what they are for: within one, slices are disjoint or nest, and there are no more than needed."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from laptime.model.lanes import nested_lanes, stream_lanes
from laptime.model.nesting import nesting_of
from tests.model.sorted_slices import crosses, sorted_slices


@given(sorted_slices())
def test_within_a_lane_host_slices_only_nest_or_follow(slices):
    track, start, end = slices
    lanes = nested_lanes(track, start, end, nesting_of(track, start, end))
    rows = list(zip(track.tolist(), lanes.tolist(), start.tolist(), end.tolist(), strict=True))
    for i, (track_a, lane_a, *a) in enumerate(rows):
        for track_b, lane_b, *b in rows[i + 1 :]:
            assert (track_a, lane_a) != (track_b, lane_b) or not crosses(tuple(a), tuple(b))


@given(sorted_slices())
def test_tracks_without_crossing_slices_have_one_lane(slices):
    track, start, end = slices
    lanes = nested_lanes(track, start, end, nesting_of(track, start, end))
    for number in set(track.tolist()):
        rows = np.flatnonzero(track == number)
        spans = list(zip(start[rows].tolist(), end[rows].tolist(), strict=True))
        crossing = any(crosses(a, b) for i, a in enumerate(spans) for b in spans[i + 1 :])
        assert bool(lanes[rows].any()) == crossing


@given(sorted_slices())
def test_within_a_lane_stream_slices_are_disjoint(slices):
    track, start, end = slices
    lanes = stream_lanes(track, start, end, nesting_of(track, start, end))
    for key in {*zip(track.tolist(), lanes.tolist(), strict=True)}:
        rows = np.flatnonzero((track == key[0]) & (lanes == key[1]))
        assert np.all(start[rows][1:] >= end[rows][:-1])


@given(sorted_slices())
def test_streams_have_as_many_lanes_as_slices_run_at_once(slices):
    track, start, end = slices
    lanes = stream_lanes(track, start, end, nesting_of(track, start, end))
    for number in set(track.tolist()):
        rows = np.flatnonzero(track == number)
        running = [1 + np.count_nonzero(end[rows[:i]] > start[row]) for i, row in enumerate(rows.tolist())]
        assert set(lanes[rows].tolist()) == set(range(max(running)))
