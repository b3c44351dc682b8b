"""Slices of the tables of Ascend's .db files, and the links between them by their connections."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

import numpy as np

from laptime.importers.ascend_output_sqlite import Database, whole_number
from laptime.importers.ascend_output_tasks import meaning_of
from laptime.model.arrays import Column, IntArray
from laptime.model.builder import BASE_KIND_CODE, TraceBuilder
from laptime.model.tracks import TrackKey
from laptime.model.vocabulary import NULL

LAUNCH = "ac2g"
"""Category of flows that lead from a launch to the device, in PyTorch's words."""
_TASK_QUEUE = "async_task_queue"
_BACKWARD = "fwdbwd"
_LATEST = 2**63


@dataclass
class DatabaseSlices:
    """Slices of one table."""

    start: IntArray
    end: IntArray
    names: list[str]
    categories: list[str]
    tracks: list[TrackKey]
    extra: dict[str, Column] = field(default_factory=dict)

    def chosen(self, rows: list[int]) -> DatabaseSlices:
        """Some of the rows."""
        place = np.array(rows, np.int64)
        names, categories = [self.names[row] for row in rows], [self.categories[row] for row in rows]
        return DatabaseSlices(self.start[place], self.end[place], names, categories, [self.tracks[row] for row in rows])

    def add_to(self, builder: TraceBuilder) -> None:
        """Adds them as rows."""
        kinds = [BASE_KIND_CODE[meaning_of(category).kind] for category in self.categories]
        timed = (self.start != NULL) & (self.end != NULL)
        columns: dict[str, Column] = {
            "track": np.array([builder.tracks.code(key) for key in self.tracks], np.int32),
            "start": self.start,
            "dur": np.where(timed, self.end - np.where(timed, self.start, 0), NULL),
            "name": builder.names.codes(self.names),
            "category": builder.categories.codes(self.categories),
            "kind": np.array(kinds, np.int8),
            **self.extra,
        }
        builder.read += len(self.names)
        builder.add_slices(len(self.names), columns)


@dataclass
class Links:
    """Flow points: from rows with a connection to those that it leads to."""

    builder: TraceBuilder

    def add(self, category: str, slices: DatabaseSlices, ids: IntArray, *, is_end: bool) -> None:
        """Adds the starts or the ends of all rows that have an id."""
        rows = np.flatnonzero((ids != NULL) & (slices.start != NULL))
        places = [self.builder.place(slices.tracks[row].pid, slices.tracks[row].tid) for row in rows.tolist()]
        columns: dict[str, Column] = {
            "track": np.array(places, np.int32),
            "ts": slices.start[rows],
            "id": ids[rows],
            "name": np.full(len(rows), self.builder.names.code(category)),
            "category": np.full(len(rows), self.builder.categories.code(category)),
            "is_end": np.full(len(rows), is_end),
        }
        self.builder.flow_points.append(len(rows), columns)


def connections_of(database: Database, ids: IntArray) -> list[list[int]]:
    """The connections that each row's id stands for."""
    known: dict[int, list[int]] = {}
    for number, connection in database.rows("CONNECTION_IDS", "id", "connectionId"):
        known.setdefault(whole_number(number), []).append(whole_number(connection))
    known.pop(NULL, None)
    return [known.get(number, []) for number in ids.tolist()]


def link_operators(
    operators: DatabaseSlices, connections: list[list[int]], calls: DatabaseSlices, call_ids: IntArray, *, links: Links
) -> None:
    """Links operators to what they launched, and what was put into the task queue to what was taken out.

    Work that no operator names (copies) was launched by what put the call for it into the queue, else by the call.
    """
    is_operator = [category == "cpu_op" for category in operators.categories]
    pairs = [(row, each) for row, own in enumerate(connections) if is_operator[row] for each in own]
    links.add(LAUNCH, operators.chosen([row for row, _ in pairs]), _column(pairs), is_end=False)
    queue = _Queue.of(operators, connections)
    for rows, is_end in ((queue.put, False), (queue.taken, True)):
        links.add(_TASK_QUEUE, operators.chosen([row for row, _ in rows]), _column(rows), is_end=is_end)
    others = np.where(np.isin(call_ids, [connection for _, connection in pairs]), NULL, call_ids)
    links.add(LAUNCH, queue.askers(calls, operators), others, is_end=False)


def link_backward(
    operators: DatabaseSlices, connections: list[list[int]], forward_threads: IntArray, *, links: Links
) -> None:
    """Links forward operators to backward ones: both share a connection, and the latter names the former's thread."""
    sharing: dict[int, list[int]] = {}
    for row, own in enumerate(connections):
        if operators.categories[row] == "cpu_op":
            for connection in own:
                sharing.setdefault(connection, []).append(row)
    pairs = [
        (connection, *sorted(rows, key=lambda row: bool(forward_threads[row] > 0)))
        for connection, rows in sharing.items()
        if len(rows) == 2 and np.count_nonzero(forward_threads[rows] > 0) == 1
    ]
    ids = np.array([connection for connection, _, _ in pairs], np.int64)
    links.add(_BACKWARD, operators.chosen([forward for _, forward, _ in pairs]), ids, is_end=False)
    links.add(_BACKWARD, operators.chosen([backward for _, _, backward in pairs]), ids, is_end=True)


def _column(pairs: list[tuple[int, int]]) -> IntArray:
    return np.array([connection for _, connection in pairs], np.int64)


@dataclass(frozen=True)
class _Queue:
    """Rows that put work into the task queue or took it out, with their connections."""

    put: list[tuple[int, int]]
    taken: list[tuple[int, int]]

    @staticmethod
    def of(operators: DatabaseSlices, connections: list[list[int]]) -> _Queue:
        rows = [row for row, category in enumerate(operators.categories) if category == "queue" and connections[row]]
        put = [(row, connections[row][0]) for row in rows if operators.names[row].startswith("Enqueue")]
        taken = [(row, connections[row][0]) for row in rows if operators.names[row].startswith("Dequeue")]
        return _Queue(put, taken)

    def askers(self, calls: DatabaseSlices, operators: DatabaseSlices) -> DatabaseSlices:
        """For each call what put it into the queue, else the call itself."""
        put = {connection: row for row, connection in self.put}
        spans: dict[str, list[tuple[int, int, int]]] = {}
        for row, connection in self.taken:
            span = int(operators.start[row]), int(operators.end[row]), put.get(connection, -1)
            spans.setdefault(operators.tracks[row].tid, []).append(span)
        for own in spans.values():
            own.sort()
        start, tracks = calls.start.copy(), list(calls.tracks)
        for row, begins in enumerate(calls.start.tolist()):
            own = spans.get(calls.tracks[row].tid, [])
            place = bisect_right(own, (begins, _LATEST, _LATEST)) - 1
            if place >= 0 and begins < own[place][1] and own[place][2] >= 0:
                start[row], tracks[row] = operators.start[own[place][2]], operators.tracks[own[place][2]]
        return DatabaseSlices(start, calls.end, calls.names, calls.categories, tracks)
