"""The user's own SQL over the tables of a run, read-only and fenced as `laptime sql`."""

from __future__ import annotations

import anyio.to_thread
from fastapi import APIRouter, Request, Response

from laptime.model.query import Limits, first_rows, plain_rows
from laptime.web.answers import as_json
from laptime.web.asking import CatalogueOf, RunId
from laptime.web.catalogue import Catalogue
from laptime.web.limits import few_at_once
from laptime.web.shapes.faults import faults
from laptime.web.shapes.sql import Query, QueryResult

router = APIRouter(prefix="/api/runs/{run}", tags=["analyses"])

_SECONDS = 20.0
_BYTES = 64 << 20


@router.post(
    "/sql",
    operation_id="sql",
    response_model=QueryResult,
    responses=faults(400, 404, 409, 413),
    summary="Ask the tables by SQL",
)
async def sql(run: RunId, asked: Query, catalogue: CatalogueOf, request: Request) -> Response:
    """The first rows of one SELECT over the tables of all ranks, or of one; `laptime sql`."""
    body = await anyio.to_thread.run_sync(_answer, catalogue, run, asked, limiter=few_at_once(request, "queries"))
    return Response(body, media_type="application/json", headers={"Cache-Control": "no-store"})


def _answer(catalogue: Catalogue, run: str, asked: Query) -> bytes:
    opened = catalogue.run(run)
    limits = Limits(rows=asked.limit, seconds=_SECONDS, bytes=_BYTES)
    table, is_whole = first_rows(opened, asked.query, rank=asked.rank, limits=limits)
    result = {"schema_version": 1, "columns": table.column_names, "rows": plain_rows(table), "truncated": not is_whole}
    return as_json(result)
