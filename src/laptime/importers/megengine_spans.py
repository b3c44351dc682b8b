"""The spans of a MegEngine timeline: paired, with their threads' roles and what contains what.

Threads: the interpreter (Python's; `channel` to MegEngine 1.5) dispatches operators, the worker executes them, a row
for each device (`gpu0:1`: device 0, stream 1) shows them run. Names of threads stand at the end of the file; a file
without its end is told by what its threads hold. To MegEngine 1.2 threads have names for numbers, and the host is one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from laptime.importers.megengine_events import Events
from laptime.model.arrays import BoolArray, CodeArray, Column, IntArray, stable_order
from laptime.model.builder import TraceBuilder
from laptime.model.nesting import containing_parents
from laptime.model.pairing import pair_nested
from laptime.model.tracks import TrackKey
from laptime.model.vocabulary import NULL

INTERPRETER, WORKER, DEVICE, CUPTI, OTHER = "interpreter", "worker", "device", "cupti", "other"
KERNEL, COPY_TO_DEVICE = "Kernel", "HostToDevice"
_ROLES = {"interpreter": INTERPRETER, "channel": INTERPRETER, "worker": WORKER, "host": WORKER}
_COMMANDS = """Put Del Drop RecFree ReGen SwapIn SwapOut GetValue AutoEvict StartProfile StopProfile Input Output
    TensorGetProp Sync ShapeInfer CommandEnqueue CommandExecute SyncEvent"""
COMMANDS = frozenset(_COMMANDS.split())
"""Spans that are neither operators nor scopes."""
_SHORTEST_NS, _NS_PER_US = 200, 1000
_DEVICE_ROW = re.compile(r"(?P<kind>[a-z]+?)(?P<number>\d+|x):(?P<stream>\d+)\Z")
_PLACED = re.compile(r'CompNode\("(?P<physical>[^"]+)" from "(?P<logical>[^"]+)"\)')


@dataclass
class Spans:
    """One row per span, in order of their begin in the file."""

    place: CodeArray
    start: IntArray
    end: IntArray
    name: CodeArray
    category: CodeArray
    op: IntArray
    """Number of the operator; NULL for spans of none."""
    op_name: CodeArray
    tensor: IntArray
    layout: CodeArray
    backtrace: CodeArray
    bytes: IntArray
    lists: CodeArray
    args_start: IntArray
    args_length: CodeArray
    parent: IntArray
    """Row of the span around it on its thread; -1 where there is none."""
    is_open: BoolArray
    """Whether its end was not recorded."""

    def __len__(self) -> int:
        return len(self.place)


_TOLD_AT_END = ("op", "op_name", "tensor", "layout", "backtrace", "bytes", "lists", "args_start", "args_length")
"""What the end of a span tells where it has arguments, its begin else."""
_NEVER = -1


def paired_spans(events: Events, builder: TraceBuilder) -> Spans:
    """Pairs begin with end events; counts what does not fit."""
    columns = events.spans.take_all()
    is_whole = columns.pop("is_whole")
    points = np.flatnonzero(~is_whole)
    columns["start"] = columns["start"].copy()
    columns["start"][points] = _in_written_order(columns["place"][points], columns["start"][points])
    keys = {key: columns[key][points] for key in ("place", "start", "name", "is_end")}
    pairs = pair_nested({**keys, "order": points}, empty_name=builder.names.code(""))
    builder.drop("unbalanced", pairs.unopened)
    add = builder.warnings.add
    add("unbalanced", "slices whose end was not recorded; they end where the recording does", pairs.unclosed)
    add("unbalanced", "ends of slices whose begin was not recorded; dropped", pairs.unopened)
    add("unbalanced", "ends that name another slice than the innermost open one", pairs.disagreeing)
    count = len(is_whole)
    end_ns, end_row = columns["start"].copy(), np.arange(count)  # of complete events, whose duration is always 0
    begins = points[pairs.begins]
    end_ns[begins] = pairs.ends_ns
    end_row[begins] = np.where(pairs.ends >= 0, points[pairs.ends], _NEVER)
    is_span = is_whole.copy()
    is_span[begins] = True
    rows = np.flatnonzero(is_span)
    return _spans(columns, rows, end_row[rows], end_ns[rows])


def _in_written_order(place: CodeArray, start: IntArray) -> IntArray:
    """Times of begins and ends that do not go back on a thread.

    MegEngine writes the events of a thread as they happened, and rounds so that one may stand 1 ns before the one that
    it follows. Threads that go back further (those of CUPTI) were not written in order: they keep their times.
    """
    order = stable_order(place)
    place, start = place[order], start[order]
    threads = np.split(start, np.flatnonzero(place[1:] != place[:-1]) + 1)
    latest = [np.maximum.accumulate(times) for times in threads]
    mended = np.empty_like(start)
    mended[order] = np.concatenate(
        [late if np.all(late - times <= 1) else times for late, times in zip(latest, threads, strict=True)]
    )
    return mended


def _spans(columns: dict[str, Column], rows: IntArray, end_row: IntArray, end_ns: IntArray) -> Spans:
    """Spans that begin and end at rows of the events, which are in the order of the file."""
    is_open = end_row == _NEVER
    told = np.where(is_open, rows, end_row)
    told = np.where(columns["args_length"][told] > 0, told, rows)
    found = {key: column[told if key in _TOLD_AT_END else rows] for key, column in columns.items() if key != "is_end"}
    found["op_name"] = np.where((found["op_name"] < 0) & (found["op"] != NULL), found["name"], found["op_name"])
    by_place = stable_order(found["place"])
    end = np.where(is_open, np.iinfo(np.int64).max, 2 * end_row + 1)
    parents = containing_parents(found["place"][by_place], 2 * rows[by_place], end[by_place])
    parent = np.full(len(rows), -1, np.int64)
    parent[by_place] = np.where(parents >= 0, by_place[parents], -1)
    return Spans(**found, end=end_ns, is_open=is_open, parent=parent)


def in_microseconds(spans: Spans, events: Events, builder: TraceBuilder) -> None:
    """Mends times of MegEngine 1.0 to 1.2, where they were written in milliseconds: no operator takes below 0.2 us."""
    if not any(tid == "host" for _, tid in events.places):
        return
    lasting = (spans.end - spans.start)[spans.end > spans.start]
    if len(lasting) and np.median(lasting) < _SHORTEST_NS:
        spans.start, spans.end = spans.start * _NS_PER_US, spans.end * _NS_PER_US
        builder.warnings.add("other", "the file's times are taken as milliseconds: as microseconds they are too short")


@dataclass(frozen=True)
class Threads:
    """What each place is."""

    role: list[str]
    track: CodeArray
    """Track of the builder, by place."""

    def of(self, spans: Spans, *roles: str) -> BoolArray:
        """Spans of threads of these roles."""
        wanted = np.array([role in roles for role in self.role] or [False], bool)
        return np.asarray(wanted[spans.place])


def threads_of(events: Events, spans: Spans, builder: TraceBuilder) -> Threads:
    """Roles and tracks of all threads."""
    physical = {
        match["logical"]: match["physical"] for text in sorted(events.devices) if (match := _PLACED.search(text))
    }
    role = [_role(place, events, spans, builder) for place in range(len(events.places))]
    devices: dict[tuple[str, str], int] = {}
    tracks = []
    for place, (pid, tid) in enumerate(events.places):
        name = _thread_name(place, events)
        builder.tracks.thread_names[pid, tid] = name
        if role[place] not in (DEVICE, CUPTI):
            tracks.append(builder.tracks.code(TrackKey("thread", pid, tid)))
            continue
        device, stream = _device_of(physical.get(name, name), devices)
        key = TrackKey("stream", pid, tid, device, stream, name=name or f"CUPTI stream {tid}")
        tracks.append(builder.tracks.code(key))
    names = {number: f"{kind}{own}" for (kind, own), number in devices.items()}
    builder.meta["device_names"] = {str(number): name for number, name in names.items()}
    return Threads(role, np.array(tracks or [0], np.int32))


def _device_of(row: str, devices: dict[tuple[str, str], int]) -> tuple[int, int | None]:
    """Device and stream of a row; devices keep the number in their name unless another kind of device has it."""
    match = _DEVICE_ROW.match(row)
    if match is None:
        return next(iter(devices.values()), 0), None
    key = match["kind"], match["number"]
    if key not in devices:
        wanted = 0 if match["number"] == "x" else min(int(match["number"]), 1 << 30)
        taken = set(devices.values())
        devices[key] = wanted if wanted not in taken else max(taken) + 1
    return devices[key], min(int(match["stream"]), 1 << 30)


def _thread_name(place: int, events: Events) -> str:
    """What the file calls a thread; of a device the name of its row."""
    _, tid = list(events.places)[place]
    name = events.thread_names.get(place, "" if tid.isdigit() else tid)
    match = _PLACED.search(name)
    return match["physical"] if match else name


def _role(place: int, events: Events, spans: Spans, builder: TraceBuilder) -> str:
    name = _thread_name(place, events)
    if name in _ROLES:
        return _ROLES[name]
    if _DEVICE_ROW.match(name):
        return DEVICE
    own = spans.place == place
    if not name and own.any():
        return _role_by_content(
            {builder.names.texts[code] for code in np.unique(spans.name[own]).tolist()}, own, spans, builder
        )
    return OTHER


def _role_by_content(names: set[str], own: BoolArray, spans: Spans, builder: TraceBuilder) -> str:
    categories = {builder.categories.texts[code] for code in np.unique(spans.category[own]).tolist()}
    if KERNEL in categories or COPY_TO_DEVICE in names:
        return DEVICE
    if names & {"OpDispatch", "TensorWaitProp", "TensorGetProp"}:
        return INTERPRETER
    if names & {"Input", "Output", "StartProfile"} or (spans.op[own] != NULL).any():
        return WORKER
    return CUPTI if events_of_cupti(names) else OTHER


def events_of_cupti(names: set[str]) -> bool:
    """Whether a row without a name is one of CUPTI's: kernels and copies, nothing of MegEngine's own."""
    return not names & COMMANDS and not any(name.startswith(("cuda", "cu")) for name in names)
