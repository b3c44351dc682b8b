"""The resources of the analyses: real answers have the promised form, and what cannot be answered is told so."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest
from pyarrow import csv

from laptime.advice.stored import store_report
from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace
from laptime.web.app import build
from laptime.web.cards import card_of
from laptime.web.catalogue import Catalogue
from laptime.web.finding import Search
from laptime.web.security import Security
from laptime.web.shapes.counters import Counters
from laptime.web.shapes.files import Files
from laptime.web.shapes.memory import Allocations, LiveBlocks, Memory, MemoryCurve
from laptime.web.shapes.memory_by_operator import MemoryByOperator
from laptime.web.shapes.op import Operators
from laptime.web.shapes.operator_details import OperatorDetails
from laptime.web.shapes.pipeline import Pipeline, QueueSamples
from laptime.web.shapes.sql import QueryResult
from laptime.web.shapes.timeline import TimelineSummary
from laptime.web.shapes.utilisation import Utilisation
from tests.conftest import EXAMPLE, SAMPLES, corpus_folder
from tests.web.fitting import fault_of

CORPUS = (
    "pytorch/hta-nccl-args-a100",
    "mindinsight/job3_widedeep_raw",
    "mindinsight/run_1_master_newcols",
    "ascend/pt-text-level1",
    "megengine/loader_default",
    "megengine/memflow_mlp",
    "megengine/static_profile_mlp_train",
    "jax_xplane/jax_cpu_dp4",
    "mindspore/ms200-graph-sink",
)
MEMORY_FORMS: dict[str, Any] = {
    "memory/curve": MemoryCurve,
    "memory/live": LiveBlocks,
    "memory/allocations": Allocations,
    "memory/operators": MemoryByOperator,
}
FORMS: dict[str, Any] = {
    "op": Operators,
    "pipeline": Pipeline,
    "pipeline/samples": QueueSamples,
    **MEMORY_FORMS,
    "counters": Counters,
    "utilisation": Utilisation,
    "timeline": TimelineSummary,
    "files": Files,
}


@dataclass
class Server:
    """An application over imported runs, asked without a network."""

    catalogue: Catalogue

    def __post_init__(self) -> None:
        self._app = build(self.catalogue, Security())

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(self._app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as client:
                return await client.request(method, path, **more)

        return asyncio.run(asked())

    def get(self, run: str, path: str, **options: Any) -> httpx.Response:
        return self.ask("GET", f"/api/runs/{run}/{path}", params=options)

    def json(self, run: str, path: str, **options: Any) -> Any:
        answer = self.get(run, path, **options)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def sql(self, run: str, query: str, **more: Any) -> httpx.Response:
        return self.ask("POST", f"/api/runs/{run}/sql", json={"query": query, **more})

    def runs(self) -> list[Any]:
        return list(self.ask("GET", "/api/runs").json()["runs"])

    def run_at(self, name: str) -> str:
        return next(str(run["run"]) for run in self.runs() if run["path"].startswith(name))


def _served(bases: list[Path], workspace: Path) -> Server:
    """An application over all runs below some folders, imported here."""
    place = Workspace.choose(workspace, say=lambda _: None)
    for base in bases:
        for folder in Search(base.resolve()).found():
            run = open_run(folder.path, workspace=place, sources=folder.sources())
            store_report(run)
            assert run.folder is not None
            card_of(place, run.folder.name)
    catalogue = Catalogue(bases, place)
    catalogue.refresh()
    return Server(catalogue)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Server:
    """The samples of the repository, each a run of its own."""
    base = tmp_path_factory.mktemp("base")
    for path in (*(SAMPLES / "pytorch").glob("*.pt.trace.json*"), *(SAMPLES / "megengine_memory").glob("*.svg*")):
        folder = base / path.name.split(".")[0]
        folder.mkdir()
        shutil.copy(path, folder)
    shutil.copytree(SAMPLES / "laptime", base / "plain")
    shutil.copytree(EXAMPLE, base / "ddp4-gloo")
    return _served([base], tmp_path_factory.mktemp("workspace"))


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Recordings of each kind of the corpus."""
    corpus = corpus_folder()
    if corpus is None:
        pytest.skip("no corpus: set LAPTIME_CORPUS to the folder of real recordings")
    return _served([corpus / name for name in CORPUS], tmp_path_factory.mktemp("real"))


