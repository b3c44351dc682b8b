"""XSpace, the profile of one host: its planes, their lines and what their numbers mean, read message by message.

XSpace{1 planes*, 2 errors*, 3 warnings*, 4 hostnames*}; XPlane{1 id, 2 name, 3 lines*, 4 map id -> XEventMetadata,
5 map id -> XStatMetadata, 6 stats*}; XLine{1 id, 2 name, 3 timestamp_ns, 4 events*, 11 display_name};
XEventMetadata{1 id, 2 name, 3 metadata, 4 display_name, 5 stats*}; XStatMetadata{1 id, 2 name}. Specified by
xplane.proto of tsl (OpenXLA). Only the outer messages are followed here, so that damage costs what lies behind it
inside the same plane, and nothing of the next.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np

from laptime.importers.xplane_chains import EventChains
from laptime.importers.xplane_events import BYTES, DOUBLE, INT64, REFERENCE, STRING
from laptime.importers.xplane_wire import LENGTH, VARINT, Damage, Field, field_at, fields, varint_at
from laptime.model.arrays import IntArray


@dataclass(frozen=True)
class Line:
    """A row of a plane; `events` are the places of its events' tags."""

    id: int
    name: str
    timestamp_ns: int
    events: IntArray


@dataclass(frozen=True)
class Span:
    """Bytes of the file."""

    start: int
    end: int


Value = str | int | float | Span | None


@dataclass(frozen=True)
class EventKind:
    """What an event's metadata id stands for; `stats` hold for all events of it."""

    name: str
    display_name: str
    stats: dict[str, Value]


@dataclass
class Plane:
    """Lines of one device or host, and the names that their events' numbers stand for."""

    name: str = ""
    lines: list[Line] = field(default_factory=list)
    event_kinds: dict[int, EventKind] = field(default_factory=dict)
    stat_names: dict[int, str] = field(default_factory=dict)
    stats: dict[str, Value] = field(default_factory=dict)
    whole: bool = True
    """False where the end of the plane, and with it the names, is lost."""

    def stat_key(self, name: str) -> int:
        """Metadata id of a stat; -1 where the plane has none of that name."""
        return next((key for key, own in self.stat_names.items() if own == name), -1)


@dataclass
class Space:
    """One file."""

    planes: list[Plane] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    """Errors and warnings of the profiler itself."""
    damage: list[int] = field(default_factory=list)
    """Places from which on a message cannot be read."""
    fields: int = 0
    """Fields of the outermost message that are whole."""

    def plane(self, name: str) -> Plane | None:
        """The first plane of a name."""
        return next((plane for plane in self.planes if plane.name == name), None)


def read_space(data: bytes) -> Space:
    """All planes; those that are cut short or damaged are there as far as they can be read."""
    space = Space()
    place = 0
    try:
        while place < len(data):
            part = _outer_field(data, place, space)
            if part.number == 1 and part.wire == LENGTH:
                space.planes.append(_plane(data, part, space))
            elif part.number in (2, 3) and part.wire == LENGTH:
                space.told.append(_text(data, part))
            place = part.end
    except Damage as damage:
        space.damage.append(damage.place)
    return space


def _outer_field(data: bytes, place: int, space: Space) -> Field:
    """A field of XSpace; a plane that the file's end cuts is given as far as it goes."""
    try:
        part = field_at(data, place, len(data))
    except Damage:
        tag, at = varint_at(data, place, len(data))
        if tag != (1 << 3 | LENGTH):
            raise
        _, start = varint_at(data, at, len(data))
        return Field(1, LENGTH, 0, start, len(data))
    space.fields += 1
    return part


def _plane(data: bytes, outer: Field, space: Space) -> Plane:
    plane = Plane()
    event_kinds: list[Field] = []
    stats: list[Field] = []
    try:
        place = outer.start
        while place < outer.end:
            part = _field_or_line(data, place, outer.end, plane, space)
            if part.number == 2 and part.wire == LENGTH:
                plane.name = _text(data, part)
            elif part.number == 4 and part.wire == LENGTH:
                event_kinds.append(part)
            elif part.number == 5 and part.wire == LENGTH:
                _add_stat_name(data, part, plane)
            elif part.number == 6 and part.wire == LENGTH:
                stats.append(part)
            place = part.end
    except Damage as damage:
        space.damage.append(damage.place)
        plane.whole = False
    for part in event_kinds:  # after all names of stats
        _add_event_kind(data, part, plane, space)
    plane.stats.update(_stats(data, stats, plane.stat_names, space))
    return plane


