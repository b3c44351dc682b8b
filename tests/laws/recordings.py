"""The recordings that obey the four laws: a new sample is a new file in its folder, and one run of the update.

A run is a file, or a folder of ranks. `LAPTIME_UPDATE_SNAPSHOTS=1 pytest tests/laws` writes the snapshots anew; read
the difference before it is committed.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from tests.conftest import EXAMPLE, ROOT, SAMPLES

SNAPSHOTS = ROOT / "tests" / "snapshots"
_RANK_FOLDERS = (EXAMPLE, SAMPLES / "pytorch" / "ddp2")
_ENDINGS = (".json", ".json.gz")


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name.endswith(_ENDINGS) and path.name != "facts.json")


SINGLE_FILES = [path for folder in sorted(SAMPLES.iterdir()) for path in _files(folder)]
FILES = [*SINGLE_FILES, *(path for folder in _RANK_FOLDERS for path in _files(folder))]
"""Files of events."""
LOGS = sorted((SAMPLES / "laptime").glob("*.laptime.jsonl"))
"""Recordings of laptime's own recorder."""
RUNS = [*SINGLE_FILES, *_RANK_FOLDERS, *LOGS]
RECORDINGS = [*FILES, *LOGS]


def title(path: Path) -> str:
    """`loader`, `ddp2-rank0`: what a test or a snapshot is called."""
    stem = path.name.split(".")[0]
    return f"{path.parent.name}-{stem}" if path.parent in _RANK_FOLDERS else stem


def rows_in(path: Path) -> int:
    """How many events a whole recording holds."""
    if path in LOGS:
        return sum(len(json.loads(line)) for line in path.read_text().splitlines()[1:])
    return len(json.loads(plain_text(path))["traceEvents"])


def plain_text(path: Path) -> bytes:
    """The decompressed recording."""
    data = path.read_bytes()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
