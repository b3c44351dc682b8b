"""Iterations of msprof's step trace as steps, and which of them the tasks cover."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace

from laptime.importers.msprof_exports import Exports, Key, Row
from laptime.importers.msprof_summary import steps_of
from laptime.importers.msprof_tables import Summary
from laptime.model.builder import GivenStep, TraceBuilder
from laptime.model.clock import ns_from_mixed
from laptime.model.vocabulary import NULL

_ITERATION = re.compile(r"^Iteration (\d{1,17})$")
_LATEST_NS = 2**62
"""Later ends are no times."""
_MODEL = re.compile(r"Model ID:(\d{1,9})")


def add_steps(exports: Exports, builder: TraceBuilder, summary: Summary | None) -> None:
    """The iterations of the model that took most time; of others it is said that they are there. Where none are told,
    the steps that `op_summary` numbers."""
    by_thread: dict[str, list[GivenStep]] = defaultdict(list)
    for row in exports.rows["step"]:
        step = _step_of(row)
        if step is not None:
            by_thread[row.thread].append(step)
    if not by_thread:
        builder.steps += [] if summary is None else steps_of(summary)
        return
    thread = max(by_thread, key=lambda each: sum(step.end_ns - step.start_ns for step in by_thread[each]))
    others = sum(len(steps) for other, steps in by_thread.items() if other != thread)
    builder.warnings.add("other", "iterations of another model of the device; not counted as steps", others)
    work = _work_of(exports, summary)
    builder.steps += _covered(by_thread[thread], thread, work, builder)


def _step_of(row: Row) -> GivenStep | None:
    match = _ITERATION.match(row.name)
    if match is None or row.start == NULL or row.dur < 0:
        return None
    end = row.start + row.dur
    forward, backward = (_time(row.args.get(point)) for point in ("FP Start", "BP End"))
    if forward is None or backward is None or not row.start <= forward <= backward <= end:
        forward = backward = None
    return GivenStep(
        step=int(match[1]),
        start_ns=row.start,
        end_ns=end,
        label=row.name,
        forward_start_ns=forward,
        backward_end_ns=backward,
    )


def _time(value: object) -> int | None:
    time = int(ns_from_mixed([value])[0])
    return None if time == NULL else time


@dataclass(frozen=True)
class _Work:
    """What was exported of the device: which models and iterations, and from when to when."""

    keys: set[Key]
    first: int
    last: int


def _work_of(exports: Exports, summary: Summary | None) -> _Work:
    rows = [row for role in ("task", "collective") for row in exports.rows[role] if row.start != NULL and row.dur >= 0]
    spans = [(row.start, row.start + row.dur) for row in rows]
    keys = {row.key for row in exports.rows["task"]}
    if summary is not None:
        timed = (summary.start != NULL) & (summary.dur >= 0)
        spans += zip(summary.start[timed].tolist(), (summary.start + summary.dur)[timed].tolist(), strict=True)
        keys |= set(summary.keys)
    ends = [end for _, end in spans if end < _LATEST_NS]
    return _Work(keys, min((start for start, _ in spans), default=_LATEST_NS), max(ends, default=-_LATEST_NS))


def _covered(steps: list[GivenStep], thread: str, work: _Work, builder: TraceBuilder) -> list[GivenStep]:
    """Steps of which some have task files: budgets exist from the first to the last of them, and those between that
    have none are not whole."""
    model = _MODEL.search(thread)
    iterations = {
        key.iteration
        for key in work.keys
        if key.iteration is not None and (model is None or key.model == int(model[1]))
    }
    told = [step for step in steps if step.step in iterations]
    if not told:
        return steps
    first, last = min(step.start_ns for step in told), max(step.end_ns for step in told)
    builder.meta["device_covered_ns"] = [min(first, work.first), max(last, work.last)]
    return [replace(step, complete=step.step in iterations or not first <= step.start_ns < last) for step in steps]
