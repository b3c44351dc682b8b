"""Where time goes by operator type, operator, kernel, module, input shape or source line.

Definitions: docs/definitions.md, "Operators". Host time of an operator is that of its executions; device time is that
of the device slices launched inside them, found through launch links.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from laptime.analyses.averages import quantile
from laptime.analyses.call_sites import OpTree, op_rows, scope_rows, sources_of
from laptime.analyses.device import device_rows, launch_of
from laptime.analyses.footprints import FOOTPRINT
from laptime.analyses.op_totals import Groups, merged, sides_of_totals, totals_by_group
from laptime.analyses.parts import WHOLE, Part
from laptime.analyses.processors import is_from_events, processor_of, processor_of_slices
from laptime.analyses.ranges import must_hold, starting_in, track_rows
from laptime.analyses.selection import Selection, select
from laptime.errors import LaptimeError
from laptime.model.arrays import BoolArray, IntArray
from laptime.model.overruns import overrunning
from laptime.model.trace import Trace
from laptime.model.vocabulary import KINDS, NULL, TRACK_KINDS

_THREAD = TRACK_KINDS.index("thread")

BY_SELF_TIME = Selection(sort="self_ns")
GROUPINGS = ("op-type", "name", "full-name", "kernel", "module", "shape", "source", "track")
COLUMNS = (
    "count",
    "total_ns",
    "self_ns",
    "mean_ns",
    "min_ns",
    "max_ns",
    "p50_ns",
    "p90_ns",
    "share",
    "name",
    "op_type",
    "device_kind",
    *FOOTPRINT,
    "input_dtypes",
    "track",
    "wall_ns",
)
"""What rows can be chosen and sorted by; footprint and data types stand in `info`, where the source tells them, and the
last two are those of tracks alone."""


@dataclass(frozen=True)
class OperatorTable:
    """Rows of `laptime op`, sorted; `total_rows` counts them before the limit."""

    by: str
    on: str
    total_rows: int
    rows: list[dict[str, object]]

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table, `info` as JSON text; `.to_pandas()` makes a data frame of it."""
        plain = [{**row, "info": None if row["info"] is None else json.dumps(row["info"])} for row in self.rows]
        return pa.Table.from_pylist(plain)


@dataclass(frozen=True)
class _Executions:
    """One row per execution: its group, time with and without what it called, whether it adds to its group's total."""

    group: IntArray
    total: IntArray
    own: IntArray
    outermost: BoolArray


def operator_table(
    trace: Trace,
    *,
    by: str = "op-type",
    on: str | None = None,
    part: Part = WHOLE,
    selection: Selection = BY_SELF_TIME,
) -> OperatorTable:
    """Operators grouped, chosen and sorted. Raises LaptimeError for what cannot be combined.

    Of a part of the recording the operators and device slices that start in it count, with all their time; of a
    subgraph (Default, Gradients) its operators, where the source tells them apart.
    """
    rows = device_rows(trace)
    must_hold(trace, part)
    sides = sides_of_totals(trace) if by not in ("kernel", "source", "track") and not len(rows) else set()
    side = on or ("device" if "device" in sides else "host")
    if side in sides:
        return _table(by, side, _sums(trace, by, part, side), selection)
    where = on or ("device" if len(rows) else "host")
    if by == "track":
        return _table(by, where, track_rows(trace, part, on=where), selection)
    if by == "kernel" and where == "host":
        raise LaptimeError(
            "kernels run on a device", where="--by kernel --on host", remedy="use --on device or --by name"
        )
    rows = rows[in_part(trace, rows, part)]
    if by == "kernel":
        executions, groups = _kernels(trace, rows)
    else:
        executions, groups = _operators(trace, by, where, rows, part)
    rows_by_slices = _statistics(executions, groups)
    if where == "device" and by not in ("kernel", "source") and part.is_whole:
        rows_by_slices = merged(rows_by_slices, _sums(trace, by, part, "device"))
    return _table(by, where, rows_by_slices, selection)


