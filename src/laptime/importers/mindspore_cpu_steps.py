"""Steps of MindSpore on CPU, inferred: there are no markers, but every step runs the same operators.

An operator that runs n times in n steps tells how many there are; its k-th execution lies in step k. The order of
operators inside a step varies from step to step, so steps are cut by counts, not by sequence. A step ends with the last
operator of its cycle and begins where the previous one ended: the wait for data is the interval before its first
operator, as in MindSpore's own step trace.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from laptime.importers.mindspore_cpu_executions import Executions
from laptime.model.arrays import BoolArray, IntArray
from laptime.model.builder import GivenStep, TraceBuilder

_WHOLE = 0.9
"""A step with at least this share of the others' executions is whole."""
_REMNANT = 0.35
"""What follows the last cycle belongs to it up to this share of a cycle's executions."""
_REGULAR = 0.5
"""Least share of the executions whose operators must run equally often in each step."""
_COUNT = re.compile(r"\d{1,18}", re.ASCII)
_GRADIENT_TYPE = re.compile(r"Grad|Backprop")


@dataclass(frozen=True)
class _Cycles:
    begin: IntArray
    end: IntArray


def infer_steps(executions: Executions, type_table: str, builder: TraceBuilder) -> list[GivenStep]:
    """A step per cycle; none where nothing repeats and the recorder's table does not tell that there was one step."""
    cycles = _find_cycles(executions, _told_steps(type_table))
    if cycles is None:
        return []
    first = np.searchsorted(executions.start, cycles.begin)
    last = np.append(first[1:], len(executions.start))
    counts = last - first
    whole = counts >= _WHOLE * np.median(counts)
    gradient = _is_gradient(executions)
    steps = []
    for place, (begin, end) in enumerate(zip(cycles.begin.tolist(), cycles.end.tolist(), strict=True)):
        rows = slice(int(first[place]), int(last[place]))
        forward, backward = _points(executions, rows, gradient[executions.name[rows]], builder)
        step = GivenStep(
            step=place + 1,
            start_ns=begin,
            end_ns=end,
            label=f"{counts[place]} operators",
            complete=bool(whole[place]),
            forward_start_ns=forward,
            backward_end_ns=backward,
            source="inferred",
        )
        steps.append(step)
    return steps


def _find_cycles(executions: Executions, told: int | None) -> _Cycles | None:
    if not len(executions.start):
        return None
    counts = np.bincount(executions.name)
    number = _step_count(counts, told)
    if number is None:
        return None
    regular = counts % number == 0
    of_name = np.argsort(executions.name, kind="stable")
    nth = np.empty(len(of_name), np.int64)
    nth[of_name] = np.arange(len(of_name)) - (np.cumsum(counts) - counts)[executions.name[of_name]]
    rows = np.flatnonzero(regular[executions.name])
    ends = np.full(number, np.iinfo(np.int64).min)
    np.maximum.at(ends, nth[rows] // (counts // number)[executions.name[rows]], executions.end[rows])
    return _with_rest(executions, np.maximum.accumulate(ends))


def _step_count(counts: IntArray, told: int | None) -> int | None:
    """How often most operators that come back ran, the least of several; else what the recorder's table tells."""
    often = Counter(count for count in counts.tolist() if count > 1)
    found = max(often, key=lambda count: (often[count], -count), default=None)
    for number in (found, told):
        if number and counts[counts % number == 0].sum() >= _REGULAR * counts.sum():
            return number
    return None


def _with_rest(executions: Executions, ends: IntArray) -> _Cycles:
    """Gives the last cycle what little follows it; more than that is a step of its own, which is not whole."""
    begin = np.concatenate([executions.start[:1], ends[:-1]])
    rest = len(executions.start) - int(np.searchsorted(executions.start, ends[-1]))
    typical = (len(executions.start) - rest) / len(ends)
    last_end = executions.end.max()
    if rest > _REMNANT * typical:
        return _Cycles(np.append(begin, ends[-1]), np.append(ends, last_end))
    return _Cycles(begin, np.append(ends[:-1], last_end))


def _is_gradient(executions: Executions) -> BoolArray:
    return np.array(
        [
            name.startswith("Gradients/") or bool(_GRADIENT_TYPE.search(name.rpartition("/")[2]))
            for name in executions.names
        ],
        bool,
    )


def _points(
    executions: Executions, rows: slice, gradient: BoolArray, builder: TraceBuilder
) -> tuple[int | None, int | None]:
    """Start of the first operator and end of the last gradient operator; None where gradients come first or never."""
    if not gradient.any() or gradient[0]:
        return None, None
    end, name = executions.end[rows], executions.name[rows]
    last = np.flatnonzero(gradient)[np.argmax(end[gradient])]
    builder.meta.setdefault("forward_start_op", executions.names[int(name[0])])
    builder.meta.setdefault("backward_end_op", executions.names[int(name[last])])
    return int(executions.start[rows][0]), int(end[last])


def _told_steps(type_table: str) -> int | None:
    """Executions of a type over those per step, as most rows of the recorder's table say."""
    try:
        told = Counter(
            int(occurrences) // int(per_step)
            for row in csv.DictReader(type_table.splitlines())
            if _COUNT.fullmatch(occurrences := row.get("type_occurrences") or "")
            and _COUNT.fullmatch(per_step := row.get("execution_frequency(per-step)") or "")
            and int(per_step)
        )
    except csv.Error:
        return None
    return told.most_common(1)[0][0] if told else None
