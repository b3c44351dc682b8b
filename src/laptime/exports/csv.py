"""A table of the trace model as comma-separated values (RFC 4180), with one line of column names.

Unknown is an empty field and an empty text is `""`, so that the two stay apart. `slices` and `args` begin with
`slice_id`, which is the row number in the store; a run of several traces begins with `rank_index`, the place of the
trace in the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from laptime.errors import LaptimeError
from laptime.exports.outputs import open_output
from laptime.model.schema import SCHEMAS
from laptime.model.trace import Run, Trace

_ROWS = 16 << 10
_NUMBERED = ("slices", "args")
"""Tables whose row number is the slice's id."""


def write_csv(recording: Trace | Run, table: str, target: Path) -> None:
    """Writes a table of one trace, or of all traces of a run, block by block; `.gz` and `.zst` are compressed."""
    if table not in SCHEMAS:
        raise LaptimeError("no such table", where=table, remedy=f"tables: {', '.join(SCHEMAS)}")
    traces = [recording] if isinstance(recording, Trace) else recording.traces
    options = csv.WriteOptions(include_header=False)
    with open_output(target) as output:
        output.write(",".join(_column_names(table, several=len(traces) > 1)).encode() + b"\n")
        for rank_index, trace in enumerate(traces):
            for block in _blocks(trace, table):
                if len(traces) > 1:
                    block = _with_first(block, "rank_index", pa.repeat(pa.scalar(rank_index, pa.int64()), len(block)))
                text = pa.BufferOutputStream()
                csv.write_csv(block, text, options)
                output.write(memoryview(text.getvalue()))


def _column_names(table: str, *, several: bool) -> list[str]:
    return ["rank_index"] * several + ["slice_id"] * (table in _NUMBERED) + list(SCHEMAS[table].names)


def _blocks(trace: Trace, table: str) -> Iterator[pa.Table]:
    first = 0
    with pq.ParquetFile(trace.folder / f"{table}.parquet") as stored:
        for batch in stored.iter_batches(batch_size=_ROWS):
            block = pa.table({name: _plain(batch[name]) for name in SCHEMAS[table].names})
            if table in _NUMBERED:
                block = _with_first(block, "slice_id", pa.array(range(first, first + len(block)), pa.int64()))
            yield block
            first += len(block)


def _plain(column: pa.Array) -> pa.Array:
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column


def _with_first(block: pa.Table, name: str, column: pa.Array) -> pa.Table:
    return block.add_column(0, name, column)
