"""`laptime report` of a run."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from laptime.advice.advising import report as report_of
from laptime.advice.stored import REPORT_NAME
from laptime.model.trace import Run
from laptime.web.asking import AnswersOf, PartOf, RunId
from laptime.web.shapes.faults import OF_RUN
from laptime.web.shapes.report import Report

router = APIRouter(prefix="/api/runs/{run}", tags=["analyses"])


@router.get("/report", operation_id="report", response_model=Report, responses=OF_RUN, summary="The report")
def report(
    run: RunId,
    answers: AnswersOf,
    request: Request,
    part: PartOf,
) -> Response:
    """Where each training step's time goes; the JSON of `laptime report`."""

    def compute(opened: Run) -> object:
        stored = answers.catalogue.stored(run, REPORT_NAME) if part.is_whole else None
        if stored is None:
            return report_of(opened, part)
        described = stored["run"]
        assert isinstance(described, dict)
        return {**stored, "run": {**described, "path": opened.path}}

    return answers.json(request, run, compute)
