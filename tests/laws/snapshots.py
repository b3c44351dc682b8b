"""What a run must yield, small enough to be read: counts by kind, tracks, steps, budgets, device totals, events."""

from __future__ import annotations

from collections import Counter
from typing import Any

from laptime.analyses.report import report
from laptime.model.trace import Run, Trace

Json = dict[str, Any]

_META = ("rank", "world_size", "backend", "origin_ns", "base_unix_ns", "switches", "main_thread")
_COUNTED = (("slices", "kind"), ("slices", "phase"), ("slices", "category"), ("flows", "kind"), ("instants", "name"))


def snapshot_of(run: Run) -> Json:
    """The run's report and the shape of its tables, as JSON."""
    result: Json = report(run)
    ranks = [_of_rank(trace, entry) for trace, entry in zip(run.traces, result["ranks"], strict=True)]
    return {
        "run": {key: value for key, value in result["run"].items() if key != "path"},
        "ranks": ranks,
        "not_recorded": [entry["what"] for entry in result["not_recorded"]],
        "warnings": result["warnings"],
    }


def _of_rank(trace: Trace, entry: Json) -> Json:
    names = ("ops", "slices", "args", "instants", "flows", "counters", "allocations", "steps", "stacks")
    return {
        "source": entry["source"],
        "meta": {key: trace.meta.get(key) for key in _META},
        "events": entry["events"],
        "rows": {name: trace.table(name).row_count for name in names},
        "counts": {f"{table}.{column}": _counts(trace, table, column) for table, column in _COUNTED},
        "tracks": [_line(row, "kind", "name", "device", "stream", "slice_count") for row in _rows(trace, "tracks")],
        "host": entry["host"],
        "device_total": entry["device_total"],
        "devices": [_line(device, "device", "name", "ops") for device in entry["devices"]],
        "step_summary": entry["step_summary"],
        "steps": [_step(row) for row in _rows(trace, "steps")],
        "budgets": [list(step["budget"].values()) if step["budget"] else None for step in entry["steps"]],
        "top_ops": [_line(row, "name", "count", "total_ns", "self_ns") for row in entry["top_ops"]],
    }


def _counts(trace: Trace, table: str, column: str) -> dict[str, int]:
    found = Counter(str(value) for value in trace.table(table).objects(column))
    return dict(sorted(found.items()))


def _rows(trace: Trace, table: str) -> list[Json]:
    return list(trace.table(table).arrow().to_pylist())


def _line(row: Json, *keys: str) -> list[object]:
    return [row[key] for key in keys]


def _step(row: Json) -> list[object]:
    times = ("start_ns", "end_ns", "forward_start_ns", "backward_end_ns", "optimizer_start_ns")
    return _line(row, "label", "source", "complete", *times)
