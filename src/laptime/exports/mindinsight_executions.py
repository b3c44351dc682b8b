"""What the processed folder of MindInsight says of a device's work, taken from a trace: operators and executions.

Times are counts of 10 ns on the device's own clock, as all files of that folder have them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from laptime.model.arrays import IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import KINDS, NULL

NS_PER_COUNT = 10
COUNTS_PER_MS = 100_000
_NOT_OF_THE_OPERATOR = ("block_dim", "tasks")
"""Keys of `info` that have columns of their own."""


@dataclass(frozen=True)
class Operator:
    """An operator of the AI Cores."""

    full_name: str
    name: str
    op_type: str
    subgraph: str
    sides: dict[str, object]
    """`input_0`, ..., `output_0`: format, data_type and shape."""
    block_dim: int | None
    tasks: list[dict[str, int]]
    """task_id, stream_id and, where known, graph_id: as the framework numbered them."""


@dataclass(frozen=True)
class Executions:
    """Executions in order of time, one entry each."""

    op_id: IntArray
    stream: IntArray
    start: IntArray
    dur: IntArray
    task: IntArray
    """NULL where it is unknown."""

    def __len__(self) -> int:
        return len(self.op_id)


@dataclass(frozen=True)
class OperatorTime:
    """What an operator took in all. A round of an operator of several tasks is one execution of each."""

    op_id: int
    stream: int
    executions: int
    rounds: int
    counts: int

    @property
    def mean_ms(self) -> float:
        """Time of a round."""
        return self.counts / self.rounds / COUNTS_PER_MS


def device_counts(trace: Trace, ns: IntArray) -> IntArray:
    """Times of the trace on the device's clock."""
    origin = trace.meta["origin_ns"]
    return np.asarray((ns + int(str(origin))) // NS_PER_COUNT)


def operators(trace: Trace) -> dict[int, Operator]:
    """Operators of the AI Cores by number."""
    return {
        int(str(row["op_id"])): _operator(row)
        for row in trace.ops.arrow().to_pylist()
        if row["device_kind"] == "ai_core"
    }


def _operator(row: dict[str, object]) -> Operator:
    info = json.loads(str(row["info"])) if row["info"] else {}
    return Operator(
        full_name=str(row["full_name"] or row["name"]),
        name=str(row["name"]),
        op_type=str(row["op_type"] or row["name"]),
        subgraph=str(row["subgraph"] or ""),
        sides={key: value for key, value in info.items() if key not in _NOT_OF_THE_OPERATOR},
        block_dim=info.get("block_dim"),
        tasks=info.get("tasks", []),
    )


def executions(trace: Trace, known: dict[int, Operator]) -> Executions:
    """Kernels of these operators on numbered streams."""
    slices = trace.slices
    slices.load("kind", "op_id", "track_id", "start_ns", "dur_ns")
    streams = trace.tracks["stream"]
    wanted = np.isin(slices["op_id"], list(known)) & (slices["kind"] == KINDS.index("kernel"))
    wanted &= slices["dur_ns"] != NULL
    rows = np.flatnonzero(wanted)
    rows = rows[streams[slices["track_id"][rows]] != NULL]
    rows = rows[np.argsort(slices["start_ns"][rows], kind="stable")]
    return Executions(
        op_id=slices["op_id"][rows].astype(np.int64),
        stream=streams[slices["track_id"][rows]],
        start=device_counts(trace, slices["start_ns"][rows]),
        dur=slices["dur_ns"][rows] // NS_PER_COUNT,
        task=_tasks(trace, rows),
    )


def _tasks(trace: Trace, rows: IntArray) -> IntArray:
    """`task_id` of the slices' arguments."""
    texts = trace.table("args").arrow(["args"])["args"].take(pa.array(rows)).combine_chunks().dictionary_encode()
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    numbers = [_task(text) for text in texts.dictionary.to_pylist()]
    codes = texts.indices.fill_null(len(numbers)).to_numpy(zero_copy_only=False)
    return np.asarray(np.array([*numbers, NULL], np.int64)[codes])


def _task(text: str | None) -> int:
    task = json.loads(text).get("task_id") if text else None
    return task if isinstance(task, int) else NULL


def operator_times(found: Executions) -> list[OperatorTime]:
    """Time of each operator that ran, in order of first execution.

    The executions of its first task count its rounds, so that a mean is the time of all its tasks.
    """
    order = np.argsort(found.op_id, kind="stable")
    ids, first, count = np.unique(found.op_id[order], return_index=True, return_counts=True)
    if not len(ids):
        return []
    group = np.searchsorted(ids, found.op_id)
    first_row = order[first]
    rounds = np.bincount(group, found.task == found.task[first_row][group], len(ids)).astype(np.int64)
    total = np.add.reduceat(found.dur[order], first)
    by_time = np.argsort(first_row, kind="stable")
    return [
        OperatorTime(*(int(value) for value in row))
        for row in zip(
            ids[by_time],
            found.stream[first_row][by_time],
            count[by_time],
            rounds[by_time],
            total[by_time],
            strict=True,
        )
    ]


def decimals(counts: IntArray, digits: int) -> pa.Array:
    """Counts divided by 10**digits, exactly, as text."""
    whole, rest = np.divmod(counts, 10**digits)
    padded = pc.utf8_lpad(pc.cast(pa.array(rest), pa.string()), digits, "0")
    return pc.binary_join_element_wise(pc.cast(pa.array(whole), pa.string()), padded, ".")
