"""The report of a run: every number of `laptime report`, as the JSON contract names it.

Definitions: docs/definitions.md.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from laptime.analyses.averages import mean, mean_parts, quantile
from laptime.analyses.budget import Budget, step_budgets
from laptime.analyses.device import covered_span, device_rows, device_times, devices_of, work_of
from laptime.analyses.operators import operator_table
from laptime.analyses.recorded import not_recorded
from laptime.analyses.selection import Selection
from laptime.analyses.stages import pipeline_stages
from laptime.analyses.syncs import sync_rows, waits
from laptime.model.trace import Run, Trace
from laptime.model.vocabulary import KIND_CODE, NULL, TRACK_KINDS

SCHEMA_VERSION = 1
TOP_OPS = 5
"""Operators and kernels that the report lists."""
_TOP = Selection(sort="self_ns", limit=TOP_OPS)

_THREAD = TRACK_KINDS.index("thread")


def report(run: Run) -> dict[str, object]:
    """`laptime report` as JSON."""
    ranks = [
        {**rank_report(trace), "offset_ns": offset} for trace, offset in zip(run.traces, run.offsets_ns, strict=True)
    ]
    first = run.traces[0].meta
    stages = pipeline_stages(run)
    return {
        "schema_version": SCHEMA_VERSION,
        "run": {
            "path": run.path,
            "format": first.get("format"),
            "framework": first.get("framework"),
            "framework_version": first.get("framework_version"),
            "world_size": next(
                (t.meta["world_size"] for t in run.traces if t.meta.get("world_size") is not None), None
            ),
            "ranks": [trace.rank for trace in run.traces],
            "pipeline_stages": stages.as_json() if stages else None,
        },
        "ranks": ranks,
        "findings": [],
        "not_recorded": not_recorded(run),
        "warnings": _warnings(run) + (stages.warnings if stages else []),
    }


def rank_report(trace: Trace) -> dict[str, object]:
    """One entry of `ranks`."""
    trace.slices.load("track_id", "start_ns", "dur_ns", "kind")
    devices, together = device_times(trace)
    budgets = step_budgets(trace)
    steps = _steps(trace, budgets)
    top_ops = operator_table(trace, by="name", selection=_TOP)
    return {
        "rank": trace.rank,
        "source": trace.source,
        "format": trace.meta.get("format"),
        "framework": trace.meta.get("framework"),
        "events": trace.meta["events"],
        "devices": [device.as_json() for device in devices],
        "device_total": together.as_json() if together else None,
        "host": _host(trace, has_device=together is not None),
        "step_summary": step_summary(steps, budgets, skip_first=bool(trace.meta.get("first_step_without_begin"))),
        "steps": steps,
        "top_ops": top_ops.rows,
        "top_ops_on": top_ops.on,
        "top_syncs": waits(trace, has_device=together is not None)[:TOP_OPS],
        "top_kernels": operator_table(trace, by="kernel", selection=_TOP).rows if together else [],
    }


def _steps(trace: Trace, budgets: list[Budget | None]) -> list[dict[str, object]]:
    table = trace.steps.arrow().to_pylist()
    busy = _busy_by_device(trace)
    first, last = covered_span(trace)
    return [
        {
            "step": row["step"],
            "index": row["index"],
            "window": row["window"],
            "label": row["label"],
            "start_ns": row["start_ns"],
            "dur_ns": row["end_ns"] - row["start_ns"],
            "source": row["source"],
            "complete": row["complete"],
            "budget": budget.as_json() if budget else None,
            "devices": [{"device": device, "busy_ns": int(each[place])} for device, each in busy]
            if row["start_ns"] >= first and row["end_ns"] <= last
            else [],
        }
        for place, (row, budget) in enumerate(zip(table, budgets, strict=True))
    ]


def _busy_by_device(trace: Trace) -> list[tuple[int | None, np.ndarray]]:
    rows = device_rows(trace)
    rows = rows[trace.slices["dur_ns"][rows] != NULL]
    device = devices_of(trace, rows)
    start, end = trace.steps["start_ns"], trace.steps["end_ns"]
    return [
        (None if key == NULL else key, work_of(trace, rows[device == key]).busy.within(start, end))
        for key in np.unique(device).tolist()
    ]


def step_summary(
    steps: list[dict[str, object]], budgets: list[Budget | None], *, skip_first: bool = False
) -> dict[str, object] | None:
    """Mean, median and p90 of the complete steps, and the means of their budgets; None without such steps.

    `skip_first` leaves out the first step of each window, for sources that do not tell where it began.
    """
    used = [(step, budget) for step, budget in zip(steps, budgets, strict=True) if step["complete"] and budget]
    if skip_first:
        begun = {step["window"]: step["index"] for step in reversed(steps)}
        used = [pair for pair in used if begun[pair[0]["window"]] != pair[0]["index"]] or used
    if not used:
        return None
    durations = [budget.total_ns for _, budget in used]
    return {
        "steps_used": len(used),
        "mean_ns": mean(durations),
        "median_ns": quantile(durations, 50),
        "p90_ns": quantile(durations, 90),
        "budget": mean_budget([budget for _, budget in used]).as_json(),
    }


def mean_budget(budgets: list[Budget]) -> Budget:
    """Means of the parts, which sum to the mean total to the nanosecond."""
    total = mean([b.total_ns for b in budgets])
    compute, communication, copy, idle = mean_parts(
        [
            [b.compute_ns for b in budgets],
            [b.communication_exposed_ns for b in budgets],
            [b.copy_exposed_ns for b in budgets],
            [b.idle_ns for b in budgets],
        ],
        total,
    )
    data_wait, sync, launch, other = mean_parts(
        [
            [b.idle_data_wait_ns for b in budgets],
            [b.idle_sync_ns for b in budgets],
            [b.idle_launch_ns or 0 for b in budgets],
            [b.idle_other_ns for b in budgets],
        ],
        idle,
    )
    compiled = [b.compile_ns for b in budgets if b.compile_ns is not None]
    return Budget(
        basis=budgets[0].basis,
        total_ns=total,
        compute_ns=compute,
        communication_exposed_ns=communication,
        copy_exposed_ns=copy,
        idle_ns=idle,
        idle_data_wait_ns=data_wait,
        idle_sync_ns=sync,
        idle_launch_ns=None if budgets[0].idle_launch_ns is None else launch,
        idle_other_ns=other,
        compile_ns=mean(compiled) if compiled else None,
    )


def _host(trace: Trace, *, has_device: bool) -> dict[str, object]:
    on_thread = trace.track_kind == _THREAD
    kind, dur = trace.slices["kind"], trace.slices["dur_ns"]
    waiting = sync_rows(trace, has_device=has_device)
    return {
        "tracks": len(np.unique(trace.slices["track_id"][on_thread])),
        "slices": int(np.count_nonzero(on_thread)),
        "ops": int(np.count_nonzero(on_thread & (kind == KIND_CODE["op"]))),
        "syncs": len(waiting),
        "sync_ns": int(dur[waiting][dur[waiting] != NULL].sum()),
        "launches": int(np.count_nonzero(on_thread & (kind == KIND_CODE["launch"]))),
    }


def _warnings(run: Run) -> list[dict[str, object]]:
    counts: Counter[tuple[str, str]] = Counter()
    for trace in run.traces:
        stored = trace.meta["warnings"]
        for row in stored if isinstance(stored, list) else []:
            counts[row["code"], row["message"]] += row["count"]
    rows: list[dict[str, object]] = [
        {"code": code, "message": message, "count": count} for (code, message), count in sorted(counts.items())
    ]
    return rows + run.notes