def _options(path: str) -> Iterator[dict[str, str]]:
    yield {}
    if path == "op":
        for by in ("name", "shape", "module", "source", "track"):
            yield {"by": by}
    if path == "memory/curve":
        yield {"points": "50"}
    if path.startswith("pipeline"):
        yield {"to": "1s"}


def _check_forms(server: Server) -> None:
    ready = [run for run in server.runs() if run["status"] == "ready"]
    assert len(ready) > 5
    for run in ready:
        for rank in {rank for rank in run["ranks"] if rank is not None} or {None}:
            asked = {} if rank is None else {"rank": rank}
            for path, form in FORMS.items():
                for options in _options(path):
                    found = server.json(run["run"], path, **options, **({} if path == "files" else asked))
                    assert fault_of(found, form) is None, (run["path"], path, options)
            for row in server.json(run["run"], "op", by="name", limit=3, **asked)["rows"]:
                found = server.json(run["run"], "op/details", by="name", name=row["name"], **asked)
                assert fault_of(found, OperatorDetails) is None, (run["path"], row["name"])
            for queue in server.json(run["run"], "pipeline/samples", **asked)["queues"]:
                for part in ({}, {"to": "1s"}):
                    found = server.json(run["run"], "pipeline/samples", queue=queue, **part, **asked)
                    assert fault_of(found, QueueSamples) is None, (run["path"], queue, part)


def test_answers_about_samples_have_the_promised_form(server: Server) -> None:
    assert all(run["status"] == "ready" for run in server.runs())
    _check_forms(server)


@pytest.mark.corpus
def test_answers_about_real_recordings_have_the_promised_form(real: Server) -> None:
    assert {run["framework"] for run in real.runs()} >= {"pytorch", "mindspore", "megengine", "jax"}
    _check_forms(real)


@pytest.mark.corpus
def test_pages_of_a_real_recording_agree(real: Server) -> None:
    run = real.run_at("hta-nccl")
    report = real.json(run, "report")["ranks"][0]
    use, timeline = real.json(run, "utilisation"), real.json(run, "timeline")
    (device,) = use["devices"]
    assert {key: device[key] for key in device if key != "streams"} == {
        key: value for key, value in report["devices"][0].items() if key != "streams"
    }
    assert len(device["streams"]) == report["devices"][0]["streams"] == timeline["streams"]
    assert (timeline["executions"], timeline["devices"], timeline["on"]) == (report["devices"][0]["ops"], 1, "device")
    for step, used in zip(report["steps"], use["together"], strict=True):
        assert used["exposed_ns"] == step["budget"]["communication_exposed_ns"]


# ---- tables ----


def test_rows_are_searched_sorted_and_paged(server: Server) -> None:
    run = server.run_at("tiny_train")
    rows = server.json(run, "op", by="name")["rows"]
    assert len(rows) > 10
    found = server.json(run, "op", by="name", search="ADDmm")
    assert found["total_rows"] == len(found["rows"]) == sum("addmm" in row["name"].lower() for row in rows) > 0
    page = server.json(run, "op", by="name", limit=3, offset=2)
    assert page["total_rows"] == len(rows)
    assert page["rows"] == rows[2:5]
    by_name = [row["name"] for row in server.json(run, "op", by="name", sort="name")["rows"]]
    assert by_name == sorted(by_name)
    assert [row["name"] for row in server.json(run, "op", by="name", sort="name", ascending=False)["rows"]] == by_name[
        ::-1
    ]
    by_host = [row["host_ns"] for row in server.json(run, "op", by="name", sort="host_ns")["rows"]]
    assert by_host == sorted(by_host, key=lambda time: -1 if time is None else time, reverse=True)


