"""msprof, the profiler of Ascend's CANN: a `PROF_*` folder that was exported, one recording per device.

Read here: the timelines (see `msprof_exports`), `op_summary_*.csv` (types and shapes of operators), `info.json.N` and
`start_info.N`; where a timeline is missing, the table that tells the same (see `msprof_tables`). Tasks of the AI Core
and the AI CPU are kernels. A collective is one slice, of the row `Communication Kernel`; its transfers and notifies are
shown, on planes and on the streams they ran on, outside every sum. Steps are the iterations of the step trace. The rows
of `Overlap Analysis` are not shown but compared with our own unions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from laptime.errors import LaptimeError
from laptime.importers.decoders import Decoders
from laptime.importers.events import FAULTS
from laptime.importers.msprof_exports import Exports, Row, exported_files, read_exports
from laptime.importers.msprof_operators import COLLECTIVES, OperatorNames
from laptime.importers.msprof_overlap import compare_overlap, is_compute
from laptime.importers.msprof_steps import add_steps
from laptime.importers.msprof_summary import HARDWARE, add_summary, add_sums, collectives_in, is_collective_core
from laptime.importers.msprof_tables import Summary, add_step_rows, has_tables, kept, read_summary, statistic_rows
from laptime.importers.progress import Progress
from laptime.importers.sources import Source
from laptime.model.builder import BASE_KIND_CODE, TraceBuilder
from laptime.model.tracks import TrackKey
from laptime.model.vocabulary import NULL

_COPY_TASK = re.compile(r"MEMCPY|SDMA")
_COMMUNICATION_ROW = re.compile(r"Communication")
_MINDSPORE = ("Default/", "Gradients/")
_STEPS = "Step Trace"
_NO_TASKS = {
    "what": "tasks of the device (task_time, msprof or op_summary), and with them the steps' budgets",
    "how_to_record": "msprof --export=on --output=PROF_DIR",
}


class Msprof:
    """Exported profiles of msprof."""

    name = "msprof"

    def matches(self, head: bytes, source: Source) -> bool:
        """Never: these are folders."""
        return False

    def read(self, source: Source, builder: TraceBuilder, progress: Progress, decoders: Decoders) -> None:
        """Reads the files of one device. Raises LaptimeError where the profile was never exported."""
        if not exported_files(source.files) and not has_tables(source.files):
            profile = source.path.parent if source.path.name.startswith("device_") else source.path
            raise LaptimeError(
                "msprof's raw data, not exported yet",
                where=source.name,
                remedy=f"run `msprof --export=on --output={profile}`, then open the folder again",
            )
        exports = read_exports(source.files, source.device, builder)
        if not exports.rows["step"]:
            add_step_rows(source.files, source.device, exports, builder)
        summary = None if exports.rows["task"] else read_summary(source.files, source.device, builder)
        if summary is not None and exports.rows["collective"]:
            summary = kept(summary, ~collectives_in(summary), "repeated", builder)
        progress(1, 2)
        _Feed(exports, source, builder, summary).pour()
        add_steps(exports, builder, summary)
        compare_overlap(exports, builder.warnings)
        _add_meta(source, exports, builder, summary)
        progress(2, 2)


class _Feed:
    """Makes slices of the rows."""

    def __init__(self, exports: Exports, source: Source, builder: TraceBuilder, summary: Summary | None) -> None:
        self._exports = exports
        self._summary = summary
        self._source = source
        self._builder = builder
        self._device = 0 if source.device is None else source.device
        self._operators = OperatorNames(source.files, builder)
        rows = exports.rows["collective"]
        self._has_collectives = any(_COMMUNICATION_ROW.search(row.thread) for row in rows) or (
            summary is not None and bool(collectives_in(summary).any())
        )
        self._transfers = {(_whole(row.args.get("task id")), row.start) for row in rows}

    def pour(self) -> None:
        """All rows but those of the overlap analysis; sums where nothing tells executions."""
        rows = self._exports.rows
        self._add(rows["task"], self._task_track, self._task_kind)
        self._add(rows["collective"], self._collective_track, self._collective_kind)
        self._add(rows["step"], self._step_track, self._step_kind)
        self._add(rows["host"], self._host_track, lambda row: "call")
        self._builder.drop("not_shown", len(rows["overlap"]))
        if self._summary is not None:
            add_summary(self._summary, self._device, self._operators, self._builder)
        elif not rows["task"]:
            sums = statistic_rows(self._source.files, self._source.device, self._builder)
            repeated = [row for row in sums if self._has_collectives and is_collective_core(row.core)]
            self._builder.drop("repeated", len(repeated))
            add_sums([row for row in sums if row not in repeated], self._operators, self._builder)

    def _add(self, rows: Sequence[Row], track: Callable[[Row], TrackKey], kind: Callable[[Row], str]) -> None:
        if not rows:
            return
        builder = self._builder
        kinds = [kind(row) for row in rows]
        work = [each in ("kernel", "communication") for each in kinds]
        starts = [builder.spool.add(row.raw) for row in rows]
        names = [self._operators.shown(row.name) if works else row.name for row, works in zip(rows, work, strict=True)]
        ops = [
            self._operators.op(row.name, _core(row, each)) if works else -1
            for row, works, each in zip(rows, work, kinds, strict=True)
        ]
        builder.add_slices(
            len(rows),
            {
                "track": np.array([builder.tracks.code(track(row)) for row in rows], np.int32),
                "start": np.array([row.start for row in rows], np.int64),
                "dur": np.array([row.dur for row in rows], np.int64),
                "name": builder.names.codes(names),
                "category": builder.categories.codes(_text(row.args.get("Task Type")) for row in rows),
                "kind": np.array([BASE_KIND_CODE[each] for each in kinds], np.int8),
                "bytes": np.array([_size(row) for row in rows], np.int64),
                "op": np.array(ops, np.int32),
                "args_start": np.array(starts, np.int64),
                "args_length": np.array([len(row.raw) for row in rows], np.int32),
            },
        )

    def _task_track(self, row: Row) -> TrackKey:
        told = (_whole(row.args.get(name)) for name in ("Stream Id", "Physic Stream Id"))
        stream = next((number for number in told if number is not None), _number_in(row.thread))
        tid = row.thread if stream is None else str(stream)
        return self._named(TrackKey("stream", HARDWARE, tid, self._device, stream), row.thread)

    def _task_kind(self, row: Row) -> str:
        if is_compute(row):
            return "kernel"
        transfer = (_whole(row.args.get("Task Id")), row.start) in self._transfers
        copies = _COPY_TASK.search(_text(row.args.get("Task Type")) or row.name)
        return "copy" if copies and not transfer else "device_other"

    def _collective_track(self, row: Row) -> TrackKey:
        return self._named(TrackKey("stream", COLLECTIVES, row.thread, self._device), row.thread)

    def _collective_kind(self, row: Row) -> str:
        return "communication" if _COMMUNICATION_ROW.search(row.thread) else "device_other"

    def _step_track(self, row: Row) -> TrackKey:
        kind = "stream" if self._step_kind(row) == "communication" else "annotation"
        return self._named(TrackKey(kind, _STEPS, row.thread, self._device), row.thread)

    def _step_kind(self, row: Row) -> str:
        """Reduce rows stand for collectives only where HCCL's own rows are missing: they are a little longer."""
        return "communication" if row.name.startswith("Reduce_") and not self._has_collectives else "scope"

    def _host_track(self, row: Row) -> TrackKey:
        return self._named(TrackKey("thread", "CANN", row.thread), row.thread)

    def _named(self, key: TrackKey, name: str) -> TrackKey:
        self._builder.tracks.process_names[key.pid] = key.pid
        self._builder.tracks.thread_names[key.pid, key.tid] = name
        return key


