"""Runs and their states: imported in processes of their own, whatever happens to these."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from laptime.model.workspace import Workspace
from laptime.web.catalogue import Catalogue, NotFound, NotImported, RunRow
from laptime.web.imports import AT_ONCE
from tests.cli.recordings import TINY, device_events, slice_of, written
from tests.web.conftest import Imported, client_of

_LONGEST_S = 120


def _until(wanted: Callable[[], bool]) -> None:
    begin = time.monotonic()
    while not wanted():
        assert time.monotonic() - begin < _LONGEST_S
        time.sleep(0.01)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Two runs."""
    for name in ("good", "bad"):
        (tmp_path / "base" / name).mkdir(parents=True)
    shutil.copy(TINY, tmp_path / "base" / "good" / "a.pt.trace.json.gz")
    written(tmp_path / "base" / "bad" / "a.pt.trace.json", device_events())
    return tmp_path / "base"


@pytest.fixture
def changes() -> list[RunRow]:
    """What listeners heard."""
    return []


@pytest.fixture
def catalogue(base: Path, workspace: Workspace, changes: list[RunRow]) -> Iterator[Catalogue]:
    """A catalogue that has looked once."""
    found = Catalogue([base], workspace, changed=changes.append)
    found.refresh()
    yield found
    found.close()


def _id(catalogue: Catalogue, path: str) -> str:
    return next(row["run"] for row in catalogue.runs() if row["path"] == path)


def test_new_runs_say_what_is_known_of_them(catalogue: Catalogue) -> None:
    row = catalogue.row(_id(catalogue, "good"))
    assert row["status"] == "new"
    assert (row["name"], row["format"]) == ("good", "pytorch_kineto")
    assert row["size_bytes"] == TINY.stat().st_size
    assert row["updated_unix"] is not None
    unknown = ("framework", "message", "progress", "world_size", "device", "steps", "step_mean_ns", "biggest_cause")
    assert all(row[key] is None for key in unknown)  # type: ignore[literal-required]
    with pytest.raises(NotImported, match="not imported yet"):
        catalogue.run(row["run"])
    with pytest.raises(NotFound, match="no such run"):
        catalogue.row("nosuch")


def test_an_import_tells_how_it_goes_and_ends_ready(catalogue: Catalogue, changes: list[RunRow]) -> None:
    run = _id(catalogue, "good")
    assert catalogue.import_run(run)["status"] in ("queued", "importing")
    _until(lambda: catalogue.row(run)["status"] == "ready")
    row = catalogue.row(run)
    assert (row["framework"], row["steps"], row["message"], row["progress"]) == ("pytorch", 3, None, None)
    assert row["step_mean_ns"] and len(row["step_ns"]) == 3
    assert row["biggest_cause"] and 0 < row["biggest_cause"]["share"] <= 1
    assert [change["status"] for change in changes if change["progress"] in (None, 0.0)][-3:] == [
        "queued",
        "importing",
        "ready",
    ]
    assert len(catalogue.run(run).traces) == 1
    assert catalogue.import_run(run)["status"] == "ready"  # done is done


def test_a_failed_import_is_a_state_and_can_be_tried_again(catalogue: Catalogue, base: Path) -> None:
    run = _id(catalogue, "bad")
    (base / "bad" / "a.pt.trace.json").write_text("")  # meanwhile
    catalogue.import_run(run)
    _until(lambda: catalogue.row(run)["status"] in ("failed", "ready"))
    assert catalogue.row(run)["status"] == "failed"
    assert str(catalogue.row(run)["message"]).startswith("the file is empty: a.pt.trace.json: record again")
    written(base / "bad" / "a.pt.trace.json", device_events())
    catalogue.import_run(run)
    _until(lambda: catalogue.row(run)["status"] == "ready")


def test_what_nothing_can_read_has_failed_from_the_start(base: Path, workspace: Workspace) -> None:
    broken = base / "broken" / "rank0.pt.trace.json.gz"
    broken.parent.mkdir()
    broken.write_bytes(b"")
    catalogue = Catalogue([base], workspace)
    catalogue.refresh()
    row = catalogue.row(_id(catalogue, "broken"))
    assert (row["status"], row["format"]) == ("failed", "unknown")
    assert str(row["message"]).startswith("the file is empty: rank0.pt.trace.json.gz: record again")
    written(broken, device_events())
    catalogue.refresh()
    row = catalogue.row(row["run"])
    assert (row["status"], row["format"], row["message"]) == ("new", "pytorch_kineto", None)


def test_a_killed_import_leaves_the_rest_alone(base: Path, workspace: Workspace) -> None:
    events = [slice_of("cpu_op", f"op{number % 100}", number, 1) for number in range(200_000)]
    written(base / "good" / "large.pt.trace.json", events)
    catalogue = Catalogue([base], workspace)
    catalogue.refresh()
    run = _id(catalogue, "good")
    catalogue.import_run(run)
    _until(lambda: bool(catalogue.import_processes))
    (process,) = catalogue.import_processes
    os.kill(process, signal.SIGKILL)
    _until(lambda: catalogue.row(run)["status"] == "failed")
    assert str(catalogue.row(run)["message"]).startswith("the import was killed (SIGKILL)")
    assert catalogue.import_processes == []
    catalogue.refresh()
    assert catalogue.row(run)["status"] == "failed"  # looking again does not hide it
    catalogue.import_run(run)
    _until(lambda: catalogue.row(run)["status"] == "ready")
    catalogue.close()


