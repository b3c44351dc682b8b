"""Processed folders of the MindSpore profiler (usually named `profiler/`), which the MindInsight Profiler opens.

What `Profiler.analyse()` of MindSpore 0.5 to 2.3 writes for device targets Ascend and GPU: a file of each kind for
each device, told apart by the number in its name. Each file is optional. Read are: the timeline, or what was written
for chrome://tracing; the step trace with its communication; operators; sums by operator; AI CPU; MindData's queues;
communication, FLOPs, memory, cluster and parallel figures as facts. `output_format_data_hwts` is read where the
timeline made of it is absent. The printed report, `memory_usage_details` and `flops_scope` are not read.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.errors import LaptimeError
from laptime.importers.decoders import Decoders
from laptime.importers.minddata import read_minddata
from laptime.importers.mindinsight_display import (
    Display,
    add_host_slices,
    read_display,
    region_offset,
    summary,
)
from laptime.importers.mindinsight_files import FORMAT
from laptime.importers.mindinsight_hwts import read_hwts_text
from laptime.importers.mindinsight_operators import OperatorBook
from laptime.importers.mindinsight_reading import Folder
from laptime.importers.mindinsight_steps import StepRows, read_steps
from laptime.importers.mindinsight_timeline import (
    Executions,
    add_regions,
    add_slices,
    add_sums,
    clock_offset,
    covered_span,
    cycle_counter_ns,
    read_aicpu,
    read_timeline,
)
from laptime.importers.mindinsight_totals import add_totals, compare_means
from laptime.importers.mindinsight_vendor import note_vendor_figures
from laptime.importers.progress import Progress
from laptime.importers.sources import Source
from laptime.model.builder import TraceBuilder
from laptime.model.vocabulary import NULL

_NO_CLOCK = "executions whose clock has no relation to that of the steps; only their sums are kept"
_NO_KERNELS = {
    "what": "executions on the device (output_timeline_data, timeline_display), and with them the steps' budgets",
    "how_to_record": "mindspore.Profiler(op_time=True), then analyse(); copy the whole profiler folder",
}
_ROUNDING_NS = 1_000


class MindInsightFolder:
    """The processed folder of one device."""

    name = FORMAT

    def matches(self, head: bytes, source: Source) -> bool:
        """Never: folders are told by their files' names."""
        return False

    def read(self, source: Source, builder: TraceBuilder, progress: Progress, decoders: Decoders) -> None:
        """Reads all files of the device."""
        if not any(file.stat().st_size for file in source.files):
            raise LaptimeError("all files are empty", where=source.name, remedy="run Profiler.analyse() again")
        builder.meta.update({"format": self.name, "framework": "mindspore", "records_launches": False})
        reading = _Reading(Folder(source.files, builder), source.device or 0)
        reading.read()
        note_vendor_figures(reading.folder, reading.device)
        read_minddata(source.files, builder)
        progress(1, 1)


@dataclass
class _Placed:
    """Executions on AI Cores or GPU streams, and what to add to their times."""

    executions: Executions
    offset_ns: int | None


