"""The timeline that MindSpore wrote for chrome://tracing: `(ascend_|gpu_)timeline_display_{id}.json`.

A list of Chrome trace events in us. Ascend: pid is the device (AI Core), 9000 AI CPU, 10000 communication, 11000 host
CPU, 12000 overlap, 13000 GPU activity; lanes of steps, scopes and merged intervals are derived and not read. Times
begin at the least cycle counter, in later versions they are absolute. GPU: tid `Ops` is the host, other tids are
streams. MindSpore 0.5 left a comma after the last event.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import numpy as np

from laptime.importers.ascend_ai_cpu import AI_CPU, AI_CPU_LANE, ai_cpu_kind
from laptime.importers.mindinsight_reading import NS_OF_US, Folder, ns, ns_of, number
from laptime.importers.mindinsight_timeline import Executions
from laptime.model.arrays import IntArray
from laptime.model.builder import BASE_KIND_CODE, TraceBuilder
from laptime.model.tracks import TrackKey, plain_id
from laptime.model.vocabulary import NULL

_AICPU, _COMMUNICATION, _HOST, _OVERLAP = "9000", "10000", "11000", "12000"
_DERIVED_LANES = frozenset({"100000", "100001", "7999", "8000", "8001", "8002", "Steps", "Scope Name"})
_HOST_LANES = frozenset({"Ops", "HostCpuOps"})
_DECODER = json.JSONDecoder(parse_constant=lambda _: None)


@dataclass
class _Lane:
    """Columns of executions, growing."""

    names: list[str] = field(default_factory=list)
    lanes: list[str] = field(default_factory=list)
    start: list[float] = field(default_factory=list)
    dur: list[float] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    types: list[str | None] = field(default_factory=list)

    def add(self, event: dict[str, object], name: str, lane: str, kind: str, op_type: str | None) -> None:
        self.names.append(name)
        self.lanes.append(lane)
        self.start.append(number(event.get("ts")))
        self.dur.append(number(event.get("dur")))
        self.kinds.append(kind)
        self.types.append(op_type)

    def executions(self, device_kind: str) -> Executions:
        start, dur = (ns_of(np.array(values, np.float64), NS_OF_US) for values in (self.start, self.dur))
        return Executions(self.names, self.lanes, start, dur, self.kinds, device_kind, self.types)


@dataclass(frozen=True)
class Display:
    """Events of a display by where they ran, in ns on the display's clock."""

    device: Executions
    aicpu: Executions
    communication: Executions
    host: Executions
    derived: int
    """Events that follow from others, and those that only name lanes."""


def read_display(folder: Folder, kind: str, device_kind: str) -> Display | None:
    """The events of a display file; None where it is absent or holds none."""
    events = _events(folder, kind)
    if events is None:
        return None
    lanes = {key: _Lane() for key in ("device", "aicpu", "communication", "host")}
    derived = bad = 0
    for event in events:
        if not isinstance(event, dict):
            bad += 1
        elif event.get("ph") != "X" or _is_derived(event):
            derived += 1
        else:
            _sort_in(event, lanes, device_kind)
    folder.drop_rows(kind, bad)
    return Display(
        lanes["device"].executions(device_kind),
        lanes["aicpu"].executions(AI_CPU),
        lanes["communication"].executions("communication"),
        lanes["host"].executions("host_cpu"),
        derived,
    )


def _is_derived(event: dict[str, object]) -> bool:
    return plain_id(event.get("pid")) == _OVERLAP or plain_id(event.get("tid")) in _DERIVED_LANES


def _sort_in(event: dict[str, object], lanes: dict[str, _Lane], device_kind: str) -> None:
    pid, tid, name = plain_id(event.get("pid")), plain_id(event.get("tid")), str(event.get("name") or "")
    args = event.get("args")
    known = args if isinstance(args, dict) else {}
    op_type = known.get("type")
    typed = op_type if isinstance(op_type, str) and op_type else None
    if pid == _AICPU:
        lanes["aicpu"].add(event, name, AI_CPU_LANE, ai_cpu_kind(name), typed or name)
    elif pid == _COMMUNICATION:
        lanes["communication"].add(event, name, tid, "communication", typed)
    elif pid == _HOST or tid in _HOST_LANES:
        lanes["host"].add(event, name, tid, "op", typed)
    elif device_kind == "gpu":
        lanes["device"].add(event, name, tid, _gpu_kind(typed or "", name), typed)
    else:
        lanes["device"].add(event, str(known.get("fullname") or name), tid, "kernel", typed)


def _gpu_kind(activity: str, name: str) -> str:
    if "memset" in (activity + name).lower():
        return "memset"
    return "copy" if "memcpy" in activity.lower() else "kernel"


def _events(folder: Folder, kind: str) -> list[object] | None:
    text = folder.text(kind)
    if text is None:
        return None
    try:
        content: object = _DECODER.decode(text)
    except (ValueError, RecursionError):
        content, whole_list = _whole_events(text)
        if not whole_list:
            folder.note_bad(kind, "ends inside the event list; whole events are kept", code="truncated")
    if isinstance(content, dict):
        content = content.get("traceEvents")
    if not isinstance(content, list):
        folder.note_bad(kind, "holds no list of events; left out")
        return None
    return content


def _whole_events(text: str) -> tuple[list[object], bool]:
    """Events up to the first that is broken, and whether only a comma too many was wrong."""
    events: list[object] = []
    place = text.find("[") + 1
    while place and place < len(text):
        while place < len(text) and text[place] in " \t\r\n,":
            place += 1
        try:
            event, place = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        events.append(event)
    return events, text[place:].strip() == "]"


def region_offset(display: Display, region_starts: IntArray) -> int | None:
    """Time 0 of a display whose communication is that of the step trace."""
    own = display.communication.start_ns
    own, region_starts = own[own != NULL], region_starts[region_starts != NULL]
    return int(region_starts.min() - own.min()) if len(own) and len(own) == len(region_starts) else None


def add_host_slices(builder: TraceBuilder, found: Executions, offset_ns: int) -> None:
    """Adds operators of the host as slices of threads."""
    builder.read += len(found)
    keys = {lane: builder.tracks.code(TrackKey("thread", "host", lane)) for lane in dict.fromkeys(found.lanes)}
    builder.add_slices(
        len(found),
        {
            "track": np.fromiter((keys[lane] for lane in found.lanes), np.int32, len(found)),
            "start": np.where(found.start_ns == NULL, NULL, found.start_ns + offset_ns),
            "dur": found.dur_ns,
            "name": builder.names.codes(found.full_names),
            "category": np.full(len(found), builder.categories.code("host_cpu"), np.int32),
            "kind": np.full(len(found), BASE_KIND_CODE["op"], np.int8),
        },
    )


def summary(folder: Folder, kind: str) -> dict[str, object] | None:
    """What `timeline_summary` tells, the time in ns."""
    content = folder.json_object(kind)
    if content is None:
        return None
    return {
        "total_ns": ns(content.get("total_time"), NS_OF_US),
        "streams": content.get("num_of_streams"),
        "ops": content.get("num_of_ops"),
        "executions": content.get("op_exe_times"),
    }
