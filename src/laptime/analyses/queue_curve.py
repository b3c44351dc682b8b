"""The size of a data queue over time, and how long training waited for data in each step.

Definitions: docs/definitions.md, "Data pipeline".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.analyses.data_waits import is_watched, loader_waits, recorded_waits
from laptime.analyses.parts import WHOLE, Part
from laptime.analyses.queue_samples import SampledQueue, sampled_queues
from laptime.analyses.ranges import as_json, must_hold
from laptime.analyses.thinning import thinned
from laptime.errors import NotThere
from laptime.model.trace import Trace
from laptime.model.vocabulary import BETWEEN_OPERATORS

Row = dict[str, object]


@dataclass(frozen=True)
class QueueCurve:
    """Samples in the order of the source; each has a step or a time, where the source tells it."""

    range: Row | None
    queue: str | None
    stage: str | None
    capacity: int | None
    queues: list[str]
    sample_count: int | None
    """Samples before thinning; None where the source does not tell which belong to the part."""
    samples: list[Row]
    waits: list[Row]


def queue_curve(trace: Trace, queue: str | None = None, *, part: Part = WHOLE, points: int = 5000) -> QueueCurve:
    """One queue, by default the first between stages. Raises NotThere for a queue or part that there is not."""
    must_hold(trace, part)
    queues = {each.name: each for each in sampled_queues(trace, part)}
    if queue is not None and queue not in queues:
        known = ", ".join(queues) or "none was recorded"
        raise NotThere(f"no queue {queue[:80]}", where=trace.source, remedy=f"queues here: {known}")
    between_stages = sorted(queues, key=lambda name: queues[name].stage == BETWEEN_OPERATORS)
    chosen = queue if queue is not None else next(iter(between_stages), None)
    own = None if chosen is None else queues[chosen]
    return QueueCurve(
        range=as_json(part, trace),
        queue=chosen,
        stage=None if own is None else own.stage,
        capacity=None if own is None else own.capacity,
        queues=list(queues),
        sample_count=0 if own is None else own.samples,
        samples=[] if own is None else _samples(trace, own, points),
        waits=_waits(trace, part, points),
    )


def _samples(trace: Trace, queue: SampledQueue, points: int) -> list[Row]:
    """Samples of a queue, thinned; none where it is not known which belong to the part."""
    if queue.rows is None or queue.sizes is None:
        return []
    kept = queue.rows[thinned(np.arange(len(queue.rows)), queue.sizes, points)]
    table = trace.table("queue_samples").arrow(["step", "ts_ns", "size"])
    return list(table.take(kept).to_pylist())


def _waits(trace: Trace, part: Part, points: int) -> list[Row]:
    """Waits for data by step; those that the dataset engine measured by batch, with what else it measured of that."""
    in_steps = loader_waits(trace, part) if is_watched(trace) else None
    recorded = None if in_steps else recorded_waits(trace, part)
    if recorded is not None:
        rows = list(zip(recorded.step, recorded.wait_ns, recorded.push_ns, recorded.total_ns, strict=True))
    else:
        in_steps = in_steps or loader_waits(trace, part)
        waits = zip(in_steps.step, in_steps.wait_ns, strict=True) if in_steps else ()
        rows = [(step, wait, None, None) for step, wait in waits]
    kept = thinned(np.arange(len(rows)), np.array([wait for _, wait, *_ in rows], np.int64), points).tolist()
    return [dict(zip(("step", "wait_ns", "push_ns", "total_ns"), rows[place], strict=True)) for place in kept]
