"""The step trace: interval, forward+backward and tail of each step, with its communication.

Definitions: docs/definitions.md, "Step trace".
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from laptime.analyses.average_step import average_regions, averaged_steps
from laptime.analyses.averages import mean, mean_parts, quantile
from laptime.analyses.parts import WHOLE, Part
from laptime.analyses.ranges import as_json as part_as_json
from laptime.analyses.ranges import chosen_steps, must_hold
from laptime.errors import LaptimeError
from laptime.model.trace import Trace
from laptime.model.vocabulary import KIND_CODE, NULL, TRACK_KINDS

PARTS = ("interval_ns", "forward_backward_ns", "tail_ns", "total_ns")
_FIRST = "first of its window: no step before it, so its interval is unknown"
_STREAM, _THREAD = TRACK_KINDS.index("stream"), TRACK_KINDS.index("thread")


@dataclass(frozen=True)
class Points:
    """Names that override where forward begins, where backward ends, and collectives to add by name."""

    forward: str | None = None
    backward: str | None = None
    communication: tuple[str, ...] = ()


@dataclass(frozen=True)
class StepTrace:
    """`laptime step` as the JSON contract names it, but for rank and source."""

    steps: list[dict[str, object]]
    average: dict[str, object] | None
    median: dict[str, object] | None
    p90: dict[str, object] | None
    forward_start_op: str | None
    backward_end_op: str | None
    skipped: list[dict[str, object]]


def step_trace(trace: Trace, points: Points = Points(), *, part: Part = WHOLE) -> StepTrace:
    """Steps of a rank with their parts, and the averages over complete steps but the first of each window."""
    table = trace.steps.arrow().to_pylist()
    forward = _forward_points(trace, table, points)
    backward = _backward_points(trace, table, points)
    communication = _communication(trace, table, points)
    must_hold(trace, part)
    kept = dict.fromkeys(chosen_steps(trace, part).tolist())
    steps: list[dict[str, object]] = []
    skipped: list[dict[str, object]] = []
    previous_end: dict[object, int] = {}
    for place, row in enumerate(table):
        before = previous_end.get(row["window"])
        previous_end[row["window"]] = row["end_ns"]
        if place not in kept:
            continue
        begins = row["start_ns"] if before is None else before
        parts = _parts(begins, row["end_ns"], forward[place].time, backward[place].time)
        if before is None:  # an interval begins where the previous step ends
            parts["interval_ns"] = None
        steps.append(
            {
                "step": row["step"],
                "index": row["index"],
                "start_ns": row["start_ns"],
                "gap_before_ns": row["start_ns"] - begins,
                **parts,
                "complete": row["complete"],
                "source": row["source"],
                "window": row["window"],
                "first_of_window": before is None,
                "communication": communication[place],
            }
        )
        skipped += _reasons(row, parts, points, forward[place], backward[place])
    used = averaged_steps(steps)
    with_first = any(step["first_of_window"] for step in used)
    skipped += [
        {"step": s["step"], "reason": _FIRST + ("" if with_first else "; left out of averages")}
        for s in steps
        if s["first_of_window"] and s["complete"]
    ]
    return StepTrace(
        steps=steps,
        average=_average(used, with_first),
        median=_summary(used, 50),
        p90=_summary(used, 90),
        forward_start_op=points.forward or _op_at(trace, [forward[place] for place in kept], "forward_start_op"),
        backward_end_op=points.backward or _op_at(trace, [backward[place] for place in kept], "backward_end_op"),
        skipped=skipped,
    )


def _op_at(trace: Trace, points: list[_Point], told: str) -> str | None:
    """What the source itself says the op at a point is, or the name of the op there."""
    found = next((point.name for point in points if point.name), None)
    known = trace.meta.get(told)
    return str(known) if known else found


def as_json(result: StepTrace, trace: Trace, *, only: int | None = None, part: Part = WHOLE) -> dict[str, object]:
    """The JSON of the contract; `only` keeps one entry of `steps`, by position."""
    steps = result.steps if only is None else [result.steps[only]]
    return {
        "schema_version": 1,
        "rank": trace.rank,
        "source": trace.source,
        "unit": "ns",
        "range": part_as_json(part, trace),
        "steps": steps,
        "average": _with_communication(result),
        "median": result.median,
        "p90": result.p90,
        "forward_start_op": result.forward_start_op,
        "backward_end_op": result.backward_end_op,
        "skipped": result.skipped,
    }


def _with_communication(result: StepTrace) -> dict[str, object] | None:
    """The average with its collectives; their `start_ns` counts from where the step begins."""
    if result.average is None:
        return None
    return {**result.average, "communication": [asdict(region) for region in average_regions(result.steps)]}


def position_of(result: StepTrace, *, step_id: int | None, step_index: int | None) -> int | None:
    """Which step an id (the source's own number) or an index (1..n) means; None for the average."""
    if step_index is None and step_id in (None, 0):
        return None
    key, wanted = ("step", step_id) if step_index is None else ("index", step_index)
    for place, step in enumerate(result.steps):
        if step[key] == wanted:
            return place
    known = [str(step[key]) for step in result.steps]
    shown = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
    raise LaptimeError(
        f"no step {wanted}",
        where=f"{key} numbers {shown or 'none'}",
        remedy="choose one of these, or 0 for the average",
    )


def _parts(begins: int, end: int, forward: int | None, backward: int | None) -> dict[str, int | None]:
    """Interval + forward_backward + tail = total; all three unknown unless both points are known and in order."""
    total = end - begins
    if forward is None or backward is None or not begins <= forward <= backward <= end:
        return {"interval_ns": None, "forward_backward_ns": None, "tail_ns": None, "total_ns": total}
    return {
        "interval_ns": forward - begins,
        "forward_backward_ns": backward - forward,
        "tail_ns": end - backward,
        "total_ns": total,
    }


def _reasons(
    row: dict[str, object], parts: dict[str, int | None], points: Points, forward: _Point, backward: _Point
) -> list[dict[str, object]]:
    reasons = [] if row["complete"] else ["not whole: the recording begins or ends inside it"]
    if parts["tail_ns"] is None:
        if forward.time is None:
            reasons.append(f"no slice named {points.forward}" if points.forward else "no forward pass is known")
        elif backward.time is None:
            reasons.append(f"no slice named {points.backward}" if points.backward else "no backward pass is known")
        else:
            reasons.append("backward ends outside the step or before forward starts")
    return [{"step": row["step"], "reason": reason} for reason in reasons]


@dataclass(frozen=True)
class _Point:
    time: int | None
    name: str | None


def _forward_points(trace: Trace, table: list[dict[str, object]], points: Points) -> list[_Point]:
    if points.forward is not None:
        return [_named_point(trace, row, points.forward, at_end=False) for row in table]
    return [_known_point(trace, row, row["forward_start_ns"], at_end=False) for row in table]


def _backward_points(trace: Trace, table: list[dict[str, object]], points: Points) -> list[_Point]:
    if points.backward is not None:
        return [_named_point(trace, row, points.backward, at_end=True) for row in table]
    return [_known_point(trace, row, row["backward_end_ns"], at_end=True) for row in table]


def _known_point(trace: Trace, row: dict[str, object], time: object, *, at_end: bool) -> _Point:
    """The point and the name of the op there."""
    if not isinstance(time, int):
        return _Point(None, None)
    edge = trace.end_ns if at_end else trace.slices["start_ns"]
    there = np.flatnonzero((edge == time) & (trace.slices["kind"] == KIND_CODE["op"]) & (trace.track_kind == _THREAD))
    if not len(there):
        return _Point(time, None)
    outer = there[np.argmax(trace.end_ns[there] - trace.slices["start_ns"][there])]
    return _Point(time, trace.slices.texts("name")[trace.slices["name"][outer]])


def _named_point(trace: Trace, row: dict[str, object], name: str, *, at_end: bool) -> _Point:
    """First start, or last end, of a host slice of that name that starts in the step."""
    names = trace.slices.texts("name")
    if name not in names:
        return _Point(None, None)
    start = trace.slices["start_ns"]
    first, last = int(str(row["start_ns"])), int(str(row["end_ns"]))
    rows = np.flatnonzero(
        (trace.slices["name"] == names.index(name)) & (trace.track_kind == _THREAD) & (start >= first) & (start < last)
    )
    if not len(rows):
        return _Point(None, None)
    return _Point(int(trace.end_ns[rows].max() if at_end else start[rows].min()), name)


def _communication(trace: Trace, table: list[dict[str, object]], points: Points) -> list[list[dict[str, object]]]:
    """Collectives that lie in each step by time: of devices, and of host threads that run them."""
    names = trace.slices.texts("name")
    extra = [names.index(name) for name in points.communication if name in names]
    wanted = (trace.slices["kind"] == KIND_CODE["communication"]) & np.isin(trace.track_kind, [_STREAM, _THREAD])
    wanted |= np.isin(trace.slices["name"], extra) & np.isin(trace.track_kind, [_STREAM, _THREAD])
    rows = np.flatnonzero(wanted & (trace.slices["dur_ns"] != NULL))
    rows = rows[np.argsort(trace.slices["start_ns"][rows], kind="stable")]
    start = trace.slices["start_ns"][rows]
    tracks = trace.tracks.objects("name")
    found = []
    for row in table:
        first, last = np.searchsorted(start, [int(str(row["start_ns"])), int(str(row["end_ns"]))])
        found.append(
            [
                {
                    "name": names[trace.slices["name"][place]],
                    "stream": tracks[trace.slices["track_id"][place]],
                    "start_ns": int(trace.slices["start_ns"][place]),
                    "dur_ns": int(trace.slices["dur_ns"][place]),
                    "slice_id": place,
                }
                for place in rows[first:last].tolist()
            ]
        )
    return found


def _average(used: list[dict[str, object]], with_first: bool) -> dict[str, object] | None:
    if not used:
        return None
    total = mean(_values(used, "total_ns"))
    parts = [_values(used, part) for part in PARTS[:-1]]
    means: list[int | None] = [mean(values) if values else None for values in parts]
    if all(len(values) == len(used) for values in parts):
        means = list(mean_parts(parts, total))
    return {
        "steps_used": len(used),
        "first_step_included": with_first,
        **dict(zip(PARTS[:-1], means, strict=True)),
        "total_ns": total,
    }


def _summary(used: list[dict[str, object]], per_cent: int) -> dict[str, object] | None:
    if not used:
        return None
    return {part: quantile(values, per_cent) if (values := _values(used, part)) else None for part in PARTS}


def _values(used: list[dict[str, object]], part: str) -> list[int]:
    return [value for step in used if isinstance(value := step[part], int)]
