"""Queues of the data pipeline over time, and waits for data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from laptime.analyses.queue_curve import queue_curve
from laptime.model.trace import Run
from laptime.web.answers import head_of
from laptime.web.asking import AnswersOf, PartOf, Rank, RunId
from laptime.web.shapes.faults import OF_RUN
from laptime.web.shapes.pipeline import QueueSamples

router = APIRouter(prefix="/api/runs/{run}", tags=["analyses"])


@router.get(
    "/pipeline/samples",
    operation_id="pipeline_samples",
    response_model=QueueSamples,
    responses=OF_RUN,
    summary="A queue over time",
)
def samples(
    run: RunId,
    answers: AnswersOf,
    request: Request,
    part: PartOf,
    rank: Rank = None,
    queue: Annotated[str | None, Query(max_length=200, description="Default: the first between stages.")] = None,
) -> Response:
    """Sizes of one queue, and how long training waited for data in each step, or for each batch."""

    def compute(opened: Run) -> object:
        trace = opened.trace_of(rank)
        return {**head_of(trace), **asdict(queue_curve(trace, queue, part=part))}

    return answers.json(request, run, compute)
