"""From rows of laptime's log to rows of a trace: slices, counters, queues, steps."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from laptime.importers.laptime_calls import add_call_stacks
from laptime.importers.laptime_log import Block, Counter, Log, PipelineOp, Queue, Slice, Stack, StartUp, Step, Thread
from laptime.model.builder import BASE_KIND_CODE, GivenStep, TraceBuilder
from laptime.model.classify import MIRROR, is_loading
from laptime.model.tracks import TrackKey
from laptime.model.vocabulary import KINDS


class Window(Protocol):
    """A stretch of time that was recorded as a whole."""

    number: int
    start_ns: int
    ahead_ns: int
    end_ns: int | None
    state: str


class _Clock:
    """From the log's clock to Unix time, by the window that a time lies in."""

    def __init__(self, windows: Sequence[Window]) -> None:
        self._starts = [window.start_ns for window in windows]
        self._ahead = [window.ahead_ns for window in windows]

    def unix(self, time_ns: int) -> int:
        """Unix time."""
        if not self._starts:
            return time_ns
        return time_ns + self._ahead[max(bisect_right(self._starts, time_ns) - 1, 0)]


def add_rows(log: Log, windows: Sequence[Window], main_track: int | None, builder: TraceBuilder) -> None:
    """Adds slices, counters and the data pipeline. `main_track` is the training thread's, where a framework told it."""
    clock = _Clock(windows)
    tracks = _Tracks(log, main_track, builder)
    add_call_stacks(log, clock.unix, tracks.code, builder)
    _add_slices(log, clock, tracks, builder)
    _add_counters(log, clock, builder)
    _add_pipeline(log, clock, builder)
    builder.read += len(log.rows) + log.bad
    builder.drop("invalid_json", log.bad)


def add_start_ups(log: Log, windows: Sequence[Window], builder: TraceBuilder) -> list[list[int]]:
    """The waits for the first batch of fresh iterators, in Unix time; then the framework's slices are no data waits."""
    clock = _Clock(windows)
    spans = [[clock.unix(row.start_ns), clock.unix(row.end_ns)] for row in log.of(StartUp) if row.end_ns > row.start_ns]
    is_loader = np.array([is_loading(text) for text in builder.names.texts] or [False], bool)
    if spans and is_loader.any():
        columns = {name: builder.slices.joined(name) for name in ("name", "start", "dur", "kind")}
        starts, ends = np.array(sorted(spans), np.int64).T
        middle = columns["start"] + np.maximum(columns["dur"], 0) // 2
        place = np.maximum(np.searchsorted(starts, middle, side="right") - 1, 0)
        inside = (middle >= starts[place]) & (middle <= ends[place]) & is_loader[columns["name"]]
        builder.slices.put("kind", np.where(inside, BASE_KIND_CODE[MIRROR], columns["kind"]))
    return spans


def _add_slices(log: Log, clock: _Clock, tracks: _Tracks, builder: TraceBuilder) -> None:
    slices = [row for row in log.of(Slice) if row.end_ns >= row.start_ns and row.kind in KINDS]
    odd = len(log.of(Slice)) - len(slices)
    builder.drop("invalid_json", odd)
    builder.warnings.add("invalid_json", "slices of the log with impossible times or kinds; dropped", odd)
    builder.main_track = tracks.main
    if not slices:
        return
    stacks = {row.number: builder.texts["call_stack"].code(row.frames) for row in log.of(Stack)}
    count = len(slices)

    def column(values: list[int], kind: type[np.generic]) -> np.ndarray[tuple[int], np.dtype[np.generic]]:
        return np.array(values, kind)

    builder.add_slices(
        count,
        {
            "track": column([tracks.code(row.thread) for row in slices], np.int32),
            "start": column([clock.unix(row.start_ns) for row in slices], np.int64),
            "dur": column([row.end_ns - row.start_ns for row in slices], np.int64),
            "name": builder.names.codes(row.name for row in slices),
            "kind": column([BASE_KIND_CODE[row.kind] for row in slices], np.int8),
            "category": np.full(count, builder.categories.code("laptime"), np.int32),
            "call_stack": column([-1 if row.stack is None else stacks.get(row.stack, -1) for row in slices], np.int32),
        },
    )


class _Tracks:
    """Tracks of threads: the framework's where it recorded the thread too."""

    def __init__(self, log: Log, main_track: int | None, builder: TraceBuilder) -> None:
        self._builder = builder
        self._pid = log.facts.get("pid")
        self._threads = {row.thread: row for row in log.of(Thread)}
        self._codes: dict[int, int] = {}
        self._main_thread = log.facts.get("main_thread")
        self.main: int | None = main_track
        if isinstance(self._main_thread, int):
            if main_track is not None:
                self._codes[self._main_thread] = main_track
            else:
                self.main = self.code(self._main_thread)

    def code(self, thread: int) -> int:
        """Track of a thread."""
        if thread not in self._codes:
            row = self._threads.get(thread)
            pid = str(self._pid if row is None else row.pid)
            if row is not None:
                self._builder.tracks.thread_names.setdefault((pid, str(thread)), row.name)
            self._codes[thread] = self._builder.tracks.code(TrackKey("thread", pid, str(thread)))
        return self._codes[thread]


def _add_counters(log: Log, clock: _Clock, builder: TraceBuilder) -> None:
    by_name: dict[tuple[str, str], list[Counter]] = defaultdict(list)
    for row in log.of(Counter):
        by_name[row.name, row.unit].append(row)
    for (name, unit), rows in by_name.items():
        track = builder.tracks.code(TrackKey("counter", str(log.facts.get("pid", "")), "", name=name, unit=unit))
        builder.counters.append(
            len(rows),
            {
                "track": np.full(len(rows), track, np.int32),
                "ts": np.array([clock.unix(row.time_ns) for row in rows], np.int64),
                "value": np.array([row.value for row in rows], np.float64),
            },
        )


