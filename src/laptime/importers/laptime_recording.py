"""laptime's own recordings: a log per process, and what the framework's profiler wrote of each window.

The windows of a process are one trace. Each file of a framework is read by the importer of its format; the log adds
steps, waits for data, scopes, queues and counters. All times are brought to Unix time.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from laptime.errors import LaptimeError
from laptime.importers.decoders import Decoders
from laptime.importers.laptime_folders import FORMAT, SUFFIX, recording_of
from laptime.importers.laptime_log import Begin, End, Fact, File, Log, Note, read_log
from laptime.importers.laptime_rows import (
    add_rows,
    add_start_ups,
    following,
    given_steps,
    shifted,
    with_points,
)
from laptime.importers.megengine_scopes import OWN_STEP
from laptime.importers.progress import Progress, silent
from laptime.importers.sources import Source, sources_beside
from laptime.model.builder import GivenStep, TraceBuilder
from laptime.model.joining import Joiner, first_time, fits

_FIRST_LINE = re.compile(rb'^\{"laptime":\s*\d')
_UNIX = 10**18
"""Times later than this are Unix time already."""


class _Importer(Protocol):
    name: str

    def read(self, source: Source, builder: TraceBuilder, progress: Progress, decoders: Decoders) -> None: ...


@dataclass
class Window:
    """A stretch of time that was recorded as a whole."""

    number: int
    start_ns: int
    ahead_ns: int
    """To be added to times of the log for Unix time."""
    end_ns: int | None = None
    state: str = "open"
    files: list[File] = field(default_factory=list)


class LaptimeRecording:
    """Recordings of `laptime.Profiler`."""

    name = FORMAT

    def __init__(self, others: Sequence[_Importer]) -> None:
        self._others = {importer.name: importer for importer in others}

    def matches(self, head: bytes, source: Source) -> bool:
        """Whether the first line is that of a log."""
        return bool(_FIRST_LINE.match(head))

    def read(self, source: Source, builder: TraceBuilder, progress: Progress, decoders: Decoders) -> None:
        """Reads the log and the files of its windows. Raises LaptimeError where it holds no window."""
        if source.member is not None:
            raise LaptimeError("a recording inside an archive", where=source.name, remedy="unpack the archive first")
        log = read_log(source)
        windows = windows_of(log)
        files = source.files[1:] or recording_of(source.path).files[1:]
        parts = _Parts(builder, self._others, decoders)
        for done, window in enumerate(windows):
            progress(done, len(windows))
            parts.join_window(window, source.path.parent, files)
        _add_facts(log, parts, builder)
        builder.meta["start_ups"] = add_start_ups(log, windows, builder)
        add_rows(log, windows, parts.main_track, builder)
        named = [step for step in parts.steps if not OWN_STEP.match(step.label)]
        builder.steps = with_points(given_steps(log, windows), parts.steps) or named
        _warn(log, windows, builder)
        progress(1, 1)


def windows_of(log: Log) -> list[Window]:
    """The windows of a log, in order of time. A file is of the window that names it first."""
    found: dict[int, Window] = {}
    named: set[str] = set()
    for row in log.rows:
        if isinstance(row, Begin):
            found[row.window] = Window(row.window, row.time_ns, row.ahead_ns)
        elif isinstance(row, End) and row.window in found:
            found[row.window].end_ns, found[row.window].state = row.time_ns, row.state
        elif isinstance(row, File) and row.window in found and row.name not in named:
            named.add(row.name)
            found[row.window].files.append(row)
    return list(found.values())


class _Parts:
    """Reads what a framework wrote of the windows, one after the other."""

    def __init__(self, builder: TraceBuilder, importers: dict[str, _Importer], decoders: Decoders) -> None:
        self._builder, self._importers, self._decoders = builder, importers, decoders
        self._joiner = Joiner(builder)
        self.facts: dict[str, object] = {}
        self.steps: list[GivenStep] = []
        """Steps as the files tell them, in Unix time: for where passes begin and end, or where training marked none."""
        self.main_track: int | None = None

    def join_window(self, window: Window, folder: Path, files: Sequence[Path]) -> None:
        """All files of a window."""
        names = {file.name for file in window.files}
        there = [path for path in files if path.relative_to(folder).parts[0] in names]
        for missing in sorted(names - {path.relative_to(folder).parts[0] for path in there}):
            self._builder.warnings.add("other", f"{missing}, which the log names, is not there; left out")
        importer_of = {file.name: file.importer for file in window.files}
        for source in sources_beside(folder, there):
            importer = self._importers.get(importer_of[source.path.relative_to(folder).parts[0]])
            if importer is None:
                self._builder.warnings.add("other", f"{source.name}: of a format that laptime does not read; left out")
            else:
                self._join(source, importer, window)

    def _join(self, source: Source, importer: _Importer, window: Window) -> None:
        with tempfile.TemporaryDirectory(prefix="laptime-") as work:
            part = TraceBuilder(Path(work))
            try:
                importer.read(source, part, silent, self._decoders)
                if importer.name in _WRONG_FIGURES:
                    part.warnings.forget("mismatch")
                shift = _shift(part, window)
                if not fits(part, shift_ns=shift):
                    raise LaptimeError("times that cannot be", where=source.name, remedy="record again")
                joined = self._joiner.join(part, shift_ns=shift)
            except (LaptimeError, OSError) as error:
                what = error.what if isinstance(error, LaptimeError) else error.strerror
                self._builder.warnings.add("other", f"{source.name}: {what}; left out")
                part.spool.discard()
                return
            if part.main_track is not None and self.main_track is None:
                self.main_track = int(joined.tracks[part.main_track])
            self._take_facts(part, shift)
            self.steps += following(self.steps, [shifted(step, shift) for step in part.steps], window=window.number)
            part.spool.discard()

    def _take_facts(self, part: TraceBuilder, shift_ns: int) -> None:
        """Facts of the first part; spans of time, which are the device's, go from the first to the last."""
        for key, value in part.meta.items():
            if key in _SPANS and isinstance(value, (list, tuple)) and len(value) == 2:
                span = [int(time) + shift_ns for time in value]
                known = self.facts.get(key)
                earlier = known if isinstance(known, list) else span
                self.facts[key] = [min(earlier[0], span[0]), max(earlier[1], span[1])]
            elif self.facts.get(key) is None:
                self.facts[key] = value


