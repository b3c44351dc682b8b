"""One row of the operator table in full: both sides, spread of its executions, steps, tensors, call stack, the longest.

Definitions: docs/definitions.md, "One operator".
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from laptime.analyses.device import device_rows
from laptime.analyses.execution_facts import Histogram, Variant, by_step, called_from, histogram, longest, variants
from laptime.analyses.executions import Executions, executions_of, in_part
from laptime.analyses.op_totals import Groups
from laptime.analyses.operators import OperatorTable
from laptime.analyses.parts import WHOLE, Part
from laptime.analyses.selection import Row
from laptime.analyses.tensors import Tensor
from laptime.errors import LaptimeError, NotThere
from laptime.model.trace import Trace

VARIANTS = 20
_NAMED = 5
_STATISTICS = ("count", "total_ns", "self_ns", "mean_ns", "min_ns", "max_ns", "p50_ns", "p90_ns", "share")


@dataclass(frozen=True)
class OperatorKey:
    """Which row of the table: by name; where several have it, by processor and input shapes, else the longest."""

    name: str
    device_kind: str | None = None
    input_shapes: str | None = None


@dataclass(frozen=True)
class OperatorDetails:
    """A row of the table. Where the source has only sums, there are no executions to tell of."""

    by: str
    on: str
    name: str
    op_type: str | None
    device_kind: str | None
    info: object
    inputs: list[Tensor]
    outputs: list[Tensor]
    variants: list[Variant]
    variants_left_out: int
    host: Row | None
    device: Row | None
    histogram: Histogram | None
    by_step: list[Row]
    called_from: str | None
    stack: list[Row]
    longest: list[Row]


def operator_details(
    trace: Trace, key: OperatorKey, table: OperatorTable, *, beside: OperatorTable | None = None, part: Part = WHOLE
) -> OperatorDetails:
    """All about one row of a whole table; `beside` is the table of the other side. Raises LaptimeError without it."""
    if table.by == "track":
        raise LaptimeError("a track has no operators", where="by track", remedy="group by kernel or name instead")
    row = _chosen(table, key, trace)
    other = next((each for each in beside.rows if _same(each, row)), None) if beside else None
    sides = {table.on: _statistics(row), ("host" if table.on == "device" else "device"): _statistics(other)}
    executions = _executions(trace, table, row, part)
    known = variants(trace, executions)
    line, stack = called_from(trace, executions)
    return OperatorDetails(
        by=table.by,
        on=table.on,
        name=str(row["name"]),
        op_type=_text(row["op_type"]),
        device_kind=_text(row["device_kind"]),
        info=row["info"],
        inputs=known[0].inputs if known else [],
        outputs=known[0].outputs if known else [],
        variants=known[:VARIANTS],
        variants_left_out=max(len(known) - VARIANTS, 0),
        host=sides["host"],
        device=sides["device"],
        histogram=histogram(executions.total),
        by_step=by_step(trace, executions),
        called_from=line,
        stack=stack,
        longest=longest(trace, executions),
    )


# ---- the row ----


def _chosen(table: OperatorTable, key: OperatorKey, trace: Trace) -> Row:
    """The row that is meant. Raises LaptimeError where there is none."""
    rows = [row for row in table.rows if row["name"] == key.name]
    if key.device_kind is not None:
        rows = [row for row in rows if row["device_kind"] == key.device_kind]
    if key.input_shapes is not None:
        rows = [row for row in rows if _shapes(row) == "".join(key.input_shapes.split())]
    if not rows:
        known = ", ".join(str(row["name"]) for row in table.rows[:_NAMED]) or "none was recorded"
        more = ", ..." if len(table.rows) > _NAMED else ""
        raise NotThere(
            f"no {table.by} named {key.name[:80]}", where=trace.source, remedy=f"names on the {table.on}: {known}{more}"
        )
    return max(rows, key=lambda row: (row["self_ns"] or 0) if isinstance(row["self_ns"], int) else 0)


def _shapes(row: Row) -> str:
    info = row["info"]
    shapes = info.get("input_shapes") if isinstance(info, dict) else None
    return json.dumps(shapes, separators=(",", ":"))


def _same(one: Row, other: Row) -> bool:
    return all(one[key] == other[key] for key in ("name", "device_kind")) and _shapes(one) == _shapes(other)


def _statistics(row: Row | None) -> Row | None:
    return {key: row[key] for key in _STATISTICS} if row else None


# ---- its executions ----


def _executions(trace: Trace, table: OperatorTable, row: Row, part: Part) -> Executions:
    """Those of the row alone."""
    device = device_rows(trace)
    device = device[in_part(trace, device, part)]
    found, groups = executions_of(trace, table.by, table.on, device, part)
    code = next((code for code in range(len(groups.labels)) if _is_group(groups, code, row)), -1)
    return found.chosen(found.group == code)


def _is_group(groups: Groups, code: int, row: Row) -> bool:
    if groups.labels[code] != row["name"] or groups.processors[code] != row["device_kind"]:
        return False
    info = groups.infos[code]
    return not info or "input_shapes" not in info or _shapes({"info": info}) == _shapes(row)


def _text(value: object) -> str | None:
    return None if value is None else str(value)
