"""Slices whose begin and end are separate events: nested pairs on one thread, and pairs told by an id."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.model.arrays import Column, IntArray


@dataclass(frozen=True)
class Pairs:
    """Rows of begin events with the time their slice ends, and what did not fit together."""

    begins: IntArray
    ends_ns: IntArray
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
    order = np.lexsort((points["order"], points["start"], points["place"]))
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
            matcher.close(stack, ts, name if name != empty_name else None)
    return matcher.result()


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
            matcher.close(stack, ts, name)
    return matcher.result()


def _latest(points: dict[str, Column]) -> int:
    return int(points["start"].max()) if len(points["start"]) else 0


class _Matcher:
    def __init__(self, *, last_ns: int) -> None:
        self.stacks: dict[object, list[tuple[int, int, int]]] = {}
        self._last_ns = last_ns
        self._pairs: list[tuple[int, int]] = []
        self._unopened = 0
        self._disagreeing = 0

    def close(self, stack: list[tuple[int, int, int]], ts: int, name: int | None) -> None:
        """Ends the innermost open slice of that name, or simply the innermost where none has it."""
        if not stack:
            self._unopened += 1
            return
        place = len(stack) - 1
        if name is not None and stack[place][1] != name:
            place = next((k for k in reversed(range(len(stack))) if stack[k][1] == name), len(stack) - 1)
            self._disagreeing += any(start < ts for _, _, start in stack[place + 1 :]) or stack[place][1] != name
        row, _, _ = stack.pop(place)
        self._pairs.append((row, ts))

    def result(self) -> Pairs:
        unclosed = [row for stack in self.stacks.values() for row, _, _ in stack]
        pairs = self._pairs + [(row, self._last_ns) for row in unclosed]
        columns = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return Pairs(columns[:, 0], columns[:, 1], len(unclosed), self._unopened, self._disagreeing)
