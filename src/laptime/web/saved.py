"""What the pages ask about one run, answered without a server: for a file that holds page and answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlencode

from fastapi import FastAPI

from laptime.advice.stored import REPORT_NAME
from laptime.model.trace import Run
from laptime.model.workspace import Workspace
from laptime.web.app import build
from laptime.web.cards import EMPTY, card_of
from laptime.web.catalogue import Catalogue, RunRow
from laptime.web.security import Security

RUN_ID = "run"
OPERATORS = 20
"""Rows of each table of operators."""
CURVE_POINTS = 1500
_PARTS = ("step", "utilisation", "memory", "pipeline")
"""Analyses that count the chosen steps alone."""
_WHOLES = ("counters", "files")

Answers = dict[str, tuple[int, object]]
"""Status and JSON by address, its options in alphabetical order."""


def saved_answers(run: Run, *, language: str, steps: str | None = None) -> Answers:
    """Answers to all that the saved report asks: of the first rank, and of the ranks side by side."""
    app = build(cast(Catalogue, _OneRun(run)), Security())
    asked = _Asked(app, {})
    for address in _questions(language, steps):
        asked.ask(address)
    return asked.answers


def saved_title(run: Run) -> str:
    """What the report calls the run: the last part of its path."""
    return run.path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or run.path


def _questions(language: str, steps: str | None) -> Iterator[str]:
    part = {} if steps is None else {"steps": steps}
    yield _address()
    yield _address("report")
    yield _address("report", **part)
    yield _address("advise", lang=language)
    for by in ("op-type", "name"):
        yield _address("op", by=by, limit=OPERATORS, **part)
    yield from (_address(name, **part) for name in _PARTS)
    yield from (_address(name) for name in _WHOLES)
    yield _address("memory/curve", points=CURVE_POINTS, **part)


def _address(resource: str = "", **options: object) -> str:
    query = urlencode(sorted(options.items()))
    return f"/api/runs/{RUN_ID}{'/' if resource else ''}{resource}{'?' if query else ''}{query}"


class _OneRun:
    """A catalogue of one run that is open already."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.workspace = Workspace(run.folder.parent.parent) if run.folder else None

    def key(self, run_id: str) -> str:
        return self._run.folder.name if self._run.folder else run_id

    def run(self, run_id: str) -> Run:
        return self._run

    def stored(self, run_id: str, name: str) -> dict[str, object] | None:
        return self.workspace.read_result(self.key(run_id), name) if self.workspace and name == REPORT_NAME else None

    def row(self, run_id: str) -> RunRow:
        card = card_of(self.workspace, self.key(run_id)) if self.workspace else None
        known = card or EMPTY
        return {
            **known,
            "run": run_id,
            "name": saved_title(self._run),
            "path": self._run.path,
            "format": known["format"] or str(self._run.traces[0].meta.get("format") or ""),
            "status": "ready",
            "message": None,
            "progress": None,
            "updated_unix": None,
            "size_bytes": 0,
        }


@dataclass
class _Asked:
    """An application, and what it answered so far."""

    app: FastAPI
    answers: Answers

    def ask(self, address: str) -> None:
        """Asks the application in this process; what it refuses is an answer too."""
        if address not in self.answers:
            status, body = asyncio.run(_exchange(self.app, address))
            self.answers[address] = (status, json.loads(body))


async def _exchange(app: FastAPI, address: str) -> tuple[int, bytes]:
    path, _, query = address.partition("?")
    sent: list[dict[str, object]] = []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(b"host", b"localhost")],
        "client": ("127.0.0.1", 0),
        "server": ("127.0.0.1", 80),
    }

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    await app(scope, receive, send)  # type: ignore[arg-type]  # messages are plain dictionaries
    return cast(int, sent[0]["status"]), b"".join(cast(bytes, part.get("body", b"")) for part in sent[1:])
