"""`laptime op` of a run: as JSON, as an Arrow stream, as CSV."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from laptime.analyses.operators import COLUMNS, OperatorTable
from laptime.analyses.options import sort_column
from laptime.analyses.parts import Part
from laptime.analyses.side_by_side import all_operators, as_json
from laptime.model.trace import Run, Trace
from laptime.web import answers as answering
from laptime.web.asking import AnswersOf, By, On, OperatorPartOf, Rank, RunId
from laptime.web.choosing import ChoiceOf
from laptime.web.shapes.faults import OF_RUN
from laptime.web.shapes.op import Operators
from laptime.web.tables import ARROW, CONTENT, CSV, Format, arrow_of, csv_of, download, wanted_format

router = APIRouter(prefix="/api/runs/{run}", tags=["analyses"])


@router.get(
    "/op", operation_id="op", response_model=Operators, responses={**OF_RUN, **CONTENT}, summary="Time by operator"
)
def op(
    run: RunId,
    answers: AnswersOf,
    request: Request,
    choice: ChoiceOf,
    part: OperatorPartOf,
    rank: Rank = None,
    by: By = "op-type",
    on: On | None = None,
    form: Annotated[Format | None, Query(alias="format", description="Default: as the Accept header says.")] = None,
) -> Response:
    """Where time goes by operator; the JSON of `laptime op`, paged by offset, all rows without a limit."""
    where, column = sort_column(choice.sort or "self_ns", COLUMNS)
    selection = choice.selection(COLUMNS, sort=column, limit=None)
    everything = replace(selection, limit=None, offset=0)
    wanted = wanted_format(request, form)

    def compute(opened: Run) -> bytes:
        trace = opened.trace_of(rank)
        asked, kept = (run, str(opened.folder), rank, by, on or where, part), answers.long_tables.table
        table = kept(
            (*asked, repr(everything)),
            lambda: kept(asked, lambda: all_operators(trace, by=by, on=on or where, part=part)).chosen(everything),
        )
        rows = table.rows[selection.page_of(len(table.rows))]
        return _written(replace(table, rows=rows), trace, part, wanted)

    media = {"json": "application/json", "arrow": ARROW, "csv": CSV}[wanted]
    headers = download(f"{run}-{by}.csv") if wanted == "csv" else None
    return answers.bytes(request, run, compute, media_type=media, headers=headers)


def _written(table: OperatorTable, trace: Trace, part: Part, form: Format) -> bytes:
    result = as_json(table, trace, part)
    if form == "json":
        return answering.as_json(result)
    if form == "csv":
        return csv_of(table.to_arrow())
    return arrow_of(table.to_arrow(), {key: value for key, value in result.items() if key != "rows"})
