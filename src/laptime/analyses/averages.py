"""Averages in whole nanoseconds: rounded half up, and parts that still sum to their total."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.model.arrays import IntArray


def mean(values: Sequence[int]) -> int:
    """Arithmetic mean, rounded half up."""
    count = len(values)
    return (2 * sum(values) + count) // (2 * count)


def quantile(values: Sequence[int], per_cent: int) -> int:
    """Quantile by linear interpolation, rounded half up; in integers, since a double rounds once too often."""
    ordered = sorted(values)
    place, rest = divmod(per_cent * (len(ordered) - 1), 100)
    following = ordered[min(place + 1, len(ordered) - 1)]
    return (2 * (int(ordered[place]) * (100 - rest) + int(following) * rest) + 100) // 200


def means(sums: IntArray, counts: IntArray) -> list[int]:
    """Arithmetic means of groups by their sums."""
    return [(2 * total + count) // (2 * count) for total, count in zip(sums.tolist(), counts.tolist(), strict=True)]


def quantiles(values: IntArray, first: IntArray, counts: IntArray, *, per_cent: int) -> list[int]:
    """The quantile of each group of values, whose first stands where `first` says; the values of a group ascend."""
    place, rest = np.divmod(per_cent * (counts - 1), 100)
    here, following = values[first + place], values[first + np.minimum(place + 1, counts - 1)]
    columns = zip(here.tolist(), following.tolist(), rest.tolist(), strict=True)
    return [(2 * (low * (100 - part) + high * part) + 100) // 200 for low, high, part in columns]


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