def test_the_same_rows_as_arrow_and_csv(server: Server) -> None:
    run = server.run_at("tiny_train")
    told = server.json(run, "op", by="shape", filter="name=mm")
    arrow = server.get(run, "op", by="shape", filter="name=mm", format="arrow")
    table = pa.ipc.open_stream(arrow.content).read_all()
    rows = [{**row, "info": json.loads(row["info"])} for row in table.to_pylist()]
    assert rows == told["rows"]
    assert json.loads(table.schema.metadata[b"laptime"])["total_rows"] == told["total_rows"] == len(rows) > 0
    text = server.get(run, "op", by="shape", filter="name=mm", format="csv")
    assert text.headers["content-type"].startswith("text/csv")
    assert text.headers["content-disposition"].startswith("attachment; filename=")
    read = csv.read_csv(io.BytesIO(text.content))
    assert read["name"].to_pylist() == [row["name"] for row in rows]
    assert read["self_ns"].to_pylist() == [row["self_ns"] for row in rows]
    empty = server.get(run, "op", by="shape", filter="name=no such thing", format="csv")
    assert empty.text.startswith('"name","')
    asked = {"headers": {"accept": "application/vnd.apache.arrow.stream"}, "params": {"filter": "name=no such thing"}}
    nothing = server.ask("GET", f"/api/runs/{run}/op", **asked)
    assert pa.ipc.open_stream(nothing.content).read_all().num_rows == 0


def test_details_and_their_slices(server: Server) -> None:
    run = server.run_at("tiny_train")
    row = server.json(run, "op", by="name", on="host", limit=1)["rows"][0]
    found = server.json(run, "op/details", by="name", on="host", name=row["name"])
    assert {key: found["host"][key] for key in ("count", "self_ns", "p90_ns")} == {
        key: row[key] for key in ("count", "self_ns", "p90_ns")
    }
    assert sum(found["histogram"]["counts"]) == row["count"]
    longest = found["longest"][0]
    slice_of = server.json(run, f"slices/{longest['slice_id']}")["slice"]
    assert (slice_of["name"], slice_of["dur_ns"]) == (row["name"], longest["dur_ns"])


def test_memory_at_an_instant_is_the_curve_there(server: Server) -> None:
    run = server.run_at("memory")
    curve = server.json(run, "memory/curve", points=40)
    for time, level in list(zip(curve["times_ns"], curve["bytes"], strict=True))[::5]:
        live = server.json(run, "memory/live", at_ns=time, limit=10_000)
        assert live["bytes"] == level == sum(owner["size_bytes"] for owner in live["owners"])
    told = server.json(run, "memory")["devices"][0]
    assert (curve["peak_bytes"], curve["peak_at_ns"]) == (told["peak_bytes"], told["peak_at_ns"])
    table = server.json(run, "memory/allocations", limit=2, offset=1, sort="start_ns", ascending=True)
    assert (table["total_rows"], len(table["rows"])) == (told["allocations"], 2)


def test_memory_of_steps_is_that_of_the_command(server: Server) -> None:
    run = server.run_at("memory")
    steps = server.json(run, "step")["steps"]
    known = server.json(run, "memory")
    for step in steps:
        asked = {"steps": str(step["step"])}
        told = server.json(run, "memory", **asked)
        assert told["range"] == {"from_ns": None, "to_ns": None, "steps": [step["step"]]}
        assert fault_of(told, Memory) is None
        (device,) = told["devices"]
        assert device["allocations"] < known["devices"][0]["allocations"]
        answers = {path: server.json(run, path, **asked) for path in MEMORY_FORMS}
        for path, form in MEMORY_FORMS.items():
            assert fault_of(answers[path], form) is None, path
            assert answers[path]["range"] == told["range"]
        curve = answers["memory/curve"]
        assert (curve["peak_bytes"], curve["peak_at_ns"]) == (device["peak_bytes"], device["peak_at_ns"])
        assert (curve["start_ns"], curve["end_ns"]) == (step["start_ns"], _end_of(server, run, step["step"]))
        assert answers["memory/live"]["at_ns"] == device["peak_at_ns"]
        assert answers["memory/allocations"]["total_rows"] == device["allocations"]
        assert sum(row["live_at_peak_bytes"] for row in answers["memory/operators"]["rows"]) == device["peak_bytes"]
        assert server.json(run, "memory/live", at_ns=0, **asked)["at_ns"] == step["start_ns"]


