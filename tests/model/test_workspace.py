"""The cache: whole or absent, shared between processes and runs, never in the way."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from laptime.errors import LaptimeError
from laptime.importers.opening import open_run
from laptime.model.trace import Run
from laptime.model.workspace import ENVIRONMENT, StoredRun, Workspace, fingerprint, joined_key

EVENT = {"ph": "X", "name": "aten::mm", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 5, "dur": 3, "args": {"a": 1}}


def written(path: Path, *events: dict[str, object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": list(events or (EVENT,))}))
    return path


def stored_traces(workspace: Workspace) -> list[str]:
    return sorted(path.name for path in (workspace.root / "traces").iterdir())


def listed(run: Run, workspace: Workspace) -> StoredRun:
    assert run.folder is not None
    return next(stored for stored in workspace.runs() if stored.key == run.folder.name)


# ---- imports ----

IMPORT_AT_ONCE = """
import sys, time
from contextlib import contextmanager
from pathlib import Path
from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace

recording, root, own, other = map(Path, sys.argv[1:])
new_trace = Workspace.new_trace

@contextmanager
def meeting(self, key):
    with new_trace(self, key) as folder:
        own.touch()
        deadline = time.monotonic() + 30
        while not other.exists() and time.monotonic() < deadline:
            time.sleep(0.005)
        yield folder

Workspace.new_trace = meeting
run = open_run(recording, workspace=Workspace.choose(root, say=print))
print(run.traces[0].slices.objects("name"), run.traces[0].table("args").objects("args"))
"""


def test_two_processes_that_import_one_file_at_once_give_one_good_trace(tmp_path):
    recording, root = written(tmp_path / "a.json"), tmp_path / "workspace"
    signs = [tmp_path / "one", tmp_path / "two"]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", IMPORT_AT_ONCE, str(recording), str(root), str(own), str(other)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for own, other in (signs, signs[::-1])
    ]
    results = [(*process.communicate(timeout=60), process.returncode) for process in processes]
    assert results == [("['aten::mm'] ['{\"a\": 1}']\n", "", 0)] * 2
    assert all(sign.exists() for sign in signs)
    workspace = Workspace(root)
    assert len(stored_traces(workspace)) == len(workspace.runs()) == 1


def test_a_second_opening_imports_nothing(tmp_path, workspace, monkeypatch):
    recording = written(tmp_path / "a.json")
    first = open_run(recording, workspace=workspace)
    monkeypatch.setattr(Workspace, "new_trace", lambda *_: pytest.fail("imported again"))
    again = open_run(recording, workspace=workspace)
    assert again.traces[0].slices.arrow() == first.traces[0].slices.arrow()
    assert len(workspace.runs()) == 1


def test_a_changed_file_is_imported_anew(tmp_path, workspace):
    open_run(written(tmp_path / "a.json"), workspace=workspace)
    run = open_run(written(tmp_path / "a.json", {**EVENT, "name": "aten::bmm"}), workspace=workspace)
    assert run.traces[0].slices.objects("name") == ["aten::bmm"]


def test_nothing_is_written_beside_the_recording(tmp_path, workspace):
    recording = written(tmp_path / "profile" / "a.json")
    open_run(recording, workspace=workspace)
    open_run(recording.parent, workspace=workspace)
    assert list(recording.parent.iterdir()) == [recording]


def test_a_failed_import_leaves_nothing(tmp_path, workspace, monkeypatch):
    monkeypatch.setattr("laptime.importers.opening.write_trace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        open_run(written(tmp_path / "a.json"), workspace=workspace)
    assert stored_traces(workspace) == []
    assert workspace.runs() == []


def test_a_half_written_folder_is_never_read(tmp_path, workspace):
    """What an import that was killed leaves behind: its temporary folder, without or with a wrong `meta.json`."""
    recording = written(tmp_path / "a.json")
    (key,) = [trace.folder.name for trace in open_run(recording, workspace=workspace).traces]
    whole = workspace.trace_folder(key)
    left = workspace.root / "traces" / f".{key}.killed"
    shutil.copytree(whole, left)
    (left / "slices.parquet").write_bytes(b"PAR1")
    shutil.rmtree(whole)
    assert not workspace.has_trace(key)
    assert open_run(recording, workspace=workspace).traces[0].slices.objects("name") == ["aten::mm"]
    assert workspace.has_trace(key)


def test_remains_of_a_removed_trace_do_not_block_its_import(tmp_path, workspace):
    """Stopped halfway, `remove` leaves a folder without `meta.json` under the trace's own name."""
    recording = written(tmp_path / "a.json")
    (trace,) = open_run(recording, workspace=workspace).traces
    (trace.folder / "meta.json").unlink()
    again = open_run(recording, workspace=workspace)
    assert again.traces[0].slices.objects("name") == ["aten::mm"]


