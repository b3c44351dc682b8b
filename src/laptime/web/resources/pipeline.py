"""`laptime pipeline` of a run."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from laptime.analyses.pipeline import pipeline as pipeline_of
from laptime.web.asking import AnswersOf, PartOf, Rank, RunId
from laptime.web.shapes.faults import OF_RUN
from laptime.web.shapes.pipeline import Pipeline

router = APIRouter(prefix="/api/runs/{run}", tags=["analyses"])


@router.get("/pipeline", operation_id="pipeline", response_model=Pipeline, responses=OF_RUN, summary="Data pipeline")
def pipeline(
    run: RunId,
    answers: AnswersOf,
    request: Request,
    part: PartOf,
    rank: Rank = None,
) -> Response:
    """Whether training waits for data, and why; the JSON of `laptime pipeline`."""
    return answers.json(request, run, lambda opened: pipeline_of(opened.trace_of(rank), part))
