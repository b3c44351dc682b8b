"""The data pipeline: how long training waits for data, how full the queues are, which operator holds it up.

Definitions: docs/definitions.md, "Data pipeline".
"""

from __future__ import annotations

from dataclasses import dataclass

from laptime.analyses.budget import StepSpans
from laptime.analyses.data_waits import is_watched, loader_waits, recorded_waits
from laptime.analyses.pipeline_remedies import advice
from laptime.analyses.pipeline_stages import StageTimes, stage_times
from laptime.model.quantities import share_text, time_text
from laptime.model.trace import Trace

HIGH, LOW = 0.8, 0.2
"""A queue is full from HIGH on and near empty below LOW, as shares of its capacity."""
_DROP = 0.3
"""An operator whose input queue is fuller than its output queue by this share of the capacity is slower than that."""
_WAITS = 0.1
"""Share of the steps from which waiting for data is worth a word on the slowest stage."""
_EMPTY = 0.3
"""Share of batches that find the host queue empty from which data processing is the slow stage."""

Row = dict[str, object]


@dataclass(frozen=True)
class _Op:
    op_id: int
    op_type: str
    name: str
    parent: int | None
    usage: float | None


def pipeline(trace: Trace) -> dict[str, object]:
    """`laptime pipeline` as the JSON contract names it."""
    queues = _queues(trace)
    table = trace.table("pipeline_ops").arrow().to_pylist()
    watched = _loader_waits(trace, queues) if is_watched(trace) else None
    bound = watched or _recorded_waits(trace, queues) or _loader_waits(trace, queues)
    times = stage_times(trace, {str(row["op_type"]) for row in table})
    start_ups = trace.meta.get("start_ups")
    return {
        "schema_version": 1,
        "rank": trace.rank,
        "source": trace.source,
        "data_bound": bound,
        "start_up_ns": [last - first for first, last in start_ups] if isinstance(start_ups, list) else None,
        "queues": queues,
        "operators": [_operator(row, times) for row in table],
        "bottleneck": _bottleneck(trace, table, bound, times),
        "stage_verdict": _stage_verdict(queues),
    }


def _operator(row: Row, times: StageTimes) -> Row:
    queue = {
        "capacity": row["queue_capacity"],
        "mean_size": row["queue_mean_size"],
        "usage_share": row["queue_usage_share"],
        "empty_share": row["queue_empty_share"],
        "samples": row["queue_samples"],
    }
    known = {key: row[key] for key in ("op_id", "op_type", "name", "workers", "parent_id")}
    count, total = times.get(str(row["op_type"]), (None, None))
    output = None if row["queue_capacity"] is None else queue
    return {**known, "count": count, "total_ns": total, "output_queue": output}


# ---- queues between the stages ----


def _queues(trace: Trace) -> list[Row]:
    """Queues that were looked at once per batch; those between operators belong to the operators."""
    rows = trace.table("queue_samples").arrow().to_pylist()
    found = []
    for name, stage in dict.fromkeys((row["queue"], row["stage"]) for row in rows if row["stage"] != "pipeline"):
        sizes = [row["size"] for row in rows if row["queue"] == name]
        capacities = [row["capacity"] for row in rows if row["queue"] == name and row["capacity"] is not None]
        capacity = max(capacities, default=None)
        mean = sum(sizes) / len(sizes)
        found.append(
            {
                "queue": name,
                "stage": stage,
                "samples": len(sizes),
                "capacity": capacity,
                "mean_size": mean,
                "usage_share": mean / capacity if capacity else None,
                "empty_count": sizes.count(0),
                "full_count": sizes.count(capacity) if capacity else None,
            }
        )
    return found


def _stage_verdict(queues: list[Row]) -> Row | None:
    """Which stage is too slow: processing if batches find the host queue empty, else sending if the chip's queue is."""
    host, device = (next((q for q in queues if q["queue"] == name), None) for name in ("host", "device"))
    if host is None and device is None:
        return None
    evidence = [
        {"name": f"{queue['queue']} queue empty", "value": _share(queue), "unit": "share of batches"}
        for queue in (host, device)
        if queue is not None
    ]
    if host is not None and _share(host) > _EMPTY:
        reason = "batches find the host queue empty: data processing is slower than training"
        return {"stage": "process", "reason": reason, "evidence": evidence}
    if device is not None and _share(device) > 0 and host is not None:
        reason = "the host queue has data while the device queue runs empty: sending is slow"
        return {"stage": "send", "reason": reason, "evidence": evidence}
    return {"stage": "none", "reason": "batches find data in the queues", "evidence": evidence}


def _share(queue: Row) -> float:
    return int(str(queue["empty_count"])) / int(str(queue["samples"]))


# ---- waiting for data ----


