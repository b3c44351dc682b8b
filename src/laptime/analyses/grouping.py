"""What operators are grouped by: type, name, module, shape, source line.

Definitions: docs/definitions.md, "Operators".
"""

from __future__ import annotations

import json
import math

import numpy as np

from laptime.analyses.call_sites import sources_of
from laptime.analyses.op_totals import Groups
from laptime.analyses.processors import processor_of
from laptime.model.arrays import IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import NULL


def groups_of_slices(trace: Trace, ops: IntArray, by: str) -> tuple[IntArray, Groups]:
    """Group of each operator among the slices, and the groups."""
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
