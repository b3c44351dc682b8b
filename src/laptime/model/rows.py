"""Growing columns: what an importer hands over block by block, joined once at the end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa

from laptime.model.arrays import CodeArray, Column, IntArray, distinct_codes, repeated


class Rows:
    """Rows of named numpy columns with fixed types; a column left out of a block is filled with its default.

    A column that no block has is one value repeated, which cannot be written to and takes no memory.
    """

    def __init__(self, columns: Mapping[str, tuple[type[np.generic], int]]) -> None:
        self._columns = dict(columns)
        self._parts: dict[str, list[Column | None]] = {name: [] for name in columns}
        self._counts: list[int] = []
        self.count = 0

    def append(self, count: int, values: Mapping[str, Column]) -> None:
        """Adds `count` rows."""
        if not count:
            return
        for name, (dtype, _) in self._columns.items():
            given = values.get(name)
            self._parts[name].append(None if given is None else given.astype(dtype, copy=False))
        self._counts.append(count)
        self.count += count

    def has(self, name: str) -> bool:
        """Whether there is such a column, and any row."""
        return name in self._parts and self.count > 0

    def take(self, name: str) -> Column:
        """The whole column; the rows give it away, so that it exists only once."""
        return self._whole(name, self._parts.pop(name))

    def joined(self, name: str) -> Column:
        """A copy of a whole column; the rows keep it."""
        return self._whole(name, self._parts[name]).copy()

    def _default(self, name: str) -> Column:
        dtype, default = self._columns[name]
        return np.array([default], dtype)

    def _whole(self, name: str, parts: list[Column | None]) -> Column:
        default = self._default(name)
        if all(part is None for part in parts):
            return repeated(default, self.count)
        filled = zip(parts, self._counts, strict=True)
        whole = [repeated(default, count) if part is None else part for part, count in filled]
        return whole[0] if len(whole) == 1 else np.concatenate(whole)

    def put(self, name: str, values: Column) -> None:
        """Puts other values in place of a whole column."""
        borders = np.cumsum(self._counts)[:-1]
        self._parts[name] = list(np.split(values.astype(self._columns[name][0], copy=False), borders))

    def least(self, name: str, *, missing: int) -> int | None:
        """Least value of a column, `missing` aside; None where there is none."""
        parts = [self._default(name) if part is None else part for part in self._parts.get(name, [])]
        values = [int(part[part != missing].min(initial=_MOST)) for part in parts]
        least = min(values, default=_MOST)
        return None if least == _MOST else least

    def take_all(self) -> dict[str, Column]:
        """All columns left."""
        return {name: self.take(name) for name in list(self._parts)}


class TextSpool:
    """Argument texts on disk while an import runs: written in file order, read back in any order."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: IO[bytes] = path.open("wb")
        self._size = 0
        self._reader: SpoolReader | None = None

    def add(self, texts: bytes) -> int:
        """Appends texts; returns where they begin."""
        begins = self._size
        self._handle.write(texts)
        self._size += len(texts)
        return begins

    def absorb(self, other: TextSpool) -> int:
        """Appends all texts of another spool, which ends with it; returns where they begin."""
        begins = self._size
        other._handle.close()
        with other._path.open("rb") as texts:
            shutil.copyfileobj(texts, self._handle, _GAP_BYTES)
        self._size += other._size
        return begins

    def reader(self) -> SpoolReader:
        """Ends writing and opens for reading."""
        self._handle.close()
        self._reader = SpoolReader(self._path)
        return self._reader

    def discard(self) -> None:
        """Removes the file."""
        self._handle.close()
        if self._reader is not None:
            self._reader.close()
        self._path.unlink(missing_ok=True)


class SpoolReader:
    """Reads spooled texts by place and length."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDONLY)

    def gather(self, starts: IntArray, lengths: CodeArray) -> pa.LargeBinaryArray:
        """Texts at the places asked for, in that order; null where the length is 0. A place has one length."""
        wanted = np.flatnonzero(lengths)
        if not len(wanted):
            return pa.nulls(len(lengths), pa.large_binary())
        places, first, place_of = np.unique(starts[wanted], return_index=True, return_inverse=True)
        ends = places + lengths[wanted][first]
        gaps = np.flatnonzero(places[1:] - ends[:-1] > _GAP_BYTES) + 1
        texts = pa.concat_arrays(
            [self._texts(*part) for part in zip(np.split(places, gaps), np.split(ends, gaps), strict=True)]
        )
        order = np.zeros(len(lengths), np.int64)
        order[wanted] = place_of.reshape(-1)
        return texts.take(pa.array(order, mask=lengths == 0))

    def pool(self, starts: IntArray, lengths: CodeArray) -> tuple[pa.LargeBinaryArray, IntArray]:
        """Each of the texts once, and where each place's text stands among them; -1 where the length is 0."""
        wanted = np.flatnonzero(lengths)
        places, found = distinct_codes(starts[wanted])
        sizes = np.empty(len(places), np.int32)
        sizes[found] = lengths[wanted]
        place_of = np.full(len(starts), -1, np.int64)
        place_of[wanted] = found
        return self.gather(places, sizes), place_of

    def _texts(self, places: IntArray, ends: IntArray) -> pa.LargeBinaryArray:
        """Texts that lie near each other, read at once; what lies between two of them is cut off."""
        base = int(places[0])
        data = pa.py_buffer(os.pread(self._descriptor, int(ends[-1]) - base, base))
        bounds = np.stack([places, ends], axis=1).reshape(-1) - base
        pieces = pa.Array.from_buffers(pa.large_binary(), len(bounds) - 1, [None, pa.py_buffer(bounds), data])
        return pieces.take(pa.array(np.arange(0, len(bounds), 2)))

    def close(self) -> None:
        """Closes the file."""
        os.close(self._descriptor)


_MOST = np.iinfo(np.int64).max
_GAP_BYTES = 1 << 16
"""Texts further apart than this are read by separate calls."""
