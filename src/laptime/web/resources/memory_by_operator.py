"""Memory of a run by the operator that allocated it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from laptime.analyses.memory_by_operator import memory_by_operator as by_operator_of
from laptime.analyses.ranges import as_json as part_as_json
from laptime.model.trace import Run
from laptime.web.answers import head_of
from laptime.web.asking import AnswersOf, Device, PartOf, Rank, RunId
from laptime.web.shapes.faults import OF_RUN
from laptime.web.shapes.memory_by_operator import MemoryByOperator

router = APIRouter(prefix="/api/runs/{run}", tags=["analyses"])


@router.get(
    "/memory/operators",
    operation_id="memory_by_operator",
    response_model=MemoryByOperator,
    responses=OF_RUN,
    summary="Memory by operator",
)
def memory_by_operator(
    run: RunId,
    answers: AnswersOf,
    request: Request,
    part: PartOf,
    rank: Rank = None,
    device: Device = None,
    limit: Annotated[int, Query(ge=1, le=10_000, description="Most rows.")] = 1000,
) -> Response:
    """Blocks that each operator allocated: how many, how much, how much of it lives at the peak."""

    def compute(opened: Run) -> object:
        trace = opened.trace_of(rank)
        found = by_operator_of(trace, device=device, part=part, limit=limit)
        return {**head_of(trace), "range": part_as_json(part, trace), **asdict(found)}

    return answers.json(request, run, compute)
