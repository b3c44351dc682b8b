"""The server's application: its resources, its pages, its errors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from laptime._version import __version__
from laptime.analyses.options import BadOption
from laptime.errors import LaptimeError, NotThere
from laptime.model.workspace import Workspace
from laptime.web.answers import Answers, untagged
from laptime.web.catalogue import Catalogue, NotFound, NotImported
from laptime.web.events import Hub
from laptime.web.pages import STATIC, add_pages
from laptime.web.resources import (
    advise,
    counters,
    files,
    memory,
    memory_by_operator,
    memory_over_time,
    op,
    operator_details,
    pipeline,
    queues,
    report,
    runs,
    slices,
    sql,
    step,
    timeline,
    utilisation,
)
from laptime.web.security import Guard, Security

RESOURCES: tuple[APIRouter, ...] = (
    runs.router,
    report.router,
    step.router,
    op.router,
    operator_details.router,
    pipeline.router,
    queues.router,
    advise.router,
    memory.router,
    memory_over_time.router,
    memory_by_operator.router,
    counters.router,
    utilisation.router,
    timeline.router,
    slices.router,
    files.router,
    sql.router,
)
"""All of the API."""


def build(catalogue: Catalogue, security: Security, *, static: Path = STATIC) -> FastAPI:
    """The application over a catalogue of runs."""
    hub = Hub()
    catalogue.changed = lambda row: hub.send("run", row)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        catalogue.start()
        yield
        hub.close()
        catalogue.close()

    app = FastAPI(
        title="laptime",
        version=__version__,
        description="Where each training step's time goes, for every recording under the base folders.",
        docs_url=None,  # its pages load from elsewhere
        redoc_url=None,
        lifespan=life,
    )
    app.state.catalogue, app.state.answers, app.state.hub = catalogue, Answers(catalogue), hub
    app.state.limiters = {}
    for router in RESOURCES:
        app.include_router(router)
    add_pages(app, static)
    for error in (LaptimeError, BadOption, RequestValidationError, HTTPException):
        app.add_exception_handler(error, _fault)
    app.add_middleware(Guard, security=security)
    return app


def document() -> dict[str, object]:
    """The OpenAPI document, which is the same for all servers of this version."""
    return build(Catalogue([], Workspace(Path())), Security()).openapi()


def _fault(request: Request, error: Exception) -> Response:
    """An error as JSON."""
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return _answer(422, str(first["msg"]), place, "see /openapi.json for what it takes")
    if isinstance(error, HTTPException):
        return _answer(error.status_code, str(error.detail), request.url.path, None, dict(error.headers or {}))
    if isinstance(error, LaptimeError):
        status = 404 if isinstance(error, (NotFound, NotThere)) else 409 if isinstance(error, NotImported) else 400
        return _answer(status, error.what, error.where, error.remedy)
    option = error.option if isinstance(error, BadOption) else None
    return _answer(400, str(error), option, "see /openapi.json for what it takes")


def _answer(
    status: int, error: str, where: str | None, remedy: str | None, headers: dict[str, str] | None = None
) -> Response:
    return untagged({"error": error, "where": where, "remedy": remedy}, status, headers)
