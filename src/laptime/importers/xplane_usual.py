"""The usual beginning of events and the usual stats, read from a few words each; whatever is unusual is left over.

An event begins with its metadata id, its offset and its duration, and a stat is its key and one value. Nearly all are
written like that, and with short numbers, so that no loop over their fields is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.importers.xplane_wire import FIXED64, LENGTH, VARINT, Buffer, first_varints
from laptime.model.arrays import BoolArray, Column, IntArray

_SHORT_ID, _SHORT_ID_BITS = np.uint64(0x10_00_08), np.uint64(0xFF_80_FF)
"""Tags of id and offset around an id of one byte; below around one of two bytes."""
_LONG_ID, _LONG_ID_BITS = np.uint64(0x10_00_80_08), np.uint64(0xFF_80_80_FF)
_DURATION = np.uint64(3 << 3 | VARINT)
_BYTE, _LOW = np.uint64(0xFF), np.uint64(0x7F)
_ONE_BYTE, _TWO_BYTES, _THREE_BYTES = np.uint64(8), np.uint64(16), np.uint64(24)
_NO_EIGHTH = np.uint64(0x80 << 56)
_NO_SIXTH = np.uint64(0x808080 << 40)
"""What makes a varint go on beyond the bytes that are there."""


@dataclass(frozen=True)
class Heads:
    """Ids, offsets and durations (0: none) of events; `at` is where each goes on, its begin where it is not usual."""

    metadata: IntArray
    offset_ps: IntArray
    duration_ps: IntArray
    at: IntArray
    usual: BoolArray


def usual_heads(buffer: Buffer, starts: IntArray, ends: IntArray) -> Heads:
    """The first fields of the events in [start, end)."""
    words = buffer.words[starts]
    is_long = (words & _LONG_ID_BITS) == _LONG_ID
    usual = ((words & _SHORT_ID_BITS) == _SHORT_ID) | is_long
    metadata = (words >> _ONE_BYTE) & _LOW
    if is_long.any():
        metadata += ((words >> np.uint64(9)) & np.uint64(0x3F80)) * is_long
    at = starts + 3
    at += is_long
    np.minimum(at, len(buffer.data), out=at)
    offset, size = first_varints(buffer.words[at])
    usual &= size > 0
    at += size
    usual &= at <= ends
    np.minimum(at, len(buffer.data), out=at)
    words = buffer.words[at]
    duration, size = first_varints((words >> _ONE_BYTE) | _NO_EIGHTH)
    after = at + size
    after += 1
    has_duration = ((words & _BYTE) == _DURATION) & (size > 0) & (after <= ends)
    duration *= has_duration
    at += (after - at) * has_duration
    unusual = np.flatnonzero(~usual)
    at[unusual] = starts[unusual]
    return Heads(metadata.view(np.int64), offset.view(np.int64), duration.view(np.int64), at, usual)


@dataclass(frozen=True)
class StatValues:
    """Keys, kinds (field numbers) and values of stats as of `Stats`; `unusual` are the rows that are not told here."""

    key: IntArray
    kind: IntArray
    value: Column
    begin: IntArray
    unusual: IntArray


def usual_stats(buffer: Buffer, begin: IntArray, end: IntArray) -> StatValues:
    """Key and value of the stats in [begin, end)."""
    words = buffer.words[begin]
    usual = (words & _KEY_BITS) == _KEY
    key = (words >> _ONE_BYTE) & _LOW
    tag = ((words >> _TWO_BYTES) & _BYTE).astype(np.int64)
    value, size = first_varints((words >> _THREE_BYTES) | _NO_SIXTH)
    after = begin + 3
    long = np.flatnonzero(size == 0)
    if len(long):
        value[long], size[long] = buffer.varints(np.minimum(after[long], len(buffer.data)))
    usual &= (size > 0) & _IS_VALUE[tag]
    after += size
    text = np.zeros(len(begin), np.int64)
    is_text = np.flatnonzero((tag & 7) == LENGTH)
    if len(is_text):
        text[is_text] = after[is_text]
        after[is_text] += np.minimum(value[is_text], _LONGEST).astype(np.int64)
    doubles = np.flatnonzero((tag & 7) == FIXED64)
    if len(doubles):
        place = np.minimum(begin[doubles] + 3, len(buffer.data))
        value[doubles], after[doubles] = buffer.words[place], place + 8
    usual &= after == end
    return StatValues(key.view(np.int64), tag >> 3, value, text, np.flatnonzero(~usual))


_LONGEST = np.uint64(1 << 40)
_KEY, _KEY_BITS = np.uint64(1 << 3 | VARINT), np.uint64(0x80FF)
_IS_VALUE = np.zeros(0x100, bool)
_IS_VALUE[[2 << 3 | FIXED64, 3 << 3, 4 << 3, 5 << 3 | LENGTH, 6 << 3 | LENGTH, 7 << 3]] = True
