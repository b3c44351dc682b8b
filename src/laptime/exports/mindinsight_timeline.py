"""The timeline in MindInsight's processed folder: `ascend_timeline_display_{id}.json`, Chrome trace events in us.

Time 0 is the first execution of an operator. Processes: the device's number for AI Cores, 9000 AI CPU, 10000
communication; threads are streams. `ascend_timeline_summary_{id}.json`: total_time (us, the sum of executions),
num_of_streams, num_of_ops, op_exe_times, max_scope_name_num.
"""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from laptime.exports.mindinsight_executions import Executions, Operator, decimals, device_counts
from laptime.exports.mindinsight_steps import Regions
from laptime.exports.mindinsight_tables import joined, texts_of
from laptime.model.arrays import IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import NULL

AICPU_PROCESS, COMMUNICATION_PROCESS = 9000, 10000
_US_DIGITS = 2
"""Digits after the point of a count of 10 ns in us."""
_COUNTS_PER_US = 100


def display(
    trace: Trace, device: int, known: dict[int, Operator], found: Executions, regions: Regions, names: list[str]
) -> bytes:
    """All events; `names` are those of the regions."""
    kernels = _aicpu_rows(trace)
    starts = device_counts(trace, trace.slices["start_ns"][kernels])
    zero = _zero(found, regions, starts)
    labels = [trace.slices.texts("name")[code] for code in trace.slices["name"][kernels].tolist()]
    parts = [
        _names(device),
        _events(
            pa.array([_head(op.name, device) for op in known.values()]).take(pa.array(_places(found, known))),
            found.stream,
            found.start - zero,
            found.dur,
            texts_of(found, {op_id: f', "args": {json.dumps(_args(op))}' for op_id, op in known.items()}),
        ),
        _events(
            pa.array([_head(name.split("-")[0], AICPU_PROCESS) for name in labels], pa.string()),
            np.zeros(len(kernels), np.int64),
            starts - zero,
            trace.slices["dur_ns"][kernels] // 10,
            pa.array([""] * len(kernels), pa.string()),
        ),
        _events(
            pa.array([_head(name, COMMUNICATION_PROCESS) for name in names], pa.string()),
            regions.stream,
            regions.start - zero,
            regions.end - regions.start,
            pa.array([""] * len(names), pa.string()),
        ),
    ]
    return b"[" + b",\n".join(part for part in parts if part) + b"]\n"


def _places(found: Executions, known: dict[int, Operator]) -> IntArray:
    place_of = {op_id: place for place, op_id in enumerate(known)}
    return np.array([place_of[op_id] for op_id in found.op_id.tolist()], np.int64)


def _zero(found: Executions, regions: Regions, kernels: IntArray) -> int:
    """First execution of an operator; where there is none, the first of what there is."""
    return next((int(starts.min()) for starts in (found.start, kernels, regions.start) if len(starts)), 0)


def _aicpu_rows(trace: Trace) -> IntArray:
    """Named kernels of the AI CPU."""
    slices = trace.slices
    names = slices.texts("category")
    if "aicpu" not in names:
        return np.zeros(0, np.int64)
    wanted = (slices["category"] == names.index("aicpu")) & (slices["op_id"] >= 0) & (slices["dur_ns"] != NULL)
    return np.flatnonzero(wanted)


def _head(name: str, process: int) -> str:
    return f'{{"name": {json.dumps(name)}, "ph": "X", "pid": {process}, "tid": '


def _args(op: Operator) -> dict[str, object]:
    return {"type": op.op_type, "fullname": op.full_name, **op.sides}


def _names(device: int) -> bytes:
    """What the processes are, for those who open the file elsewhere."""
    processes = ((device, "AI Core"), (AICPU_PROCESS, "AI CPU"), (COMMUNICATION_PROCESS, "Communication"))
    events = (
        {"name": "process_name", "ph": "M", "pid": process, "args": {"name": name}} for process, name in processes
    )
    return ",\n".join(json.dumps(event) for event in events).encode()


def _events(heads: pa.Array, threads: IntArray, starts: IntArray, durations: IntArray, tails: pa.Array) -> bytes:
    count = len(threads)
    if not count:
        return b""

    def repeated(text: str) -> pa.Array:
        return pa.array([text] * count, pa.string())

    fields = [
        heads,
        pc.cast(pa.array(threads), pa.string()),
        repeated(', "ts": '),
        decimals(starts, _US_DIGITS),
        repeated(', "dur": '),
        decimals(durations, _US_DIGITS),
        tails,
    ]
    return joined(fields, "", "},\n").removesuffix(b",\n")


def summary(known: dict[int, Operator], found: Executions) -> str:
    """Sums over the executions of operators."""
    return json.dumps(
        {
            "total_time": int(found.dur.sum()) / _COUNTS_PER_US,
            "num_of_streams": len(np.unique(found.stream)),
            "num_of_ops": len(known),
            "op_exe_times": len(found),
            "max_scope_name_num": 0,
        }
    )
