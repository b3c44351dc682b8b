"""What an Ascend job recorded beside the two device logs: AI CPU, data transfer, the clocks at its start.

AICPU: parts separated by NUL, in pairs: `Node:NAME, Run start:T[ COUNT], ..., Run end:T[ COUNT]` (older ones say
`Run tart`; T in us, COUNT in 10 ns) and `Thread[..] .., tickDrvTopHalf=COUNT, .., tickAfterRun=COUNT,
dispatchTime=N us, totalTime=N us`. Only the second half places the kernel on the device's clock.
AICPUMI: `Node:NAME, Run start:T, Run end:T, queue size:N` when a batch is fetched. TDT: `[us] Enqueue data to dp,
source:.., index:N, size:N` when one is sent. host_start.log, dev_start.log: `[DeviceN]` and `name: value`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from laptime.importers.ascend_ai_cpu import AI_CPU, AiCpuRuns, add_ai_cpu_slices, ai_cpu_args, ai_cpu_kind
from laptime.importers.ascend_job_graph import short_name, subgraph_of, text_lines, type_of
from laptime.importers.ascend_job_slices import LARGEST_COUNT, NS_PER_COUNT
from laptime.importers.minddata import DEVICE_QUEUE
from laptime.model.builder import Op, TraceBuilder

_US = 1_000
_N = r"(\d{1,15})"
_NODE = re.compile(rf"Node:([^,]+),\s*Run s?tart:\s*{_N}(?: {_N})?.*?Run end:\s*{_N}(?: {_N})?")
_THREAD = re.compile(rf"Thread\[.*?tickDrvTopHalf={_N}.*?tickAfterRun={_N}.*?dispatchTime={_N} us,\s*totalTime={_N} us")
_FETCH = re.compile(rf"Node:([^,]+),\s*Run s?tart:\s*{_N}.*?Run end:\s*{_N}.*?queue size:\s*{_N}")
_SEND = re.compile(rf"\[{_N}\]\s*Enqueue data to dp,.*?size:{_N}")
_CLOCK_LINE = re.compile(r"^(\w+)\s*:\s*(\d{1,19})\b")
_DEVICE_LINE = re.compile(r"^\[\s*Device\s*(\d{1,9})\s*\]", re.IGNORECASE)
TRANSFER_QUEUE = "transfer"
"""Batches that wait on the host to be sent to the chip."""
_LONGEST_LINE = 4096


@dataclass
class _Kernel:
    """A run of an AI CPU kernel."""

    node: str | None = None
    start_count: int | None = None
    dur_ns: int = 0
    times_ns: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str | None:
        return None if self.node is None else short_name(self.node)

    @property
    def is_placed(self) -> bool:
        """Whether a count tells where on the device's clock it ran."""
        return self.start_count is not None and self.start_count < LARGEST_COUNT


def read_aicpu(slices: Sequence[bytes], device: int, builder: TraceBuilder) -> None:
    """Runs of AI CPU kernels as slices; sums of those that no clock places or that only wait."""
    kernels: list[_Kernel] = []
    lines, bad = _lines(slices), 0
    waiting = False
    for line in lines:
        node, thread = _NODE.search(line), _THREAD.search(line)
        if node:
            kernels.append(_started(node))
        elif thread:
            if not waiting:
                kernels.append(_Kernel())
            _finish(kernels[-1], thread)
        else:
            bad += 1
        waiting = node is not None
    builder.read += len(lines)
    builder.drop("bad_line", bad)
    builder.warnings.add("other", "lines of the AI CPU log that say nothing; left out", bad)
    ops = {node: _add_op(node, builder) for node in dict.fromkeys(kernel.node for kernel in kernels) if node}
    placed = [kernel for kernel in kernels if kernel.is_placed]
    add_ai_cpu_slices(_runs(placed, ops), device, builder)
    summed = [kernel for kernel in kernels if not kernel.is_placed or ai_cpu_kind(kernel.name) == "data"]
    _add_totals(summed, ops, builder)


def _lines(slices: Sequence[bytes]) -> list[str]:
    """Lines cut to a length that none of these logs has: patterns with gaps take their time on endless ones."""
    return [line[:_LONGEST_LINE] for line in text_lines(slices)]


def _started(match: re.Match[str]) -> _Kernel:
    title, start, start_count, end, end_count = match.groups()
    name = title.strip() or None
    times = {"run_start": int(start) * _US, "run_end": int(end) * _US}
    if start_count and end_count:
        return _Kernel(name, int(start_count), (int(end_count) - int(start_count)) * NS_PER_COUNT, times)
    return _Kernel(name, None, (int(end) - int(start)) * _US, times)


