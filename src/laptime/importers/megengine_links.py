"""What belongs to what in a MegEngine timeline: dispatch, execution and device span of an operator by its number;
inputs and outputs by tensors; a backward operator and its forward one by the tensors they share.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from laptime.importers.megengine_events import Events
from laptime.importers.megengine_spans import (
    COPY_TO_DEVICE,
    DEVICE,
    INTERPRETER,
    KERNEL,
    WORKER,
    Spans,
    Threads,
)
from laptime.model.arrays import BoolArray, CodeArray, IntArray
from laptime.model.builder import TraceBuilder
from laptime.model.vocabulary import NULL


@dataclass(frozen=True)
class Uses:
    """Tensors that executions take, or make: one entry each."""

    user: IntArray
    """Row of the execution."""
    tensor: IntArray
    layout: CodeArray
    at: IntArray
    """Row of the span that tells it: the tensor's own, or the execution."""

    def in_order(self) -> Uses:
        """By execution, then as told."""
        order = np.lexsort((self.at, self.user))
        return Uses(self.user[order], self.tensor[order], self.layout[order], self.at[order])


@dataclass(frozen=True)
class Links:
    """Rows of spans that belong together. Pairs are (from, to) columns."""

    dispatched: IntArray
    """Dispatches."""
    executed: IntArray
    """Executions on the worker."""
    kernels: IntArray
    """Spans of operators on devices."""
    inline: BoolArray
    """By dispatch: whether the worker never executed it; small values that the host knows are computed at once."""
    calls: tuple[IntArray, IntArray]
    """Dispatch to execution; a value put by the interpreter to where the worker takes it."""
    launches: tuple[IntArray, IntArray]
    """Execution to device span; the worker's taking of a value to its copy to the device."""
    data: tuple[IntArray, IntArray]
    """Execution that made a tensor to the execution, or the wait, that took it."""
    inputs: Uses
    outputs: Uses


def links_of(events: Events, spans: Spans, threads: Threads, builder: TraceBuilder) -> Links:
    """All links of a timeline."""
    names = {text: code for code, text in enumerate(builder.names.texts)}
    is_op = spans.op != NULL
    on_worker, on_interpreter = threads.of(spans, WORKER), threads.of(spans, INTERPRETER)
    kernel_category = builder.categories.code(KERNEL)
    is_kernel = threads.of(spans, DEVICE) & ((spans.category == kernel_category) | is_op)
    is_dispatch = on_interpreter & (spans.name == names.get("OpDispatch", -1))
    dispatched, executed, kernels = (np.flatnonzero(which) for which in (is_dispatch, on_worker & is_op, is_kernel))
    call_from, call_to = _by_number(spans, dispatched, executed)
    put_by, put_to, copies = (
        np.flatnonzero(where & (spans.name == names.get(name, -1)))
        for where, name in ((on_interpreter, "Put"), (on_worker, "Put"), (threads.of(spans, DEVICE), COPY_TO_DEVICE))
    )
    inline = np.ones(len(dispatched), bool)
    inline[np.searchsorted(dispatched, call_from)] = False
    of_execution = np.zeros(len(spans), bool)
    of_execution[executed] = True
    inputs, outputs = (
        _uses(events, spans, of_execution, names.get(name, -1), side) for side, name in enumerate(("Input", "Output"))
    )
    waits = np.flatnonzero(on_interpreter & (spans.name == names.get("TensorWaitProp", -1)) & (spans.tensor != NULL))
    return Links(
        dispatched=dispatched,
        executed=executed,
        kernels=kernels,
        inline=inline & (spans.op[dispatched] != NULL),
        calls=_both((call_from, call_to), _by_tensor(spans, put_by, put_to)),
        launches=_both(_launches(spans, executed, kernels), _copies(spans, put_to, copies)),
        data=_data(spans, outputs, inputs, waits),
        inputs=inputs,
        outputs=outputs,
    )


def _both(first: tuple[IntArray, IntArray], second: tuple[IntArray, IntArray]) -> tuple[IntArray, IntArray]:
    return np.concatenate([first[0], second[0]]), np.concatenate([first[1], second[1]])


def _by_tensor(spans: Spans, put_by: IntArray, put_to: IntArray) -> tuple[IntArray, IntArray]:
    """The interpreter's and the worker's part of putting a value."""
    place = _lookup(spans.tensor[put_by], spans.tensor[put_to])
    return put_by[place[place >= 0]], put_to[place >= 0]


