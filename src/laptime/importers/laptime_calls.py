"""Call stacks that laptime's log tells of slices which the framework records without: waits and scopes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from laptime.importers.laptime_log import Call, Log, Stack
from laptime.model.arrays import BoolArray, IntArray
from laptime.model.builder import BASE_KIND_CODE, TraceBuilder
from laptime.model.vocabulary import FLOW_KINDS, PHASE_CODE

_OPERATORS = [BASE_KIND_CODE[kind] for kind in ("op", "launch")]
_PASS = "backward"
_CLOCKS_NS = 100_000
"""How far apart the framework's clock and the log's may be."""


def add_call_stacks(
    log: Log, unix: Callable[[int], int], track_of: Callable[[int], int], builder: TraceBuilder
) -> None:
    """Gives waits the stack of the call that they lie in, and other slices that of the call that bears their name.

    Operators of a backward pass that have none get that of the call of the pass.
    """
    calls = [row for row in log.of(Call) if row.end_ns >= row.start_ns]
    if not calls or not builder.slices.count:
        return
    codes = {row.number: builder.texts["call_stack"].code(row.frames) for row in log.of(Stack)}
    slices = _Slices(builder)
    for (track, name), spans in _by_target(calls, unix, track_of, builder).items():
        rows = slices.lacking(slices.kind == BASE_KIND_CODE["sync"] if name < 0 else slices.name == name, track)
        slices.take(rows, spans, codes)
        if name >= 0 and builder.names.texts[name] == _PASS:
            backward = np.isin(slices.kind, _OPERATORS) & (slices.phase == PHASE_CODE["backward"])
            slices.take(slices.lacking(backward, track), spans, codes)
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
        """Rows of a track without a call stack, in order of time."""
        rows = np.flatnonzero(wanted & (self.track == track) & (self.stack < 0))
        return rows[np.argsort(self.start[rows], kind="stable")]

    def take(self, rows: IntArray, spans: Sequence[_Span], codes: dict[int, int]) -> None:
        """Gives each row the stack of its call, if it lies in one."""
        for row, call in zip(rows.tolist(), _nearest(self.start[rows], self.end[rows], spans), strict=True):
            self.stack[row] = -1 if call is None else codes.get(call, -1)

    def follow_links(self, builder: TraceBuilder) -> None:
        """What a launch has, the work that it launches has too."""
        before, after, kind = (builder.links.joined(key) for key in ("from", "to", "kind"))
        for wanted in ("async", "launch"):
            rows = np.flatnonzero(kind == FLOW_KINDS.index(wanted))
            rows = rows[(self.stack[after[rows]] < 0) & (self.phase[before[rows]] == PHASE_CODE["backward"])]
            self.stack[after[rows]] = self.stack[before[rows]]


_Span = tuple[int, int, int]
"""Begin, end and stack of a call."""


def _by_target(
    calls: Sequence[Call], unix: Callable[[int], int], track_of: Callable[[int], int], builder: TraceBuilder
) -> dict[tuple[int, int], list[_Span]]:
    """Calls by track and name of the slices that may be theirs, in order of time; name -1 is waits of any name."""
    names: dict[str | None, int] = {text: code for code, text in enumerate(builder.names.texts)}
    names[None] = -1
    found: dict[tuple[int, int], list[_Span]] = defaultdict(list)
    for call in sorted(calls, key=lambda call: call.start_ns):
        span = (unix(call.start_ns), unix(call.end_ns), call.stack)
        if call.name in names:
            found[track_of(call.thread), names[call.name]].append(span)
    return found


def _nearest(starts: IntArray, ends: IntArray, calls: Sequence[_Span]) -> Iterator[int | None]:
    """Stack of the call that begins and ends nearest to each slice, among those it lies in; None without one."""
    open_calls: list[_Span] = []
    place = 0
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        while place < len(calls) and calls[place][0] <= end + _CLOCKS_NS:
            open_calls.append(calls[place])
            place += 1
        open_calls = [call for call in open_calls if call[1] >= start - _CLOCKS_NS]
        inside = [call for call in open_calls if call[0] - _CLOCKS_NS <= start and end <= call[1] + _CLOCKS_NS]
        yield min(inside, key=lambda call: abs(call[0] - start) + abs(call[1] - end))[2] if inside else None
