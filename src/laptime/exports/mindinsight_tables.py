"""Tables of operators in MindInsight's processed folder, in the dialect of MindSpore 2.0 to 2.3.

framework_raw_{id}.csv               a row for each task of an operator, with its inputs and outputs
aicore_intermediate_{id}_detail.csv  mean time (ms) and executions of each operator
aicore_intermediate_{id}_type.csv    total time (ms), executions, and share (0 to 1) of each type
output_op_compute_time_{id}.txt      mean time (ms) and stream of each operator
output_op_compute_time_detail_{id}.txt   the same for reading: per step, by type and by operator
output_timeline_data_{id}.txt        start (ms of the device's clock), duration (ms) and stream of each execution
min_cycle_counter_{id}.txt           the device's clock at the first of them
aicpu_intermediate_{id}.csv          kernels of the AI CPU (ms; us of their own clock)
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from laptime.exports.mindinsight_executions import (
    COUNTS_PER_MS,
    Executions,
    Operator,
    OperatorTime,
    decimals,
)
from laptime.model.trace import Trace

_FRAMEWORK = "task_id,stream_id,block_dim,full_kernel_name,op_name,kernel_name,kernel_type,subgraph,op_info,graph_id"
_AICPU = "serial_number,kernel_type,total_time,dispatch_time,execution_time,run_start,run_end"
_MS_DIGITS = 5
"""Digits after the point of a count of 10 ns in ms."""


def framework_raw(known: Iterable[Operator]) -> str:
    """One row for each task, in order of task; operators without a task at the end, without a number."""
    rows = [(op, task) for op in known for task in op.tasks or [{}]]
    last = 1 << 62
    rows.sort(key=lambda row: (row[1].get("task_id", last), row[1].get("stream_id", last)))
    return csv_text(
        _FRAMEWORK.split(","),
        (
            [
                task.get("task_id"),
                task.get("stream_id"),
                op.block_dim,
                op.full_name,
                op.full_name,
                op.name,
                op.op_type,
                op.subgraph,
                json.dumps(op.sides),
                task.get("graph_id"),
            ]
            for op, task in rows
        ),
    )


def aicore_detail(known: dict[int, Operator], times: Sequence[OperatorTime]) -> str:
    """Means of operators."""
    rows = ([known[time.op_id].full_name, time.mean_ms, time.executions] for time in times)
    return csv_text(["full_kernel_name", "execution_time", "execution_frequency"], rows)


def aicore_type(known: dict[int, Operator], times: Sequence[OperatorTime]) -> str:
    """Totals of types, longest first."""
    totals: dict[str, list[int]] = {}
    for time in times:
        entry = totals.setdefault(known[time.op_id].op_type, [0, 0])
        entry[0] += time.counts
        entry[1] += time.executions
    everything = sum(counts for counts, _ in totals.values())
    rows = (
        [op_type, counts / COUNTS_PER_MS, count, round(counts / everything, 8) if everything else 0]
        for op_type, (counts, count) in sorted(totals.items(), key=lambda item: -item[1][0])
    )
    return csv_text(["kernel_type", "total_time", "execution_frequency", "percent"], rows)


def compute_time(known: dict[int, Operator], times: Sequence[OperatorTime]) -> str:
    """Means of operators as a text table; the last line is their sum."""
    lines = [f"{known[time.op_id].full_name} {time.mean_ms} {time.stream}" for time in times]
    total = sum(time.mean_ms for time in times)
    head = [
        "op compute time".center(55, "="),
        "op_name compute_time(ms) stream_id",
        "------- ---------------- ---------",
    ]
    return "\n".join([*head, *lines, f"total op {total} 0", ""])


def compute_report(known: dict[int, Operator], times: Sequence[OperatorTime]) -> str:
    """Times per step for reading: sums of the means by type, then all operators, longest type first."""
    by_type: dict[str, list[OperatorTime]] = {}
    for time in times:
        by_type.setdefault(known[time.op_id].op_type, []).append(time)
    sums = {op_type: sum(time.mean_ms for time in own) for op_type, own in by_type.items()}
    order = sorted(sums, key=lambda op_type: -sums[op_type])
    total = sum(sums.values()) or 1.0
    types = [
        [op_type, f"{sums[op_type]:.6f}", str(len(by_type[op_type])), f"{100 * sums[op_type] / total:.2f}"]
        for op_type in order
    ]
    details = [
        [known[time.op_id].name, op_type, f"{time.mean_ms:.6f}", known[time.op_id].subgraph]
        for op_type in order
        for time in sorted(by_type[op_type], key=lambda time: -time.mean_ms)
    ]
    columns = ["optype_name", "compute_time(ms, per-step)", "called_times(per-step)", "percent"]
    head = "op compute time".center(55, "=")
    detail_columns = ["op_name", "op_type", "avg_execution_time", "subgraph"]
    return "\n".join([head, *_aligned(columns, types), "", "Detail:", *_aligned(detail_columns, details), ""])


def _aligned(columns: list[str], rows: list[list[str]]) -> Iterator[str]:
    """A table with blanks between columns; numbers to the right."""
    widths = [max(len(row[place]) for row in [columns, *rows]) for place in range(len(columns))]
    for row in [columns, ["-" * width for width in widths], *rows]:
        cells = (
            cell.rjust(width) if cell[:1].isdigit() else cell.ljust(width)
            for cell, width in zip(row, widths, strict=True)
        )
        yield "  ".join(cells).rstrip()


def timeline_data(known: dict[int, Operator], found: Executions) -> bytes:
    """All executions in order of time."""
    fields = [
        texts_of(found, {op_id: _csv_field(op.full_name) for op_id, op in known.items()}),
        pc.cast(pa.array(found.stream), pa.string()),
        decimals(found.start, _MS_DIGITS),
        decimals(found.dur, _MS_DIGITS),
    ]
    return b"op_name, stream_id, start_time(ms), duration(ms)\n" + joined(fields, ",", "\n")


def texts_of(found: Executions, by_op: dict[int, str]) -> pa.Array:
    """A text of each execution's operator."""
    places = {op_id: place for place, op_id in enumerate(by_op)}
    codes = np.array([places[op_id] for op_id in found.op_id.tolist()], np.int64)
    return pa.array(list(by_op.values()), pa.string()).take(pa.array(codes))


