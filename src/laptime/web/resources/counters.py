"""Counters of a run over time: processor use, use and clocks of devices."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from laptime.analyses.counter_curves import counter_curves
from laptime.model.trace import Run
from laptime.web.answers import head_of
from laptime.web.asking import AnswersOf, Rank, RunId
from laptime.web.shapes.counters import Counters
from laptime.web.shapes.faults import OF_RUN

router = APIRouter(prefix="/api/runs/{run}", tags=["analyses"])


@router.get("/counters", operation_id="counters", response_model=Counters, responses=OF_RUN, summary="Counters")
def counters(
    run: RunId,
    answers: AnswersOf,
    request: Request,
    rank: Rank = None,
    points: Annotated[int, Query(ge=8, le=20_000, description="Most points of each curve.")] = 1000,
) -> Response:
    """Counters over time but those of device memory, and the mean use of processor cores where that is all there is."""

    def compute(opened: Run) -> object:
        trace = opened.trace_of(rank)
        return {**head_of(trace), **asdict(counter_curves(trace, points=points))}

    return answers.json(request, run, compute)
