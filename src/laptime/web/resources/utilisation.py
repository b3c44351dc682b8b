"""How busy devices and streams are, and how much communication computing hides."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from laptime.analyses.ranges import as_json as part_as_json
from laptime.analyses.utilisation import utilisation as utilisation_of
from laptime.model.trace import Run
from laptime.web.answers import head_of
from laptime.web.asking import AnswersOf, PartOf, Rank, RunId
from laptime.web.shapes.faults import OF_RUN
from laptime.web.shapes.utilisation import Utilisation

router = APIRouter(prefix="/api/runs/{run}", tags=["analyses"])


@router.get(
    "/utilisation",
    operation_id="utilisation",
    response_model=Utilisation,
    responses=OF_RUN,
    summary="Utilisation and overlap",
)
def utilisation(
    run: RunId,
    answers: AnswersOf,
    request: Request,
    part: PartOf,
    rank: Rank = None,
) -> Response:
    """Busy time of each device, stream and step; communication overlapped and exposed."""

    def compute(opened: Run) -> object:
        trace = opened.trace_of(rank)
        return {**head_of(trace), "range": part_as_json(part, trace), **utilisation_of(trace, part).as_json()}

    return answers.json(request, run, compute)
