"""Events of one line of an XPlane as columns: whole lines at once, no loop per event but the cut between them.

XEvent{1 metadata_id, oneof 2 offset_ps / 5 num_occurrences, 3 duration_ps, 4 stats*},
XStat{1 metadata_id, oneof 2 double, 3 uint64, 4 int64, 5 str, 6 bytes, 7 ref}. All fields may be absent, in any order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from laptime.importers.xplane_usual import usual_heads, usual_stats
from laptime.importers.xplane_wire import FIXED32, FIXED64, LENGTH, VARINT, Buffer
from laptime.model.arrays import BoolArray, Column, IntArray
from laptime.model.vocabulary import NULL

DOUBLE, UINT64, INT64, STRING, BYTES, REFERENCE = 2, 3, 4, 5, 6, 7
"""Field numbers of a stat's value."""
_STATS = 4 << 3 | LENGTH
_CHUNK = 1 << 15
"""Events decoded together: their columns stay in the processor's cache."""


@dataclass(frozen=True)
class Stats:
    """Stats of events in order of `row`; `kind` is the field number of the value (0: none), `value` its bits.

    Of texts and bytes `value` is the length and `begin` where they stand in the file.
    """

    row: IntArray
    key: IntArray
    kind: IntArray
    value: Column
    begin: IntArray

    def of(self, key: int) -> tuple[IntArray, IntArray]:
        """Rows of the events that have a stat, and its whole numbers."""
        chosen = np.flatnonzero(self.key == key)
        return self.row[chosen], self.value[chosen].view(np.int64)

    def chosen(self, rows: IntArray) -> Stats:
        """Some of the stats."""
        return Stats(*(column[rows] for column in (self.row, self.key, self.kind, self.value, self.begin)))

    def without(self, keys: list[int]) -> Stats:
        """All stats but those of the keys."""
        return self.chosen(np.flatnonzero(~np.isin(self.key, keys)))


@dataclass(frozen=True)
class Events:
    """Events of a line that are whole, in order of the file; NULL is absent."""

    metadata: IntArray
    offset_ps: IntArray
    duration_ps: IntArray
    occurrences: IntArray
    stats: Stats
    bad: int
    """Events that cannot be decoded; they are left out."""

    def __len__(self) -> int:
        return len(self.metadata)

    def column(self, key: int) -> IntArray:
        """The whole number that each event has as a stat; NULL where it has none."""
        column = np.full(len(self), NULL)
        if key >= 0:
            rows, values = self.stats.of(key)
            column[rows] = values
        return column

    def with_stats(self, stats: Stats) -> Events:
        """The same events with other stats."""
        return replace(self, stats=stats)

    def chosen(self, keep: BoolArray) -> Events:
        """Some of the events, and their stats."""
        rows, place = np.flatnonzero(keep), np.cumsum(keep) - 1
        stats = self.stats.chosen(np.flatnonzero(keep[self.stats.row]))
        stats = replace(stats, row=place[stats.row])
        return Events(
            self.metadata[rows], self.offset_ps[rows], self.duration_ps[rows], self.occurrences[rows], stats, self.bad
        )


def decode_events(buffer: Buffer, places: IntArray, ignored: IntArray) -> Events:
    """Events whose fields begin at the places (their tags); stats of the ignored keys are left out."""
    parts = [
        _decode(buffer, *_bounds(buffer, places[first : first + _CHUNK]), ignored)
        for first in range(0, len(places), _CHUNK)
    ]
    return _joined(parts)


def _bounds(buffer: Buffer, places: IntArray) -> tuple[IntArray, IntArray]:
    """Where the fields of events begin and end."""
    first = buffer.octets[places + 1]
    starts = places + 2
    ends = starts + first
    long = np.flatnonzero(first >= 0x80)
    if len(long):
        lengths, sizes = buffer.varints(places[long] + 1)
        starts[long] = places[long] + 1 + sizes
        ends[long] = starts[long] + lengths.view(np.int64)
    return starts, ends


