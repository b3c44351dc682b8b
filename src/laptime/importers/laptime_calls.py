"""Call stacks that laptime's log tells of slices which the framework records without: waits and scopes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from laptime.importers.laptime_log import Call, Log, Stack
from laptime.importers.laptime_matching import Clocks, Times, calls_around, clocks_of
from laptime.model.arrays import BoolArray, IntArray
from laptime.model.builder import BASE_KIND_CODE, TraceBuilder
from laptime.model.vocabulary import FLOW_KINDS, PHASE_CODE

_OPERATORS = [BASE_KIND_CODE[kind] for kind in ("op", "launch")]
_PASS = "backward"
_ANY_NAME = -1


def add_call_stacks(
    log: Log, unix: Callable[[int], int], track_of: Callable[[int], int], builder: TraceBuilder
) -> None:
    """Gives waits the stack of the call that they lie in, and other slices that of the call that bears their name.

    Operators of a backward pass that have none get that of the call of the pass.
    """
    calls = [row for row in log.of(Call) if row.end_ns >= row.start_ns]
    if not calls or not builder.slices.count:
        return
    slices = _Slices(builder)
    by_target = _by_target(calls, unix, track_of, builder)
    told = _told_clocks(slices, by_target)
    codes = {row.number: builder.texts["call_stack"].code(row.frames) for row in log.of(Stack)}
    for (track, name), those in by_target.items():
        clocks, stacks = told[track], np.array([codes.get(number, -1) for number in those.stacks], np.int64)
        wanted = slices.kind == BASE_KIND_CODE["sync"] if name == _ANY_NAME else slices.name == name
        slices.take(slices.lacking(wanted, track), those.times, stacks, clocks)
        if name != _ANY_NAME and builder.names.texts[name] == _PASS:
            backward = np.isin(slices.kind, _OPERATORS) & (slices.phase == PHASE_CODE["backward"])
            slices.take(slices.lacking(backward, track), those.times, stacks, clocks)
    slices.follow_links(builder)
    builder.slices.put("call_stack", slices.stack)


class _Slices:
    """The slices so far; their call stacks change."""

    def __init__(self, builder: TraceBuilder) -> None:
        column = builder.slices.joined
        self.track, self.start, self.name, self.kind = (column(key) for key in ("track", "start", "name", "kind"))
        self.end = self.start + np.maximum(column("dur"), 0)
        self.phase, self.stack = column("phase"), column("call_stack")

    def lacking(self, wanted: BoolArray, track: int) -> IntArray:
        """Rows of a track without a call stack."""
        return np.flatnonzero(wanted & (self.track == track) & (self.stack < 0))

    def times(self, rows: IntArray) -> Times:
        """When rows begin and end."""
        return Times(self.start[rows], self.end[rows])

    def named(self, name: int, track: int) -> Times:
        """Of all slices of a name, in order of time."""
        rows = np.flatnonzero((self.name == name) & (self.track == track))
        return self.times(rows[np.lexsort((-self.end[rows], self.start[rows]))])

    def take(self, rows: IntArray, calls: Times, stacks: IntArray, clocks: Clocks) -> None:
        """Gives each row the stack of the call that it lies in."""
        place = calls_around(self.times(rows), calls, clocks)
        self.stack[rows[place >= 0]] = stacks[place[place >= 0]]

    def follow_links(self, builder: TraceBuilder) -> None:
        """What a launch has, the work that it launches has too."""
        before, after, kind = (builder.links.joined(key) for key in ("from", "to", "kind"))
        for wanted in ("async", "launch"):
            rows = np.flatnonzero(kind == FLOW_KINDS.index(wanted))
            rows = rows[(self.stack[after[rows]] < 0) & (self.phase[before[rows]] == PHASE_CODE["backward"])]
            self.stack[after[rows]] = self.stack[before[rows]]


@dataclass(frozen=True)
class _Calls:
    """Calls in order of time, outer ones first."""

    times: Times
    stacks: list[int]


def _by_target(
    calls: Sequence[Call], unix: Callable[[int], int], track_of: Callable[[int], int], builder: TraceBuilder
) -> dict[tuple[int, int], _Calls]:
    """Calls by track and name of the slices that may be theirs; waits have any name."""
    names: dict[str | None, int] = {text: code for code, text in enumerate(builder.names.texts)}
    names[None] = _ANY_NAME
    found: dict[tuple[int, int], list[Call]] = defaultdict(list)
    for call in sorted(calls, key=lambda call: (call.start_ns, -call.end_ns)):
        if call.name in names:
            found[track_of(call.thread), names[call.name]].append(call)
    return {
        target: _Calls(
            Times(*np.array([(unix(row.start_ns), unix(row.end_ns)) for row in rows], np.int64).T),
            [row.stack for row in rows],
        )
        for target, rows in found.items()
    }


def _told_clocks(slices: _Slices, by_target: Mapping[tuple[int, int], _Calls]) -> dict[int, Clocks]:
    """How far apart the clocks are on each track."""
    pairs: dict[int, list[tuple[Times, Times]]] = {track: [] for track, _ in by_target}
    for (track, name), calls in by_target.items():
        if name != _ANY_NAME:
            pairs[track].append((slices.named(name, track), calls.times))
    return {track: clocks_of(those) for track, those in pairs.items()}
