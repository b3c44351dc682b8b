"""`laptime export`: tables as CSV, traces as Chrome JSON for Perfetto and other tools, memory as a drawing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from laptime.cli.options import ExportRankOption, PathArgument, WorkspaceOption, open_path, open_trace, say
from laptime.cli.ranges import FromOption, StepsOption, ToOption, part_of
from laptime.model.vocabulary import TABLES

if TYPE_CHECKING:
    from laptime.analyses.parts import Part
    from laptime.model.trace import Trace

FORMATS = ("chrome_timeline.json", "memory_flow.svg", "csv")


def command(
    path: PathArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write; .gz and .zst compress.", show_default=False)
    ],
    table: Annotated[
        str | None, typer.Option("--table", help=f"Table to write as CSV: {', '.join(TABLES)}.", show_default=False)
    ] = None,
    form: Annotated[
        str | None,
        typer.Option("--format", help=f"{', '.join(FORMATS)}; default: told by the file's name.", show_default=False),
    ] = None,
    from_time: FromOption = None,
    to_time: ToOption = None,
    steps: StepsOption = None,
    rank: ExportRankOption = None,
    workspace: WorkspaceOption = None,
) -> None:
    """Write a trace as Chrome JSON, which Perfetto opens, its memory as a drawing, or one of its tables as CSV.

    In the Chrome JSON slices of one row only nest or follow, overlaps have rows of their own; it imports back equal.
    --from, --to and --steps write a part of it.
    The drawing shows which block lies where and how long, in any browser.

    \b
    Examples:
      laptime export DIR -o rank0.json.gz --rank 0
      laptime export DIR -o steps.json.gz --steps 3-5
      laptime export DIR -o memory_flow.svg
      laptime export DIR --table slices -o slices.csv.zst
    """
    if table is not None and table not in TABLES:
        raise typer.BadParameter(f"{table!r} is none of: {', '.join(TABLES)}", param_hint="--table")
    form = form or _form_of(output, table)
    if form not in FORMATS:
        raise typer.BadParameter(f"{form!r} is none of: {', '.join(FORMATS)}", param_hint="--format")
    if (form == "csv") != (table is not None):
        raise typer.BadParameter("a CSV file holds one table; name it, and no other file does", param_hint="--table")
    part = part_of(from_time, to_time, steps)
    if form != FORMATS[0] and not part.is_whole:
        raise typer.BadParameter(f"a part is written of {FORMATS[0]} alone", param_hint="--from, --to, --steps")
    if table is not None:
        from laptime.exports.csv import write_csv

        run = open_path(path, workspace)
        write_csv(run if rank is None else run.trace_of(rank), table, output)
    else:
        _, trace = open_trace(path, workspace, rank)
        _write(trace, form, output, part)
    say(f"wrote {output} ({output.stat().st_size:,} bytes)")


def _form_of(output: Path, table: str | None) -> str:
    """Format that a file's name tells."""
    if table is not None or ".csv" in output.suffixes:
        return "csv"
    return "memory_flow.svg" if ".svg" in output.suffixes else "chrome_timeline.json"


def _write(trace: Trace, form: str, output: Path, part: Part) -> None:
    if form == "memory_flow.svg":
        from laptime.exports.memory_flow import write_memory_flow

        write_memory_flow(trace, output)
    else:
        from laptime.exports.chrome import write_chrome

        write_chrome(trace, output, part)
