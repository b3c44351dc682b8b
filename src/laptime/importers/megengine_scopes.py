"""Scopes of a MegEngine timeline: what they are, the phase they stand for, the path of an operator, and the steps.

MegEngine itself opens `backward` (with `<Type>Backward` inside), `step` (the optimizer's), `clear_grad` and
`clip_grad_*`; modules, functions and the user open the others. The interpreter's are mirrored on the worker.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

import numpy as np

from laptime.importers.megengine_spans import COMMANDS, INTERPRETER, OTHER, WORKER, Spans, Threads
from laptime.model.arrays import BoolArray, CodeArray, IntArray
from laptime.model.builder import GivenStep, TraceBuilder
from laptime.model.classify import kind_of, step_number
from laptime.model.vocabulary import NULL, PHASE_CODE

OWN_STEP = re.compile(r"laptime step (\d{1,18})\Z")
"""Scopes with which laptime's recorder marks steps, whether training ends them or not."""
_OPTIMIZER = re.compile(r"(?:step|clear_grad|clip_grad_\w+)\Z")
_NO_SCOPES = COMMANDS | {"OpDispatch", "TensorWaitProp"}
_CUDA_CALL = re.compile(r"(?:cuda|cu)[A-Z]\w*\Z")


@dataclass(frozen=True)
class Scopes:
    """By span."""

    is_scope: BoolArray
    around: IntArray
    """Row of the innermost scope around, the span's own if it is one; -1 without."""
    phase: CodeArray
    """Phase of the span by the scopes around it; -1 where they tell none."""
    path: CodeArray
    """Place in `paths` of the scopes around, outermost first, without steps."""
    paths: list[str]


def is_scope_name(name: str) -> bool:
    """Whether a span of a host thread without an operator's number is a scope."""
    return name not in _NO_SCOPES and not _CUDA_CALL.match(name)


def scopes_of(spans: Spans, threads: Threads, executed: IntArray, builder: TraceBuilder) -> Scopes:
    """Scopes of all host threads."""
    names = builder.names.texts
    named = np.array([is_scope_name(name) for name in names] or [False], bool)
    is_scope = threads.of(spans, INTERPRETER, WORKER, OTHER) & named[spans.name] & (spans.op == NULL)
    is_scope[executed] = False
    around = _innermost(spans, is_scope)
    own_phase = np.array([_phase_of(name) for name in names] or [-1], np.int8)
    phase = np.where(is_scope, own_phase[spans.name], np.int8(-1))
    path, paths = _paths(spans, is_scope, names)
    for row_depth in _by_depth(spans, is_scope, around):
        outer = _outer(spans, around, row_depth)
        inherited = np.where(outer >= 0, phase[outer], -1)
        phase[row_depth] = np.where(inherited >= 0, inherited, phase[row_depth])
    phase = np.where(around >= 0, phase[around], -1).astype(np.int8)
    return Scopes(is_scope, around, phase, np.where(around >= 0, path[around], 0).astype(np.int32), paths)


def _step_of(name: str) -> int | None:
    """Number of the step that a scope is named for."""
    own = OWN_STEP.match(name)
    return step_number(name) if own is None else int(own[1])


def _phase_of(name: str) -> int:
    if name == "backward":
        return PHASE_CODE["backward"]
    return PHASE_CODE["optimizer"] if _OPTIMIZER.match(name) else -1


def _innermost(spans: Spans, is_scope: BoolArray) -> IntArray:
    """Nearest scope on the way up from each span, itself included."""
    current = np.arange(len(spans), dtype=np.int64)
    pending = np.flatnonzero(~is_scope)
    while len(pending):
        current[pending] = spans.parent[current[pending]]
        pending = pending[current[pending] >= 0]
        pending = pending[~is_scope[current[pending]]]
    return current


def _outer(spans: Spans, around: IntArray, rows: IntArray) -> IntArray:
    """Scope around each of some scopes."""
    parent = spans.parent[rows]
    return np.where(parent >= 0, around[parent], -1)


def _by_depth(spans: Spans, is_scope: BoolArray, around: IntArray) -> list[IntArray]:
    """Scopes by how many scopes lie around them, outermost first."""
    rows = np.flatnonzero(is_scope)
    levels = []
    reached = np.zeros(len(spans) + 1, bool)
    reached[-1] = True  # -1: nothing around
    while len(rows):
        ready = reached[_outer(spans, around, rows)]
        levels.append(rows[ready])
        reached[rows[ready]] = True
        if not ready.any():
            break
        rows = rows[~ready]
    return levels


