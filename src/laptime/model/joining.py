"""Pours what one builder collected into another: recordings of one rank that were made one after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from laptime.model.arrays import CodeArray, Column
from laptime.model.builder import TEXT_KEYS, Names, Op, TraceBuilder
from laptime.model.rows import Rows
from laptime.model.tracks import TrackKey, Tracks
from laptime.model.vocabulary import NULL

_TIMES = ("start", "ts", "end")
_IDS = ("correlation", "external_id", "id")
_SLICE_NUMBERS = ("from", "to", "slice")
_NAMED = ("name", "device", "layout")


@dataclass(frozen=True)
class Joined:
    """Where things of the part are now."""

    tracks: CodeArray
    """Code in the whole of each track of the part."""
    first_slice: int
    """Number of the part's first slice, in order of adding."""


class Joiner:
    """Joins parts into a whole, in order of time. Equal operators and tracks become one; ids are kept apart."""

    def __init__(self, whole: TraceBuilder) -> None:
        self._whole = whole
        self._ops: dict[Op, int] = {}
        self._greatest: dict[str, int] = {}

    def join(self, part: TraceBuilder, *, shift_ns: int) -> Joined:
        """Takes all rows of a part, whose clock is `shift_ns` behind the whole's. Its steps and facts are not taken."""
        whole = self._whole
        places = _Places(whole.tracks, part.tracks)
        change = _Change(
            tracks=np.array([whole.tracks.code(places.key(key)) for key in part.tracks.keys] or [0], np.int32),
            places=np.array([whole.place(*places.pair(*pair)) for pair in part.place_pairs] or [0], np.int32),
            names=_renamed(part.names, whole.names),
            categories=_renamed(part.categories, whole.categories),
            texts={key: _renamed(part.texts[key], whole.texts[key]) for key in TEXT_KEYS},
            ops=np.array([self._op(op) for op in part.ops] or [0], np.int32),
            first_slice=whole.slices.count,
            args_start=whole.spool.absorb(part.spool),
            shift_ns=shift_ns,
            ids={},
        )
        tables = {name: (getattr(part, name), getattr(whole, name)) for name in _TABLES}
        change.ids.update(self._id_shifts([source for source, _ in tables.values()]))
        for name, (source, target) in tables.items():
            count = source.count
            if count:
                target.append(count, change.apply(name, source.take_all()))
        self._add_rest(part, change)
        return Joined(change.tracks, change.first_slice)

    def _op(self, op: Op) -> int:
        known = self._ops.get(op)
        if known is None:
            known = self._ops[op] = self._whole.add_op(op)
        return known

    def _id_shifts(self, tables: list[Rows]) -> dict[str, int]:
        """What to add to ids so that none of the part's is one of an earlier part's."""
        shifts = {}
        for name in _IDS:
            parts = [table.joined(name) for table in tables if table.has(name)]
            values = np.concatenate(parts) if parts else np.empty(0, np.int64)
            values = values[values != NULL]
            if not len(values):
                continue
            before = self._greatest.get(name)
            least, greatest = int(values.min()), int(values.max())
            shift = 0 if before is None or least > before else before + 1 - least
            if greatest + shift >= _MOST:
                shift = 0
            shifts[name] = shift
            self._greatest[name] = max(greatest + shift, greatest if before is None else before)
        return shifts

    def _add_rest(self, part: TraceBuilder, change: _Change) -> None:
        whole = self._whole
        whole.read += part.read
        whole.dropped.update(part.dropped)
        whole.warnings.counts.update(part.warnings.counts)
        whole.executor_tracks += [
            code
            for code in change.tracks[part.executor_tracks].tolist()
            if part.executor_tracks and code not in whole.executor_tracks
        ]
        for side, totals in part.op_totals.items():
            whole.op_totals[side] += [(int(change.ops[op]), *rest) for op, *rest in totals]  # type: ignore[misc]
        whole.queue_samples += part.queue_samples
        whole.pipeline_ops += part.pipeline_ops


_TABLES = (
    *("slices", "points", "async_points", "instants", "flow_points", "links", "memory_events", "allocations"),
    "counters",
)
_MOST = 1 << 62


