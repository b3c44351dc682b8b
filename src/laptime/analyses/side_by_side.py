"""Host and device time of the same operators, side by side.

Definitions: docs/definitions.md, "Operators".
"""

from __future__ import annotations

import json
from dataclasses import replace

from laptime.analyses.device import device_rows
from laptime.analyses.operators import OperatorTable, whole_table
from laptime.analyses.parts import Part
from laptime.analyses.ranges import as_json as part_as_json
from laptime.analyses.selection import Row, Selection
from laptime.model.trace import Trace

_OF_ONE_SIDE = ("kernel", "track")


def operators(trace: Trace, *, by: str, on: str | None, part: Part, selection: Selection) -> OperatorTable:
    """The table of `laptime op`."""
    return all_operators(trace, by=by, on=on, part=part).chosen(selection)


def all_operators(trace: Trace, *, by: str, on: str | None, part: Part) -> OperatorTable:
    """All rows of it."""
    return with_both_sides(trace, whole_table(trace, by=by, on=on, part=part), part)


def as_json(table: OperatorTable, trace: Trace, part: Part) -> dict[str, object]:
    """The JSON of the contract."""
    return {
        "schema_version": 1,
        "rank": trace.rank,
        "source": trace.source,
        "by": table.by,
        "on": table.on,
        "device": part.device,
        "range": part_as_json(part, trace),
        "total_rows": table.total_rows,
        "rows": table.rows,
    }


def with_both_sides(trace: Trace, table: OperatorTable, part: Part) -> OperatorTable:
    """The table with `host_ns` and `device_ns`, the total time of each row on both sides; None is unknown."""
    if table.by in _OF_ONE_SIDE:
        return table
    other = "host" if table.on == "device" else "device"
    beside = _totals(trace, table, other, part)
    rows = [{**row, f"{table.on}_ns": row["total_ns"], f"{other}_ns": beside.get(_identity(row))} for row in table.rows]
    return replace(table, rows=rows)


def _totals(trace: Trace, table: OperatorTable, other: str, part: Part) -> dict[tuple[object, object, str], object]:
    """Totals of the other side by row; an operator that launched nothing took no time on the device."""
    if not len(device_rows(trace)):
        return {}
    found = whole_table(trace, by=table.by, on=other, part=part)
    totals = {_identity(row): row["total_ns"] for row in found.rows}
    silent = 0 if other == "device" else None
    return {**{_identity(row): silent for row in table.rows}, **totals}


def _identity(row: Row) -> tuple[object, object, str]:
    info = row["info"]
    return row["name"], row["device_kind"], "" if info is None else json.dumps(info, sort_keys=True)
