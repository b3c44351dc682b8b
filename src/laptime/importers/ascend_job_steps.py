"""The step points of an Ascend job: when each step began, its forward pass began, its backward pass ended, it ended.

Records of 20 bytes, little endian: tag (8 bytes), task (2), stream (2), time in counts of 10 ns (8). Tag 1 is the start
of the forward pass, 2 the end of the backward pass, 255 (65535 since December 2020) the end of the step, 0 or any tag
beyond the end's its start (the number of the job); all between are ends of communication: odd tags start, the even
ones after them end.

A step runs from the end of the one before to its own; the first from its forward start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from laptime.importers.ascend_job_slices import LARGEST_COUNT, NS_PER_COUNT, join
from laptime.model.arrays import BoolArray, Column, IntArray
from laptime.model.builder import GivenStep, TraceBuilder
from laptime.model.vocabulary import NULL

SIZE = 20
_RECORD = np.dtype([("tag", "<u8"), ("task", "<u2"), ("stream", "<u2"), ("time", "<u8")])
_FORWARD, _BACKWARD, _FIRST_COMMUNICATION = 1, 2, 3
_OLD_END, _NEW_END = 255, 65_535
_LARGEST_TAG = 1 << 40


@dataclass(frozen=True)
class Regions:
    """Communication between two points: one row each."""

    stream: IntArray
    tag: IntArray
    """The odd one."""
    start_ns: IntArray
    end_ns: IntArray


@dataclass(frozen=True)
class StepPoints:
    """What the log tells."""

    steps: list[GivenStep]
    regions: Regions


def read_step_points(slices: Sequence[bytes], builder: TraceBuilder, *, has_init_graph: bool) -> StepPoints:
    """Steps and communication regions; counts and names what is lost. `has_init_graph`: the first step sets up data."""
    joined = join(slices, SIZE, _fits)
    warn = builder.warnings.add
    warn("lost_records", "gaps between slices of the step points; the records around them are lost", joined.torn)
    warn("truncated", "the step points end inside a record", int(joined.rest > 0))
    records = np.frombuffer(joined.data, _RECORD)
    builder.read += len(records)
    bad = (records["time"] >= LARGEST_COUNT) | (records["tag"] >= _LARGEST_TAG)
    builder.drop("damaged", int(np.count_nonzero(bad)))
    warn("lost_records", "records of step points that are damaged; dropped", int(np.count_nonzero(bad)))
    records = records[~bad]
    tag, time = records["tag"].astype(np.int64), records["time"].astype(np.int64) * NS_PER_COUNT
    end_tag = _end_tag(tag)
    is_start = (tag == 0) | (tag > end_tag)
    jobs = np.unique(tag[is_start & (tag != 0)])
    warn("other", "changes of the job's number within the step points", max(len(jobs) - 1, 0))
    segment = _segments(tag == end_tag, is_start, tag == _FORWARD)
    spans = _Spans.of(segment, tag, time, is_start, end_tag)
    steps = _steps(spans, builder, has_init_graph=has_init_graph)
    between = (tag >= _FIRST_COMMUNICATION) & (tag < end_tag)
    stream = records["stream"].astype(np.int64)
    return StepPoints(steps, _regions(segment[between], tag[between], stream[between], time[between], builder))


def _fits(record: bytes) -> bool:
    tag, time = int.from_bytes(record[:8], "little"), int.from_bytes(record[12:], "little")
    return tag < _LARGEST_TAG and 0 < time < LARGEST_COUNT


def _end_tag(tag: IntArray) -> int:
    """Which of the two tags ends steps: the new one unless it is absent or is the number of the job.

    Where it is the job's number it stands right before the forward start, and the old end before it.
    """
    new = np.flatnonzero(tag == _NEW_END)
    if not len(new) or not (tag == _OLD_END).any():
        return _NEW_END if len(new) else _OLD_END
    after_old = np.count_nonzero(tag[np.maximum(new - 1, 0)] == _OLD_END)
    return _OLD_END if 2 * after_old >= len(new) else _NEW_END


def _segments(is_end: BoolArray, is_start: BoolArray, is_forward: BoolArray) -> IntArray:
    """Number of the step that each record belongs to: a new one after every end, at every start, and at a second
    forward start, so that a lost record never merges two steps."""
    begins = is_start.copy()
    begins[1:] |= is_end[:-1]
    begins[:1] = False
    forward = np.flatnonzero(is_forward)
    segment = np.cumsum(begins)
    again = forward[1:][segment[forward[1:]] == segment[forward[:-1]]]
    begins[again] = True
    return np.cumsum(begins).astype(np.int64)


@dataclass(frozen=True)
class _Spans:
    """Times of each segment's points; NULL where it has none."""

    first: IntArray
    last: IntArray
    start: IntArray
    forward: IntArray
    backward: IntArray
    end: IntArray

    @staticmethod
    def of(segment: IntArray, tag: IntArray, time: IntArray, is_start: BoolArray, end_tag: int) -> _Spans:
        """Points of the segments; of several with one tag the first forward start and the last of all others count."""
        count = int(segment[-1]) + 1 if len(segment) else 0

        def times(rows: Column) -> IntArray:
            found = np.full(count, NULL, np.int64)
            found[segment[rows]] = time[rows]
            return found

        everything = np.arange(len(tag))
        last = np.full(count, NULL, np.int64)
        np.maximum.at(last, segment, time)
        return _Spans(
            first=times(everything[::-1]),
            last=last,
            start=times(np.flatnonzero(is_start)),
            forward=times(np.flatnonzero(tag == _FORWARD)[::-1]),
            backward=times(np.flatnonzero(tag == _BACKWARD)),
            end=times(np.flatnonzero(tag == end_tag)),
        )


