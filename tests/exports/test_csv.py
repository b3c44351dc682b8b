"""Tables as CSV: every row and value, text for codes, nothing for unknown."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pyarrow as pa
import pytest

from laptime.errors import LaptimeError
from laptime.exports.csv import write_csv
from laptime.importers.opening import open_run
from laptime.model.schema import SCHEMAS
from laptime.model.workspace import Workspace
from tests.conftest import EXAMPLE, SAMPLES

MEMORY = SAMPLES / "pytorch" / "memory.pt.trace.json.gz"


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines(keepends=True)))


@pytest.mark.parametrize("table", SCHEMAS)
def test_every_row_of_every_table_is_written(table: str, tmp_path: Path, workspace: Workspace) -> None:
    trace = open_run(MEMORY, workspace=workspace).traces[0]
    write_csv(trace, table, tmp_path / "table.csv")
    rows = rows_of((tmp_path / "table.csv").read_text())
    stored = trace.table(table).arrow().to_pylist()
    assert len(rows) == len(stored)
    for row, expected in zip(rows, stored, strict=True):
        own = {name: "" if value is None else str(value) for name, value in expected.items()}
        assert {name: _as_python(table, name, row[name]) for name in SCHEMAS[table].names} == own


def _as_python(table: str, column: str, text: str) -> str:
    kind = SCHEMAS[table].field(column).type
    if pa.types.is_floating(kind):
        return str(float(text))
    return text.capitalize() if pa.types.is_boolean(kind) else text


def test_slices_and_args_begin_with_the_slice_id(tmp_path: Path, workspace: Workspace) -> None:
    trace = open_run(MEMORY, workspace=workspace).traces[0]
    for table in ("slices", "args"):
        write_csv(trace, table, tmp_path / "table.csv")
        rows = rows_of((tmp_path / "table.csv").read_text())
        assert next(iter(rows[0])) == "slice_id"
        assert [int(row["slice_id"]) for row in rows] == list(range(trace.slices.row_count))


def test_several_ranks_are_told_apart(tmp_path: Path, workspace: Workspace) -> None:
    run = open_run(EXAMPLE, workspace=workspace)
    write_csv(run, "slices", tmp_path / "slices.csv.gz")
    text = gzip.decompress((tmp_path / "slices.csv.gz").read_bytes()).decode()
    assert text.startswith("rank_index,slice_id,track_id,start_ns,")
    rows = rows_of(text)
    counts = [sum(row["rank_index"] == str(index) for row in rows) for index in range(len(run.traces))]
    assert counts == [trace.slices.row_count for trace in run.traces]


def test_unknown_and_empty_stay_apart_and_odd_names_survive(tmp_path: Path, workspace: Workspace) -> None:
    name = 'a "b", c\nd'
    event = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 1}
    source = tmp_path / "odd.json"
    source.write_text(json.dumps([event, {**event, "name": "", "ts": 2}]))
    write_csv(open_run(source, workspace=workspace), "slices", tmp_path / "slices.csv.zst")
    text = pa.CompressedInputStream(str(tmp_path / "slices.csv.zst"), "zstd").read().decode()
    assert '0,0,0,,0,0,,"a ""b"", c\nd","op",' in text
    assert '1,0,1000,,0,0,,"","op",' in text


def test_an_unknown_table_is_refused(tmp_path: Path, workspace: Workspace) -> None:
    run = open_run(MEMORY, workspace=workspace)
    with pytest.raises(LaptimeError, match="no such table: nonsense: tables: tracks, ops, slices"):
        write_csv(run, "nonsense", tmp_path / "table.csv")
    assert list(tmp_path.glob("*.csv*")) == []