def given_steps(log: Log, windows: Sequence[Window]) -> list[GivenStep]:
    """The steps that training marked; where it ended none, several windows are a step each. Else none is known."""
    rows = [row for row in log.of(Step) if row.end_ns >= row.start_ns]
    clock = _Clock(windows)
    marked = [
        GivenStep(
            step=row.number,
            start_ns=clock.unix(row.start_ns),
            end_ns=clock.unix(row.end_ns),
            label=f"step {row.number}",
            complete=row.complete,
            window=row.window,
        )
        for row in rows
    ]
    begun = [window for window in windows if window.state != "failed"]
    if len(begun) < 2 or any(row.complete for row in rows):
        return marked
    numbers = {row.number for row in rows}
    whole = [step for step in _windows_as_steps(log, begun) if step.step not in numbers]
    return sorted([*marked, *whole], key=lambda step: step.start_ns)


def _windows_as_steps(log: Log, windows: Sequence[Window]) -> list[GivenStep]:
    """Each window that ended, by its block where the log holds one: from its start on the framework's profiler ran."""
    blocks = {row.window: row for row in log.of(Block) if row.end_ns >= row.start_ns}
    found = []
    for window in windows:
        block = blocks.get(window.number)
        start, end = (window.start_ns, window.end_ns) if block is None else (block.start_ns, block.end_ns)
        if end is None or window.end_ns is None:
            continue
        found.append(
            GivenStep(
                step=window.number if block is None else block.number,
                start_ns=start + window.ahead_ns,
                end_ns=end + window.ahead_ns,
                label=f"window {window.number}",
                complete=window.state == "whole",
                window=window.number,
            )
        )
    return found


def shifted(step: GivenStep, shift_ns: int) -> GivenStep:
    """A step on a clock that is `shift_ns` ahead."""

    def moved(time: int | None) -> int | None:
        return None if time is None else time + shift_ns

    return replace(
        step,
        start_ns=step.start_ns + shift_ns,
        end_ns=step.end_ns + shift_ns,
        forward_start_ns=moved(step.forward_start_ns),
        backward_end_ns=moved(step.backward_end_ns),
        optimizer_start_ns=moved(step.optimizer_start_ns),
    )


def following(known: Sequence[GivenStep], found: Sequence[GivenStep], *, window: int) -> list[GivenStep]:
    """Steps of a further window, numbered after those known."""
    ahead = known[-1].step + 1 - min((step.step for step in found), default=0) if known else 0
    return [replace(step, step=step.step + ahead, window=window) for step in found]


def with_points(steps: Sequence[GivenStep], told: Sequence[GivenStep]) -> list[GivenStep]:
    """Steps with the points that the framework's files tell: the first forward pass, the last backward one."""
    forward, backward, optimizer = (
        sorted(time for each in told if (time := getattr(each, name)) is not None)
        for name in ("forward_start_ns", "backward_end_ns", "optimizer_start_ns")
    )
    return [
        replace(
            step,
            forward_start_ns=min(_inside(step, forward), default=step.forward_start_ns),
            backward_end_ns=max(_inside(step, backward), default=step.backward_end_ns),
            optimizer_start_ns=min(_inside(step, optimizer), default=step.optimizer_start_ns),
        )
        for step in steps
    ]


def _inside(step: GivenStep, times: Sequence[int]) -> Sequence[int]:
    """Those of sorted times that lie in a step."""
    return times[bisect_left(times, step.start_ns) : bisect_right(times, step.end_ns)]


def _add_pipeline(log: Log, clock: _Clock, builder: TraceBuilder) -> None:
    """Queue samples carry the step that asks for the batch; figures of a stage's queue stand with its operator."""
    steps = sorted(log.of(Step), key=lambda row: row.start_ns)
    starts = [row.start_ns for row in steps]
    sizes: dict[str, list[Queue]] = defaultdict(list)
    for row in log.of(Queue):
        sizes[row.queue].append(row)
        place = bisect_right(starts, row.time_ns) - 1
        builder.queue_samples.append(
            {
                "queue": row.queue,
                "stage": row.stage,
                "step": steps[place].number if place >= 0 and row.time_ns < steps[place].end_ns else None,
                "ts_ns": clock.unix(row.time_ns),
                "size": row.size,
                "capacity": row.capacity,
            }
        )
    for op in {row.op_id: row for row in log.of(PipelineOp)}.values():
        builder.pipeline_ops.append(
            {
                "op_id": op.op_id,
                "op_type": op.op_type,
                "name": op.name,
                "workers": op.workers,
                "parent_id": op.parent_id,
                **_queue_figures(sizes.get(op.queue or "", [])),
                "queue": op.queue,
            }
        )


def _queue_figures(samples: list[Queue]) -> dict[str, object]:
    capacity = max((row.capacity for row in samples if row.capacity), default=None)
    known = capacity is not None and bool(samples)
    mean = sum(row.size for row in samples) / len(samples) if samples else None
    return {
        "queue_mean_size": mean if known else None,
        "queue_capacity": capacity,
        "queue_usage_share": mean / capacity if known and mean is not None and capacity else None,
        "queue_empty_share": sum(row.size == 0 for row in samples) / len(samples) if known else None,
        "queue_samples": len(samples) if known else None,
    }
