"""What was read of each recording, what was kept and dropped of it, and the tables it became.

Definitions: docs/definitions.md, "Events read, kept and dropped".
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pyarrow as pa

from laptime.analyses.recorded import not_recorded
from laptime.model.schema import SCHEMAS
from laptime.model.trace import Run, Trace

Json = dict[str, object]
_FACTS = (
    "framework_version",
    "world_size",
    "backend",
    "device_names",
    "device_memory_bytes",
    "device_kernels_recorded",
    "switches",
)
"""Facts of `meta` that tell how the recording was made."""


@dataclass(frozen=True)
class Contents:
    """All recordings of a run."""

    sources: list[Json]
    warnings: list[Json]
    not_recorded: list[dict[str, str]]


def contents(run: Run) -> Contents:
    """What was read, what became of it, and what is wrong or missing."""
    return Contents([_source(trace) for trace in run.traces], warnings(run), not_recorded(run))


def warnings(run: Run) -> list[Json]:
    """What is wrong with the recordings, summed over the ranks, and with the run itself."""
    counts: Counter[tuple[str, str]] = Counter()
    for trace in run.traces:
        for row in _list(trace.meta["warnings"]):
            counts[str(row["code"]), str(row["message"])] += int(str(row["count"]))
    rows: list[Json] = [
        {"code": code, "message": message, "count": count} for (code, message), count in sorted(counts.items())
    ]
    return rows + run.notes


def _source(trace: Trace) -> Json:
    meta = trace.meta
    return {
        "rank": trace.rank,
        "source": trace.source,
        "format": meta.get("format"),
        "framework": meta.get("framework"),
        "events": meta["events"],
        "clock": {"base_unix_ns": meta.get("base_unix_ns"), "origin_ns": meta.get("origin_ns")},
        "facts": {key: meta[key] for key in _FACTS if meta.get(key) not in (None, {}, [])},
        "warnings": sorted(_list(meta["warnings"]), key=lambda row: (str(row["code"]), str(row["message"]))),
        "tables": [_table(trace, name) for name in SCHEMAS],
    }


def _table(trace: Trace, name: str) -> Json:
    columns = [{"name": field.name, "type": _type(field.type)} for field in SCHEMAS[name]]
    return {"name": name, "rows": trace.table(name).row_count, "columns": columns}


def _type(told: pa.DataType) -> str:
    """A column's type as a query sees it."""
    return "text" if pa.types.is_dictionary(told) or "string" in str(told) else str(told)


def _list(value: object) -> list[Json]:
    return value if isinstance(value, list) else []
