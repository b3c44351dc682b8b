"""Measure laptime beside HTA, `json` and `orjson` on one large trace, its importers beside each other, and write
`docs/benchmarks.md`.

Everything runs in one go, each as a process of its own, so that the ratios hold on a slow or busy machine as well. A
run that skips a part prints its page but leaves the file alone.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from subprocess import CalledProcessError

import megengine_import
import web
from make_trace import DATA, ROOT, BuiltTrace, MissingCorpus, build_trace, corpus_file
from measure import CommandFailed, Measurement, measure
from page import HTA, ImporterCost, LaptimeRuns, Results, page
from peers import HTA_LOAD, JSON_LOAD, ORJSON_LOADS, InstallFailed, peer_python, peer_versions
from recording import section

PAGE = ROOT / "docs" / "benchmarks.md"
LAPTIME = Path(sys.executable).with_name("laptime")
LARGE_FACTOR = 4
IMPORT_REPEATS = 3
SECOND_REPEATS = 5


class WrongReport(Exception):
    """laptime answered, but not for the events of the trace."""


def main() -> int:
    """Run the benchmark; 1 where something it needs is missing or fails."""
    options = _options()
    try:
        text = page(_measure_all(options))
    except (MissingCorpus, InstallFailed, CommandFailed, WrongReport, CalledProcessError, OSError) as problem:
        print(f"bench: {problem}", file=sys.stderr)
        return 1
    print(text)
    skipped = (options.skip_hta, options.skip_laptime, options.skip_recording, options.no_4m, options.no_megengine)
    if any(skipped):
        print(f"A part was skipped: {PAGE.relative_to(ROOT)} stays as it is.", file=sys.stderr)
    else:
        PAGE.write_text(text, encoding="utf-8")
        web.main()
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--copies", type=int, default=10, help="copies of the recording in the trace (10: 1.09 M events)"
    )
    parser.add_argument("--skip-hta", action="store_true", help="do not load the trace with HTA")
    parser.add_argument("--skip-laptime", action="store_true", help="measure the peers only")
    parser.add_argument("--skip-recording", action="store_true", help="do not measure what recording costs")
    parser.add_argument("--no-4m", action="store_true", help="do not import the four times larger trace")
    parser.add_argument(
        "--no-megengine", action="store_true", help="do not compare MegEngine's importer with PyTorch's"
    )
    return parser.parse_args()


def _measure_all(options: argparse.Namespace) -> Results:
    trace = _built(options.copies)
    large_trace = None if options.no_4m or options.skip_laptime else _built(options.copies * LARGE_FACTOR)
    python = peer_python()
    machine = _machine()
    _read_once(trace.path)
    laptime = None if options.skip_laptime else _measure_laptime(trace, imports=1)
    peers = {} if options.skip_hta else {HTA: _say(HTA, measure([python, "-c", HTA_LOAD, trace.path]))}
    if laptime:
        laptime = _joined(laptime, _measure_laptime(trace, imports=IMPORT_REPEATS - 1))
    peers["`json.load`"] = _say("json.load", measure([python, "-c", JSON_LOAD, trace.path]))
    peers["`orjson.loads`"] = _say("orjson.loads", measure([python, "-c", ORJSON_LOADS, trace.path]))
    large = None
    if large_trace:
        _read_once(large_trace.path)
        large = _measure_laptime(large_trace, imports=1)
    both = None if options.no_megengine or options.skip_laptime else _measure_megengine()
    return Results(
        events=trace.events,
        file_bytes=trace.path.stat().st_size,
        machine=machine,
        versions=_versions(),
        date=datetime.date.today().isoformat(),
        laptime=laptime,
        large=large,
        megengine=both,
        peers=peers,
        recording=() if options.skip_recording else tuple(section()),
    )


def _built(copies: int) -> BuiltTrace:
    """Build in another process, so that this one stays small, as measuring asks for."""
    corpus_file()
    builder = Path(__file__).with_name("make_trace.py")
    subprocess.run([sys.executable, str(builder), "--copies", str(copies)], stdout=subprocess.DEVNULL, check=True)
    return build_trace(copies)


def _measure_laptime(trace: BuiltTrace, *, imports: int) -> LaptimeRuns:
    """Import into fresh workspaces; open and report from each for the first time and again."""
    runs = LaptimeRuns(trace.events, [], [], [], [])
    for _ in range(imports):
        with _workspace() as workspace:
            runs.imports.append(_say("laptime import", measure(_import_command(trace, workspace))))
            runs.first_reports.append(_say("laptime report", _measure_report(trace, workspace)))
            runs.second_opens.append(_say("laptime import again", measure(_import_command(trace, workspace))))
            for _ in range(SECOND_REPEATS):
                runs.second_reports.append(_say("laptime report again", _measure_report(trace, workspace)))
    return runs


def _measure_megengine() -> tuple[ImporterCost, ImporterCost]:
    """The cost of MegEngine's importer and of PyTorch's, on a million events each."""
    with megengine_import.compared(megengine_import.CASES[0], data=DATA) as both:
        print(*(megengine_import.line(each, both[1]) for each in both), sep="\n", file=sys.stderr, flush=True)
        mine, pytorch = (
            ImporterCost(each.name, each.trace.events, each.file_bytes, *each.cpu_seconds) for each in both
        )
    return mine, pytorch


def _joined(one: LaptimeRuns, other: LaptimeRuns) -> LaptimeRuns:
    return LaptimeRuns(
        one.events,
        one.imports + other.imports,
        one.first_reports + other.first_reports,
        one.second_opens + other.second_opens,
        one.second_reports + other.second_reports,
    )


@contextmanager
def _workspace() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="workspace-", dir=DATA) as folder:
        yield Path(folder)


def _import_command(trace: BuiltTrace, workspace: Path) -> list[str | Path]:
    return [LAPTIME, "import", trace.path, "--workspace", workspace]


def _measure_report(trace: BuiltTrace, workspace: Path) -> Measurement:
    """Measure one report and check that it is about every event of the trace."""
    with tempfile.NamedTemporaryFile(suffix=".json", dir=DATA) as answer:
        command: list[str | Path] = [LAPTIME, "report", trace.path, "--workspace", workspace, "--json"]
        measurement = measure(command, stdout=Path(answer.name))
        read = _events_read(answer.read())
    if read != trace.events:
        raise WrongReport(f"laptime report read {read:,} of the {trace.events:,} events of {trace.path.name}")
    return measurement


def _events_read(answer: bytes) -> int:
    try:
        return sum(rank["events"]["read"] for rank in json.loads(answer)["ranks"])
    except (ValueError, KeyError, TypeError) as problem:
        raise WrongReport(f"laptime report --json gave no ranks[].events.read: {problem!r}") from problem


def _say(name: str, measurement: Measurement) -> Measurement:
    """Show progress on stderr; the page itself goes to stdout."""
    cost = f"{measurement.cpu_seconds:.2f} CPU s, {measurement.wall_seconds:.2f} s"
    print(f"{name}: {cost}, {measurement.peak_pss_bytes / 1e6:,.0f} MB", file=sys.stderr, flush=True)
    return measurement


def _read_once(path: Path) -> None:
    """Bring the file into the page cache, so that the first to be measured does not pay for the disk."""
    with path.open("rb") as file:
        while file.read(1 << 24):
            pass


def _machine() -> str:
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    model = models[0].partition(":")[2].strip() if models else platform.machine()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0))
    return (
        f"{model}, {cores} cores, {memory:.0f} GiB memory; load average {os.getloadavg()[0]:.1f} before the first run"
    )


def _versions() -> str:
    versions = {"Python": platform.python_version(), **_laptime_versions(), **peer_versions()}
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _laptime_versions() -> dict[str, str]:
    try:
        return {"laptime": f"{metadata.version('laptime')} ({_commit()})"}
    except metadata.PackageNotFoundError:
        return {}


def _commit() -> str:
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "no commit"


if __name__ == "__main__":
    raise SystemExit(main())
