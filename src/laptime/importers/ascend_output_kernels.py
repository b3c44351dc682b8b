"""kernel_details.csv: every kernel and collective of the device, with operator type, core, shapes and types.

Level 0 of the profiler writes 8 columns and no types. Metrics of the cores (aicore_time, aic_mac_ratio, ...) differ
between executions of one operator and are kept as arguments of the slices where this table makes the slices.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec
import numpy as np

from laptime.importers.ascend_output_checks import Intervals
from laptime.importers.ascend_output_communication import Collectives
from laptime.importers.ascend_output_operators import Operator, Operators
from laptime.importers.ascend_output_tables import TextTable, rows_of_each
from laptime.model.arrays import BoolArray, Column, IntArray
from laptime.model.builder import BASE_KIND_CODE, TraceBuilder
from laptime.model.tracks import TrackKey
from laptime.model.vocabulary import NULL

HARDWARE, COMMUNICATION = "Ascend Hardware", "Communication"
_COLLECTIVE_CORES = frozenset({"HCCL", "COMMUNICATION"})
_COLLECTIVE_NAME = re.compile(r"hcom_|hccl_", re.IGNORECASE)
_DETAILS = {
    "op_state": ("OP State",),
    "input_formats": ("Input Formats",),
    "output_formats": ("Output Formats",),
    "output_dtypes": ("Output Data Types",),
    "block_dim": ("Block Dim", "Block Num"),
    "mix_block_dim": ("Mix Block Dim", "Mix Block Num"),
    "hf32_eligible": ("HF32 Eligible",),
}
"""Keys of an operator's `info`, and the columns they come from."""
_SLACK_NS = (0, 1, -1)
"""The timeline and this table round the same time differently."""


@dataclass(frozen=True)
class Kernels:
    """Rows of the table."""

    names: list[str]
    start: IntArray
    dur: IntArray
    step: list[str]
    stream: IntArray
    device: IntArray
    communication: BoolArray
    op: IntArray
    types: list[tuple[str, str]]
    """Operator type and core."""

    def work(self) -> Intervals:
        """All kernels and collectives."""
        work = Intervals()
        work.add(self.start, self.dur, self.communication)
        return work

    def by_type(self) -> dict[tuple[str, str], tuple[int, int]]:
        """Executions and their time by operator type and core."""
        sums: dict[tuple[str, str], tuple[int, int]] = {}
        for key, dur in zip(self.types, np.maximum(self.dur, 0).tolist(), strict=True):
            count, total = sums.get(key, (0, 0))
            sums[key] = count + 1, total + dur
        return sums

    def by_step(self) -> dict[str, Intervals]:
        """Kernels and collectives of each step; "" where the table has no steps."""
        found = {}
        for step, rows in rows_of_each(self.step).items():
            found[step] = Intervals()
            found[step].add(self.start[rows], self.dur[rows], self.communication[rows])
        return found

    def op_by_start(self) -> dict[tuple[str, int], int]:
        """Operator by name and start; starts may be off by a nanosecond."""
        found: dict[tuple[str, int], int] = {}
        for slack in reversed(_SLACK_NS):
            for name, start, op in zip(self.names, self.start.tolist(), self.op.tolist(), strict=True):
                found[name, start + slack] = op
        return found


def kernels_of(table: TextTable, collectives: Collectives, builder: TraceBuilder) -> Kernels:
    """Reads the table, and gives the builder its distinct operators."""
    names, cores, types = table.texts("Name"), table.texts("Accelerator Core"), table.texts("Type")
    start = table.times_ns("Start Time(us)")
    communication = [
        core.upper() in _COLLECTIVE_CORES or bool(_COLLECTIVE_NAME.match(name))
        for name, core in zip(names, cores, strict=True)
    ]
    collectives.core = next((cores[row] for row in np.flatnonzero(communication).tolist() if cores[row]), "HCCL")
    operators = _numbered_operators(table, names, types, cores, builder)
    for row in np.flatnonzero(communication).tolist():
        own = collectives.op_of(names[row], int(start[row]))
        operators[row] = operators[row] if own is None else own
    return Kernels(
        names,
        start,
        table.times_ns("Duration(us)"),
        table.texts("Step Id", "Step ID", "Step"),
        table.integers("Stream ID", "Stream Id"),
        table.integers("Device_id", "Device ID", "Device Id"),
        np.array(communication, bool),
        np.array(operators, np.int64),
        list(zip(types, cores, strict=True)),
    )


def _numbered_operators(
    table: TextTable, names: list[str], types: list[str], cores: list[str], builder: TraceBuilder
) -> list[int]:
    operators = Operators(builder)
    shapes, dtypes, outputs = (table.texts(name) for name in ("Input Shapes", "Input Data Types", "Output Shapes"))
    details = zip(*(table.texts(*columns) for columns in _DETAILS.values()), strict=True)
    return [
        operators.number(Operator(name, kind, core, shape, dtype, output, tuple(zip(_DETAILS, own, strict=True))))
        for name, kind, core, shape, dtype, output, own in zip(
            names, types, cores, shapes, dtypes, outputs, details, strict=True
        )
    ]


def add_kernel_slices(table: TextTable, kernels: Kernels, device: int | None, builder: TraceBuilder) -> None:
    """Makes device slices of the rows, where no timeline has them."""
    count = len(table)
    builder.read += count
    args_start, args_length = _spooled_args(table, builder)
    kinds = np.where(kernels.communication, BASE_KIND_CODE["communication"], BASE_KIND_CODE["kernel"])
    columns: dict[str, Column] = {
        "track": _track_codes(kernels, device, builder),
        "start": kernels.start,
        "dur": kernels.dur,
        "name": builder.names.codes(kernels.names),
        "category": np.full(count, builder.categories.code("kernel")),
        "kind": kinds,
        "op": kernels.op,
        "args_start": args_start,
        "args_length": args_length,
    }
    builder.add_slices(count, columns)


def _track_codes(kernels: Kernels, device: int | None, builder: TraceBuilder) -> IntArray:
    for process in (HARDWARE, COMMUNICATION):
        builder.tracks.process_names[process] = process
    codes = []
    for own, stream, communication in zip(
        kernels.device.tolist(), kernels.stream.tolist(), kernels.communication.tolist(), strict=True
    ):
        place = device if own == NULL else own
        number = None if stream == NULL or communication else stream
        tid = "" if number is None else str(number)
        process = COMMUNICATION if communication else HARDWARE
        name = process if number is None else ""
        codes.append(builder.tracks.code(TrackKey("stream", process, tid, place, number, name=name)))
    return np.array(codes, np.int64)


def _spooled_args(table: TextTable, builder: TraceBuilder) -> tuple[IntArray, IntArray]:
    name_of = {place: name for name, place in table.columns.items()}
    starts, lengths = [], []
    for row in table.rows:
        known = {name_of[place]: value.strip() for place, value in enumerate(row) if place in name_of}
        text = msgspec.json.encode({name: value for name, value in known.items() if value not in ("", "N/A")})
        starts.append(builder.spool.add(text))
        lengths.append(len(text))
    return np.array(starts, np.int64), np.array(lengths, np.int64)