def joined(fields: Sequence[pa.Array], between: str, end: str) -> bytes:
    """Rows of several columns of text, each closed by `end`."""
    rows = pc.binary_join_element_wise(*fields, between)
    return "".join(f"{row}{end}" for row in rows.to_pylist()).encode()


def aicpu(trace: Trace) -> str | None:
    """Runs of named AI CPU kernels that both sides told of; None where there is none."""
    slices = trace.slices
    names = slices.texts("category")
    rows = np.flatnonzero(slices["category"] == (names.index("aicpu") if "aicpu" in names else -2))
    rows = rows[slices["op_id"][rows] >= 0]
    args = trace.table("args").arrow(["args"])["args"].take(pa.array(rows)).to_pylist()
    durations = slices["dur_ns"][rows].tolist()
    texts = slices.texts("name")
    kernels = []
    for row, text, dur in zip(rows.tolist(), args, durations, strict=True):
        facts = json.loads(text) if text else {}
        if {"run_start_us", "run_end_us", "dispatch_us"} <= facts.keys():
            start, end = facts["run_start_us"], facts["run_end_us"]
            name = texts[slices["name"][row]].split("-")[0]
            total_us = facts.get("total_us", dur / 1e3)
            kernels.append([name, total_us / 1e3, facts["dispatch_us"] / 1e3, (end - start) / 1e3, start, end])
    if not kernels:
        return None
    kernels.sort(key=lambda kernel: kernel[4])
    return csv_text(_AICPU.split(","), ([number, *kernel] for number, kernel in enumerate(kernels, start=1)))


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV with one line of names; unknown is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(["" if value is None else value for value in row] for row in rows)
    return text.getvalue()


def _csv_field(text: str) -> str:
    return csv_text([text], []).rstrip("\n")
