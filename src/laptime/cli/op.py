"""`laptime op`: where time goes by operator, kernel, module, shape or source line."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from laptime.cli.choices import conditions, one_of_these
from laptime.cli.options import JsonOption, PathArgument, RankOption, WorkspaceOption, open_trace, print_json, rank_text
from laptime.cli.ranges import FromOption, StepsOption, ToOption, part_of, part_text

_TORCH_SORTS = {
    "cuda_time_total": ("device", "total_ns"),
    "device_time_total": ("device", "total_ns"),
    "xpu_time_total": ("device", "total_ns"),
    "self_cuda_time_total": ("device", "self_ns"),
    "self_device_time_total": ("device", "self_ns"),
    "self_xpu_time_total": ("device", "self_ns"),
    "cpu_time_total": ("host", "total_ns"),
    "self_cpu_time_total": ("host", "self_ns"),
    "cpu_time": ("host", "mean_ns"),
    "cuda_time": ("device", "mean_ns"),
}
"""Names that torch's key_averages().table(sort_by=...) takes: where, and our column."""
_MEGENGINE_SORTS = {
    "time": (None, "self_ns"),
    "computation": (None, "computation_flo"),
    "flops": (None, "flo_per_s"),
    "memory": (None, "memory_bytes"),
    "bandwidth": (None, "bytes_per_s"),
}
"""Names that MegEngine's profile_analyze --order-by takes."""
_SORTS: dict[str, tuple[str | None, str]] = {**_TORCH_SORTS, **_MEGENGINE_SORTS}


def command(
    path: PathArgument,
    by: Annotated[
        str,
        typer.Option("--by", help="op-type, name, full-name, kernel, module, shape, source (file and line) or track."),
    ] = "op-type",
    on: Annotated[
        str | None,
        typer.Option("--on", help="device or host; default: the device where there is one.", show_default=False),
    ] = None,
    sort: Annotated[
        str,
        typer.Option("--sort", help="A column, or one of torch's or MegEngine's names (cuda_time_total, flops, ...)."),
    ] = "self_ns",
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Rows to show; all with --json, else 30.", show_default=False)
    ] = None,
    page: Annotated[int, typer.Option("--page", min=0, help="Page of --limit rows, from 0.")] = 0,
    ascending: Annotated[bool, typer.Option("--ascending", help="Least first.")] = False,
    contains: Annotated[
        list[str] | None,
        typer.Option(
            "--filter", metavar="COL=TEXT", help="Rows whose column contains the text (repeatable).", show_default=False
        ),
    ] = None,
    one_of: Annotated[
        list[str] | None,
        typer.Option("--in", metavar="COL=A,B", help="Rows whose column is one of these.", show_default=False),
    ] = None,
    none_of: Annotated[
        list[str] | None,
        typer.Option("--not-in", metavar="COL=A,B", help="Rows whose column is none of these.", show_default=False),
    ] = None,
    at_least: Annotated[
        list[str] | None,
        typer.Option("--at-least", metavar="COL=N", help="Rows whose column is N or more.", show_default=False),
    ] = None,
    at_most: Annotated[
        list[str] | None,
        typer.Option("--at-most", metavar="COL=N", help="Rows whose column is N or less.", show_default=False),
    ] = None,
    search: Annotated[
        str | None,
        typer.Option(
            "--search", metavar="WORDS", help="Rows whose name or type holds these words.", show_default=False
        ),
    ] = None,
    subgraph: Annotated[str, typer.Option("--subgraph", help="all, Default or Gradients (MindSpore).")] = "all",
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
    from laptime.analyses.operators import COLUMNS, GROUPINGS, whole_table
    from laptime.analyses.ranges import as_json as part_as_json
    from laptime.analyses.selection import Selection
    from laptime.analyses.side_by_side import with_both_sides

    where, column = _SORTS.get(sort.replace("-", "_"), (None, sort.replace("-", "_")))
    one_of_these(by, GROUPINGS, "--by")
    one_of_these(on, ("device", "host", None), "--on")
    one_of_these(column, COLUMNS, "--sort", also=tuple(_SORTS))
    selection = Selection(
        one_of=conditions(one_of, "--in", COLUMNS),
        none_of=conditions(none_of, "--not-in", COLUMNS),
        contains=conditions(contains, "--filter", COLUMNS),
        at_least=_bounds(at_least, "--at-least", COLUMNS),
        at_most=_bounds(at_most, "--at-most", COLUMNS),
        search=search,
        sort=column,
        ascending=ascending or None,
        limit=limit or (None if as_json else 30),
        page=page,
    )
    part = replace(part_of(from_time, to_time, steps), subgraph=None if subgraph == "all" else subgraph)
    run, trace = open_trace(path, workspace, rank)
    table = with_both_sides(trace, whole_table(trace, by=by, on=on or where, part=part), part).chosen(selection)
    if as_json:
        result = {"schema_version": 1, "rank": trace.rank, "source": trace.source, "by": table.by, "on": table.on}
        print_json({**result, "range": part_as_json(part, trace), "total_rows": table.total_rows, "rows": table.rows})
        return
    from laptime.cli.op_page import show

    chosen = bool(contains or one_of or none_of or at_least or at_most or search)
    show(table, path=run.path, rank=rank_text(run, trace), part=part_text(part), chosen=chosen)


def _bounds(texts: list[str] | None, option: str, columns: tuple[str, ...]) -> dict[str, float]:
    """`COL=N` options by column."""
    bounds = {}
    for column, parts in conditions(texts, option, columns).items():
        try:
            bounds[column] = float(parts[-1])
        except ValueError as error:
            raise typer.BadParameter(f"{parts[-1]!r} is no number", param_hint=option) from error
    return bounds
