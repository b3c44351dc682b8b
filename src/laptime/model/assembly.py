"""From collected rows to the slices of a trace: mend times, drop duplicates, classify, sort, nest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from laptime.model import nesting
from laptime.model.arrays import BoolArray, CodeArray, Column, IntArray, chosen_rows, codes_in, distinct_codes
from laptime.model.builder import BASE_KIND_CODE, BASE_KINDS, TraceBuilder, Warnings
from laptime.model.classify import CALL, kind_of
from laptime.model.lanes import nested_lanes, stream_lanes
from laptime.model.pairing import Pairs, pair_by_id, pair_nested
from laptime.model.vocabulary import DEVICE_WORK, KIND_CODE, NULL


@dataclass
class Assembled:
    """Sorted slices as columns, with what later stages need to know about their tracks."""

    columns: dict[str, Column]
    end: IntArray
    """Start + duration, or the start of an untimed slice."""
    parent: IntArray
    depth: CodeArray
    lane: CodeArray
    track_order: list[int]
    """Builder's track code by final track id."""
    track_kind: npt.NDArray[np.str_]
    """Kind by final track id."""
    origin_ns: int
    """Time 0 on the source's clock."""

    @cached_property
    def on_stream(self) -> BoolArray:
        """Rows that lie on a device stream."""
        return np.asarray((self.track_kind == "stream")[self.columns["track"]])

    @cached_property
    def on_thread(self) -> BoolArray:
        """Rows that lie on a host thread."""
        return np.asarray((self.track_kind == "thread")[self.columns["track"]])

    @property
    def device_work(self) -> BoolArray:
        """Rows that are work of a device."""
        codes = [KIND_CODE[kind] for kind in DEVICE_WORK]
        return self.on_stream & codes_in(self.columns["kind"], codes)

    @cached_property
    def levels(self) -> list[IntArray]:
        """Rows of each depth, in order."""
        narrow = self.depth.astype(np.int16) if int(self.depth.max(initial=0)) < 1 << 15 else self.depth  # sorts faster
        order = np.argsort(narrow, kind="stable")
        return np.split(order, np.searchsorted(narrow[order], np.arange(1, int(self.depth.max(initial=0)) + 1)))

    def added(self, numbers: IntArray) -> IntArray:
        """Rows of slices by their number in order of adding; -1 for those that were dropped, and for -1."""
        added = self.columns.get("added")
        if added is None:
            return np.full(len(numbers), -1, np.int64)
        place = np.full(max(int(added.max(initial=-1)), int(numbers.max(initial=-1))) + 2, -1, np.int64)
        place[added] = np.arange(len(added))
        return np.asarray(place[numbers])  # -1: the last place, which no slice has

    @property
    def nest(self) -> nesting.Nest:
        """For looking up what was open at a time."""
        return nesting.Nest(self.columns["track"], self.columns["start"], self.end, self.parent)


def assemble(builder: TraceBuilder) -> Assembled:
    """Joins, mends, sorts and nests all slices of a builder."""
    _close_pairs(builder)
    columns = builder.slices.take_all()
    if builder.links.count:
        columns["added"] = np.arange(len(columns["start"]))
    track_kinds = np.array([key.kind for key in builder.tracks.keys] or ["thread"])
    on_device = (track_kinds == "stream")[columns["track"]]
    _mend_times(columns, on_device, builder.warnings)
    columns = _placed(columns, builder)
    origin = _origin(columns, builder)
    columns["start"] = np.maximum(columns["start"] - origin, 0)
    columns["kind"] = _kinds(columns, builder)
    track_order = builder.tracks.in_order()
    columns["track"] = _renumbered(columns["track"], track_order)
    order = order_of(columns["track"], columns["start"], columns["dur"])
    if order is not None:
        for name in columns:
            columns[name] = chosen_rows(columns[name], order)
    del order
    kinds = np.array([builder.tracks.keys[code].kind for code in track_order] or ["thread"])
    columns = _without_duplicates(columns, (kinds == "stream")[columns["track"]], builder)
    return _nested(columns, track_order, kinds, origin)


def order_of(track: CodeArray, start: IntArray, dur: IntArray) -> IntArray | None:
    """Rows in order of track, start, longest first, then as they came; None where they are in order as they are.

    Many sources write track by track and each of them in order.
    """
    if _is_ordered(track, start, dur):
        return None
    if np.count_nonzero(track[1:] != track[:-1]) * _LEAST_RUN < len(track):
        narrow = track.astype(np.int16) if int(track.max(initial=0)) < 1 << 15 else track  # sorts faster
        order = np.argsort(narrow, kind="stable")
        if _is_ordered(track[order], start[order], dur[order]):
            return order
    return np.lexsort((-np.maximum(dur, 0), start, track))


_LEAST_RUN = 100
"""Rows of one track after another, on average, from which on they may well be in order inside each track."""


def _is_ordered(track: CodeArray, start: IntArray, dur: IntArray) -> bool:
    steps = np.flatnonzero(start[1:] <= start[:-1])
    steps = steps[track[steps + 1] <= track[steps]]
    if np.any(track[1:] < track[:-1]) or np.any(start[steps + 1] < start[steps]):
        return False
    return not np.any(np.maximum(dur[steps + 1], 0) > np.maximum(dur[steps], 0))


