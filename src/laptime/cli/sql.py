"""`laptime sql`: DuckDB over the tables of a run."""

from __future__ import annotations

import math
import sys
from decimal import Decimal
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
    from laptime.model.query import run_query

    table = run_query(open_path(path, workspace), query, rank=rank)
    columns = [[_plain(value) for value in column.to_pylist()] for column in table.columns]
    rows = [list(row) for row in zip(*columns, strict=True)]
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


def _plain(value: object) -> object:
    """A value as JSON can hold it: integers stay exact, what is no number is null, times and the like are text."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value if value is None or isinstance(value, (str, int)) else str(value)


_PIPE_WIDTH = 1_000_000
"""Into a file or pipe nothing is cut or wrapped."""
