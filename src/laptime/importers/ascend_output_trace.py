"""trace_view.json: the timeline of one rank as Chrome trace events, whose meaning is told by their process.

Most events have no category. The processes are `Python` or `MindSpore` (host operators), `CANN` (runtime calls),
`Ascend Hardware` (tasks; the tid is the stream), `HCCL` or `Communication` (a row of collectives per group, and their
parts in a row per plane), `Overlap Analysis` (what the vendor derived from these) and several of counters. A process
may be named after its events, so names are looked for before the events are read.

Runtime calls are shown on the thread of `Python` that has their tid: it is the same thread of the system.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np

from laptime.importers.ascend_output_checks import Intervals
from laptime.importers.ascend_output_communication import Collectives
from laptime.importers.ascend_output_database_links import LAUNCH
from laptime.importers.ascend_output_kernels import COMMUNICATION, HARDWARE
from laptime.importers.ascend_output_tasks import category_of_call, meaning_of, task_category
from laptime.importers.decoders import Decoders
from laptime.importers.decoding import Decoded
from laptime.importers.events import FAULTS
from laptime.importers.feeding import Feeder, _View
from laptime.importers.framing import EventFile
from laptime.importers.progress import Progress
from laptime.importers.sources import Source
from laptime.model.arrays import CodeArray, Column, IntArray
from laptime.model.builder import BASE_KIND_CODE, TraceBuilder
from laptime.model.classify import is_collective
from laptime.model.tracks import TrackKey, plain_id

_HOST, _RUNTIME, _DERIVED, _SCOPES = "Python", "CANN", "Overlap Analysis", "Scope Layer"
_ROLES = {"HCCL": COMMUNICATION, "MindSpore": _HOST}
_SCAN_BYTES, _LONGEST_NAME = 16 << 20, 4096
_NAME_EVENTS = (b'process_name"', b'thread_name"')


@dataclass
class Processes:
    """Names of processes and threads of a timeline, by (pid) and (pid, tid)."""

    names: dict[str, str] = field(default_factory=dict)
    threads: dict[tuple[str, str], str] = field(default_factory=dict)
    links_operators: bool = False
    """Whether flows lead from host operators to the device."""

    @property
    def host(self) -> str | None:
        """The pid of the host's process."""
        return next((pid for pid in self.names if self.role(pid) == _HOST), None)

    def role(self, pid: str) -> str:
        """The name of a process in the words of torch_npu."""
        name = self.names.get(pid, "")
        return _ROLES.get(name, name)


def processes_of(path: Path) -> Processes:
    """Looks for the events that name processes and threads, without decoding the others."""
    found = Processes()
    with Source(path).open() as stream:
        text = b""
        while piece := stream.read(_SCAN_BYTES):
            text = text[-_LONGEST_NAME:] + piece
            found.links_operators |= b'"async_npu"' in text
            for kind in _NAME_EVENTS:
                _note_names(text, kind, found)
    return found


def _note_names(text: bytes, kind: bytes, found: Processes) -> None:
    place = text.find(kind)
    while place >= 0:
        event = _event_around(text, place)
        args = event.get("args")
        name = args.get("name") if isinstance(args, dict) else None
        if isinstance(name, str):
            pid, tid = plain_id(event.get("pid")), plain_id(event.get("tid"))
            if event.get("name") == "process_name":
                found.names.setdefault(pid, name)
            elif event.get("name") == "thread_name":
                found.threads.setdefault((pid, tid), name)
        place = text.find(kind, place + 1)


