"""Averages in whole nanoseconds: rounded half up, and parts that still sum to their total."""

from __future__ import annotations

from collections.abc import Sequence


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
