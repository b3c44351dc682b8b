"""Answers: the JSON of the commands, tagged, compressed, kept within bounds."""

from __future__ import annotations

import gzip
import io
import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from laptime.__main__ import main
from laptime.analyses.side_by_side import all_operators
from laptime.model.workspace import Workspace
from laptime.web.catalogue import Catalogue
from tests.web.conftest import Client, Imported, client_of

PATHS = ("ddp/two", "device", "jobs/JOBAA", "memory", "plain", "tiny_train")
_PAIRS = {
    "/report": "report",
    "/report?steps=2-": "report --steps 2-",
    "/report?from=1ns&to=9ms": "report --from 1ns --to 9ms",
    "/step": "step",
    "/step?step_index=1": "step --step-index 1",
    "/step?fp_point=aten::mm&comm_point=a&comm_point=b": "step --fp-point aten::mm --comm-point a --comm-point b",
    "/op": "op",
    "/op?by=name&on=host&sort=count&ascending=true": "op --by name --on host --sort count --ascending",
    "/op?by=shape&filter=name=a&not_in=name=aten::mm": "op --by shape --filter name=a --not-in name=aten::mm",
    "/op?sort=cpu_time_total&limit=2": "op --sort cpu_time_total --limit 2",
    "/op?at_least=count=2": "op --at-least count=2",
    "/pipeline": "pipeline",
    "/pipeline?steps=2-": "pipeline --steps 2-",
    "/pipeline?from=1ns&to=9ms": "pipeline --from 1ns --to 9ms",
    "/memory": "memory",
    "/memory?steps=2-": "memory --steps 2-",
    "/memory?from=1ns&to=9ms": "memory --from 1ns --to 9ms",
    "/slices/0": "slice 0",
    "/slices/1?depth=2&limit=3": "slice 1 --depth 2 --limit 3",
}
"""Addresses below a run, and the commands that say the same."""


@pytest.fixture
def command(
    imported: Imported, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str, list[str]], object]:
    """What a command prints as JSON of a run; None where it fails."""

    def run(path: str, words: list[str]) -> object:
        where = str(imported.base / path)
        words = [words[0], where, *words[1:], "--json", "--workspace", str(imported.workspace.root)]
        monkeypatch.setattr(sys, "argv", ["laptime", *words])
        capsys.readouterr()
        try:
            main()
        except SystemExit as end:
            if end.code:
                return None
        printed = json.loads(capsys.readouterr().out)
        if words[0] == "report":
            printed["run"]["path"] = path
        return printed

    return run


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("address", _PAIRS)
def test_answers_are_those_of_the_commands(
    client: Client,
    run_ids: dict[str, str],
    command: Callable[[str, list[str]], object],
    path: str,
    address: str,
) -> None:
    answer = client.get(f"/api/runs/{run_ids[path]}{address}")
    expected = command(path, _PAIRS[address].split())
    if expected is None:
        assert answer.status_code in (400, 404)
        assert set(answer.json()) == {"error", "where", "remedy"}
    else:
        assert answer.status_code == 200
        assert answer.json() == expected


def test_tags_spare_what_is_unchanged(client: Client, run_ids: dict[str, str]) -> None:
    path = f"/api/runs/{run_ids['device']}/op"
    first = client.get(path)
    assert first.headers["cache-control"] == "no-cache"
    tag = first.headers["etag"]
    again = client.get(path, headers={"If-None-Match": tag})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
    others = [f"{path}?by=kernel", f"/api/runs/{run_ids['memory']}/op", path.replace("/op", "/step")]
    assert len({tag, *(client.get(other).headers["etag"] for other in others)}) == 4
    assert client.get(path, headers={"Accept": "text/csv"}).headers["etag"] != tag


@pytest.mark.parametrize("resource", ["report", "advise", "advise?lang=zh"])
def test_the_stored_report_is_not_read_for_what_is_unchanged(
    imported: Imported, monkeypatch: pytest.MonkeyPatch, resource: str
) -> None:
    client = client_of(imported.catalogue())
    path = f"/api/runs/{client.get('/api/runs').json()['runs'][0]['run']}/{resource}"
    tag = client.get(path).headers["etag"]
    read: list[str] = []
    monkeypatch.setattr(Workspace, "read_result", lambda place, key, name: read.append(name))
    assert client.get(path, headers={"If-None-Match": tag}).status_code == 304
    assert client.get(path).status_code == 200  # kept in memory
    assert read == []


