"""The data pipeline: how long training waits for data, how full the queues are, which operator holds it up.

Definitions: docs/definitions.md, "Data pipeline".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.analyses.budget import StepSpans
from laptime.analyses.intervals import union
from laptime.model.arrays import BoolArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import KIND_CODE, NULL

HIGH, LOW = 0.8, 0.2
"""A queue is full from HIGH on and near empty below LOW, as shares of its capacity."""
_DROP = 0.3
"""An operator whose input queue is fuller than its output queue by this share of the capacity is slower than that."""
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
    watched = _loader_waits(trace) if trace.meta.get("format") == "laptime" else None  # every batch of every window
    bound = watched or _recorded_waits(trace, queues) or _loader_waits(trace)
    return {
        "schema_version": 1,
        "rank": trace.rank,
        "source": trace.source,
        "data_bound": bound,
        "queues": queues,
        "operators": [_operator(row) for row in table],
        "bottleneck": _bottleneck(table, bound),
        "stage_verdict": _stage_verdict(queues),
    }


def _operator(row: Row) -> Row:
    queue = {
        "capacity": row["queue_capacity"],
        "mean_size": row["queue_mean_size"],
        "usage_share": row["queue_usage_share"],
        "empty_share": row["queue_empty_share"],
        "samples": row["queue_samples"],
    }
    known = {key: row[key] for key in ("op_id", "op_type", "name", "workers", "parent_id")}
    return {**known, "output_queue": None if row["queue_capacity"] is None else queue}


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
    facts = trace.meta.get("minddata")
    if not isinstance(facts, dict):
        return None
    fetched = facts.get("fetch_wait_ns")
    batches = facts.get("batches")
    waits = fetched if fetched else batches["wait_ns"] if isinstance(batches, dict) else None
    if not waits:
        return None
    name = "device" if fetched else "host"
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


def _loader_waits(trace: Trace) -> Row | None:
    """Data slices of the main thread inside steps; how full a queue was, PyTorch does not tell."""
    thread = trace.main_thread
    spans = StepSpans.of(trace)
    if thread is None or not len(spans.start):
        return None
    on_thread = trace.slices["track_id"] == thread
    data = on_thread & (trace.slices["kind"] == KIND_CODE["data"]) & (trace.slices["dur_ns"] != NULL)
    if not data.any():
        return None
    waits = union(trace.slices["start_ns"][data], trace.end_ns[data])
    inside = waits.within(spans.start, spans.end)
    start = trace.slices["start_ns"][data & ~_inside(trace, data)]
    batches = int(np.count_nonzero((start >= spans.start.min()) & (start < spans.end.max())))
    total = _steps_ns(trace)
    return {
        "waits": None,
        "batches": batches,
        "wait_ns": int(inside.sum()),
        "share_of_step": int(inside.sum()) / total if total else None,
        "mean_wait_ns": (2 * int(inside.sum()) + batches) // (2 * batches) if batches else None,
        "first_wait_ns": None,
    }


def _inside(trace: Trace, chosen: BoolArray) -> BoolArray:
    """Whether the slice around each slice is one of the chosen: stages of a loader lie in the wait for its batch."""
    parent = trace.slices["parent_id"]
    return np.asarray((parent != NULL) & chosen[np.where(parent == NULL, 0, parent)])


def _steps_ns(trace: Trace) -> int:
    spans = StepSpans.of(trace)
    return int((spans.end - spans.start).sum())


# ---- the slowest operator ----


def _bottleneck(table: list[Row], bound: Row | None) -> Row | None:
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
    found = _suspect(ops)
    if found is None:
        return None
    op, reason = found
    if bound is not None and isinstance(bound["waits"], int) and bound["waits"] * 20 < int(str(bound["batches"])):
        reason += (
            f"; but only {bound['waits']} of {bound['batches']} batches found no data: training hardly waits for it"
        )
    return {"op_id": op.op_id, "op_type": op.op_type, "name": op.name, "reason": reason, "advice": _advice(op.op_type)}


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
            return op, f"its input is {least:.0%} full while its output queue is {op.usage:.0%} full"
    drop, least, slow = max(inner, key=lambda each: each[0], default=(0.0, 0.0, None))
    if slow is not None and drop >= _DROP:
        return slow, f"its input is {least:.0%} full while its output queue is {slow.usage:.0%} full"
    if known and all(op.usage is not None and op.usage < LOW for op in known):
        leaf = next((op for op in known if not _inputs(op, ops)), None)
        return (leaf, "all queues are near empty: reading the data is too slow") if leaf else None
    if known and all(op.usage is not None and op.usage >= HIGH for op in known):
        root = next((op for op in ops if op.parent is None), None)
        return (root, "all queues are full: what follows the pipeline is slower") if root else None
    return None


def _inputs(op: _Op, ops: list[_Op]) -> list[_Op]:
    """Operators that feed one; those without a queue pass on what feeds them."""
    found = []
    for child in (each for each in ops if each.parent == op.op_id):
        found += [child] if child.usage is not None else _inputs(child, ops)
    return found


_ADVICE = {
    "map": "raise num_parallel_workers of map, use C++ transforms for Python ones, or python_multiprocessing=True",
    "batch": "raise prefetch_size (ds.config.set_prefetch_size) and num_parallel_workers of batch",
    "generator": "raise num_parallel_workers of GeneratorDataset, make the source faster, or convert it to MindRecord",
    "dataloader": "raise num_workers of the DataLoader, or make the longest of fetch, transform and collate faster",
    "iterator": "prepare batches in more threads or processes, or make what prepares them faster",
    "shuffle": "lower buffer_size of shuffle, or shuffle when reading (shuffle=True of the dataset)",
}


def _advice(op_type: str) -> str:
    kind = op_type.lower()
    return next(
        (text for name, text in _ADVICE.items() if kind.startswith(name)),
        "raise num_parallel_workers of the dataset, read from faster storage, or convert the data to MindRecord",
    )


def _int(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _float(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None
