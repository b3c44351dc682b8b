"""Which samples of data queues belong to a part of a recording, and what they say of each queue.

Definitions: docs/definitions.md, "Data pipeline".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from laptime.analyses.parts import WHOLE, Part
from laptime.analyses.ranges import chosen_steps, times_in
from laptime.model.arrays import BoolArray, IntArray
from laptime.model.trace import Table, Trace
from laptime.model.vocabulary import BETWEEN_OPERATORS, NULL


@dataclass(frozen=True)
class SampledQueue:
    """A queue with its samples in a part; `capacity` is that of the whole recording."""

    name: str
    stage: str
    capacity: int | None
    rows: IntArray | None
    """Rows of its samples; None where the source does not tell which of them belong to the part."""
    sizes: IntArray | None

    @property
    def samples(self) -> int | None:
        """Number of samples."""
        return None if self.sizes is None else len(self.sizes)

    @cached_property
    def mean_size(self) -> float | None:
        """Entries on average; None where no sample counts."""
        return None if self.sizes is None or not len(self.sizes) else int(self.sizes.sum()) / len(self.sizes)

    @property
    def usage_share(self) -> float | None:
        """Mean size over capacity."""
        return self.mean_size / self.capacity if self.mean_size is not None and self.capacity else None

    @property
    def empty_count(self) -> int | None:
        """Samples that found it empty."""
        return self._count_of(0)

    @property
    def full_count(self) -> int | None:
        """Samples that found it full."""
        return self._count_of(self.capacity) if self.capacity else None

    @property
    def empty_share(self) -> float | None:
        """Share of the samples that found it empty."""
        return self.empty_count / self.samples if self.empty_count is not None and self.samples else None

    def _count_of(self, size: int) -> int | None:
        return None if self.sizes is None else int(np.count_nonzero(self.sizes == size))


def sampled_queues(trace: Trace, part: Part = WHOLE) -> list[SampledQueue]:
    """The queues of a recording in the order of the source, each with its samples in the part."""
    table = trace.table("queue_samples")
    if not table.row_count:
        return []
    table.load("queue", "stage", "step", "ts_ns", "size", "capacity")
    inside, placed = _belonging(trace, table, part)
    names = dict(zip(table.objects("queue"), table.objects("stage"), strict=True))
    return [
        _queue(table, np.flatnonzero(table["queue"] == name), str(stage), inside=inside, placed=placed)
        for name, stage in names.items()
    ]


def _queue(table: Table, own: IntArray, stage: str, *, inside: BoolArray, placed: BoolArray) -> SampledQueue:
    capacities = table["capacity"][own]
    capacities = capacities[capacities != NULL]
    rows = own[inside[own]] if placed[own].all() else None
    return SampledQueue(
        name=str(table["queue"][own[0]]),
        stage=stage,
        capacity=int(capacities.max()) if len(capacities) else None,
        rows=rows,
        sizes=None if rows is None else table["size"][rows],
    )


def _belonging(trace: Trace, table: Table, part: Part) -> tuple[BoolArray, BoolArray]:
    """Whether each sample belongs to the part, and whether the source tells: by its step, else by its time."""
    if part.is_whole:
        every = np.ones(table.row_count, bool)
        return every, every
    numbers = trace.steps["step"]
    of_step = (table["step"] != NULL) & bool(len(numbers))
    in_step = np.isin(table["step"], numbers[chosen_steps(trace, part)])
    timed = (table["ts_ns"] != NULL) & (table["stage"] != BETWEEN_OPERATORS) & _times_are_the_traces(trace)
    in_time = times_in(trace, table["ts_ns"], part)
    return np.where(of_step, in_step, timed & in_time), np.asarray(of_step | timed)


def _times_are_the_traces(trace: Trace) -> bool:
    """Whether times of samples are on the clock of the trace: where the source tells start-ups, they are."""
    return isinstance(trace.meta.get("start_ups"), list)
