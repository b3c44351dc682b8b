"""The report of a run: every number of `laptime report`, as the JSON contract names it.

Definitions: docs/definitions.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from laptime.analyses.averages import mean, mean_parts, quantile
from laptime.analyses.budget import Budget, StepSpans, budgets_of, step_budgets
from laptime.analyses.contents import warnings
from laptime.analyses.device import covered_span, device_rows, device_times, devices_of, kernels_recorded, work_of
from laptime.analyses.operators import OperatorTable, operator_table
from laptime.analyses.parts import WHOLE, Part
from laptime.analyses.queueing import Delays, delays_of, gaps
from laptime.analyses.queueing import summary as queueing_summary
from laptime.analyses.ranges import as_json as part_as_json
from laptime.analyses.ranges import chosen_steps, fault_of, starting_in, time_of
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


def report(run: Run, part: Part = WHOLE) -> dict[str, object]:
    """`laptime report` as JSON, of a part of the recording where one is given."""
    _must_hold(run, part)
    ranks = [
        {**rank_report(trace, part), "offset_ns": offset}
        for trace, offset in zip(run.traces, run.offsets_ns, strict=True)
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
        "range": part_as_json(part, *run.traces),
        "ranks": ranks,
        "findings": [],
        "not_recorded": not_recorded(run),
        "warnings": warnings(run) + (stages.warnings if stages else []),
    }


def _must_hold(run: Run, part: Part) -> None:
    """Raises LaptimeError for a part that no rank has."""
    faults = [None if part.is_whole else fault_of(trace, part) for trace in run.traces]
    first = faults[0]
    if first is not None and all(faults):
        raise first


def rank_report(trace: Trace, part: Part = WHOLE) -> dict[str, object]:
    """One entry of `ranks`."""
    trace.slices.load("track_id", "start_ns", "dur_ns", "kind")
    time = None if part.is_whole else time_of(trace, part)
    devices, together = device_times(trace, time)
    delays = delays_of(trace)
    steps, budgets = _steps(trace, step_budgets(trace), part, delays)
    has_device = together is not None
    top_ops = _top(trace, "name", part)
    return {
        "rank": trace.rank,
        "source": trace.source,
        "format": trace.meta.get("format"),
        "framework": trace.meta.get("framework"),
        "events": trace.meta["events"],
        "devices": [device.as_json() for device in devices],
        "device_total": together.as_json() if together else None,
        "host": _host(trace, part, has_device=has_device),
        "step_summary": step_summary(steps, budgets, skipped=steps_without_begin(trace)),
        "steps": steps,
        "range": _range(trace, part, delays),
        "queueing": queueing_summary(steps, delays),
        "top_ops": top_ops.rows,
        "top_ops_on": top_ops.on,
        "top_syncs": waits(trace, has_device=has_device, part=part)[:TOP_OPS],
        "top_kernels": _top(trace, "kernel", part).rows if has_device else [],
    }


def _top(trace: Trace, by: str, part: Part) -> OperatorTable:
    if not part.is_whole and fault_of(trace, part):  # only other ranks have this part
        return OperatorTable(by, "host", 0, [])
    return operator_table(trace, by=by, part=part, selection=_TOP)


def _range(trace: Trace, part: Part, delays: Delays) -> dict[str, object] | None:
    """The time asked for as one window with a budget; None without bounds in time."""
    time = time_of(trace, part)
    if (part.from_ns is None and part.to_ns is None) or part.steps is not None or not len(time):
        return None
    spans = StepSpans(time.start, time.end)
    (budget,) = budgets_of(trace, spans)
    found = gaps(trace, spans) if budget else None
    launches = delays.between(int(time.start[0]), int(time.end[0]))
    return {
        "start_ns": int(time.start[0]),
        "dur_ns": time.total_ns,
        "budget": budget.as_json() if budget else None,
        "devices": _busy(0, time.total_ns, _busy_by_device(trace, spans)) if budget else [],
        "gaps": asdict(found[0]) if found else None,
        "launches": asdict(launches) if launches else None,
    }


def _busy(place: int, span_ns: int, busy: list[tuple[int | None, np.ndarray]]) -> list[dict[str, object]]:
    """Each device in one of several spans."""
    return [
        {
            "device": device,
            "busy_ns": int(each[place]),
            "busy_share": int(each[place]) / span_ns if span_ns else None,
        }
        for device, each in busy
    ]


def _steps(
    trace: Trace, budgets: list[Budget | None], part: Part, delays: Delays
) -> tuple[list[dict[str, object]], list[Budget | None]]:
    """Steps of the part, and their budgets."""
    table = trace.steps.arrow().to_pylist()
    spans = StepSpans.of(trace)
    busy, found = _busy_by_device(trace, spans), gaps(trace, spans)
    launches = [delays.between(*span) for span in zip(spans.start.tolist(), spans.end.tolist(), strict=True)]
    first, last = covered_span(trace)
    covered = ((spans.start >= first) & (spans.end <= last) & kernels_recorded(trace)).tolist()
    kept = chosen_steps(trace, part).tolist()
    steps = [
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
            "devices": _busy(place, row["end_ns"] - row["start_ns"], busy) if covered[place] else [],
            "gaps": asdict(found[place]) if found and covered[place] else None,
            "launches": asdict(launched) if (launched := launches[place]) else None,
        }
        for place, row, budget in ((place, table[place], budgets[place]) for place in kept)
    ]
    return steps, [budgets[place] for place in kept]


def _busy_by_device(trace: Trace, spans: StepSpans) -> list[tuple[int | None, np.ndarray]]:
    rows = device_rows(trace)
    rows = rows[trace.slices["dur_ns"][rows] != NULL]
    device = devices_of(trace, rows)
    return [
        (None if key == NULL else key, work_of(trace, rows[device == key]).busy.within(spans.start, spans.end))
        for key in np.unique(device).tolist()
    ]


def steps_without_begin(trace: Trace) -> list[int]:
    """Indices of the first step of each window, for sources that do not tell where it began."""
    if not trace.meta.get("first_step_without_begin"):
        return []
    _, first = np.unique(trace.steps["window"], return_index=True)
    return [int(index) for index in trace.steps["index"][first]]


def averaged_places(steps: Sequence[Mapping[str, object]], *, skipped: Sequence[int] = ()) -> list[int]:
    """Places of the steps that the summary is taken over: complete ones with a budget."""
    whole = [place for place, step in enumerate(steps) if step["complete"] and step["budget"]]
    return [place for place in whole if steps[place]["index"] not in skipped] or whole


def step_summary(
    steps: list[dict[str, object]], budgets: list[Budget | None], *, skipped: Sequence[int] = ()
) -> dict[str, object] | None:
    """Mean, median and p90 of the complete steps, and the means of their budgets; None without such steps.

    Steps with `skipped` indices count only where there are no others.
    """
    used = set(averaged_places(steps, skipped=skipped))
    chosen = [budget for place, budget in enumerate(budgets) if place in used and budget]
    if not chosen:
        return None
    durations = [budget.total_ns for budget in chosen]
    return {
        "steps_used": len(chosen),
        "mean_ns": mean(durations),
        "median_ns": quantile(durations, 50),
        "p90_ns": quantile(durations, 90),
        "budget": mean_budget(chosen).as_json(),
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


def _host(trace: Trace, part: Part, *, has_device: bool) -> dict[str, object]:
    counted = starting_in(trace, np.arange(trace.slices.row_count), part)
    on_thread = (trace.track_kind == _THREAD) & counted
    kind, dur = trace.slices["kind"], trace.slices["dur_ns"]
    waiting = sync_rows(trace, has_device=has_device)
    waiting = waiting[counted[waiting]]
    return {
        "tracks": len(np.unique(trace.slices["track_id"][on_thread])),
        "slices": int(np.count_nonzero(on_thread)),
        "ops": int(np.count_nonzero(on_thread & (kind == KIND_CODE["op"]))),
        "syncs": len(waiting),
        "sync_ns": int(dur[waiting][dur[waiting] != NULL].sum()),
        "launches": int(np.count_nonzero(on_thread & (kind == KIND_CODE["launch"]))),
    }