class _Reading:
    """What is read of one device, in the order that clocks need: steps, timeline, then what lies around them."""

    def __init__(self, folder: Folder, device: int) -> None:
        self.folder = folder
        self.device = device
        self.builder = folder.builder
        self.book = OperatorBook(folder)
        self.steps: StepRows = read_steps(folder)
        self.builder.steps = list(self.steps.steps)
        self.origin_ns = cycle_counter_ns(folder)
        self.aicpu_count = 0

    def read(self) -> None:
        """Slices, sums and facts."""
        regions = self.steps.regions
        has_regions = add_regions(self.builder, self.book, self.device, regions) > 0
        timeline, others = read_timeline(self.folder), None
        if timeline is None and (log := read_hwts_text(self.folder, self.book)) is not None:
            timeline, others = log.operators, log.others
        placed = [_Placed(found, self._offset_of(found)) for found in (timeline, others) if found is not None]
        placed += self._read_displays(timeline=timeline is not None, communication=has_regions)
        for each in placed:
            self._add(each)
        compare_means(self.folder, timeline)
        self._add_aicpu(placed)
        self._note_coverage(placed)
        add_totals(self.folder, self.book)
        self._compare_summaries(timeline)

    def _offset_of(self, found: Executions) -> int | None:
        return clock_offset(found, self.steps.span, self.origin_ns)

    def _add(self, placed: _Placed) -> None:
        found, offset = placed.executions, placed.offset_ns
        if offset is not None:
            add_slices(self.builder, self.book, self.device, found, offset)
            return
        self.builder.read += len(found)
        self.builder.drop("no_common_clock", len(found))
        self.builder.warnings.add("clock_disorder", _NO_CLOCK, len(found))
        add_sums(self.builder, self.book, found, found.dur_ns)

    # ---- displays ----

    def _read_displays(self, *, timeline: bool, communication: bool) -> list[_Placed]:
        """Executions of displays, as far as no other file tells them."""
        found = []
        for kind, device_kind in (("ascend_display", "ai_core"), ("gpu_display", "gpu")):
            if timeline and communication:
                continue
            display = read_display(self.folder, kind, device_kind)
            if display is None:
                continue
            self.builder.read += display.derived
            self.builder.drop("derived", display.derived)
            found += self._of_display(display, timeline=timeline, communication=communication)
            timeline = timeline or len(display.device) > 0
        return found

    def _of_display(self, display: Display, *, timeline: bool, communication: bool) -> list[_Placed]:
        offset = self._display_offset(display)
        parts = [] if timeline else [display.device]
        if not communication:
            parts.append(display.communication)
        if not self.folder.path("aicpu") and not self.folder.path("aicpu_text"):
            parts.append(display.aicpu)
        if offset is not None:
            add_host_slices(self.builder, display.host, offset)
        return [_Placed(part, offset) for part in parts if len(part)]

    def _display_offset(self, display: Display) -> int | None:
        if self.steps.regions:
            offset = region_offset(display, np.concatenate([region.start_ns for region in self.steps.regions]))
            if offset is not None:
                return offset
        return self._offset_of(display.device if len(display.device) else display.communication)

    # ---- AI CPU ----

    def _add_aicpu(self, placed: list[_Placed]) -> None:
        """Slices, and for operators that only wait, sums: their time is no work of the device."""
        found = read_aicpu(self.folder)
        if found is None:
            return
        executions, total_ns = found
        self.aicpu_count = len(executions)
        span = self.steps.span or next((each.executions.span for each in placed if each.offset_ns == 0), None)
        waits = [kind == "data" for kind in executions.kinds]
        offset = clock_offset(executions, span, None)
        if offset is None:
            self._add(_Placed(executions, None))
            return
        rows = executions.start_ns != NULL
        self.folder.drop_rows("aicpu", int((~rows).sum()))
        known = {name for name, wait in zip(executions.full_names, waits, strict=True) if not wait}
        add_slices(self.builder, self.book, self.device, executions.where(rows), offset)
        self.book.timed.difference_update(set(executions.full_names) - known)
        add_sums(self.builder, self.book, executions, total_ns)

    # ---- what is covered, what disagrees ----

    def _note_coverage(self, placed: list[_Placed]) -> None:
        """Steps without executions have no budget: an empty span where no execution lies on their clock."""
        spans = [
            span
            for each in placed
            if each.offset_ns is not None
            and each.executions.device_kind in ("ai_core", "gpu")
            and (span := covered_span(each.executions, each.offset_ns, self.steps.steps))
        ]
        if not spans:
            self.builder.meta["device_kernels_recorded"] = False
            self.builder.meta["not_recorded"] = [_NO_KERNELS]
        if not self.steps.steps:
            return
        first = self.steps.steps[0]
        self.builder.meta["first_step_without_begin"] = first.forward_start_ns == first.start_ns
        covered = spans[0] if spans else (first.start_ns, first.start_ns)
        self.builder.meta["device_covered_ns"] = covered
        if spans and any(step.start_ns < covered[0] or step.end_ns > covered[1] for step in self.steps.steps):
            self.builder.meta["device_log_ns"] = covered

    def _compare_summaries(self, timeline: Executions | None) -> None:
        meta, folder = self.builder.meta, self.folder
        gpu, stored = summary(folder, "gpu_summary"), summary(folder, "ascend_summary")
        meta.update({"gpu_timeline_summary": gpu} if gpu else {})
        meta.update({"timeline_summary": stored} if stored else {})
        if stored and timeline is not None:
            self._compare_summary(stored, timeline)

    def _compare_summary(self, stored: dict[str, object], timeline: Executions) -> None:
        """The stored count and time; they may hold the AI CPU's (whose ms MindSpore added to us)."""
        own = int(timeline.dur_ns[timeline.dur_ns != NULL].sum())
        total = stored["total_ns"]
        if stored["executions"] not in (len(timeline), len(timeline) + self.aicpu_count):
            what = f"tells {stored['executions']} executions, the timeline holds {len(timeline)}"
            self.folder.note_bad("ascend_summary", what, code="mismatch")
        if isinstance(total, int) and abs(total - own) > _ROUNDING_NS:
            what = f"tells {total / 1e6:.6f} ms in all, the executions of the timeline take {own / 1e6:.6f} ms"
            self.folder.note_bad("ascend_summary", what, code="mismatch")
