"""Growing columns: what an importer hands over block by block, joined once at the end."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import numpy as np

from laptime.model.arrays import CodeArray, Column, IntArray


class Rows:
    """Rows of named numpy columns with fixed types; a column left out of a block is filled with its default."""

    def __init__(self, columns: Mapping[str, tuple[type[np.generic], int]]) -> None:
        self._columns = dict(columns)
        self._parts: dict[str, list[Column]] = {name: [] for name in columns}
        self.count = 0

    def append(self, count: int, values: Mapping[str, Column]) -> None:
        """Adds `count` rows."""
        if not count:
            return
        for name, (dtype, default) in self._columns.items():
            given = values.get(name)
            part = np.full(count, default, dtype) if given is None else given.astype(dtype, copy=False)
            self._parts[name].append(part)
        self.count += count

    def take(self, name: str) -> Column:
        """The whole column; the rows give it away, so that it exists only once."""
        parts = self._parts.pop(name)
        return np.concatenate(parts) if parts else np.empty(0, self._columns[name][0])

    def least(self, name: str, *, missing: int) -> int | None:
        """Least value of a column, `missing` aside; None where there is none."""
        values = [int(part[part != missing].min(initial=_MOST)) for part in self._parts.get(name, [])]
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

    def gather(self, starts: IntArray, lengths: CodeArray) -> list[bytes | None]:
        """Texts at the places asked for, in that order; None where the length is 0."""
        wanted = np.flatnonzero(lengths)
        texts: list[bytes | None] = [None] * len(lengths)
        if not len(wanted):
            return texts
        order = wanted[np.argsort(starts[wanted], kind="stable")]
        ends = starts[order] + lengths[order]
        gaps = np.flatnonzero(starts[order][1:] - ends[:-1] > _GAP_BYTES) + 1
        for run in np.split(order, gaps):
            base = int(starts[run[0]])
            data = os.pread(self._descriptor, int(starts[run[-1]] + lengths[run[-1]]) - base, base)
            for row, start, length in zip(
                run.tolist(), (starts[run] - base).tolist(), lengths[run].tolist(), strict=True
            ):
                texts[row] = data[start : start + length]
        return texts

    def close(self) -> None:
        """Closes the file."""
        os.close(self._descriptor)


_MOST = np.iinfo(np.int64).max
_GAP_BYTES = 1 << 16
"""Texts further apart than this are read by separate calls."""
