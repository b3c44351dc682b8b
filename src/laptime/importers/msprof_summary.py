"""Rows of msprof's `op_summary` as slices, where no timeline holds the tasks: each with its operator and arguments."""

from __future__ import annotations

import re

import numpy as np

from laptime.importers.ascend_output_args import spooled_args
from laptime.importers.msprof_operators import COLLECTIVES, OperatorNames
from laptime.importers.msprof_tables import Summary, Sums
from laptime.model.arrays import BoolArray, CodeArray, IntArray, distinct_rows
from laptime.model.builder import BASE_KIND_CODE, GivenStep, TraceBuilder
from laptime.model.tracks import TrackKey
from laptime.model.vocabulary import NULL

HARDWARE = "Ascend Hardware"
_COLLECTIVE = re.compile(r"HCCL|COMMUNICATION", re.IGNORECASE)
_COLLECTIVE_NAME = re.compile(r"hcom_|hccl_", re.IGNORECASE)
_STEP = ("Step Id", "Step ID")
_OPERATOR = ("Op Name", "OP Type", "Task Type", "Input Shapes", "Input Data Types", "Output Shapes")
"""Some versions write `Op Type`."""


def is_collective_core(core: str) -> bool:
    """Whether a task type or a core is that of collectives."""
    return bool(_COLLECTIVE.match(core))


def collectives_in(rows: Summary) -> BoolArray:
    """Which rows are collectives."""
    types = rows.table.coded("Task Type").map(is_collective_core)
    names = rows.table.coded("Op Name").map(lambda text: bool(_COLLECTIVE_NAME.match(text)))
    return (types | names).astype(bool)


def add_summary(rows: Summary, device: int, operators: OperatorNames, builder: TraceBuilder) -> None:
    """Adds all rows: those of HCCL as collectives, all others as kernels."""
    count = len(rows.start)
    communication = collectives_in(rows)
    start, length = spooled_args(rows.table, builder)
    kinds = np.where(communication, BASE_KIND_CODE["communication"], BASE_KIND_CODE["kernel"])
    names = rows.table.coded("Op Name")
    builder.add_slices(
        count,
        {
            "track": _tracks(rows, communication, device, builder),
            "start": rows.start,
            "dur": rows.dur,
            "name": names.map(lambda name: builder.names.code(operators.shown(name))),
            "category": rows.table.coded("Task Type").map(builder.categories.code),
            "kind": kinds,
            "op": _ops(rows, communication, operators),
            "args_start": start,
            "args_length": length,
        },
    )


def _ops(rows: Summary, communication: BoolArray, operators: OperatorNames) -> IntArray:
    """Number of each row's operator; they are numbered in the order they appear."""
    columns = [rows.table.coded(name, name.title()) for name in _OPERATOR]
    first, place = distinct_rows([column.codes for column in columns])
    numbers = np.zeros(len(first), np.int64)
    for kind in np.argsort(first).tolist():
        row = first[kind]
        told = {name: column.texts[column.codes[row]] for name, column in zip(_OPERATOR, columns, strict=True)}
        core = COLLECTIVES if communication[row] else told["Task Type"]
        numbers[kind] = operators.add(told["Op Name"], core, told)
    return numbers[place]


def _tracks(rows: Summary, communication: BoolArray, device: int, builder: TraceBuilder) -> CodeArray:
    """The stream of each row; collectives have a lane of their own, for their rows name none."""
    devices = np.where(rows.device == NULL, device, rows.device)
    streams = np.where(communication, NULL, rows.table.integers("Stream ID", "Stream Id"))
    first, place = distinct_rows([devices, streams, communication.astype(np.int64)])
    codes = np.zeros(len(first), np.int32)
    for lane in np.argsort(first).tolist():
        row = first[lane]
        number = None if streams[row] == NULL else int(streams[row])
        process = COLLECTIVES if communication[row] else HARDWARE
        name = process if number is None else f"Stream {number}"
        builder.tracks.process_names[process] = process
        codes[lane] = builder.tracks.code(
            TrackKey("stream", process, "" if number is None else str(number), int(devices[row]), number, name=name)
        )
    return codes[place]


def steps_of(rows: Summary) -> list[GivenStep]:
    """Steps by their numbers in the table: from the first start to the last end."""
    steps = rows.table.coded(*_STEP)
    timed = (rows.start != NULL) & (rows.dur >= 0)
    found = []
    for code, text in enumerate(steps.texts):
        own = np.flatnonzero(timed & (steps.codes == code))
        if re.fullmatch(r"\d{1,17}", text) and len(own):
            span = int(rows.start[own].min()), int((rows.start + rows.dur)[own].max())
            found.append(GivenStep(int(text), *span, label=f"step {text}"))
    return found


def add_sums(rows: list[Sums], operators: OperatorNames, builder: TraceBuilder) -> None:
    """Adds sums by operator type, where no execution was exported."""
    for row in rows:
        op = operators.add(row.op_type, row.core, {"OP Type": row.op_type})
        mean = (2 * row.total_ns + row.count) // (2 * row.count) if row.count > 0 else None
        builder.op_totals["device"].append((op, row.count, row.total_ns, mean))
