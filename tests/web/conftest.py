"""A server's application in this process, over copies of our samples that are imported once for all tests."""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from laptime.model.workspace import Workspace
from laptime.web.app import build
from laptime.web.catalogue import Catalogue
from laptime.web.security import Security
from laptime.web.worker import import_run
from tests.cli.recordings import device_events, written
from tests.conftest import SAMPLES
from tests.importers import ascend_jobs as jobs

HOME = "http://127.0.0.1:8080"
SECURITY = Security()


@dataclass(frozen=True)
class Imported:
    """Copies of samples, and the workspace that holds them imported."""

    base: Path
    workspace: Workspace

    def catalogue(self) -> Catalogue:
        """A catalogue that has looked once: all runs are ready."""
        found = Catalogue([self.base], self.workspace)
        found.refresh()
        return found


def samples_under(base: Path) -> Path:
    """A folder of runs of several formats: PyTorch on one and two ranks, with a device, laptime's own, a raw job."""
    for name in ("tiny_train", "memory"):
        (base / name).mkdir(parents=True)
        shutil.copy(SAMPLES / "pytorch" / f"{name}.pt.trace.json.gz", base / name)
    shutil.copytree(SAMPLES / "pytorch" / "ddp2", base / "ddp" / "two")
    shutil.copytree(SAMPLES / "laptime", base / "plain")
    (base / "device").mkdir()
    written(base / "device" / "rank0.pt.trace.json", device_events())
    jobs.write_job(base / "jobs" / "JOBAA", jobs.job_files())
    return base


@pytest.fixture(scope="session")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    """Six runs, all imported."""
    base = samples_under(tmp_path_factory.mktemp("base").resolve())
    workspace = Workspace.choose(tmp_path_factory.mktemp("workspace"), say=lambda _: None)
    catalogue = Catalogue([base], workspace)
    catalogue.refresh()
    for entry in catalogue.folders():
        import_run(entry, workspace, lambda _: None)
    return Imported(base, workspace)


class Client:
    """Asks an application without a network; whole answers only, so no streams."""

    def __init__(self, app: FastAPI, home: str = HOME) -> None:
        self.app = app
        self._home = home

    def request(self, method: str, path: str, **more: Any) -> httpx.Response:
        """One request, in a loop of its own."""

        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=self._home) as client:
                return await client.request(method, path, **more)

        return asyncio.run(asked())

    def get(self, path: str, **more: Any) -> httpx.Response:
        """GET."""
        return self.request("GET", path, **more)

    def post(self, path: str, **more: Any) -> httpx.Response:
        """POST."""
        return self.request("POST", path, **more)

    def app_get_raw(self, path: str, query: str) -> httpx.Response:
        """GET of a path exactly as it is, which a client library would mend."""
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            if sent:  # nobody goes away
                await asyncio.Event().wait()
            return {"type": "http.request", "body": b""}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "asgi": {"spec_version": "2.4"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(b"host", self._home.partition("//")[2].encode())],
            "server": ("127.0.0.1", 8080),
            "client": ("127.0.0.1", 1),
        }
        asyncio.run(self.app(scope, receive, send))  # type: ignore[arg-type]
        body = b"".join(message.get("body", b"") for message in sent)
        return httpx.Response(sent[0]["status"], headers=sent[0]["headers"], content=body)

    def head(self, path: str, **more: Any) -> httpx.Response:
        """HEAD."""
        return self.request("HEAD", path, **more)


def client_of(catalogue: Catalogue, security: Security = SECURITY, home: str = HOME, **more: Any) -> Client:
    """A client of the application over a catalogue; nothing is searched or imported by itself."""
    return Client(build(catalogue, security, **more), home)


@pytest.fixture(scope="session")
def client(imported: Imported) -> Client:
    """A client of six ready runs."""
    return client_of(imported.catalogue())


@pytest.fixture(scope="session")
def run_ids(client: Client) -> dict[str, str]:
    """Ids of the runs by their paths."""
    return {run["path"]: run["run"] for run in client.get("/api/runs").json()["runs"]}


def front_end(folder: Path) -> Path:
    """Built files of a front end, as small as one can be."""
    static = folder / "web" / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text(
        '<head><meta property="csp-nonce" nonce="LAPTIME_NONCE"></head><p nonce="LAPTIME_NONCE">'
    )
    (static / "assets" / "index-abc.js").write_text("let x = 1;\n" * 500)
    (static / "scheme.js").write_text("let y;")
    chunks = {
        "index.html": {"file": "assets/index-abc.js", "imports": ["_Loaded.js"]},
        "_Loaded.js": {"file": "assets/Loaded-1.js", "css": ["assets/Loaded-1.css"]},
        "src/views/steps/Steps.tsx": {"file": "assets/Steps-1.js", "imports": ["index.html", "_Chart.js"]},
        "_Chart.js": {"file": "assets/Chart-1.js", "css": ["assets/Chart-1.css"], "imports": ["_Loaded.js"]},
    }
    (static / "pages.json").write_text(json.dumps(chunks))
    (folder / "web" / "app.py").write_text("not to be seen")
    return static


@pytest.fixture
def built(imported: Imported, tmp_path: Path) -> Client:
    """A server with a front end."""
    return client_of(imported.catalogue(), static=front_end(tmp_path))
