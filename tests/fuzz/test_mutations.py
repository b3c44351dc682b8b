"""No damage to a recording crashes laptime: it is refused in one line, or what is whole is reported with sound sums.

LAPTIME_FUZZ_MUTATIONS sets how many damaged recordings are tried in all, a fifth of them folders;
LAPTIME_FUZZ_REPLAY=sample#number tries one and leaves it in LAPTIME_FUZZ_KEEP, or the test's folder.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace
from tests.conftest import corpus_folder
from tests.fuzz.feeding import Failure, damaged, failures, feed, samples, write
from tests.fuzz.folder_mutations import mutated_folder
from tests.fuzz.folder_samples import corpus_samples, own_samples
from tests.fuzz.mutations import mutated

pytestmark = pytest.mark.fuzz

FILES = samples()
FOLDERS = own_samples() | corpus_samples()
RECORDINGS = FILES | FOLDERS
MUTATIONS = int(os.environ.get("LAPTIME_FUZZ_MUTATIONS") or 2500)
_OF_FOLDERS = 0.2
EACH_FILE = -(-round(MUTATIONS * (1 - _OF_FOLDERS)) // len(FILES))
EACH_FOLDER = -(-round(MUTATIONS * _OF_FOLDERS) // len(FOLDERS))
_MOST_SHOWN = 8


@pytest.mark.parametrize("sample", FILES)
def test_damaged_files(sample: str, tmp_path: Path) -> None:
    _try(sample, EACH_FILE, tmp_path)


@pytest.mark.parametrize("sample", FOLDERS)
def test_damaged_folders(sample: str, tmp_path: Path) -> None:
    _try(sample, EACH_FOLDER, tmp_path)


def _try(sample: str, count: int, tmp_path: Path) -> None:
    found: dict[str, Failure] = {}
    for failure in failures(sample, range(count), FILES if sample in FILES else FOLDERS, tmp_path):
        found.setdefault(failure.signature, failure)
    for failure in found.values():
        write(failure.data, _keeping(tmp_path) / f"{sample.replace('/', '_')}#{failure.number}")
    texts = [f"LAPTIME_FUZZ_REPLAY='{f.sample}#{f.number}'\n{f.error}" for f in list(found.values())[:_MOST_SHOWN]]
    assert not found, f"{len(found)} kinds of failure; inputs lie in {_keeping(tmp_path)}\n" + "\n".join(texts)


def _keeping(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("LAPTIME_FUZZ_KEEP") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.skipif("LAPTIME_FUZZ_REPLAY" not in os.environ, reason="LAPTIME_FUZZ_REPLAY names no sample#number")
def test_replay(tmp_path: Path, workspace: Workspace) -> None:
    sample, _, number = os.environ["LAPTIME_FUZZ_REPLAY"].rpartition("#")
    data = damaged(sample, int(number), FILES if sample in FILES else FOLDERS)
    write(data, _keeping(tmp_path) / ("replayed.json" if sample in FILES else "replayed"))
    feed(data, workspace, tmp_path, deeper=True)


@pytest.mark.parametrize("sample", FOLDERS)
def test_folders_are_read_where_they_are_whole(sample: str, tmp_path: Path, workspace: Workspace) -> None:
    """What is damaged is a recording of the format, not something that is refused anyway."""
    write(FOLDERS[sample], tmp_path / "whole")
    run = open_run(tmp_path / "whole", workspace=workspace)
    assert {trace.meta["format"] for trace in run.traces} == {sample.partition("/")[0]}
    assert run.notes == []


def test_folders_of_the_corpus_are_damaged_where_it_is_present() -> None:
    if corpus_folder() is None:
        pytest.skip("no corpus: set LAPTIME_CORPUS to the folder of real recordings")
    assert len(FOLDERS) > len(own_samples())


@pytest.mark.parametrize("recordings", [FILES, FOLDERS], ids=["files", "folders"])
def test_the_same_number_gives_the_same_damage(recordings: dict[str, bytes]) -> None:
    sample = next(iter(recordings))
    first = damaged(sample, 7, recordings)
    assert damaged(sample, 7, recordings) == first != recordings[sample]
    assert len({str(damaged(sample, number, recordings)) for number in range(50)}) > 45


def test_very_short_files_can_be_damaged() -> None:
    for number in range(200):
        mutated(b"{", [b"["], Random(number))


def test_very_small_folders_can_be_damaged() -> None:
    for number in range(400):
        mutated_folder({"profiler/flops_0.txt": b"\n"[number % 2 :]}, [], Random(number))
