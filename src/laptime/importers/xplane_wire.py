"""Protobuf's wire format: fields of small messages one after another, varints of many messages at once.

Specified at protobuf.dev, "Encoding". Only what XSpace needs: wire types 0 (varint), 1 (8 bytes), 2 (length-delimited)
and 5 (4 bytes). Nothing here knows a message's meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from laptime.model.arrays import Column, IntArray

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
LONGEST_VARINT = 10
_PADDING = bytes(24)
_LEAST_SIGNED = 1 << 63


class Damage(Exception):
    """The bytes are no protobuf from here on."""

    def __init__(self, place: int) -> None:
        self.place = place
        super().__init__(f"byte {place}")


class Field(NamedTuple):
    """One field; `value` of varints and fixed numbers (as unsigned), [start, end) of length-delimited bytes."""

    number: int
    wire: int
    value: int
    start: int
    end: int

    @property
    def signed(self) -> int:
        """The value of an int64 field."""
        return self.value - (1 << 64) if self.value >= _LEAST_SIGNED else self.value


def varint_at(data: bytes, place: int, end: int) -> tuple[int, int]:
    """Unsigned value, and the place behind it. Raises Damage."""
    if place < end and data[place] < 0x80:
        return data[place], place + 1
    value = shift = 0
    for position in range(place, min(end, place + LONGEST_VARINT)):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, position + 1
        shift += 7
    raise Damage(place)


def field_at(data: bytes, place: int, end: int) -> Field:
    """The field that begins at a place. Raises Damage where it is not whole."""
    tag, at = varint_at(data, place, end)
    number, wire = tag >> 3, tag & 7
    if number == 0:
        raise Damage(place)
    if wire == VARINT:
        value, stop = varint_at(data, at, end)
        return Field(number, wire, value, at, stop)
    if wire == LENGTH:
        length, start = varint_at(data, at, end)
        field = Field(number, wire, 0, start, start + length)
    elif wire in (FIXED64, FIXED32):
        stop = at + (8 if wire == FIXED64 else 4)
        field = Field(number, wire, int.from_bytes(data[at:stop], "little"), at, stop)
    else:
        raise Damage(place)
    if field.end > end:
        raise Damage(place)
    return field


def fields(data: bytes, start: int, end: int) -> Iterator[Field]:
    """Fields of the message in [start, end), in order. Raises Damage behind the last whole one."""
    place = start
    while place < end:
        field = field_at(data, place, end)
        yield field
        place = field.end


class Buffer:
    """Bytes to decode many varints from at once."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        padded = data + _PADDING
        self.octets = np.frombuffer(padded, np.uint8)
        self.words: Column = np.ndarray(len(data) + 16, "<u8", padded, strides=(1,))
        """The eight bytes that begin at each place."""

    def varints(self, places: IntArray) -> tuple[Column, IntArray]:
        """Unsigned values of the varints at the places, and their lengths; length 0 is no varint."""
        first = self.octets[places]
        if (first < 0x80).all():
            return first.astype(np.uint64), np.ones(len(places), np.int64)
        words = self.words[places]
        values, lengths = first_varints(words)
        long = np.flatnonzero(lengths == 0)
        if len(long):
            values[long], lengths[long] = self._long(words[long], places[long])
        return values, lengths

    def _long(self, words: Column, places: IntArray) -> tuple[Column, IntArray]:
        """Varints of nine and ten bytes."""
        ninth, tenth = self.octets[places + 8], self.octets[places + 9]
        values = _joined(words) | ((ninth & 0x7F).astype(np.uint64) << np.uint64(56))
        values |= np.where(ninth >= 0x80, tenth & 1, 0).astype(np.uint64) << np.uint64(63)
        return values, np.where(ninth < 0x80, 9, np.where(tenth < 0x80, 10, 0))


_ONE = np.uint64(1)
_CONTINUES = np.uint64(0x8080808080808080)
_STEPS = (
    (np.uint64(0x7F007F007F007F00), np.uint64(1)),
    (np.uint64(0x3FFF00003FFF0000), np.uint64(2)),
    (np.uint64(0x0FFFFFFF00000000), np.uint64(4)),
)


def first_varints(words: Column) -> tuple[Column, IntArray]:
    """Unsigned values of the varints in the low bytes of words, and their lengths; 0: longer than the word."""
    stops = ~words
    stops &= _CONTINUES
    below = stops - _ONE  # ones up to the lowest stop, if there is one
    lengths = np.bitwise_count(below & ~stops)
    lengths += np.uint8(1)
    lengths >>= np.uint8(3)
    below ^= stops
    below &= words
    lengths[stops == 0] = 0
    return _joined(below), lengths.astype(np.int64)


def _joined(words: Column) -> Column:
    """The seven low bits of each byte, without the gaps between them."""
    words = words & ~_CONTINUES
    for high, gap in _STEPS:
        upper = words & high
        words ^= upper
        upper >>= gap
        words |= upper
    return words
