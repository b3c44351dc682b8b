"""The exported files of msprof as events with a role each.

Chrome trace events, times in decimal us of the device's clock. `timeline/{msprof,hccl,step_trace,task_time}_{device}_
{model}_{iteration}.json` (CANN to 2023), `mindstudio_profiler_output/{msprof,step_trace}_{time}.json` (later). A
`step_trace` file of each iteration tells all iterations; `msprof` repeats what the others hold, so its rows count only
where theirs are missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np

from laptime.importers.events import FAULTS, Event, decode_events, decode_raw_times
from laptime.importers.recovery import recover
from laptime.importers.sources import Source
from laptime.model.arrays import IntArray
from laptime.model.builder import TraceBuilder
from laptime.model.clock import EXACT_DOUBLE_US, ns_from_doubles, ns_from_mixed, ns_from_text
from laptime.model.tracks import plain_id

ROLES = ("step", "task", "collective", "host", "overlap")
_NAME = re.compile(
    r"^(?P<kind>step_trace|task_time|hccl|msprof)(?:_slice_\d+)?_(?P<numbers>\d+(?:_\d+){0,3})\.json(?:\.\w+)?$"
)
_OF_FILE = {"step_trace": "step", "task_time": "task", "hccl": "collective"}
_OF_PROCESS = (
    (re.compile(r"^Step Trace"), "step"),
    (re.compile(r"^Ascend Hardware"), "task"),
    (re.compile(r"^(?:HCCL|Communication)\b"), "collective"),
    (re.compile(r"^CANN"), "host"),
    (re.compile(r"^Overlap Analysis"), "overlap"),
)
_LABELLED_DEVICE = re.compile(r"^NPU\s+(\d{1,9})$")
_MODEL = re.compile(r"Model ID:\d{1,9}")
_CHUNK = 1 << 24


@dataclass(frozen=True)
class Key:
    """What one exported file is about; None where a file holds all of it."""

    model: int | None
    iteration: int | None


@dataclass(frozen=True)
class Row:
    """A slice of an exported file, in ns."""

    key: Key
    thread: str
    name: str
    start: int
    dur: int
    args: dict[str, object]
    raw: bytes


@dataclass
class Exports:
    """Rows by role."""

    rows: dict[str, list[Row]] = field(default_factory=lambda: {role: [] for role in ROLES})


class _Args(msgspec.Struct):
    name: object = None
    labels: object = None


_decode_args = msgspec.json.Decoder(dict[str, object]).decode


def exported_files(files: Sequence[Path]) -> list[tuple[str, Key, Path]]:
    """(kind, key, file) of the exported timelines: those of one file per iteration where there are any."""
    found = []
    for file in files:
        match = _NAME.match(file.name)
        if match:
            numbers = [int(number) for number in match["numbers"].split("_")]
            whole = len(numbers) == 3
            found.append((match["kind"], Key(*numbers[1:]) if whole else Key(None, None), file))
    split = [entry for entry in found if entry[1].iteration is not None]
    order = ["step_trace", "task_time", "hccl", "msprof"]
    return sorted(split or found, key=lambda entry: (order.index(entry[0]), entry[2].name))


def read_exports(files: Sequence[Path], device: int | None, builder: TraceBuilder) -> Exports:
    """All slices of the exported files, each once."""
    exports = Exports()
    told: set[tuple[str, Key]] = set()
    seen_steps: set[tuple[str, str, int]] = set()
    for kind, key, file in exported_files(files):
        here: set[tuple[str, Key]] = set()
        for role, row in _rows(file, kind, key, device, builder):
            step = (row.thread, row.name, row.start)
            if (kind == "msprof" and (role, key) in told) or (role == "step" and step in seen_steps):
                builder.drop("repeated")
                continue
            if role == "step":
                seen_steps.add(step)
            here.add((role, key))
            exports.rows[role].append(row)
        told |= here
    return exports


def _rows(file: Path, kind: str, key: Key, device: int | None, builder: TraceBuilder) -> Iterator[tuple[str, Row]]:
    events = _events(file, builder)
    builder.read += len(events)
    names, devices = _names_of(events)
    slices = [event for event in events if event.ph == "X"]
    builder.drop("not_shown", len(events) - len(slices))
    start, dur = _ns([event.ts for event in slices]), _ns([event.dur for event in slices])
    roles: dict[tuple[str, str], str | None] = {}
    for event, at, lasts in zip(slices, start.tolist(), dur.tolist(), strict=True):
        pid, tid = plain_id(event.pid), plain_id(event.tid)
        process, thread = names.get((pid, ""), ""), names.get((pid, tid), tid)
        if (pid, tid) not in roles:
            roles[pid, tid] = _OF_FILE.get(kind) or _role(process, thread)
        role = roles[pid, tid]
        if role is None or (device is not None and devices.get(pid, device) != device):
            builder.drop("not_shown")
            continue
        yield role, Row(key, _lane(role, thread), plain_id(event.name), at, lasts, _arguments(event), bytes(event.args))


def _events(file: Path, builder: TraceBuilder) -> list[Event]:
    data, damage = _bytes_of(file)
    events = _decoded(data)
    if events is None:
        found = recover(data[data.find(b"[") + 1 :])
        events = found.events
        builder.read += found.bad
        builder.drop("invalid_json", found.bad)
        builder.warnings.add("invalid_json", "events with broken text; repaired or dropped", found.repaired + found.bad)
        if not found.closed:
            damage = damage or "the file ends inside the event list"
    if damage is not None:
        builder.warnings.add("truncated", f"{file.name}: {damage}; {len(events):,} whole events are kept")
    return events


def _bytes_of(file: Path) -> tuple[bytes, str | None]:
    try:
        with Source(file).open() as stream:
            pieces = []
            while piece := stream.read(_CHUNK):
                pieces.append(piece)
            return b"".join(pieces), stream.damage
    except OSError as error:
        return b"", error.strerror or "it cannot be read"


def _decoded(data: bytes) -> list[Event] | None:
    """The events of sound JSON. Times that a double cannot hold are kept as text."""
    try:
        events = decode_events(data)
        if any(type(event.ts) is float and abs(event.ts) >= EXACT_DOUBLE_US for event in events):
            events = list(decode_raw_times(data))
    except FAULTS:
        return None
    return events


def _ns(values: list[object]) -> IntArray:
    if all(type(value) is float or (type(value) is int and abs(value) < EXACT_DOUBLE_US) for value in values):
        return ns_from_doubles(np.array(values, np.float64))
    texts = [bytes(value).strip(b'"') for value in values if isinstance(value, msgspec.Raw)]
    return ns_from_text(texts) if len(texts) == len(values) else ns_from_mixed(values)


def _names_of(events: list[Event]) -> tuple[dict[tuple[str, str], str], dict[str, int]]:
    """Names of processes (pid, "") and threads (pid, tid); the device that a process is labelled with."""
    names: dict[tuple[str, str], str] = {}
    devices: dict[str, int] = {}
    for event in events:
        if event.ph != "M":
            continue
        try:
            args = msgspec.json.decode(event.args, type=_Args)
        except FAULTS:
            continue
        pid, tid = plain_id(event.pid), plain_id(event.tid)
        if event.name in ("process_name", "thread_name"):
            names[pid, tid if event.name == "thread_name" else ""] = plain_id(args.name)
        labelled = _LABELLED_DEVICE.match(plain_id(args.labels)) if event.name == "process_labels" else None
        if labelled:
            devices[pid] = int(labelled[1])
    return names, devices


def _role(process: str, thread: str) -> str | None:
    for name in (thread, process):
        for pattern, role in _OF_PROCESS:
            if pattern.match(name) and (name == process or role == "step"):
                return role
    return None


def _lane(role: str, thread: str) -> str:
    """Name of the row; `msprof` calls a model's step trace otherwise than `step_trace` does."""
    model = _MODEL.search(thread) if role == "step" else None
    return model[0] if model else thread


def _arguments(event: Event) -> dict[str, object]:
    try:
        return _decode_args(event.args) if event.args else {}
    except FAULTS:
        return {}