def test_new_trace_appears_only_when_it_is_done(workspace):
    with workspace.new_trace("key") as folder:
        (folder / "meta.json").write_text("{}")
        assert not workspace.has_trace("key")
    assert workspace.has_trace("key")
    assert stored_traces(workspace) == ["key"]


def test_the_faster_of_two_imports_stays(workspace):
    with workspace.new_trace("key") as slow:
        with workspace.new_trace("key") as fast:
            (fast / "meta.json").write_text("fast")
        (slow / "meta.json").write_text("slow")
    assert (workspace.trace_folder("key") / "meta.json").read_text() == "fast"
    assert stored_traces(workspace) == ["key"]


# ---- the list of runs ----


def test_a_trace_shared_with_another_run_survives_its_removal(tmp_path, workspace):
    folder = tmp_path / "job"
    written(folder / "rank0.json")
    written(folder / "rank1.json", {**EVENT, "name": "aten::bmm"})
    both = open_run(folder, workspace=workspace)
    one = open_run(folder / "rank0.json", workspace=workspace)
    shared, alone = both.traces[0].folder.name, both.traces[1].folder.name
    assert one.traces[0].folder.name == shared
    workspace.remove(listed(both, workspace))
    assert stored_traces(workspace) == [shared]
    assert not workspace.has_trace(alone)
    assert [run.key for run in workspace.runs()] == [one.folder.name]
    workspace.remove(listed(one, workspace))
    assert stored_traces(workspace) == [] == workspace.runs()


def test_runs_are_listed_newest_first_with_their_size(tmp_path, workspace, monkeypatch):
    clock = iter([100.0, 200.0])
    monkeypatch.setattr(time, "time", lambda: next(clock))
    old = open_run(written(tmp_path / "old.json"), workspace=workspace)
    new = open_run(written(tmp_path / "new.json"), workspace=workspace)
    assert [run.name for run in workspace.runs()] == ["new.json", "old.json"]
    sizes = [sum(file.stat().st_size for file in run.traces[0].folder.iterdir()) for run in (new, old)]
    assert [run.size_bytes for run in workspace.runs()] == sizes


@pytest.mark.parametrize("text", ["", "{", "[1]", "\x00"], ids=["empty", "cut", "list", "binary"])
def test_a_run_whose_entry_is_broken_is_left_out(tmp_path, workspace, text):
    run = open_run(written(tmp_path / "a.json"), workspace=workspace)
    (run.folder / "run.json").write_text(text)
    assert workspace.runs() == []


@pytest.mark.parametrize("change", [{"colour": "red"}, {"traces": None}], ids=["unknown key", "missing key"])
def test_an_entry_of_another_version_is_no_traceback(tmp_path, workspace, change):
    run = open_run(written(tmp_path / "a.json"), workspace=workspace)
    entry = json.loads((run.folder / "run.json").read_text()) | change
    entry = {key: value for key, value in entry.items() if value is not None}
    (run.folder / "run.json").write_text(json.dumps(entry))
    assert len(workspace.runs()) <= 1


def test_results_are_kept_and_replaced(workspace):
    workspace.run_folder("key").mkdir()
    assert workspace.read_result("key", "report") is None
    for number in (1, 2):
        workspace.write_result("key", "report", {"number": number})
    assert workspace.read_result("key", "report") == {"number": 2}
    assert [path.name for path in workspace.run_folder("key").iterdir()] == ["report.json"]


