"""Slices whose begin and end are separate events: nested pairs on one thread, and pairs told by an id."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.model.arrays import Column, IntArray, stable_order


@dataclass(frozen=True)
class Pairs:
    """Rows of begin events with the time their slice ends, and what did not fit together."""

    begins: IntArray
    ends_ns: IntArray
    ends: IntArray
    """Rows of the end events; -1 where there is none."""
    unclosed: int
    """Begins without an end; they end where the recording does."""
    unopened: int
    """Ends without a begin; nothing can be made of them."""
    disagreeing: int
    """Ends whose name is not that of the innermost open slice."""


def pair_nested(points: dict[str, Column], *, empty_name: int) -> Pairs:
    """Pairs of begin and end events that nest on each (pid, tid), in order of time, then of the file.

    End events need not repeat the category, so the place pairs them, not the track.
    """
    order = _by_place_and_time(points)
    simple, order = _split(points, order, empty_name)
    matcher = _Matcher(last_ns=_latest(points))
    rows = zip(
        order.tolist(),
        points["place"][order].tolist(),
        points["start"][order].tolist(),
        points["is_end"][order].tolist(),
        points["name"][order].tolist(),
        strict=True,
    )
    for row, place, ts, is_end, name in rows:
        stack = matcher.stacks.setdefault(place, [])
        if not is_end:
            stack.append((row, name, ts))
        else:
            matcher.close(stack, row, ts, name if name != empty_name else None)
    return _together(simple, points["start"], matcher.result())


def _by_place_and_time(points: dict[str, Column]) -> IntArray:
    """Rows by place, time and order; recorders mostly write the events of a thread as time goes."""
    order = stable_order(points["place"])
    keys = [points[name][order] for name in ("place", "start", "order")]
    same_place, (earlier, as_written) = keys[0][1:] == keys[0][:-1], (np.diff(key) for key in keys[1:])
    if np.all(~same_place | (earlier > 0) | ((earlier == 0) & (as_written > 0))):
        return order
    return np.lexsort((points["order"], points["start"], points["place"]))


def _split(points: dict[str, Column], order: IntArray, empty_name: int) -> tuple[IntArray, IntArray]:
    """Pairs of begin and end rows on all places where everything nests and agrees; and the rows of the other places.

    Where begins and ends balance, those of one depth alternate, so that neighbours of a depth are a pair.
    """
    place, is_end = points["place"][order], points["is_end"][order]
    if not len(order):
        return np.empty((0, 2), np.int64), order
    starts = np.flatnonzero(np.concatenate([[True], place[1:] != place[:-1]]))
    run = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    height = np.cumsum(np.where(is_end, -1, 1))
    height -= np.concatenate([[0], height[starts[1:] - 1]])[run]
    depth = height + is_end
    least = int(depth.min())
    by_depth = stable_order(run * (int(depth.max()) - least + 1) + depth - least)
    begins, ends = by_depth[::2], by_depth[1::2]
    odd = np.zeros(len(starts), bool)
    odd[run[height < 0]] = True
    odd[run[np.append(starts[1:], len(order)) - 1][height[np.append(starts[1:], len(order)) - 1] != 0]] = True
    if odd.any():
        by_depth = by_depth[~odd[run[by_depth]]]
        begins, ends = by_depth[::2], by_depth[1::2]
    names = points["name"][order]
    apart = (names[begins] != names[ends]) & (names[ends] != empty_name)
    odd[run[begins[apart]]] = True
    simple = ~odd[run[begins]]
    return np.stack([order[begins[simple]], order[ends[simple]]], axis=1), order[odd[run]]


def _together(simple: IntArray, times: IntArray, rest: Pairs) -> Pairs:
    begins, ends = simple[:, 0], simple[:, 1]
    return Pairs(
        np.concatenate([begins, rest.begins]),
        np.concatenate([times[ends], rest.ends_ns]),
        np.concatenate([ends, rest.ends]),
        rest.unclosed,
        rest.unopened,
        rest.disagreeing,
    )


def pair_by_id(points: dict[str, Column]) -> Pairs:
    """Pairs of asynchronous begin and end events: same category, id and name; the latest open one is closed."""
    order = np.lexsort((points["order"], points["start"]))
    matcher = _Matcher(last_ns=_latest(points))
    rows = zip(
        order.tolist(),
        points["start"][order].tolist(),
        points["is_end"][order].tolist(),
        points["name"][order].tolist(),
        points["category"][order].tolist(),
        points["id"][order].tolist(),
        strict=True,
    )
    for row, ts, is_end, name, category, identity in rows:
        stack = matcher.stacks.setdefault((category, identity), [])
        if not is_end:
            stack.append((row, name, ts))
        else:
            matcher.close(stack, row, ts, name)
    return matcher.result()


def _latest(points: dict[str, Column]) -> int:
    return int(points["start"].max()) if len(points["start"]) else 0


class _Matcher:
    def __init__(self, *, last_ns: int) -> None:
        self.stacks: dict[object, list[tuple[int, int, int]]] = {}
        self._last_ns = last_ns
        self._pairs: list[tuple[int, int, int]] = []
        self._unopened = 0
        self._disagreeing = 0

    def close(self, stack: list[tuple[int, int, int]], end: int, ts: int, name: int | None) -> None:
        """Ends the innermost open slice of that name, or simply the innermost where none has it."""
        if not stack:
            self._unopened += 1
            return
        place = len(stack) - 1
        if name is not None and stack[place][1] != name:
            place = next((k for k in reversed(range(len(stack))) if stack[k][1] == name), len(stack) - 1)
            self._disagreeing += any(start < ts for _, _, start in stack[place + 1 :]) or stack[place][1] != name
        row, _, _ = stack.pop(place)
        self._pairs.append((row, ts, end))

    def result(self) -> Pairs:
        unclosed = [row for stack in self.stacks.values() for row, _, _ in stack]
        pairs = self._pairs + [(row, self._last_ns, -1) for row in unclosed]
        begins, ends_ns, ends = np.array(pairs, dtype=np.int64).reshape(-1, 3).T
        return Pairs(begins, ends_ns, ends, len(unclosed), self._unopened, self._disagreeing)