def test_the_list_of_runs_is_tagged_and_packed_too(client: Client) -> None:
    first = client.get("/api/runs", headers={"Accept-Encoding": "gzip"})
    assert first.headers["content-encoding"] == "gzip"
    again = client.get("/api/runs", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/api/runs", headers={"Accept-Encoding": "identity"}).json() == first.json()


def test_a_new_import_has_new_tags(imported: Imported, tmp_path: Path) -> None:
    from laptime.web.catalogue import Catalogue
    from laptime.web.worker import import_run
    from tests.cli.recordings import device_events, written

    base = tmp_path / "base"
    (base / "run").mkdir(parents=True)
    tags = []
    for _ in range(2):
        written(base / "run" / f"{len(tags)}.json", device_events())
        catalogue = Catalogue([base], imported.workspace)
        catalogue.refresh()
        import_run(catalogue.folders()[0], imported.workspace, lambda _: None)
        catalogue.refresh()
        run = catalogue.runs()[0]["run"]
        tags.append(client_of(catalogue).get(f"/api/runs/{run}/op").headers["etag"])
    assert tags[0] != tags[1]


def test_known_answers_are_not_computed_again(imported: Imported, monkeypatch: pytest.MonkeyPatch) -> None:
    client = client_of(imported.catalogue())
    run = next(row["run"] for row in client.get("/api/runs").json()["runs"] if row["path"] == "device")
    computed = []

    def counted(*arguments: Any, **more: Any) -> object:
        computed.append(more)
        return all_operators(*arguments, **more)

    monkeypatch.setattr("laptime.web.resources.op.all_operators", counted)
    answers = [client.get(f"/api/runs/{run}/op").content for _ in range(3)]
    assert (len(computed), len(set(answers))) == (1, 1)
    client.get(f"/api/runs/{run}/op?by=kernel", headers={"If-None-Match": "x"})
    assert len(computed) == 2


def test_one_recording_under_two_ids_is_read_by_one_question_at_a_time(
    imported: Imported, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue = Catalogue([imported.base, imported.base / "device"], imported.workspace)
    catalogue.refresh()
    client, at_work, most = client_of(catalogue), [0], [0]
    ids = [row["run"] for row in catalogue.runs() if row["path"] == "device"]
    assert len(ids) == 2

    def slow(*arguments: Any, **more: Any) -> object:
        at_work[0] += 1
        most[0] = max(most[0], at_work[0])
        time.sleep(0.2)
        at_work[0] -= 1
        return all_operators(*arguments, **more)

    monkeypatch.setattr("laptime.web.resources.op.all_operators", slow)
    with ThreadPoolExecutor() as threads:
        answers = list(threads.map(lambda run: client.get(f"/api/runs/{run}/op").status_code, ids))
    assert (answers, most) == ([200, 200], [1])


def test_kept_answers_stay_within_bounds(imported: Imported) -> None:
    client = client_of(imported.catalogue())
    answers = client.app.state.answers
    answers.most_bytes = 20_000
    run = next(row["run"] for row in client.get("/api/runs").json()["runs"] if row["path"] == "tiny_train")
    for number in range(100):
        assert client.get(f"/api/runs/{run}/slices/{number}").status_code == 200
        assert 0 < answers.kept_bytes <= 20_000
    assert 5 < answers.kept_count < 100


def test_large_answers_are_packed_for_those_who_take_it(client: Client, run_ids: dict[str, str]) -> None:
    path = f"/api/runs/{run_ids['tiny_train']}/op?by=name"
    packed = client.get(path, headers={"Accept-Encoding": "gzip"})
    plain = client.get(path, headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.content == plain.content  # the client unpacks
    assert int(packed.headers["content-length"]) < len(plain.content) / 3
    assert len(gzip.compress(plain.content, mtime=0)) * 1.3 > int(packed.headers["content-length"])
    assert "Accept-Encoding" in packed.headers["vary"]


def test_tables_come_as_arrow_and_csv(client: Client, run_ids: dict[str, str]) -> None:
    path = f"/api/runs/{run_ids['tiny_train']}/op?by=name&on=host"
    rows = client.get(path).json()["rows"]
    for more in ({"Accept": "application/vnd.apache.arrow.stream"}, None):
        answer = client.get(path + ("" if more else "&format=arrow"), headers=more)
        assert answer.headers["content-type"] == "application/vnd.apache.arrow.stream"
        table = pa.ipc.open_stream(answer.content).read_all()
        facts = json.loads(table.schema.metadata[b"laptime"])
        assert (facts["by"], facts["total_rows"], len(table)) == ("name", len(rows), len(rows))
        assert table["name"].to_pylist() == [row["name"] for row in rows]
        assert table["total_ns"].to_pylist() == [row["total_ns"] for row in rows]
    answer = client.get(path + "&format=csv")
    assert answer.headers["content-disposition"].startswith('attachment; filename="tiny-train-')
    frame = pa.csv.read_csv(io.BytesIO(answer.content))
    assert frame["count"].to_pylist() == [row["count"] for row in rows]


def test_pages_and_searches_of_a_table(client: Client, run_ids: dict[str, str]) -> None:
    path = f"/api/runs/{run_ids['tiny_train']}/op?by=name&on=host"
    whole = client.get(path).json()["rows"]
    paged = [client.get(f"{path}&limit=7&offset={first}").json() for first in range(0, len(whole), 7)]
    assert [row for page in paged for row in page["rows"]] == whole
    assert {page["total_rows"] for page in paged} == {len(whole)}
    found = client.get(f"{path}&search=MM+aten").json()
    expected = [row["name"] for row in whole if "mm" in row["name"].lower() and "aten" in row["name"].lower()]
    assert [row["name"] for row in found["rows"]] == expected
    assert found["total_rows"] == len(expected) > 0
    assert client.get(f"{path}&offset=1000000").json()["rows"] == []


@pytest.mark.parametrize(
    ("address", "status", "error"),
    [
        ("/report?steps=abc", 400, "'abc' is not like 3, 3-7, 3-, -7 or 3,5"),
        ("/report?from=5ms&to=1ms", 400, "'1ms' is not after '5ms'"),
        ("/report?steps=999", 400, "no step 999"),
        ("/step?rank=77", 404, "no rank 77"),
        ("/step?rank=-1", 422, "Input should be greater than or equal to 0"),
        ("/step?step_id=999", 400, "no step 999"),
        ("/op?by=colour", 422, None),
        ("/op?sort=colour", 400, None),
        ("/op?filter=name", 400, "'name' is not COL=TEXT"),
        ("/op?by=kernel&on=host", 400, "kernels run on a device"),
        ("/op?limit=0", 422, None),
        ("/slices/99999999", 404, "no slice 99999999"),
        ("/slices/mm", 422, None),
    ],
)
def test_wrong_questions(client: Client, run_ids: dict[str, str], address: str, status: int, error: str | None) -> None:
    answer = client.get(f"/api/runs/{run_ids['tiny_train']}{address}")
    assert answer.status_code == status
    assert set(answer.json()) == {"error", "where", "remedy"}
    assert error is None or answer.json()["error"] == error


def test_runs_that_are_not_imported(imported: Imported, tmp_path: Path) -> None:
    from laptime.model.workspace import Workspace
    from laptime.web.catalogue import Catalogue

    catalogue = Catalogue([imported.base], Workspace.choose(tmp_path / "empty", say=lambda _: None))
    catalogue.refresh()
    client = client_of(catalogue)
    for run in client.get("/api/runs").json()["runs"]:
        assert run["status"] == "new"
        for part in ("report", "step", "op", "pipeline", "memory", "slices/0"):
            answer = client.get(f"/api/runs/{run['run']}/{part}")
            assert answer.status_code == 409
            assert answer.json()["error"] == "the run is not imported yet"
    assert client.get("/api/runs/nosuch/report").status_code == 404
    assert not catalogue.import_processes  # asking starts nothing