def _steps(spans: _Spans, builder: TraceBuilder, *, has_init_graph: bool) -> list[GivenStep]:
    """The steps in order of the log. After a lost end the time of the next step's begin is unknown: a new window."""
    count = len(spans.first)
    steps: list[GivenStep] = []
    window, numbered = 1, 0
    init = _init_step(spans) if has_init_graph else None
    for place in range(count):
        forward, backward, end = int(spans.forward[place]), int(spans.backward[place]), int(spans.end[place])
        after = place > 0 and place - 1 != init and spans.end[place - 1] != NULL
        if place > 0 and place - 1 != init and not after:
            window += 1
        begin = int(spans.end[place - 1]) if after else _own_begin(spans, place)
        until = end if end != NULL else _open_end(spans, place)
        whole = end != NULL and end >= begin and (after or forward != NULL)
        if end != NULL and end < begin:
            builder.warnings.add("clock_disorder", "steps that end before they begin; left out of averages")
        numbered += place != init
        number = 0 if place == init else numbered
        steps.append(
            GivenStep(
                step=number,
                start_ns=min(begin, until),
                end_ns=max(begin, until),
                label=f"step {number}",
                complete=bool(whole),
                window=0 if place == init else window,
                forward_start_ns=None if forward == NULL else forward,
                backward_end_ns=None if backward == NULL else backward,
            )
        )
    lost = int(np.count_nonzero(spans.end[:-1] == NULL))
    builder.warnings.add("lost_records", "steps whose end is not in the step points", lost)
    return steps


def _init_step(spans: _Spans) -> int | None:
    """The first whole step, where others follow."""
    whole = np.flatnonzero((spans.end != NULL) & (spans.forward != NULL))
    return int(whole[0]) if len(whole) > 1 else None


def _own_begin(spans: _Spans, place: int) -> int:
    """Begin of a step told by itself: its forward start, else its start tag, else its first point."""
    for points in (spans.forward, spans.start, spans.first):
        if points[place] != NULL:
            return int(points[place])
    return 0


def _open_end(spans: _Spans, place: int) -> int:
    """Where a step without an end must have ended: before the next one's first point; at its own last point."""
    if place + 1 < len(spans.first):
        return max(int(spans.last[place]), int(spans.first[place + 1]))
    return int(spans.last[place])


def _regions(segment: IntArray, tag: IntArray, stream: IntArray, time: IntArray, builder: TraceBuilder) -> Regions:
    """Pairs of an odd tag and the even one after it, in one step and on one stream."""
    pair = (tag - 1) // 2
    order = np.lexsort((tag, pair, stream, segment))
    segment, tag, stream, time, pair = (each[order] for each in (segment, tag, stream, time, pair))
    odd = tag % 2 == 1
    mates = odd[:-1] & ~odd[1:] & (segment[1:] == segment[:-1]) & (stream[1:] == stream[:-1]) & (pair[1:] == pair[:-1])
    first = np.flatnonzero(mates)
    unpaired = len(tag) - 2 * len(first)
    builder.drop("unbalanced", unpaired)
    builder.warnings.add("unbalanced", "communication points without their other end; left out", unpaired)
    return Regions(stream[first], tag[first], time[first], time[first + 1])
