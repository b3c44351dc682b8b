"""Tables as clients want them: JSON by default, an Arrow stream for large ones, CSV to keep."""

from __future__ import annotations

import json
from collections.abc import Mapping
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


def arrow_of(table: pa.Table, facts: Mapping[str, object]) -> bytes:
    """A table as an Arrow stream; what the JSON says beside its rows stands in the schema's metadata."""
    told = table.replace_schema_metadata({"laptime": json.dumps(facts)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, told.schema) as writer:
        writer.write_table(told)
    return bytes(sink.getvalue())


def csv_of(table: pa.Table) -> bytes:
    """A table as CSV (RFC 4180) with a line of column names; unknown is empty."""
    text = pa.BufferOutputStream()
    csv.write_csv(table, text)
    return bytes(text.getvalue())


def download(name: str) -> dict[str, str]:
    """Headers of an answer that is kept as a file."""
    plain = "".join(each if each.isascii() and (each.isalnum() or each in "-_.") else "-" for each in name)
    return {"Content-Disposition": f'attachment; filename="{plain}"'}


CONTENT: dict[int | str, dict[str, Any]] = {200: {"content": {ARROW: {}, "text/csv": {}}}}  # Any: as FastAPI types it
"""What a table may be answered as, for its documentation."""
