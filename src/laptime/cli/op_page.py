"""The operator table as text for a terminal of 80 columns."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from laptime.analyses.operators import OperatorTable
from laptime.analyses.processors import PROCESSOR_NAMES
from laptime.cli.report_page import console
from laptime.cli.units import count_text, share_text, shortened, time_text

_FIXED_WIDTH = 52
"""Width of all columns but the name."""
_LEAST_NAME = 24
_PROCESSOR_WIDTH = 11


def show(table: OperatorTable, *, path: str, rank: str) -> None:
    """Prints the rows, greatest first."""
    page = console()
    page.print(f"{shortened(path, 40)}{rank}: {table.on} time by {table.by}", style="bold")
    if not table.rows:
        hint = " No device work was recorded: use --on host." if table.on == "device" and not table.total_rows else ""
        page.print(f"No rows.{hint}")
        return
    processors = _processors(table)
    width = max(_LEAST_NAME, page.width - _FIXED_WIDTH) - (_PROCESSOR_WIDTH if processors else 0)
    grid = Table(box=None, padding=(0, 2, 0, 0), header_style="")
    grid.add_column(table.by, no_wrap=True, width=width)
    if processors:
        grid.add_column("on", no_wrap=True, width=_PROCESSOR_WIDTH - 2)
    for title in ("count", "total", "self", "mean", "share"):
        grid.add_column(title, justify="right", no_wrap=True)
    for place, row in enumerate(table.rows):
        times = [
            time_text(value) if isinstance(value := row[key], int) else "-"
            for key in ("total_ns", "self_ns", "mean_ns")
        ]
        share = row["share"]
        grid.add_row(
            Text(shortened(_name(row), width)),
            *processors[place : place + 1],
            count_text(row["count"] if isinstance(row["count"], int) else None),
            *times,
            share_text(share, 1) if isinstance(share, float) else "-",
        )
    page.print(grid)
    if table.total_rows > len(table.rows):
        page.print(f"{table.total_rows - len(table.rows):,} more rows; choose with --limit, --filter or --json")


def _processors(table: OperatorTable) -> list[str]:
    """What each row ran on, where rows differ in it."""
    kinds = [row["device_kind"] for row in table.rows]
    if len(set(kinds) - {None}) < 2:
        return []
    return ["-" if kind is None else PROCESSOR_NAMES.get(str(kind), str(kind)) for kind in kinds]


def _name(row: dict[str, object]) -> str:
    info = row["info"]
    shapes = info.get("input_shapes") if isinstance(info, dict) else None
    known = [str(shape).replace(" ", "") for shape in shapes if shape] if isinstance(shapes, list) else []
    return f"{row['name']} {' '.join(known)}" if known else str(row["name"])
