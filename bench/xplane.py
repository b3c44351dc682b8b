"""Measure the import of a million XPlane events beside protobuf's own parsing of the same bytes.

Both run in processes of their own, one after the other, several times; compared is the least processor time of each.
`XSpace.FromString` (upb, in C) only makes objects of the bytes; laptime's time is that of the whole import, from the
file to the Parquet tables. Recordings of the corpus are repeated until they hold a million events.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from make_trace import ROOT, MissingCorpus

sys.path.insert(0, str(ROOT))
from tests.conftest import corpus_folder
from tests.importers.xspaces import XSpace

CASES = ("jax_cpu_plain", "jax_cpu_dp4", "rocm_mi300_conv_min_08", "jax_cpu_recompile")
EVENTS = 1_000_000
GAP_PS = 1_000_000
_PARSE = """
import gc, sys, time
sys.path.insert(0, sys.argv[2])
from tests.importers.xspaces import XSpace
data = open(sys.argv[1], "rb").read()
for _ in range(2):
    gc.collect()
    start = time.process_time()
    space = XSpace.FromString(data)
    print(time.process_time() - start)
    del space
"""
_IMPORT = """
import sys, tempfile, time
from pathlib import Path
from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace
for path in (sys.argv[2], sys.argv[1], sys.argv[1]):  # first a small one: imports of modules do not count
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.choose(Path(folder), say=lambda _: None)
        start = time.process_time()
        run = open_run(path, workspace=workspace)
        took = time.process_time() - start
    if path == sys.argv[1]:
        print(took)
"""


def main() -> int:
    """Print a line for each recording; 1 where the corpus is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="*", default=CASES, help="folders of the corpus under jax_xplane")
    parser.add_argument("--repeats", type=int, default=3, help="processes of each kind")
    options = parser.parse_args()
    print(f"{'recording':<26}{'events':>11}{'bytes':>13}{'FromString':>13}{'laptime':>11}{'ratio':>8}")
    try:
        for case in options.cases:
            print(_line(case, options.repeats), flush=True)
    except MissingCorpus as problem:
        print(f"bench: {problem}", file=sys.stderr)
        return 1
    return 0


def _line(case: str, repeats: int) -> str:
    source = _recording(case)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "repeated.xplane.pb"
        events = _repeat(source, path)
        parsed = min(_seconds(_PARSE, path, ROOT, repeats=repeats))
        imported = min(_seconds(_IMPORT, path, source, repeats=repeats))
        size = path.stat().st_size
    return f"{case:<26}{events:>11,}{size:>13,}{parsed:>11.3f} s{imported:>9.3f} s{imported / parsed:>8.1f}"


def _seconds(script: str, *arguments: Path, repeats: int) -> list[float]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    texts = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(repeats)]
    return [float(line) for text in texts for line in text.splitlines()]


def _recording(case: str) -> Path:
    folder = corpus_folder()
    found = sorted((folder / "jax_xplane" / case).glob("*.xplane.pb")) if folder else []
    if not found:
        raise MissingCorpus(f"no recording {case}: set LAPTIME_CORPUS to the folder of real recordings")
    return found[0]


def _repeat(source: Path, target: Path) -> int:
    """Writes the recording's events again and again, one span after the other; returns how many there are."""
    space = XSpace.FromString(source.read_bytes())
    lines = [line for plane in space.planes for line in plane.lines]
    events = sum(len(line.events) for line in lines)
    ends = [line.timestamp_ns * 1000 + e.offset_ps + e.duration_ps for line in lines for e in line.events]
    starts = [line.timestamp_ns * 1000 + e.offset_ps for line in lines for e in line.events]
    span, copies = max(ends) - min(starts) + GAP_PS, -(-EVENTS // events)
    for plane in space.planes:
        keys = {entry.value.name: entry.key for entry in plane.stat_metadata}
        counted = {keys.get("step_num"): 1_000, keys.get("correlation_id"): 1_000_000}
        for line in plane.lines:
            _repeat_line(line, copies, span, counted)
    target.write_bytes(space.SerializeToString())
    return events * copies


def _repeat_line(line: Any, copies: int, span: int, counted: dict[int | None, int]) -> None:
    """Steps and launches get numbers of their own in each copy."""
    first = type(line)()
    first.CopyFrom(line)
    for copy in range(1, copies):
        again = type(line)()
        again.CopyFrom(first)
        for event in again.events:
            event.offset_ps += span * copy
            for stat in event.stats:
                if stat.metadata_id in counted:
                    field = stat.WhichOneof("value")
                    setattr(stat, field, getattr(stat, field) + counted[stat.metadata_id] * copy)
        line.events.extend(again.events)


if __name__ == "__main__":
    sys.exit(main())
