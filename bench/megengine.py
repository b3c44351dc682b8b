"""Measure the import of a million MegEngine events beside that of a million PyTorch events, per byte of their JSON.

Both files are recordings of the corpus repeated in time (PyTorch's by `make_trace`, MegEngine's here). Each import is a
process of its own with an empty workspace; the two take turns, and compared is the least processor time of each, with
all its processes and its start. MegEngine writes compact JSON: copies are made on that text, where in copy k every time
moves by k spans, every number of a tensor, an operator or a flow by k id ranges, and the numbers of steps go on. Names
of threads and the two ratios that the profiler computes at the end come once.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from make_trace import DATA, ROOT, BuiltTrace, MissingCorpus, build_trace
from measure import CommandFailed, Measurement, measure

LAPTIME = Path(sys.executable).with_name("laptime")
CASES = ("transformer_default", "resnet_default", "dtr_recompute", "mlp_backtrace")
EVENTS = 1_000_000
PYTORCH_COPIES = 10
REPEATS = 3
_GAP_NS = 1_000_000

_HEAD = '{"traceEvents":['
_EVENT_END = "},{"
_ONCE = re.compile(r'"ph":"M"|"name":"(?:gpu_usgae_ratio|train_time_ratio)"')
_TIME = re.compile(r'"ts":(\d+(?:\.\d+)?)')
_ID = re.compile(r'"(?:id|__id__)":(\d+)')
_STEP = re.compile(r'"name":"step(\d+)"')
_NUMBERED = "Input|Output|Put|Del|Drop|RecFree|ReGen|SwapIn|SwapOut"
_SHIFTED = re.compile(rf'("ts":|"(?:id|__id__)":|"name":"step|"name":"(?:{_NUMBERED}) )(\d+(?:\.\d+)?)')


@dataclass(frozen=True)
class Imports:
    """What a file is and what importing it cost, each time."""

    name: str
    events: int
    file_bytes: int
    runs: list[Measurement]

    @property
    def cpu_seconds(self) -> float:
        """The least of all runs."""
        return min(run.cpu_seconds for run in self.runs)

    @property
    def cpu_ns_per_byte(self) -> float:
        """By which files of different density are compared."""
        return self.cpu_seconds / self.file_bytes * 1e9


def compare(case: str, *, repeats: int = REPEATS, data: Path | None = None) -> tuple[Imports, Imports]:
    """Imports of the MegEngine case, and of the PyTorch trace (built in `data` unless it is there)."""
    with tempfile.TemporaryDirectory(prefix="megengine-", dir=data) as place:
        folder = Path(place)
        path = folder / "1.chrome_timeline.json"
        pytorch = build_trace(PYTORCH_COPIES, data=data or folder)
        both = [BuiltTrace(path, repeat_recording(recording(case), path)), pytorch]
        runs: list[list[Measurement]] = [[], []]
        for _ in range(repeats):
            for trace, measured in zip(both, runs, strict=True):
                measured.append(_import(trace.path, folder))
        names = (f"MegEngine, {case}", "PyTorch")
        megengine, pytorch_imports = (
            Imports(name, trace.events, trace.path.stat().st_size, measured)
            for name, trace, measured in zip(names, both, runs, strict=True)
        )
    return megengine, pytorch_imports


def _import(path: Path, folder: Path) -> Measurement:
    with path.open("rb") as file:  # into the page cache
        while file.read(1 << 24):
            pass
    with tempfile.TemporaryDirectory(prefix="workspace-", dir=folder) as workspace:
        return measure([LAPTIME, "import", path, "--workspace", workspace])


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
    print(f"{'recording':<30}{'events':>11}{'bytes':>13}{'CPU s':>8}{'wall s':>8}{'CPU s/MB':>10}{'ratio':>8}")
    try:
        for case in options.cases:
            both = compare(case, repeats=options.repeats, data=DATA if options.keep else None)
            for each in both:
                print(_line(each, both[1]), flush=True)
    except (MissingCorpus, CommandFailed) as problem:
        print(f"bench: {problem}", file=sys.stderr)
        return 1
    return 0


def _line(imports: Imports, base: Imports) -> str:
    wall = min(run.wall_seconds for run in imports.runs)
    ratio = imports.cpu_ns_per_byte / base.cpu_ns_per_byte
    return (
        f"{imports.name:<30}{imports.events:>11,}{imports.file_bytes:>13,}{imports.cpu_seconds:>8.2f}{wall:>8.2f}"
        f"{imports.cpu_ns_per_byte / 1000:>10.5f}{ratio:>8.2f}"
    )


if __name__ == "__main__":
    sys.exit(main())
