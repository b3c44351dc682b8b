"""A raw Ascend job, as the profiler of MindSpore 0.x to 1.x left it in `JOB*` folders.

Where it is specified: nowhere public; docs/formats.md holds what is known. Read here: the hardware scheduler's log, the
step points, the framework's operators, AI CPU, data transfer and clock logs, MindData files that lie beside them. Every
file is optional: what is missing disables what depends on it, alone. One recording is one device.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from laptime.errors import LaptimeError
from laptime.importers.ascend_job_files import FORMAT, JobFile, job_file
from laptime.importers.ascend_job_graph import (
    AI_CORE,
    COMMUNICATION,
    Framework,
    read_graph,
    read_points,
    read_tasks,
    short_name,
)
from laptime.importers.ascend_job_host import (
    StartLog,
    read_aicpu,
    read_fetches,
    read_sends,
    read_start,
    unix_time_of_zero,
)
from laptime.importers.ascend_job_hwts import TaskRuns, read_hwts
from laptime.importers.ascend_job_missing import missing_parts
from laptime.importers.ascend_job_slices import read_slices
from laptime.importers.ascend_job_steps import Regions, read_step_points
from laptime.importers.decoders import Decoders
from laptime.importers.minddata import read_minddata
from laptime.importers.progress import Progress
from laptime.importers.sources import Source
from laptime.model.arrays import CodeArray, IntArray, distinct_rows
from laptime.model.builder import BASE_KIND_CODE, TraceBuilder
from laptime.model.tracks import TrackKey

_INIT_GRAPH = "Default/InitDataSetQueue"
"""An operator of the graph that sets up the data queue: where it ran, the first step is no training step."""
_RANK = re.compile(r"(?:^|[^a-z])rank[-_]?(\d{1,6})(?!\d)", re.IGNORECASE)


class AscendJob:
    """Raw `JOB*` folders."""

    name = FORMAT

    def matches(self, head: bytes, source: Source) -> bool:
        """Never by content: folders are told by the names in them."""
        return False

    def read(self, source: Source, builder: TraceBuilder, progress: Progress, decoders: Decoders) -> None:
        """Reads all files of one device. Raises LaptimeError where none holds a byte."""
        files = [file for path in source.files if (file := job_file(path)) is not None and not file.unread]
        _Job(source, files, builder, progress).read()


class _Job:
    """The files of one device while they are read."""

    def __init__(self, source: Source, files: list[JobFile], builder: TraceBuilder, progress: Progress) -> None:
        self._builder = builder
        self._device = source.device or 0
        self._source = source
        self._files: dict[str, list[JobFile]] = defaultdict(list)
        for file in files:
            self._files[file.kind].append(file)
        self._progress = progress
        self._done, self._total = 0, sum(_size(file.path) for file in files)
        self._present: set[str] = set()
        self._framework = Framework()

    def read(self) -> None:
        """Reads everything there is."""
        self._read_clocks()
        for kind, reader in (("graph_desc_info", read_graph), ("task_desc_info", read_tasks), ("point", read_points)):
            reader(self._slices(kind), self._framework, self._builder)
        self._read_hwts()
        self._read_steps()
        self._framework.add_all(self._builder)
        read_aicpu(self._slices("AICPU"), self._device, self._builder)
        read_fetches(self._slices("AICPUMI"), self._builder)
        read_sends(self._slices("TDT"), self._builder)
        self._read_minddata()
        if not self._done:
            raise LaptimeError(
                "no file of the job can be read or holds anything",
                where=self._source.path,
                remedy="check that profiling ended and that the files were copied whole",
            )
        self._tell_points()
        self._builder.meta["not_recorded"] = missing_parts(self._present)

    def _slices(self, kind: str) -> list[bytes]:
        contents = read_slices(self._files[kind], self._builder.warnings)
        self._done += sum(len(content) for content in contents)
        if any(contents):
            self._present.add(kind)
        self._progress(min(self._done, self._total), self._total)
        return contents

    def _read_minddata(self) -> None:
        paths = [file.path for file in self._files["minddata"]]
        self._done += sum(_size(path) for path in paths)
        read_minddata(paths, self._builder)

    # ---- what the job is ----

    def _read_clocks(self) -> None:
        host, device = read_start(self._slices("host_start")), read_start(self._slices("dev_start"))
        self._builder.tracks.process_names[str(self._device)] = f"Ascend device {self._device}"
        self._builder.meta.update(
            {
                "format": FORMAT,
                "framework": "mindspore",
                "framework_version": None,
                "rank": _rank_of(self._source.path),
                "world_size": None,
                "device_names": {},
                "base_unix_ns": unix_time_of_zero(host, device),
                "recorded_unix_ns": host.values.get("clock_realtime"),
                "records_launches": False,
                "first_step_without_begin": True,
            }
        )
        self._warn_of_devices(host, device)

    def _warn_of_devices(self, *logs: StartLog) -> None:
        named = {file.device for files in self._files.values() for file in files if file.device is not None}
        told = named | {log.device for log in logs if log.device is not None} | {self._device}
        self._builder.meta["devices_told"] = sorted(told)
        if len(told) > 1:
            numbers = " and ".join(str(number) for number in sorted(told))
            self._builder.warnings.add(
                "other", f"files of the job name devices {numbers}; they are taken as device {self._device}"
            )

    def _tell_points(self) -> None:
        points = self._framework.points
        self._builder.meta["forward_start_op"], self._builder.meta["backward_end_op"] = points.get(1), points.get(2)

    # ---- tasks of the hardware scheduler ----

    def _read_hwts(self) -> None:
        contents = self._slices("hwts.log.data")
        covered = None
        if any(contents):
            runs = read_hwts(contents, self._builder)
            if self._add_tasks(runs):
                covered = runs.covered_ns
        self._builder.meta["device_covered_ns"] = list(covered or (0, 0))  # without operators no budget is known
        self._builder.meta["device_log_ns"] = list(covered) if covered else None
        self._builder.meta["device_kernels_recorded"] = covered is not None

    def _add_tasks(self, runs: TaskRuns) -> bool:
        """Adds all that ran; tells whether operators are among it."""
        count = len(runs.task)
        if not count:
            return False
        first, place = distinct_rows([runs.stream, runs.task])
        tasks = list(zip(runs.task[first].tolist(), runs.stream[first].tolist(), strict=True))
        operators = [self._framework.operator_of(task, stream) for task, stream in tasks]
        names = [
            short_name(operator) if operator else f"task {task}"
            for (task, _), operator in zip(tasks, operators, strict=True)
        ]
        ops = [self._framework.op(operator, AI_CORE, self._builder) if operator else -1 for operator in operators]
        args_start, args_length = self._spool(
            [{"task_id": task} if op >= 0 else None for (task, _), op in zip(tasks, ops, strict=True)]
        )
        kinds = [BASE_KIND_CODE["kernel" if operator else "device_other"] for operator in operators]
        self._builder.add_slices(
            count,
            {
                "track": self._stream_tracks([stream for _, stream in tasks])[place],
                "start": runs.start_ns,
                "dur": runs.end_ns - runs.start_ns,
                "name": self._builder.names.codes(names)[place],
                "category": np.full(count, self._builder.categories.code("hwts"), np.int32),
                "kind": np.array(kinds, np.int8)[place],
                "op": np.array(ops, np.int32)[place],
                "args_start": args_start[place],
                "args_length": args_length[place],
            },
        )
        return any(operators)

    def _spool(self, args: Sequence[dict[str, int] | None]) -> tuple[IntArray, IntArray]:
        """Arguments, one text for all slices of a task: where each begins and its length."""
        texts = [b"" if each is None else json.dumps(each).encode() for each in args]
        lengths = np.array([len(text) for text in texts], np.int64)
        return self._builder.spool.add(b"".join(texts)) + np.cumsum(lengths) - lengths, lengths

    def _stream_tracks(self, streams: Sequence[int]) -> CodeArray:
        keys = [TrackKey("stream", str(self._device), str(stream), self._device, stream) for stream in streams]
        return np.array([self._builder.tracks.code(key) for key in keys], np.int32)

    # ---- steps ----

    def _read_steps(self) -> None:
        names = [*self._framework.described, *self._framework.tasks.values()]
        has_init_graph = any(name.startswith(_INIT_GRAPH) for name in names)
        points = read_step_points(self._slices("training_trace"), self._builder, has_init_graph=has_init_graph)
        self._builder.steps += points.steps
        self._add_regions(points.regions)

    def _add_regions(self, regions: Regions) -> None:
        count = len(regions.tag)
        if not count:
            return
        first, place = distinct_rows([regions.stream, regions.tag])
        pairs = list(zip(regions.stream[first].tolist(), regions.tag[first].tolist(), strict=True))
        full_names = [self._framework.points.get(tag) or self._framework.points.get(tag + 1) for _, tag in pairs]
        names = [
            short_name(full) if full else f"stream_{stream}_parallel_{_place_on_stream(pairs, stream, tag)}"
            for (stream, tag), full in zip(pairs, full_names, strict=True)
        ]
        ops = [self._framework.op(full, COMMUNICATION, self._builder) if full else -1 for full in full_names]
        self._builder.add_slices(
            count,
            {
                "track": self._stream_tracks([stream for stream, _ in pairs])[place],
                "start": regions.start_ns,
                "dur": regions.end_ns - regions.start_ns,
                "name": self._builder.names.codes(names)[place],
                "category": np.full(count, self._builder.categories.code("training_trace"), np.int32),
                "kind": np.full(count, BASE_KIND_CODE["communication"], np.int8),
                "op": np.array(ops, np.int32)[place],
            },
        )


def _place_on_stream(pairs: list[tuple[int, int]], stream: int, tag: int) -> int:
    return sorted(other for own, other in pairs if own == stream).index(tag)


def _rank_of(path: Path) -> int | None:
    """Rank that the job's folder or the one it lies in tells."""
    match = next((match for name in (path.name, path.absolute().parent.name) if (match := _RANK.search(name))), None)
    return int(match[1]) if match else None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
