"""Operators of which a source holds only sums, and how they join the rows made of slices."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from laptime.model.arrays import IntArray
from laptime.model.trace import Trace

Row = dict[str, object]
_UNKNOWN = ("min_ns", "max_ns", "p50_ns", "p90_ns")


@dataclass(frozen=True)
class Groups:
    labels: list[str]
    op_types: list[str | None]
    infos: list[dict[str, object] | None]
    processors: list[str | None]


def totals_by_group(trace: Trace, group_of: IntArray, groups: Groups, *, subgraph: str | None) -> list[Row]:
    """Rows of sums: count and mean, total where it follows; the rest is unknown."""
    subgraphs = trace.ops.objects("subgraph")
    members: dict[int, list[Row]] = defaultdict(list)
    for row in trace.table("op_totals").arrow().to_pylist():
        if row["op_id"] is not None and subgraph in (None, subgraphs[row["op_id"]]):
            members[int(group_of[row["op_id"]])].append(row)
    return _with_shares([_row(groups, group, rows) for group, rows in members.items()])


def merged(rows: list[Row], sums: list[Row]) -> list[Row]:
    """Rows made of slices and rows of sums; those of one group become one, whose spread is unknown."""
    if not sums:
        return rows
    by_name = {_key(row): row for row in rows}
    for row in sums:
        other = by_name.get(_key(row))
        if other is None:
            by_name[_key(row)] = row
            continue
        added = {key: _sum(other[key], row[key]) for key in ("count", "total_ns", "self_ns")}
        mean = _rounded_ratio(added["total_ns"], added["count"])
        by_name[_key(row)] = {**other, **added, "mean_ns": mean, **dict.fromkeys(_UNKNOWN)}
    return _with_shares(list(by_name.values()))


def _key(row: Row) -> tuple[object, object, str]:
    """What tells groups apart: of a name there may be several processors or shapes."""
    return row["name"], row["device_kind"], repr(row["info"])


def _row(groups: Groups, group: int, rows: list[Row]) -> Row:
    count = _sum(*(row["count"] for row in rows))
    total = _sum(*(_total(row) for row in rows))
    mean = _rounded_ratio(total, count)
    if mean is None and len(rows) == 1:
        mean = _known(rows[0]["mean_ns"])
    return {
        "name": groups.labels[group],
        "op_type": groups.op_types[group],
        "device_kind": groups.processors[group],
        "count": count,
        "total_ns": total,
        "self_ns": total,
        "mean_ns": mean,
        **dict.fromkeys(_UNKNOWN),
        "share": None,
        "info": groups.infos[group],
    }


def _with_shares(rows: list[Row]) -> list[Row]:
    everything = sum(own for row in rows if (own := _known(row["self_ns"])) is not None)
    for row in rows:
        own = _known(row["self_ns"])
        row["share"] = None if own is None or not everything else own / everything
    return rows


def _total(row: Row) -> int | None:
    total, count, mean = (_known(row[key]) for key in ("total_ns", "count", "mean_ns"))
    return total if total is not None else None if count is None or mean is None else count * mean


def _sum(*values: object) -> int | None:
    """The sum; unknown if one of them is."""
    known = [_known(value) for value in values]
    return None if None in known else sum(value for value in known if value is not None)


def _rounded_ratio(total: int | None, count: int | None) -> int | None:
    return None if total is None or not count else (2 * total + count) // (2 * count)


def _known(value: object) -> int | None:
    return value if isinstance(value, int) else None
