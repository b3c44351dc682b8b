"""Averages of groups are those of each group by itself."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from laptime.analyses.averages import mean, means, quantile, quantiles

GROUPS = st.lists(st.lists(st.integers(0, 2**61), min_size=1, max_size=9), min_size=1, max_size=6)


@given(GROUPS, st.sampled_from([0, 50, 90, 100]))
def test_of_groups_as_of_one(groups: list[list[int]], per_cent: int) -> None:
    counts = np.array([len(group) for group in groups])
    values = np.array([value for group in groups for value in sorted(group)])
    found = quantiles(values, np.cumsum(counts) - counts, counts, per_cent=per_cent)
    assert found == [quantile(group, per_cent) for group in groups]


@given(st.lists(st.lists(st.integers(0, 2**40), min_size=1, max_size=9), min_size=1, max_size=6))
def test_means_of_groups(groups: list[list[int]]) -> None:
    sums, counts = np.array([sum(group) for group in groups]), np.array([len(group) for group in groups])
    assert means(sums, counts) == [mean(group) for group in groups]
