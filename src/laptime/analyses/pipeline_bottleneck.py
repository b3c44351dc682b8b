"""Which operator of a data pipeline holds it up: by the times of the stages, else by the queues between them.

Definitions: docs/definitions.md, "Data pipeline".
"""

from __future__ import annotations

from dataclasses import dataclass

from laptime.analyses.pipeline_remedies import advice
from laptime.analyses.pipeline_stages import StageTimes
from laptime.model.quantities import share_text, time_text

HIGH, LOW = 0.8, 0.2
"""A queue is full from HIGH on and near empty below LOW, as shares of its capacity."""
_DROP = 0.3
"""An operator whose input queue is fuller than its output queue by this share of the capacity is slower than that."""
_WAITS = 0.1
"""Share of the steps from which waiting for data is worth a word on the slowest stage."""

Row = dict[str, object]


@dataclass(frozen=True)
class _Op:
    op_id: int
    op_type: str
    name: str
    parent: int | None
    usage: float | None


def bottleneck(framework: str, operators: list[Row], bound: Row | None, times: StageTimes) -> Row | None:
    """The slowest operator, why, and what to try; None where none stands out, or too little is known."""
    ops = [_op(row) for row in operators]
    found = _suspect(ops) if not times else _longest(ops, times, bound)
    if found is None:
        return None
    op, reason = found
    if bound is not None and isinstance(bound["waits"], int) and bound["waits"] * 20 < int(str(bound["batches"])):
        reason += f"; but only {bound['waits']} of {bound['batches']} batches found no data: {_but(bound)}"
    text = advice(framework, op.op_type)
    return {"op_id": op.op_id, "op_type": op.op_type, "name": op.name, "reason": reason, "advice": text}


def _op(row: Row) -> _Op:
    queue = row["output_queue"]
    usage = _float(queue["usage_share"]) if isinstance(queue, dict) else None
    return _Op(int(str(row["op_id"])), str(row["op_type"]), str(row["name"]), _int(row["parent_id"]), usage)


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