def _event_around(text: bytes, place: int) -> dict[str, object]:
    """The object that holds a place: it begins at one of the two braces before (arguments may come first)."""
    begin = place
    for _ in range(2):
        begin = text.rfind(b"{", max(place - _LONGEST_NAME, 0), begin)
        if begin < 0:
            break
        try:
            event, length = _JSON.raw_decode(text[begin : place + _LONGEST_NAME].decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and begin + length > place:
            return event
    return {}


_JSON = json.JSONDecoder()


class AscendFeeder(Feeder):
    """Hands the events of a timeline to a builder, with the operators that other files know."""

    def __init__(
        self,
        builder: TraceBuilder,
        processes: Processes,
        *,
        device: int | None,
        op_by_start: dict[tuple[str, int], int],
        collectives: Collectives,
    ) -> None:
        super().__init__(builder, meaning_of)
        self._processes = processes
        self._device = device
        self._op_by_start = op_by_start
        self._collectives = collectives
        self.work = Intervals()
        """Kernels and collectives read so far."""

    def feed(self, block: Decoded) -> None:
        """Takes all events of a block."""
        _give_categories(block, self._processes, self._op_by_start)
        _join_threads(block, self._processes)
        super().feed(block)

    def _slice_columns(self, view: _View, rows: IntArray, tracks: CodeArray | None = None) -> dict[str, Column]:
        columns = super()._slice_columns(view, rows, tracks)
        communication = columns["kind"] == BASE_KIND_CODE["communication"]
        work = np.flatnonzero(communication | (columns["kind"] == BASE_KIND_CODE["kernel"]))
        columns["op"] = np.full(len(rows), -1, np.int32)
        for place in work.tolist():
            name, start = view.block.names[view.block.name[rows[place]]], int(columns["start"][place])
            op = self._collectives.op_of(name, start) if communication[place] else None
            columns["op"][place] = self._op_by_start.get((name, start), -1) if op is None else op
        self.work.add(columns["start"][work], columns["dur"][work], communication[work])
        return columns

    def _track(self, kind: str, thread: tuple[object, object], device: int, stream: int) -> int:
        pid, tid = plain_id(thread[0]), plain_id(thread[1])
        role = self._processes.role(pid)
        if role not in (HARDWARE, COMMUNICATION) or kind not in ("stream", "annotation"):
            return super()._track(kind, thread, device, stream)
        number = int(tid) if role == HARDWARE and tid.isdigit() and len(tid) < 18 else None
        return self._builder.tracks.code(TrackKey(kind, pid, tid, self._device, number))


def _give_categories(block: Decoded, processes: Processes, op_by_start: dict[tuple[str, int], int]) -> None:
    """Categories for events that have none, by their process; flows that tell launches get PyTorch's."""
    launches = "async_npu" if processes.links_operators else "HostToDevice"
    block.categories[:] = [LAUNCH if text == launches else text for text in block.categories]
    is_slice = np.isin(block.phase, [code for code, letter in enumerate(block.phases) if letter in ("X", "B", "E")])
    for local, (pid, tid) in enumerate(block.tracks):
        rows = np.flatnonzero(is_slice & (block.track == local))
        if not len(rows):
            continue
        pid, tid = plain_id(pid), plain_id(tid)
        role = processes.role(pid)
        if role == HARDWARE:
            _give_task_categories(block, rows, op_by_start)
        elif role == _RUNTIME:
            codes = [_code_of(block, category_of_call(name)) for name in block.names]
            block.category[rows] = np.array(codes, np.int32)[block.name[rows]]
        elif role in _PLAIN:
            block.category[rows] = _code_of(block, _PLAIN[role])
        elif role == COMMUNICATION:
            _give_collective_categories(block, rows, processes.threads.get((pid, tid)))
        elif role == _HOST:
            rows = rows[block.category[rows] == _code_of(block, None)]
            block.category[rows] = _code_of(block, "cpu_op")


_PLAIN = {_DERIVED: "overlap_analysis", _SCOPES: "scope_layer"}


def _give_collective_categories(block: Decoded, rows: IntArray, row_name: str | None) -> None:
    """Collectives and their parts lie on rows of their own; where those have no names, those of the events tell."""
    if row_name is not None:
        part = row_name.startswith("Plane")
        block.category[rows] = _code_of(block, "collective_part" if part else "collective_comm")
        return
    whole = np.array([is_collective(name) for name in block.names], bool)[block.name[rows]]
    block.category[rows[whole]] = _code_of(block, "collective_comm")
    block.category[rows[~whole]] = _code_of(block, "collective_part")


class _TaskArgs(msgspec.Struct):
    task_type: str = msgspec.field(name="Task Type", default="")


_DECODE_TASK_ARGS = msgspec.json.Decoder(_TaskArgs).decode


def _give_task_categories(block: Decoded, rows: IntArray, op_by_start: dict[tuple[str, int], int]) -> None:
    for row in rows.tolist():
        name = block.names[block.name[row]]
        known = (name, int(block.ts_ns[row])) in op_by_start
        block.category[row] = _code_of(block, "kernel" if known else task_category(name, _task_type(block, row)))


def _task_type(block: Decoded, row: int) -> str:
    try:
        return _DECODE_TASK_ARGS(block.args_text(row)).task_type
    except FAULTS:
        return ""


def _code_of(block: Decoded, category: str | None) -> int:
    if category not in block.categories:
        block.categories.append(category)
    return block.categories.index(category)


def _join_threads(block: Decoded, processes: Processes) -> None:
    """Puts runtime calls on the thread of the host's process that made them."""
    host = processes.host
    if host is None:
        return
    named = [code for code, name in enumerate(block.names) if name.startswith("process_")]
    describing = set(np.unique(block.track[np.isin(block.name, named)]).tolist())
    for local, (pid, tid) in enumerate(block.tracks):
        if local not in describing and processes.role(plain_id(pid)) == _RUNTIME:
            block.tracks[local] = (host, tid)


def read_timeline(
    path: Path, feeder: AscendFeeder, builder: TraceBuilder, progress: Progress, decoders: Decoders
) -> None:
    """Reads all events of the file."""
    with Source(path).open() as stream:
        file = EventFile(stream, name=path.name)
        repaired = bad = 0
        closed, cut = False, False
        for _, decoded in decoders.decode(file, inflated_bytes=stream.inflated_size):
            feeder.feed(decoded)
            repaired, bad = repaired + decoded.repaired, bad + decoded.bad
            closed, cut = decoded.closed, decoded.partial_at is not None
            progress(stream.stored_position, stream.size)
            if closed:
                break
        add = builder.warnings.add
        add("invalid_json", "events with bad escapes, bare words or broken text; repaired", repaired)
        add("invalid_json", "list elements that are no events; dropped", bad)
        add("unknown_events", "slices of unknown categories; shown as other host work", feeder.unknown)
        if stream.damage or cut or not closed:
            why = stream.damage or "the file ends inside the event list"
            add("truncated", f"{path.name}: {why}; {builder.read:,} whole events are kept")
