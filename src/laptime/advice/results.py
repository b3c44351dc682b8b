"""What rules ask: results of the analyses, each computed once for a recording, and only when a rule asks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property

import numpy as np

from laptime.analyses.budget import StepSpans
from laptime.analyses.device import DeviceWork, device_rows, work_of
from laptime.analyses.late_launches import LateGaps, late_gaps
from laptime.analyses.pipeline import pipeline
from laptime.analyses.report import averaged_places, steps_without_begin
from laptime.analyses.step_trace import StepTrace, step_trace
from laptime.model.arrays import IntArray
from laptime.model.trace import Run, Trace
from laptime.model.vocabulary import KIND_CODE, NULL, TRACK_KINDS

Json = dict[str, object]
_THREAD = TRACK_KINDS.index("thread")
_CPU = re.compile(r"cpu|multithread", re.IGNORECASE)


class RankResults:
    """Results about one recording of a run; arrays have one value for each step of the summary."""

    def __init__(self, index: int, trace: Trace, entry: Mapping[str, object]) -> None:
        self.index = index  # in the whole run
        self.trace = trace
        self.entry = entry

    @property
    def rank(self) -> int | None:
        """Rank in its job."""
        return self.trace.rank

    @property
    def framework(self) -> str:
        """Framework that trained; `other` where unknown."""
        return str(self.trace.meta.get("framework") or "other")

    @cached_property
    def runs_on_cpu(self) -> bool:
        """Whether the device is the CPU itself, so that kernels and the training loop share its cores."""
        names = self.trace.meta.get("device_names")
        names = list(names.values()) if isinstance(names, dict) else []
        return bool(names) and all(_CPU.match(str(name)) for name in names)

    @cached_property
    def stage(self) -> int | None:
        """Which stage of a pipeline the rank is, from 0; None where there are none, or the source does not tell."""
        groups, told = self.trace.meta.get("parallel_groups"), self.trace.meta.get("cluster")
        for group in groups.values() if isinstance(groups, dict) else ():
            ranks = group.get("global_ranks") or []
            if group.get("group_name") == "pp" and len(ranks) > 1 and self.rank in ranks:
                return int(ranks.index(self.rank))
        if isinstance(told, dict) and told.get("mode") == "pipeline" and told.get("ranks"):
            return int(told["rank"]) * int(told["stages"]) // int(told["ranks"])
        return None

    @cached_property
    def steps(self) -> list[Json]:
        """Steps that the report's summary is taken over; empty where none has a budget."""
        steps = self.entry["steps"]
        steps = steps if isinstance(steps, list) else []
        return [steps[place] for place in averaged_places(steps, skipped=steps_without_begin(self.trace))]

    @cached_property
    def spans(self) -> StepSpans:
        """Their spans."""
        start = np.array([step["start_ns"] for step in self.steps], np.int64)
        return StepSpans(start, start + np.array([step["dur_ns"] for step in self.steps], np.int64))

    @cached_property
    def totals(self) -> IntArray:
        """Their durations."""
        return self.spans.end - self.spans.start

    @property
    def budget(self) -> Mapping[str, int | None] | None:
        """Mean budget of the steps; None where none has one."""
        summary = self.entry["step_summary"]
        return summary["budget"] if isinstance(summary, dict) else None

    @property
    def basis(self) -> str | None:
        """What the budget was taken on: device or host."""
        return None if self.budget is None else str(self.budget["basis"])

    @property
    def inferred(self) -> bool:
        """Whether no step was marked."""
        return bool(self.steps) and self.steps[0]["source"] != "marked"

    def part(self, *names: str) -> IntArray:
        """Parts of each step's budget, added up; unknown counts nothing."""
        budgets = [budget if isinstance(budget := step["budget"], dict) else {} for step in self.steps]
        return np.array([sum(budget.get(name) or 0 for name in names) for budget in budgets], np.int64)

    def mean_part(self, *names: str) -> int:
        """Parts of the mean budget, added up: the most that a finding in them can save."""
        return sum((self.budget or {}).get(name) or 0 for name in names)

    def share(self, *names: str) -> float:
        """Share of the mean step that parts of its budget take; 0 where no budget is known."""
        total = self.mean_part("total_ns")
        return self.mean_part(*names) / total if total else 0.0

    def step_of(self, rows: IntArray) -> IntArray:
        """Which of the steps each slice starts in, by place; -1 for none."""
        start = self.trace.slices["start_ns"][rows]
        place = np.searchsorted(self.spans.start, start, side="right") - 1
        inside = (place >= 0) & (start < self.spans.end[np.maximum(place, 0)]) if len(self.steps) else place > 0
        return np.where(inside, place, -1)

    def rows_in_steps(self, kind: str, *, thread: int | None = None) -> IntArray:
        """Timed slices of a kind on threads (or on one of them) that start in the steps."""
        slices = self.trace.slices
        chosen = (slices["kind"] == KIND_CODE[kind]) & (self.trace.track_kind == _THREAD)
        if thread is not None:
            chosen &= slices["track_id"] == thread
        rows = np.flatnonzero(chosen & (slices["dur_ns"] != NULL))
        inside: IntArray = rows[self.step_of(rows) >= 0]
        return inside

    @cached_property
    def device_rows(self) -> IntArray:
        """Timed work of devices, all of the recording."""
        rows = device_rows(self.trace)
        timed: IntArray = rows[self.trace.slices["dur_ns"][rows] != NULL]
        return timed

    @cached_property
    def work(self) -> DeviceWork:
        """Unions of the devices' work."""
        return work_of(self.trace, self.device_rows)

    @cached_property
    def late_gaps(self) -> LateGaps:
        """Gaps of the devices that end late because of the host."""
        return late_gaps(self.trace, self.device_rows, self.work, self.spans)

    @cached_property
    def pipeline(self) -> Json:
        """The data pipeline."""
        return pipeline(self.trace)

    @cached_property
    def step_trace(self) -> StepTrace:
        """Interval, forward+backward and tail of each step."""
        return step_trace(self.trace)

    def longest(self, rows: IntArray, count: int = 3) -> IntArray:
        """The longest of some slices, longest first."""
        by_length: IntArray = np.argsort(-self.trace.slices["dur_ns"][rows], kind="stable")
        return rows[by_length[:count]]

    def name_of(self, row: int) -> str:
        """Name of a slice."""
        return self.trace.slices.texts("name")[int(self.trace.slices["name"][row])]


class Results:
    """Results about a run: the report on it or some of its recordings, and for each of these what is computed beyond.

    `whole` has all recordings, where `run` has only some.
    """

    def __init__(self, run: Run, report: Mapping[str, object], *, whole: Run | None = None) -> None:
        self.report = report
        self.whole = whole or run
        place = {id(trace): index for index, trace in enumerate(self.whole.traces)}
        entries = report["ranks"]
        self.ranks = [
            RankResults(place[id(trace)], trace, entry)
            for trace, entry in zip(run.traces, entries if isinstance(entries, list) else [], strict=True)
        ]

    @cached_property
    def one_job(self) -> bool:
        """Whether the recordings are different ranks of one job."""
        ranks = [rank.rank for rank in self.ranks]
        return len(ranks) > 1 and None not in ranks and len(set(ranks)) == len(ranks)

    @cached_property
    def peers(self) -> list[list[RankResults]]:
        """Recordings that do the same work and can be compared: ranks of one job, of the same pipeline stage."""
        if not self.one_job:
            return [[rank] for rank in self.ranks]
        stages = sorted({rank.stage for rank in self.ranks}, key=lambda stage: -1 if stage is None else stage)
        return [[rank for rank in self.ranks if rank.stage == stage] for stage in stages]
