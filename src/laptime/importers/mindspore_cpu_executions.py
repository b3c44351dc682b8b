"""`cpu_op_execute_timestamp_{id}.txt`: `full_name;HostCpuOps;start_ns,dur_ms,tid start_ns,dur_ms,tid ...`, a line per
operator. Starts are ns of the boot clock (MindSpore 2.0) or of the epoch (2.10); durations are decimal milliseconds."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from laptime.model.arrays import IntArray
from laptime.model.builder import TraceBuilder
from laptime.model.vocabulary import NULL

_EXECUTION = re.compile(
    r"(?<!\S)(\d{1,18}|[1-7]\d{18}),(\d{1,12}(?:\.\d{1,15})?(?:[eE][+-]?\d{1,2})?),(\d{1,9})(?!\S)", re.ASCII
)
_MOST_MS = 1e12
"""Thirty years; anything longer is no duration."""


@dataclass(frozen=True)
class Executions:
    """One row per execution, in order of start; `name` counts into `names`."""

    names: list[str]
    name: IntArray
    start: IntArray
    dur: IntArray
    thread: IntArray

    @property
    def end(self) -> IntArray:
        """Start + duration; the start where there is no duration."""
        return np.where(self.dur < 0, self.start, self.start + self.dur)


def read_executions(text: str, builder: TraceBuilder) -> Executions:
    """All executions; what cannot be read is counted as dropped."""
    names: dict[str, int] = {}
    codes: list[int] = []
    found: list[tuple[str, str, str]] = []
    for line in text.splitlines():
        full_name, _, rest = line.partition(";")
        _, marked, times = rest.partition(";")
        if not line.strip():
            continue
        rows = _EXECUTION.findall(times) if marked else []
        _count(builder, read=max(len(times.split()), 1), kept=len(rows))
        if rows:
            codes += [names.setdefault(full_name.strip(), len(names))] * len(rows)
            found += rows
    return _in_order(list(names), codes, found)


def _count(builder: TraceBuilder, *, read: int, kept: int) -> None:
    builder.read += read
    builder.drop("unreadable", read - kept)
    builder.warnings.add("other", "executions that cannot be read; dropped", read - kept)


def _in_order(names: list[str], codes: list[int], found: list[tuple[str, str, str]]) -> Executions:
    columns = list(zip(*found, strict=True)) or [(), (), ()]
    start = np.array(columns[0], "U19").astype(np.int64)
    milliseconds = np.array(columns[1], "U32").astype(np.float64)
    thread = np.array(columns[2], "U9").astype(np.int64)
    known = milliseconds < _MOST_MS
    # Six decimals at most: the product is a whole number but for the last bit of the double.
    dur = np.where(known, np.rint(np.where(known, milliseconds, 0) * 1e6).astype(np.int64), np.int64(NULL))
    order = np.argsort(start, kind="stable")
    name = np.array(codes, np.int64)
    return Executions(names, name[order], start[order], dur[order], thread[order])
