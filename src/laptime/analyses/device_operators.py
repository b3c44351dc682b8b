"""Operators of the device as the MindInsight Profiler lists them: AI Core operators, their types, AI CPU executions.

Definitions: docs/definitions.md, "MindInsight's operator tables". Columns bear MindInsight's names: times of operators
are in ms, rounded to whole ns; `run_start` and `run_end` are in us, as the source tells them. `None` is unknown.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from laptime.analyses.device import device_rows
from laptime.analyses.executions import clipped_durations
from laptime.analyses.selection import Row
from laptime.analyses.tensors import tensors_of
from laptime.model.arrays import BoolArray, IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import KIND_CODE, NULL

_NS_OF_MS = 1_000_000
_AI_CPU = ("ai_cpu", "aicpu")
_NOT_AI_CORE = frozenset({*_AI_CPU, "host", "host_cpu", "cpu", "communication", "hccl"})


@dataclass(frozen=True)
class Timed:
    """An operator, as its row of the `ops` table, and its executions on the device."""

    op: Row
    count: int | None
    mean_ns: float | None


def ai_core_operators(trace: Trace) -> list[Row]:
    """One row for each operator that ran on the AI Cores (or a GPU), with the mean of its executions."""
    return [_detail(timed) for timed in timed_operators(trace)]


def _detail(timed: Timed) -> Row:
    op = timed.op
    return {
        "op_name": op["name"],
        "op_type": op["op_type"],
        "avg_execution_time": _ms(timed.mean_ns),
        "subgraph": op["subgraph"],
        "full_op_name": op["full_name"] or op["name"],
        "op_info": tensors_of(op) or None,
    }


def ai_core_types(trace: Trace) -> list[Row]:
    """One row for each type: the sum of its operators' means, their executions, its share of all such sums in %."""
    members: dict[str, list[Timed]] = defaultdict(list)
    for timed in timed_operators(trace):
        members[str(timed.op["op_type"] or timed.op["name"])].append(timed)
    rows = [(op_type, _sum(one.mean_ns for one in ops), _count(ops)) for op_type, ops in members.items()]
    rows = rows or _told_types(trace)
    everything = sum(spent or 0 for _, spent, _ in rows)
    return [
        {
            "op_type": op_type,
            "execution_time": _ms(spent),
            "execution_frequency": count,
            "percent": None if spent is None or not everything else round(100 * spent / everything, 2),
        }
        for op_type, spent, count in rows
    ]


def _told_types(trace: Trace) -> list[tuple[str, float | None, int | None]]:
    """Types as the source itself sums them up, where it holds nothing else; it does not tell their executions."""
    told = trace.meta.get("op_types")
    rows = [row for row in told if isinstance(row, dict)] if isinstance(told, list) else []
    return [
        (str(row["op_type"]), float(spent), None)
        for row in rows
        if isinstance(spent := row.get("sum_of_means_ns"), int)
    ]


def timed_operators(trace: Trace) -> list[Timed]:
    """Operators of the AI Cores with executions, or sums of them; each distinct operator once, in order of number."""
    ops = trace.ops.arrow().to_pylist()
    is_core = np.array([str(op["device_kind"] or "").casefold() not in _NOT_AI_CORE for op in ops] or [False], bool)
    op_id, spent = _executions(trace, is_core)
    counts, sums = np.bincount(op_id, minlength=len(ops)), np.zeros(len(is_core), np.int64)
    np.add.at(sums, op_id, spent)
    known = {op: Timed(ops[op], int(counts[op]), int(sums[op]) / int(counts[op])) for op in np.flatnonzero(counts)}
    for row in trace.table("op_totals").arrow().to_pylist():
        op = row["op_id"]
        if op is not None and is_core[op] and op not in known:
            known[op] = Timed(ops[op], row["count"], _mean(row))
    return [known[op] for op in sorted(known)]


