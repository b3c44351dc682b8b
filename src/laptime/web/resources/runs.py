"""The list of runs, one run, its import, and the stream of their changes."""

from __future__ import annotations

from collections.abc import AsyncIterator

from fastapi import APIRouter, Request, Response
from starlette.responses import StreamingResponse
from typing_extensions import TypedDict

from laptime.web.answers import tagged, untagged
from laptime.web.asking import CatalogueOf, RunId
from laptime.web.catalogue import RunRow
from laptime.web.events import Hub
from laptime.web.shapes.faults import faults

router = APIRouter(prefix="/api", tags=["runs"])


class RunList(TypedDict):
    """Runs under the base folders, those that changed last first."""

    schema_version: int
    base: list[str]
    scanning: bool
    notes: list[str]
    runs: list[RunRow]


@router.get("/runs", operation_id="runs", response_model=RunList, responses=faults(), summary="All runs")
def runs(catalogue: CatalogueOf, request: Request) -> Response:
    """Runs under the base folders; `scanning` while they are searched for the first time."""
    rows = catalogue.runs()
    result = {
        "schema_version": 1,
        "base": [str(base) for base in catalogue.bases],
        "scanning": catalogue.scanning,
        "notes": catalogue.notes,
        "runs": rows,
    }
    return tagged(request, result)


@router.get("/runs/{run}", operation_id="run", response_model=RunRow, responses=faults(404), summary="One run")
def one_run(run: RunId, catalogue: CatalogueOf) -> Response:
    """A run and its state."""
    return untagged(catalogue.row(run))


@router.post(
    "/runs/{run}/import",
    operation_id="import_run",
    status_code=202,
    response_model=RunRow,
    responses=faults(404, 413),
    summary="Import a run",
)
def import_run(run: RunId, catalogue: CatalogueOf) -> Response:
    """Starts the import of a run, unless it is under way or done; /api/events tells how it goes."""
    return untagged(catalogue.import_run(run), 202)


@router.get(
    "/events",
    operation_id="events",
    response_class=StreamingResponse,
    responses={**faults(), 200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
    summary="Changes of runs",
)
async def events(request: Request) -> Response:
    """Server-sent events: `run` with a run whenever its state or numbers change."""
    hub: Hub = request.app.state.hub
    stream = _nothing() if request.scope.get("laptime.head") else hub.stream()
    return StreamingResponse(stream, media_type="text/event-stream", headers={"Cache-Control": "no-store"})


async def _nothing() -> AsyncIterator[str]:
    return
    yield