def _finish(kernel: _Kernel, match: re.Match[str]) -> None:
    """The device's own account of the run counts before the kernel's."""
    start, _, dispatch, total = (int(value) for value in match.groups())
    kernel.start_count, kernel.dur_ns = start, total * _US
    kernel.times_ns |= {"dispatch": dispatch * _US, "total": total * _US}


def _add_op(node: str, builder: TraceBuilder) -> int:
    name = short_name(node)
    return builder.add_op(
        Op(name=name, op_type=type_of(name), full_name=node, subgraph=subgraph_of(node), device_kind=AI_CPU)
    )


def _runs(kernels: list[_Kernel], ops: dict[str, int]) -> AiCpuRuns:
    return AiCpuRuns(
        names=[kernel.name for kernel in kernels],
        ops=np.array([ops[kernel.node] if kernel.node else -1 for kernel in kernels], np.int64),
        start_ns=np.array([(kernel.start_count or 0) * NS_PER_COUNT for kernel in kernels], np.int64),
        dur_ns=np.array([kernel.dur_ns for kernel in kernels], np.int64),
        args=[ai_cpu_args(kernel.times_ns) for kernel in kernels],
    )


def _add_totals(kernels: list[_Kernel], ops: dict[str, int], builder: TraceBuilder) -> None:
    times: dict[str, list[int]] = defaultdict(list)
    for kernel in kernels:
        if kernel.node:
            times[kernel.node].append(max(kernel.dur_ns, 0))
    for node, own in times.items():
        total = sum(own)
        builder.op_totals["device"].append((ops[node], len(own), total, (2 * total + len(own)) // (2 * len(own))))


def read_fetches(slices: Sequence[bytes], builder: TraceBuilder) -> None:
    """The chip's queue whenever a batch is fetched from it, and how long the fetch waited."""
    lines = _lines(slices)
    found = [match for line in lines if (match := _FETCH.search(line)) and int(match[3]) >= int(match[2])]
    fetches = [match for match in found if match[1].strip().rsplit("/", 1)[-1].startswith("GetNext")]
    waits = [(int(match[3]) - int(match[2])) * _US for match in fetches]
    for batch, match in enumerate(fetches, start=1):
        _add_sample(builder, DEVICE_QUEUE, batch, int(match[4]))
    if waits:
        facts = builder.meta.setdefault("minddata", {})
        assert isinstance(facts, dict)
        facts["fetch_wait_ns"] = waits
        facts["fetch_start_us"] = [int(match[2]) for match in fetches]
    _count(builder, "AICPUMI", len(lines), len(lines) - len(found))


def read_sends(slices: Sequence[bytes], builder: TraceBuilder) -> None:
    """How many batches wait whenever one is sent to the chip; the log's clock is not the trace's."""
    lines = _lines(slices)
    found = [match for line in lines if (match := _SEND.search(line))]
    for match in found:
        _add_sample(builder, TRANSFER_QUEUE, None, int(match[2]))
    _count(builder, "TDT", len(lines), len(lines) - len(found))


def _add_sample(builder: TraceBuilder, queue: str, step: int | None, size: int) -> None:
    builder.queue_samples.append(
        {"queue": queue, "stage": "send", "step": step, "ts_ns": None, "size": size, "capacity": None}
    )


def _count(builder: TraceBuilder, kind: str, lines: int, bad: int) -> None:
    builder.read += lines
    builder.drop("bad_line", bad)
    builder.warnings.add("other", f"lines of the {kind} log that say nothing; left out", bad)


@dataclass(frozen=True)
class StartLog:
    """host_start.log or dev_start.log."""

    device: int | None
    values: dict[str, int]


def read_start(slices: Sequence[bytes]) -> StartLog:
    """Device and clocks at the start of the recording."""
    device, values = None, {}
    for line in text_lines(slices):
        named, clock = _DEVICE_LINE.match(line), _CLOCK_LINE.match(line)
        if named:
            device = int(named[1])
        elif clock:
            values[clock[1]] = int(clock[2])
    return StartLog(device, values)


def unix_time_of_zero(host: StartLog, device: StartLog) -> int | None:
    """Unix time in ns of count 0 of the device's clock: both logs were written at the same moment."""
    realtime, count = host.values.get("clock_realtime"), device.values.get("cntvct")
    return None if realtime is None or count is None else realtime - count * NS_PER_COUNT