def _core(row: Row, kind: str) -> str:
    return COLLECTIVES if kind == "communication" else _text(row.args.get("Task Type"))


def _size(row: Row) -> int:
    size = _whole(row.args.get("size(Byte)"))
    return NULL if size is None else size


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: object) -> int | None:
    return value if type(value) is int and abs(value) < 2**62 else None


def _number_in(thread: str) -> int | None:
    digits = thread.rpartition(" ")[2]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None


# ---- facts about the recording ----


class _Info(msgspec.Struct):
    rank_id: object = None


class _Start(msgspec.Struct):
    unix_us: str | int | None = msgspec.field(name="collectionTimeBegin", default=None)
    clock_ns: str | int | None = msgspec.field(name="clockMonotonicRaw", default=None)


def _add_meta(source: Source, exports: Exports, builder: TraceBuilder, summary: Summary | None) -> None:
    info = _first(source.files, re.compile(r"^info\.json\.\d+$"), _Info, builder) or _Info()
    start = _first(source.files, re.compile(r"^start_info\.\d+$"), _Start, builder)
    names = [row.name for row in exports.rows["task"]] if summary is None else summary.table.texts("Op Name")
    builder.meta.update(
        {
            "format": Msprof.name,
            "records_launches": False,
            "framework": "mindspore" if any(name.startswith(_MINDSPORE) for name in names) else None,
            "framework_version": None,
            "rank": _whole(info.rank_id),
            "world_size": None,
            "base_unix_ns": None if start is None else _unix_ns_of_zero(start),
        }
    )
    if not exports.rows["task"] and (summary is None or collectives_in(summary).all()):
        builder.meta.update(
            {"device_kernels_recorded": False, "device_covered_ns": (0, 0), "not_recorded": [_NO_TASKS]}
        )


def _unix_ns_of_zero(start: _Start) -> int | None:
    """Time of the epoch at which the device's clock showed 0."""
    unix_us, clock_ns = str(start.unix_us), str(start.clock_ns)
    if not all(text.isascii() and text.isdigit() and len(text) < 18 for text in (unix_us, clock_ns)):
        return None
    return int(unix_us) * 1000 - int(clock_ns)


_Facts = TypeVar("_Facts", _Info, _Start)


def _first(files: Sequence[Path], pattern: re.Pattern[str], kind: type[_Facts], builder: TraceBuilder) -> _Facts | None:
    """What the first file of that name holds; None where there is none, or none that can be read."""
    for file in files:
        if pattern.match(file.name):
            try:
                return msgspec.json.decode(file.read_bytes(), type=kind)
            except (OSError, *FAULTS):
                builder.warnings.add("other", f"{file.name} cannot be read; left out")
    return None