_WRONG_FIGURES = frozenset({"megengine"})
"""Importers of files that hold figures of their own, often wrong; who records with laptime never sees these."""
_SPANS = ("device_covered_ns", "device_log_ns")


def _shift(part: TraceBuilder, window: Window) -> int:
    """What to add to a part's times for Unix time; without a clock of its own it begins when the window did."""
    base = part.meta.get("base_unix_ns")
    if isinstance(base, int):
        return base
    first = first_time(part)
    if first is None or first > _UNIX:
        return 0
    return window.start_ns + window.ahead_ns - first


def _add_facts(log: Log, parts: _Parts, builder: TraceBuilder) -> None:
    facts = {**log.facts, **{row.name: row.value for row in log.of(Fact)}}
    builder.meta.update(parts.facts)
    builder.meta.update(
        {
            "format": FORMAT,
            "framework": facts.get("framework"),
            "framework_version": facts.get("framework_version"),
            "rank": _number(facts.get("rank"), parts.facts.get("rank")),
            "world_size": _number(facts.get("world_size"), parts.facts.get("world_size")),
            "base_unix_ns": 0,
            "recorder": {key: facts[key] for key in _KEPT if key in facts},
        }
    )


_MOST_RANKS = 1 << 31
_KEPT = ("version", "host", "pid", "command", "with_backtrace", "with_scopes")


def _number(*values: object) -> int | None:
    """The first that can be a rank."""
    numbers = (value for value in values if isinstance(value, int) and not isinstance(value, bool))
    return next((value for value in numbers if 0 <= value < _MOST_RANKS), None)


def _warn(log: Log, windows: Sequence[Window], builder: TraceBuilder) -> None:
    add = builder.warnings.add
    if log.damage is not None:
        add("truncated", log.damage)
    if log.cut_at is not None:
        add("truncated", f"the log is cut at byte {log.cut_at:,}; what comes before is kept")
    add("invalid_json", "rows of the log that are none; dropped", log.bad)
    add("partial_step", "windows that end in the middle of training", sum(each.state == "cut" for each in windows))
    left_open = sum(each.state == "open" for each in windows)
    add("truncated", "windows that were not ended: training was killed, or still runs", left_open)
    for note in log.of(Note):
        add("other", note.message)
    if not windows:
        add("other", f"the recorder began no window (see {SUFFIX} files in docs/formats.md)")
