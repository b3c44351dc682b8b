"""Build the benchmark's trace: N time-shifted copies of one corpus recording.

The source is a PyTorch (Kineto) Chrome trace as PyTorch 1.x wrote it: pretty JSON, one event between a line `  {` and
a line `  },`. Copies are made on that text, not on parsed objects, so the result keeps Kineto's own layout and only one
copy is ever in memory. In copy k every time moves by k spans, every correlation, external and flow id by k id ranges
(0 and negative ids mean "none" and stay), and step numbers continue. Metadata events (`"ph": "M"`) name processes and
threads: they come once.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(__file__).resolve().parent / "data"
CASE = Path("pytorch/hta-dlrm-a100-8rank-r3/control.json.gz")
COPY_GAP_US = 1_000

_EVENTS_KEY = '"traceEvents": ['
_EVENT_END = "\n  },\n"
_METADATA = re.compile(r'"ph": "M"')
_TIME_AND_DURATION = re.compile(r'"ts": (\d+)(?:, "dur": (\d+))?')
_ID = re.compile(r'"(?:correlation|External id|id)": (\d+)')
_STEP = re.compile(r"ProfilerStep#(\d+)")
_SHIFTED = re.compile(r'("ts": |"(?:correlation|External id|id)": |ProfilerStep#)(-?\d+)')


class MissingCorpus(Exception):
    """The recording to copy is not there; the text says where it was looked for."""


@dataclass(frozen=True)
class Source:
    """A recording's text, cut into what comes once (head, metadata events, tail) and what is repeated."""

    head: str
    metadata: str
    metadata_events: int
    repeated: str
    repeated_events: int
    tail: str


@dataclass(frozen=True)
class BuiltTrace:
    """A benchmark trace on disk and how many events it lists."""

    path: Path
    events: int


@dataclass(frozen=True)
class Shift:
    """How far times (microseconds), ids and step numbers move from one copy to the next."""

    time_us: int
    ids: int
    steps: int

    def times(self, copy: int) -> Shift:
        """The distance of the given copy from the first."""
        return Shift(self.time_us * copy, self.ids * copy, self.steps * copy)


def corpus_file() -> Path:
    """The recording to copy, below $LAPTIME_CORPUS or the shared corpus beside the repository."""
    corpus = Path(os.environ.get("LAPTIME_CORPUS", ROOT.parent / "shared" / "corpus"))
    path = corpus / CASE
    if not path.is_file():
        raise MissingCorpus(f"no recording at {path}: set LAPTIME_CORPUS to the folder that holds {CASE.parent}")
    return path


def build_trace(copies: int, *, data: Path = DATA) -> BuiltTrace:
    """The trace with that many copies, built unless a whole one of the same source and builder is there."""
    compressed = corpus_file().read_bytes()
    path = data / f"dlrm-{copies}x.json"
    stamp = path.with_suffix(".stamp")
    key = hashlib.sha256(compressed + Path(__file__).read_bytes()).hexdigest()
    if (built := _built_before(path, stamp=stamp, key=key)) is not None:
        return built
    source = _cut(gzip.decompress(compressed).decode("utf-8"))
    data.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.part")
    try:
        with unfinished.open("w", encoding="utf-8", newline="") as out:
            out.writelines(_trace_text(source, copies))
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    built = BuiltTrace(path, source.metadata_events + source.repeated_events * copies)
    stamp.write_text(f"{key} {path.stat().st_size} {built.events}")
    return built


def _built_before(path: Path, *, stamp: Path, key: str) -> BuiltTrace | None:
    if not (path.is_file() and stamp.is_file()):
        return None
    key_and_size, _, events = stamp.read_text().rpartition(" ")
    return BuiltTrace(path, int(events)) if key_and_size == f"{key} {path.stat().st_size}" else None


def _trace_text(source: Source, copies: int) -> Iterator[str]:
    step = _shift_between_copies(source.repeated)
    yield source.head
    yield source.metadata
    for copy in range(copies):
        if copy:
            yield ",\n"
        yield _shifted(source.repeated, step.times(copy))
    yield source.tail


