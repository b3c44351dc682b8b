"""A part of a recording, by time or by steps: what lies in it, and what each name of each track did there.

Definitions: docs/definitions.md, "Ranges".
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from laptime.analyses.averages import quantile
from laptime.analyses.intervals import Intervals, intersect, union
from laptime.analyses.parts import Bounds, Part
from laptime.errors import LaptimeError
from laptime.model.arrays import BoolArray, IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import KINDS, NULL, TRACK_KINDS

Row = dict[str, object]
ON_DEVICE = tuple(TRACK_KINDS.index(kind) for kind in ("stream", "annotation", "sync"))
_SHOWN_STEPS = 8
Span = tuple[int, int]


def chosen_steps(trace: Trace, part: Part) -> IntArray:
    """Positions of the steps that begin in the part, in order of time."""
    start, number = trace.steps["start_ns"], trace.steps["step"]
    chosen = (start >= part.first_ns) & (start < part.last_ns)
    if part.steps is not None:
        chosen &= _numbered(number, part.steps)
    return np.flatnonzero(chosen)


def fault_of(trace: Trace, part: Part, *, span: Span | None = None) -> LaptimeError | None:
    """What is wrong with a part that a recording does not have; None where it has it. `span` as of `time_of`."""
    if part.device is not None and part.device not in devices(trace):
        here = ", ".join(map(str, devices(trace))) or "none"
        return LaptimeError(f"no device {part.device}", where=trace.source, remedy=f"devices here: {here}")
    if part.steps is not None and not len(chosen_steps(trace, part)):
        known = trace.steps["step"].tolist()
        shown = ", ".join(map(str, known[:_SHOWN_STEPS])) + (", ..." if len(known) > _SHOWN_STEPS else "")
        between = " in that time" if (part.from_ns, part.to_ns) != (None, None) else ""
        return LaptimeError(
            f"no step {part.steps_text}{between}",
            where=f"step numbers {shown}" if known else "no step was found",
            remedy="choose some of these" if known else "give --from and --to instead",
        )
    _, last = span or recorded_span(trace)
    if part.from_ns is not None and part.from_ns >= last:
        remedy = f"the recording ends at {last} ns; choose an earlier time"
        return LaptimeError("nothing was recorded", where=f"from {part.from_ns} ns on", remedy=remedy)
    return None


def must_hold(trace: Trace, part: Part, *, span: Span | None = None) -> None:
    """Raises what `fault_of` finds."""
    fault = None if part.is_whole and part.device is None else fault_of(trace, part, span=span)
    if fault is not None:
        raise fault


def _numbered(number: IntArray, bounds: tuple[Bounds, ...]) -> BoolArray:
    found = np.zeros(len(number), bool)
    for first, last in bounds:
        found |= (number >= (NULL + 1 if first is None else first)) & (number <= (-NULL - 1 if last is None else last))
    return found


def as_json(part: Part, *traces: Trace) -> dict[str, object] | None:
    """`range` of a command's JSON, with the numbers of the steps chosen; None for the whole recording."""
    if part.is_whole:
        return None
    chosen = {int(number) for trace in traces for number in trace.steps["step"][chosen_steps(trace, part)]}
    return {"from_ns": part.from_ns, "to_ns": part.to_ns, "steps": None if part.steps is None else sorted(chosen)}


def starting_in(trace: Trace, rows: IntArray, part: Part) -> BoolArray:
    """Whether each slice starts in the time of the part and belongs to one of its steps."""
    start = trace.slices["start_ns"][rows]
    inside = (start >= part.first_ns) & (start < part.last_ns)
    if part.steps is not None:
        inside &= _numbered(trace.slices["step"][rows], part.steps)
    return np.asarray(inside)


def times_in(trace: Trace, times: IntArray, part: Part) -> BoolArray:
    """Whether each time lies in the part."""
    inside = (times >= part.first_ns) & (times < part.last_ns)
    if part.steps is not None:
        inside &= time_of(trace, part).holds(times)
    return np.asarray(inside)


def on_device(trace: Trace, rows: IntArray, device: int | None) -> BoolArray:
    """Whether each slice is on a device, if it is on any; None takes all devices."""
    if device is None:
        return np.ones(len(rows), bool)
    own = trace.tracks["device"][trace.slices["track_id"][rows]] == device
    return np.asarray(own | ~np.isin(trace.track_kind[rows], ON_DEVICE))


def devices(trace: Trace) -> list[int]:
    """Numbers of the devices whose tracks hold slices."""
    of_slices = np.unique(trace.slices["track_id"][np.isin(trace.track_kind, ON_DEVICE)])
    numbers = np.unique(trace.tracks["device"][of_slices])
    return list(map(int, numbers[numbers != NULL].tolist()))


