"""Which folders are runs, and how little is read to find them."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from laptime.web.finding import UNKNOWN, Search, fault_of
from tests.cli.recordings import TINY, device_events, written
from tests.importers import ascend_jobs as jobs
from tests.importers.ascend_folders import timeline, write_output
from tests.web.conftest import Imported


def _age(folder: Path) -> None:
    """As if nothing changed in the last minute."""
    for each in (folder, *folder.rglob("*")):
        os.utime(each, (time.time() - 60, time.time() - 60), follow_symlinks=False)


def _paths(search: Search) -> list[str]:
    return [found.relative for found in search.found()]


def test_formats_and_nesting(imported: Imported) -> None:
    found = {run.relative: run.format for run in Search(imported.base).found()}
    assert found == {
        "ddp/two": "pytorch_kineto",
        "device": "pytorch_kineto",
        "jobs/JOBAA": "ascend_job",
        "memory": "pytorch_kineto",
        "plain": "laptime",
        "tiny_train": "pytorch_kineto",
    }


def test_a_run_in_another_is_a_run_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    for place in (tmp_path / "a" / "x.json", tmp_path / "a" / "y.json", tmp_path / "a" / "b" / "c" / "z.json"):
        written(place, device_events())
    outer, inner = Search(tmp_path).found()
    assert (outer.relative, inner.relative) == ("a", "a/b/c")
    assert [source.name for source in outer.sources()] == ["x.json", "y.json"]
    assert [source.name for source in inner.sources()] == ["z.json"]


def test_each_job_and_each_time_is_a_run(tmp_path: Path) -> None:
    for name in ("JOBAA", "JOBBB"):
        jobs.write_job(tmp_path / name, jobs.job_files())
    for moment in ("2026_01_01", "2026_01_02"):
        folder = tmp_path / "log" / "plugins" / "profile" / moment
        folder.mkdir(parents=True)
        written(folder / "host.trace.json", device_events())
    assert _paths(Search(tmp_path)) == [
        "JOBAA",
        "JOBBB",
        "log/plugins/profile/2026_01_01",
        "log/plugins/profile/2026_01_02",
    ]


def test_ranks_in_folders_of_their_own_are_one_run(tmp_path: Path) -> None:
    for rank in range(2):
        files = {"trace_view.json": json.dumps(timeline())}
        write_output(tmp_path / "train" / f"rank{rank}_ascend_pt", files)
    (run,) = Search(tmp_path).found()
    assert run.relative == "train"
    assert [source.path.name for source in run.sources()] == ["rank0_ascend_pt", "rank1_ascend_pt"]
    (alone,) = Search(tmp_path / "train" / "rank0_ascend_pt").found()
    assert alone.path == tmp_path / "train" / "rank0_ascend_pt"


def test_other_files_make_no_run(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"lr": 0.1}')
    (tmp_path / "table.svg").write_text("<svg/>")
    (tmp_path / "empty.json").write_text("")
    (tmp_path / ".hidden").mkdir()
    written(tmp_path / ".hidden" / "trace.json", device_events())
    search = Search(tmp_path)
    assert search.found() == []
    written(tmp_path / "empty.json", device_events())  # a recorder was still at it
    assert _paths(search) == [tmp_path.name]


def test_a_recording_by_its_name_is_a_run_even_where_nothing_can_read_it(tmp_path: Path) -> None:
    for name in ("rank0.pt.trace.json.gz", "host.xplane.pb", "chrome_timeline.json", "memory_flow.svg"):
        (tmp_path / name.replace(".", "-")).mkdir()
        (tmp_path / name.replace(".", "-") / name).write_bytes(b"\x1f\x8b broken")
    found = Search(tmp_path).found()
    assert [(run.relative, run.format) for run in found] == [
        *(("chrome_timeline-json", UNKNOWN), ("host-xplane-pb", UNKNOWN)),
        *(("memory_flow-svg", UNKNOWN), ("rank0-pt-trace-json-gz", UNKNOWN)),
    ]
    assert all((fault_of(run) or "").strip() for run in found)
    broken = tmp_path / "rank0-pt-trace-json-gz"
    written(broken / "rank0.pt.trace.json.gz", device_events())  # it was not finished
    assert [run.format for run in Search(tmp_path).found() if run.path == broken] == ["pytorch_kineto"]


def test_one_file_is_a_run(tmp_path: Path) -> None:
    written(tmp_path / "one.json", device_events())
    written(tmp_path / "other.json", device_events())
    (run,) = Search(tmp_path / "one.json").found()
    assert (run.relative, [source.name for source in run.sources()]) == ("one.json", ["one.json"])


def test_links_lead_nowhere_outside(tmp_path: Path) -> None:
    base, outside = tmp_path / "base", tmp_path / "outside"
    base.mkdir()
    outside.mkdir()
    written(outside / "secret.json", device_events())
    (base / "linked").symlink_to(outside)
    (base / "file.json").symlink_to(outside / "secret.json")
    search = Search(base)
    assert search.found() == []
    assert search.notes == ["2 links that lead out of the folder are not followed"]
    written(base / "own.json", device_events())
    (run,) = search.found()
    assert [source.name for source in run.sources()] == ["own.json"]


def test_links_inside_a_recording_lead_nowhere_outside(tmp_path: Path) -> None:
    job = jobs.write_job(tmp_path / "base" / "JOBAA", jobs.job_files())
    (inside,) = [file for file in job.rglob("hwts*") if file.is_file()][:1]
    moved = tmp_path / inside.name
    inside.rename(moved)
    inside.symlink_to(moved)
    assert all(not run.sources() for run in Search(tmp_path / "base").found())


@pytest.fixture
def thousand(tmp_path: Path) -> Path:
    """A thousand run folders, as a group of users leaves them."""
    for number in range(1000):
        folder = tmp_path / f"group{number % 10}" / f"run{number}"
        folder.mkdir(parents=True)
        shutil.copy(TINY, folder / "worker0.pt.trace.json.gz")
        (folder / "config.json").write_text("{}")
    _age(tmp_path)
    return tmp_path


def test_a_thousand_runs_take_little_reading(thousand: Path) -> None:
    search = Search(thousand)
    assert len(search.found()) == 1000
    assert search.folders_read == 1011
    assert search.files_opened == 1000  # the recordings, by their names before the rest
    search.folders_read = search.files_opened = 0
    assert len(search.found()) == 1000
    assert (search.folders_read, search.files_opened) == (0, 0)
    shutil.copy(TINY, thousand / "group3" / "new.pt.trace.json.gz")
    assert len(search.found()) == 1001
    assert (search.folders_read, search.files_opened) == (2, 1)  # where it is, and the folder above


def test_what_is_gone_is_gone(thousand: Path) -> None:
    search = Search(thousand)
    search.found()
    shutil.rmtree(thousand / "group3" / "run3")
    assert "group3/run3" not in _paths(search)
