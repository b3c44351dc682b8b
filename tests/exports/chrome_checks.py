"""What is true of every exported timeline: its rows can be drawn as stacks, and it imports back equal."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

import pyarrow as pa

from laptime.importers.opening import open_run
from laptime.model.schema import SCHEMAS
from laptime.model.trace import Trace
from laptime.model.workspace import Workspace

Event = dict[str, object]

_FACTS = (
    "format",
    "rank",
    "world_size",
    "backend",
    "device_names",
    "device_memory_bytes",
    "base_unix_ns",
    "origin_ns",
    "switches",
    "main_thread",
)


def read_document(path: Path) -> dict[str, object]:
    """The JSON object of an exported file; decimals stay exact."""
    stored = path.read_bytes()
    if path.suffix == ".gz":
        stored = gzip.decompress(stored)
    elif path.suffix == ".zst":
        stored = pa.CompressedInputStream(pa.BufferReader(stored), "zstd").read()
    return json.loads(stored, parse_float=Decimal)  # type: ignore[no-any-return]


def events_of(path: Path) -> list[Event]:
    """The events of an exported file."""
    return read_document(path)["traceEvents"]  # type: ignore[return-value]


def assert_only_nests_or_follows(events: Iterable[Event]) -> None:
    """Each slice of a (pid, tid) lies inside the innermost one that is open when it starts, or none is open."""
    by_place: dict[tuple[object, object], list[tuple[int, int, object]]] = {}
    for event in events:
        if event["ph"] == "X":
            start, dur = _ns(event["ts"]), _ns(event.get("dur", 0))
            by_place.setdefault((event.get("pid"), event.get("tid")), []).append((start, -dur, event["name"]))
    for place, slices in by_place.items():
        open_ends: list[int] = []
        for start, minus_dur, name in sorted(slices, key=lambda entry: entry[:2]):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            end = start - minus_dur
            assert not open_ends or end <= open_ends[-1], f"{name!r} at {start} ns crosses another slice of {place}"
            open_ends.append(end)


def _ns(microseconds: object) -> int:
    ns = Decimal(str(microseconds)) * 1000
    assert ns == int(ns)
    return int(ns)


def import_alone(path: Path, workspace: Workspace) -> Trace:
    """The one trace of a file."""
    (trace,) = open_run(path, workspace=workspace).traces
    return trace


def assert_equal_traces(first: Trace, second: Trace) -> None:
    """All tables and all facts are equal; ops and stacks may be numbered otherwise."""
    for fact in _FACTS:
        assert first.meta.get(fact) == second.meta.get(fact), fact
    for name in [name for name in SCHEMAS if name not in ("ops", "stacks")]:
        left, right = plain_table(first, name), plain_table(second, name)
        for column in left.column_names:
            assert left[column].equals(right[column]), f"{name}.{column}"
    for name, identity in (("ops", "op_id"), ("stacks", "stack_id")):
        assert _contents(first, name, identity) == _contents(second, name, identity), name
    assert _sorted_rows(first, "ops", "op_id") == _sorted_rows(second, "ops", "op_id")


def plain_table(trace: Trace, name: str) -> pa.Table:
    """A table with texts for codes and numbers that may be NaN, without the numbers of ops and stacks."""
    table = trace.table(name).arrow()
    kept = [key for key in table.column_names if key not in ("op_id", "stack_id")]
    as_text = [pa.types.is_dictionary(table[key].type) or pa.types.is_floating(table[key].type) for key in kept]
    columns = [table[key].cast(pa.string()) if text else table[key] for key, text in zip(kept, as_text, strict=True)]
    return pa.table(dict(zip(kept, columns, strict=True))).combine_chunks()


def _contents(trace: Trace, name: str, identity: str) -> list[object]:
    """For each slice the rows that its op or stack consists of."""
    rows: dict[object, list[tuple[object, ...]]] = {}
    for row in trace.table(name).arrow().to_pylist():
        rows.setdefault(row.pop(identity), []).append(tuple(row.values()))
    return [rows.get(code) for code in trace.slices.objects(identity)]


def _sorted_rows(trace: Trace, name: str, identity: str) -> list[str]:
    return sorted(repr(row) for row in trace.table(name).arrow().drop_columns([identity]).to_pylist())
