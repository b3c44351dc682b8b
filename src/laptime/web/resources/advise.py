"""`laptime advise` of a run."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from laptime.advice.advising import advise as advise_on
from laptime.advice.stored import REPORT_NAME
from laptime.model.trace import Run
from laptime.web.asking import AnswersOf, RunId
from laptime.web.shapes.advice import Advice
from laptime.web.shapes.faults import OF_RUN

router = APIRouter(prefix="/api/runs/{run}", tags=["analyses"])
OneRank = Annotated[int | None, Query(ge=0, le=(1 << 31) - 1, description="Only this rank; default: all together.")]
Language = Annotated[Literal["en", "zh"], Query(description="Language of the texts.")]


@router.get("/advise", operation_id="advise", response_model=Advice, responses=OF_RUN, summary="What to change")
def advise(run: RunId, answers: AnswersOf, request: Request, rank: OneRank = None, lang: Language = "en") -> Response:
    """What to change, the largest saving first; the JSON of `laptime advise`."""

    def compute(opened: Run) -> object:
        known = answers.catalogue.stored(run, REPORT_NAME)
        return advise_on(opened, lang, rank=rank, known=known)

    return answers.json(request, run, compute)
