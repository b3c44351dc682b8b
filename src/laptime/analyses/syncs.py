"""Where the host waits for the device: which operator and source line make it wait, how often and how long.

Definitions: docs/definitions.md, "Host".
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from laptime.analyses.call_sites import OpTree, op_rows, sources_of
from laptime.analyses.device import cause_of
from laptime.analyses.parts import WHOLE, Part
from laptime.analyses.ranges import starting_in
from laptime.model.arrays import IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import KIND_CODE, NULL, TRACK_KINDS

_THREAD = TRACK_KINDS.index("thread")
_WAITING_OPS = frozenset({"aten::_local_scalar_dense", "aten::nonzero", "aten::_unique2", "aten::unique_dim"})
"""Operators that wait for a device value when there is a device."""


def sync_rows(trace: Trace, *, has_device: bool) -> IntArray:
    """Blocking waits of host threads; on recordings without a device also the operators that would wait on one."""
    on_thread = trace.track_kind == _THREAD
    waits = on_thread & (trace.slices["kind"] == KIND_CODE["sync"])
    if not has_device:
        codes = [code for code, name in enumerate(trace.slices.texts("name")) if name in _WAITING_OPS]
        waits |= on_thread & np.isin(trace.slices["name"], codes)
    return np.flatnonzero(waits)


@dataclass(frozen=True)
class WaitGroup:
    """Waits of one call, causing operator and source line; what is unknown is None."""

    name: str
    op: str | None
    source: str | None
    rows: IntArray
    total_ns: int


def wait_groups(trace: Trace, rows: IntArray) -> list[WaitGroup]:
    """Timed waits grouped by call, causing operator and source line; the longest together first.

    The cause is the operator around the wait; where the source tells which operator makes the value waited for, that.
    """
    if not len(rows):
        return []
    ops, names = op_rows(trace), trace.slices.texts("name")
    around = OpTree(trace, ops).op_around(rows)
    cause = cause_of(trace, rows, "data")
    if len(ops):
        cause = np.where(around >= 0, ops[np.maximum(around, 0)], cause)
    causes = [names[trace.slices["name"][row]] if row >= 0 else None for row in cause.tolist()]
    sources = [
        own or made
        for own, made in zip(sources_of(trace, rows), sources_of(trace, np.where(cause >= 0, cause, rows)), strict=True)
    ]
    calls = [names[code] for code in trace.slices["name"][rows].tolist()]
    groups: dict[tuple[str, str | None, str | None], list[int]] = defaultdict(list)
    for place, key in enumerate(zip(calls, causes, sources, strict=True)):
        groups[key].append(place)
    dur = trace.slices["dur_ns"]
    found = [WaitGroup(*key, rows[places], int(dur[rows[places]].sum())) for key, places in groups.items()]
    return sorted(found, key=lambda group: -group.total_ns)


def waits(trace: Trace, *, has_device: bool, part: Part = WHOLE) -> list[dict[str, object]]:
    """Groups of waits as the report lists them."""
    rows = sync_rows(trace, has_device=has_device)
    rows = rows[starting_in(trace, rows, part)]
    rows = rows[trace.slices["dur_ns"][rows] != NULL]
    return [
        {
            "name": group.name,
            "op": group.op,
            "source": group.source,
            "count": len(group.rows),
            "total_ns": group.total_ns,
        }
        for group in wait_groups(trace, rows)
    ]
