"""Where the events of a line begin: found by their first bytes all at once, followed from one to the next in chains.

An event is a field of the line whose own first fields are nearly always the metadata id and the offset. Bytes that
look like that are candidates; a chain is a row of candidates each of which ends where the next begins. Candidates
inside another event break a chain and are stepped over, and whatever else stands between events is left to the caller.
"""

from __future__ import annotations

import numpy as np

from laptime.importers.xplane_wire import LENGTH, VARINT
from laptime.model.arrays import Column, IntArray

_EVENT, _METADATA, _OFFSET = 4 << 3 | LENGTH, 1 << 3 | VARINT, 2 << 3 | VARINT
_BLOCK = 1 << 18
"""Bytes looked at together: what is told of them stays in the processor's cache."""
_LOOKED_AT = 6
"""From an event's tag to the furthest place of its second field's tag."""


class EventChains:
    """Events of the line in [start, end) of the file."""

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self._end = end
        octets = np.frombuffer(data, np.uint8)[start:end]
        blocks = range(0, len(octets), _BLOCK)
        found = [_candidates(octets[first : first + _BLOCK + _LOOKED_AT]) + first for first in blocks]
        places = np.concatenate([np.empty(0, np.int64), *found])
        self._begin = places + start
        self._next = _ends(octets, places) + start
        self._breaks = np.flatnonzero(self._next[:-1] != self._begin[1:])

    def follow(self, place: int) -> tuple[IntArray, int]:
        """Events from a place on up to the end of their chain, and where that is."""
        first = int(np.searchsorted(self._begin, place))
        if first == len(self._begin) or self._begin[first] != place:
            return self._begin[:0], place
        after = int(np.searchsorted(self._breaks, first))
        last = int(self._breaks[after]) if after < len(self._breaks) else len(self._begin) - 1
        stop = int(self._next[last])
        if not self._begin[last] < stop <= self._end:  # cut short, or a length that only the caller reads
            return self._begin[first:last], int(self._begin[last])
        return self._begin[first : last + 1], stop


def _candidates(octets: Column) -> IntArray:
    """Places of an event's tag, length of one or two bytes, id of one or two bytes, offset's tag."""
    if len(octets) <= _LOOKED_AT:
        return np.empty(0, np.int64)
    size = len(octets) - _LOOKED_AT
    is_id, is_offset, goes_on = octets == _METADATA, octets == _OFFSET, octets >= 0x80
    offset_after = is_offset[1:] | (goes_on[:-1] & np.append(is_offset[2:], False))  # an id of one byte, or of two
    follows = is_id[:-2] & offset_after[1:]
    long = goes_on[1 : 1 + size]
    fits = (~long & follows[2 : 2 + size]) | (long & follows[3 : 3 + size])
    return np.flatnonzero((octets[:size] == _EVENT) & fits)


def _ends(octets: Column, begins: IntArray) -> IntArray:
    """Where each candidate ends; a length of more than two bytes is left to the caller by an end that none follows."""
    first = octets[begins + 1]
    ends = begins + 2 + first
    long = np.flatnonzero(first >= 0x80)
    second = octets[begins[long] + 2].astype(np.int64)
    ends[long] += 1 - 0x80 + (second << 7)
    ends[long[second >= 0x80]] = -1
    return np.asarray(ends)
