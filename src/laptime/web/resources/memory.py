"""`laptime memory` of a run."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from laptime.analyses.memory import memory as memory_of
from laptime.web.asking import AnswersOf, PartOf, Rank, RunId
from laptime.web.shapes.faults import OF_RUN
from laptime.web.shapes.memory import Memory

router = APIRouter(prefix="/api/runs/{run}", tags=["analyses"])


@router.get("/memory", operation_id="memory", response_model=Memory, responses=OF_RUN, summary="Memory")
def memory(run: RunId, answers: AnswersOf, request: Request, part: PartOf, rank: Rank = None) -> Response:
    """Memory over time, its peak and what lives then; the JSON of `laptime memory`."""
    return answers.json(request, run, lambda opened: memory_of(opened.trace_of(rank), part).as_json)
