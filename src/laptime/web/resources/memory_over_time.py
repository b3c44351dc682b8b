"""Memory over time: the curve, what lives at an instant, the table of blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from laptime.analyses.allocations import ALLOCATION_COLUMNS, allocations
from laptime.analyses.memory_curve import memory_curve
from laptime.analyses.memory_live import live_at
from laptime.analyses.options import one_of_these
from laptime.analyses.parts import Part
from laptime.analyses.ranges import as_json as part_as_json
from laptime.analyses.thinning import LEAST_POINTS
from laptime.model.trace import Run, Trace
from laptime.web.answers import head_of
from laptime.web.asking import AnswersOf, Device, PartOf, Rank, RunId
from laptime.web.choosing import ChoiceOf
from laptime.web.shapes.faults import OF_RUN
from laptime.web.shapes.memory import Allocations, LiveBlocks, MemoryCurve

router = APIRouter(prefix="/api/runs/{run}/memory", tags=["analyses"])

_MOST_NS = (1 << 62) - 1
_MOST_POINTS = 100_000
_ROWS = 100


def _told(rank: int | None, part: Part, analyse: Callable[[Trace], object]) -> Callable[[Run], object]:
    """An answer with the recording and the part of it that it is about."""

    def compute(opened: Run) -> object:
        trace = opened.trace_of(rank)
        found = asdict(analyse(trace))  # type: ignore[call-overload]  # analyses give dataclasses
        return {**head_of(trace), "range": part_as_json(part, trace), **found}

    return compute


@router.get(
    "/curve", operation_id="memory_curve", response_model=MemoryCurve, responses=OF_RUN, summary="Memory over time"
)
def curve(
    run: RunId,
    answers: AnswersOf,
    request: Request,
    part: PartOf,
    rank: Rank = None,
    device: Device = None,
    points: Annotated[int, Query(ge=LEAST_POINTS, le=_MOST_POINTS, description="Points of each curve at most.")] = 2000,
) -> Response:
    """Live bytes of a device over time, extremes kept, and the counters of memory."""

    def analyse(trace: Trace) -> object:
        return memory_curve(trace, device=device, part=part, points=points)

    return answers.json(request, run, _told(rank, part, analyse))


@router.get(
    "/live", operation_id="memory_live", response_model=LiveBlocks, responses=OF_RUN, summary="What lives at an instant"
)
def live(
    run: RunId,
    answers: AnswersOf,
    request: Request,
    part: PartOf,
    rank: Rank = None,
    device: Device = None,
    at_ns: Annotated[int | None, Query(ge=-_MOST_NS, le=_MOST_NS, description="Default: the time of the peak.")] = None,
    limit: Annotated[int, Query(ge=1, le=10_000, description="Blocks at most, the largest first.")] = _ROWS,
) -> Response:
    """The blocks that live on a device at a time, and who made them."""

    def analyse(trace: Trace) -> object:
        return live_at(trace, at_ns, device=device, part=part, limit=limit)

    return answers.json(request, run, _told(rank, part, analyse))


@router.get(
    "/allocations", operation_id="allocations", response_model=Allocations, responses=OF_RUN, summary="Blocks of memory"
)
def blocks(
    run: RunId,
    answers: AnswersOf,
    request: Request,
    choice: ChoiceOf,
    part: PartOf,
    rank: Rank = None,
    device: Device = None,
) -> Response:
    """The table of memory blocks of a device; 100 rows, the largest first, unless asked otherwise."""
    sort = choice.sort or "size_bytes"
    one_of_these(sort, ALLOCATION_COLUMNS, "sort")
    chosen = choice.selection(ALLOCATION_COLUMNS, sort=sort, limit=_ROWS)

    def analyse(trace: Trace) -> object:
        return allocations(trace, device=device, part=part, selection=chosen)

    return answers.json(request, run, _told(rank, part, analyse))
