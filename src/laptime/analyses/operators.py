"""Where time goes by operator type, operator, kernel, module, input shape or source line.

Definitions: docs/definitions.md, "Operators". Host time of an operator is that of its executions; device time is that
of the device slices launched inside them, found through launch links.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from laptime.analyses.averages import means, quantiles
from laptime.analyses.device import device_rows
from laptime.analyses.executions import Executions, executions_of, in_part
from laptime.analyses.footprints import FOOTPRINT
from laptime.analyses.grouping import groups_of_ops
from laptime.analyses.op_totals import Groups, merged, sides_of_totals, totals_by_group
from laptime.analyses.parts import WHOLE, Part
from laptime.analyses.ranges import devices, must_hold, track_rows
from laptime.analyses.selection import Selection, select
from laptime.errors import LaptimeError
from laptime.model.trace import Trace

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
    "host_ns",
    "device_ns",
)
"""What rows can be chosen and sorted by; footprint and data types stand in `info`, where the source tells them, `track`
and `wall_ns` are those of tracks alone, and the last two those of tables with both sides."""
_TEXTS = ("name", "op_type", "device_kind", "track", "info")


@dataclass(frozen=True)
class OperatorTable:
    """Rows of `laptime op`, sorted; `total_rows` counts them before the limit."""

    by: str
    on: str
    total_rows: int
    rows: list[dict[str, object]]

    def chosen(self, selection: Selection) -> OperatorTable:
        """The rows that a selection keeps, in its order. Raises LaptimeError for columns that there are not."""
        found = select(self.rows, selection)
        return replace(self, total_rows=found.size, rows=found.rows)

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table, `info` as JSON text; `.to_pandas()` makes a data frame of it."""
        plain = [{**row, "info": None if row["info"] is None else json.dumps(row["info"])} for row in self.rows]
        names = self.rows[0].keys() if self.rows else ("name", *COLUMNS[:9], "op_type", "device_kind", "info")
        return pa.Table.from_pylist(plain, pa.schema([(name, _arrow_type(name)) for name in dict.fromkeys(names)]))


def _arrow_type(column: str) -> pa.DataType:
    return pa.string() if column in _TEXTS else pa.float64() if column == "share" else pa.int64()


def operator_table(
    trace: Trace,
    *,
    by: str = "op-type",
    on: str | None = None,
    part: Part = WHOLE,
    selection: Selection = BY_SELF_TIME,
) -> OperatorTable:
    """Operators grouped, chosen and sorted. Raises LaptimeError for what cannot be combined."""
    return whole_table(trace, by=by, on=on, part=part).chosen(selection)


def whole_table(trace: Trace, *, by: str = "op-type", on: str | None = None, part: Part = WHOLE) -> OperatorTable:
    """Operators grouped, all of them, in no order. Raises LaptimeError for what cannot be combined.

    Of a part of the recording the operators and device slices that start in it count, with all their time; of a
    subgraph (Default, Gradients) its operators, where the source tells them apart; of a device what ran there.
    """
    rows = device_rows(trace)
    must_hold(trace, part)
    sides = sides_of_totals(trace) if by not in ("kernel", "source", "track") and not len(rows) else set()
    side = on or ("device" if "device" in sides else "host")
    if side in sides:
        return _table(by, side, _sums(trace, by, part, side))
    where = on or ("device" if len(rows) else "host")
    if by == "track":
        return _table(by, where, track_rows(trace, part, on=where))
    if by == "kernel" and where == "host":
        raise LaptimeError(
            "kernels run on a device", where="--by kernel --on host", remedy="use --on device or --by name"
        )
    rows = rows[in_part(trace, rows, part)]
    rows_by_slices = statistics(*executions_of(trace, by, where, rows, part))
    sums_count = part.is_whole and (part.device is None or devices(trace) == [part.device])
    if where == "device" and by not in ("kernel", "source") and sums_count:
        rows_by_slices = merged(rows_by_slices, _sums(trace, by, part, "device"))
    return _table(by, where, rows_by_slices)


def _table(by: str, on: str, rows: list[dict[str, object]]) -> OperatorTable:
    return OperatorTable(by, on, len(rows), rows)


def _sums(trace: Trace, by: str, part: Part, side: str) -> list[dict[str, object]]:
    """Rows of operators of which the source has only sums: those have no place in time."""
    if not part.is_whole:
        raise LaptimeError(
            "no part of the recording can be told apart", where=trace.source, remedy="leave out --from, --to, --steps"
        )
    return totals_by_group(trace, *groups_of_ops(trace, by), subgraph=part.subgraph, side=side)


def statistics(executions: Executions, groups: Groups) -> list[dict[str, object]]:
    """A row of the operator table for each group that has executions."""
    if not len(executions.group):
        return []
    order = np.lexsort((executions.total, executions.group))
    total, outermost = executions.total[order], executions.outermost[order]
    used, first, count = np.unique(executions.group[order], return_index=True, return_counts=True)
    all_own = int(executions.own.sum())
    columns = {
        "count": count.tolist(),
        "total_ns": np.add.reduceat(np.where(outermost, total, 0), first).tolist(),
        "self_ns": np.add.reduceat(executions.own[order], first).tolist(),
        "mean_ns": means(np.add.reduceat(total, first), count),
        "min_ns": total[first].tolist(),
        "max_ns": total[first + count - 1].tolist(),
        "p50_ns": quantiles(total, first, count, per_cent=50),
        "p90_ns": quantiles(total, first, count, per_cent=90),
    }
    return [
        {
            "name": groups.labels[code],
            "op_type": groups.op_types[code],
            "device_kind": groups.processors[code],
            **(numbers := dict(zip(columns, row, strict=True))),
            "share": numbers["self_ns"] / all_own if all_own else None,
            "info": groups.infos[code],
        }
        for code, *row in zip(used.tolist(), *columns.values(), strict=True)
    ]