def _paths(spans: Spans, is_scope: BoolArray, names: list[str]) -> tuple[IntArray, list[str]]:
    """Path of each scope as its place in a list of texts, whose first is empty."""
    around = _innermost(spans, is_scope)
    paths: dict[str, int] = {"": 0}
    texts = [""]
    path = np.zeros(len(spans), np.int64)
    for rows in _by_depth(spans, is_scope, around):
        outer = _outer(spans, around, rows)
        base = np.where(outer >= 0, path[outer], 0)
        key = base * len(names) + spans.name[rows]
        distinct, which = np.unique(key, return_inverse=True)
        found = []
        for each in distinct.tolist():
            text, name = texts[each // len(names)], names[each % len(names)]
            if _step_of(name) is None:
                text = f"{text}/{name}" if text else name
            if text not in paths:
                paths[text] = len(texts)
                texts.append(text)
            found.append(paths[text])
        path[rows] = np.array(found, np.int64)[which.reshape(-1)]
    return path, texts


# ---- steps ----


@dataclass(frozen=True)
class StepSpan:
    """A step before its points are known."""

    number: int
    start: int
    end: int
    label: str
    complete: bool


def step_spans(
    spans: Spans, threads: Threads, scopes: Scopes, stops: IntArray, builder: TraceBuilder
) -> list[StepSpan]:
    """Steps by the user's scopes (`step0`), else up to each `profiler.step()` (`stops`: when, on the interpreter)."""
    names = builder.names.texts
    rows = _step_scopes(spans, scopes, names)
    rows = rows[threads.of(spans, INTERPRETER)[rows]]
    if len(rows):
        return [
            StepSpan(
                _step_of(names[spans.name[row]]) or 0,
                int(spans.start[row]),
                int(spans.end[row]),
                names[spans.name[row]],
                complete=not spans.is_open[row],
            )
            for row in rows.tolist()
        ]
    own = spans.start[threads.of(spans, INTERPRETER)]
    borders = [int(own.min()) if len(own) else 0, *stops.tolist()]
    return [
        StepSpan(number, begin, end, f"step {number}", complete=True)
        for number, (begin, end) in enumerate(itertools.pairwise(borders), start=1)
        if end > begin
    ]


def _step_scopes(spans: Spans, scopes: Scopes, names: list[str]) -> IntArray:
    """Outermost scopes that are named like a step; without any, those of laptime's recorder, which may lie around."""
    marks = np.array([step_number(name) is not None for name in names] or [False], bool)
    own_marks = np.array([OWN_STEP.match(name) is not None for name in names] or [False], bool)
    rows = np.flatnonzero(scopes.is_scope & marks[spans.name])
    outer = _outer(spans, scopes.around, rows)
    rows = rows[(outer < 0) | own_marks[spans.name[outer]]]
    return rows if len(rows) else np.flatnonzero(scopes.is_scope & own_marks[spans.name])


def with_forward(
    spans: Spans, threads: Threads, scopes: Scopes, steps: list[StepSpan], builder: TraceBuilder
) -> CodeArray:
    """Phases with forward filled in: what has none, and ends before a `backward` scope of its thread and step."""
    phase = scopes.phase.copy()
    marks = _step_scopes(spans, scopes, builder.names.texts)
    for place in np.unique(spans.place).tolist():
        own = np.flatnonzero(spans.place == place)
        backward = np.sort(spans.start[own[scopes.is_scope[own] & (phase[own] == PHASE_CODE["backward"])]])
        if threads.role[place] not in (INTERPRETER, WORKER) or not len(backward):
            continue
        borders = np.sort(spans.start[marks[spans.place[marks] == place]])
        if not len(borders):
            borders = np.array([step.start for step in steps], np.int64)
        following = np.searchsorted(backward, spans.end[own])
        known = (following < len(backward)) & (phase[own] < 0)
        at = backward[np.minimum(following, len(backward) - 1)]
        same_step = np.searchsorted(borders, spans.start[own], side="right") == np.searchsorted(borders, at, "right")
        phase[own[known & same_step]] = PHASE_CODE["forward"]
    return phase


def with_points(
    steps: list[StepSpan], spans: Spans, threads: Threads, scopes: Scopes, phase: CodeArray, builder: TraceBuilder
) -> list[GivenStep]:
    """Steps with the start of the forward pass (the first operator after the last batch came) and the end of the
    backward pass; a step without a backward pass has neither."""
    names = builder.names.texts
    data = np.array([kind_of("scope", name) == "data" for name in names] or [False], bool)
    own = np.flatnonzero(threads.of(spans, INTERPRETER))
    own = own[np.argsort(spans.start[own], kind="stable")]
    starts = spans.start[own]
    found = []
    for step in steps:
        inside = own[np.searchsorted(starts, step.start) : np.searchsorted(starts, step.end)]
        backward = inside[scopes.is_scope[inside] & (phase[inside] == PHASE_CODE["backward"])]
        loads = inside[scopes.is_scope[inside] & data[spans.name[inside]]]
        loaded = int(spans.end[loads].max()) if len(loads) else step.start
        forward = inside[(phase[inside] == PHASE_CODE["forward"]) & (spans.op[inside] != NULL)]
        forward = forward[spans.start[forward] >= loaded]
        found.append(
            GivenStep(
                step=step.number,
                start_ns=step.start,
                end_ns=step.end,
                label=step.label,
                complete=step.complete,
                forward_start_ns=int(spans.start[forward].min()) if len(forward) and len(backward) else None,
                backward_end_ns=int(spans.end[backward].max()) if len(backward) else None,
            )
        )
    return found
