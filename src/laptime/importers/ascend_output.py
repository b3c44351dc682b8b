"""ASCEND_PROFILER_OUTPUT: what torch_npu's and MindSpore's profilers export of one rank on an Ascend NPU.

`{worker}_{time}_ascend_pt` (torch_npu) or `_ascend_ms` (MindSpore) holds profiler_info_{rank}.json,
profiler_metadata.json and ASCEND_PROFILER_OUTPUT, as text (trace_view.json, kernel_details.csv, step_trace_time.csv,
memory tables, communication.json) or as SQLite (.db). Specified by the vendor's pages and MindSpore's source; tried on
real files of torch_npu. Every file is optional: the timeline comes from trace_view.json, else kernel_details.csv, else
the .db, else communication.json; the other files add operators, memory, steps and what each collective waited for.
PROF_* is not read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from laptime.errors import LaptimeError
from laptime.importers import ascend_output_database as database
from laptime.importers import ascend_output_sums as sums
from laptime.importers.ascend_output_checks import Intervals, StoredStep, warn_of_mismatches, warn_of_types
from laptime.importers.ascend_output_communication import Collective, Collectives, collectives_in_json
from laptime.importers.ascend_output_facts import Facts, facts_of
from laptime.importers.ascend_output_folders import FORMAT, OUTPUT
from laptime.importers.ascend_output_kernels import Kernels, add_kernel_slices, kernels_of
from laptime.importers.ascend_output_memory import add_blocks, add_curves, blocks_of, device_in
from laptime.importers.ascend_output_missing import Present, not_recorded
from laptime.importers.ascend_output_sqlite import Database
from laptime.importers.ascend_output_tables import TextTable, read_table
from laptime.importers.ascend_output_trace import AscendFeeder, processes_of, read_timeline
from laptime.importers.decoders import Decoders
from laptime.importers.progress import Progress
from laptime.importers.sources import Source
from laptime.model.builder import GivenStep, TraceBuilder
from laptime.model.classify import is_profiler_step
from laptime.model.vocabulary import NULL

_PARTS = {
    "computing": "Computing",
    "communication": "Communication",
    "communication_not_overlapped": "Communication(Not Overlapped)",
}


class AscendOutput:
    """A rank's folder of Ascend's profilers."""

    name = FORMAT

    def matches(self, head: bytes, source: Source) -> bool:
        """Never: folder recordings are told by their names."""
        return False

    def read(self, source: Source, builder: TraceBuilder, progress: Progress, decoders: Decoders) -> None:
        """Reads the files of the folder."""
        files = _named(source)
        if not files:
            raise _never_exported(source)
        facts = facts_of(source, files, builder.warnings)
        recording = _Recording(files, facts, builder)
        recording.read(progress, decoders)
        builder.meta.update(
            {
                "format": self.name,
                "framework": facts.framework,
                "framework_version": facts.framework_version,
                "rank": facts.rank,
                "world_size": facts.world_size,
                "parallel_groups": facts.parallel_groups,
                "switches": facts.switches,
            }
        )
        if not builder.slices.count and not builder.read and not builder.counters.count and not builder.steps:
            builder.warnings.add("other", "no file of the recording holds a timeline")


def _named(source: Source) -> dict[str, Path]:
    """Files of ASCEND_PROFILER_OUTPUT by name without `.gz`; those that hold nothing are left out."""
    return {
        file.name.removesuffix(".gz"): file
        for file in source.files
        if file.parent.name == OUTPUT and file.stat().st_size
    }


def _never_exported(source: Source) -> LaptimeError:
    if any(file.parent.name == OUTPUT for file in source.files):
        return LaptimeError(
            "all files of ASCEND_PROFILER_OUTPUT are empty",
            where=source.name,
            remedy="export the recording again, or record again",
        )
    module = "mindspore" if source.path.name.endswith("_ms") else "torch_npu"
    call = f'from {module}.profiler.profiler import analyse; analyse("{source.path}")'
    return LaptimeError(
        "a raw recording of an Ascend NPU without ASCEND_PROFILER_OUTPUT",
        where=source.name,
        remedy=f"export it where it was recorded: python -c '{call}'",
    )


@dataclass
class _Recording:
    """The files of one rank on their way into a builder."""

    files: dict[str, Path]
    facts: Facts
    builder: TraceBuilder

    def read(self, progress: Progress, decoders: Decoders) -> None:
        """Reads the timeline from the best file there is, then what the others add."""
        details, curves, blocks = (
            self._table(name) for name in ("kernel_details.csv", "memory_record.csv", "operator_memory.csv")
        )
        collectives = Collectives(self.builder, self._collectives())
        device = self._device(details, curves, blocks)
        kernels = None if details is None else kernels_of(details, collectives, self.builder)
        work = Intervals()
        if "trace_view.json" in self.files:
            work = self._read_timeline(kernels, collectives, device, progress, decoders)
        if details is not None and kernels is not None and not work.span():
            add_kernel_slices(details, kernels, device, self.builder)
            work = kernels.work()
        recorded = None if work.span() or details is not None else self._database()
        if recorded is not None:
            work = database.read_database(recorded, collectives, self.builder)
            self.builder.meta["device_names"] = database.device_names(recorded)
        alone = not work.span() and bool(collectives.entries)
        if alone:
            self._read_collectives(collectives, device)
        self._add_memory(curves, blocks, device)
        self._add_steps(kernels, recorded)
        self._compare(kernels, work, computes=not alone)
        present = Present(
            host="trace_view.json" in self.files or recorded is not None,
            kernels=not alone,
            types=recorded is not None or (kernels is not None and any(kind for kind, _ in kernels.types)),
            collectives=bool(collectives.entries),
        )
        self.builder.meta["not_recorded"] = not_recorded(self.facts, present)

    def _table(self, name: str) -> TextTable | None:
        return read_table(self.files[name], self.builder.warnings) if name in self.files else None

    def _database(self) -> Database | None:
        path = next((file for file in self.files.values() if database.is_recording(file)), None)
        return None if path is None else Database(path, self.builder.warnings)

    def _sums(self) -> list[Database]:
        """The databases of the vendor's sums."""
        return [Database(self.files[name], self.builder.warnings) for name in sums.NAMES if name in self.files]

    def _collectives(self) -> list[Collective]:
        if "communication.json" in self.files:
            return collectives_in_json(self.files["communication.json"], self.builder.warnings)
        return [entry for each in self._sums() for entry in sums.stored_collectives(each)]

    def _device(self, details: TextTable | None, *memory: TextTable | None) -> int | None:
        steps = self._table("step_trace_time.csv")
        for table in (details, steps):
            known = [number for number in table.integers("Device_id").tolist() if number != NULL] if table else []
            if known:
                return int(known[0])
        found = [device_in(table) for table in memory]
        return next((device for device in found if device is not None), None)

    def _read_timeline(
        self,
        kernels: Kernels | None,
        collectives: Collectives,
        device: int | None,
        progress: Progress,
        decoders: Decoders,
    ) -> Intervals:
        path = self.files["trace_view.json"]
        feeder = AscendFeeder(
            self.builder,
            processes_of(path),
            device=device,
            op_by_start={} if kernels is None else kernels.op_by_start(),
            collectives=collectives,
        )
        read_timeline(path, feeder, self.builder, progress, decoders)
        return feeder.work

    def _read_collectives(self, collectives: Collectives, device: int | None) -> None:
        """Collectives alone: what else the device did is unknown, so none of its sums would be right."""
        collectives.add_slices(device)
        self.builder.steps = _steps_of(collectives.by_step(), complete=False)
        self.builder.meta.update({"device_covered_ns": (0, 0), "device_log_ns": (0, 0)})
        self.builder.warnings.add(
            "other",
            "no trace_view.json, kernel_details.csv or .db: collectives only, what the device computed is unknown",
        )

    def _add_memory(self, curves: TextTable | None, blocks: TextTable | None, device: int | None) -> None:
        if curves is not None:
            add_curves(curves, self.builder, mindspore=self.facts.framework == "mindspore")
        if blocks is not None:
            add_blocks(blocks_of(blocks), device, self.builder)

    def _add_steps(self, kernels: Kernels | None, recorded: Database | None) -> None:
        """Steps by their numbers in the tables, where the timeline has no markers."""
        if self.builder.steps or any(is_profiler_step(name) for name in self.builder.names.texts):
            return
        steps = [] if recorded is None else database.given_steps(recorded)
        steps = steps or ([] if kernels is None else _steps_of(kernels.by_step()))
        self.builder.steps = steps

    def _compare(self, kernels: Kernels | None, work: Intervals, *, computes: bool) -> None:
        statistic = None if kernels is None else self._table("op_statistic.csv")
        if kernels is not None and statistic is not None:
            warn_of_types(_types_of(statistic), kernels.by_type(), self.builder.warnings)
        stored = self._stored_steps()
        by_step = {} if kernels is None else {step: own.times() for step, own in kernels.by_step().items()}
        if len(stored) == 1 and not by_step.keys() & {stored[0].step}:
            by_step = {stored[0].step: work.times()}
        if computes:
            warn_of_mismatches(stored, by_step, self.builder.warnings)
        self.builder.meta["stored_steps"] = [
            {"step": row.step, **{f"{part}_ns": ns for part, ns in row.times.items() if ns != NULL}} for row in stored
        ]

    def _stored_steps(self) -> list[StoredStep]:
        table = self._table("step_trace_time.csv")
        if table is None:
            return [row for each in self._sums() for row in sums.stored_steps(each)]
        times = {part: table.times_ns(column).tolist() for part, column in _PARTS.items()}
        return [
            StoredStep(step, {part: column[row] for part, column in times.items()})
            for row, step in enumerate(table.texts("Step"))
        ]


def _types_of(statistic: TextTable) -> dict[tuple[str, str], tuple[int, int]]:
    """Executions and their time by operator type and core, as op_statistic.csv has them."""
    keys = zip(statistic.texts("OP Type"), statistic.texts("Core Type"), strict=True)
    counts, times = statistic.integers("Count").tolist(), statistic.times_ns("Total Time(us)").tolist()
    return {key: (count, time) for key, count, time in zip(keys, counts, times, strict=True) if count != NULL}


def _steps_of(work: dict[str, Intervals], *, complete: bool = True) -> list[GivenStep]:
    """Steps as the span of the work that the tables book on them."""
    found = []
    for step, own in work.items():
        span = own.span()
        if span and re.fullmatch(r"\d{1,17}", step):
            found.append(GivenStep(int(step), *span, label=f"step {step}", complete=complete))
    return found