def _field_or_line(data: bytes, place: int, end: int, plane: Plane, space: Space) -> Field:
    """A field of XPlane; a line that the plane's end cuts is taken as far as it goes."""
    try:
        part = field_at(data, place, end)
    except Damage:
        tag, at = varint_at(data, place, end)
        if tag == (3 << 3 | LENGTH):
            _, start = varint_at(data, at, end)
            plane.lines.append(_line(data, Field(3, LENGTH, 0, start, end), None))
        raise
    if part.number == 3 and part.wire == LENGTH:
        plane.lines.append(_line(data, part, space))
    return part


def _line(data: bytes, outer: Field, space: Space | None) -> Line:
    """A line with the places of its whole events; `space` notes where it is damaged."""
    numbers, names = {1: 0, 3: 0}, {2: "", 11: ""}
    places: list[IntArray] = []
    chains = EventChains(data, outer.start, outer.end)
    place = outer.start
    try:
        while place < outer.end:
            events, place = chains.follow(place)
            places.append(events)
            if place >= outer.end:
                break
            part = field_at(data, place, outer.end)
            if part.number == 4 and part.wire == LENGTH:
                places.append(np.array([place], np.int64))
            elif part.number in numbers and part.wire == VARINT:
                numbers[part.number] = part.signed
            elif part.number in names and part.wire == LENGTH:
                names[part.number] = _text(data, part)
            place = part.end
    except Damage as damage:
        if space is not None:
            space.damage.append(damage.place)
    return Line(numbers[1], names[11] or names[2], numbers[3], np.concatenate([_NOWHERE, *places]))


_NOWHERE = np.empty(0, np.int64)


def _add_stat_name(data: bytes, entry: Field, plane: Plane) -> None:
    key, value = _map_entry(data, entry)
    if value is not None:
        for part in fields(data, value.start, value.end):
            if part.number == 2 and part.wire == LENGTH:
                plane.stat_names[key] = _text(data, part)
    plane.stat_names.setdefault(key, "")


def _add_event_kind(data: bytes, entry: Field, plane: Plane, space: Space) -> None:
    key, name, display, stats = 0, "", "", []
    try:
        key, value = _map_entry(data, entry)
        for part in fields(data, value.start, value.end) if value is not None else ():
            if part.number == 2 and part.wire == LENGTH:
                name = _text(data, part)
            elif part.number == 4 and part.wire == LENGTH:
                display = _text(data, part)
            elif part.number == 5 and part.wire == LENGTH:
                stats.append(part)
    except Damage as damage:
        space.damage.append(damage.place)
    plane.event_kinds[key] = EventKind(name, display, _stats(data, stats, plane.stat_names, space))


def _map_entry(data: bytes, entry: Field) -> tuple[int, Field | None]:
    key, value = 0, None
    for part in fields(data, entry.start, entry.end):
        if part.number == 1 and part.wire == VARINT:
            key = part.signed
        elif part.number == 2 and part.wire == LENGTH:
            value = part
    return key, value


def _stats(data: bytes, found: list[Field], names: dict[int, str], space: Space) -> dict[str, Value]:
    stats: dict[str, Value] = {}
    for outer in found:
        key, value = 0, None
        try:
            for part in fields(data, outer.start, outer.end):
                if part.number == 1 and part.wire == VARINT:
                    key = part.signed
                else:
                    value = part
        except Damage as damage:
            space.damage.append(damage.place)
            continue
        if value is not None and key in names:
            stats[names[key]] = _stat_value(data, value, names)
    return stats


def _stat_value(data: bytes, part: Field, names: dict[int, str]) -> Value:
    if part.number == DOUBLE:
        return float(struct.unpack("<d", part.value.to_bytes(8, "little"))[0])
    if part.number == STRING and part.wire == LENGTH:
        return _text(data, part)
    if part.number == BYTES and part.wire == LENGTH:
        return Span(part.start, part.end)
    if part.number == REFERENCE:
        return names.get(part.signed)
    return part.signed if part.number == INT64 else part.value


def _text(data: bytes, part: Field) -> str:
    return data[part.start : part.end].decode("utf-8", "replace")