def _end_of(server: Server, run: str, step: int) -> int:
    return next(
        int(row["start_ns"] + row["dur_ns"])
        for row in server.json(run, "report")["ranks"][0]["steps"]
        if row["step"] == step
    )


def test_answers_of_ranges_are_kept_apart(server: Server) -> None:
    run = server.run_at("memory")
    asked = [{}, {"steps": str(server.json(run, "step")["steps"][0]["step"])}, {"from": "500us"}, {"to": "500us"}]
    for path in ("memory", *MEMORY_FORMS):
        answers = [server.get(run, path, **options) for options in asked]
        assert len({answer.headers["etag"] for answer in answers}) == len({answer.text for answer in answers}) == 4
        again = server.ask(
            "GET", f"/api/runs/{run}/{path}", params=asked[1], headers={"If-None-Match": answers[1].headers["etag"]}
        )
        assert again.status_code == 304


# ---- downloads ----


def test_the_timeline_is_downloaded_whole_or_in_part(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    run = server.run_at("tiny_train")
    whole = server.get(run, "timeline/download")
    assert whole.headers["content-type"] == "application/gzip"
    assert whole.headers["content-disposition"] == 'attachment; filename="timeline.json.gz"'
    assert int(whole.headers["content-length"]) == len(whole.content)
    assert "content-encoding" not in whole.headers
    events = json.loads(gzip.decompress(whole.content))["traceEvents"]
    step = server.json(run, "report")["ranks"][0]["steps"][1]["step"]
    part = server.get(run, "timeline/download", steps=str(step), name="../../etc/passwd\r\nX: y")
    assert part.headers["content-disposition"] == 'attachment; filename="..-..-etc-passwd--X--y.json.gz"'
    fewer = json.loads(gzip.decompress(part.content))["traceEvents"]
    assert 0 < sum(event["ph"] == "X" for event in fewer) < sum(event["ph"] == "X" for event in events)
    assert list(tmp_path.iterdir()) == []


def test_asking_for_the_head_of_a_download_writes_nothing(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("nothing should be written")

    monkeypatch.setattr("laptime.web.resources.timeline.write_chrome", refused)
    run = server.run_at("tiny_train")
    answer = server.ask("HEAD", f"/api/runs/{run}/timeline/download")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert server.ask("HEAD", f"/api/runs/{run}/timeline/download", params={"steps": "999"}).status_code == 400


# ---- SQL ----


def test_sql_answers_first_rows(server: Server) -> None:
    run = server.run_at("ddp4-gloo")
    found = server.sql(run, "SELECT rank_index, count(*) AS n FROM slices GROUP BY 1 ORDER BY 1").json()
    assert fault_of(found, QueryResult) is None
    assert (found["columns"], [row[0] for row in found["rows"]]) == (["rank_index", "n"], [0, 1, 2, 3])
    cut = server.sql(run, "FROM range(5000)", limit=10).json()
    assert (len(cut["rows"]), cut["truncated"], cut["rows"][9]) == (10, True, [9])
    assert server.sql(run, "FROM range(10)", limit=10).json()["truncated"] is False
    (one,) = server.sql(run, "SELECT DISTINCT rank_index FROM slices", rank=2).json()["rows"]
    assert one == [2]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM nothing",
        "SELEC 1",
        "SELECT 1; SELECT 2",
        "COPY slices TO '/tmp/x'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "FROM '/etc/passwd'",
        "ATTACH 'x.db'",
        "PRAGMA database_list",
        "SELECT current_setting('temp_directory')",
        "SELECT \x00",
        ";",
        "SELECT CAST('x' AS INTEGER)",
        "SELECT " + "(" * 3000 + "1" + ")" * 3000,
    ],
    ids=lambda query: query[:20],
)
def test_sql_that_cannot_be_is_a_plain_error(server: Server, query: str) -> None:
    answer = server.sql(server.run_at("ddp4-gloo"), query)
    assert answer.status_code == 400, answer.text
    assert {key: bool(value) for key, value in answer.json().items()} == {"error": True, "where": True, "remedy": True}


