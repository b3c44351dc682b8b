"""`laptime export`: tables as CSV, traces as Chrome JSON for Perfetto and other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from laptime.cli.options import ExportRankOption, PathArgument, WorkspaceOption, open_path, open_trace, say
from laptime.model.vocabulary import TABLES


def command(
    path: PathArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write; .gz and .zst compress.", show_default=False)
    ],
    table: Annotated[
        str | None, typer.Option("--table", help=f"Table to write as CSV: {', '.join(TABLES)}.", show_default=False)
    ] = None,
    rank: ExportRankOption = None,
    workspace: WorkspaceOption = None,
) -> None:
    """Write a trace as Chrome JSON, which Perfetto opens, or one of its tables as CSV.

    In the Chrome JSON slices of one row only nest or follow, overlaps have rows of their own; it imports back equal.

    \b
    Examples:
      laptime export DIR -o rank0.json.gz --rank 0
      laptime export DIR --table slices -o slices.csv.zst
    """
    if table is not None and table not in TABLES:
        raise typer.BadParameter(f"{table!r} is none of: {', '.join(TABLES)}", param_hint="--table")
    if table is None and ".csv" in output.suffixes:
        raise typer.BadParameter("a CSV file holds one table; name it", param_hint="--table")
    if table is None:
        from laptime.exports.chrome import write_chrome

        _, trace = open_trace(path, workspace, rank)
        write_chrome(trace, output)
    else:
        from laptime.exports.csv import write_csv

        run = open_path(path, workspace)
        write_csv(run if rank is None else run.trace_of(rank), table, output)
    say(f"wrote {output} ({output.stat().st_size:,} bytes)")
