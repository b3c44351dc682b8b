"""One slice: what it is, where it was called from, what else it was at, what it waited for and what waited for it.

Definitions: docs/definitions.md, "One slice".
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass

import numpy as np

from laptime.analyses.call_sites import OpTree, frames_of, op_rows, sources_of
from laptime.analyses.dependencies import LINKS, Edges, Walk, edges_of, walk
from laptime.analyses.device import device_rows, launch_of
from laptime.analyses.intervals import union
from laptime.analyses.tensors import tensors_of
from laptime.errors import LaptimeError
from laptime.model.arrays import IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import KINDS, NULL, TRACK_KINDS

Json = dict[str, object]
MOST_CANDIDATES = MOST_OTHERS = 20
_THREAD = TRACK_KINDS.index("thread")
_COLUMNS = ("name", "kind", "category", "step", "phase", "start_ns", "dur_ns", "bytes", "correlation", "external_id")
_OF_OPERATOR = ("name", "op_type", "full_name", "subgraph", "module")
_SAME_WORK_DEPTH = 3
"""Dispatch, execution and device slice of one operator are at most this many links apart."""


@dataclass(frozen=True)
class SliceDetails:
    """`laptime slice` as the JSON has it, but for rank and source."""

    slice: Json
    waited_for: list[Json]
    waited_by: list[Json]
    left_out: dict[str, int]

    def as_json(self) -> Json:
        """The JSON, but for rank and source."""
        return {**asdict(self), "candidates": []}


def slice_details(trace: Trace, slice_id: int, *, depth: int = 1, limit: int = 20) -> SliceDetails:
    """All about a slice; of the slices it depends on, and that depend on it, `limit` each way, the nearest first."""
    count = trace.slices.row_count
    if not 0 <= slice_id < count:
        where = f"slices 0 to {count - 1} of {trace.source}" if count else f"no slices in {trace.source}"
        raise LaptimeError(f"no slice {slice_id}", where=where, remedy="choose one of these, or give a name")
    edges = edges_of(trace)
    before = walk(edges.reversed, [slice_id], depth=depth)
    after = walk(edges, [slice_id], depth=depth)
    waited_for, waited_by = _latest_first(trace, before), _earliest_first(trace, after)
    return SliceDetails(
        _about(trace, slice_id, edges),
        _linked(trace, before, waited_for[:limit], backwards=True),
        _linked(trace, after, waited_by[:limit], backwards=False),
        {"waited_for": max(len(before) - limit, 0), "waited_by": max(len(after) - limit, 0), "candidates": 0},
    )


@dataclass(frozen=True)
class Found:
    """The slice that a number or name means, or those it may mean, the longest first."""

    slice_id: int | None
    candidates: list[Json]
    left_out: int

    def as_json(self) -> Json:
        """The JSON where no single slice is meant."""
        return {
            "slice": None,
            "waited_for": [],
            "waited_by": [],
            "left_out": {"waited_for": 0, "waited_by": 0, "candidates": self.left_out},
            "candidates": self.candidates,
        }


def find_slice(trace: Trace, text: str) -> Found:
    """A slice by its number; by its name; else by a part of its name. Raises LaptimeError where there is none."""
    if text.isdecimal():
        return Found(int(text), [], 0)
    names = trace.slices.texts("name")
    folded = text.casefold()
    wanted = [code for code, name in enumerate(names) if name == text]
    wanted = wanted or [code for code, name in enumerate(names) if folded in name.casefold()]
    rows = np.flatnonzero(np.isin(trace.slices["name"], wanted))
    if not len(rows):
        raise LaptimeError(f"no slice named {text}", where=trace.source, remedy="give its number or a part of its name")
    rows = rows[np.lexsort((rows, -np.maximum(trace.slices["dur_ns"][rows], -1)))]
    shown = [_reference(trace, row) for row in rows[:MOST_CANDIDATES].tolist()]
    return Found(int(rows[0]) if len(rows) == 1 else None, shown, max(len(rows) - MOST_CANDIDATES, 0))


def _latest_first(trace: Trace, found: Walk) -> IntArray:
    return np.lexsort((found.slice_id, -trace.end_ns[found.slice_id], found.depth))


def _earliest_first(trace: Trace, found: Walk) -> IntArray:
    return np.lexsort((found.slice_id, trace.slices["start_ns"][found.slice_id], found.depth))


def _linked(trace: Trace, found: Walk, shown: IntArray, *, backwards: bool) -> list[Json]:
    entries = []
    for place in shown.tolist():
        row, via = int(found.slice_id[place]), int(found.via[place])
        cause, effect = (row, via) if backwards else (via, row)
        entries.append(
            {
                **_reference(trace, row),
                "link": LINKS[int(found.link[place])],
                "depth": int(found.depth[place]),
                "via": via,
                "gap_ns": int(trace.slices["start_ns"][effect] - trace.end_ns[cause]),
            }
        )
    return entries


def _reference(trace: Trace, row: int) -> Json:
    step, dur = int(trace.slices["step"][row]), int(trace.slices["dur_ns"][row])
    return {
        "slice_id": row,
        "name": trace.slices.texts("name")[int(trace.slices["name"][row])],
        "kind": KINDS[int(trace.slices["kind"][row])],
        "track": trace.tracks["name"][int(trace.slices["track_id"][row])],
        "step": None if step == NULL else step,
        "start_ns": int(trace.slices["start_ns"][row]),
        "dur_ns": None if dur == NULL else dur,
    }


# ---- the slice itself ----


def _about(trace: Trace, row: int, edges: Edges) -> Json:
    stored = trace.slices.row(row)
    track = trace.tracks.row(stored["track_id"]) if isinstance(stored["track_id"], int) else {}
    parents = _parents(trace, row)
    same = _same_work(trace, row, edges)
    op_id = stored["op_id"]
    operator = trace.ops.row(op_id) if isinstance(op_id, int) else None
    tensors = tensors_of(operator) if operator else {}
    return {
        "slice_id": row,
        **{key: stored[key] for key in _COLUMNS},
        "track": track.get("name"),
        "track_kind": track.get("kind"),
        **{key: track.get(key) for key in ("process", "device", "stream")},
        **_times(trace, row, same),
        "arguments": _arguments(trace.table("args").row(row)["args"]),
        "operator": {key: operator[key] for key in _OF_OPERATOR} if operator else None,
        "inputs": [tensor for name, tensor in tensors.items() if name.startswith("input")],
        "outputs": [tensor for name, tensor in tensors.items() if name.startswith("output")],
        **_called_from(trace, [row, *parents], same.others[:MOST_OTHERS].tolist()),
        "parents": [_reference(trace, parent) for parent in parents],
        "elsewhere": [_reference(trace, other) for other in same.others[:MOST_OTHERS].tolist()],
        "elsewhere_left_out": max(len(same.others) - MOST_OTHERS, 0),
    }


def _parents(trace: Trace, row: int) -> list[int]:
    """What the slice lies in, innermost first."""
    parent, found = trace.slices["parent_id"], []
    while (row := int(parent[row])) != NULL:
        found.append(row)
    return found


@dataclass(frozen=True)
class _SameWork:
    """One piece of work as its threads and devices show it."""

    host: int
    """The host slice whose time is its host time; -1 where none is known."""
    device: IntArray
    """Device slices that it, or anything inside it, launched; a device slice is its own."""
    others: IntArray
    """All but the slice itself, in order of time."""


def _same_work(trace: Trace, row: int, edges: Edges) -> _SameWork:
    links = edges.of("async", "launch")
    causes = walk(links.reversed, [row], depth=_SAME_WORK_DEPTH).slice_id
    work = device_rows(trace)
    if np.isin(row, work):
        launch = launch_of(trace, np.array([row]))
        ops = op_rows(trace)
        around = int(OpTree(trace, ops).op_around(launch)[0])
        host = int(ops[around]) if around >= 0 else -1
        device, effects = np.array([row]), np.array([host] if host >= 0 else [], np.int64)
    else:
        host = row if trace.track_kind[row] == _THREAD else -1
        effects = walk(links, _inside(trace, row), depth=_SAME_WORK_DEPTH).slice_id
        device = np.intersect1d(effects, work)
    others = np.setdiff1d(np.concatenate([causes, effects]), [row])
    return _SameWork(host, device, others[np.argsort(trace.slices["start_ns"][others], kind="stable")])


def _inside(trace: Trace, row: int) -> IntArray:
    """The slice and all it contains; slices of streams contain nothing."""
    start, end = trace.slices["start_ns"], trace.end_ns
    last = int(np.searchsorted(trace.slices["track_id"], trace.slices["track_id"][row], side="right"))
    rows = np.arange(row, last if trace.track_kind[row] == _THREAD else row + 1)
    return np.asarray(rows[((end[rows] <= end[row]) & (start[rows] < end[row])) | (rows == row)])


def _times(trace: Trace, row: int, same: _SameWork) -> Json:
    """Time by itself, on the host, and on the device."""
    dur = trace.slices["dur_ns"]
    children = np.flatnonzero(trace.slices["parent_id"] == row)
    inside = union(trace.slices["start_ns"][children], trace.end_ns[children]).total_ns
    on_device = dur[same.device]
    has_device = len(device_rows(trace)) > 0
    return {
        "self_ns": None if dur[row] == NULL else int(dur[row]) - inside,
        "host_ns": int(dur[same.host]) if same.host >= 0 and dur[same.host] != NULL else None,
        "device_ns": int(on_device[on_device != NULL].sum()) if has_device else None,
        "device_slices": len(same.device),
    }


def _called_from(trace: Trace, around: list[int], same_work: list[int]) -> Json:
    """Call stack of the slice; where it has none, that of what it lies in, or of what launched it."""
    stacks, wanted = trace.slices["stack_id"], [*around]
    for other in same_work:
        wanted += [other, *_parents(trace, other)]
    row = next((each for each in wanted if stacks[each] != NULL), None)
    if row is None:
        return {"source": None, "stack": []}
    return {"source": sources_of(trace, np.array([row]))[0], "stack": frames_of(trace, int(stacks[row]))}


def _arguments(text: object) -> object:
    """Arguments as the source has them; what is no JSON as text, what is no number as null."""
    if not isinstance(text, str):
        return None
    try:
        return json.loads(text, parse_constant=lambda _: None, parse_float=_finite_or_none)
    except ValueError:
        return text


def _finite_or_none(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None
