"""`laptime step` of a run."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from laptime.analyses.step_trace import Points, as_json, position_of, step_trace
from laptime.model.trace import Run
from laptime.web.asking import MOST_INT, AnswersOf, PartOf, Rank, RunId
from laptime.web.shapes.faults import OF_RUN
from laptime.web.shapes.step import StepTrace

router = APIRouter(prefix="/api/runs/{run}", tags=["analyses"])

_Name = Annotated[str, Query(max_length=1000)]


@router.get("/step", operation_id="step", response_model=StepTrace, responses=OF_RUN, summary="The step trace")
def step(
    run: RunId,
    answers: AnswersOf,
    request: Request,
    part: PartOf,
    rank: Rank = None,
    step_id: Annotated[
        int | None, Query(ge=-MOST_INT, le=MOST_INT, description="The source's number of a step; 0: the average.")
    ] = None,
    step_index: Annotated[int | None, Query(ge=1, le=MOST_INT, description="The n-th step, 1 is the first.")] = None,
    fp_point: Annotated[str | None, Query(max_length=1000, description="Op where forward starts.")] = None,
    bp_point: Annotated[str | None, Query(max_length=1000, description="Op where backward ends.")] = None,
    comm_point: Annotated[list[_Name] | None, Query(max_length=50, description="A collective to show.")] = None,
) -> Response:
    """Interval, forward+backward and tail of each step; the JSON of `laptime step`."""
    points = Points(fp_point, bp_point, tuple(comm_point or ()))

    def compute(opened: Run) -> object:
        trace = opened.trace_of(rank)
        result = step_trace(trace, points, part=part)
        only = position_of(result, step_id=step_id, step_index=step_index)
        return as_json(result, trace, only=only, part=part)

    return answers.json(request, run, compute)
