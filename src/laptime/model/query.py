"""SQL of the user's own over the tables of a run, by DuckDB, which reads the Parquet files column by column.

The query may come from anyone who reaches the server, so it is fenced in four ways. It is one statement that DuckDB
types SELECT. Its syntax tree names no tables but ours, and no table function but a few that touch nothing outside:
others read and write files, change settings or take raw pointers. The connection may open the run's own files alone
and its settings are locked. Memory, time, rows and bytes of the result are limited.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa

from laptime.errors import LaptimeError
from laptime.model.schema import SCHEMAS
from laptime.model.trace import Run

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

ROW_LIMIT = 1_000_000
"""Most rows of a result; more is an error, never a silent cut."""
TIME_LIMIT_S = 60.0
_MEMORY_LIMIT = "2GB"
_RESULT_BYTES = 1 << 30
_BATCH_ROWS = 2048
"""A vector of DuckDB's: rows may be long texts, and a batch is made before its size is known."""

_SETTINGS = (
    "SET temp_directory = ''",  # never spills beside the user's files
    "SET python_enable_replacements = false",  # no variable of the caller is a table
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET allow_community_extensions = false",
)
_HARMLESS_TABLE_FUNCTIONS = frozenset({"range", "generate_series", "unnest", "json_each", "json_tree"})
_PRIVATE_FUNCTIONS = frozenset({"current_setting"})
_FILE_LIKE = re.compile(r"[./\\:*?]")
_NARROWER = "narrow it by rank, step, track or kind"
_ROW_IDS = ("slices", "args")
"""Tables whose row number is the slice id."""


@dataclass(frozen=True)
class Limits:
    """What a query may take; `bytes` are of its result."""

    rows: int = ROW_LIMIT
    seconds: float = TIME_LIMIT_S
    bytes: int | None = None


def run_query(
    run: Run, query: str, *, rank: int | None = None, row_limit: int = ROW_LIMIT, time_limit_s: float = TIME_LIMIT_S
) -> pa.Table:
    """Result of one SELECT over the tables of all ranks (or one) by the names of SCHEMAS, led by `rank_index`."""
    table, is_whole = first_rows(run, query, rank=rank, limits=Limits(row_limit, time_limit_s))
    if not is_whole:
        raise _too_large(f"more than {row_limit:,} rows")
    return table


def first_rows(run: Run, query: str, *, limits: Limits, rank: int | None = None) -> tuple[pa.Table, bool]:
    """The first rows of what `run_query` gives, and whether these are all."""
    import duckdb

    first, folders = _folders_of(run, rank)
    with duckdb.connect(":memory:") as connection:
        try:
            _fence(connection, [f"{folder}/{name}.parquet" for name in SCHEMAS for folder in folders])
            _refuse_unsafe(connection, query)
            _add_views(connection, _named_tables(query), folders, first_index=first)
            connection.execute("SET lock_configuration = true")
            with _time_limit(connection, limits.seconds):
                return _fetched(connection.sql(query), limits)
        except (duckdb.Error, pa.ArrowException, OSError, RecursionError) as error:
            raise _failure(error) from None


def _folders_of(run: Run, rank: int | None) -> tuple[int, list[str]]:
    """Position of the first trace asked for, and the folders of all that are."""
    if rank is None:
        return 0, [str(trace.folder.resolve()) for trace in run.traces]
    trace = run.trace_of(rank)
    index = next(index for index, other in enumerate(run.traces) if other is trace)
    return index, [str(trace.folder.resolve())]


# ---- the fence ----


def _fence(connection: DuckDBPyConnection, files: list[str]) -> None:
    for setting in (f"SET memory_limit = '{_MEMORY_LIMIT}'", *_SETTINGS):
        connection.execute(setting)
    connection.execute(f"SET allowed_paths = {_list_literal(files)}")
    connection.execute("SET enable_external_access = false")


def _refuse_unsafe(connection: DuckDBPyConnection, query: str) -> None:
    import duckdb

    if not query.isascii() and query != query.encode(errors="ignore").decode():
        raise _refusal("the query holds characters that are none")
    statements = connection.extract_statements(query)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        found = ", ".join(str(statement.type).rpartition(".")[2] for statement in statements) or "nothing"
        raise _refusal(f"one SELECT statement is expected, found {found}")
    row = connection.execute("SELECT json_serialize_sql($1::VARCHAR)", [query]).fetchone()
    tree = json.loads(row[0]) if row else {"error": True}
    if tree.get("error"):
        raise _refusal(str(tree.get("error_message", "the query cannot be checked")))
    own_tables = {name.lower() for node in _nodes(tree) for name in _subquery_names(node)} | set(SCHEMAS)
    for node in _nodes(tree):
        _refuse_functions(node)
        _refuse_tables(node, own_tables)


def _subquery_names(node: dict[str, object]) -> list[str]:
    """Names that a WITH gives to subqueries."""
    clauses = node.get("cte_map")
    entries = clauses.get("map") if isinstance(clauses, dict) else None
    return [str(entry["key"]) for entry in entries] if isinstance(entries, list) else []


