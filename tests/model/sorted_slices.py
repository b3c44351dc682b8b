"""Slices in the order of the `slices` table, as hypothesis draws them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st


@st.composite
def sorted_slices(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Track, start and end of slices in the order of the `slices` table; small numbers, so that many touch or cross."""
    drawn = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(0, 8)), max_size=25))
    ordered = sorted(drawn, key=lambda row: (row[0], row[1], -row[2]))
    columns = np.array(ordered, np.int64).reshape(-1, 3)
    return columns[:, 0].astype(np.int32), columns[:, 1], columns[:, 1] + columns[:, 2]


def crosses(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Whether b, which starts no sooner, neither follows a nor lies in it."""
    return b[0] < a[1] < b[1]
