"""`laptime sql`: DuckDB over the tables of a run."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from laptime.cli.options import JsonOption, OneOfAllRanksOption, PathArgument, WorkspaceOption, open_path, print_json


def command(
    path: PathArgument,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="One SELECT statement.", show_default=False)],
    rank: OneOfAllRanksOption = None,
    as_json: JsonOption = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Ask the tables of a run by SQL: tracks, ops, slices, args, instants, flows, counters, allocations, steps, stacks.

    \b
    Examples:
      laptime sql DIR "SELECT kind, sum(dur_ns) AS ns FROM slices GROUP BY 1"
    """
    from laptime.model.query import plain_rows, run_query

    table = run_query(open_path(path, workspace), query, rank=rank)
    rows = plain_rows(table)
    if as_json:
        print_json({"schema_version": 1, "columns": table.column_names, "rows": rows})
        return
    from rich.table import Table

    from laptime.cli.report_page import console
    from laptime.cli.units import clean

    terminal = sys.stdout.isatty()
    grid = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in table.column_names:
        grid.add_column(clean(name), overflow="fold", no_wrap=not terminal)
    for row in rows:
        grid.add_row(*("" if value is None else clean(str(value)) for value in row))
    console(width=None if terminal else _PIPE_WIDTH).print(grid)


_PIPE_WIDTH = 1_000_000
"""Into a file or pipe nothing is cut or wrapped."""
