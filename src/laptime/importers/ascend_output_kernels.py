"""kernel_details.csv: every kernel and collective of the device, with operator type, core, shapes and types.

Level 0 of the profiler writes 8 columns and no types. Metrics of the cores (aicore_time, aic_mac_ratio, ...) differ
between executions of one operator and are kept as arguments of the slices where this table makes the slices.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from laptime.importers.ascend_output_args import spooled_args
from laptime.importers.ascend_output_checks import Intervals
from laptime.importers.ascend_output_communication import Collectives
from laptime.importers.ascend_output_operators import Operator, Operators
from laptime.importers.ascend_output_tables import Coded, TextTable
from laptime.model.arrays import BoolArray, Column, IntArray, distinct_rows
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

    names: Coded
    start: IntArray
    dur: IntArray
    step: Coded
    stream: IntArray
    device: IntArray
    communication: BoolArray
    op: IntArray
    types: list[tuple[str, str]]
    """Distinct operator types and cores."""
    type_of: IntArray
    """Which of them each row has."""

    def work(self) -> Intervals:
        """All kernels and collectives."""
        work = Intervals()
        work.add(self.start, self.dur, self.communication)
        return work

    def by_type(self) -> dict[tuple[str, str], tuple[int, int]]:
        """Executions and their time by operator type and core."""
        counts = np.bincount(self.type_of, minlength=len(self.types))
        totals = np.zeros(len(self.types), np.int64)
        np.add.at(totals, self.type_of, np.maximum(self.dur, 0))
        return dict(zip(self.types, zip(counts.tolist(), totals.tolist(), strict=True), strict=True))

    def by_step(self) -> dict[str, Intervals]:
        """Kernels and collectives of each step; "" where the table has no steps."""
        found = {}
        for code, step in enumerate(self.step.texts):
            rows = np.flatnonzero(self.step.codes == code)
            found[step] = Intervals()
            found[step].add(self.start[rows], self.dur[rows], self.communication[rows])
        return found

    def op_by_start(self) -> dict[tuple[str, int], int]:
        """Operator by name and start; starts may be off by a nanosecond."""
        found: dict[tuple[str, int], int] = {}
        names = [self.names.texts[code] for code in self.names.codes.tolist()]
        for slack in reversed(_SLACK_NS):
            found.update(zip(zip(names, (self.start + slack).tolist(), strict=True), self.op.tolist(), strict=True))
        return found


def kernels_of(table: TextTable, collectives: Collectives, builder: TraceBuilder) -> Kernels:
    """Reads the table, and gives the builder its distinct operators."""
    names, cores, types = table.coded("Name"), table.coded("Accelerator Core"), table.coded("Type")
    start = table.times_ns("Start Time(us)")
    on_collective_core = cores.map(lambda core: core.upper() in _COLLECTIVE_CORES)
    communication = (on_collective_core | names.map(lambda name: bool(_COLLECTIVE_NAME.match(name)))).astype(bool)
    collectives.core = _core_of_collectives(cores, communication)
    operators = _numbered_operators(table, (names, types, cores), builder)
    for row in np.flatnonzero(communication).tolist():
        own = collectives.op_of(names.texts[names.codes[row]], int(start[row]))
        operators[row] = operators[row] if own is None else own
    first, type_of = distinct_rows([types.codes, cores.codes])
    return Kernels(
        names,
        start,
        table.times_ns("Duration(us)"),
        table.coded("Step Id", "Step ID", "Step"),
        table.integers("Stream ID", "Stream Id"),
        table.integers("Device_id", "Device ID", "Device Id"),
        communication,
        operators,
        [(types.texts[types.codes[row]], cores.texts[cores.codes[row]]) for row in first.tolist()],
        type_of,
    )


def _core_of_collectives(cores: Coded, communication: BoolArray) -> str:
    told = (cores.texts[code] for code in cores.codes[communication].tolist())
    return next((core for core in told if core), "HCCL")


def _numbered_operators(table: TextTable, told: tuple[Coded, Coded, Coded], builder: TraceBuilder) -> IntArray:
    """Number of each row's operator; they are numbered in the order they appear."""
    operators = Operators(builder)
    columns = [*told, *(table.coded(name) for name in ("Input Shapes", "Input Data Types", "Output Shapes"))]
    columns += [table.coded(*names) for names in _DETAILS.values()]
    first, place = distinct_rows([column.codes for column in columns])
    numbers = np.zeros(len(first), np.int64)
    for kind in np.argsort(first).tolist():
        values = [column.texts[column.codes[first[kind]]] for column in columns]
        details = tuple(zip(_DETAILS, values[6:], strict=True))
        numbers[kind] = operators.number(Operator(*values[:6], details))  # type: ignore[call-arg]  # of known length
    return numbers[place]


def add_kernel_slices(table: TextTable, kernels: Kernels, device: int | None, builder: TraceBuilder) -> None:
    """Makes device slices of the rows, where no timeline has them."""
    count = len(table)
    builder.read += count
    args_start, args_length = spooled_args(table, builder)
    kinds = np.where(kernels.communication, BASE_KIND_CODE["communication"], BASE_KIND_CODE["kernel"])
    columns: dict[str, Column] = {
        "track": _track_codes(kernels, device, builder),
        "start": kernels.start,
        "dur": kernels.dur,
        "name": kernels.names.map(builder.names.code),
        "category": np.full(count, builder.categories.code("kernel")),
        "kind": kinds,
        "op": kernels.op,
        "args_start": args_start,
        "args_length": args_length,
    }
    builder.add_slices(count, columns)


def _track_codes(kernels: Kernels, device: int | None, builder: TraceBuilder) -> IntArray:
    """The row of the timeline of each kernel; collectives have one of their own."""
    for process in (HARDWARE, COMMUNICATION):
        builder.tracks.process_names[process] = process
    places = np.where(kernels.device == NULL, NULL if device is None else device, kernels.device)
    streams = np.where(kernels.communication, NULL, kernels.stream)
    first, place = distinct_rows([places, streams, kernels.communication.astype(np.int64)])
    codes = np.zeros(len(first), np.int64)
    for lane in np.argsort(first).tolist():
        row = first[lane]
        own, number = (None if column[row] == NULL else int(column[row]) for column in (places, streams))
        process = COMMUNICATION if kernels.communication[row] else HARDWARE
        name = process if number is None else ""
        tid = "" if number is None else str(number)
        codes[lane] = builder.tracks.code(TrackKey("stream", process, tid, own, number, name=name))
    return codes[place]
