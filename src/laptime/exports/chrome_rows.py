"""Rows of an exported timeline: which (pid, tid) each lane of each track is written on.

Viewers draw a (pid, tid) as one stack, so slices of different tracks or lanes, which may cross each other, never share
one. The lane 0 of the track that flow events bind to keeps the recorder's tid, the others get a tid of their own
(`7 annotations`, `1234 lane 1`). A metadata event `laptime_track` per row says what the row is made of, so that the
importer brings it back:

    {"ph": "M", "name": "laptime_track", "pid": 0, "tid": "7 annotations",
     "args": {"kind": "annotation", "pid": "0", "tid": "7", "device": 0, "stream": 7}}

Processes and threads get sort indices, since the recorder's own are not stored but decide the order of tracks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from laptime.model.trace import Trace

IntArray = npt.NDArray[np.int64]
_Node = TypeVar("_Node", str, tuple[str, str])

WITHOUT_ROW = ("async", "counter")
"""Tracks whose events are told by process and name alone."""
_OWNERS = ("stream", "thread", "annotation", "sync", "span")
"""Of the tracks that share a (pid, tid), the one of the first kind here keeps it; the importer binds flows alike."""
_PLURALS = {"annotation": "annotations", "sync": "waits"}


@dataclass(frozen=True)
class Track:
    """A row of the `tracks` table, as far as an export needs it."""

    track_id: int
    kind: str
    name: str
    process: str | None
    pid: str
    tid: str
    device: int | None
    stream: int | None
    unit: str | None


@dataclass(frozen=True)
class Row:
    """One lane of a track, and the (pid, tid) it is written on."""

    track: Track
    lane: int
    pid: str
    tid: str

    @property
    def place(self) -> str:
        """The row's part of an event's text."""
        return place_text(self.pid, self.tid)


@dataclass(frozen=True)
class Rows:
    """All rows; those of a track lie together, lane 0 first."""

    tracks: list[Track]
    rows: list[Row]
    first_row: IntArray
    """Row of lane 0 by track id; -1 where a track has no row."""

    def bindable(self) -> npt.NDArray[np.bool_]:
        """By track id: whether flow events on its (pid, tid) bind to this track."""
        flags = [False] * len(self.tracks)
        for row in self.rows:
            owns = row.lane == 0 and row.tid == row.track.tid
            flags[row.track.track_id] |= owns and row.track.kind in ("stream", "thread")
        return np.array(flags, bool)


def read_tracks(trace: Trace) -> list[Track]:
    """The tracks in order of their ids."""
    wanted = ["track_id", "kind", "name", "process", "pid", "tid", "device", "stream", "unit"]
    return [Track(**row) for row in trace.tracks.arrow(wanted).to_pylist()]


def lay_out(tracks: list[Track], lane_counts: IntArray) -> Rows:
    """Gives each lane of each track its (pid, tid)."""
    shown = [track for track in tracks if track.kind not in WITHOUT_ROW]
    owners: dict[tuple[str, str], Track] = {}
    for track in sorted(shown, key=lambda track: _OWNERS.index(track.kind)):
        owners.setdefault((track.pid, track.tid), track)
    taken = set(owners)
    rows: list[Row] = []
    first_row = np.full(len(tracks), -1, np.int64)
    for track in shown:
        first_row[track.track_id] = len(rows)
        for lane in range(max(int(lane_counts[track.track_id]), 1)):
            tid = track.tid
            if lane or owners[track.pid, track.tid] is not track:
                tid = _free_tid(track, lane, taken)
            rows.append(Row(track, lane, track.pid, tid))
    return Rows(tracks, rows, first_row)


def _free_tid(track: Track, lane: int, taken: set[tuple[str, str]]) -> str:
    parts = [track.tid]
    if not lane or track.kind not in ("stream", "thread"):
        parts.append(_PLURALS.get(track.kind, track.kind))
    if lane:
        parts.append(f"lane {lane}")
    tid = base = " ".join(part for part in parts if part)
    count = 1
    while (track.pid, tid) in taken:
        count += 1
        tid = f"{base} ({count})"
    taken.add((track.pid, tid))
    return tid


# ---- texts ----


def json_text(value: object) -> str:
    """A value as compact JSON."""
    return msgspec.json.encode(value).decode()


def place_text(pid: str, tid: str) -> str:
    """`,"pid":…,"tid":…` of an event; numbers as numbers, an absent one left out."""
    return "".join(f',"{name}":{_id_text(text)}' for name, text in (("pid", pid), ("tid", tid)) if text)


def _id_text(text: str) -> str:
    is_number = text.lstrip("-").isdecimal() and len(text) < 16 and str(int(text)) == text
    return text if is_number else json_text(text)


# ---- metadata ----


def metadata_events(rows: Rows) -> Iterator[str]:
    """Texts of the events that name, order and explain the rows."""
    yield from _process_events(rows.tracks)
    names = _shared_names(rows.tracks)
    thread_order = _thread_order(rows.tracks)
    for row in rows.rows:
        track = row.track
        key = {name: getattr(track, name) for name in ("kind", "pid", "tid", "device", "stream")}
        yield _metadata("laptime_track", row.place, key)
        name = _row_name(row, names.get((track.pid, track.tid)))
        if name is not None:
            yield _metadata("thread_name", row.place, {"name": name})
        if (track.pid, track.tid) in thread_order:
            yield _metadata("thread_sort_index", row.place, {"sort_index": thread_order[track.pid, track.tid]})


def _metadata(name: str, place: str, args: dict[str, object]) -> str:
    return f'{{"ph":"M","name":"{name}"{place},"args":{json_text(args)}}}'


def _process_events(tracks: list[Track]) -> Iterator[str]:
    order = _process_order(tracks)
    for pid, track in {track.pid: track for track in reversed(tracks)}.items():
        place = place_text(pid, "")
        if track.process is not None:
            yield _metadata("process_name", place, {"name": track.process})
        if track.device is not None:
            yield _metadata("process_labels", place, {"labels": f"device {track.device}"})
        yield _metadata("process_sort_index", place, {"sort_index": order.get(pid, len(order))})


def _row_name(row: Row, shared_name: str | None) -> str | None:
    if row.tid == row.track.tid:
        return shared_name
    return f"{row.track.name} (lane {row.lane})" if row.lane else row.track.name


def _shared_names(tracks: list[Track]) -> dict[tuple[str, str], str]:
    """Name of each (pid, tid) that gives its tracks their names again, where there is one.

    Tracks that the recorder did not name have stand-ins, which differ by kind (`thread 7`, `stream 7`).
    """
    found: dict[tuple[str, str], dict[str, bool]] = {}
    for track in tracks:
        if track.kind not in WITHOUT_ROW:
            name, stand_in = _base_name(track)
            found.setdefault((track.pid, track.tid), {})[name] = name == stand_in
    names = {}
    for place, candidates in found.items():
        own = [name for name, is_stand_in in candidates.items() if not is_stand_in] or list(candidates)
        if len(own) == 1 and own[0]:
            names[place] = own[0]
    return names


def _base_name(track: Track) -> tuple[str, str]:
    """Name of a track without what its kind adds, and the name it has where the recorder gave none."""
    if track.kind in _PLURALS:
        return track.name.removeprefix(f"{_PLURALS[track.kind]} of "), f"stream {track.tid}"
    if track.kind == "stream":
        return track.name, f"stream {track.tid if track.stream is None else track.stream}"
    return track.name, f"thread {track.tid}" if track.tid else track.pid


# ---- order ----

_SORTED_TOGETHER = ("thread", "async", "counter", "span")
"""Kinds of tracks that the trace model orders by process and thread, each kind apart."""


def _process_order(tracks: list[Track]) -> dict[str, int]:
    lists = [[track.pid for track in tracks if track.kind == kind] for kind in _SORTED_TOGETHER]
    return _merged_order(lists)


def _thread_order(tracks: list[Track]) -> dict[tuple[str, str], int]:
    by_process: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for track in tracks:
        if track.kind in _SORTED_TOGETHER:
            by_process.setdefault((track.kind, track.pid), []).append((track.pid, track.tid))
    return _merged_order(by_process.values())


def _merged_order(lists: Iterable[list[_Node]]) -> dict[_Node, int]:
    """One order that agrees with all lists."""
    sorter: TopologicalSorter[_Node] = TopologicalSorter()
    seen: dict[_Node, int] = {}
    for nodes in lists:
        for place, node in enumerate(nodes):
            sorter.add(node, *[before for before in nodes[max(place - 1, 0) : place] if before != node])
            seen.setdefault(node, len(seen))
    try:
        return {node: place for place, node in enumerate(sorter.static_order())}
    except CycleError:  # ids that differ only in form (`7`, `07`) may alternate
        return seen
