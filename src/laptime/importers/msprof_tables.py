"""The exported tables of msprof: `op_summary`, `step_trace` and `op_statistic` as CSV.

Names: `{table}_{device}_{model}_{iteration}.csv` (CANN to 2023), `{table}_{time}.csv` (later), also `_slice_{n}` before
the numbers. Columns differ by version: `Task Start Time(us)`, `Task Start Time` (us too) and `Start Time(us)` are one
column. Tables count only for what the timelines do not hold. `op_summary` has no waits and copies, and not in all
versions collectives: the `Reduce` columns of `step_trace` stand for those where it has none.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa

from laptime.importers.ascend_output_tables import TextTable, bytes_of, read_table
from laptime.importers.msprof_exports import Exports, Key, Row
from laptime.model.arrays import BoolArray, IntArray, distinct_rows
from laptime.model.builder import TraceBuilder, Warnings
from laptime.model.clock import ns_from_mixed
from laptime.model.vocabulary import NULL

_NAME = re.compile(r"^(?P<kind>op_summary|step_trace|op_statistic)(?:_slice_\d+)?_(?P<numbers>\d+(?:_\d+){0,3})\.csv$")
_TITLE = re.compile(r"^(?P<name>.*?)\s*(?:\((?P<unit>us|ns|ms)\))?$")
_EXPONENT = {"ns": -3, "us": 0, "ms": 3, None: 0}
"""Powers of ten to microseconds."""
_START, _DURATION = ("Task Start Time", "Start Time"), ("Task Duration", "Duration")
_DEVICE = ("Device_id", "Device ID", "Device Id")
_NO_TIME = ("", "N/A")


@dataclass(frozen=True)
class Summary:
    """Rows of all `op_summary` files, each once; start and duration in ns."""

    table: TextTable
    start: IntArray
    dur: IntArray
    keys: list[Key]
    """What the files are about."""

    def where(self, chosen: BoolArray) -> Summary:
        """Some of the rows."""
        return Summary(self.table.where(chosen), self.start[chosen], self.dur[chosen], self.keys)

    @property
    def device(self) -> IntArray:
        """Device that each row names; NULL where none is told."""
        return self.table.integers(*_DEVICE)


def table_files(files: Sequence[Path], kind: str) -> list[tuple[Key, Path]]:
    """Tables of a kind, in order of name: those of one file per iteration where there are any."""
    found = []
    for file in files:
        match = _NAME.match(file.name)
        if match and match["kind"] == kind:
            numbers = [int(number) for number in match["numbers"].split("_")]
            found.append((Key(*numbers[1:]) if len(numbers) == 3 else Key(None, None), file))
    split = [entry for entry in found if entry[0].iteration is not None]
    return sorted(split or found, key=lambda entry: entry[1].name)


def has_tables(files: Sequence[Path]) -> bool:
    """Whether a table is there that tells what ran."""
    return any(_NAME.match(file.name) for file in files)


def read_summary(files: Sequence[Path], device: int | None, builder: TraceBuilder) -> Summary | None:
    """Executions of operators on a device (None: on all)."""
    found = [
        (key, table)
        for key, file in table_files(files, "op_summary")
        if (table := read_table(file, builder.warnings)) is not None and len(table)
    ]
    if not found:
        return None
    tables = [table for _, table in found]
    start, dur = (np.concatenate([_times_ns(table, names) for table in tables]) for names in (_START, _DURATION))
    rows = Summary(_joined(tables), start, dur, [key for key, _ in found])
    builder.read += len(start)
    file = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    rows = kept(rows, _of_one_file(rows, file), "repeated", builder)
    here = np.full(len(rows.start), True) if device is None else (rows.device == device) | (rows.device == NULL)
    return kept(rows, here, "not_shown", builder)


def kept(rows: Summary, chosen: BoolArray, reason: str, builder: TraceBuilder) -> Summary:
    """Some of the rows; the others are counted as dropped."""
    builder.drop(reason, int(np.count_nonzero(~chosen)))
    return rows.where(chosen)


def _times_ns(table: TextTable, names: tuple[str, ...]) -> IntArray:
    """Times of the first column of these names, whatever unit its title tells."""
    titles = {match["name"]: (title, match["unit"]) for title in table.columns if (match := _TITLE.match(title))}
    title, unit = next((titles[name] for name in names if name in titles), ("", None))
    if not _EXPONENT[unit]:
        return table.times_ns(title)
    return ns_from_mixed([_in_us(text, unit) for text in table.texts(title)])


def _in_us(text: str, unit: str | None) -> str:
    """A decimal in another unit as microseconds."""
    try:
        return f"{Decimal(text).scaleb(_EXPONENT[unit]):f}"
    except InvalidOperation:
        return text


def _joined(tables: Sequence[TextTable]) -> TextTable:
    """One table below the other; a column that one lacks is unknown there."""
    names = dict.fromkeys(name for table in tables for name in table.columns)
    columns = {
        name: pa.concat_arrays([table.columns[name] if table.has(name) else table.column() for table in tables])
        for name in names
    }
    return TextTable(columns, sum(len(table) for table in tables))


def _of_one_file(rows: Summary, file: IntArray) -> BoolArray:
    """Rows that no earlier file has: each export of a profile tells all that was recorded."""
    names = [rows.table.coded(*titles).codes for titles in (("Op Name",), ("Stream ID",), ("Task ID",), _DEVICE)]
    first, place = distinct_rows([*names, rows.start, rows.dur])
    return np.asarray(file == file[first][place])


# ---- steps ----


def add_step_rows(files: Sequence[Path], device: int | None, exports: Exports, builder: TraceBuilder) -> None:
    """Iterations of `step_trace` tables as rows of the step trace, where no timeline has them."""
    seen: set[tuple[str, str, int]] = set()
    for _, file in table_files(files, "step_trace"):
        header, rows = _rows_of(file, builder.warnings)
        builder.read += len(rows)
        for row in rows:
            cells = _Cells(header, row)
            if device is not None and cells.text("Device_id") not in (str(device), *_NO_TIME):
                builder.drop("not_shown")
                continue
            made = _iteration(cells)
            if made is None or (made.thread, made.name, made.start) in seen:
                builder.drop("bad_line" if made is None else "repeated")
                continue
            seen.add((made.thread, made.name, made.start))
            exports.rows["step"] += [made, *_reductions(cells, made)]


def _rows_of(file: Path, warnings: Warnings) -> tuple[list[str], list[list[str]]]:
    """Header, whose names may repeat, and rows."""
    text = bytes_of(file, warnings).decode("utf-8-sig", "replace").replace("\0", "")
    rows: list[list[str]] = []
    try:
        rows.extend([cell.strip() for cell in row] for row in csv.reader(io.StringIO(text, newline="")) if row)
    except csv.Error as error:
        warnings.add("other", f"{file.name}: not a table after row {len(rows):,} ({error})")
    return (rows[0], rows[1:]) if rows else ([], [])


@dataclass(frozen=True)
class _Cells:
    """A row of a table whose column names may repeat."""

    header: list[str]
    row: list[str]

    def all(self, name: str) -> Iterator[str]:
        """Texts of the columns of that name, in us where they are times."""
        for title, text in zip(self.header, self.row, strict=False):
            match = _TITLE.match(title)
            if match and match["name"] == name:
                yield _in_us(text, match["unit"]) if _EXPONENT[match["unit"]] else text

    def text(self, name: str) -> str:
        """The first of them; "" where there is none."""
        return next(self.all(name), "")

    def ns(self, name: str) -> int:
        """Nanoseconds of the first of them."""
        return _ns(self.text(name))


def _ns(text: str) -> int:
    return NULL if text in _NO_TIME else int(ns_from_mixed([text])[0])


def _iteration(cells: _Cells) -> Row | None:
    """None where the row tells no time."""
    number, end, lasts = cells.text("Iteration ID"), cells.ns("Iteration End"), cells.ns("Iteration Time")
    if NULL in (end, lasts) or not number:
        return None
    args: dict[str, object] = {name: text for name in ("FP Start", "BP End") if (text := cells.text(name))}
    model = cells.text("Model ID")
    return _row(f"Model ID:{model}", f"Iteration {number}", end - lasts, lasts, args)


def _reductions(cells: _Cells, iteration: Row) -> list[Row]:
    """Collectives that the step trace tells."""
    pairs = zip(cells.all("Reduce Start"), cells.all("Reduce Duration"), strict=False)
    number = iteration.name.removeprefix("Iteration ")
    found = []
    for place, (start, lasts) in enumerate((_ns(start), _ns(lasts)) for start, lasts in pairs):
        if NULL not in (start, lasts):
            found.append(_row(iteration.thread, f"Reduce_{number}_{place}", start, lasts, {}))
    return found


def _row(thread: str, name: str, start: int, dur: int, args: dict[str, object]) -> Row:
    return Row(Key(None, None), thread, name, start, dur, args, msgspec.json.encode(args) if args else b"")


# ---- sums ----


@dataclass(frozen=True)
class Sums:
    """Executions of an operator type on a kind of core, and their time."""

    op_type: str
    core: str
    count: int
    total_ns: int


def statistic_rows(files: Sequence[Path], device: int | None, builder: TraceBuilder) -> list[Sums]:
    """Sums of the last `op_statistic` that was exported."""
    last = table_files(files, "op_statistic")[-1:]
    table = read_table(last[0][1], builder.warnings) if last else None
    if table is None:
        return []
    own = table.integers(*_DEVICE)
    here = np.full(len(table), True) if device is None else (own == device) | (own == NULL)
    builder.read += len(table)
    builder.drop("not_shown", int(np.count_nonzero(~here)))
    table = table.where(here)
    types, cores = table.texts("OP Type", "Op Type"), table.texts("Core Type")
    numbers = (table.integers("Count").tolist(), _times_ns(table, ("Total Time",)).tolist())
    rows = zip(types, cores, *numbers, strict=True)
    found = [Sums(kind, core, count, total) for kind, core, count, total in rows if kind and NULL not in (count, total)]
    builder.drop("unreadable", len(table) - len(found))
    return found
