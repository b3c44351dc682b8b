"""`laptime op` of a run: as JSON, as an Arrow stream, as CSV."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from laptime.analyses.operators import COLUMNS, OperatorTable
from laptime.analyses.options import conditions, number_bounds, part_of, sort_column
from laptime.analyses.parts import Part
from laptime.analyses.selection import Row, Selection
from laptime.analyses.side_by_side import as_json, operators
from laptime.model.trace import Run, Trace
from laptime.web import answers as answering
from laptime.web.asking import AnswersOf, FromTime, Rank, RunId, Steps, ToTime
from laptime.web.shapes.faults import OF_RUN
from laptime.web.shapes.op import Operators
from laptime.web.tables import ARROW, CONTENT, CSV, Format, arrow_of, csv_of, download, wanted_format

router = APIRouter(prefix="/api/runs/{run}", tags=["analyses"])

By = Literal["op-type", "name", "full-name", "kernel", "module", "shape", "source", "track"]
On = Literal["device", "host"]
_Condition = Annotated[str, Query(max_length=1000)]
_Conditions = Annotated[list[_Condition] | None, Query(max_length=50)]
_SEARCHED = ("name", "op_type", "full_name", "module", "track")
_MOST = 1_000_000


@router.get(
    "/op", operation_id="op", response_model=Operators, responses={**OF_RUN, **CONTENT}, summary="Time by operator"
)
def op(
    run: RunId,
    answers: AnswersOf,
    request: Request,
    rank: Rank = None,
    by: By = "op-type",
    on: On | None = None,
    sort: Annotated[str, Query(max_length=100, description="A column, or one of torch's or MegEngine's.")] = "self_ns",
    ascending: bool = False,
    limit: Annotated[int | None, Query(ge=1, le=_MOST, description="Rows; default: all.")] = None,
    offset: Annotated[int, Query(ge=0, le=_MOST, description="Rows before the first.")] = 0,
    search: Annotated[str | None, Query(max_length=200, description="Words that a row's names must contain.")] = None,
    contains: Annotated[_Conditions, Query(alias="filter", description="COL=TEXT: the column contains it.")] = None,
    one_of: Annotated[_Conditions, Query(alias="in", description="COL=A,B: it is one of these.")] = None,
    none_of: Annotated[_Conditions, Query(alias="not_in", description="COL=A,B: it is none of these.")] = None,
    at_least: Annotated[_Conditions, Query(description="COL=N: it is N or more.")] = None,
    at_most: Annotated[_Conditions, Query(description="COL=N: it is N or less.")] = None,
    subgraph: Literal["all", "Default", "Gradients"] = "all",
    from_time: FromTime = None,
    to_time: ToTime = None,
    steps: Steps = None,
    form: Annotated[Format | None, Query(alias="format", description="Default: as the Accept header says.")] = None,
) -> Response:
    """Where time goes by operator; the JSON of `laptime op`, paged by offset."""
    where, column = sort_column(sort, COLUMNS)
    selection = Selection(
        one_of=conditions(one_of, "in", COLUMNS),
        none_of=conditions(none_of, "not_in", COLUMNS),
        contains=conditions(contains, "--filter", COLUMNS),
        at_least=number_bounds(at_least, "at_least", COLUMNS),
        at_most=number_bounds(at_most, "at_most", COLUMNS),
        sort=column,
        ascending=ascending,
    )
    part = replace(part_of(from_time, to_time, steps), subgraph=None if subgraph == "all" else subgraph)
    wanted = wanted_format(request, form)

    def compute(opened: Run) -> bytes:
        trace = opened.trace_of(rank)
        table = operators(trace, by=by, on=on or where, part=part, selection=selection)
        found = [row for row in table.rows if _matches(row, search)]
        page = found[offset : None if limit is None else offset + limit]
        return _written(replace(table, total_rows=len(found), rows=page), trace, part, wanted)

    media = {"json": "application/json", "arrow": ARROW, "csv": CSV}[wanted]
    headers = download(f"{run}-{by}.csv") if wanted == "csv" else None
    return answers.bytes(request, run, compute, media_type=media, headers=headers)


def _written(table: OperatorTable, trace: Trace, part: Part, form: Format) -> bytes:
    result = as_json(table, trace, part)
    if form == "json":
        return answering.as_json(result)
    if form == "csv":
        return csv_of(table.rows)
    return arrow_of(table.rows, {key: value for key, value in result.items() if key != "rows"})


def _matches(row: Row, search: str | None) -> bool:
    """Whether each word is part of one of the row's names, in any order."""
    if not search:
        return True
    details = row.get("info")
    told = {**(details if isinstance(details, dict) else {}), **row}
    text = " ".join(str(told[key]) for key in _SEARCHED if told.get(key) is not None).casefold()
    return all(word in text for word in search.casefold().split())
