"""Backward ranges of the modules whose forward calls laptime's recorder marked in a recording of PyTorch.

PyTorch links each node of the backward pass to the operator of the forward pass that made it. Nodes that follow each
other and belong to one call of a module are its backward range; what accumulates gradients belongs to the node before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from laptime.model.arrays import IntArray
from laptime.model.builder import BASE_KIND_CODE, TraceBuilder
from laptime.model.classify import MIRROR
from laptime.model.tracks import TrackKey

_RANGE, _BACKWARD = "module: ", " (backward)"
_NODE = "autograd::engine::evaluate_function: "
_LINK = "fwdbwd"

Chain = tuple[int, ...]
"""Calls of modules by number of slice, each inside the one before."""


@dataclass(frozen=True)
class _Spans:
    """Slices of one track that lie in each other or apart, in order of time."""

    row: IntArray
    start: IntArray
    end: IntArray


def add_backward_ranges(builder: TraceBuilder) -> None:
    """Adds slices `module: PATH (backward)` where the recording holds ranges of modules."""
    names = builder.names.texts
    is_range = np.array([text.startswith(_RANGE) for text in names] or [False], bool)
    if not is_range.any() or not builder.flow_points.count:
        return
    columns = {name: builder.slices.joined(name) for name in ("name", "track", "start", "dur")}
    is_node = np.array([text.startswith(_NODE) for text in names], bool)
    chains = _chains_of_links(builder, _by_track(columns, is_range))
    found: list[tuple[int, int, int, str]] = []
    starts = {track: np.sort(columns["start"][columns["track"] == track]) for track in chains}
    for track, nodes in _by_track(columns, is_node).items():
        if track in chains:
            ranges = _ranges(nodes, chains[track], starts[track])
            found += [(track, each.start, -each.minus_end, names[columns["name"][each.call]]) for each in ranges]
    _add(found, builder)


def _by_track(columns: dict[str, IntArray], wanted: IntArray) -> dict[int, _Spans]:
    rows = np.flatnonzero(wanted[columns["name"]] & (columns["dur"] >= 0))
    start = columns["start"][rows].astype(np.int64)
    dur, track = columns["dur"][rows].astype(np.int64), columns["track"][rows]
    order = np.lexsort((-dur, start, track))
    rows, start, dur, track = rows[order], start[order], dur[order], track[order]
    return {
        code: _Spans(rows[track == code], start[track == code], (start + dur)[track == code])
        for code in np.unique(track).tolist()
    }


def _chains_of_links(builder: TraceBuilder, modules: dict[int, _Spans]) -> dict[int, list[tuple[int, Chain]]]:
    """By track of the backward pass: time at which each linked node starts, and the calls that its operator lies in."""
    points = {name: builder.flow_points.joined(name) for name in ("track", "ts", "id", "category", "is_end")}
    linked = points["category"] == builder.categories.code(_LINK)
    keys = {key: code for code, key in enumerate(builder.tracks.keys)}
    tracks = np.array([keys.get(TrackKey("thread", *pair), -1) for pair in builder.place_pairs] or [-1])
    chain_of: dict[int, Chain] = {}
    for track, spans in modules.items():
        rows = np.flatnonzero(linked & ~points["is_end"].astype(bool) & (tracks[points["track"]] == track))
        rows = rows[np.argsort(points["ts"][rows], kind="stable")]
        chain_of.update(zip(points["id"][rows].tolist(), _around(points["ts"][rows], spans), strict=True))
    ends: dict[int, list[tuple[int, Chain]]] = defaultdict(list)
    rows = np.flatnonzero(linked & points["is_end"].astype(bool))
    for row in rows[np.argsort(points["ts"][rows], kind="stable")].tolist():
        chain = chain_of.get(int(points["id"][row]))
        if chain is not None:
            ends[int(tracks[points["track"][row]])].append((int(points["ts"][row]), chain))
    return ends


def _around(times: IntArray, spans: _Spans) -> Iterator[Chain]:
    """The spans that hold each of some ascending times."""
    open_rows: list[tuple[int, int]] = []
    place = 0
    for time in times.tolist():
        while place < len(spans.row) and spans.start[place] <= time:
            while open_rows and open_rows[-1][1] <= spans.start[place]:
                open_rows.pop()
            open_rows.append((int(spans.row[place]), int(spans.end[place])))
            place += 1
        while open_rows and open_rows[-1][1] <= time:
            open_rows.pop()
        yield tuple(row for row, _ in open_rows)


class _Range(NamedTuple):
    """Sorts as ranges nest."""

    start: int
    minus_end: int
    depth: int
    call: int


class _Ranges:
    """Ranges while they are built, from nodes that follow each other."""

    def __init__(self) -> None:
        self.done: list[_Range] = []
        self._open: list[tuple[int, int]] = []
        self._end = 0

    def close(self, count: int) -> None:
        """Ends all but the first `count` where the last node ended."""
        while len(self._open) > count:
            row, start = self._open.pop()
            self.done.append(_Range(start, -self._end, len(self._open), row))

    def add(self, chain: Chain | None, start: int, end: int) -> None:
        """A node; None: it belongs to the node before."""
        if chain is not None:
            same = 0
            while same < min(len(self._open), len(chain)) and self._open[same][0] == chain[same]:
                same += 1
            self.close(same)
            before = max(start - 1, self._end)  # so that the node lies inside, also where it is all there is
            self._open += [(row, before) for row in chain[same:]]
        self._end = end


def _ranges(nodes: _Spans, links: list[tuple[int, Chain]], starts: IntArray) -> list[_Range]:
    """Ranges from the nodes of a track, as they nest; other work between two nodes ends a range."""
    ranges = _Ranges()
    place, last_end = 0, 0
    for start, end in zip(nodes.start.tolist(), nodes.end.tolist(), strict=True):
        if start < last_end:  # a backward pass inside a node, as of checkpoints
            continue
        between = np.searchsorted(starts, [last_end, start])
        if between[1] > between[0]:
            ranges.close(0)
        while place < len(links) and links[place][0] < start:
            place += 1
        linked = place < len(links) and links[place][0] < end
        ranges.add(links[place][1] if linked else None, start, end)
        last_end = end
    ranges.close(0)
    return sorted(ranges.done)


def _add(found: list[tuple[int, int, int, str]], builder: TraceBuilder) -> None:
    if not found:
        return
    track, start, end, name = zip(*found, strict=True)
    first = np.array(start, np.int64)
    builder.add_slices(
        len(found),
        {
            "track": np.array(track, np.int32),
            "start": first,
            "dur": np.array(end, np.int64) - first,
            "name": builder.names.codes(f"{each}{_BACKWARD}" for each in name),
            "kind": np.full(len(found), BASE_KIND_CODE[MIRROR], np.int8),
            "category": np.full(len(found), builder.categories.code("laptime"), np.int32),
        },
    )
