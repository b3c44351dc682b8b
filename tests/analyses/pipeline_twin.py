"""The data pipeline of a part of a recording, slowly: row by row, as docs/definitions.md says it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from laptime.analyses.parts import Part
from laptime.model.trace import Trace

Row = dict[str, Any]


def pipeline_twin(trace: Trace, part: Part) -> Row:
    """`data_bound`, `start_up_ns`, `queues` and the figures of operators."""
    steps = [row for row in trace.table("steps").arrow().to_pylist() if _holds(part, row["step"], row["start_ns"])]
    samples = trace.table("queue_samples").arrow().to_pylist()
    queues: dict[str, list[Row]] = {}
    for row in samples:
        queues.setdefault(row["queue"], []).append(row)
    figures = {name: _figures(trace, part, rows, steps) for name, rows in queues.items()}
    between = {name: each for name, each in figures.items() if queues[name][0]["stage"] != "pipeline"}
    return {
        "data_bound": _bound(trace, steps, queues, between),
        "start_up_ns": _start_ups(trace, part),
        "queues": [{"queue": name, "stage": queues[name][0]["stage"], **each} for name, each in between.items()],
        "operators": [_operator(trace, part, op, figures) for op in trace.table("pipeline_ops").arrow().to_pylist()],
    }


def _holds(part: Part, number: int, start: int) -> bool:
    return _in_time(part, start) and (part.steps is None or _numbered(part, number))


def _in_time(part: Part, time: int) -> bool:
    return (part.from_ns is None or part.from_ns <= time) and (part.to_ns is None or time < part.to_ns)


def _numbered(part: Part, number: int) -> bool:
    ends = [(first, last) for first, last in part.steps or ()]
    return any((first is None or first <= number) and (last is None or number <= last) for first, last in ends)


# ---- queues ----


def _figures(trace: Trace, part: Part, rows: list[Row], steps: list[Row]) -> Row:
    capacity = max((row["capacity"] for row in rows if row["capacity"] is not None), default=None)
    kept = [row for row in rows if _belongs(trace, part, row, steps)]
    if not all(_is_placed(trace, row) for row in rows):
        names = ("samples", "mean_size", "usage_share", "empty_count", "full_count")
        return {"capacity": capacity, **dict.fromkeys(names)}
    sizes = [row["size"] for row in kept]
    mean = sum(sizes) / len(sizes) if sizes else None
    return {
        "samples": len(sizes),
        "capacity": capacity,
        "mean_size": mean,
        "usage_share": None if mean is None or not capacity else mean / capacity,
        "empty_count": sizes.count(0),
        "full_count": sizes.count(capacity) if capacity else None,
    }


def _is_placed(trace: Trace, row: Row) -> bool:
    if row["step"] is not None and trace.steps.row_count:
        return True
    return row["ts_ns"] is not None and row["stage"] != "pipeline" and trace.meta.get("start_ups") is not None


def _belongs(trace: Trace, part: Part, row: Row, steps: list[Row]) -> bool:
    if row["step"] is not None:
        return row["step"] in [step["step"] for step in steps]
    if row["ts_ns"] is None or not _in_time(part, row["ts_ns"]):
        return False
    return part.steps is None or any(step["start_ns"] <= row["ts_ns"] < step["end_ns"] for step in steps)


# ---- operators ----


def _operator(trace: Trace, part: Part, op: Row, figures: dict[str, Row]) -> Row:
    every = [row for row in _slices(trace) if row["name"] == op["op_type"] and row["kind"] == "data"]
    timed = [row for row in every if row["dur_ns"] is not None]
    inside = [row for row in timed if _starts_in(part, row)]
    queue = None
    if op["queue_capacity"] is not None:
        own = figures.get(op["queue"] or "", {})
        samples = own.get("samples")
        queue = {
            "capacity": op["queue_capacity"],
            **{name: own.get(name) for name in ("mean_size", "usage_share")},
            "empty_share": own["empty_count"] / samples if samples else None,
            "samples": samples,
        }
    return {
        "op_id": op["op_id"],
        "count": len(inside) if timed else None,
        "total_ns": sum(row["dur_ns"] for row in inside) if timed else None,
        "output_queue": queue,
    }


def _starts_in(part: Part, row: Row) -> bool:
    in_step = part.steps is None or (row["step"] is not None and _numbered(part, row["step"]))
    return _in_time(part, row["start_ns"]) and in_step


def _slices(trace: Trace) -> list[Row]:
    table = trace.table("slices").arrow(["track_id", "start_ns", "dur_ns", "name", "kind", "step", "parent_id"])
    return list(table.to_pylist())


# ---- waits ----


def _bound(trace: Trace, steps: list[Row], queues: dict[str, list[Row]], between: dict[str, Row]) -> Row | None:
    watched = trace.meta.get("format") == "laptime"
    loader = _loader_waits(trace, steps, queues, between)
    recorded = _recorded_waits(trace, steps, between)
    return (loader or recorded) if watched else (recorded or loader)


def _recorded_waits(trace: Trace, steps: list[Row], between: dict[str, Row]) -> Row | None:
    told = trace.meta.get("minddata") or {}
    assert isinstance(told, dict)
    fetches = told.get("fetch_wait_ns")
    waits = fetches or (told.get("batches") or {}).get("wait_ns") or []
    numbers = [step["step"] for step in steps]
    inside = [(batch, wait) for batch, wait in enumerate(waits, start=1) if batch in numbers]
    if not inside:
        return None
    counted = [wait for batch, wait in inside if batch > 1 or len(waits) == 1]
    queue = between.get("device" if fetches else "host")
    total = sum(step["end_ns"] - step["start_ns"] for step in steps)
    return {
        "waits": None if queue is None else queue["empty_count"],
        "batches": len(inside),
        "wait_ns": sum(counted),
        "share_of_step": min(sum(counted) / total, 1.0) if total else None,
        "mean_wait_ns": _rounded(sum(counted), len(counted)),
        "first_wait_ns": inside[0][1] if inside[0][0] == 1 else None,
    }


def _loader_waits(trace: Trace, steps: list[Row], queues: dict[str, list[Row]], between: dict[str, Row]) -> Row | None:
    slices = _slices(trace)
    on_thread = [place for place, row in enumerate(slices) if row["track_id"] == trace.main_thread]
    data = [p for p in on_thread if slices[p]["kind"] == "data" and slices[p]["dur_ns"] is not None]
    data = [p for p in data if slices[p]["name"] == "next batch"] or data
    if trace.main_thread is None or not steps or not data:
        return None
    outer = [slices[p] for p in data if slices[p]["parent_id"] not in data]
    waited = sum(_covered(list(_merged([slices[p] for p in data])), step) for step in steps)
    batches = sum(_step_of(trace, row["start_ns"]) in [step["index"] for step in steps] for row in outer)
    total = sum(step["end_ns"] - step["start_ns"] for step in steps)
    empty = [each["empty_count"] for name, each in between.items() if queues[name][0]["stage"] == "process"]
    return {
        "waits": sum(empty) if empty and None not in empty else None,
        "batches": batches,
        "wait_ns": waited,
        "share_of_step": waited / total if total else None,
        "mean_wait_ns": _rounded(waited, batches),
        "first_wait_ns": None,
    }


def _step_of(trace: Trace, start: int) -> int | None:
    """`index` of the step that a batch asked for at that time belongs to."""
    steps = trace.table("steps").arrow().to_pylist()
    if start < steps[0]["start_ns"]:
        return None
    return next((step["index"] for step in steps if start < step["end_ns"]), None)


def _merged(rows: list[Row]) -> Iterator[tuple[int, int]]:
    last: tuple[int, int] | None = None
    for row in sorted(rows, key=lambda each: int(each["start_ns"])):
        start, end = row["start_ns"], row["start_ns"] + row["dur_ns"]
        if last is not None and start <= last[1]:
            last = (last[0], max(last[1], end))
            continue
        if last is not None:
            yield last
        last = (start, end)
    if last is not None:
        yield last


def _covered(spans: list[tuple[int, int]], step: Row) -> int:
    return sum(max(min(end, step["end_ns"]) - max(start, step["start_ns"]), 0) for start, end in spans)


def _rounded(total: int, count: int) -> int | None:
    return (2 * total + count) // (2 * count) if count else None


def _start_ups(trace: Trace, part: Part) -> list[int] | None:
    told = trace.meta.get("start_ups")
    if not isinstance(told, list):
        return None
    steps = trace.table("steps").arrow().to_pylist()
    own = [step for step in steps if part.steps is None or _numbered(part, step["step"])]
    return [
        end - start
        for start, end in told
        if _in_time(part, start)
        and (part.steps is None or any(step["start_ns"] <= start < step["end_ns"] for step in own))
    ]
