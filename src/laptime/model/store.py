"""Writes the tables of a trace as Parquet files, and opens them again."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from laptime.model.schema import SCHEMAS
from laptime.model.tables import ARGS_ROWS, BuiltTables
from laptime.model.trace import Trace

_SLICE_ROWS = 128 << 10
_ASCENDING = {"start_ns", "parent_id", "ts_ns", "from_id", "to_id"}
"""Columns whose values differ little from row to row: smaller, and sooner written, as differences."""


def write_trace(built: BuiltTables, folder: Path) -> None:
    """Writes all tables of a trace into an existing folder."""
    for name, table in built.tables.items():
        rows = _SLICE_ROWS if name == "slices" else len(table) or 1
        pq.write_table(
            table,
            folder / f"{name}.parquet",
            compression="zstd",
            row_group_size=rows,
            write_statistics=False,
            use_dictionary=_repeating(table) or False,
            column_encoding=dict.fromkeys(_ASCENDING & set(table.column_names), "DELTA_BINARY_PACKED") or None,
        )
    with pq.ParquetWriter(folder / "args.parquet", SCHEMAS["args"], compression="zstd", use_dictionary=False) as writer:
        for batch in built.args:
            writer.write_batch(batch, row_group_size=ARGS_ROWS)
    (folder / "meta.json").write_text(json.dumps(built.meta))


def _repeating(table: pa.Table) -> list[str]:
    """Columns worth a dictionary: texts. Times and ids are all different; trying costs more than it saves."""
    return [
        field.name for field in table.schema if pa.types.is_dictionary(field.type) or pa.types.is_string(field.type)
    ]


def read_trace(folder: Path) -> Trace:
    """Opens a stored trace."""
    return Trace(folder, json.loads((folder / "meta.json").read_text()))
