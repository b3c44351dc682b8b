"""Steps of a recording without markers, inferred from what repeats on the main thread.

A training loop calls the same things once per step. The anchor is, in this order: PyTorch's own ranges around the data
loader and the optimizer (whichever is rarer: gradients may be accumulated over several batches, several optimizers may
step per batch), a range of the user's, an operator that comes back at an even pace. Steps are cut where the anchor
begins (data) or ends (optimizer). What lies before the first and after the last cut is part of the neighbouring step
when it is small, a step of its own when it is as full as the others, and an incomplete step in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from laptime.model.arrays import BoolArray, IntArray, distinct_codes
from laptime.model.assembly import Assembled
from laptime.model.classify import is_autograd_node, is_framework_range, is_optimizer_step
from laptime.model.vocabulary import KIND_CODE, NULL

_WHOLE = 0.9
"""A cycle with at least this share of the others' slices is whole."""
_REMNANT = 0.35
"""A rest with at most this share of the others' slices belongs to its neighbour."""
_LEAST_CYCLES = 2
_COVERAGE = 0.7
"""Ranges and ops count as anchors only if their cycles fill at least this share of the thread's time and of its ranges
or ops: a layer that comes back inside one forward pass is no step."""


@dataclass(frozen=True)
class Cycle:
    """Spans of the cycles found; empty arrays where nothing repeats."""

    start: IntArray
    end: IntArray
    whole: BoolArray
    label: str
    thread: int | None


@dataclass(frozen=True)
class _Anchor:
    rows: IntArray
    at_end: bool
    label: str


def find_cycles(slices: Assembled, names: list[str]) -> Cycle:
    """Cycles of the thread that shows the clearest anchor."""
    anchor = _named_anchor(slices, names) or _range_anchor(slices, names) or _op_anchor(slices, names)
    if anchor is None:
        empty = np.empty(0, np.int64)
        return Cycle(empty, empty, np.empty(0, bool), "", None)
    return _cut(slices, anchor)


def _cut(slices: Assembled, anchor: _Anchor) -> Cycle:
    columns = slices.columns
    thread = int(columns["track"][anchor.rows[0]])
    first, last = np.searchsorted(columns["track"], [thread, thread + 1])
    host = np.arange(first, last)
    host = host[np.isin(columns["kind"][host], [KIND_CODE[kind] for kind in ("op", "scope", "data", "communication")])]
    starts, ends = columns["start"][host].astype(np.int64), slices.end[host]
    cuts = slices.end[anchor.rows] if anchor.at_end else columns["start"][anchor.rows].astype(np.int64)
    # Ranges of the user around the whole loop would stretch the first and last step.
    inner = (starts > cuts[0]) | (ends < cuts[-1]) if len(cuts) > 1 else np.ones(len(starts), bool)
    edges = np.concatenate([[starts[inner].min(initial=cuts[0])], cuts, [ends[inner].max(initial=cuts[-1])]])
    edges = np.maximum.accumulate(edges)
    counts = np.diff(np.searchsorted(starts, edges))
    typical = float(np.median(counts[1:-1]))
    keep_head, keep_tail = counts[0] > _REMNANT * typical, counts[-1] > _REMNANT * typical
    begin = 0 if keep_head else 1
    end = len(counts) if keep_tail else len(counts) - 1
    start, stop = edges[:-1][begin:end].copy(), edges[1:][begin:end].copy()
    whole = counts[begin:end] >= _WHOLE * typical
    if not keep_head:
        start[0] = edges[0]
    if not keep_tail:
        stop[-1] = edges[-1]
    return Cycle(start, stop, whole, anchor.label, thread)


def _named_anchor(slices: Assembled, names: list[str]) -> _Anchor | None:
    columns = slices.columns
    on_thread = slices.on_thread
    data = np.flatnonzero(on_thread & (columns["kind"] == KIND_CODE["data"]))
    data = (
        data[[names[code].startswith("enumerate(DataLoader)#") for code in columns["name"][data]]]
        if len(data)
        else data
    )
    scopes = np.flatnonzero(on_thread & (columns["kind"] == KIND_CODE["scope"]))
    optimizer = scopes[[is_optimizer_step(names[code]) for code in columns["name"][scopes]]] if len(scopes) else scopes
    optimizer = _outermost(slices, optimizer)
    anchors = [
        anchor
        for anchor in (_rarest(slices, optimizer, names, at_end=True), _rarest(slices, data, names, at_end=False))
        if anchor is not None
    ]
    return min(anchors, key=lambda anchor: len(anchor.rows), default=None)


