"""Tables as clients want them: JSON by default, an Arrow stream for large ones, CSV to keep."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pyarrow as pa
from fastapi import Request
from pyarrow import csv

ARROW = "application/vnd.apache.arrow.stream"
CSV = "text/csv; charset=utf-8"
Format = Literal["json", "arrow", "csv"]


def wanted_format(request: Request, asked: Format | None) -> Format:
    """What `?format=` says, else the Accept header."""
    if asked is not None:
        return asked
    accepted = request.headers.get("accept", "")
    return "arrow" if ARROW in accepted else "csv" if accepted.startswith("text/csv") else "json"


def arrow_of(rows: Sequence[Mapping[str, object]], facts: Mapping[str, object]) -> bytes:
    """Rows as an Arrow stream; what the JSON says beside its rows stands in the schema's metadata."""
    table = _table(rows).replace_schema_metadata({"laptime": json.dumps(facts)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def csv_of(rows: Sequence[Mapping[str, object]]) -> bytes:
    """Rows as CSV; unknown is empty."""
    if not rows:
        return b""
    text = pa.BufferOutputStream()
    csv.write_csv(_table(rows), text)
    return bytes(text.getvalue())


def download(name: str) -> dict[str, str]:
    """Headers of an answer that is kept as a file."""
    plain = "".join(each if each.isascii() and (each.isalnum() or each in "-_.") else "-" for each in name)
    return {"Content-Disposition": f'attachment; filename="{plain}"'}


def _table(rows: Sequence[Mapping[str, object]]) -> pa.Table:
    """Rows as columns; objects in them as JSON text."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pa.table({name: _column([row.get(name) for row in rows]) for name in names})


def _column(values: list[object]) -> pa.Array:
    plain = [json.dumps(value) if isinstance(value, (dict, list)) else value for value in values]
    try:
        return pa.array(plain)
    except (pa.ArrowException, OverflowError):  # mixed types
        return pa.array([None if value is None else str(value) for value in plain])


CONTENT: dict[int | str, dict[str, Any]] = {200: {"content": {ARROW: {}, "text/csv": {}}}}  # Any: as FastAPI types it
"""What a table may be answered as, for its documentation."""
