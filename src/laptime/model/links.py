"""Which call launched which device slice, and which forward op a backward op belongs to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from laptime.model.arrays import Column, IntArray
from laptime.model.assembly import Assembled
from laptime.model.vocabulary import FLOW_KINDS, KIND_CODE, NULL

_LAUNCH_FLOWS = frozenset({"ac2g", "async_cpu_to_gpu", "async_gpu", "async", "cpu_to_cuda"})
_FORWARD_BACKWARD_FLOWS = frozenset({"fwdbwd", "fwd_bwd", "forward_backward"})


@dataclass(frozen=True)
class Flows:
    """Pairs of slices, cause and effect; `kind` indexes FLOW_KINDS."""

    from_id: IntArray
    to_id: IntArray
    kind: npt.NDArray[np.str_]


def link(
    slices: Assembled, flow_points: dict[str, Column], categories: list[str], given: dict[str, Column] | None = None
) -> Flows:
    """All links: launches by correlation id, the rest by flow events. Calls that launched something become launches.

    `given` are those that the source tells by itself, by the slices' numbers in order of adding.
    """
    launch_from, launch_to = _by_correlation(slices)
    own = _given(slices, given) if given is not None and len(given["from"]) else None
    launched = np.zeros(len(slices.end), bool)
    launched[launch_to] = True
    names = np.array([_flow_kind(category) for category in categories] or ["data"])
    wanted = flow_points["id"] != NULL
    if not np.any(slices.device_work & ~launched):  # flows of launches could add nothing
        wanted &= names[flow_points["category"]] != "launch"
    flow_points = {name: column[wanted] for name, column in flow_points.items()}
    ends = _flow_ends(slices, flow_points)
    kinds = names[flow_points["category"][ends.point]] if len(ends.point) else np.empty(0, names.dtype)
    is_launch = (kinds == "launch") & slices.device_work[ends.to_id]
    useful = np.where(kinds == "launch", is_launch & ~launched[ends.to_id], ends.from_id != ends.to_id)
    from_id = np.concatenate([launch_from, ends.from_id[useful]])
    to_id = np.concatenate([launch_to, ends.to_id[useful]])
    kind = np.concatenate([np.full(len(launch_from), "launch"), kinds[useful]])
    if own is not None:
        from_id, to_id = np.concatenate([from_id, own.from_id]), np.concatenate([to_id, own.to_id])
        kind = np.concatenate([kind, own.kind])
    _mark_launches(slices, from_id[(kind == "launch")])
    order = np.lexsort((to_id, from_id))
    return Flows(from_id[order], to_id[order], kind[order])


def _given(slices: Assembled, given: dict[str, Column]) -> Flows:
    """Links between slices that are kept."""
    from_id, to_id = (slices.added(given[side]) for side in ("from", "to"))
    known = (from_id >= 0) & (to_id >= 0)
    return Flows(from_id[known], to_id[known], np.array(FLOW_KINDS)[given["kind"][known]])


def _by_correlation(slices: Assembled) -> tuple[IntArray, IntArray]:
    """(call, device slice) pairs of one correlation id; of several calls the one that launches, then the first."""
    columns = slices.columns
    correlation = columns["correlation"]
    calls = np.flatnonzero(slices.on_thread & columns["is_call"] & (correlation != NULL))
    rank = (columns["kind"][calls] != KIND_CODE["launch"]).astype(np.int8)
    calls = calls[np.lexsort((calls, rank, correlation[calls]))]
    keys = correlation[calls]
    first = np.ones(len(keys), bool)
    first[1:] = keys[1:] != keys[:-1]
    calls, keys = calls[first], keys[first]
    targets = np.flatnonzero(slices.device_work & (correlation != NULL))
    place = np.searchsorted(keys, correlation[targets])
    found = np.zeros(len(targets), bool)
    inside = place < len(keys)
    found[inside] = keys[place[inside]] == correlation[targets[inside]]
    return calls[place[found]].astype(np.int64), targets[found].astype(np.int64)


def _mark_launches(slices: Assembled, from_id: IntArray) -> None:
    kinds = slices.columns["kind"]
    silent = from_id[kinds[from_id] == KIND_CODE["host_other"]]
    kinds[silent] = KIND_CODE["launch"]


@dataclass(frozen=True)
class _Ends:
    from_id: IntArray
    to_id: IntArray
    point: IntArray


def _flow_ends(slices: Assembled, points: dict[str, Column]) -> _Ends:
    """Start and end of each flow id, each bound to the innermost slice that holds its time on its track."""
    count = len(points["ts"])
    if not count:
        empty = np.empty(0, np.int64)
        return _Ends(empty, empty, empty)
    order = np.lexsort((points["ts"], points["is_end"], points["id"], points["category"]))
    same = np.ones(count - 1, bool)
    for key in ("category", "id"):  # PyTorch before 1.8 names both ends differently
        ordered = points[key][order]
        same &= ordered[1:] == ordered[:-1]
    group = np.concatenate([[0], np.cumsum(~same)])
    is_end = points["is_end"][order]
    start_place = np.full(group[-1] + 1, -1, np.int64)
    start_place[group[~is_end][::-1]] = np.flatnonzero(~is_end)[::-1]  # the earliest start of the id
    ends = np.flatnonzero(is_end & (start_place[group] >= 0))
    starts = start_place[group[ends]]
    nest = slices.nest
    bound = nest.innermost_at(points["track"][order], points["ts"][order])
    from_id, to_id = bound[starts], bound[ends]
    known = (from_id >= 0) & (to_id >= 0)
    return _Ends(from_id[known], to_id[known], order[ends[known]].astype(np.int64))


def _flow_kind(category: str) -> str:
    if category in _LAUNCH_FLOWS:
        return "launch"
    return "forward_backward" if category in _FORWARD_BACKWARD_FLOWS else "data"
