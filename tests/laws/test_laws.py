"""The four laws every sample obeys: it imports to its snapshot; it is recognised under a wrong name; exported and
imported again it is equal; cut short it never crashes."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from laptime.advice.advising import report
from laptime.errors import LaptimeError
from laptime.exports.chrome import write_chrome
from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace
from tests.exports.chrome_checks import assert_equal_traces, assert_only_nests_or_follows, events_of, import_alone
from tests.laws.recordings import RECORDINGS, RUNS, SNAPSHOTS, plain_text, rows_in, title
from tests.laws.report_checks import assert_consistent
from tests.laws.snapshots import snapshot_of

CUTS = 20


@pytest.mark.parametrize("path", RUNS, ids=title)
def test_it_imports_to_its_snapshot(path: Path, workspace: Workspace) -> None:
    run = open_run(path, workspace=workspace)
    assert_consistent(report(run))
    snapshot = snapshot_of(run)
    stored = SNAPSHOTS / f"{title(path)}.json"
    if os.environ.get("LAPTIME_UPDATE_SNAPSHOTS"):
        stored.write_text(_readable(snapshot))
    assert stored.is_file(), "no snapshot yet: LAPTIME_UPDATE_SNAPSHOTS=1 pytest tests/laws writes it"
    assert snapshot == json.loads(stored.read_text())


def test_each_snapshot_has_its_sample() -> None:
    assert {path.stem for path in SNAPSHOTS.glob("*.json")} == {title(path) for path in RUNS}


@pytest.mark.parametrize("name", ["x.bin", "trace.txt", "gzip inside.json", "noname", "rows.csv.gz"])
@pytest.mark.parametrize("path", RECORDINGS, ids=title)
def test_it_is_recognised_under_a_wrong_name(path: Path, name: str, tmp_path: Path, workspace: Workspace) -> None:
    text = plain_text(path)
    disguised = tmp_path / name
    disguised.write_bytes(gzip.compress(text, 1) if "gzip" in name else text)
    original, again = import_alone(path, workspace), import_alone(disguised, workspace)
    assert_equal_traces(original, again)
    assert original.meta["events"] == again.meta["events"]


@pytest.mark.parametrize("path", RECORDINGS, ids=title)
def test_exported_and_imported_again_it_is_equal(path: Path, tmp_path: Path, workspace: Workspace) -> None:
    first = import_alone(path, workspace)
    target = tmp_path / "exported.json.gz"
    write_chrome(first, target)
    second = import_alone(target, workspace)
    assert_only_nests_or_follows(events_of(target))
    assert_equal_traces(first, second)
    assert first.meta["warnings"] == second.meta["warnings"]


@pytest.mark.parametrize("wrapped", ["plain", "gzip"])
@pytest.mark.parametrize("path", RECORDINGS, ids=title)
def test_cut_short_it_never_crashes(path: Path, wrapped: str, tmp_path: Path, workspace: Workspace) -> None:
    """What is whole is kept and more of the file is never less; where events are missing the report says so."""
    data = plain_text(path) if wrapped == "plain" else gzip.compress(plain_text(path), mtime=0)
    in_all = rows_in(path)
    before = 0
    for length in _cuts(len(data)):
        seen = _read_cut(data[:length], tmp_path, workspace)
        if seen is None:
            assert before == 0, f"refused at {length}, though less of it can be read"
            continue
        read, codes = seen
        assert before <= read <= in_all, length
        assert read == in_all or "truncated" in codes, length
        before = read
    assert before > in_all // 2


def _cuts(length: int) -> Iterator[int]:
    """Places to cut at, in order: all over the file, and close to both ends."""
    evenly = {length * part // (CUTS - 5) for part in range(1, CUTS - 5)}
    yield from sorted(evenly | {1, 30, 1000, length - 500, length - 3, length - 1})


def _read_cut(data: bytes, folder: Path, workspace: Workspace) -> tuple[int, set[str]] | None:
    """Events read and codes of the warnings; None where the file is refused."""
    path = folder / f"cut{len(data)}.json"
    path.write_bytes(data)
    try:
        run = open_run(path, workspace=workspace)
    except LaptimeError as error:
        assert "\n" not in str(error)
        return None
    result: dict[str, Any] = report(run)
    assert_consistent(result)
    return result["ranks"][0]["events"]["read"], {warning["code"] for warning in result["warnings"]}


def _readable(value: object, indent: int = 0) -> str:
    """JSON with short lists and objects on one line, so that a difference is read in one look."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent <= 116 or not isinstance(value, dict | list) or not value:
        return flat if indent else f"{flat}\n"
    pad, end = " " * (indent + 1), " " * indent
    if isinstance(value, list):
        body = ",\n".join(pad + _readable(entry, indent + 1) for entry in value)
        text = f"[\n{body}\n{end}]"
    else:
        body = ",\n".join(f"{pad}{json.dumps(key)}: {_readable(entry, indent + 1)}" for key, entry in value.items())
        text = f"{{\n{body}\n{end}}}"
    return text if indent else f"{text}\n"
