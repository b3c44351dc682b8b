"""Memory by the operator that allocated it.

Definitions: docs/definitions.md, "Memory over time".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from laptime.analyses.memory import exact_sizes, live_bytes_of
from laptime.analyses.memory_owners import Owners
from laptime.analyses.parts import WHOLE, Part
from laptime.model.arrays import Column, IntArray
from laptime.model.trace import Trace

Json = dict[str, object]


@dataclass(frozen=True)
class MemoryByOperator:
    """Operators of one device that allocated most, largest sum first; `total_rows` counts all of them."""

    device: str | None
    total_rows: int
    rows: list[Json]


def memory_by_operator(
    trace: Trace, *, device: str | None = None, part: Part = WHOLE, limit: int = 1000
) -> MemoryByOperator:
    """Sums of the blocks of a device, by default of the one with the highest peak, for each operator.

    Blocks whose operator is not known are summed by their name. Of a part count those that live in it.
    """
    live = live_bytes_of(trace, device, part)
    if live is None:
        return MemoryByOperator(device, 0, [])
    table = trace.table("allocations")
    size = exact_sizes(table["size_bytes"][live.rows])
    called = table["name"][live.rows].tolist()
    owners = [op if op is not None else name for op, name in zip(Owners(trace).ops(live.rows), called, strict=True)]
    coded = pa.array(owners, pa.string()).dictionary_encode("encode")
    codes, names = coded.indices.to_numpy(), coded.dictionary.to_pylist()
    alive = np.isin(live.rows, live.alive_at(live.peak[1], table["start_ns"], table["end_ns"]))
    columns = {
        "count": np.bincount(codes, minlength=len(names)),
        "total_bytes": _sums(codes, size, len(names)),
        "max_bytes": _greatest(codes, size, len(names)),
        "live_at_peak_bytes": _sums(codes[alive], size[alive], len(names)),
    }
    order = sorted(range(len(names)), key=lambda at: (-int(columns["total_bytes"][at]), str(names[at])))
    rows = [{"op": names[at], **{key: int(column[at]) for key, column in columns.items()}} for at in order[:limit]]
    return MemoryByOperator(live.device, len(names), rows)


def _sums(codes: IntArray, values: Column, count: int) -> Column:
    sums = np.zeros(count, values.dtype)
    np.add.at(sums, codes, values)
    return sums


def _greatest(codes: IntArray, values: Column, count: int) -> Column:
    most = np.zeros(count, values.dtype)
    np.maximum.at(most, codes, values)
    return most
