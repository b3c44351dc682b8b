"""The size of a data queue over time, and how long training waited for data in each step.

Definitions: docs/definitions.md, "Data pipeline".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from laptime.analyses.data_waits import is_watched, loader_waits, recorded_waits
from laptime.analyses.thinning import thinned
from laptime.errors import NotThere
from laptime.model.trace import Trace

Row = dict[str, object]
_OF_OPERATORS = "pipeline"
"""Stage of the queues between operators, which were looked at in intervals of time."""


@dataclass(frozen=True)
class QueueCurve:
    """Samples in the order of the source; each has a step or a time, where the source tells it."""

    queue: str | None
    stage: str | None
    capacity: int | None
    queues: list[str]
    sample_count: int
    """Samples before thinning."""
    samples: list[Row]
    waits: list[Row]


def queue_curve(trace: Trace, queue: str | None = None, *, points: int = 5000) -> QueueCurve:
    """One queue, by default the first between stages. Raises NotThere for a queue that there is not."""
    table = trace.table("queue_samples").arrow()
    stages = dict(zip(table["queue"].to_pylist(), table["stage"].to_pylist(), strict=True))
    if queue is not None and queue not in stages:
        known = ", ".join(stages) or "none was recorded"
        raise NotThere(f"no queue {queue[:80]}", where=trace.source, remedy=f"queues here: {known}")
    between_stages = sorted(stages, key=lambda name: stages[name] == _OF_OPERATORS)
    chosen = queue if queue is not None else next(iter(between_stages), None)
    own = table.filter(pc.equal(table["queue"], chosen)) if chosen is not None else table
    kept = thinned(np.arange(len(own)), own["size"].to_numpy(), points)
    return QueueCurve(
        queue=chosen,
        stage=None if chosen is None else stages[chosen],
        capacity=pc.max(own["capacity"]).as_py(),
        queues=list(stages),
        sample_count=len(own),
        samples=own.select(["step", "ts_ns", "size"]).take(kept).to_pylist(),
        waits=_waits(trace, points),
    )


def _waits(trace: Trace, points: int) -> list[Row]:
    """Waits for data by step; those that the dataset engine measured by batch, with what else it measured of that."""
    in_steps = loader_waits(trace) if is_watched(trace) else None
    recorded = None if in_steps else recorded_waits(trace)
    if recorded is not None:
        steps, waits = list(range(1, len(recorded.wait_ns) + 1)), recorded.wait_ns
        pushes, totals = _as_long(recorded.push_ns, waits), _as_long(recorded.total_ns, waits)
    else:
        in_steps = in_steps or loader_waits(trace)
        steps, waits = (trace.steps["step"].tolist(), in_steps.wait_ns) if in_steps else ([], [])
        pushes = totals = [None] * len(waits)
    rows = list(zip(steps, waits, pushes, totals, strict=True))
    kept = thinned(np.arange(len(rows)), np.array(waits, np.int64), points).tolist()
    return [dict(zip(("step", "wait_ns", "push_ns", "total_ns"), rows[place], strict=True)) for place in kept]


def _as_long(values: Sequence[int], others: Sequence[int]) -> list[int | None]:
    """One value for each of the others; unknown where there are fewer."""
    missing = len(others) - len(values)
    return [*values[: len(others)], *[None] * missing]