def _table(by: str, on: str, rows: list[dict[str, object]], selection: Selection) -> OperatorTable:
    chosen = select(rows, selection)
    return OperatorTable(by, on, chosen.size, chosen.rows)


def _sums(trace: Trace, by: str, part: Part, side: str) -> list[dict[str, object]]:
    """Rows of operators of which the source has only sums: those have no place in time."""
    if not part.is_whole:
        raise LaptimeError(
            "no part of the recording can be told apart", where=trace.source, remedy="leave out --from, --to, --steps"
        )
    return totals_by_group(trace, *groups_of_ops(trace, by), subgraph=part.subgraph, side=side)


def in_part(trace: Trace, rows: IntArray, part: Part) -> BoolArray:
    """Whether each slice starts in a part of the recording; for a subgraph also whether its own operator is of it."""
    inside = np.ones(len(rows), bool) if part.is_whole else starting_in(trace, rows, part)
    if part.subgraph is None:
        return inside
    wanted = np.array([own == part.subgraph for own in trace.ops.objects("subgraph")] or [False], bool)
    op_id = trace.slices["op_id"][rows]
    return np.asarray(inside & (op_id != NULL) & wanted[np.where(op_id == NULL, 0, op_id)])


def _statistics(executions: _Executions, groups: Groups) -> list[dict[str, object]]:
    if not len(executions.group):
        return []
    order = np.argsort(executions.group, kind="stable")
    used, first = np.unique(executions.group[order], return_index=True)
    all_own = int(executions.own.sum())
    rows = []
    for code, part in zip(used.tolist(), np.split(order, first[1:]), strict=True):
        durations = executions.total[part]
        outer = executions.total[part][executions.outermost[part]]
        own = int(executions.own[part].sum())
        ordered = durations.tolist()
        rows.append(
            {
                "name": groups.labels[code],
                "op_type": groups.op_types[code],
                "device_kind": groups.processors[code],
                "count": len(part),
                "total_ns": int(outer.sum()),
                "self_ns": own,
                "mean_ns": (2 * int(durations.sum()) + len(part)) // (2 * len(part)),
                "min_ns": int(durations.min()),
                "max_ns": int(durations.max()),
                "p50_ns": quantile(ordered, 50),
                "p90_ns": quantile(ordered, 90),
                "share": own / all_own if all_own else None,
                "info": groups.infos[code],
            }
        )
    return rows


# ---- device slices by name ----


def _kernels(trace: Trace, rows: IntArray) -> tuple[_Executions, Groups]:
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
    executions = _Executions(group.reshape(-1), duration, duration, np.ones(len(rows), bool))
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


def _operators(trace: Trace, by: str, on: str, device: IntArray, part: Part) -> tuple[_Executions, Groups]:
    trace.slices.load("parent_id", "op_id", "stack_id", "name")
    ops = op_rows(trace)
    of_scopes = not len(ops) and not len(device)
    ops = scope_rows(trace) if of_scopes else ops
    if part.subgraph is not None:
        ops = ops[in_part(trace, ops, Part(subgraph=part.subgraph))]
    tree = OpTree(trace, ops)
    group_of_op, groups = _groups(trace, ops, "scope" if of_scopes and by != "source" else by)
    if on == "host":
        duration = trace.slices["dur_ns"][ops]
        own = duration - tree.time_of_children(trace.slices["start_ns"][ops], trace.end_ns[ops])
        chosen = in_part(trace, ops, part)
        outermost = tree.outermost(np.where(chosen, group_of_op, -1))
        executions = _Executions(group_of_op[chosen], duration[chosen], own[chosen], outermost[chosen])
        return executions, groups
    device = device[trace.slices["dur_ns"][device] != NULL]
    return _launched(trace, tree, device, group_of_op, groups, by=by)


