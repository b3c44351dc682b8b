"""MindSpore on CPU: the `profiler/` folder of 2.0 and the `*_ascend_ms/FRAMEWORK` folder of 2.10.

Read here, each with the rank in its name: `cpu_op_execute_timestamp_{id}.txt` (every execution),
`cpu_op_detail_info_{id}.csv` (operators), `cpu_op_type_info_{id}.csv` (sums, compared with ours),
`cpu_framework_{id}.txt` (input shapes), `cpu_ms_memory_record_{id}.txt`, `profiler_info_{id}.json`, and what the
dataset engine wrote (see `minddata`). The rows of `HostCpuOps` count as a device. There are no step markers: a step is
one cycle of the operators. `trace_view.json` and `cpu_timeline_display` repeat the executions and are left out.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import numpy as np

from laptime.importers.decoders import Decoders
from laptime.importers.minddata import read_minddata
from laptime.importers.mindspore_cpu_executions import Executions, read_executions
from laptime.importers.mindspore_cpu_memory import add_memory
from laptime.importers.mindspore_cpu_ops import operators, stored_sums
from laptime.importers.mindspore_cpu_steps import infer_steps
from laptime.importers.mindspore_cpu_waits import add_waits
from laptime.importers.progress import Progress
from laptime.importers.sources import Source
from laptime.model.builder import BASE_KIND_CODE, TraceBuilder
from laptime.model.classify import is_collective
from laptime.model.tracks import TrackKey

_TIMES = re.compile(r"^cpu_op_execute_timestamp_(\d{1,9})\.txt$")
_TOLERANCE = 1e-4
"""Stored sums have six digits."""


class MindSporeCpu:
    """MindSpore's profiler with the device target CPU."""

    name = "mindspore_cpu"

    def matches(self, head: bytes, source: Source) -> bool:
        """Never: these are folders."""
        return False

    def read(self, source: Source, builder: TraceBuilder, progress: Progress, decoders: Decoders) -> None:
        """Reads the files of one rank; each is optional."""
        names = {file.name: file for file in source.files}
        match = next((found for name in sorted(names) if (found := _TIMES.match(name))), None)
        rank = int(match[1]) if match else 0
        files = Files(names, rank, builder)
        executions = read_executions(files.text("cpu_op_execute_timestamp_{}.txt"), builder)
        _add_executions(executions, files, builder)
        builder.steps += infer_steps(executions, files.text("cpu_op_type_info_{}.csv"), builder)
        _compare_sums(executions, files, builder)
        add_memory(files.text("cpu_ms_memory_record_{}.txt"), source.path.name, executions.start, builder)
        _add_meta(files, rank, builder)
        add_waits(files.text("dataset_iterator_profiling_{}.txt"), executions, builder)
        read_minddata(source.files, builder)
        progress(1, 1)


class Files:
    """The files of one rank by the pattern of their name."""

    def __init__(self, files: dict[str, Path], rank: int, builder: TraceBuilder) -> None:
        self._files = files
        self._rank = rank
        self._builder = builder

    def text(self, pattern: str) -> str:
        """Text of the file of the rank; empty where it is missing or cannot be read (the latter is named)."""
        file = self._files.get(pattern.format(self._rank))
        if file is None:
            return ""
        try:
            return file.read_bytes().decode("utf-8", "replace").replace("\0", "\ufffd")
        except OSError as error:
            self._builder.warnings.add("other", f"{file.name} cannot be read ({error.strerror}); left out")
            return ""


def _add_executions(executions: Executions, files: Files, builder: TraceBuilder) -> None:
    count = len(executions.start)
    ops = operators(
        executions, files.text("cpu_op_detail_info_{}.csv"), files.text("cpu_framework_{}.txt"), builder.warnings
    )
    op_codes = np.array([builder.add_op(op) for op in ops] or [0], np.int32)
    shown = [
        op.name if is_collective(full) and not is_collective(op.name) else full
        for full, op in zip(executions.names, ops, strict=True)
    ]
    name_codes = np.array([builder.names.code(name) for name in shown] or [0], np.int32)
    if not count:
        return
    builder.add_slices(
        count,
        {
            "track": _tracks(executions, builder),
            "start": executions.start,
            "dur": executions.dur,
            "name": name_codes[executions.name],
            "kind": np.full(count, BASE_KIND_CODE["kernel"], np.int8),
            "category": np.full(count, builder.categories.code("HostCpuOps"), np.int32),
            "op": op_codes[executions.name],
        },
    )


def _tracks(executions: Executions, builder: TraceBuilder) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    builder.tracks.process_names["CPU OP"] = "CPU OP"
    threads, place = np.unique(executions.thread, return_inverse=True)
    codes = []
    for thread in threads.tolist():
        builder.tracks.thread_names["CPU OP", str(thread)] = f"HostCpuOps {thread}"
        codes.append(builder.tracks.code(TrackKey("stream", "CPU OP", str(thread), 0, thread)))
    return np.array(codes, np.int32)[place.reshape(-1)]


def _compare_sums(executions: Executions, files: Files, builder: TraceBuilder) -> None:
    stored = stored_sums(files.text("cpu_op_type_info_{}.csv"))
    own = float(executions.dur[executions.dur >= 0].sum()) / 1e6
    if stored is not None and abs(stored - own) > _TOLERANCE * max(own, stored):
        message = f"cpu_op_type_info holds {stored:.6g} ms in all, the executions {own:.6g} ms; the latter are shown"
        builder.warnings.add("mismatch", message)


class _Info(msgspec.Struct):
    rank_id: int | str | None = None
    rank_size: int | str | None = None
    ms_version: str | None = None
    context_mode: str | None = None


def _add_meta(files: Files, rank: int, builder: TraceBuilder) -> None:
    text = files.text("profiler_info_{}.json")
    info = _Info()
    try:
        info = msgspec.json.decode(text, type=_Info) if text else info
    except (msgspec.DecodeError, RecursionError):
        builder.warnings.add("other", "profiler_info cannot be read; rank and version come from file names")
    told = _number(info.rank_id)
    builder.meta.update(
        {
            "format": MindSporeCpu.name,
            "framework": "mindspore",
            "records_launches": False,
            "framework_version": info.ms_version,
            "rank": rank if told is None else told,
            "world_size": _number(info.rank_size),
            "device_names": {"0": "CPU"},
        }
    )


def _number(value: int | str | None) -> int | None:
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
