"""CSV tables of ASCEND_PROFILER_OUTPUT and msprof: columns by name, since their number and order differ by version.

Times are decimal microseconds, often with a trailing tab; `N/A` and nothing mean unknown. Tables are read and handled
column by column: those of a long training have millions of cells.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from laptime.importers.sources import Source
from laptime.model.arrays import BoolArray, IntArray
from laptime.model.builder import Warnings
from laptime.model.clock import ns_from_column
from laptime.model.vocabulary import NULL

_UNKNOWN = pa.array(["N/A", "NA", "null", "None"])
_READ_BYTES = 1 << 24
_LARGEST = 2**62
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Coded:
    """A column as numbers of its distinct texts."""

    codes: IntArray
    texts: list[str]

    def map(self, function: Callable[[str], int]) -> IntArray:
        """A whole number for each row, made once for each distinct text."""
        return np.array([function(text) for text in self.texts] or [0], np.int64)[self.codes]


@dataclass(frozen=True)
class TextTable:
    """Columns of a CSV file, trimmed; the first of those that share a name."""

    columns: Mapping[str, pa.StringArray]
    count: int

    def __len__(self) -> int:
        return self.count

    def has(self, *names: str) -> bool:
        """Whether one of these columns is there."""
        return any(name in self.columns for name in names)

    def column(self, *names: str) -> pa.StringArray:
        """The first column there is of these names; "" is unknown, as is a column that is missing."""
        found = next((self.columns[name] for name in names if name in self.columns), None)
        if found is None:
            return pa.array([""] * self.count, pa.string())
        return pc.if_else(pc.is_in(found, _UNKNOWN), "", found)

    def where(self, chosen: BoolArray) -> TextTable:
        """Some of the rows."""
        mask = pa.array(chosen)
        return TextTable({name: column.filter(mask) for name, column in self.columns.items()}, int(chosen.sum()))

    def coded(self, *names: str) -> Coded:
        """Such a column by its distinct values, in the order they appear."""
        encoded = self.column(*names).dictionary_encode()
        return Coded(np.asarray(encoded.indices).astype(np.int64), encoded.dictionary.to_pylist())

    def texts(self, *names: str) -> list[str]:
        """Such a column as texts."""
        return list(self.column(*names).to_pylist())

    def times_ns(self, *names: str) -> IntArray:
        """Nanoseconds of a column in microseconds; NULL for unknown ones."""
        column = self.column(*names)
        known = np.flatnonzero(np.asarray(pc.not_equal(column, "")))
        times = np.full(self.count, NULL, np.int64)
        times[known] = ns_from_column(column.take(pa.array(known)))
        return times

    def integers(self, *names: str, factor: float = 1) -> IntArray:
        """Whole numbers of a column, times a factor; NULL is unknown."""
        return self.coded(*names).map(lambda text: _whole(text, factor))


def _whole(text: str, factor: float) -> int:
    value = number_of(text, factor)
    return NULL if value is None else round(value)


def rows_of_each(texts: Sequence[str]) -> dict[str, IntArray]:
    """Rows of each distinct text, in order of its first; in one pass, however many there are."""
    number = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    code = np.fromiter((number[text] for text in texts), np.int64, len(texts))
    order = np.argsort(code, kind="stable")
    borders = np.searchsorted(code[order], np.arange(len(number) + 1))
    return {text: order[borders[place] : borders[place + 1]] for text, place in number.items()}


def number_of(text: str, factor: float = 1) -> float | None:
    """A number that fits 62 bits, or None."""
    try:
        value = float(text) * factor
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) < _LARGEST else None


def bytes_of(path: Path, warnings: Warnings) -> bytes:
    """A file's content, decompressed; says where it ends too early."""
    pieces = []
    with Source(path).open() as stream:
        while piece := stream.read(_READ_BYTES):
            pieces.append(piece)
        if stream.damage:
            warnings.add("truncated", f"{path.name}: {stream.damage}")
    return b"".join(pieces)


def read_table(path: Path, warnings: Warnings) -> TextTable | None:
    """A CSV file; None where it has no header."""
    data = _plain(bytes_of(path, warnings))
    table = _whole_table(data)
    return _table_of_rows(path, data.decode(), warnings) if table is None else table


def _plain(data: bytes) -> bytes:
    """UTF-8 without byte order mark and zeros."""
    data = data.removeprefix(_BYTE_ORDER_MARK).replace(b"\0", b"")
    return data if data.isascii() else data.decode("utf-8", "replace").encode()


def _whole_table(data: bytes) -> TextTable | None:
    """A table all of whose rows are as long as its header; None for all others."""
    header = next(csv.reader(io.StringIO(data[: _first_line(data)].decode("utf-8", "replace"), newline="")), [])
    if not header:
        return None
    numbered = [f"f{place}" for place in range(len(header))]
    try:
        table = pa_csv.read_csv(
            pa.BufferReader(data),
            read_options=pa_csv.ReadOptions(column_names=numbered),
            parse_options=pa_csv.ParseOptions(newlines_in_values=True),
            convert_options=pa_csv.ConvertOptions(column_types=dict.fromkeys(numbered, pa.string())),
        )
    except pa.ArrowInvalid:
        return None
    return _trimmed([column.combine_chunks() for column in table.columns])


def _first_line(data: bytes) -> int:
    end = data.find(b"\n")
    return len(data) if end < 0 else end


def _trimmed(columns: list[pa.StringArray]) -> TextTable:
    """Columns whose first row is the header."""
    columns = [pc.ascii_trim_whitespace(column) for column in columns]
    named = {column[0].as_py(): column[1:] for column in reversed(columns)}
    return TextTable(dict(reversed(list(named.items()))), len(columns[0]) - 1)


def _table_of_rows(path: Path, text: str, warnings: Warnings) -> TextTable | None:
    """A table whose rows differ in length, or that breaks off: row by row."""
    rows: list[list[str]] = []
    try:
        rows.extend(row for row in csv.reader(io.StringIO(text, newline="")) if row)
    except csv.Error as error:
        warnings.add("other", f"{path.name}: not a table after row {len(rows):,} ({error})")
    if not rows:
        warnings.add("other", f"{path.name}: empty")
        return None
    _warn_of_lengths(path, rows, warnings)
    width = min(
        len(rows[0]), max((len(row) for row in rows[1:]), default=len(rows[0]))
    )  # of columns that hold anything
    missing = [""] * width
    whole = [[*row, *missing[len(row) :]][:width] for row in rows]
    return _trimmed([pa.array(column, pa.string()) for column in zip(*whole, strict=True)])


def _warn_of_lengths(path: Path, rows: list[list[str]], warnings: Warnings) -> None:
    width = len(rows[0])
    odd = [place for place, row in enumerate(rows) if len(row) != width]
    if odd and odd[-1] == len(rows) - 1 and len(rows[-1]) < width:
        odd.pop()
        warnings.add("truncated", f"{path.name}: the last row is cut off")
    warnings.add("other", f"{path.name}: rows with more or fewer values than columns", len(odd))
