"""`laptime slice` of a run: one slice by its number."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from laptime.analyses.slice_details import slice_details
from laptime.model.trace import Run
from laptime.web.answers import head_of
from laptime.web.asking import AnswersOf, Rank, RunId
from laptime.web.catalogue import NotFound
from laptime.web.shapes.faults import OF_RUN
from laptime.web.shapes.slices import SliceAnswer

router = APIRouter(prefix="/api/runs/{run}", tags=["analyses"])


@router.get(
    "/slices/{slice_id}", operation_id="slice", response_model=SliceAnswer, responses=OF_RUN, summary="One slice"
)
def one_slice(
    run: RunId,
    slice_id: Annotated[int, Path(ge=0, le=(1 << 53), description="Number of the slice in its rank.")],
    answers: AnswersOf,
    request: Request,
    rank: Rank = None,
    depth: Annotated[int, Query(ge=0, le=100, description="Links to follow each way.")] = 1,
    limit: Annotated[int, Query(ge=1, le=1000, description="Slices to list each way.")] = 20,
) -> Response:
    """A slice, what it waited for and what waited for it; the JSON of `laptime slice`."""

    def compute(opened: Run) -> object:
        trace = opened.trace_of(rank)
        if slice_id >= trace.slices.row_count:
            raise NotFound(f"no slice {slice_id}", where=trace.source, remedy="give the number of a slice")
        details = slice_details(trace, slice_id, depth=depth, limit=limit)
        return {**head_of(trace), **details.as_json()}

    return answers.json(request, run, compute)