def test_few_imports_run_at_once(tmp_path: Path, workspace: Workspace) -> None:
    for number in range(5):
        (tmp_path / "base" / f"run{number}").mkdir(parents=True)
        shutil.copy(TINY, tmp_path / "base" / f"run{number}" / "a.pt.trace.json.gz")
    catalogue = Catalogue([tmp_path / "base"], workspace)
    catalogue.refresh()
    for row in catalogue.runs():
        catalogue.import_run(row["run"])
    most = 0

    def done() -> bool:
        nonlocal most
        most = max(most, len(catalogue.import_processes))
        return all(row["status"] == "ready" for row in catalogue.runs())

    _until(done)
    assert 1 <= most <= AT_ONCE


def test_closing_ends_the_imports(base: Path, workspace: Workspace) -> None:
    catalogue = Catalogue([base], workspace)
    catalogue.refresh()
    catalogue.import_run(_id(catalogue, "good"))
    _until(lambda: bool(catalogue.import_processes))
    catalogue.close()
    _until(lambda: not catalogue.import_processes)


def test_what_is_imported_is_ready_at_once_and_loads_no_table(
    imported: Imported, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a table is read")

    monkeypatch.setattr("laptime.model.trace.Table.arrow", refuse)
    monkeypatch.setattr("laptime.web.opened.reopened", refuse)
    rows = imported.catalogue().runs()
    assert len(rows) == 6
    assert {row["status"] for row in rows} == {"ready"}


def test_ids_are_the_same_after_a_restart_and_elsewhere(imported: Imported, tmp_path: Path) -> None:
    before = {row["path"]: row["run"] for row in imported.catalogue().runs()}
    assert before == {row["path"]: row["run"] for row in imported.catalogue().runs()}
    moved = tmp_path / "elsewhere" / imported.base.name
    shutil.copytree(imported.base, moved)
    again = Catalogue([moved], imported.workspace)
    again.refresh()
    assert before == {row["path"]: row["run"] for row in again.runs()}
    assert str(imported.base) not in str(before)


def test_same_places_under_two_bases_have_ids_of_their_own(tmp_path: Path, workspace: Workspace) -> None:
    for side in ("a", "b"):
        (tmp_path / side / "runs" / "one").mkdir(parents=True)
        written(tmp_path / side / "runs" / "one" / "x.json", device_events())
    catalogue = Catalogue([tmp_path / "a" / "runs", tmp_path / "b" / "runs"], workspace)
    catalogue.refresh()
    assert len({row["run"] for row in catalogue.runs()}) == 2


def test_changed_recordings_are_new_again(imported: Imported, tmp_path: Path) -> None:
    base = tmp_path / imported.base.name
    shutil.copytree(imported.base / "device", base / "device")
    catalogue = Catalogue([base], imported.workspace)
    catalogue.refresh()
    run = catalogue.runs()[0]["run"]
    catalogue.import_run(run)
    _until(lambda: catalogue.row(run)["status"] == "ready")
    written(base / "device" / "rank1.pt.trace.json", device_events())
    catalogue.refresh()
    assert catalogue.row(run)["status"] == "new"


def test_an_import_that_another_program_removes_is_new_again(base: Path, workspace: Workspace) -> None:
    catalogue = Catalogue([base], workspace)
    catalogue.refresh()
    run = _id(catalogue, "good")
    catalogue.import_run(run)
    _until(lambda: catalogue.row(run)["status"] == "ready")
    for stored in workspace.runs():
        workspace.remove(stored)
    with pytest.raises(NotImported):
        catalogue.run(run)
    assert catalogue.row(run)["status"] == "new"


def test_an_import_that_is_removed_while_it_is_open_is_new_again(base: Path, workspace: Workspace) -> None:
    catalogue = Catalogue([base], workspace)
    catalogue.refresh()
    run = _id(catalogue, "good")
    catalogue.import_run(run)
    _until(lambda: catalogue.row(run)["status"] == "ready")
    client = client_of(catalogue)
    assert client.get(f"/api/runs/{run}/step").status_code == 200
    shutil.rmtree(workspace.root)
    assert client.get(f"/api/runs/{run}/memory").status_code == 409
    catalogue.refresh()
    assert [row["status"] for row in catalogue.runs()] == ["new", "new"]
    catalogue.import_run(run)
    _until(lambda: catalogue.row(run)["status"] in ("ready", "failed"))
    assert catalogue.row(run)["message"] is None
    assert client.get(f"/api/runs/{run}/memory").status_code == 200
    catalogue.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has names that are no Unicode")
def test_names_that_are_no_unicode(tmp_path: Path, workspace: Workspace) -> None:
    folder = tmp_path / os.fsdecode(b"tr\xffain")
    folder.mkdir()
    shutil.copy(TINY, folder / os.fsdecode(b"a\xfe.pt.trace.json.gz"))
    catalogue = Catalogue([tmp_path], workspace)
    catalogue.refresh()
    (row,), client = catalogue.runs(), client_of(catalogue)
    home = f"/api/runs/{row['run']}"
    assert client.post(f"{home}/import").status_code == 202
    _until(lambda: catalogue.row(row["run"])["status"] in ("ready", "failed"))
    assert client.get(home).json()["status"] == "ready"
    assert client.get(f"{home}/step").status_code == 200
    assert client.get(f"{home}/slices/99999").json()["where"] == "a\udcfe.pt.trace.json.gz"
    catalogue.close()


def test_names_tell_runs_apart(tmp_path: Path, workspace: Workspace) -> None:
    for place in ("resnet/plugins/profile/2026_01_01_10", "bert/profiler", "plain"):
        (tmp_path / place).mkdir(parents=True)
        written(tmp_path / place / "x.json", device_events())
    catalogue = Catalogue([tmp_path], workspace)
    catalogue.refresh()
    assert {row["path"]: row["name"] for row in catalogue.runs()} == {
        "resnet/plugins/profile/2026_01_01_10": "resnet/2026_01_01_10",
        "bert/profiler": "bert",
        "plain": "plain",
    }
