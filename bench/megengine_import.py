"""Measure the import of a million MegEngine events beside that of a million PyTorch events, per byte of their JSON.

Both files are recordings of the corpus repeated in time (PyTorch's by `make_trace`, MegEngine's here). Each import is a
process of its own with an empty workspace; the two take turns, and of each the least processor time counts, that of
worker processes included: of the import alone, from the file to the Parquet tables, and of the whole process, in which
Python and modules are loaded too.

MegEngine writes compact JSON. Copies are made on that text: in copy k every time moves by k spans, every number of a
tensor, an operator or a flow by k id ranges, and the numbers of steps go on. Names of threads and the two ratios that
the profiler computes at the end come once.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from make_trace import DATA, ROOT, BuiltTrace, MissingCorpus, build_trace
from measure import CommandFailed, Measurement, measure

CASES = ("transformer_default", "resnet_default", "dtr_recompute", "mlp_backtrace")
EVENTS = 1_000_000
PYTORCH_COPIES = 10
REPEATS = 3
_GAP_NS = 1_000_000
_IMPORT = """
import resource, sys
from pathlib import Path
from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace

def cpu_seconds():
    kinds = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, kinds))

if __name__ == "__main__":
    workspace = Workspace.choose(Path(sys.argv[2]), say=print)
    started = cpu_seconds()
    open_run(sys.argv[1], workspace=workspace)
    print(cpu_seconds() - started)
