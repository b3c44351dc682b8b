"""The order of slices against sorting them one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.model import assembly
from laptime.model.vocabulary import NULL

_ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9), st.sampled_from([NULL, 0, 1, 5])), max_size=30)


def place(row: tuple[int, int, int]) -> tuple[int, int, int]:
    return row[0], row[1], -max(row[2], 0)


@given(_ROWS, st.sampled_from(["none", "by track", "all", "all but the tracks"]), st.sampled_from([1, 100]))
def test_slices_are_ordered_by_track_start_and_the_longest_first(rows, ordered, least_run):
    if ordered == "by track":
        rows = sorted(rows, key=lambda row: row[0])
    elif ordered != "none":
        rows = sorted(rows, key=place)
    if ordered == "all but the tracks":
        rows = sorted(rows, key=lambda row: -row[0])
    columns = np.array(rows, np.int64).reshape(-1, 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assembly, "_LEAST_RUN", least_run)
        order = assembly.order_of(columns[:, 0].astype(np.int32), columns[:, 1], columns[:, 2])
    expected = sorted(range(len(rows)), key=lambda row: place(rows[row]))
    assert (list(range(len(rows))) if order is None else order.tolist()) == expected
    assert order is not None or rows == sorted(rows, key=place)
