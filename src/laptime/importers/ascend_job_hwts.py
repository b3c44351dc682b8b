"""The hardware task scheduler's log: when each task of each stream began and ended on the device.

Records of 64 bytes, little endian. Byte 0: type in bits 0-2 (0 start and 1 end of a task, 2 and 3 of a block, 4 a
block's counters), warning in bit 3, a counter in bits 4-7 that grows by one from record to record; bytes 2-3 the same
word in all records; 4-5 block, 6-7 task; 8-15 the time in counts of 10 ns; 16-19 stream. Blocks are not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from laptime.importers.ascend_job_slices import LARGEST_COUNT, NS_PER_COUNT, join
from laptime.model.arrays import BoolArray, Column, IntArray
from laptime.model.builder import TraceBuilder

SIZE = 64
_RECORD = np.dtype(
    {
        "names": ["head", "mark", "task", "time", "stream"],
        "formats": ["u1", "<u2", "<u2", "<u8", "<u4"],
        "offsets": [0, 2, 6, 8, 16],
        "itemsize": SIZE,
    }
)
_START, _END, _LAST_TYPE = 0, 1, 4
_USUAL_MARK = b"\xd3\x6b"
_SAME = 0.9
"""Where at least this share of the records has one mark, those with another are damaged."""


@dataclass(frozen=True)
class TaskRuns:
    """Tasks that ran, by stream, task and time: one row each."""

    stream: IntArray
    task: IntArray
    start_ns: IntArray
    end_ns: IntArray
    covered_ns: tuple[int, int] | None
    """First and last time in the log."""


def read_hwts(slices: Sequence[bytes], builder: TraceBuilder) -> TaskRuns:
    """Runs of all tasks; counts and names what is lost, damaged or unpaired."""
    mark = _mark_of(slices)
    joined = join(slices, SIZE, lambda record: record[0] & 7 <= _LAST_TYPE and record[2:4] == mark)
    warn = builder.warnings.add
    warn("lost_records", "gaps between slices of the hwts log; the records around them are lost", joined.torn)
    warn("truncated", "the hwts log ends inside a record", int(joined.rest > 0))
    records = np.frombuffer(joined.data, _RECORD)
    builder.read += len(records)
    records = _sound(records, builder)
    _warn_of_loss(records, builder)
    kind = records["head"] & 7
    is_task = kind <= _END
    builder.drop("not_shown", int(np.count_nonzero((kind > _END) & (kind <= _LAST_TYPE))))
    tasks = records[is_task]
    time = tasks["time"].astype(np.int64)
    warn("clock_disorder", "records of the hwts log that are older than the one before", _steps_back(time))
    return pair_tasks(
        tasks["stream"].astype(np.int64), tasks["task"].astype(np.int64), time, kind[is_task] == _END, builder
    )


def _mark_of(slices: Sequence[bytes]) -> bytes:
    """The word that all records carry: the usual one where the log holds it, else that of most records."""
    first = next((content for content in slices if content), b"")[: 1000 * SIZE]
    if 2 * first.count(_USUAL_MARK) >= len(first) // SIZE:
        return _USUAL_MARK
    marks = Counter(first[place + 2 : place + 4] for place in range(0, len(first), SIZE))
    return marks.most_common(1)[0][0]


def _sound(records: Column, builder: TraceBuilder) -> Column:
    """Without blank records and those that are no records of this log."""
    blank = (records["head"] == 0) & (records["mark"] == 0) & (records["time"] == 0) & (records["stream"] == 0)
    builder.drop("blank", int(np.count_nonzero(blank)))
    marks, counts = np.unique(records["mark"], return_counts=True)
    bad = (records["head"] & 7 > _LAST_TYPE) | (records["time"] >= LARGEST_COUNT)
    if len(records) and counts.max() >= _SAME * len(records):
        bad |= records["mark"] != marks[counts.argmax()]
    bad &= ~blank
    damaged = int(np.count_nonzero(bad))
    builder.drop("damaged", damaged)
    builder.warnings.add("lost_records", "records of the hwts log that are damaged; dropped", damaged)
    return records[~(bad | blank)] if damaged or blank.any() else records


def _warn_of_loss(records: Column, builder: TraceBuilder) -> None:
    counter = (records["head"] >> 4).astype(np.int8)
    lost = (counter[1:] - counter[:-1] - 1) & 15
    builder.warnings.add(
        "lost_records",
        "records missing from the hwts log by its sequence counter, at the least",
        int(lost.sum(dtype=np.int64)),
    )


def _steps_back(time: IntArray) -> int:
    return int(np.count_nonzero(time[1:] < time[:-1]))


def pair_tasks(stream: IntArray, task: IntArray, time: IntArray, is_end: BoolArray, builder: TraceBuilder) -> TaskRuns:
    """Ends with their starts, first in first out for each (stream, task).

    A start whose end is lost must not shift the pairs after it: the starts left over are those after which no later
    end brings the number of open ones back below theirs.
    """
    order = np.argsort(stream << 16 | task, kind="stable")
    key = (stream << 16 | task)[order]
    ends = is_end[order]
    orphan = _unopened(key, ends)
    order, key, ends = order[~orphan], key[~orphan], ends[~orphan]
    unclosed = _unclosed(key, ends)
    order, ends = order[~unclosed], ends[~unclosed]
    starts_at, ends_at = order[~ends], order[ends]
    for reason, rows, what in (
        ("unopened", orphan, "ends of tasks whose start is not in the hwts log; dropped"),
        ("unclosed", unclosed, "starts of tasks whose end is not in the hwts log; dropped"),
    ):
        count = int(np.count_nonzero(rows))
        builder.drop(reason, count)
        builder.warnings.add("unbalanced", what, count)
    covered = (int(time.min()) * NS_PER_COUNT, int(time.max()) * NS_PER_COUNT) if len(time) else None
    return TaskRuns(
        stream[starts_at], task[starts_at], time[starts_at] * NS_PER_COUNT, time[ends_at] * NS_PER_COUNT, covered
    )


def _open_counts(key: IntArray, ends: BoolArray) -> tuple[IntArray, IntArray]:
    """How many are open after each row of its key, and the number of each row's key."""
    new = np.concatenate([[True], key[1:] != key[:-1]])[: len(key)]
    group = np.cumsum(new) - 1
    total = np.cumsum(np.where(ends, -1, 1))
    first = np.flatnonzero(new)
    before = np.concatenate([[0], total])[first]
    return total - before[group], group


def _unopened(key: IntArray, ends: BoolArray) -> BoolArray:
    """Ends that find nothing open: the count falls below all before it."""
    if not len(key):
        return np.zeros(0, bool)
    count, group = _open_counts(key, ends)
    apart = np.int64(2 * len(key) + 2)
    least = np.minimum.accumulate(count - group * apart) + group * apart
    same = np.concatenate([[False], group[1:] == group[:-1]])
    before = np.where(same, np.concatenate([[0], least[:-1]]), 0)
    return np.asarray(ends & (count < np.minimum(before, 0)))


def _unclosed(key: IntArray, ends: BoolArray) -> BoolArray:
    """Starts after which the count never falls below what they made it."""
    if not len(key):
        return np.zeros(0, bool)
    count, group = _open_counts(key, ends)
    apart = np.int64(2 * len(key) + 2)
    upward = (count + group * apart)[::-1]
    least = np.minimum.accumulate(upward)[::-1] - group * apart
    return np.asarray(~ends & (least >= count))