@dataclass(frozen=True)
class _Change:
    tracks: CodeArray
    places: CodeArray
    names: CodeArray
    categories: CodeArray
    texts: dict[str, CodeArray]
    ops: CodeArray
    first_slice: int
    args_start: int
    shift_ns: int
    ids: dict[str, int]

    def apply(self, table: str, columns: dict[str, Column]) -> dict[str, Column]:
        """The columns of a table as the whole numbers them."""
        tracks = self.places if table == "flow_points" else self.tracks
        codes = {"track": tracks, "place": self.places, "category": self.categories, "op": self.ops, **self.texts}
        codes.update(dict.fromkeys(_NAMED, self.names))
        shifts = {**dict.fromkeys(_TIMES, self.shift_ns), **self.ids, "args_start": self.args_start}
        changed = dict(columns)
        for name, column in columns.items():
            if name in codes:
                changed[name] = _mapped(column, codes[name])
            elif name in shifts:
                changed[name] = np.where(column == NULL, NULL, column + shifts[name])
            elif name in _SLICE_NUMBERS:
                changed[name] = np.where(column < 0, -1, column + self.first_slice)
        return changed


def _mapped(codes: Column, to: CodeArray) -> Column:
    """Codes of the whole; negative ones stay."""
    return np.where(codes < 0, codes, to[np.maximum(codes, 0)])


def _renamed(part: Names, whole: Names) -> CodeArray:
    return whole.codes(part.texts) if part.texts else np.zeros(1, np.int32)


class _Places:
    """Which (process, thread) of the whole each of a part is: the same, unless that one has another name there.

    Recorders that number threads in order of appearance give one thread different numbers in different windows.
    """

    def __init__(self, whole: Tracks, part: Tracks) -> None:
        self._whole, self._part = whole, part
        self._by_name = {(pid, name): tid for (pid, tid), name in whole.thread_names.items()}
        self._pairs: dict[tuple[str, str], tuple[str, str]] = {}
        for key in part.keys:
            self.pair(key.pid, key.tid)
        self._take_names()

    def key(self, key: TrackKey) -> TrackKey:
        """A track's key in the whole."""
        pid, tid = self.pair(key.pid, key.tid)
        return replace(key, pid=pid, tid=tid)

    def pair(self, pid: str, tid: str) -> tuple[str, str]:
        """(process, thread) in the whole."""
        if (pid, tid) not in self._pairs:
            self._pairs[pid, tid] = (pid, self._tid(pid, tid))
        return self._pairs[pid, tid]

    def _tid(self, pid: str, tid: str) -> str:
        name = self._part.thread_names.get((pid, tid))
        known = self._whole.thread_names.get((pid, tid))
        if name is None or name == known:
            return tid
        if (pid, name) in self._by_name:
            return self._by_name[pid, name]
        while (pid, tid) in self._whole.thread_names:
            tid = f"{tid}'"
        return tid

    def _take_names(self) -> None:
        for (pid, tid), name in self._part.thread_names.items():
            self._whole.thread_names.setdefault(self.pair(pid, tid), name)
        for (pid, tid), sort in self._part.thread_sort.items():
            self._whole.thread_sort.setdefault(self.pair(pid, tid), sort)
        for kind in ("process_names", "process_labels", "process_sort"):
            own = getattr(self._whole, kind)
            for pid, value in getattr(self._part, kind).items():
                own.setdefault(pid, value)


def first_time(part: TraceBuilder) -> int | None:
    """The earliest time that a part holds, on its own clock."""
    times = [rows.least(name, missing=NULL) for rows, name in ((part.slices, "start"), (part.points, "start"))]
    known = [time for time in [*times, *part.first_point_times()] if time is not None]
    return min(known, default=None)


def fits(part: TraceBuilder, *, shift_ns: int) -> bool:
    """Whether all times of a part are possible on a clock that is `shift_ns` ahead."""
    tables: list[Rows] = [getattr(part, name) for name in _TABLES]
    columns = [table.joined(name) for table in tables for name in _TIMES if table.has(name)]
    known = [times for column in columns if len(times := column[column != NULL])]
    ends = [int(end) for times in known for end in (times.min(), times.max())]
    ends += [end for step in part.steps for end in (step.start_ns, step.end_ns)]
    return all(abs(end + shift_ns) < _MOST for end in ends)
