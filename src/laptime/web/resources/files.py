"""What was read of each recording, kept and dropped, and the tables it became."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter, Request, Response

from laptime.analyses.contents import contents
from laptime.web.asking import AnswersOf, RunId
from laptime.web.shapes.faults import OF_RUN
from laptime.web.shapes.files import Files

router = APIRouter(prefix="/api/runs/{run}", tags=["analyses"])


@router.get("/files", operation_id="files", response_model=Files, responses=OF_RUN, summary="What was read")
def files(run: RunId, answers: AnswersOf, request: Request) -> Response:
    """Events read, kept and dropped by reason, facts, warnings and tables of all recordings of a run."""
    return answers.json(request, run, lambda opened: {"schema_version": 1, **asdict(contents(opened))})
