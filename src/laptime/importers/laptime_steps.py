"""What a framework's own recording tells of steps: all of them, or points inside those that were marked."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

from laptime.model.builder import GivenStep


def follow(known: Sequence[GivenStep], found: Sequence[GivenStep], *, shift_ns: int, window: int) -> list[GivenStep]:
    """Steps of a further window after those known; their numbers go on."""
    last = known[-1].step if known else 0
    least = min((step.step for step in found), default=1)
    return [*known, *(_moved(step, shift_ns, last + 1 - least, window=window) for step in found)]


def with_points(marked: Sequence[GivenStep], found: Sequence[GivenStep]) -> list[GivenStep]:
    """The steps that were marked, with the passes of the found step that begins in each, where exactly one does."""
    points = sorted(
        (step.forward_start_ns, step.backward_end_ns)
        for step in found
        if step.forward_start_ns is not None and step.backward_end_ns is not None
    )
    starts = [start for start, _ in points]
    steps = []
    for step in marked:
        first, last = bisect_left(starts, step.start_ns), bisect_left(starts, step.end_ns)
        inside = points[first] if last - first == 1 else None
        if inside is None or inside[1] > step.end_ns or step.forward_start_ns is not None:
            steps.append(step)
        else:
            steps.append(replace(step, forward_start_ns=inside[0], backward_end_ns=inside[1]))
    return steps


def _moved(step: GivenStep, shift_ns: int, numbers: int, *, window: int) -> GivenStep:
    def time(value: int | None) -> int | None:
        return None if value is None else value + shift_ns

    return replace(
        step,
        step=step.step + numbers,
        start_ns=step.start_ns + shift_ns,
        end_ns=step.end_ns + shift_ns,
        window=window,
        forward_start_ns=time(step.forward_start_ns),
        backward_end_ns=time(step.backward_end_ns),
        optimizer_start_ns=time(step.optimizer_start_ns),
    )
