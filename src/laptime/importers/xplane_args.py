"""Arguments of slices as JSON text: the stats of their events, each distinct combination written once."""

from __future__ import annotations

import json
import math

import numpy as np

from laptime.importers.xplane_events import BYTES, DOUBLE, INT64, REFERENCE, STRING, Stats
from laptime.importers.xplane_space import Plane
from laptime.importers.xplane_wire import Buffer
from laptime.model.arrays import CodeArray, IntArray
from laptime.model.rows import TextSpool

_LONGEST_TEXT = 1 << 16
_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


class ArgsWriter:
    """Spools the arguments of one plane's events."""

    def __init__(self, buffer: Buffer, plane: Plane, spool: TextSpool) -> None:
        self._buffer = buffer
        self._names = plane.stat_names
        self._spool = spool
        self._places: dict[int, tuple[int, int]] = {}

    def write(self, stats: Stats, count: int) -> tuple[IntArray, CodeArray]:
        """Place and length of the text of each of `count` events; length 0 where an event has no stats."""
        starts, lengths = np.zeros(count, np.int64), np.zeros(count, np.int32)
        if not len(stats.row):
            return starts, lengths
        first = np.flatnonzero(np.concatenate([[True], stats.row[1:] != stats.row[:-1]]))
        digest = np.add.reduceat(_digests(stats), first)
        distinct, sample, place = np.unique(digest, return_index=True, return_inverse=True)
        last = np.append(first[1:], len(stats.row))
        spooled = [
            self._spooled(digest_of, stats, first[one], last[one])
            for digest_of, one in zip(distinct.tolist(), sample.tolist(), strict=True)
        ]
        table = np.array(spooled, np.int64)[place.reshape(-1)]
        rows = stats.row[first]
        starts[rows], lengths[rows] = table[:, 0], table[:, 1]
        return starts, lengths

    def _spooled(self, digest: int, stats: Stats, first: int, last: int) -> tuple[int, int]:
        if digest not in self._places:
            text = json.dumps(self._values(stats, first, last)).encode()
            self._places[digest] = (self._spool.add(text), len(text))
        return self._places[digest]

    def _values(self, stats: Stats, first: int, last: int) -> dict[str, object]:
        return {
            self._names.get(int(stats.key[row]), f"stat {stats.key[row]}"): self._value(stats, row)
            for row in range(first, last)
        }

    def _value(self, stats: Stats, row: int) -> object:
        kind, bits = int(stats.kind[row]), int(stats.value[row])
        if kind == REFERENCE:
            return self._names.get(bits)
        if kind == DOUBLE:
            number = float(stats.value[row : row + 1].view(np.float64)[0])
            return number if math.isfinite(number) else None
        if kind == STRING:
            begin = int(stats.begin[row])
            return self._buffer.data[begin : begin + min(bits, _LONGEST_TEXT)].decode("utf-8", "replace")
        if kind == BYTES:
            return f"{bits} bytes"
        if kind == INT64:
            return bits - (1 << 64) if bits >= 1 << 63 else bits
        return bits if kind else None


def _digests(stats: Stats) -> IntArray:
    """A number for each stat that differs where key or value does; texts at different places differ."""
    mixed = stats.value ^ (stats.value >> _HALF)
    mixed = (mixed * _MIX) ^ (stats.key * 8 + stats.kind).astype(np.uint64)
    is_text = (stats.kind == STRING) | (stats.kind == BYTES)
    if is_text.any():
        mixed ^= np.where(is_text, stats.begin, 0).astype(np.uint64) << np.uint64(20)
    mixed = (mixed ^ (mixed >> _HALF)) * _MIX
    return np.asarray(mixed ^ (mixed >> _HALF))
