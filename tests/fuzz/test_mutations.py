"""No damage to a recording crashes laptime: it is refused in one line, or what is whole is reported with sound sums.

LAPTIME_FUZZ_MUTATIONS sets how many damaged recordings are tried in all; LAPTIME_FUZZ_REPLAY=sample#number tries one
and leaves its bytes in LAPTIME_FUZZ_KEEP, or the test's folder.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from laptime.model.workspace import Workspace
from tests.fuzz.feeding import Failure, damaged, failures, feed, samples
from tests.fuzz.mutations import mutated

pytestmark = pytest.mark.fuzz

RECORDINGS = samples()
MUTATIONS = int(os.environ.get("LAPTIME_FUZZ_MUTATIONS") or 2000)
EACH = -(-MUTATIONS // len(RECORDINGS))
_MOST_SHOWN = 8


@pytest.mark.parametrize("sample", RECORDINGS)
def test_damaged_recordings(sample: str, tmp_path: Path) -> None:
    found: dict[str, Failure] = {}
    for failure in failures(sample, range(EACH), RECORDINGS, tmp_path):
        found.setdefault(failure.signature, failure)
    for failure in found.values():
        (_keeping(tmp_path) / f"{sample.replace('/', '_')}#{failure.number}").write_bytes(failure.data)
    texts = [f"LAPTIME_FUZZ_REPLAY='{f.sample}#{f.number}'\n{f.error}" for f in list(found.values())[:_MOST_SHOWN]]
    assert not found, f"{len(found)} kinds of failure; inputs lie in {_keeping(tmp_path)}\n" + "\n".join(texts)


def _keeping(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("LAPTIME_FUZZ_KEEP") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.skipif("LAPTIME_FUZZ_REPLAY" not in os.environ, reason="LAPTIME_FUZZ_REPLAY names no sample#number")
def test_replay(tmp_path: Path, workspace: Workspace) -> None:
    sample, _, number = os.environ["LAPTIME_FUZZ_REPLAY"].rpartition("#")
    data = damaged(sample, int(number), RECORDINGS)
    (_keeping(tmp_path) / "replayed.json").write_bytes(data)
    feed(data, workspace, tmp_path, deeper=True)


def test_the_same_number_gives_the_same_damage() -> None:
    sample = next(iter(RECORDINGS))
    first = damaged(sample, 7, RECORDINGS)
    assert damaged(sample, 7, RECORDINGS) == first != RECORDINGS[sample]
    assert len({damaged(sample, number, RECORDINGS) for number in range(50)}) > 45


def test_very_short_files_can_be_damaged() -> None:
    for number in range(200):
        mutated(b"{", [b"["], Random(number))
