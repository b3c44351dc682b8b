"""Which step holds each slice against looking at each slice's start."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from laptime.model import steps
from laptime.model.assembly import Assembled
from laptime.model.builder import GivenStep
from laptime.model.links import Flows
from laptime.model.vocabulary import NULL
from tests.model.sorted_slices import sorted_slices

_NO_FLOWS = Flows(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.str_))


@given(sorted_slices(), st.lists(st.tuples(st.integers(0, 15), st.integers(0, 6)), min_size=1, max_size=4))
def test_a_slice_belongs_to_the_last_step_begun_if_it_lasts_until_then(slices, drawn):
    track, start, end = (np.repeat(column, 9) for column in slices)  # many more slices than steps
    given_steps = [GivenStep(10 + n, at, at + long, "") for n, (at, long) in enumerate(sorted(drawn))]
    marked = steps.given_steps(given_steps, 0)
    none = np.full(len(track), -1, np.int64)
    rows = Assembled({"track": track, "start": start}, end, none, none, none, [], np.empty(0, np.str_), 0)
    expected = []
    for time in start.tolist():
        last = next((step for step in reversed(given_steps) if step.start_ns <= time), None)
        expected.append(last.step if last is not None and time < last.end_ns else NULL)
    assert steps.slice_steps(rows, _NO_FLOWS, marked).tolist() == expected
