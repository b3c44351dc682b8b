"""Call stacks that laptime's log tells of slices which the framework records without: waits and scopes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from laptime.importers.laptime_log import Call, Log, Stack
from laptime.model.arrays import IntArray
from laptime.model.builder import BASE_KIND_CODE, TraceBuilder

_CLOCKS_NS = 100_000
"""How far apart the framework's clock and the log's may be."""


def add_call_stacks(
    log: Log, unix: Callable[[int], int], track_of: Callable[[int], int], builder: TraceBuilder
) -> None:
    """Gives waits the stack of the call that they lie in, and other slices that of the call that bears their name."""
    calls = [row for row in log.of(Call) if row.end_ns >= row.start_ns]
    if not calls or not builder.slices.count:
        return
    codes = {row.number: builder.texts["call_stack"].code(row.frames) for row in log.of(Stack)}
    columns = {key: builder.slices.joined(key) for key in ("track", "start", "dur", "name", "kind", "call_stack")}
    stacks, ends = columns["call_stack"], columns["start"] + np.maximum(columns["dur"], 0)
    lacking = stacks < 0
    waits = columns["kind"] == BASE_KIND_CODE["sync"]
    for (track, name), spans in _by_target(calls, unix, track_of, builder).items():
        rows = np.flatnonzero(lacking & (columns["track"] == track) & (waits if name < 0 else columns["name"] == name))
        rows = rows[np.argsort(columns["start"][rows], kind="stable")]
        for row, call in zip(rows.tolist(), _nearest(columns["start"][rows], ends[rows], spans), strict=True):
            stacks[row] = -1 if call is None else codes.get(call, -1)
    builder.slices.put("call_stack", stacks)


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
