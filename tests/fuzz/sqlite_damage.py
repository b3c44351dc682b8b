"""Damages SQLite files: their pages as bytes, their tables through SQLite itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

MAGIC = b"SQLite format 3\0"
_PAGE = 4096
_VALUES: tuple[object, ...] = (
    None,
    "",
    "abc",
    "12.5",
    " 7 ",
    "9" * 40,
    "-1",
    "nan",
    "\0",
    b"",
    b"\xff\0",
    0,
    -1,
    7.25,
    1e308,
    float("inf"),
    -float("inf"),
    2**31,
    2**53 + 1,
    2**62,
    2**63 - 1,
    -(2**63),
)


def damaged_database(data: bytes, rng: Random) -> bytes:
    """Damaged pages, or tables that are lacking, other than expected or hold odd values."""
    return _damaged_pages(data, rng) if rng.random() < 0.3 else _altered(data, rng)


def _damaged_pages(data: bytes, rng: Random) -> bytes:
    pages = [bytearray(data[place : place + _PAGE]) for place in range(0, len(data), _PAGE)]
    place = rng.randrange(len(pages))
    draw = rng.randrange(5)
    if draw == 0:
        pages = pages[: max(place, 1)]
    elif draw == 1:
        pages[place] = bytearray(len(pages[place]))
    elif draw == 2:
        other = rng.randrange(len(pages))
        pages[place], pages[other] = pages[other], pages[place]
    elif draw == 3:  # where something is written; on the first page that is the schema
        page = rng.choice((pages[0], pages[place]))
        written = [number for number, byte in enumerate(page) if byte]
        for number in rng.choices(written, k=rng.choice((1, 5, 50)) if written else 0):
            page[number] = rng.randrange(256)
    else:
        pages[0][rng.randrange(min(100, len(pages[0])))] = rng.randrange(256)
    return b"".join(pages)


def _altered(data: bytes, rng: Random) -> bytes:
    """As it was where SQLite itself does not take the file any more."""
    with TemporaryDirectory() as folder, suppress(sqlite3.Error, UnicodeError):
        path = Path(folder, "altered.db")
        path.write_bytes(data)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.text_factory = lambda text: text.decode("utf-8", "replace")
            for _ in range(rng.choice((1, 1, 2, 4))):
                found = _tables(connection)
                if found:
                    rng.choice(_ALTERATIONS)(connection, rng.choice(found), rng)
        return path.read_bytes()
    return data


def _tables(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [_quoted(row[1]) for row in connection.execute(f"PRAGMA table_info({_quoted(table)})")]


def _drop_table(connection: sqlite3.Connection, table: str, rng: Random) -> None:
    connection.execute(f"DROP TABLE {_quoted(table)}")


def _empty_table(connection: sqlite3.Connection, table: str, rng: Random) -> None:
    connection.execute(f"DELETE FROM {_quoted(table)}")


def _delete_rows(connection: sqlite3.Connection, table: str, rng: Random) -> None:
    connection.execute(f"DELETE FROM {_quoted(table)} WHERE rowid % ? = 0", (rng.choice((2, 3, 7)),))


def _double_rows(connection: sqlite3.Connection, table: str, rng: Random) -> None:
    connection.execute(f"INSERT INTO {_quoted(table)} SELECT * FROM {_quoted(table)}")


def _without_column(connection: sqlite3.Connection, table: str, rng: Random) -> None:
    columns = _columns(connection, table)
    columns.pop(rng.randrange(len(columns)))
    _rebuild(connection, table, columns)


def _other_name(connection: sqlite3.Connection, table: str, rng: Random) -> None:
    columns = _columns(connection, table)
    place = rng.randrange(len(columns))
    columns[place] = f"{columns[place]} AS {rng.choice((columns[place].upper(), 'other', _quoted('')))}"
    _rebuild(connection, table, columns)


def _rebuild(connection: sqlite3.Connection, table: str, columns: list[str]) -> None:
    connection.execute(f"CREATE TABLE rebuilt AS SELECT {', '.join(columns) or '1'} FROM {_quoted(table)}")
    connection.execute(f"DROP TABLE {_quoted(table)}")
    connection.execute(f"ALTER TABLE rebuilt RENAME TO {_quoted(table)}")


def _other_values(connection: sqlite3.Connection, table: str, rng: Random) -> None:
    """A column, or some of its values, hold something odd; without the types of the columns, so that it stays."""
    columns = _columns(connection, table)
    if rng.random() < 0.5:
        _rebuild(connection, table, [f"+{column} AS {column}" for column in columns])
    column = rng.choice(columns)
    value = rng.choice(_VALUES)
    text = rng.choice(
        ("?", "?", "?", f"CAST({column} AS TEXT)", f"-{column}", f"{column} * 1e9", "CAST(X'EDA080' AS TEXT)")
    )
    every = rng.choice((1, 2, 50))
    values = (value, every) if text == "?" else (every,)
    connection.execute(f"UPDATE {_quoted(table)} SET {column} = {text} WHERE rowid % ? = 0", values)


def _other_table(connection: sqlite3.Connection, table: str, rng: Random) -> None:
    """A table takes the name of another."""
    other = rng.choice(_tables(connection))
    if other != table:
        connection.execute(f"DROP TABLE {_quoted(other)}")
        connection.execute(f"ALTER TABLE {_quoted(table)} RENAME TO {_quoted(other)}")


def _as_view(connection: sqlite3.Connection, table: str, rng: Random) -> None:
    """A view in place of a table; now and then one of itself, without an end."""
    if rng.random() < 0.7:
        connection.execute(f"ALTER TABLE {_quoted(table)} RENAME TO behind")
        connection.execute(f"CREATE VIEW {_quoted(table)} AS SELECT * FROM behind")
    else:
        connection.execute(f"DROP TABLE {_quoted(table)}")
        connection.execute(f"CREATE VIEW {_quoted(table)} AS SELECT * FROM {_quoted(table)}")


_ALTERATIONS: tuple[Callable[[sqlite3.Connection, str, Random], None], ...] = (
    _drop_table,
    _empty_table,
    _delete_rows,
    _double_rows,
    _without_column,
    _without_column,
    _other_name,
    _other_values,
    _other_values,
    _other_values,
    _other_values,
    _other_table,
    _as_view,
)