# ---- where it lies ----


def test_a_root_that_cannot_be_written_falls_back_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    occupied = tmp_path / "file"
    occupied.write_text("no folder")
    said: list[str] = []
    workspace = Workspace.choose(occupied / "workspace", say=said.append)
    assert workspace.root.parent == tmp_path
    assert len(said) == 1
    assert str(occupied / "workspace") in said[0] and str(workspace.root) in said[0]
    assert open_run(written(tmp_path / "a.json"), workspace=workspace).traces[0].slices.row_count == 1


def test_a_root_on_a_read_only_disk_falls_back(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def refuse(**_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    said: list[str] = []
    root = Workspace.choose(tmp_path / "disk", say=said.append).root
    assert root != tmp_path / "disk"
    assert "Read-only file system" in said[0]


def test_the_folder_asked_for_counts_before_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "environment"))
    assert Workspace.choose(None, say=pytest.fail).root == tmp_path / "environment"
    assert Workspace.choose(tmp_path / "asked", say=pytest.fail).root == tmp_path / "asked"


def test_the_users_cache_folder_is_the_default(tmp_path, monkeypatch):
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert Workspace.choose(None, say=pytest.fail).root == tmp_path / "laptime"


# ---- keys ----


def test_a_fingerprint_changes_with_what_it_covers(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(bytes(300_000))
    first = fingerprint(path)
    assert fingerprint(path) == first
    assert fingerprint(path, "member") != first
    content = bytearray(300_000)
    content[-1] = 1
    path.write_bytes(content)
    assert fingerprint(path) != first


def test_joined_keys_tell_their_parts_apart():
    assert joined_key(["ab", "c"]) != joined_key(["a", "bc"])
    assert joined_key(["a", "b"]) == joined_key(["a", "b"])


# ---- failures ----


@pytest.mark.parametrize("several", [False, True])
def test_a_workspace_that_cannot_be_is_named(tmp_path, several):
    """Not the recording, which is whole; and not as a note that it could not be read."""
    recording = written(tmp_path / "runs" / "a.json")
    written(tmp_path / "runs" / "b.json", {**EVENT, "name": "aten::bmm"})
    blocked = Workspace(tmp_path / "a file")
    blocked.root.write_text("")
    with pytest.raises(LaptimeError) as failure:
        open_run(recording.parent if several else recording, workspace=blocked)
    assert failure.value.where == str(blocked.root)
    assert failure.value.what == "the workspace cannot be written (Not a directory)"
    assert "--workspace" in failure.value.remedy


@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_workspace_is_named(tmp_path, workspace, monkeypatch, reason):
    """Met while the tables are written, by a write that names no file."""

    def full(*_):
        raise OSError(reason, os.strerror(reason))

    monkeypatch.setattr("laptime.importers.opening.write_trace", full)
    with pytest.raises(LaptimeError) as failure:
        open_run(written(tmp_path / "a.json"), workspace=workspace)
    assert failure.value.where == str(workspace.root)
    assert os.strerror(reason) in failure.value.what
    assert stored_traces(workspace) == []


def test_an_unreadable_recording_is_named(tmp_path, workspace, monkeypatch):
    recording = written(tmp_path / "a.json")

    def refused(*_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(recording))

    monkeypatch.setattr("laptime.importers.opening.build_tables", refused)
    with pytest.raises(LaptimeError) as failure:
        open_run(recording, workspace=workspace)
    assert failure.value.where == str(recording)


def test_a_list_of_runs_that_cannot_be_written_is_named(tmp_path, workspace):
    shutil.rmtree(workspace.root / "runs")
    (workspace.root / "runs").write_text("")
    with pytest.raises(LaptimeError) as failure:
        open_run(written(tmp_path / "a.json"), workspace=workspace)
    assert failure.value.where == str(workspace.root)


def test_a_workspace_that_was_cleared_is_made_anew(tmp_path, workspace):
    shutil.rmtree(workspace.root)
    open_run(written(tmp_path / "a.json"), workspace=workspace)
    assert len(stored_traces(workspace)) == 1
    assert len(list((workspace.root / "runs").iterdir())) == 1