def time_of(trace: Trace, part: Part, *, span: Span | None = None) -> Intervals:
    """Time that the part covers: the spans of its steps, cut at its bounds; without steps all between these.

    `span` is what was recorded, by default `recorded_span`.
    """
    first, last = span or recorded_span(trace)
    begin, end = max(first, part.first_ns), min(last, part.last_ns)
    bounds = union(np.array([begin]), np.array([end]))
    if part.steps is None:
        return bounds
    own = _numbered(trace.steps["step"], part.steps)
    return intersect(union(trace.steps["start_ns"][own], trace.steps["end_ns"][own]), bounds)


def recorded_span(trace: Trace) -> Span:
    """From the first start to the last end of all slices and steps; (0, 0) where there is none."""
    starts, ends = trace.slices["start_ns"], trace.end_ns
    first = min(int(starts.min(initial=0)), int(trace.steps["start_ns"].min(initial=0)))
    return first, max(int(ends.max(initial=first)), int(trace.steps["end_ns"].max(initial=first)))


# ---- statistics ----


def track_rows(trace: Trace, part: Part, *, on: str) -> list[Row]:
    """What each name of each track did in the part: slices that reach into it count, their times are cut at its ends.

    `on` is device (streams with their ranges and waits) or host (all else).
    """
    time = time_of(trace, part)
    rows = np.flatnonzero(np.isin(trace.track_kind, ON_DEVICE) == (on == "device"))
    rows = rows[(trace.slices["dur_ns"][rows] != NULL) & on_device(trace, rows, part.device)]
    start, end = trace.slices["start_ns"][rows], trace.end_ns[rows]
    inside = time.meets(start, end)
    rows = rows[inside]
    # Times as time of the part that has passed by then: cut at its ends, and gaps between its steps take none.
    first, last = time.passed(start[inside]), time.passed(end[inside])
    return list(_rows(trace, rows, first, last))


def _rows(trace: Trace, rows: IntArray, first: IntArray, last: IntArray) -> Iterator[Row]:
    names = trace.slices.texts("name")
    key = trace.slices["track_id"][rows].astype(np.int64) * max(len(names), 1) + trace.slices["name"][rows]
    used, group = np.unique(key, return_inverse=True)
    group = group.reshape(-1)
    wall = union_by_group(group, first, last, len(used))
    own = last - first - _time_of_children(trace, rows, first, last)
    order = np.argsort(group, kind="stable")
    parts = np.split(order, np.searchsorted(group[order], np.arange(1, len(used))))
    tracks, all_own = trace.tracks.objects("name"), int(own.sum())
    for code, (place, members) in enumerate(zip(used.tolist(), parts, strict=False)):
        durations = (last - first)[members]
        total, mine = int(durations.sum()), int(own[members].sum())
        listed = durations.tolist()
        yield {
            "name": names[place % len(names)],
            "track": tracks[place // len(names)],
            "op_type": KINDS[int(trace.slices["kind"][rows[members[0]]])],
            "device_kind": None,
            "count": len(members),
            "wall_ns": int(wall[code]),
            "total_ns": total,
            "self_ns": mine,
            "mean_ns": (2 * total + len(members)) // (2 * len(members)),
            "min_ns": min(listed),
            "max_ns": max(listed),
            "p50_ns": quantile(listed, 50),
            "p90_ns": quantile(listed, 90),
            "share": mine / all_own if all_own else None,
            "info": None,
        }


def _time_of_children(trace: Trace, rows: IntArray, first: IntArray, last: IntArray) -> IntArray:
    """Time of each slice in which a slice directly inside it runs."""
    place = np.full(trace.slices.row_count, -1, np.int64)
    place[rows] = np.arange(len(rows))
    above = trace.slices["parent_id"][rows]
    parent = np.where(above == NULL, -1, place[np.maximum(above, 0)]) if len(rows) else above
    inner = np.flatnonzero(parent >= 0)
    return union_by_group(parent[inner], first[inner], last[inner], len(rows))


def union_by_group(group: IntArray, start: IntArray, end: IntArray, count: int) -> IntArray:
    """Union of the intervals of each group."""
    order = np.lexsort((start, group))
    group, start, end = group[order], start[order], end[order]
    # The latest end so far in the group: ends as ranks, so that one running maximum serves all groups.
    by_end = np.argsort(end, kind="stable")
    rank = np.empty(len(end), np.int64)
    rank[by_end] = np.arange(len(end))
    latest = np.maximum.accumulate(group * len(end) + rank) - group * len(end)
    reached = start.copy()
    same = np.flatnonzero(group[1:] == group[:-1]) + 1
    reached[same] = np.maximum(start[same], end[by_end][latest[same - 1]])
    total = np.zeros(count, np.int64)
    np.add.at(total, group, np.maximum(end - reached, 0))
    return total