def _copies(spans: Spans, puts: IntArray, copies: IntArray) -> tuple[IntArray, IntArray]:
    """Copies to a device with the last value of the same layout that was put before. Copies have no number; values that
    stay on the host have no copy."""
    puts = puts[spans.layout[puts] >= 0]
    order = np.lexsort((spans.start[puts], spans.layout[puts]))
    puts = puts[order]
    if not len(puts):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    layouts, layout = np.unique(spans.layout[puts], return_inverse=True)
    wanted = np.minimum(np.searchsorted(layouts, spans.layout[copies]), len(layouts) - 1)
    starts, start = np.unique(np.concatenate([spans.start[puts], spans.start[copies]]), return_inverse=True)
    width = len(starts)
    key = layout.reshape(-1) * width + start[: len(puts)]
    place = np.searchsorted(key, wanted * width + start[len(puts) :], side="right") - 1
    known = (layouts[wanted] == spans.layout[copies]) & (place >= 0)
    known[known] = layout.reshape(-1)[place[known]] == wanted[known]
    return puts[place[known]], copies[known]


def _by_number(spans: Spans, dispatched: IntArray, executed: IntArray) -> tuple[IntArray, IntArray]:
    """Each execution with the dispatch of its operator; recomputed ones share one."""
    place = _lookup(spans.op[dispatched], spans.op[executed])
    return dispatched[place[place >= 0]], executed[place >= 0]


def _lookup(keys: IntArray, wanted: IntArray) -> IntArray:
    """Place of each wanted key among the keys, the first of equal ones; -1 where it is not there or NULL."""
    if not len(keys):
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(keys, kind="stable")
    found = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    return np.where((keys[order][found] == wanted) & (wanted != NULL), order[found], -1)


def _launches(spans: Spans, executed: IntArray, kernels: IntArray) -> tuple[IntArray, IntArray]:
    """Each device span with its execution: the n-th of an operator on a row with the n-th execution."""
    counts = _occurrence(spans.op[executed], np.zeros(len(executed), np.int64))
    nth = _occurrence(spans.op[kernels], spans.place[kernels].astype(np.int64))
    width = int(max(counts.max(initial=0), nth.max(initial=0))) + 1
    first = _lookup(spans.op[executed], spans.op[kernels])
    numbers, numbered = np.unique(spans.op[executed], return_inverse=True)
    key = numbered.reshape(-1) * width + counts
    wanted = np.searchsorted(numbers, spans.op[kernels]) * width + nth
    place = _lookup(key, np.where(first >= 0, wanted, NULL))
    place = np.where(place >= 0, place, first)
    return executed[place[place >= 0]], kernels[place >= 0]


def _occurrence(key: IntArray, place: IntArray) -> IntArray:
    """How many earlier rows have the same key and place."""
    order = np.lexsort((np.arange(len(key)), place, key))
    same = np.zeros(len(key), bool)
    same[1:] = (key[order][1:] == key[order][:-1]) & (place[order][1:] == place[order][:-1])
    number = np.arange(len(key)) - np.maximum.accumulate(np.where(same, 0, np.arange(len(key))))
    found = np.empty(len(key), np.int64)
    found[order] = number
    return found


def _uses(events: Events, spans: Spans, of_execution: BoolArray, name: int, side: int) -> Uses:
    """Tensors of executions: their own spans of that name, or one side of what the executions' arguments list."""
    rows = np.flatnonzero((spans.name == name) & (spans.parent >= 0))
    rows = rows[of_execution[spans.parent[rows]]]
    own = Uses(spans.parent[rows], spans.tensor[rows], spans.layout[rows], rows)
    listing = np.flatnonzero(of_execution & (spans.lists >= 0))
    if not len(listing):
        return own.in_order()
    numbers = [_numbers(pair[side]) for pair in events.lists.values if isinstance(pair, tuple)]
    found = [(row, number) for row in listing.tolist() for number in numbers[spans.lists[row]]]
    user, tensor = np.array(found, np.int64).reshape(-1, 2).T
    layout = np.full(len(user), -1, np.int32)
    return Uses(
        np.concatenate([own.user, user]),
        np.concatenate([own.tensor, tensor]),
        np.concatenate([own.layout, layout]),
        np.concatenate([own.at, user]),
    ).in_order()


def _numbers(text: object) -> list[int]:
    return [int(number) for number in re.findall(r"\d{1,18}", text)] if isinstance(text, str) else []


