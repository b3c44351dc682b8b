"""Iterations of msprof's step trace as steps, and which of them the tasks cover."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace

from laptime.importers.msprof_exports import Exports, Row
from laptime.model.builder import GivenStep, TraceBuilder
from laptime.model.clock import ns_from_mixed
from laptime.model.vocabulary import NULL

_ITERATION = re.compile(r"^Iteration (\d{1,17})$")
_LATEST_NS = 2**62
"""Later ends are no times."""
_MODEL = re.compile(r"Model ID:(\d{1,9})")


def add_steps(exports: Exports, builder: TraceBuilder) -> None:
    """The iterations of the model that took most time; of others it is said that they are there."""
    by_thread: dict[str, list[GivenStep]] = defaultdict(list)
    for row in exports.rows["step"]:
        step = _step_of(row)
        if step is not None:
            by_thread[row.thread].append(step)
    if not by_thread:
        return
    thread = max(by_thread, key=lambda each: sum(step.end_ns - step.start_ns for step in by_thread[each]))
    others = sum(len(steps) for other, steps in by_thread.items() if other != thread)
    builder.warnings.add("other", "iterations of another model of the device; not counted as steps", others)
    builder.steps += _covered(by_thread[thread], thread, exports, builder)


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


def _covered(steps: list[GivenStep], thread: str, exports: Exports, builder: TraceBuilder) -> list[GivenStep]:
    """Steps of which some have task files: budgets exist from the first to the last of them, and those between that
    have none are not whole."""
    model = _MODEL.search(thread)
    iterations = {
        row.key.iteration
        for row in exports.rows["task"]
        if row.key.iteration is not None and (model is None or row.key.model == int(model[1]))
    }
    told = [step for step in steps if step.step in iterations]
    if not told:
        return steps
    first, last = min(step.start_ns for step in told), max(step.end_ns for step in told)
    work = [row for role in ("task", "collective") for row in exports.rows[role] if row.start != NULL and row.dur >= 0]
    ends = [end for row in work if (end := row.start + row.dur) < _LATEST_NS]
    builder.meta["device_covered_ns"] = [min([first, *(row.start for row in work)]), max([last, *ends])]
    return [replace(step, complete=step.step in iterations or not first <= step.start_ns < last) for step in steps]
