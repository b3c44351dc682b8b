"""CSV tables of Ascend's profilers: what columns hold, whichever way they were read."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path

import numpy as np
import pytest

from laptime.importers.ascend_output_args import spooled_args
from laptime.importers.ascend_output_tables import TextTable, read_table
from laptime.model.builder import TraceBuilder, Warnings
from laptime.model.vocabulary import NULL

PIECES = (
    "1736408883657086.220\t",
    "N/A",
    "",
    '"""2,3;4"""',
    '"a\n b"',
    "ab\\c",
    "\x07",
    "漢字",
    " x ",
    "12",
    "null",
    "Ä\t",
)


def _table(tmp_path: Path, text: str) -> tuple[TextTable, Warnings]:
    path, warnings = tmp_path / "t.csv", Warnings()
    path.write_bytes(text.encode())
    table = read_table(path, warnings)
    assert table is not None
    return table, warnings


def _text(seed: int, rows: int = 60) -> str:
    draw = random.Random(seed)
    lines = ["Name,Start Time(us)\t, Type ,Name"]
    lines += [",".join(draw.choice(PIECES) for _ in range(4)) for _ in range(rows)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(8))
def test_columns_are_those_that_the_csv_module_finds(tmp_path: Path, seed: int) -> None:
    """Read whole, and row by row where the last one is cut."""
    text = _text(seed)
    rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text, newline=""))][1:]
    unknown = {"N/A", "null"}
    for ending in ("", "cut"):
        table, warnings = _table(tmp_path, text + ending)
        for place, name in enumerate(("Name", "Start Time(us)", "Type")):
            expected = ["" if row[place] in unknown else row[place] for row in rows]
            assert table.texts(name)[: len(rows)] == expected
            coded = table.coded("missing", name)
            assert [coded.texts[code] for code in coded.codes.tolist()][: len(rows)] == expected
        assert len(table) == len(rows) + bool(ending)
        assert bool(warnings.counts) == bool(ending)


def test_numbers_and_times_of_a_column(tmp_path: Path) -> None:
    table, _ = _table(tmp_path, "a,b\n1736408883657086.2204\t,3\n1.5e3,x\nN/A,\n12,1e99\n")
    assert table.times_ns("a").tolist() == [1736408883657086220, 1_500_000, NULL, 12_000]
    assert table.integers("b", factor=1000).tolist() == [3000, NULL, NULL, NULL]
    assert table.times_ns("missing").tolist() == table.integers("missing").tolist() == [NULL] * 4
    assert table.has("c", "b") and not table.has("c")


@pytest.mark.parametrize("rows", [0, 1, 60, 20_000])
def test_rows_become_arguments(tmp_path: Path, rows: int) -> None:
    """Few distinct texts, many, and those that JSON must escape."""
    text = "\n".join(
        [
            "Name,Type,Ratio,None",
            *(f'"op ""{row}"" \\ Ä",{PIECES[row % 3].strip()},{row / 7:.3f},' for row in range(rows)),
        ]
    )
    table, _ = _table(tmp_path, text)
    builder = TraceBuilder(tmp_path)
    starts, lengths = spooled_args(table, builder)
    found = builder.spool.reader().gather(starts, lengths.astype(np.int32)).to_pylist()
    expected = [
        {name: value for name, value in row.items() if value not in ("", "N/A")}
        for row in csv.DictReader(io.StringIO(text))
    ]
    assert [json.loads(each or b"") for each in found] == expected
