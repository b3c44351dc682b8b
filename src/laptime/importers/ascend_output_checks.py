"""Compares the sums that the vendor stored per step with what the recorded kernels and collectives add up to.

step_trace_time.csv (or StepTraceTime of analysis.db) holds, in microseconds, `Computing` (time in kernels),
`Communication` and the part of it in which nothing computed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from laptime.model.arrays import BoolArray, IntArray
from laptime.model.builder import Warnings
from laptime.model.vocabulary import NULL

_SLACK_NS, _SLACK_SHARE = 200, 0.001
"""Rounding of every kernel adds up to less."""
PARTS = ("computing", "communication", "communication_not_overlapped")


@dataclass(frozen=True)
class StoredStep:
    """A row of the vendor's table, in ns; NULL where it says nothing."""

    step: str
    times: dict[str, int]


@dataclass
class Intervals:
    """Kernels and collectives as they are read."""

    _start: list[IntArray] = field(default_factory=list)
    _end: list[IntArray] = field(default_factory=list)
    _communication: list[BoolArray] = field(default_factory=list)

    def add(self, start: IntArray, dur: IntArray, communication: BoolArray) -> None:
        """Adds slices; untimed ones add nothing."""
        timed = (start != NULL) & (dur >= 0)
        self._start.append(start[timed])
        self._end.append((start + dur)[timed])
        self._communication.append(communication[timed])

    def times(self) -> dict[str, int]:
        """The times that the vendor's table has, of all slices."""
        if not self._start:
            return {}
        start, end = np.concatenate(self._start), np.concatenate(self._end)
        kernel = ~np.concatenate(self._communication)
        if not len(start):
            return {}
        computing, communication = _covered_ns(start[kernel], end[kernel]), _covered_ns(start[~kernel], end[~kernel])
        exposed = _covered_ns(start, end) - computing
        return dict(zip(PARTS, (computing, communication, exposed), strict=True))

    def span(self) -> tuple[int, int] | None:
        """First start and last end."""
        starts = [int(start.min()) for start in self._start if len(start)]
        ends = [int(end.max()) for end in self._end if len(end)]
        return (min(starts), max(ends)) if starts else None


def _covered_ns(start: IntArray, end: IntArray) -> int:
    """Length of the union of intervals."""
    if not len(start):
        return 0
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order])
    before = np.concatenate([start[:1], end[:-1]])
    return int(np.maximum(end - np.maximum(start, before), 0).sum())


def warn_of_types(
    stored: dict[tuple[str, str], tuple[int, int]],
    recomputed: dict[tuple[str, str], tuple[int, int]],
    warnings: Warnings,
) -> None:
    """Warns where executions or time of an operator type on a core are not those of its kernels."""
    differing = [
        key for key, (count, total) in stored.items() if not _agree((count, total), recomputed.get(key, (0, 0)))
    ]
    named = ", ".join(" on ".join(key) for key in differing[:3])
    warnings.add("mismatch", f"op_statistic.csv differs from the kernels; these are used: {named}", len(differing))


def _agree(stored: tuple[int, int], recomputed: tuple[int, int]) -> bool:
    slack = _SLACK_NS + _SLACK_SHARE * abs(stored[1])
    return stored[0] == recomputed[0] and abs(stored[1] - recomputed[1]) <= slack


def warn_of_mismatches(stored: list[StoredStep], recomputed: dict[str, dict[str, int]], warnings: Warnings) -> None:
    """Warns where a stored time of a step differs from the recomputed one."""
    for row in stored:
        for part, recorded in recomputed.get(row.step, {}).items():
            value = row.times.get(part, NULL)
            if value == NULL or abs(value - recorded) <= _SLACK_NS + _SLACK_SHARE * abs(value):
                continue
            what = part.replace("_", " ")
            warnings.add(
                "mismatch",
                f"step {row.step}: the recording says {what} {value / 1000:.3f} us, its slices give"
                f" {recorded / 1000:.3f} us; the latter is used",
            )