def _joined(parts: list[Events]) -> Events:
    if len(parts) == 1:
        return parts[0]
    counts = np.cumsum([0, *(len(part) for part in parts)])

    def column(name: str) -> IntArray:
        return np.concatenate([_NONE, *(getattr(part, name) for part in parts)])

    def stat(name: str) -> Column:
        return np.concatenate([getattr(part.stats, name) for part in parts]) if parts else _NONE.astype(np.uint64)

    rows = [part.stats.row + first for part, first in zip(parts, counts.tolist(), strict=False)]
    stats = Stats(np.concatenate([_NONE, *rows]), stat("key"), stat("kind"), stat("value"), stat("begin"))
    return Events(
        column("metadata"),
        column("offset_ps"),
        column("duration_ps"),
        column("occurrences"),
        stats,
        sum(part.bad for part in parts),
    )


_NONE = np.empty(0, np.int64)


def _decode(buffer: Buffer, starts: IntArray, ends: IntArray, ignored: IntArray) -> Events:
    """The usual beginning of all events, then field by field, all events in step."""
    heads = usual_heads(buffer, starts, ends)
    columns = {1: heads.metadata, 2: heads.offset_ps, 3: heads.duration_ps, 5: np.full(len(starts), NULL)}
    unusual = np.flatnonzero(~heads.usual)
    for number, absent in ((1, 0), (2, NULL), (3, 0)):
        columns[number][unusual] = absent
    stats: list[tuple[IntArray, IntArray, IntArray]] = []
    fault = np.zeros(len(starts), bool)
    rows = np.flatnonzero(heads.at < ends)
    at = heads.at[rows]
    while len(rows):
        first = buffer.octets[at + 1]
        end = at + 2 + first
        if ((buffer.octets[at] == _STATS) & (first < 0x80) & (end <= ends[rows])).all():
            stats.append((rows, at + 2, end))
        else:
            rows, end = _take_fields(buffer, rows, (at, ends[rows]), (columns, stats, fault))
        going = np.flatnonzero(end < ends[rows])
        rows, at = rows[going], end[going]
    return _whole_events(columns, _stats(buffer, stats, ignored, fault), fault)


_Collected = tuple[dict[int, IntArray], list[tuple[IntArray, IntArray, IntArray]], BoolArray]
"""Columns by field number, rows and spans of stats, faulty rows."""


def _take_fields(
    buffer: Buffer, rows: IntArray, span: tuple[IntArray, IntArray], collected: _Collected
) -> tuple[IntArray, IntArray]:
    """Takes the next field of each row; returns the rows that have one, and its end."""
    columns, stats, fault = collected
    step = _step(buffer, *span)
    if not step.whole.all():
        fault[rows[~step.whole]] = True
        kept = np.flatnonzero(step.whole)
        rows, step = rows[kept], step.chosen(kept)
    for tag in np.flatnonzero(np.bincount(step.tag)).tolist():
        own = np.flatnonzero(step.tag == tag)
        if tag & 7 == VARINT and tag >> 3 in columns:
            columns[tag >> 3][rows[own]] = step.value[own].view(np.int64)
        elif tag == _STATS:
            stats.append((rows[own], step.begin[own], step.end[own]))
    return rows, step.end


@dataclass(frozen=True)
class _Fields:
    """The next field of many messages; `tag` is number << 3 | wire type, 0 where the number is above 15."""

    tag: IntArray
    value: Column
    begin: IntArray
    end: IntArray
    whole: BoolArray

    def chosen(self, rows: IntArray) -> _Fields:
        """Some of them."""
        return _Fields(self.tag[rows], self.value[rows], self.begin[rows], self.end[rows], self.whole[rows])


