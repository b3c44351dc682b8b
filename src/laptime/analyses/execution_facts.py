"""What executions have in common: how long they take, in which steps, on which tensors, called from where.

Definitions: docs/definitions.md, "One operator".
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from laptime.analyses.call_sites import frames_of, sources_of, stack_holders
from laptime.analyses.device import caller_of, launch_of
from laptime.analyses.executions import Executions
from laptime.analyses.selection import Row
from laptime.analyses.tensors import Tensor, tensors_of
from laptime.model.arrays import IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import NULL

LONGEST, BINS = 20, 32


@dataclass(frozen=True)
class Histogram:
    """Executions by their time; bin i is [edges_ns[i], edges_ns[i + 1]), the last one with its end."""

    edges_ns: list[int]
    counts: list[int]


@dataclass(frozen=True)
class Variant:
    """Executions on tensors of the same formats, types and shapes."""

    inputs: list[Tensor]
    outputs: list[Tensor]
    count: int
    total_ns: int


def histogram(durations: IntArray) -> Histogram | None:
    """Executions by their time, in bins of equal ratio; None without executions."""
    if not len(durations):
        return None
    least, most = int(durations.min()), int(durations.max())
    inner = np.geomspace(max(least, 1), max(most, 2), BINS + 1)
    edges = np.unique(np.concatenate([[least], np.rint(inner[1:-1]), [most]]).astype(np.int64))
    edges = edges[(edges >= least) & (edges <= most)]
    if len(edges) == 1:
        edges = np.array([least, most + 1])
    counts, _ = np.histogram(durations, edges)
    return Histogram(edges.tolist(), counts.tolist())


def by_step(trace: Trace, executions: Executions) -> list[Row]:
    """Executions of each step; those of no step last."""
    steps = trace.slices["step"][executions.slice_id]
    numbers, group = np.unique(steps, return_inverse=True)
    group = group.reshape(-1)
    total = np.zeros(len(numbers), np.int64)
    np.add.at(total, group, np.where(executions.outermost, executions.total, 0))
    counts = np.bincount(group, minlength=len(numbers)).tolist()
    rows: list[Row] = [
        {"step": None if number == NULL else number, "count": count, "total_ns": spent}
        for number, count, spent in zip(numbers.tolist(), counts, total.tolist(), strict=True)
    ]
    return [row for row in rows if row["step"] is not None] + [row for row in rows if row["step"] is None]


def longest(trace: Trace, executions: Executions) -> list[Row]:
    """The longest executions, each by its slice."""
    order = np.lexsort((executions.slice_id, -executions.total))[:LONGEST]
    rows = executions.slice_id[order]
    names, codes = trace.slices.texts("name"), trace.slices["name"][rows].tolist()
    columns = zip(
        rows.tolist(),
        codes,
        trace.slices["step"][rows].tolist(),
        trace.slices["start_ns"][rows].tolist(),
        executions.total[order].tolist(),
        strict=True,
    )
    return [
        {
            "slice_id": row,
            "name": names[code],
            "step": None if step == NULL else step,
            "start_ns": start,
            "dur_ns": dur,
        }
        for row, code, step, start, dur in columns
    ]


# ---- what they took and gave, and where they were called ----


def variants(trace: Trace, executions: Executions) -> list[Variant]:
    """Inputs and outputs that are told of the executions, those with most time first."""
    operator = trace.slices["op_id"][_with_operator(trace, executions.slice_id)]
    numbers, group = np.unique(operator, return_inverse=True)
    spent = np.zeros(len(numbers), np.int64)
    np.add.at(spent, group.reshape(-1), executions.total)
    counts = np.bincount(group.reshape(-1), minlength=len(numbers)).tolist()
    merged: dict[str, Variant] = {}
    for number, count, total in zip(numbers.tolist(), counts, spent.tolist(), strict=True):
        tensors = {} if number == NULL else tensors_of(trace.ops.row(number))
        if tensors:
            known = merged.get(json.dumps(tensors), Variant([], [], 0, 0))
            inputs, outputs = (
                [one for name, one in tensors.items() if name.startswith(s)] for s in ("input", "output")
            )
            merged[json.dumps(tensors)] = Variant(inputs, outputs, known.count + count, known.total_ns + total)
    return sorted(merged.values(), key=lambda variant: -variant.total_ns)


def _with_operator(trace: Trace, rows: IntArray) -> IntArray:
    """The slices that tell the operator: the rows themselves, else the call that launched them or what it lies in."""
    operator, parent = trace.slices["op_id"], trace.slices["parent_id"]
    current = rows.copy()
    lost = np.flatnonzero(operator[current] == NULL)
    launch = launch_of(trace, current[lost])
    current[lost] = np.where(launch >= 0, launch, current[lost])
    while len(lost := lost[(operator[current[lost]] == NULL) & (parent[current[lost]] != NULL)]):
        current[lost] = parent[current[lost]]
    return current


def called_from(trace: Trace, executions: Executions) -> tuple[str | None, list[Row]]:
    """User's line and call stack of most of the time; what has none has that of what it lies in, or launched it."""
    rows = executions.slice_id
    launch = launch_of(trace, rows)
    holders = stack_holders(trace, rows)
    called = stack_holders(trace, caller_of(trace, np.where(launch >= 0, launch, rows)))
    holders = np.where(holders >= 0, holders, called)
    known = holders >= 0
    if not known.any():
        return None, []
    stacks, group = np.unique(trace.slices["stack_id"][holders[known]], return_inverse=True)
    spent = np.zeros(len(stacks), np.int64)
    np.add.at(spent, group.reshape(-1), executions.total[known])
    most = int(np.argmax(spent))
    holder = holders[known][group.reshape(-1) == most][:1]
    return sources_of(trace, holder)[0], frames_of(trace, int(stacks[most]))
