"""`laptime step`: interval, forward+backward and tail of each step."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from laptime.cli.options import JsonOption, PathArgument, RankOption, WorkspaceOption, open_trace, print_json, rank_text
from laptime.cli.ranges import FromOption, StepsOption, ToOption, part_of, part_text


def command(
    path: PathArgument,
    step_id: Annotated[
        str | None,
        typer.Option("--step-id", help="The source's number of a step; 0 or average: the average.", show_default=False),
    ] = None,
    step_index: Annotated[
        int | None, typer.Option("--step-index", min=1, help="The n-th step, 1 is the first.", show_default=False)
    ] = None,
    forward_point: Annotated[
        str | None,
        typer.Option("--fp-point", envvar="FP_POINT", help="Name of the op where forward starts.", show_default=False),
    ] = None,
    backward_point: Annotated[
        str | None,
        typer.Option("--bp-point", envvar="BP_POINT", help="Name of the op where backward ends.", show_default=False),
    ] = None,
    communication_point: Annotated[
        list[str] | None,
        typer.Option(
            "--comm-point",
            help="Name of a collective to show (repeatable; also COMM_POINTS, comma-separated).",
            show_default=False,
        ),
    ] = None,
    from_time: FromOption = None,
    to_time: ToOption = None,
    steps: StepsOption = None,
    rank: RankOption = None,
    as_json: JsonOption = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Show the parts of each step: the interval before forward, forward+backward, the tail, and communication.

    \b
    Examples:
      laptime step DIR
      laptime step DIR --step-id 5
      laptime step DIR --step-index 1 --json
      laptime step DIR --steps 3-7
    """
    from laptime.analyses.step_trace import Points, position_of, step_trace
    from laptime.analyses.step_trace import as_json as to_json

    names = [*(communication_point or []), *os.environ.get("COMM_POINTS", "").split(",")]
    points = Points(forward_point, backward_point, tuple(name.strip() for name in names if name.strip()))
    part = part_of(from_time, to_time, steps)
    run, trace = open_trace(path, workspace, rank)
    result = step_trace(trace, points, part=part)
    only = position_of(result, step_id=_number(step_id), step_index=step_index)
    if as_json:
        print_json(to_json(result, trace, only=only, part=part))
        return
    from laptime.analyses.recorded import how_to_mark_steps
    from laptime.cli.step_page import show

    rank_and_part = rank_text(run, trace) + part_text(part)
    show(result, only=only, path=run.path, rank=rank_and_part, how_to_mark=how_to_mark_steps(trace))


def _number(text: str | None) -> int | None:
    if text is None or text == "average":
        return None
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no step number", param_hint="--step-id") from None
