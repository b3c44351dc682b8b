"""Reads the small files of a processed MindSpore `profiler/` folder: tables of all column dialects, and JSON.

Nothing raises for what a file holds: what is damaged is counted in the builder's warnings and left out.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from laptime.importers.mindinsight_files import names_by_kind
from laptime.importers.streams import ByteStream
from laptime.model.arrays import IntArray
from laptime.model.builder import TraceBuilder
from laptime.model.vocabulary import NULL

NS_OF_US, NS_OF_MS, NS_OF_CYCLE = 1_000, 1_000_000, 10
"""One count of the device's cycle counter (100 MHz) is 10 ns."""
_LARGEST_BYTES = 1 << 31
_LARGEST_NS = 3e18
_INTEGER = re.compile(r"-?[0-9]{1,19}\Z")
_UNIT = re.compile(r"\s*\([^)]*\)\s*$")


class Folder:
    """The files of one device by what they are; reading says what is damaged."""

    def __init__(self, files: Sequence[Path], builder: TraceBuilder) -> None:
        paths = {path.name: path for path in files}
        self._paths = {kind: paths[name] for kind, name in names_by_kind(paths).items()}
        self.builder = builder

    def path(self, kind: str) -> Path | None:
        """The file of a kind."""
        return self._paths.get(kind)

    def text(self, kind: str) -> str | None:
        """Decompressed text of a file; None where it is absent."""
        path = self._paths.get(kind)
        if path is None:
            return None
        with ByteStream(path.open("rb"), size=path.stat().st_size) as stream:
            data = stream.read(_LARGEST_BYTES)
            damage = stream.damage
        if damage:
            self.builder.warnings.add("truncated", f"{path.name}: {damage}; what is whole is kept")
        if b"\0" in data:
            data = data.replace(b"\0", b"")
            self.builder.warnings.add("other", f"{path.name}: zero bytes in the text; left out")
        return data.decode("utf-8-sig", "replace")

    def json(self, kind: str) -> object:
        """Content of a JSON file; None where it is absent or broken."""
        text = self.text(kind)
        if text is None:
            return None
        content = parsed_json(text)
        if content is None:
            self.note_bad(kind, "is no whole JSON; left out")
        return content

    def json_object(self, kind: str) -> dict[str, object] | None:
        """Content of a JSON file that should be an object."""
        content = self.json(kind)
        if content is not None and not isinstance(content, dict):
            self.note_bad(kind, "holds no JSON object; left out")
        return content if isinstance(content, dict) else None

    def table(self, kind: str) -> Columns | None:
        """A CSV file; None where it is absent or has no header. Rows of another length are dropped and counted."""
        text = self.text(kind)
        if text is None:
            return None
        rows = _csv_rows(text)
        if not rows:
            self.note_bad(kind, "is empty")
            return None
        names = [_UNIT.sub("", name).strip() for name in rows[0]]
        whole = [row for row in rows[1:] if len(row) == len(names)]
        self.drop_rows(kind, len(rows) - 1 - len(whole))
        columns = [list(column) for column in zip(*whole, strict=True)] or [[] for _ in names]
        return Columns(dict(zip(reversed(names), reversed(columns), strict=True)), names, len(whole))

    def note_bad(self, kind: str, what: str, *, code: str = "other") -> None:
        """Warns of a file."""
        path = self._paths.get(kind)
        self.builder.warnings.add(code, f"{path.name if path else kind} {what}")

    def drop_rows(self, kind: str, count: int) -> None:
        """Warns of rows that could not be read."""
        path = self._paths.get(kind)
        message = f"rows of {path.name if path else kind} that cannot be read; left out"
        self.builder.warnings.add("other", message, count)


@dataclass(frozen=True)
class Columns:
    """Text columns of a table, by name without unit."""

    by_name: Mapping[str, list[str]]
    names: list[str]
    count: int

    def texts(self, *names: str) -> list[str] | None:
        """The first of these columns that is there."""
        return next((self.by_name[name] for name in names if name in self.by_name), None)

    def numbers(self, *names: str) -> npt.NDArray[np.float64]:
        """A column as doubles; NaN for what is no number, and where no column of these names is there."""
        texts = self.texts(*names)
        return np.full(self.count, np.nan) if texts is None else doubles(texts)

    def integers(self, *names: str) -> IntArray:
        """A column as integers; NULL for what is none."""
        texts = self.texts(*names)
        if texts is None:
            return np.full(self.count, NULL, np.int64)
        return np.fromiter((NULL if (value := whole(text)) is None else value for text in texts), np.int64, len(texts))


def _csv_rows(text: str) -> list[list[str]]:
    """Rows that are not blank; one broken by a stray quote ends the table."""
    rows = []
    try:
        for row in csv.reader(io.StringIO(text, newline="")):
            if any(cell.strip() for cell in row):
                rows.append(row)
    except csv.Error:
        pass
    return rows


def parsed_json(text: str) -> object:
    """Content of JSON text, numbers that are not finite or too large as None; None where it is broken."""
    try:
        return json.loads(text, parse_constant=lambda _: None, parse_float=_finite_or_none, parse_int=whole)
    except (ValueError, RecursionError):
        return None


def doubles(texts: Sequence[str]) -> npt.NDArray[np.float64]:
    """Texts as doubles; NaN for what is no finite number."""
    return np.fromiter((number(text) for text in texts), np.float64, len(texts))


def number(value: object) -> float:
    """A finite double, or NaN."""
    try:
        parsed = float(value) if isinstance(value, (str, int, float)) else math.nan
    except (ValueError, OverflowError):
        return math.nan
    return parsed if math.isfinite(parsed) else math.nan


def whole(value: object) -> int | None:
    """A whole number that fits int64 with room to spare, also written as `12.0`."""
    text = value.strip() if isinstance(value, str) else ""
    if _INTEGER.match(text):
        parsed = int(text)
    else:
        approximate = number(value)
        if not approximate.is_integer() or abs(approximate) > _LARGEST_NS:
            return None
        parsed = int(approximate)
    return parsed if abs(parsed) <= _LARGEST_NS else None


def ns_of(values: npt.NDArray[np.float64], factor: int) -> IntArray:
    """Nanoseconds of doubles in units of `factor` ns; NULL for NaN and what does not fit."""
    valid = np.abs(values) < _LARGEST_NS / factor  # False for NaN
    safe = np.where(valid, values, 0.0)
    base = np.floor(safe)
    parts = base.astype(np.int64) * factor + np.rint((safe - base) * factor).astype(np.int64)
    return np.where(valid, parts, np.int64(NULL))


def ns(value: object, factor: int) -> int | None:
    """Nanoseconds of one number; None where it is none."""
    result = int(ns_of(np.array([number(value)]), factor)[0])
    return None if result == NULL else result


def mean_of(values: Sequence[int | None]) -> int | None:
    """Mean of the known values, rounded half up."""
    known = [value for value in values if value is not None]
    return (2 * sum(known) + len(known)) // (2 * len(known)) if known else None


def _finite_or_none(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None