def _cut(text: str) -> Source:
    events_start = text.index("\n", text.index(_EVENTS_KEY)) + 1
    events_end = text.rindex("\n  ]")
    events = text[events_start:events_end].removesuffix("\n  }").split(_EVENT_END)
    metadata = [event for event in events if _METADATA.search(event)]
    others = [event for event in events if not _METADATA.search(event)]
    return Source(
        head=text[:events_start],
        metadata="".join(event + _EVENT_END for event in metadata),
        metadata_events=len(metadata),
        repeated=_EVENT_END.join(others) + "\n  }",
        repeated_events=len(others),
        tail=text[events_end:],
    )


def _shift_between_copies(events: str) -> Shift:
    spans = [(int(start), int(duration or 0)) for start, duration in _TIME_AND_DURATION.findall(events)]
    first, last = min(start for start, _ in spans), max(start + duration for start, duration in spans)
    steps = [int(number) for number in _STEP.findall(events)]
    return Shift(
        time_us=last - first + COPY_GAP_US,
        ids=max(int(number) for number in _ID.findall(events)) + 1,
        steps=max(steps) - min(steps) + 1,
    )


def _shifted(events: str, shift: Shift) -> str:
    return _SHIFTED.sub(_replacement(shift), events) if shift.time_us else events


def _replacement(shift: Shift) -> Callable[[re.Match[str]], str]:
    def replace(match: re.Match[str]) -> str:
        label, number = match[1], int(match[2])
        if label == '"ts": ':
            return f"{label}{number + shift.time_us}"
        if label == "ProfilerStep#":
            return f"{label}{number + shift.steps}"
        return f"{label}{number + shift.ids}" if number > 0 else match[0]

    return replace


def check_trace(built: BuiltTrace, copies: int) -> str:
    """One line on what the built trace holds; raises ValueError where a copy is not distinct. Loads the whole file."""
    with built.path.open(encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    source = json.loads(gzip.decompress(corpus_file().read_bytes()))["traceEvents"]
    expected = {
        "events": built.events,
        "steps": len(_steps(source)) * copies,
        "flows": _distinct_flows(source) * copies,
        "correlations": _distinct(source, "correlation") * copies,
        "external ids": _distinct(source, "External id") * copies,
    }
    steps = _steps(events)
    found = {
        "events": len(events),
        "steps": len(steps),
        "flows": _distinct_flows(events),
        "correlations": _distinct(events, "correlation"),
        "external ids": _distinct(events, "External id"),
    }
    if found != expected or steps != list(range(steps[0], steps[0] + len(steps))):
        raise ValueError(f"{built.path}: expected {expected}, found {found}, steps {steps}")
    counts = ", ".join(f"{count:,} {name}" for name, count in found.items())
    return f"{built.path.name}: {counts}, steps {steps[0]}..{steps[-1]}"


def _steps(events: list[dict[str, object]]) -> list[int]:
    matches = (_STEP.fullmatch(str(event.get("name"))) for event in events)
    return [int(match[1]) for match in matches if match]


def _distinct(events: list[dict[str, object]], key: str) -> int:
    values = {args[key] for event in events if isinstance(args := event.get("args"), dict) and key in args}
    return len({value for value in values if value > 0})


def _distinct_flows(events: list[dict[str, object]]) -> int:
    return len({event["id"] for event in events if event["ph"] in ("s", "f")})


def main() -> int:
    """Build the trace and print its path."""
    parser = argparse.ArgumentParser(description="Build the benchmark's trace.")
    parser.add_argument("--copies", type=int, default=10)
    parser.add_argument("--check", action="store_true", help="load the result and compare its counts with the source's")
    options = parser.parse_args()
    try:
        built = build_trace(options.copies)
    except MissingCorpus as missing:
        print(missing, file=sys.stderr)
        return 1
    print(check_trace(built, options.copies) if options.check else f"{built.path}: {built.events:,} events")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