def _executions(trace: Trace, is_core: BoolArray) -> tuple[IntArray, IntArray]:
    """Operator and duration of each execution; what overruns the next one of its stream ends there."""
    trace.slices.load("op_id", "kind", "dur_ns")
    rows = device_rows(trace)
    rows = rows[trace.slices["dur_ns"][rows] != NULL]
    spent, op_id = clipped_durations(trace, rows), trace.slices["op_id"][rows]
    wanted = (op_id != NULL) & (trace.slices["kind"][rows] == KIND_CODE["kernel"])
    wanted &= is_core[np.where(wanted, op_id, 0)]
    return op_id[wanted], spent[wanted]


def _mean(total: Row) -> float | None:
    mean, count, spent = total["mean_ns"], total["count"], total["total_ns"]
    if isinstance(count, int) and isinstance(spent, int) and count:
        return spent / count
    return float(mean) if isinstance(mean, int) else None


def _count(ops: list[Timed]) -> int | None:
    counts = [timed.count for timed in ops]
    return None if None in counts else sum(count or 0 for count in counts)


def _sum(values: Iterable[float | None]) -> float | None:
    """The sum of what is known; unknown if nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _ms(ns: float | None) -> float | None:
    return None if ns is None else round(ns / _NS_OF_MS, 6)


# ---- AI CPU ----


def ai_cpu_executions(trace: Trace) -> list[Row]:
    """One row for each execution on the AI CPU in order of time; one for each operator of which only a sum is known."""
    ops = trace.ops.arrow().to_pylist()
    is_cpu = np.array([str(op["device_kind"] or "").casefold() in _AI_CPU for op in ops] or [False], bool)
    trace.slices.load("op_id", "category", "start_ns", "dur_ns")
    op_id = trace.slices["op_id"]
    categories = [code for code, text in enumerate(trace.slices.texts("category")) if text.casefold() in _AI_CPU]
    named = op_id != NULL
    found = np.flatnonzero((named & is_cpu[np.where(named, op_id, 0)]) | np.isin(trace.slices["category"], categories))
    found = found[np.argsort(trace.slices["start_ns"][found], kind="stable")]
    rows = _aicpu_rows(trace, found, ops)
    with_slices = set(op_id[found].tolist())
    for total in trace.table("op_totals").arrow().to_pylist():
        op = total["op_id"]
        if op is not None and is_cpu[op] and op not in with_slices:
            rows.append(_aicpu_row(len(rows) + 1, ops[op]["op_type"] or ops[op]["name"], _ms(total["total_ns"]), {}))
    return rows


def _aicpu_rows(trace: Trace, found: IntArray, ops: list[Row]) -> list[Row]:
    if not len(found):
        return []
    args = trace.table("args").arrow(["args"])["args"].take(found).to_pylist()
    numbers = zip(trace.slices["op_id"][found].tolist(), trace.slices["dur_ns"][found].tolist(), args, strict=True)
    rows = []
    for serial, (op, dur, text) in enumerate(numbers, start=1):
        told = _parsed(text)
        op_type = None if op == NULL else ops[op]["op_type"] or ops[op]["name"]
        rows.append(_aicpu_row(serial, op_type, _total_time(told, None if dur == NULL else dur), told))
    return rows


def _aicpu_row(serial: int, op_type: object, total: float | None, told: dict[str, object]) -> Row:
    dispatch_us = _number(told.get("dispatch_us"))
    return {
        "serial_number": serial,
        "op_type": op_type,
        "total_time": total,
        "dispatch_time": None if dispatch_us is None else dispatch_us / 1000,
        "run_start": _number(told.get("run_start_us")),
        "run_end": _number(told.get("run_end_us")),
    }


def _total_time(told: dict[str, object], dur_ns: int | None) -> float | None:
    """Waiting and dispatch included. Of an execution whose run alone was logged it is unknown."""
    total_us = _number(told.get("total_us"))
    if total_us is not None:
        return total_us / 1000
    return None if "run_start_us" in told and "dispatch_us" not in told else _ms(dur_ns)


def _parsed(text: object) -> dict[str, object]:
    try:
        told = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        told = None
    return told if isinstance(told, dict) else {}


def _number(value: object) -> float | int | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
