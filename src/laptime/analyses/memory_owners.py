"""What blocks of memory are called, and which operator made them.

Definitions: docs/definitions.md, "Memory".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.analyses.call_sites import OpTree, op_rows
from laptime.model.arrays import IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import NULL

Json = dict[str, object]
_TOLD = ("name", "layout", "size_bytes", "start_ns", "end_ns", "slice_id")


class Owners:
    """Says of blocks what they are called and which operator made them."""

    def __init__(self, trace: Trace) -> None:
        self._table = trace.table("allocations")
        self._op_names = trace.ops.objects("name")
        self._trace = trace

    def described(self, rows: IntArray) -> list[Json]:
        """One entry of `live_at_peak` for each row."""
        table = self._table
        columns: dict[str, Sequence[object]] = {key: list(map(or_none, table[key][rows].tolist())) for key in _TOLD}
        columns["op"] = self.ops(rows)
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]

    def ops(self, rows: IntArray) -> list[str | None]:
        """The operator told, else the innermost one around the allocation, else the block's name where it is one's."""
        told, around = self._table["op_id"][rows], self._around(self._table["slice_id"][rows])
        known = set(self._op_names)
        return [
            str(self._op_names[op])
            if op != NULL
            else near
            if near is not None
            else str(name)
            if name in known and name is not None
            else None
            for op, near, name in zip(told.tolist(), around, self._table["name"][rows].tolist(), strict=True)
        ]

    def _around(self, slices: IntArray) -> list[str | None]:
        known = np.flatnonzero(slices != NULL)
        names: list[str | None] = [None] * len(slices)
        if not len(known):
            return names
        self._trace.slices.load("parent_id", "name")
        ops = op_rows(self._trace)
        inside = OpTree(self._trace, ops).op_around(slices[known])
        texts, codes = self._trace.slices.texts("name"), self._trace.slices["name"]
        for place, op in zip(known.tolist(), inside.tolist(), strict=True):
            names[place] = texts[codes[ops[op]]] if op >= 0 else None
        return names


def or_none(value: object) -> object:
    """A value of an integer column, None for NULL."""
    return None if value == NULL else value
