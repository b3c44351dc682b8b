"""Reads tables of SQLite files that may lack tables and columns, hold values of any type, or be damaged.

Files are opened read-only and without their journal, so that nothing is written beside them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from laptime.model.arrays import IntArray
from laptime.model.builder import Warnings
from laptime.model.vocabulary import NULL

_LARGEST = 2**62


class Database:
    """The tables of one file; what cannot be read is warned of and empty."""

    def __init__(self, path: Path, warnings: Warnings) -> None:
        self.name = path.name
        self._uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        self._warnings = warnings
        self._texts: dict[object, object] | None = None
        journal = path.with_name(f"{path.name}-wal")
        if journal.is_file() and journal.stat().st_size:
            warnings.add("other", f"{path.name}: what its journal (-wal) holds is not read")

    def rows(self, table: str, *columns: str) -> list[tuple[object, ...]]:
        """Values of these columns; None for a column that the table lacks."""
        try:
            with closing(sqlite3.connect(self._uri, uri=True)) as connection:
                connection.text_factory = lambda text: text.decode("utf-8", "replace")
                known = {str(row[1]) for row in connection.execute(f'PRAGMA table_info("{table}")')}
                if not known.intersection(columns):
                    return []
                wanted = ", ".join(f'"{name}"' if name in known else "NULL" for name in columns)
                return connection.execute(f'SELECT {wanted} FROM "{table}"').fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            self._warnings.add("other", f"{self.name}: table {table} cannot be read ({_reason(error)})")
            return []

    def pairs(self, table: str, key: str, value: str) -> list[tuple[object, object]]:
        """Values of two columns."""
        return [(first, second) for first, second in self.rows(table, key, value)]

    def text(self, number: object) -> str:
        """The text of a number into STRING_IDS; "" where there is none."""
        if self._texts is None:
            self._texts = dict(self.pairs("STRING_IDS", "id", "value"))
        text = self._texts.get(number) if isinstance(number, int) else number
        return text if isinstance(text, str) and text != "N/A" else ""


def _reason(error: sqlite3.Error | UnicodeDecodeError) -> str:
    """What SQLite says, in one line; it quotes the file, whose bytes Python may fail to decode when it says so."""
    text = error.object.decode("utf-8", "replace") if isinstance(error, UnicodeDecodeError) else str(error)
    return " ".join(text.split())


def whole_numbers(values: Sequence[object]) -> IntArray:
    """Integers, also from texts; NULL for anything else."""
    return np.fromiter((whole_number(value) for value in values), np.int64, len(values))


def whole_number(value: object) -> int:
    """An integer, also from a text; NULL for anything else."""
    try:
        number = int(value) if isinstance(value, (int, float, str)) else NULL
    except (ValueError, OverflowError):
        return NULL
    return number if abs(number) < _LARGEST else NULL