def _recorded_waits(trace: Trace, queues: list[Row]) -> Row | None:
    """Waits that the dataset engine measured itself; the first batch, for which workers start, is not part of them."""
    recorded = recorded_waits(trace)
    if recorded is None:
        return None
    waits = recorded.wait_ns
    name = "device" if recorded.fetched else "host"
    queue = next((queue for queue in queues if queue["queue"] == name), None)
    later = waits[1:] or waits
    total = _steps_ns(trace)
    return {
        "waits": queue["empty_count"] if queue else None,
        "batches": len(waits),
        "wait_ns": sum(later),
        "share_of_step": min(sum(later) / total, 1.0) if total else None,
        "mean_wait_ns": (2 * sum(later) + len(later)) // (2 * len(later)),
        "first_wait_ns": waits[0],
    }


def _loader_waits(trace: Trace, queues: list[Row]) -> Row | None:
    """Waits of the main thread inside steps."""
    found = loader_waits(trace)
    if found is None:
        return None
    host = [int(str(queue["empty_count"])) for queue in queues if queue["stage"] == "process"]
    total, waited = _steps_ns(trace), sum(found.wait_ns)
    return {
        "waits": sum(host) if host else None,
        "batches": found.batches,
        "wait_ns": waited,
        "share_of_step": waited / total if total else None,
        "mean_wait_ns": (2 * waited + found.batches) // (2 * found.batches) if found.batches else None,
        "first_wait_ns": None,
    }


def _steps_ns(trace: Trace) -> int:
    spans = StepSpans.of(trace)
    return int((spans.end - spans.start).sum())


# ---- the slowest operator ----


def _bottleneck(trace: Trace, table: list[Row], bound: Row | None, times: StageTimes) -> Row | None:
    ops = [
        _Op(
            int(str(r["op_id"])),
            str(r["op_type"]),
            str(r["name"]),
            _int(r["parent_id"]),
            _float(r["queue_usage_share"]),
        )
        for r in table
    ]
    found = _suspect(ops) if not times else _longest(ops, times, bound)
    if found is None:
        return None
    op, reason = found
    if bound is not None and isinstance(bound["waits"], int) and bound["waits"] * 20 < int(str(bound["batches"])):
        reason += f"; but only {bound['waits']} of {bound['batches']} batches found no data: {_but(bound)}"
    text = advice(str(trace.meta.get("framework")), op.op_type)
    return {"op_id": op.op_id, "op_type": op.op_type, "name": op.name, "reason": reason, "advice": text}


def _but(bound: Row) -> str:
    share = _float(bound["share_of_step"])
    if share is None or share < _WAITS:
        return "training hardly waits for it"
    return "training waits although they are ready, for their way out of the queue"


def _longest(ops: list[_Op], times: StageTimes, bound: Row | None) -> tuple[_Op, str] | None:
    """Where the stages' times are known: the longest one, where training waits or the last queue is near empty."""
    last = next((op for op in ops if op.usage is not None), None)
    share = None if bound is None else _float(bound["share_of_step"])
    starved = last is not None and last.usage is not None and last.usage < LOW
    if not starved and (share is None or share < _WAITS):
        return None
    op = max((op for op in ops if op.op_type in times), key=lambda op: times[op.op_type][1], default=None)
    if op is None or not times[op.op_type][1]:
        return None
    count, total = times[op.op_type]
    whole = sum(time for _, time in times.values())
    part = share_text(total, whole)
    return op, f"{op.op_type} takes {time_text(total // count)} of each batch, {part} of the loader's work"


def _suspect(ops: list[_Op]) -> tuple[_Op, str] | None:
    """The operator with full inputs and an empty output; else the steepest drop; else the readers or the root."""
    known = [op for op in ops if op.usage is not None]
    inner = []
    for op in known:
        inputs = [child.usage for child in _inputs(op, ops) if child.usage is not None]
        if inputs and op.usage is not None:
            inner.append((min(inputs) - op.usage, min(inputs), op))
    for _, least, op in inner:
        if least >= HIGH and op.usage is not None and op.usage < LOW:
            return op, _full(least, op.usage)
    drop, least, slow = max(inner, key=lambda each: each[0], default=(0.0, 0.0, None))
    if slow is not None and drop >= _DROP:
        return slow, _full(least, slow.usage)
    if known and all(op.usage is not None and op.usage < LOW for op in known):
        leaf = next((op for op in known if not _inputs(op, ops)), None)
        return (leaf, "all queues are near empty: reading the data is too slow") if leaf else None
    if known and all(op.usage is not None and op.usage >= HIGH for op in known):
        root = next((op for op in ops if op.parent is None), None)
        return (root, "all queues are full: what follows the pipeline is slower") if root else None
    return None


def _full(least: float, usage: float | None) -> str:
    return f"its input is {share_text(least, 1)} full while its output queue is {share_text(usage, 1)} full"


def _inputs(op: _Op, ops: list[_Op]) -> list[_Op]:
    """Operators that feed one; those without a queue pass on what feeds them."""
    found = []
    for child in (each for each in ops if each.parent == op.op_id):
        found += [child] if child.usage is not None else _inputs(child, ops)
    return found


def _int(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _float(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None
