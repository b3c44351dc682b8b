"""One row of the operator table in full."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from laptime.analyses.device import device_rows
from laptime.analyses.operator_details import OperatorKey, operator_details
from laptime.analyses.operators import OperatorTable, whole_table
from laptime.analyses.parts import Part
from laptime.analyses.ranges import as_json as part_as_json
from laptime.model.trace import Run, Trace
from laptime.web.answers import head_of
from laptime.web.asking import AnswersOf, By, On, OperatorPartOf, Rank, RunId
from laptime.web.shapes.faults import OF_RUN
from laptime.web.shapes.operator_details import OperatorDetails

router = APIRouter(prefix="/api/runs/{run}", tags=["analyses"])


@router.get(
    "/op/details", operation_id="op_details", response_model=OperatorDetails, responses=OF_RUN, summary="One operator"
)
def details(
    run: RunId,
    answers: AnswersOf,
    request: Request,
    name: Annotated[str, Query(max_length=20_000, description="Name of the row, as /op has it.")],
    part: OperatorPartOf,
    rank: Rank = None,
    by: By = "op-type",
    on: On | None = None,
    device_kind: Annotated[str | None, Query(max_length=200, description="Processor, where rows share a name.")] = None,
    input_shapes: Annotated[
        str | None, Query(max_length=20_000, description="JSON of `info.input_shapes`, where rows share a name.")
    ] = None,
) -> Response:
    """Both sides, spread, steps, tensors, call stack and longest executions of a row of /op."""
    key = OperatorKey(name, device_kind, input_shapes)

    def compute(opened: Run) -> object:
        trace = opened.trace_of(rank)
        table = whole_table(trace, by=by, on=on, part=part)
        found = operator_details(trace, key, table, beside=_beside(trace, table, part), part=part)
        return {**head_of(trace), "range": part_as_json(part, trace), **asdict(found)}

    return answers.json(request, run, compute)


def _beside(trace: Trace, table: OperatorTable, part: Part) -> OperatorTable | None:
    """The table of the other side, where the recording has one."""
    if table.by in ("kernel", "track") or not len(device_rows(trace)):
        return None
    return whole_table(trace, by=table.by, on="host" if table.on == "device" else "device", part=part)
