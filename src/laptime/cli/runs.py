"""`laptime runs`: what the workspace holds."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated

import typer

from laptime.cli.options import JsonOption, WorkspaceOption, open_workspace, print_json
from laptime.errors import LaptimeError


def command(
    remove: Annotated[
        str | None,
        typer.Option("--remove", metavar="RUN", help="Forget a run: its key, name or path.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
    workspace: WorkspaceOption = None,
) -> None:
    """List the imported runs; the recordings themselves are never touched.

    \b
    Examples:
      laptime runs
      laptime runs --remove ddp4-gloo
    """
    place = open_workspace(workspace)
    if remove is not None:
        matching = [run for run in place.runs() if remove in (run.key, run.name, run.path)]
        if not matching:
            raise LaptimeError(
                f"no imported run {remove!r}", where=place.root, remedy="see `laptime runs` for the names"
            )
        for run in matching:
            place.remove(run)
            if not as_json:
                print(f"removed {run.name} ({run.key})")
    if as_json:
        print_json({"schema_version": 1, "workspace": str(place.root), "runs": [asdict(run) for run in place.runs()]})
    elif remove is None:
        _show(place.root, place.runs())


_FIXED_WIDTH = 66
"""Width of all columns but the name."""
_LEAST_NAME = 12


def _show(root: object, runs: list) -> None:  # type: ignore[type-arg]  # of StoredRun
    from rich.table import Table
    from rich.text import Text

    from laptime.cli.report_page import console
    from laptime.cli.units import shortened, size_text

    page = console()
    if not runs:
        page.print(Text(f"No run is imported in {root}."))
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="")
    for title, side in (("run", "left"), ("key", "left"), ("ranks", "right"), ("size", "right"), ("imported", "left")):
        table.add_column(title, justify=side, no_wrap=True)  # type: ignore[arg-type]  # one of Rich's words
    for run in runs:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.imported_unix))
        name = shortened(run.name, max(_LEAST_NAME, page.width - _FIXED_WIDTH))
        table.add_row(
            name,
            run.key,
            str(len(run.traces)),
            size_text(run.size_bytes),
            when,
        )
    page.print(table)