def test_sql_takes_bounded_values_alone(server: Server) -> None:
    run = server.run_at("ddp4-gloo")
    for body in (
        {},
        {"query": ""},
        {"query": "x" * 60_000},
        {"query": 1},
        {"query": "FROM steps", "limit": 0},
        [],
        "x",
    ):
        assert server.ask("POST", f"/api/runs/{run}/sql", json=body).status_code == 422
    odd = server.ask(
        "POST",
        f"/api/runs/{run}/sql",
        content=b'{"query": "SELECT \'\\udcff\'"}',
        headers={"content-type": "application/json"},
    )
    assert odd.status_code in (400, 422)
    assert server.sql(run, "FROM steps", rank=7).status_code == 404


# ---- what there is not ----


@pytest.mark.parametrize("path", [*(path for path in FORMS if path != "files"), "timeline/download", "op/details"])
def test_a_rank_that_is_not_there_is_named(server: Server, path: str) -> None:
    more = {"name": "mm"} if path == "op/details" else {}
    answer = server.get(server.run_at("ddp4-gloo"), path, rank=9, **more)
    assert answer.status_code == 404
    assert answer.json() == {
        "error": "no rank 9",
        "where": answer.json()["where"],
        "remedy": "ranks here: [0, 1, 2, 3]",
    }


@pytest.mark.parametrize(
    ("path", "options", "status"),
    [
        ("memory/curve", {"device": "npu:9"}, 404),
        ("memory/live", {"device": "../../etc/passwd"}, 404),
        ("memory/allocations", {"device": "x"}, 404),
        ("pipeline/samples", {"queue": "/etc/passwd"}, 404),
        ("pipeline/samples", {"steps": "999"}, 400),
        ("pipeline/samples", {"from": "2us", "to": "1us"}, 400),
        ("pipeline", {"steps": "999"}, 400),
        ("pipeline", {"steps": "x"}, 400),
        ("op/details", {"name": "no such operator"}, 404),
        ("op/details", {"name": "x", "by": "track"}, 400),
        ("op/details", {}, 422),
        ("op", {"sort": "colour"}, 400),
        ("op", {"filter": "colour=red"}, 400),
        ("op", {"filter": "name"}, 400),
        ("op", {"by": "colour"}, 422),
        ("op", {"by": "kernel", "on": "host"}, 400),
        ("op", {"limit": "0"}, 422),
        ("op", {"offset": "-1"}, 422),
        ("op", {"search": "x" * 300}, 422),
        ("op", {"at_least": "count=x"}, 400),
        ("memory/curve", {"points": "3"}, 422),
        ("memory/live", {"at_ns": str(1 << 70)}, 422),
        ("memory/allocations", {"sort": "colour"}, 400),
        ("memory/allocations", {"filter": "colour=1"}, 400),
        ("utilisation", {"steps": "999"}, 400),
        ("utilisation", {"steps": "x"}, 400),
        ("timeline/download", {"steps": "999"}, 400),
    ],
)
def test_what_cannot_be_answered_is_told_with_a_remedy(
    server: Server, path: str, options: dict[str, str], status: int
) -> None:
    answer = server.get(server.run_at("tiny_train"), path, **options)
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]
    assert answer.json()["remedy"]


@pytest.mark.parametrize("path", [*FORMS, "timeline/download", "op/details"])
def test_a_run_that_is_not_there(server: Server, path: str) -> None:
    more = {"name": "mm"} if path == "op/details" else {}
    assert server.get("no-such-run", path, **more).status_code == 404
    assert server.get("..%2f..%2fetc", path, **more).status_code in (404, 422)
    assert server.sql("no-such-run", "FROM steps").status_code == 404


def test_a_run_that_is_not_imported_yet(tmp_path: Path) -> None:
    catalogue = Catalogue([EXAMPLE], Workspace.choose(tmp_path, say=lambda _: None))
    catalogue.refresh()
    fresh = Server(catalogue)
    (run,) = (row["run"] for row in fresh.runs())
    for path in FORMS:
        assert fresh.get(run, path).status_code == 409
    assert fresh.get(run, "timeline/download").status_code == 409
    assert fresh.sql(run, "FROM steps").status_code == 409
