"""`laptime slice`: one slice, what it waited for and what waited for it."""

from __future__ import annotations

from typing import Annotated

import typer

from laptime.cli.options import JsonOption, PathArgument, RankOption, WorkspaceOption, open_trace, print_json, rank_text


def command(
    path: PathArgument,
    which: Annotated[
        str, typer.Argument(metavar="ID", help="Number of the slice (slice_id), or its name.", show_default=False)
    ],
    depth: Annotated[int, typer.Option("--depth", min=0, help="Links to follow each way.")] = 1,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Slices to list each way.")] = 20,
    rank: RankOption = None,
    as_json: JsonOption = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Show one slice: its times on host and device, operator, arguments, call stack, what it waited for and what
    waited for it.

    A name lists the slices of that name with their numbers; the only one is shown.

    \b
    Examples:
      laptime slice trace.json.gz 1234
      laptime slice DIR 1234 --depth 3 --json
      laptime slice DIR aten::mm
    """
    from laptime.analyses.slice_details import find_slice, slice_details
    from laptime.cli.slice_page import show, show_candidates

    run, trace = open_trace(path, workspace, rank)
    found = find_slice(trace, which)
    head = {"schema_version": 1, "rank": trace.rank, "source": trace.source}
    if found.slice_id is None:
        if as_json:
            print_json({**head, **found.as_json()})
        else:
            show_candidates(found, name=which, path=run.path, rank=rank_text(run, trace))
        return
    details = slice_details(trace, found.slice_id, depth=depth, limit=limit)
    if as_json:
        print_json({**head, **details.as_json()})
        return
    show(details, path=run.path, rank=rank_text(run, trace))
