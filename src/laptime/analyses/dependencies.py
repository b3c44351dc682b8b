"""What a slice waited for, and what waited for it: links of the recording and those that follow from the timeline.

Definitions: docs/definitions.md, "Dependencies".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from laptime.analyses.device import device_rows, launch_of
from laptime.model.arrays import BoolArray, CodeArray, IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import FLOW_KINDS, KIND_CODE, NULL, TRACK_KINDS

QUEUE, WAIT = "queue", "wait"
LINKS = (*FLOW_KINDS, QUEUE, WAIT)
"""Kinds of links: those of `flows`; queue: to the next slice of a stream; wait: from what a host wait waits for."""
_THREAD = TRACK_KINDS.index("thread")
_DATA = FLOW_KINDS.index("data")


@dataclass(frozen=True)
class Edges:
    """Pairs of slices, cause and effect; `kind` is a code of LINKS."""

    from_id: IntArray
    to_id: IntArray
    kind: CodeArray

    @cached_property
    def reversed(self) -> Edges:
        """From effect to cause."""
        return Edges(self.to_id, self.from_id, self.kind)

    @cached_property
    def _order(self) -> IntArray:
        return np.asarray(np.argsort(self.from_id, kind="stable"), np.int64)

    def leaving(self, rows: IntArray) -> IntArray:
        """Edges that leave any of the rows, in order of the rows."""
        keys = self.from_id[self._order]
        first, last = np.searchsorted(keys, rows), np.searchsorted(keys, rows, side="right")
        counts = last - first
        place = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(first, counts)
        return np.asarray(self._order[place])

    def of(self, *kinds: str) -> Edges:
        """Only the edges of these kinds."""
        chosen = np.isin(self.kind, [LINKS.index(kind) for kind in kinds])
        return Edges(self.from_id[chosen], self.to_id[chosen], self.kind[chosen])


@dataclass(frozen=True)
class Walk:
    """Slices reached, nearest first, each once: how deep, over which link, and from which slice."""

    slice_id: IntArray
    depth: IntArray
    link: CodeArray
    via: IntArray

    def __len__(self) -> int:
        return len(self.slice_id)


def edges_of(trace: Trace) -> Edges:
    """All links of a trace."""
    flows = trace.flows
    parts = [
        (flows["from_id"], flows["to_id"], flows["kind"]),
        _with_kind(*_queues(trace), QUEUE),
        _with_kind(*_waits(trace), WAIT),
    ]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return Edges(columns[0], columns[1], columns[2].astype(np.int32))


def walk(edges: Edges, starts: Sequence[int] | IntArray, *, depth: int) -> Walk:
    """Breadth first from the starts along the edges, up to a depth; each slice once, so that cycles end."""
    frontier = np.unique(np.asarray(starts, np.int64))
    most = int(max(edges.from_id.max(initial=-1), edges.to_id.max(initial=-1), frontier.max(initial=-1)))
    seen = np.zeros(most + 1, bool)
    seen[frontier] = True
    levels: list[tuple[IntArray, IntArray, CodeArray, IntArray]] = []
    for level in range(1, depth + 1):
        leaving = edges.leaving(frontier)
        leaving = leaving[~seen[edges.to_id[leaving]]]
        frontier, first = np.unique(edges.to_id[leaving], return_index=True)
        if not len(frontier):
            break
        seen[frontier] = True
        used = leaving[first]
        levels.append((frontier, np.full(len(used), level), edges.kind[used], edges.from_id[used]))
    if not levels:
        empty = np.empty(0, np.int64)
        return Walk(empty, empty, np.empty(0, np.int32), empty)
    return Walk(*(np.concatenate(column) for column in zip(*levels, strict=True)))


def _with_kind(from_id: IntArray, to_id: IntArray, kind: str) -> tuple[IntArray, IntArray, IntArray]:
    return from_id, to_id, np.full(len(from_id), LINKS.index(kind), np.int64)


def _queues(trace: Trace) -> tuple[IntArray, IntArray]:
    """Each device slice and the next one of its stream."""
    rows = device_rows(trace)
    track = trace.slices["track_id"][rows]
    same = track[1:] == track[:-1]
    return rows[:-1][same], rows[1:][same]


def _waits(trace: Trace) -> tuple[IntArray, IntArray]:
    """The device slice whose end each host wait waited for, and the wait.

    A wait for a value waits for what the operator that makes it launched, unless that had ended before. Any other waits
    for the device slice that ended last while it waited, of those launched before it began.
    """
    waits = np.flatnonzero((trace.track_kind == _THREAD) & (trace.slices["kind"] == KIND_CODE["sync"]))
    waits = waits[trace.slices["dur_ns"][waits] != NULL]
    makers, told = _makers(trace, waits)
    others = waits[~np.isin(waits, told)]
    lasting = trace.end_ns[makers] > trace.slices["start_ns"][told]
    makers, told = makers[lasting], told[lasting]
    ended = _last_ended(trace, others)
    return np.concatenate([makers, ended[ended >= 0]]), np.concatenate([told, others[ended >= 0]])


def _makers(trace: Trace, waits: IntArray) -> tuple[IntArray, IntArray]:
    """Device slices of the operators whose values are waited for, and the waits."""
    flows = trace.flows
    edges = Edges(flows["from_id"], flows["to_id"], flows["kind"].astype(np.int32))
    data = np.flatnonzero((edges.kind == _DATA) & np.isin(edges.to_id, waits))
    launches = edges.of("launch")
    first = np.searchsorted(np.sort(launches.from_id), edges.from_id[data])
    last = np.searchsorted(np.sort(launches.from_id), edges.from_id[data], side="right")
    leaving = launches.leaving(edges.from_id[data])
    return launches.to_id[leaving], np.repeat(edges.to_id[data], last - first)


def _last_ended(trace: Trace, waits: IntArray) -> IntArray:
    """Of the device slices launched before each wait the one that ended last while it lasted; -1 without one."""
    rows = device_rows(trace)
    rows = rows[trace.slices["dur_ns"][rows] != NULL]
    if not len(rows) or not len(waits):
        return np.full(len(waits), -1, np.int64)
    rows = rows[np.argsort(trace.end_ns[rows], kind="stable")]
    launch = launch_of(trace, rows)
    launched = np.where(launch >= 0, trace.slices["start_ns"][np.maximum(launch, 0)], NULL)
    ends, begin = trace.end_ns[rows], trace.slices["start_ns"][waits]
    place = np.searchsorted(ends, trace.end_ns[waits], side="right") - 1

    def in_time(pending: IntArray) -> BoolArray:
        return np.asarray((place[pending] >= 0) & (ends[np.maximum(place[pending], 0)] > begin[pending]))

    pending = np.arange(len(waits))
    pending = pending[in_time(pending)]
    while len(pending):  # past what other threads launched meanwhile
        pending = pending[launched[place[pending]] >= begin[pending]]
        place[pending] -= 1
        pending = pending[in_time(pending)]
    every = np.arange(len(waits))
    return np.where(in_time(every), rows[np.maximum(place, 0)], -1)
