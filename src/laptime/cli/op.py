"""`laptime op`: where time goes by operator, kernel, module, shape or source line."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from laptime.analyses.options import conditions, number_bounds, one_of_these, sort_column
from laptime.cli.choices import usage
from laptime.cli.options import JsonOption, PathArgument, RankOption, WorkspaceOption, open_trace, print_json, rank_text
from laptime.cli.ranges import FromOption, StepsOption, ToOption, part_of, part_text

ByOption = Annotated[
    str,
    typer.Option("--by", help="op-type, name, full-name, kernel, module, shape, source (file and line) or track."),
]
OnOption = Annotated[
    str | None,
    typer.Option("--on", help="device or host; default: the device where there is one.", show_default=False),
]
SortOption = Annotated[
    str,
    typer.Option("--sort", help="A column, or one of torch's or MegEngine's names (cuda_time_total, flops, ...)."),
]
LimitOption = Annotated[
    int | None, typer.Option("--limit", min=1, help="Rows to show; all with --json, else 30.", show_default=False)
]
PageOption = Annotated[int, typer.Option("--page", min=0, help="Page of --limit rows, from 0.")]
AscendingOption = Annotated[bool, typer.Option("--ascending", help="Least first.")]
ContainsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--filter", metavar="COL=TEXT", help="Rows whose column contains the text (repeatable).", show_default=False
    ),
]
OneOfOption = Annotated[
    list[str] | None,
    typer.Option("--in", metavar="COL=A,B", help="Rows whose column is one of these.", show_default=False),
]
NoneOfOption = Annotated[
    list[str] | None,
    typer.Option("--not-in", metavar="COL=A,B", help="Rows whose column is none of these.", show_default=False),
]
AtLeastOption = Annotated[
    list[str] | None,
    typer.Option("--at-least", metavar="COL=N", help="Rows whose column is N or more.", show_default=False),
]
AtMostOption = Annotated[
    list[str] | None,
    typer.Option("--at-most", metavar="COL=N", help="Rows whose column is N or less.", show_default=False),
]
SearchOption = Annotated[
    str | None,
    typer.Option("--search", metavar="WORDS", help="Rows whose name or type holds these words.", show_default=False),
]
DeviceOption = Annotated[
    int | None, typer.Option("--device", min=0, metavar="N", help="Only what ran on this device.", show_default=False)
]
SubgraphOption = Annotated[str, typer.Option("--subgraph", help="all, Default or Gradients (MindSpore).")]


def command(
    path: PathArgument,
    by: ByOption = "op-type",
    on: OnOption = None,
    sort: SortOption = "self_ns",
    limit: LimitOption = None,
    page: PageOption = 0,
    ascending: AscendingOption = False,
    contains: ContainsOption = None,
    one_of: OneOfOption = None,
    none_of: NoneOfOption = None,
    at_least: AtLeastOption = None,
    at_most: AtMostOption = None,
    search: SearchOption = None,
    subgraph: SubgraphOption = "all",
    device: DeviceOption = None,
    from_time: FromOption = None,
    to_time: ToOption = None,
    steps: StepsOption = None,
    rank: RankOption = None,
    as_json: JsonOption = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Say where time goes by operator type, operator, kernel, module, input shape or source line.

    \b
    Examples:
      laptime op trace.json.gz --by kernel
      laptime op DIR --by module --on host --sort total_ns
      laptime op DIR --by name --filter name=conv --not-in op_type=conv2d
      laptime op DIR --by track --from 12.5ms --to 20ms
    """
    from laptime.analyses.operators import COLUMNS, GROUPINGS
    from laptime.analyses.selection import Selection
    from laptime.analyses.side_by_side import as_json as to_json
    from laptime.analyses.side_by_side import operators

    with usage():
        one_of_these(by, GROUPINGS, "--by")
        one_of_these(on, ("device", "host", None), "--on")
        where, column = sort_column(sort, COLUMNS)
        selection = Selection(
            one_of=conditions(one_of, "--in", COLUMNS),
            none_of=conditions(none_of, "--not-in", COLUMNS),
            contains=conditions(contains, "--filter", COLUMNS),
            at_least=number_bounds(at_least, "--at-least", COLUMNS),
            at_most=number_bounds(at_most, "--at-most", COLUMNS),
            search=search,
            sort=column,
            ascending=ascending or None,
            limit=limit or (None if as_json else 30),
            page=page,
        )
    part = replace(part_of(from_time, to_time, steps), subgraph=None if subgraph == "all" else subgraph, device=device)
    run, trace = open_trace(path, workspace, rank)
    table = operators(trace, by=by, on=on or where, part=part, selection=selection)
    if as_json:
        print_json(to_json(table, trace, part))
        return
    from laptime.cli.op_page import show

    chosen = bool(contains or one_of or none_of or at_least or at_most or search)
    show(table, path=run.path, rank=rank_text(run, trace), part=part_text(part), chosen=chosen)