def _refuse_functions(node: dict[str, object]) -> None:
    function = node.get("function")
    if node.get("type") == "TABLE_FUNCTION":
        name = str(function.get("function_name")).lower() if isinstance(function, dict) else "?"
        if name not in _HARMLESS_TABLE_FUNCTIONS:
            raise _refusal(f"{name}(...) cannot be used as a table")
    if str(node.get("function_name")).lower() in _PRIVATE_FUNCTIONS:
        raise _refusal(f"{node['function_name']}(...) shows what lies outside the tables")


def _refuse_tables(node: dict[str, object], own_tables: set[str]) -> None:
    if node.get("type") != "BASE_TABLE":
        return
    name = str(node.get("table_name"))
    qualified = node.get("qualified_name")
    path = qualified.get("path") if isinstance(qualified, dict) else None
    parts = [node.get("catalog_name"), node.get("schema_name"), *(path if isinstance(path, list) else [])]
    outside = {str(part).lower() for part in parts if part} - {"main", "memory", name.lower()}
    if name.lower() not in own_tables or outside or _FILE_LIKE.search(name):
        raise _refusal(f"{'.'.join([*sorted(outside), name])} is no table of a run")


def _nodes(tree: object) -> Iterator[dict[str, object]]:
    """All objects of a JSON value, however deep."""
    pending = [tree]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            yield value
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)


# ---- tables ----


def _named_tables(query: str) -> list[str]:
    """Tables whose names occur in the query; all where none does (`SHOW TABLES`)."""
    text = query.lower()
    return [name for name in SCHEMAS if name in text] or list(SCHEMAS)


def _add_views(connection: DuckDBPyConnection, tables: list[str], folders: list[str], *, first_index: int) -> None:
    for name in tables:
        files = _list_literal([f"{folder}/{name}.parquet" for folder in folders])
        slice_id = "file_row_number AS slice_id, " if name in _ROW_IDS else ""
        connection.execute(
            f"CREATE VIEW {name} AS SELECT (file_index + {first_index})::INTEGER AS rank_index, {slice_id}* "
            f"FROM read_parquet({files})"
        )


def _list_literal(texts: list[str]) -> str:
    return "[" + ", ".join("'" + text.replace("'", "''") + "'" for text in texts) + "]"


# ---- the result ----


def _fetched(relation: DuckDBPyRelation, limits: Limits) -> tuple[pa.Table, bool]:
    most_bytes = _RESULT_BYTES if limits.bytes is None else limits.bytes
    batches, rows, size = [], 0, 0
    with relation.to_arrow_reader(_BATCH_ROWS) as reader:
        for batch in reader:
            rows, size = rows + batch.num_rows, size + batch.nbytes
            if size > most_bytes:
                raise _too_large(f"more than {most_bytes >> 20:,} MiB")
            batches.append(batch)
            if rows > limits.rows:
                break
        return pa.Table.from_batches(batches, reader.schema).slice(0, limits.rows), rows <= limits.rows


def plain_rows(table: pa.Table) -> list[list[object]]:
    """Rows as JSON can hold them."""
    columns = [[_plain(value) for value in _values(column)] for column in table.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def _values(column: pa.ChunkedArray) -> list[object]:
    """Values as Python's; of types whose range Python does not have, their texts. Raises LaptimeError without those."""
    try:
        return list(column.to_pylist())
    except (ValueError, OverflowError, pa.ArrowException):
        pass
    try:
        return list(column.cast(pa.string()).to_pylist())
    except pa.ArrowException:
        where = f"a column of type {column.type} holds times beyond the years 1 to 9999"
        raise LaptimeError("query failed", where=where, remedy="cast it to VARCHAR") from None


def _plain(value: object) -> object:
    """A value as JSON can hold it: integers stay exact, what is no number is null, times and the like are text."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value if value is None or isinstance(value, (str, int)) else str(value)


@contextmanager
def _time_limit(connection: DuckDBPyConnection, seconds: float) -> Iterator[None]:
    """Interrupts the connection when the time is up, again and again: an interrupt between two steps may get lost."""
    done, expired = threading.Event(), threading.Event()

    def watch() -> None:
        if done.wait(seconds):
            return
        expired.set()
        while not done.wait(0.05):
            connection.interrupt()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    except Exception:
        if expired.is_set():
            raise LaptimeError("query stopped", where=f"not done after {seconds:g} s", remedy=_NARROWER) from None
        raise
    finally:
        done.set()
        watcher.join()


def _refusal(why: str) -> LaptimeError:
    return LaptimeError("query refused", where=why, remedy=f"give one SELECT over {', '.join(SCHEMAS)}")


def _too_large(size: str) -> LaptimeError:
    return LaptimeError("query result too large", where=size, remedy="add LIMIT, or aggregate with GROUP BY")


def _failure(error: Exception) -> LaptimeError:
    import duckdb

    message = re.split(r"\n\s*\n|\nLINE \d", str(error).strip(), maxsplit=1)[0]
    if isinstance(error, duckdb.OutOfMemoryException):
        return LaptimeError("query failed", where=f"it needs more than {_MEMORY_LIMIT} of memory", remedy=_NARROWER)
    remedy = f"correct it; the tables are {', '.join(SCHEMAS)}"
    return LaptimeError("query failed", where=" ".join(message.split()), remedy=remedy)