def _nested(columns: dict[str, Column], track_order: list[int], kinds: Column, origin: int) -> Assembled:
    track, start = columns["track"], columns["start"]
    end = start + columns["dur"]
    untimed = np.flatnonzero(columns["dur"] == NULL)
    end[untimed] = start[untimed]
    found = nesting.nesting_of(track, start, end)
    laned = np.isin(kinds, ["stream", "async", "sync"])[track]
    on_lanes = laned[found.crossing]
    lane = nested_lanes(track, start, end, replace(found, crossing=found.crossing[~on_lanes]))
    rows = np.flatnonzero(laned)
    if len(rows):
        flat = stream_lanes(track, start, end, replace(found, crossing=found.crossing[on_lanes]))
        lane[rows], found.parents[rows], found.depth[rows] = flat[rows], -1, 0
    return Assembled(columns, end, found.parents, found.depth, lane, track_order, kinds, origin)


def _close_pairs(builder: TraceBuilder) -> None:
    for points, paired in ((builder.points, True), (builder.async_points, False)):
        if not points.count:
            continue
        columns = points.take_all()
        untimed = columns["start"] == NULL
        builder.drop("no_timestamp", int(np.count_nonzero(untimed)))
        columns = {name: column[~untimed] for name, column in columns.items()}
        pairs = pair_nested(columns, empty_name=builder.names.code("")) if paired else pair_by_id(columns)
        _warn_of_pairs(pairs, builder)
        chosen = {name: column[pairs.begins] for name, column in columns.items()}
        chosen["dur"] = pairs.ends_ns - chosen["start"]
        builder.add_slices(len(pairs.begins), chosen)


def _warn_of_pairs(pairs: Pairs, builder: TraceBuilder) -> None:
    builder.drop("unbalanced", pairs.unopened)
    add = builder.warnings.add
    add("unbalanced", "slices whose end was not recorded; they end where the recording does", pairs.unclosed)
    add("unbalanced", "ends of slices whose begin was not recorded; dropped", pairs.unopened)
    add("unbalanced", "ends that name another slice than the innermost open one", pairs.disagreeing)


def _mend_times(columns: dict[str, Column], on_device: BoolArray, warnings: Warnings) -> None:
    """Durations that are absent, negative or those of kernels the driver could not time become NULL."""
    start, dur = columns["start"], columns["dur"]
    without_time = on_device & (start == 0) & (dur <= 0) & (dur != NULL)
    untimed = (dur < 0) | without_time  # NULL is negative
    warnings.add("untimed", "slices without a valid duration; outside every sum", int(np.count_nonzero(untimed)))
    columns["dur"] = np.where(untimed, NULL, dur)


def _placed(columns: dict[str, Column], builder: TraceBuilder) -> dict[str, Column]:
    """Without the slices that have no time at all."""
    missing = columns["start"] == NULL
    count = int(np.count_nonzero(missing))
    if not count:
        return columns
    builder.drop("no_timestamp", count)
    builder.warnings.add("untimed", "slices without a readable timestamp; dropped", count)
    return {name: column[~missing] for name, column in columns.items()}


def _origin(columns: dict[str, Column], builder: TraceBuilder) -> int:
    timed = columns["start"][(columns["dur"] != NULL) | (columns["start"] != 0)]
    candidates = [int(timed.min())] if len(timed) else []
    candidates += builder.first_point_times()
    return min(candidates, default=0)


def _kinds(columns: dict[str, Column], builder: TraceBuilder) -> npt.NDArray[np.int8]:
    """Final kinds; each (base kind, name, has collective arguments) is looked at once."""
    names = builder.names.texts
    has_args = columns["collective"] >= 0
    key = (columns["name"].astype(np.int64) * len(BASE_KINDS) + columns["kind"]) * 2 + has_args
    distinct, place = distinct_codes(key)
    kinds = np.fromiter(
        (
            KIND_CODE[
                kind_of(
                    BASE_KINDS[rest // 2 % len(BASE_KINDS)],
                    names[rest // 2 // len(BASE_KINDS)],
                    has_collective_args=bool(rest % 2),
                )
            ]
            for rest in distinct.tolist()
        ),
        np.int8,
        len(distinct),
    )
    is_call = columns["kind"] == BASE_KIND_CODE[CALL]
    result = kinds[place]
    columns["is_call"] = is_call
    return np.asarray(result)


def _renumbered(track: Column, track_order: list[int]) -> CodeArray:
    place = np.empty(len(track_order), np.int32)
    place[track_order] = np.arange(len(track_order), dtype=np.int32)
    return np.asarray(place[track])


def _without_duplicates(columns: dict[str, Column], on_device: BoolArray, builder: TraceBuilder) -> dict[str, Column]:
    """Device slices recorded twice: same track, name, start, duration > 0, correlation and external id."""
    rows = _alike(columns, np.flatnonzero(on_device & (columns["dur"] > 0)))
    keys = [columns[name][rows] for name in ("correlation", "external_id", "name", "dur", "start", "track")]
    order = np.lexsort([rows, *keys])
    same = np.ones(max(len(rows) - 1, 0), bool)
    for key in keys:
        ordered = key[order]
        same &= ordered[1:] == ordered[:-1]
    repeated = rows[order[1:][same]] if len(rows) else rows
    if not len(repeated):
        return columns
    builder.drop("duplicate", len(repeated))
    builder.warnings.add("duplicate", "device slices recorded twice; kept once", len(repeated))
    keep = np.ones(len(on_device), bool)
    keep[repeated] = False
    return {name: column[keep] for name, column in columns.items()}


def _alike(columns: dict[str, Column], rows: IntArray) -> IntArray:
    """Those of the rows, which are in order, that agree with a neighbour in track, start and duration."""
    same = np.ones(max(len(rows) - 1, 0), bool)
    for name in ("start", "dur", "track"):
        ordered = columns[name][rows]
        same &= ordered[1:] == ordered[:-1]
    alike = np.zeros(len(rows), bool)
    alike[1:] |= same
    alike[:-1] |= same
    return rows[alike]
