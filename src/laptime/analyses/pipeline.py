"""The data pipeline: how long training waits for data, how full the queues are, which operator holds it up.

Definitions: docs/definitions.md, "Data pipeline".
"""

from __future__ import annotations

import numpy as np

from laptime.analyses.budget import StepSpans
from laptime.analyses.data_waits import is_watched, loader_waits, recorded_waits
from laptime.analyses.parts import WHOLE, Part
from laptime.analyses.pipeline_bottleneck import bottleneck
from laptime.analyses.pipeline_stages import StageTimes, stage_times
from laptime.analyses.queue_samples import SampledQueue, sampled_queues
from laptime.analyses.ranges import as_json, chosen_steps, must_hold, times_in
from laptime.model.trace import Trace
from laptime.model.vocabulary import BETWEEN_OPERATORS

_EMPTY = 0.3
"""Share of batches that find the host queue empty from which data processing is the slow stage."""
_FIGURES = ("mean_size", "usage_share", "empty_share", "samples")

Row = dict[str, object]


def pipeline(trace: Trace, part: Part = WHOLE) -> Row:
    """`laptime pipeline` as the JSON contract names it. Raises LaptimeError for a part that there is not."""
    must_hold(trace, part)
    sampled = sampled_queues(trace, part)
    between_stages = [queue for queue in sampled if queue.stage != BETWEEN_OPERATORS]
    table = trace.table("pipeline_ops").arrow().to_pylist()
    bound = _data_bound(trace, between_stages, part)
    times = stage_times(trace, {str(row["op_type"]) for row in table}, part)
    queues = None if part.is_whole else {queue.name: queue for queue in sampled}
    operators = [_operator(row, times, _output_queue(row, queues)) for row in table]
    return {
        "schema_version": 1,
        "rank": trace.rank,
        "source": trace.source,
        "range": as_json(part, trace),
        "data_bound": bound,
        "start_up_ns": _start_ups(trace, part),
        "queues": [_queue(queue) for queue in between_stages],
        "operators": operators,
        "bottleneck": bottleneck(str(trace.meta.get("framework")), operators, bound, times),
        "stage_verdict": _stage_verdict(between_stages),
    }


def _operator(row: Row, times: StageTimes, output_queue: Row | None) -> Row:
    known = {key: row[key] for key in ("op_id", "op_type", "name", "workers", "parent_id")}
    count, total = times.get(str(row["op_type"]), (None, None))
    return {**known, "count": count, "total_ns": total, "output_queue": output_queue}


def _output_queue(row: Row, queues: dict[str, SampledQueue] | None) -> Row | None:
    """The queue behind an operator: as the source sums it up, of a part (`queues`) by its samples there."""
    if row["queue_capacity"] is None:
        return None
    if queues is None:
        figures = {name: row[f"queue_{name}"] for name in _FIGURES}
    else:
        own = queues.get(str(row["queue"]))
        figures = {name: None if own is None else getattr(own, name) for name in _FIGURES}
    return {"capacity": row["queue_capacity"], **figures}


def _start_ups(trace: Trace, part: Part) -> list[int] | None:
    """How long each fresh iterator that begins in the part took for its first batch."""
    told = trace.meta.get("start_ups")
    if not isinstance(told, list):
        return None
    if part.is_whole or not told:
        return [last - first for first, last in told]
    spans = np.array(told, np.int64)
    begun = times_in(trace, spans[:, 0], part)
    return list((spans[begun, 1] - spans[begun, 0]).tolist())


# ---- queues between the stages ----


def _queue(queue: SampledQueue) -> Row:
    """A queue that was looked at once per batch; those between operators belong to the operators."""
    return {
        "queue": queue.name,
        "stage": queue.stage,
        "samples": queue.samples,
        "capacity": queue.capacity,
        "mean_size": queue.mean_size,
        "usage_share": queue.usage_share,
        "empty_count": queue.empty_count,
        "full_count": queue.full_count,
    }


def _stage_verdict(queues: list[SampledQueue]) -> Row | None:
    """Which stage is too slow: processing if batches find the host queue empty, else sending if the chip's queue is.

    None where the queue that would tell was not looked at.
    """
    host, device = (next((each for each in queues if each.name == name), None) for name in ("host", "device"))
    evidence = [
        {"name": f"{queue.name} queue empty", "value": queue.empty_share, "unit": "share of batches"}
        for queue in (host, device)
        if queue is not None and queue.empty_share is not None
    ]
    if not evidence or (host is not None and host.empty_share is None):
        return None
    if host is not None and host.empty_share is not None and host.empty_share > _EMPTY:
        reason = "batches find the host queue empty: data processing is slower than training"
        return {"stage": "process", "reason": reason, "evidence": evidence}
    if device is not None and device.empty_share is None:
        return None
    if device is not None and device.empty_count and host is not None:
        reason = "the host queue has data while the device queue runs empty: sending is slow"
        return {"stage": "send", "reason": reason, "evidence": evidence}
    return {"stage": "none", "reason": "batches find data in the queues", "evidence": evidence}


# ---- waiting for data ----


def _data_bound(trace: Trace, queues: list[SampledQueue], part: Part) -> Row | None:
    watched = _loader_waits(trace, queues, part) if is_watched(trace) else None
    return watched or _recorded_waits(trace, queues, part) or _loader_waits(trace, queues, part)


def _recorded_waits(trace: Trace, queues: list[SampledQueue], part: Part) -> Row | None:
    """Waits that the dataset engine measured itself; the first batch, for which workers start, is not part of them."""
    recorded = recorded_waits(trace, part)
    if recorded is None:
        return None
    name = "device" if recorded.fetched else "host"
    queue = next((queue for queue in queues if queue.name == name), None)
    waited, total = sum(recorded.later_ns), _steps_ns(trace, part)
    return {
        "waits": None if queue is None else queue.empty_count,
        "batches": len(recorded.wait_ns),
        "wait_ns": waited,
        "share_of_step": min(waited / total, 1.0) if total else None,
        "mean_wait_ns": _mean(waited, len(recorded.later_ns)),
        "first_wait_ns": recorded.first_ns,
    }


def _loader_waits(trace: Trace, queues: list[SampledQueue], part: Part) -> Row | None:
    """Waits of the main thread inside steps."""
    found = loader_waits(trace, part)
    if found is None:
        return None
    empty = [queue.empty_count for queue in queues if queue.stage == "process"]
    known = [count for count in empty if count is not None]
    total, waited = _steps_ns(trace, part), sum(found.wait_ns)
    return {
        "waits": sum(known) if known and len(known) == len(empty) else None,
        "batches": found.batches,
        "wait_ns": waited,
        "share_of_step": waited / total if total else None,
        "mean_wait_ns": _mean(waited, found.batches),
        "first_wait_ns": None,
    }


def _mean(total: int, count: int) -> int | None:
    return (2 * total + count) // (2 * count) if count else None


def _steps_ns(trace: Trace, part: Part) -> int:
    spans, chosen = StepSpans.of(trace), chosen_steps(trace, part)
    return int((spans.end[chosen] - spans.start[chosen]).sum())
