"""Where a slice was called from: the operator around it, and the user's source line."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from laptime.model.arrays import BoolArray, IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import KIND_CODE, NULL, TRACK_KINDS

_THREAD = TRACK_KINDS.index("thread")
_FRAMEWORK_FILE = re.compile(r"(?:^|/)(?:torch|torchvision|site-packages|dist-packages|lib/python3?[\d.]*)/")
_OF_FRAME = ("stack_id", "function", "file", "line")
_STANDARD_PACKAGES = sys.stdlib_module_names - {"test"}
_STANDARD_FILES = frozenset({"threading.py", "contextlib.py", "functools.py", "queue.py", "runpy.py"})


def op_rows(trace: Trace) -> IntArray:
    """Timed framework operators, in slice order."""
    timed = trace.slices["dur_ns"] != NULL
    return np.flatnonzero((trace.track_kind == _THREAD) & (trace.slices["kind"] == KIND_CODE["op"]) & timed)


def scope_rows(trace: Trace) -> IntArray:
    """Timed ranges of threads; they stand for the operators of a recording that has none."""
    timed = trace.slices["dur_ns"] != NULL
    return np.flatnonzero((trace.track_kind == _THREAD) & (trace.slices["kind"] == KIND_CODE["scope"]) & timed)


class OpTree:
    """Operators and the nearest operator around each of them; rows are positions among the operators."""

    def __init__(self, trace: Trace, ops: IntArray) -> None:
        self._parents = trace.slices["parent_id"]
        self._place = np.full(len(self._parents), -1, np.int64)
        self._place[ops] = np.arange(len(ops))
        self.parent = self._nearest(self._parents[ops]) if len(ops) else np.empty(0, np.int64)

    def op_around(self, slices: IntArray) -> IntArray:
        """Row of the innermost operator that a slice lies in, itself included; -1 where there is none."""
        return self._nearest(slices)

    def _nearest(self, slices: IntArray) -> IntArray:
        """Row of the first operator on the way up from each slice."""
        current = np.where(slices == NULL, -1, slices)
        pending = np.flatnonzero(current >= 0)
        while len(pending):
            pending = pending[self._place[current[pending]] < 0]
            current[pending] = np.where(self._parents[current[pending]] == NULL, -1, self._parents[current[pending]])
            pending = pending[current[pending] >= 0]
        return np.where(current >= 0, self._place[np.maximum(current, 0)], -1)

    def time_of_children(self, start: IntArray, end: IntArray) -> IntArray:
        """For each operator the time in which an operator directly inside it runs; children that cross count once."""
        rows = np.flatnonzero(self.parent >= 0)
        rows = rows[np.lexsort((start[rows], self.parent[rows]))]
        parent = self.parent[rows]
        # The latest end so far among siblings: ends as ranks, so that one running maximum serves all parents.
        by_end = np.argsort(end[rows], kind="stable")
        rank = np.empty(len(rows), np.int64)
        rank[by_end] = np.arange(len(rows))
        family = np.cumsum(np.concatenate([[False], parent[1:] != parent[:-1]])) if len(rows) else rows
        latest = np.maximum.accumulate(family * len(rows) + rank) - family * len(rows)
        covered_to = np.full(len(rows), NULL, np.int64)
        same = np.flatnonzero(parent[1:] == parent[:-1]) + 1
        covered_to[same] = end[rows][by_end][latest[same - 1]]
        added = np.maximum(end[rows] - np.maximum(start[rows], covered_to), 0)
        return np.bincount(parent, weights=added, minlength=len(start)).astype(np.int64)

    def sum_with_descendants(self, values: IntArray) -> IntArray:
        """For each operator its value and those of all operators inside it."""
        total = values.copy()
        carrying = np.flatnonzero((self.parent >= 0) & (values != 0))
        target = self.parent[carrying]
        carried = values[carrying]
        while len(target):
            np.add.at(total, target, carried)
            above = self.parent[target]
            goes_on = above >= 0
            target, carried = above[goes_on], carried[goes_on]
        return total

    def outermost(self, group: IntArray) -> BoolArray:
        """Whether no operator around an operator belongs to its group, so that its time counts once."""
        nested = np.zeros(len(group), bool)
        rows = np.flatnonzero(self.parent >= 0)
        above = self.parent[rows]
        while len(rows):
            nested[rows] |= group[above] == group[rows]
            above = self.parent[above]
            goes_on = (above >= 0) & ~nested[rows]
            rows, above = rows[goes_on], above[goes_on]
        return ~nested


@dataclass(frozen=True)
class Frame:
    """A function of a call stack, and the line in it."""

    function: str | None
    file: str
    line: int | None


def user_frames(trace: Trace, rows: IntArray) -> list[Frame | None]:
    """The innermost frame of each row outside the framework's own files; where there is none, of those."""
    stack_id = trace.slices["stack_id"][rows]
    table = trace.table("stacks").arrow()
    wanted = pa.array(np.unique(stack_id[stack_id != NULL]).astype(np.int32))
    stacks = table.filter(pc.is_in(table["stack_id"], value_set=wanted)).to_pydict()
    place: dict[int, Frame] = {}
    inside_framework: dict[int, Frame] = {}
    for key, function, file, line in zip(*(stacks[name] for name in _OF_FRAME), strict=True):
        if file is None or file.startswith("<"):
            continue
        (inside_framework if _is_framework_file(file) else place).setdefault(key, Frame(function, file, line))
    place = {**inside_framework, **place}
    return [place.get(key) for key in stack_id.tolist()]


def sources_of(trace: Trace, rows: IntArray) -> list[str | None]:
    """`file:line` of each row's frame in `user_frames`."""
    return [f"{frame.file}:{frame.line}" if frame else None for frame in user_frames(trace, rows)]


def stack_holders(trace: Trace, rows: IntArray) -> IntArray:
    """Of each row the slice that has its call stack: itself, else the innermost one around it; -1 without one."""
    stacks, parents = trace.slices["stack_id"], trace.slices["parent_id"]
    current = np.asarray(rows).copy()
    pending = np.flatnonzero(stacks[current] == NULL)
    while len(pending):
        current[pending] = np.where(parents[current[pending]] == NULL, -1, parents[current[pending]])
        pending = pending[current[pending] >= 0]
        pending = pending[stacks[current[pending]] == NULL]
    return current


def frames_of(trace: Trace, stack_id: int) -> list[dict[str, object]]:
    """Frames of a call stack, innermost first."""
    table = trace.table("stacks")
    frames = table.arrow().take(np.flatnonzero(table["stack_id"] == stack_id)).to_pylist()
    return [{key: frame[key] for key in ("function", "file", "line")} for frame in frames]


def _is_framework_file(file: str) -> bool:
    """Whether a file is the framework's, an installed package's or Python's own, not the user's."""
    if _FRAMEWORK_FILE.search(file) or file in _STANDARD_FILES:
        return True
    package, slash, _ = file.partition("/")
    return bool(slash) and package in _STANDARD_PACKAGES
