"""Averages in whole nanoseconds: rounded half up, and parts that still sum to their total."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def mean(values: Sequence[int]) -> int:
    """Arithmetic mean, rounded half up."""
    count = len(values)
    return (2 * sum(values) + count) // (2 * count)


def quantile(values: Sequence[int], share: float) -> int:
    """Quantile by linear interpolation, rounded half up."""
    return int(np.floor(np.quantile(np.asarray(values, np.float64), share) + 0.5))


def mean_parts(columns: Sequence[Sequence[int]], total: int) -> list[int]:
    """Means of parts that sum to `total` exactly: each is rounded down, the rest goes to the largest remainders."""
    floors, remainders = [], []
    for values in columns:
        floor, remainder = divmod(sum(values), len(values))
        floors.append(floor)
        remainders.append(remainder)
    missing = total - sum(floors)
    for place in sorted(range(len(floors)), key=lambda k: -remainders[k])[: max(missing, 0)]:
        floors[place] += 1
    return floors