def _rarest(slices: Assembled, rows: IntArray, names: list[str], *, at_end: bool) -> _Anchor | None:
    """Of several names that come back, the rarest one (several optimizers step once each per step)."""
    codes, counts = np.unique(slices.columns["name"][rows], return_counts=True)
    again = counts >= _LEAST_CYCLES
    if not again.any():
        return None
    code = codes[again][np.argmin(counts[again])]
    chosen = rows[slices.columns["name"][rows] == code]
    track = slices.columns["track"][chosen]
    chosen = chosen[track == np.bincount(track).argmax()]
    return _Anchor(chosen, at_end, names[int(code)]) if len(chosen) >= _LEAST_CYCLES else None


def _outermost(slices: Assembled, rows: IntArray) -> IntArray:
    member = np.zeros(len(slices.end), bool)
    member[rows] = True
    parent = slices.parent[rows]
    nested = np.zeros(len(rows), bool)
    while (parent >= 0).any():
        nested |= (parent >= 0) & member[parent]
        parent = np.where(parent >= 0, slices.parent[parent], -1)
    return rows[~nested]


def _range_anchor(slices: Assembled, names: list[str]) -> _Anchor | None:
    """A range of the user's that comes back at an even pace and fills the thread's time."""
    rows = np.flatnonzero(slices.on_thread & np.isin(slices.columns["kind"], [KIND_CODE["scope"], KIND_CODE["data"]]))
    codes, place = distinct_codes(slices.columns["name"][rows])
    rows = rows[np.array([not is_framework_range(names[code]) for code in codes.tolist()], bool)[place]]
    return _evenly_repeated(slices, rows, names, backward=None)


def _op_anchor(slices: Assembled, names: list[str]) -> _Anchor | None:
    """An operator that no other operator called, once per backward pass; without backward passes nothing is certain."""
    is_op = slices.on_thread & (slices.columns["kind"] == KIND_CODE["op"])
    codes, place = distinct_codes(slices.columns["name"])
    node = np.array([is_autograd_node(names[code]) for code in codes.tolist()], bool)[place]
    backward = np.sort(slices.columns["start"][is_op & node])
    if not len(backward):
        return None
    rows = np.flatnonzero(is_op & ~node & ~(is_op[slices.parent] & (slices.parent >= 0)))
    return _evenly_repeated(slices, rows, names, backward=backward)


def _evenly_repeated(
    slices: Assembled, rows: IntArray, names: list[str], *, backward: IntArray | None
) -> _Anchor | None:
    """Among names that come back at equal distances in the sequence, the one that covers most; then the earliest."""
    columns = slices.columns
    rows = rows[columns["dur"][rows] != NULL]
    best: tuple[float, int] | None = None
    found: IntArray | None = None
    for track in distinct_codes(columns["track"][rows])[0].tolist():
        sequence = rows[columns["track"][rows] == track]
        extent = float(slices.end[sequence].max() - columns["start"][sequence[0]])
        for places in _even_places(columns["name"][sequence]):
            starts = columns["start"][sequence[places]].astype(np.int64)
            covered = float(starts[-1] - starts[0]) * len(starts) / (len(starts) - 1)
            share = (places[-1] - places[0]) * len(places) / ((len(places) - 1) * len(sequence))
            if covered < _COVERAGE * extent or share < _COVERAGE or not _each_holds(starts, backward):
                continue
            rank = (round(covered / extent, 2), -int(places[0]))
            if best is None or rank > best:
                best, found = rank, sequence[places]
    if found is None:
        return None
    return _Anchor(found, at_end=False, label=names[int(columns["name"][found[0]])])


def _even_places(codes: IntArray) -> Iterator[IntArray]:
    """Places of each name in the sequence, for names that come back at equal distances."""
    order = np.argsort(codes, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        gaps = np.diff(places)
        if len(places) >= _LEAST_CYCLES and gaps.min() == gaps.max():
            yield places


def _each_holds(starts: IntArray, times: IntArray | None) -> bool:
    """Whether at least one of the times lies in each cycle but the last."""
    if times is None:
        return True
    place = np.searchsorted(times, starts)
    return bool(np.all(np.diff(place) > 0))
