"""CSV tables of ASCEND_PROFILER_OUTPUT: columns by name, since their number and order differ between versions.

Times are decimal microseconds, often with a trailing tab; `N/A` and nothing mean unknown.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from laptime.importers.sources import Source
from laptime.model.arrays import IntArray
from laptime.model.builder import Warnings
from laptime.model.clock import ns_from_text
from laptime.model.vocabulary import NULL

_UNKNOWN = frozenset({"", "N/A", "NA", "null", "None"})
_READ_BYTES = 1 << 24
_LARGEST = 2**62


@dataclass(frozen=True)
class TextTable:
    """Rows of a CSV file; those that are cut off are shorter than its header."""

    columns: dict[str, int]
    rows: list[list[str]]

    def __len__(self) -> int:
        return len(self.rows)

    def texts(self, *names: str) -> list[str]:
        """Values of the first column there is of these names; "" is unknown, as is a column that is missing."""
        place = next((self.columns[name] for name in names if name in self.columns), None)
        if place is None:
            return [""] * len(self.rows)
        values = [row[place].strip() if place < len(row) else "" for row in self.rows]
        return ["" if value in _UNKNOWN else value for value in values]

    def times_ns(self, *names: str) -> IntArray:
        """Nanoseconds of a column in microseconds."""
        return ns_of_texts(self.texts(*names))

    def numbers(self, *names: str, factor: float = 1) -> list[float | None]:
        """Numbers of a column, times a factor."""
        return [number_of(text, factor) for text in self.texts(*names)]

    def integers(self, *names: str, factor: float = 1) -> IntArray:
        """Whole numbers of a column, times a factor; NULL is unknown."""
        values = self.numbers(*names, factor=factor)
        return np.array([NULL if value is None else round(value) for value in values], np.int64)


def rows_of_each(texts: Sequence[str]) -> dict[str, IntArray]:
    """Rows of each distinct text, in order of its first; in one pass, however many there are."""
    number = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    code = np.fromiter((number[text] for text in texts), np.int64, len(texts))
    order = np.argsort(code, kind="stable")
    borders = np.searchsorted(code[order], np.arange(len(number) + 1))
    return {text: order[borders[place] : borders[place + 1]] for text, place in number.items()}


def ns_of_texts(texts: list[str]) -> IntArray:
    """Nanoseconds of decimal microseconds; NULL for unknown ones."""
    times = np.full(len(texts), NULL, np.int64)
    known = [place for place, text in enumerate(texts) if text]
    times[known] = ns_from_text([texts[place].encode("utf-8", "replace") for place in known])
    return times


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
    text = bytes_of(path, warnings).decode("utf-8-sig", "replace").replace("\x00", "")
    rows: list[list[str]] = []
    try:
        rows.extend(row for row in csv.reader(io.StringIO(text, newline="")) if row)
    except csv.Error as error:
        warnings.add("other", f"{path.name}: not a table after row {len(rows):,} ({error})")
    if not rows:
        warnings.add("other", f"{path.name}: empty")
        return None
    header = [name.strip() for name in rows[0]]
    _warn_of_lengths(path, header, rows, warnings)
    columns = {name: place for place, name in reversed(list(enumerate(header)))}
    return TextTable(columns, rows[1:])


def _warn_of_lengths(path: Path, header: list[str], rows: list[list[str]], warnings: Warnings) -> None:
    odd = [place for place, row in enumerate(rows) if len(row) != len(header)]
    if odd and odd[-1] == len(rows) - 1 and len(rows[-1]) < len(header):
        odd.pop()
        warnings.add("truncated", f"{path.name}: the last row is cut off")
    warnings.add("other", f"{path.name}: rows with more or fewer values than columns", len(odd))
