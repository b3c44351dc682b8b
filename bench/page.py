"""What one benchmark run measured, as the Markdown page `docs/benchmarks.md`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from measure import Measurement


@dataclass(frozen=True)
class LaptimeRuns:
    """What laptime cost on one trace; the lists hold repetitions of the same thing."""

    events: int
    imports: list[Measurement]
    first_reports: list[Measurement]
    second_opens: list[Measurement]
    second_reports: list[Measurement]


@dataclass(frozen=True)
class ImporterCost:
    """What an importer cost on one file: the least CPU seconds of the import alone, and of its whole process."""

    name: str
    events: int
    file_bytes: int
    alone: float
    process: float


@dataclass(frozen=True)
class Results:
    """Everything one run measured; what was skipped is None or absent."""

    events: int
    file_bytes: int
    machine: str
    versions: str
    date: str
    laptime: LaptimeRuns | None = None
    large: LaptimeRuns | None = None
    megengine: tuple[ImporterCost, ImporterCost] | None = None
    """MegEngine's importer, and PyTorch's."""
    peers: dict[str, Measurement] = field(default_factory=dict)
    recording: Sequence[str] = ()
    """Lines of the section on recording."""


@dataclass(frozen=True)
class _Limit:
    """A ratio that must be reached against HTA, and the one aimed at: 4 means a quarter."""

    what: str
    needed: float
    goal: float


HTA = "HTA 0.5.0 `TraceAnalysis`"

_CPU = _Limit("CPU seconds", 4, 6)
_WALL = _Limit("wall seconds", 5, 8)
_MEMORY = _Limit("peak memory", 2, 3)
_SECOND_REPORT_SECONDS = 0.8
_SECOND_REPORT_BYTES = 300e6
_IMPORT_BYTES_PER_EVENT = 250
_PER_BYTE = 1
"""CPU seconds per byte of MegEngine's JSON, against PyTorch's."""
_ALTERNATING = 3

_METHOD = """\
Each line is a process of its own, started one after the other in one run. CPU seconds and memory are those of the whole
process tree; memory is the peak of its summed proportional set size, sampled every 50 ms (MB = 1,000,000 bytes). Beside
it stands the largest resident set size of any one process, as the kernel recorded it. Of repeated runs, the tables show
the median times and the highest memory. Imports start from an empty workspace; the trace is in the page cache for all.
`make bench` repeats this; the sources are in `bench/`."""


def page(results: Results) -> str:
    """The whole page."""
    return "\n".join(_lines(results)) + "\n"


def _lines(results: Results) -> Iterator[str]:
    yield from ("# Benchmarks", "")
    yield (
        f"One trace of {results.events:,} events ({_megabytes(results.file_bytes)} MB of JSON): a DLRM training on an "
        "A100, one rank of eight, recorded by PyTorch and repeated in time."
    )
    yield from ("", f"- Machine: {results.machine}", f"- Versions: {results.versions}", f"- Date: {results.date}", "")
    yield from (
        "| what | CPU s | wall s | peak MB | largest process MB | processes | runs |",
        "|---|--:|--:|--:|--:|--:|--:|",
    )
    if results.laptime:
        yield from _laptime_rows(results.laptime)
    for name, measurement in results.peers.items():
        yield _row(name, [measurement])
    yield ""
    if results.laptime and HTA in results.peers:
        yield from _comparison(results.laptime, results.peers[HTA])
    if results.laptime:
        yield from _second_report(results.laptime, results.large)
    if results.laptime and results.large:
        yield from _import_memory(results.laptime, results.large)
    if results.megengine:
        yield from _importers(*results.megengine)
    yield from results.recording
    yield from ("## How it is measured", "", _METHOD)


def _laptime_rows(runs: LaptimeRuns) -> Iterator[str]:
    yield _row("`laptime import`", runs.imports)
    yield _row("`laptime report`, the first", runs.first_reports)
    yield _row("`laptime import` again (second open)", runs.second_opens)
    yield _row("`laptime report` again", runs.second_reports)


def _comparison(runs: LaptimeRuns, hta: Measurement) -> Iterator[str]:
    ours = [_typical(runs.imports), _typical(runs.first_reports)]
    yield from ("## Import and report together, against HTA", "")
    yield from ("| | laptime | HTA | laptime / HTA | needed | goal | |", "|---|--:|--:|--:|--:|--:|---|")
    cpu = sum(run.cpu_seconds for run in ours)
    wall = sum(run.wall_seconds for run in ours)
    memory = max(run.peak_pss_bytes for run in ours)
    yield _ratio_row(_CPU, (f"{cpu:.2f}", f"{hta.cpu_seconds:.2f}"), hta.cpu_seconds / cpu)
    yield _ratio_row(_WALL, (f"{wall:.2f}", f"{hta.wall_seconds:.2f}"), hta.wall_seconds / wall)
    texts = (f"{_megabytes(memory)} MB", f"{_megabytes(hta.peak_pss_bytes)} MB")
    yield _ratio_row(_MEMORY, texts, hta.peak_pss_bytes / memory)
    yield ""


def _ratio_row(limit: _Limit, texts: tuple[str, str], times_less: float) -> str:
    verdict = "goal met" if times_less >= limit.goal else _verdict(met=times_less >= limit.needed)
    ours, theirs = texts
    return (
        f"| {limit.what} | {ours} | {theirs} | 1/{times_less:.1f} | 1/{limit.needed:g} | 1/{limit.goal:g} | {verdict} |"
    )


def _second_report(runs: LaptimeRuns, large: LaptimeRuns | None) -> Iterator[str]:
    yield from ("## The second report", "")
    yield (
        f"Process start included: under {_SECOND_REPORT_SECONDS} s and {_megabytes(_SECOND_REPORT_BYTES)} MB are "
        "needed, whatever the size."
    )
    yield from ("", "| events | wall s | peak MB | |", "|--:|--:|--:|---|")
    for each in (runs, large):
        if each:
            again = _typical(each.second_reports)
            memory = max(again.peak_pss_bytes, again.largest_rss_bytes)  # so short a run can peak between two samples
            met = again.wall_seconds < _SECOND_REPORT_SECONDS and memory < _SECOND_REPORT_BYTES
            yield f"| {each.events:,} | {again.wall_seconds:.2f} | {_megabytes(memory)} | {_verdict(met=met)} |"
    yield ""


def _import_memory(runs: LaptimeRuns, large: LaptimeRuns) -> Iterator[str]:
    small_peak, large_peak = (_typical(each.imports).peak_pss_bytes for each in (runs, large))
    slope = (large_peak - small_peak) / (large.events - runs.events)
    yield from ("## Memory of an import", "", "| events | CPU s | wall s | peak MB |", "|--:|--:|--:|--:|")
    for each in (runs, large):
        typical = _typical(each.imports)
        memory = _megabytes(typical.peak_pss_bytes)
        yield f"| {each.events:,} | {typical.cpu_seconds:.2f} | {typical.wall_seconds:.2f} | {memory} |"
    yield ""
    yield (
        f"Growth between the two: **{slope:.0f} bytes per event**, everything held included; needed: at most "
        f"{_IMPORT_BYTES_PER_EVENT} with the events' args left out ({_verdict(met=slope <= _IMPORT_BYTES_PER_EVENT)})."
    )
    yield ""


def _importers(megengine: ImporterCost, pytorch: ImporterCost) -> Iterator[str]:
    ratio = (megengine.alone / megengine.file_bytes) / (pytorch.alone / pytorch.file_bytes)
    yield from ("## MegEngine's importer, against PyTorch's", "")
    yield "| recording | events | MB of JSON | CPU s | CPU s per GB | whole process, CPU s |"
    yield "|---|--:|--:|--:|--:|--:|"
    for each in (megengine, pytorch):
        yield (
            f"| {each.name} | {each.events:,} | {_megabytes(each.file_bytes)} | {each.alone:.2f} "
            f"| {each.alone / each.file_bytes * 1e9:.1f} | {each.process:.2f} |"
        )
    yield ""
    yield (
        f"Per byte of JSON MegEngine's takes **{ratio:.2f}** times PyTorch's CPU seconds; needed: at most {_PER_BYTE:g}"
        f" ({_verdict(met=ratio <= _PER_BYTE)}). Both are the least of {_ALTERNATING} runs that took turns."
    )
    yield ""


def _row(name: str, runs: Sequence[Measurement]) -> str:
    typical = _typical(runs)
    return (
        f"| {name} | {typical.cpu_seconds:.2f} | {typical.wall_seconds:.2f} "
        f"| {_megabytes(typical.peak_pss_bytes)} | {_megabytes(typical.largest_rss_bytes)} "
        f"| {typical.peak_processes} | {len(runs)} |"
    )


def _typical(runs: Sequence[Measurement]) -> Measurement:
    """Median times and the highest memory of repeated runs."""
    return Measurement(
        wall_seconds=median(run.wall_seconds for run in runs),
        cpu_seconds=median(run.cpu_seconds for run in runs),
        peak_pss_bytes=max(run.peak_pss_bytes for run in runs),
        largest_rss_bytes=max(run.largest_rss_bytes for run in runs),
        peak_processes=max(run.peak_processes for run in runs),
    )


def _verdict(*, met: bool) -> str:
    return "met" if met else "**missed**"


def _megabytes(size_bytes: float) -> str:
    return f"{size_bytes / 1e6:,.0f}"