def _launched(
    trace: Trace, tree: OpTree, device: IntArray, group_of_op: IntArray, groups: Groups, *, by: str
) -> tuple[_Executions, Groups]:
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
    executions = _Executions(
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


# ---- grouping ----


def _groups(trace: Trace, ops: IntArray, by: str) -> tuple[IntArray, Groups]:
    if by == "source":
        return _groups_by_source(trace, ops)
    if by == "scope":
        return _groups_by_scope(trace, ops)
    group_of, groups = groups_of_ops(trace, by)
    op_id = trace.slices["op_id"][ops]
    return group_of[np.where(op_id == NULL, 0, op_id)], groups


def groups_of_ops(trace: Trace, by: str) -> tuple[IntArray, Groups]:
    """Group of each row of the `ops` table, and the groups; one of each name and processor."""
    table = trace.ops.arrow().to_pydict()
    typed = by in ("op-type", "name", "shape", "full-name")
    rows = range(len(table["op_id"]))
    keys = [(_label(table, row, by), processor_of(table["device_kind"][row]) if typed else None) for row in rows]
    index: dict[tuple[str, str | None], int] = {}
    group_of = np.array([index.setdefault(key, len(index)) for key in keys] or [0], np.int64)
    first = {group: row for row, group in reversed(list(enumerate(group_of[: len(keys)].tolist())))}
    types = [table["op_type"][first[group]] if typed else None for group in range(len(index))]
    infos = [_info(table, first[group], by) for group in range(len(index))]
    names = [table["name"][first[group]] if by == "shape" else label for group, (label, _) in enumerate(index)]
    return group_of, Groups(names, types, infos, [processor for _, processor in index])


def _label(table: dict[str, list[object]], row: int, by: str) -> str:
    name, module = str(table["name"][row]), table["module"][row]
    if by == "op-type":
        return str(table["op_type"][row] or name)
    if by == "module":
        return str(module) if module else "[no module]"
    if by == "full-name":
        full = table["full_name"][row]
        return str(full) if full else f"{module}/{name}" if module else name
    return f"{name} {table['input_shapes'][row] or ''}" if by == "shape" else name


def _info(table: dict[str, list[object]], row: int, by: str) -> dict[str, object] | None:
    if by == "full-name":
        keys = ("subgraph", "device_kind", "input_shapes", "input_dtypes", "output_shapes")
        known: dict[str, object] = {key: _parsed(table[key][row]) for key in keys if table[key][row] is not None}
        details = _parsed(table["info"][row])
        return {**known, **details} if isinstance(details, dict) else known
    if by != "shape":
        return None
    shapes, dtypes = table["input_shapes"][row], table["input_dtypes"][row]
    return {"input_shapes": _parsed(shapes), "input_dtypes": _parsed(dtypes)}


def _parsed(text: object) -> object:
    if not isinstance(text, str):
        return None
    try:
        return json.loads(text, parse_float=_finite_or_none, parse_constant=_no_number)
    except ValueError:
        return text


def _finite_or_none(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def _no_number(text: str) -> None:
    """NaN and Infinity."""


def _groups_by_scope(trace: Trace, scopes: IntArray) -> tuple[IntArray, Groups]:
    """Ranges of a recording without operators, by their names, which are their types as well."""
    used, group = np.unique(trace.slices["name"][scopes], return_inverse=True)
    names = trace.slices.texts("name")
    nothing = [None] * len(used)
    labels = [names[code] for code in used.tolist()]
    return group.reshape(-1).astype(np.int64), Groups(labels, [*labels], list(nothing), list(nothing))


def _groups_by_source(trace: Trace, ops: IntArray) -> tuple[IntArray, Groups]:
    sources = sources_of(trace, ops)
    index: dict[str, int] = {"[no call stack]": 0}
    group_of = [0 if source is None else index.setdefault(source, len(index)) for source in sources]
    labels = list(index)
    nothing = [None] * len(labels)
    return np.array(group_of, np.int64), Groups(labels, list(nothing), list(nothing), list(nothing))