def _data(spans: Spans, outputs: Uses, inputs: Uses, waits: IntArray) -> tuple[IntArray, IntArray]:
    """From what made a tensor last before it was taken; from what made it first where it was taken before (a
    recomputed tensor's later uses)."""
    users = np.concatenate([inputs.user, waits])
    at = np.concatenate([inputs.at, waits])
    tensor = np.concatenate([inputs.tensor, spans.tensor[waits]])
    order = np.lexsort((outputs.at, outputs.tensor))
    tensors, rows = outputs.tensor[order], outputs.at[order]
    if not len(order):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    ranks, ranked = np.unique(tensors, return_inverse=True)
    width = len(spans) + 1
    key = ranked.reshape(-1) * width + rows
    rank = np.minimum(np.searchsorted(ranks, tensor), len(ranks) - 1)
    known = (ranks[rank] == tensor) & (tensor != NULL)
    last = np.searchsorted(key, rank * width + at) - 1
    first = np.searchsorted(key, rank * width)
    place = np.maximum(last, first)[known]
    before, after = _distinct_pairs(outputs.user[order][place], users[known])
    return before[before != after], after[before != after]


def _distinct_pairs(first: IntArray, second: IntArray) -> tuple[IntArray, IntArray]:
    """Distinct pairs of numbers below 2**31, in order."""
    pairs = np.unique((first << 32) | second)
    return pairs >> 32, pairs & 0xFFFFFFFF


def backward_pairs(
    spans: Spans, links: Links, scope_of: IntArray, scope_type: list[str], type_of_name: dict[int, str]
) -> tuple[IntArray, IntArray]:
    """(forward, backward) executions.

    `scope_of`: row of the `<Type>Backward` scope around each execution's dispatch, -1 for none; `scope_type`: Type of
    each such scope, by position in `np.unique(scope_of)` without -1; `type_of_name`: types by names of executions. The
    forward operator of a scope is that of its type which shares most tensors with what runs in it, the latest of these.
    """
    executed = links.executed
    scopes = np.unique(scope_of[scope_of >= 0])
    if not len(scopes):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    place = np.full(len(spans), -1, np.int64)
    place[executed] = np.arange(len(executed))
    backward = scope_of >= 0
    users = np.concatenate([links.inputs.user, links.outputs.user])
    tensor = np.concatenate([links.inputs.tensor, links.outputs.tensor])
    user = place[users]
    of_forward = ~backward[user] & (tensor != NULL)
    of_backward = backward[user] & (tensor != NULL) & (np.arange(len(users)) < len(links.inputs.user))
    types = {name: number for number, name in enumerate(dict.fromkeys([*scope_type, *type_of_name.values()]))}
    type_by_name = np.zeros(max(type_of_name) + 1, np.int64)
    type_by_name[list(type_of_name)] = [types[name] for name in type_of_name.values()]
    wanted_type = np.array([types[name] for name in scope_type], np.int64)
    scope = np.searchsorted(scopes, scope_of[user[of_backward]])
    number = np.unique(tensor, return_inverse=True)[1].reshape(-1)
    asked = _distinct_pairs(scope, number[of_backward])
    offered = _distinct_pairs(user[of_forward], number[of_forward])
    left, right = _joined(asked[1], offered[1])
    scope, candidate = asked[0][left], offered[0][right]
    fits = wanted_type[scope] == type_by_name[spans.name[executed[candidate]]]
    fits &= executed[candidate] < _first_in_scope(scope_of, scopes, executed)[scope]
    pairs, shared = np.unique((scope[fits] << 32) | candidate[fits], return_counts=True)
    found = np.stack([pairs >> 32, pairs & 0xFFFFFFFF], axis=1)
    best = np.lexsort((found[:, 1], shared, found[:, 0]))
    last = np.ones(len(best), bool)
    last[:-1] = found[best][1:, 0] != found[best][:-1, 0]
    chosen = np.full(len(scopes), -1, np.int64)
    chosen[found[best[last], 0]] = found[best[last], 1]
    forward = chosen[np.searchsorted(scopes, scope_of[backward])]
    return executed[forward[forward >= 0]], executed[np.flatnonzero(backward)[forward >= 0]]


def _first_in_scope(scope_of: IntArray, scopes: IntArray, executed: IntArray) -> IntArray:
    first = np.full(len(scopes), np.iinfo(np.int64).max)
    inside = scope_of >= 0
    np.minimum.at(first, np.searchsorted(scopes, scope_of[inside]), executed[inside])
    return first


def _joined(left: IntArray, right: IntArray) -> tuple[IntArray, IntArray]:
    """All pairs of rows with equal values."""
    order = np.argsort(right, kind="stable")
    first = np.searchsorted(right[order], left, side="left")
    count = np.searchsorted(right[order], left, side="right") - first
    rows = np.repeat(np.arange(len(left)), count)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
    return rows, order[np.repeat(first, count) + within]
