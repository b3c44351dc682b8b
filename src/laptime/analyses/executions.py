"""Each execution of an operator or kernel, with its time on the host or on the device, and the group it belongs to.

Definitions: docs/definitions.md, "Operators". Host time of an operator is that of its executions; device time is that
of the device slices launched inside them, found through launch links.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.analyses.call_sites import OpTree, op_rows, scope_rows, sources_of
from laptime.analyses.device import launch_of
from laptime.analyses.grouping import groups_of_ops, groups_of_slices
from laptime.analyses.op_totals import Groups
from laptime.analyses.parts import Part
from laptime.analyses.processors import is_from_events, processor_of, processor_of_slices
from laptime.analyses.ranges import on_device, starting_in
from laptime.model.arrays import BoolArray, IntArray
from laptime.model.overruns import overrunning
from laptime.model.trace import Trace
from laptime.model.vocabulary import KINDS, NULL


@dataclass(frozen=True)
class Executions:
    """One row per execution: slice, group, time with and without what it called, whether it adds to the total."""

    slice_id: IntArray
    group: IntArray
    total: IntArray
    own: IntArray
    outermost: BoolArray

    def chosen(self, which: BoolArray) -> Executions:
        """Some of them."""
        slice_id, group, total, own = (column[which] for column in (self.slice_id, self.group, self.total, self.own))
        return Executions(slice_id, group, total, own, self.outermost[which])


def executions_of(trace: Trace, by: str, on: str, device: IntArray, part: Part) -> tuple[Executions, Groups]:
    """Executions on one side, and the groups they are in; `device` are the device slices of the part."""
    return _kernels(trace, device) if by == "kernel" else _operators(trace, by, on, device, part)


def in_part(trace: Trace, rows: IntArray, part: Part) -> BoolArray:
    """Whether each slice starts in a part of the recording and, on a device, on that of the part; for a subgraph also
    whether its own operator is of it."""
    inside = on_device(trace, rows, part.device)
    if not part.is_whole:
        inside &= starting_in(trace, rows, part)
    if part.subgraph is None:
        return inside
    wanted = np.array([own == part.subgraph for own in trace.ops.objects("subgraph")] or [False], bool)
    op_id = trace.slices["op_id"][rows]
    return np.asarray(inside & (op_id != NULL) & wanted[np.where(op_id == NULL, 0, op_id)])


# ---- device slices by name ----


def _kernels(trace: Trace, rows: IntArray) -> tuple[Executions, Groups]:
    rows = rows[trace.slices["dur_ns"][rows] != NULL]
    duration = clipped_durations(trace, rows)
    used, group = np.unique(trace.slices["name"][rows], return_inverse=True)
    names = trace.slices.texts("name")
    kind_of = dict(zip(group.tolist(), trace.slices["kind"][rows].tolist(), strict=True))
    labels = [names[code] for code in used.tolist()]
    kinds = [KINDS[kind_of[code]] for code in range(len(labels))]
    op_of = dict(zip(group.tolist(), trace.slices["op_id"][rows].tolist(), strict=True))
    kind_of_op = trace.ops.objects("device_kind")
    told = [None if op_of[code] == NULL else kind_of_op[op_of[code]] for code in range(len(labels))]
    processors = [processor_of(own) or processor_of_slices(kind) for own, kind in zip(told, kinds, strict=True)]
    executions = Executions(rows, group.reshape(-1), duration, duration, np.ones(len(rows), bool))
    return executions, Groups(labels, list(kinds), [None] * len(labels), processors)


def clipped_durations(trace: Trace, rows: IntArray) -> IntArray:
    """Durations of device slices for sums by name: overrunning slices end where the next one of their stream starts."""
    start, end = trace.slices["start_ns"][rows], trace.end_ns[rows]
    track, correlation = trace.slices["track_id"][rows], trace.slices["correlation"][rows]
    long, new_end = overrunning(track.astype(np.int32), start, end, correlation)
    clipped = end.copy()
    clipped[long] = new_end
    return clipped - start


# ---- framework operators ----


def _operators(trace: Trace, by: str, on: str, device: IntArray, part: Part) -> tuple[Executions, Groups]:
    trace.slices.load("parent_id", "op_id", "stack_id", "name")
    ops = op_rows(trace)
    of_scopes = not len(ops) and not len(device)
    ops = scope_rows(trace) if of_scopes else ops
    if part.subgraph is not None:
        ops = ops[in_part(trace, ops, Part(subgraph=part.subgraph))]
    tree = OpTree(trace, ops)
    group_of_op, groups = groups_of_slices(trace, ops, "scope" if of_scopes and by != "source" else by)
    if on == "host":
        duration = trace.slices["dur_ns"][ops]
        own = duration - tree.time_of_children(trace.slices["start_ns"][ops], trace.end_ns[ops])
        chosen = in_part(trace, ops, part)
        outermost = tree.outermost(np.where(chosen, group_of_op, -1))
        executions = Executions(ops[chosen], group_of_op[chosen], duration[chosen], own[chosen], outermost[chosen])
        return executions, groups
    device = device[trace.slices["dur_ns"][device] != NULL]
    return _launched(trace, tree, ops, device, group_of_op, groups, by=by)


def _launched(
    trace: Trace, tree: OpTree, ops: IntArray, device: IntArray, group_of_op: IntArray, groups: Groups, *, by: str
) -> tuple[Executions, Groups]:
    """Device time of operators, and of device slices that no host operator launched.

    What a call launched as a compiled program counts for the program's own operators.
    """
    duration = clipped_durations(trace, device)
    launch = launch_of(trace, device)
    op = np.where(launch >= 0, tree.op_around(np.maximum(launch, 0)), -1)
    op[_of_program(trace, device)] = -1
    own = np.zeros(len(group_of_op), np.int64)
    np.add.at(own, op[op >= 0], duration[op >= 0])
    launches_any = np.zeros(len(group_of_op), bool)
    launches_any[op[op >= 0]] = True
    total = tree.sum_with_descendants(own)
    active = np.flatnonzero(tree.sum_with_descendants(launches_any.astype(np.int64)) > 0)
    lost = np.flatnonzero(op < 0)
    lost_group, groups = _without_launching_op(trace, device[lost], by, groups)
    executions = Executions(
        np.concatenate([ops[active], device[lost]]),
        np.concatenate([group_of_op[active], lost_group]),
        np.concatenate([total[active], duration[lost]]),
        np.concatenate([own[active], duration[lost]]),
        np.concatenate([tree.outermost(group_of_op)[active], np.ones(len(lost), bool)]),
    )
    return executions, groups


def _of_program(trace: Trace, rows: IntArray) -> BoolArray:
    """Whether slices are instructions of a program that XLA compiled."""
    columns = zip(trace.ops.objects("subgraph"), trace.ops.objects("device_kind"), strict=True)
    compiled = [program is not None and not is_from_events(kind) for program, kind in columns]
    own = trace.slices["op_id"][rows]
    return np.asarray((own != NULL) & np.array(compiled or [False], bool)[np.where(own == NULL, 0, own)])


def _without_launching_op(trace: Trace, rows: IntArray, by: str, groups: Groups) -> tuple[IntArray, Groups]:
    """Groups of device slices that no host operator launched: their own operator (or the line that made it) where the
    source names it, else their kind."""
    kinds, by_kind = np.unique(trace.slices["kind"][rows], return_inverse=True)
    group = by_kind.reshape(-1) + len(groups.labels)
    own = trace.slices["op_id"][rows]
    named = np.array([not is_from_events(kind) for kind in trace.ops.objects("device_kind")] or [False], bool)
    has_own = (own != NULL) & named[np.where(own == NULL, 0, own)]
    if by != "source":
        group_of_op, _ = groups_of_ops(trace, by)
        group = np.where(has_own, group_of_op[np.where(has_own, own, 0)], group)
    names = [KINDS[kind] for kind in kinds.tolist()]
    labels = [*groups.labels, *(f"[{name} without operator]" for name in names)]
    processors = [*groups.processors, *(processor_of_slices(name) for name in names)]
    if by == "source":
        index = {label: code for code, label in enumerate(labels)}
        lines = [None if line is None else index.setdefault(line, len(index)) for line in sources_of(trace, rows)]
        group = np.array([c if line is None else line for c, line in zip(group.tolist(), lines, strict=True)], np.int64)
        processors += [None] * (len(index) - len(labels))
        labels = list(index)
    nothing = [None] * (len(labels) - len(groups.labels))
    return group, Groups(labels, [*groups.op_types, *nothing], [*groups.infos, *nothing], processors)
