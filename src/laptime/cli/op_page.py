"""The operator table as text for a terminal of 80 columns."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from laptime.analyses.operators import OperatorTable
from laptime.cli.report_page import console
from laptime.cli.units import count_text, share_text, shortened, time_text

_FIXED_WIDTH = 52
"""Width of all columns but the name."""
_BESIDE_WIDTH = 2
"""What a column more takes of the name."""
_LEAST_NAME = 24


def show(table: OperatorTable, *, path: str, rank: str, part: str = "") -> None:
    """Prints the rows, greatest first."""
    page = console()
    page.print(f"{shortened(path, 40)}{rank}{part}: {table.on} time by {table.by}", style="bold")
    if not table.rows:
        hint = " No device work was recorded: use --on host." if table.on == "device" and not table.total_rows else ""
        page.print(f"No rows.{hint}")
        return
    beside = _beside(table)
    width = max(_LEAST_NAME, page.width - _FIXED_WIDTH - (_BESIDE_WIDTH if beside else 0))
    grid = Table(box=None, padding=(0, 2, 0, 0), header_style="")
    grid.add_column(table.by, no_wrap=True, width=width)
    for title in ("count", "total", "self", "mean", "share", *beside):
        grid.add_column(title, justify="right", no_wrap=True)
    for row in table.rows:
        share = row["share"]
        grid.add_row(
            Text(_name(row, width)),
            count_text(row["count"] if isinstance(row["count"], int) else None),
            *(_time(row[key]) for key in ("total_ns", "self_ns", "mean_ns")),
            share_text(share, 1) if isinstance(share, float) else "-",
            *(_time(row[key]) for key in beside.values()),
        )
    page.print(grid)
    if table.total_rows > len(table.rows):
        page.print(f"{table.total_rows - len(table.rows):,} more rows; choose with --limit, --filter or --json")


def _beside(table: OperatorTable) -> dict[str, str]:
    """Column of what is known beside: the wall time of a name on a track, the time on the other side of an operator."""
    first = table.rows[0]
    other = "host" if table.on == "device" else "device"
    if "wall_ns" in first:
        return {"wall": "wall_ns"}
    return {other: f"{other}_ns"} if any(row.get(f"{other}_ns") is not None for row in table.rows) else {}


def _time(value: object) -> str:
    return time_text(value) if isinstance(value, int) else "-"


def _name(row: dict[str, object], width: int) -> str:
    if "track" in row:
        track = shortened(str(row["track"]).split(" (")[0], width // 2)
        return f"{track}: {shortened(str(row['name']), width - len(track) - 2)}"
    info = row["info"]
    shapes = info.get("input_shapes") if isinstance(info, dict) else None
    known = [str(shape).replace(" ", "") for shape in shapes if shape] if isinstance(shapes, list) else []
    return shortened(f"{row['name']} {' '.join(known)}" if known else str(row["name"]), width)