"""

_HEAD = '{"traceEvents":['
_EVENT_END = "},{"
_ONCE = re.compile(r'"ph":"M"|"name":"(?:gpu_usgae_ratio|train_time_ratio)"')
_TIME = re.compile(r'"ts":(\d+(?:\.\d+)?)')
_ID = re.compile(r'"(?:id|__id__)":(\d+)')
_STEP = re.compile(r'"name":"step(\d+)"')
_NUMBERED = "Input|Output|Put|Del|Drop|RecFree|ReGen|SwapIn|SwapOut"
_SHIFTED = re.compile(rf'("ts":|"(?:id|__id__)":|"name":"step|"name":"(?:{_NUMBERED}) )(\d+(?:\.\d+)?)')


@dataclass
class Imports:
    """What a file is and what importing it cost, each time."""

    name: str
    trace: BuiltTrace
    alone: list[float] = field(default_factory=list)
    """CPU seconds of the import."""
    processes: list[Measurement] = field(default_factory=list)

    @property
    def file_bytes(self) -> int:
        """Bytes of JSON."""
        return self.trace.path.stat().st_size

    @property
    def cpu_seconds(self) -> tuple[float, float]:
        """The least of all runs: of the import, of the process."""
        return min(self.alone), min(process.cpu_seconds for process in self.processes)


@contextmanager
def compared(case: str, *, repeats: int = REPEATS, data: Path | None = None) -> Iterator[tuple[Imports, Imports]]:
    """Imports of the MegEngine case, and of the PyTorch trace (built in `data` unless it is there)."""
    with tempfile.TemporaryDirectory(prefix="megengine-", dir=data) as place:
        folder = Path(place)
        path = folder / "1.chrome_timeline.json"
        megengine = Imports(f"MegEngine, {case}", BuiltTrace(path, repeat_recording(recording(case), path)))
        pytorch = Imports("PyTorch", build_trace(PYTORCH_COPIES, data=data or folder))
        for _ in range(repeats):
            for imports in (megengine, pytorch):
                _import(imports, folder)
        yield megengine, pytorch


def _import(imports: Imports, folder: Path) -> None:
    with imports.trace.path.open("rb") as file:  # into the page cache
        while file.read(1 << 24):
            pass
    with tempfile.TemporaryDirectory(prefix="workspace-", dir=folder) as workspace:
        script, answer = folder / "import.py", folder / "answer"
        script.write_text(_IMPORT)
        command: list[str | Path] = [sys.executable, script, imports.trace.path, workspace]
        imports.processes.append(measure(command, stdout=answer))
        imports.alone.append(float(answer.read_text()))


def recording(case: str) -> Path:
    """The timeline of a case of the corpus."""
    corpus = Path(os.environ.get("LAPTIME_CORPUS", ROOT.parent / "shared" / "corpus"))
    found = sorted((corpus / "megengine" / case).glob("*.chrome_timeline.json.gz"))
    if not found:
        raise MissingCorpus(f"no recording {case}: set LAPTIME_CORPUS to the folder that holds megengine/{case}")
    return found[0]


def repeat_recording(source: Path, target: Path, *, least_events: int = EVENTS) -> int:
    """Writes the recording's events again and again until there are enough; returns how many there are."""
    text = gzip.decompress(source.read_bytes()).decode()
    end = text.rindex("}]") + 1
    events = text[len(_HEAD) + 1 : end - 1].split(_EVENT_END)
    once = [event for event in events if _ONCE.search(event)]
    repeated = [event for event in events if not _ONCE.search(event)]
    copies = -(-least_events // len(repeated))
    body = "{" + _EVENT_END.join(repeated) + "}"
    with target.open("w", encoding="utf-8", newline="") as out:
        out.write(_HEAD)
        for copy in _copies(body, copies):
            out.write(copy + ",")
        out.write("{" + _EVENT_END.join(once) + "}" + text[end:])
    return len(once) + len(repeated) * copies


def _copies(body: str, count: int) -> Iterator[str]:
    times = [_nanoseconds(time) for time in _TIME.findall(body)]
    span = max(times) - min(times) + _GAP_NS
    ids = max(int(number) for number in _ID.findall(body)) + 1
    steps = len(set(_STEP.findall(body)))
    for copy in range(count):
        yield _SHIFTED.sub(_shift(span * copy, ids * copy, steps * copy), body) if copy else body


def _shift(time_ns: int, ids: int, steps: int) -> Callable[[re.Match[str]], str]:
    def shifted(match: re.Match[str]) -> str:
        label, number = match[1], match[2]
        if label == '"ts":':
            time = _nanoseconds(number) + time_ns
            return f"{label}{time // 1000}.{time % 1000:03}".rstrip("0").removesuffix(".")
        return f"{label}{int(number) + (steps if label.endswith('step') else ids)}"

    return shifted


def _nanoseconds(microseconds: str) -> int:
    whole, _, part = microseconds.partition(".")
    return int(whole) * 1000 + int(part.ljust(3, "0")[:3])


def main() -> int:
    """Print two lines and the ratio for each case; 1 where the corpus is missing or an import fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="*", default=CASES[:1], help="folders of the corpus under megengine")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="imports of each file")
    parser.add_argument("--keep", action="store_true", help="keep the PyTorch trace in bench/data for the next time")
    options = parser.parse_args()
    if options.keep:
        DATA.mkdir(parents=True, exist_ok=True)
    print(f"{'':<67}{'import alone':<24}{'whole process':<24}")
    columns = f"{'CPU s':>8}{'s/GB':>8}{'ratio':>8}"
    print(f"{'recording':<34}{'events':>11}{'bytes':>13}{'wall s':>9}{columns}{columns}")
    try:
        for case in options.cases:
            with compared(case, repeats=options.repeats, data=DATA if options.keep else None) as both:
                for each in both:
                    print(line(each, both[1]), flush=True)
    except (MissingCorpus, CommandFailed) as problem:
        print(f"bench: {problem}", file=sys.stderr)
        return 1
    return 0


def line(imports: Imports, base: Imports) -> str:
    """A row of the table; ratios are those of CPU seconds per byte to `base`."""
    wall = min(process.wall_seconds for process in imports.processes)
    text = f"{imports.name:<34}{imports.trace.events:>11,}{imports.file_bytes:>13,}{wall:>9.2f}"
    for seconds, other in zip(imports.cpu_seconds, base.cpu_seconds, strict=True):
        per_gb = seconds / imports.file_bytes * 1e9
        text += f"{seconds:>8.2f}{per_gb:>8.1f}{per_gb / (other / base.file_bytes * 1e9):>8.2f}"
    return text


if __name__ == "__main__":
    sys.exit(main())