def _step(buffer: Buffer, at: IntArray, ends: IntArray) -> _Fields:
    tag = buffer.octets[at].astype(np.int64)
    begin = at + 1
    is_wide = tag >= 0x80
    if is_wide.any():  # field numbers above 15: none that is known
        wide, size = buffer.varints(at)
        begin = at + size
        tag = np.where(is_wide, (wide & np.uint64(7)).astype(np.int64), tag)
    value, size = buffer.varints(begin)
    end = begin + size
    wire = tag & 7
    whole = (size > 0) & ((tag >= 8) | is_wide)
    if wire.any():  # not all of them varints
        is_bytes, eight, four = wire == LENGTH, wire == FIXED64, wire == FIXED32
        length = np.minimum(value, np.uint64(1 << 40)).astype(np.int64)
        begin = np.where(is_bytes, end, begin)
        end = np.where(is_bytes, end + length, np.where(eight, begin + 8, np.where(four, begin + 4, end)))
        value = np.where(eight, buffer.words[begin], value) if eight.any() else value
        whole = ((size > 0) | eight | four) & (is_bytes | eight | four | (wire == VARINT)) & ((tag >= 8) | is_wide)
    return _Fields(tag, value, begin, end, whole & (end <= ends))


def _stats(buffer: Buffer, found: list[tuple[IntArray, IntArray, IntArray]], ignored: IntArray, fault: Column) -> Stats:
    """Key and value of each stat; a stat that is not whole makes its event faulty."""
    row, begin, end = (np.concatenate([_NONE, *columns]) for columns in zip(_NO_STATS, *found, strict=True))
    if len(ignored):
        dropped = np.zeros(256, bool)
        dropped[ignored[ignored < 0x80]] = True
        keep = np.flatnonzero((buffer.octets[begin] != _KEY) | ~dropped[buffer.octets[begin + 1]])
        row, begin, end = row[keep], begin[keep], end[keep]
    order = np.argsort(row.astype(np.int16), kind="stable")  # a chunk has no more rows; so narrow they sort faster
    row, begin, end = row[order], begin[order], end[order]
    found_values = usual_stats(buffer, begin, end)
    stats = Stats(row, found_values.key, found_values.kind, found_values.value, found_values.begin)
    if not len(found_values.unusual):
        return stats
    _take_unusual(buffer, stats, found_values.unusual, (begin, end), fault)
    return stats.without(ignored.tolist())


def _take_unusual(buffer: Buffer, stats: Stats, todo: IntArray, span: tuple[IntArray, IntArray], fault: Column) -> None:
    """Some of the stats, field by field, all in step."""
    begin, end = span
    for column in (stats.key, stats.kind, stats.value, stats.begin):
        column[todo] = 0
    todo = todo[begin[todo] < end[todo]]
    at = begin[todo]
    while len(todo):
        step = _step(buffer, at, end[todo])
        fault[stats.row[todo[~step.whole]]] = True
        is_key = step.whole & (step.tag == _KEY)
        stats.key[todo[is_key]] = step.value[is_key].view(np.int64)
        own = np.flatnonzero(step.whole & _IS_VALUE[step.tag])
        is_text = (step.tag[own] & 7) == LENGTH
        stats.kind[todo[own]] = step.tag[own] >> 3
        stats.value[todo[own]] = np.where(is_text, (step.end - step.begin)[own].astype(np.uint64), step.value[own])
        stats.begin[todo[own]] = step.begin[own]
        going = np.flatnonzero(step.whole & (step.end < end[todo]))
        todo, at = todo[going], step.end[going]


_NO_STATS = (_NONE, _NONE, _NONE)
_KEY = 1 << 3 | VARINT
_IS_VALUE = np.zeros(0x80, bool)
_IS_VALUE[[DOUBLE << 3 | FIXED64, STRING << 3 | LENGTH, BYTES << 3 | LENGTH]] = True
_IS_VALUE[[UINT64 << 3, INT64 << 3, REFERENCE << 3]] = True


def _whole_events(columns: dict[int, IntArray], stats: Stats, fault: BoolArray) -> Events:
    events = Events(columns[1], columns[2], columns[3], columns[5], stats, int(np.count_nonzero(fault)))
    return events.chosen(~fault) if events.bad else events
