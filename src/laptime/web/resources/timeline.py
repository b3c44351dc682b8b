"""The timeline: what it holds, and its download as Chrome JSON, which Perfetto opens."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import anyio.to_thread
from fastapi import APIRouter, Query, Request, Response
from starlette.responses import StreamingResponse

from laptime.analyses.parts import Part
from laptime.analyses.ranges import must_hold
from laptime.analyses.timeline_summary import timeline_summary
from laptime.exports.chrome import write_chrome
from laptime.model.trace import Run, Trace
from laptime.web.answers import head_of
from laptime.web.asking import AnswersOf, PartOf, Rank, RunId
from laptime.web.limits import few_at_once
from laptime.web.shapes.faults import OF_RUN
from laptime.web.shapes.timeline import TimelineSummary
from laptime.web.tables import download as attachment

router = APIRouter(prefix="/api/runs/{run}", tags=["analyses"])

_CHUNK = 1 << 18
_GZIP = "application/gzip"
_FILE: dict[str, Any] = {"content": {_GZIP: {"schema": {"type": "string", "format": "binary"}}}}  # Any: FastAPI's type


@router.get(
    "/timeline", operation_id="timeline", response_model=TimelineSummary, responses=OF_RUN, summary="The timeline"
)
def timeline(run: RunId, answers: AnswersOf, request: Request, rank: Rank = None) -> Response:
    """Devices, streams, tasks, executions and their time, as MindInsight's overview sums a timeline up."""

    def compute(opened: Run) -> object:
        trace = opened.trace_of(rank)
        return {**head_of(trace), **asdict(timeline_summary(trace))}

    return answers.json(request, run, compute)


@router.get(
    "/timeline/download",
    operation_id="timeline_download",
    response_class=StreamingResponse,
    responses={**OF_RUN, 200: _FILE},
    summary="The timeline as Chrome JSON",
)
async def download(
    run: RunId,
    answers: AnswersOf,
    request: Request,
    part: PartOf,
    rank: Rank = None,
    name: Annotated[str, Query(max_length=100, description="Name of the file, without ending.")] = "timeline",
) -> Response:
    """What `laptime export -o timeline.json.gz` writes, of the whole recording or a part of it."""
    trace = await anyio.to_thread.run_sync(_trace_of, answers, run, rank, part)
    headers = attachment(f"{name}.json.gz")
    if request.scope.get("laptime.head"):
        return Response(media_type=_GZIP, headers=headers)
    made = await anyio.to_thread.run_sync(_Download, trace, part, limiter=few_at_once(request, "timelines"))
    headers["Content-Length"] = str(made.size)
    return StreamingResponse(made.chunks(), media_type=_GZIP, headers=headers)


def _trace_of(answers: AnswersOf, run: str, rank: int | None, part: Part) -> Trace:
    """A trace of its own, since several threads must not load the columns of one. Raises what there is not."""
    known = answers.catalogue.run(run).trace_of(rank)
    trace = Trace(known.folder, known.meta)
    must_hold(trace, part)
    return trace


class _Download:
    """A file that goes with its last reader: nothing is left when a client turns away half-way."""

    def __init__(self, trace: Trace, part: Part) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="laptime-timeline-"))
        try:
            target = self._folder / "timeline.json.gz"
            write_chrome(trace, target, part)
            self.size = target.stat().st_size
            self._handle = target.open("rb")
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)  # where files can go while they are open, it is gone

    def chunks(self) -> Iterator[bytes]:
        """The file, piece by piece."""
        try:
            with self._handle:
                while chunk := self._handle.read(_CHUNK):
                    yield chunk
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)
