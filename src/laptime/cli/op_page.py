"""The operator table as text for a terminal of 80 columns."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from laptime.analyses.footprints import HANDOVER
from laptime.analyses.operators import OperatorTable
from laptime.analyses.processors import PROCESSOR_NAMES
from laptime.cli.report_page import console
from laptime.cli.units import count_text, quantity_text, share_text, shortened, size_text, time_text

Row = dict[str, object]

_FIXED_WIDTH = 54
"""Width of all columns but the name."""
_BESIDE_WIDTH = 2
"""What a column more takes of the name."""
_LEAST_NAME = 24
_PROCESSOR_WIDTH = 11


def show(table: OperatorTable, *, path: str, rank: str, part: str = "", chosen: bool = False) -> None:
    """Prints the rows, greatest first; `chosen` says that a filter may have left rows out."""
    page = console()
    page.print(f"{shortened(path, 40)}{rank}{part}: {table.on} time by {table.by}", style="bold")
    if not table.rows:
        unrecorded = table.on == "device" and not table.total_rows and not chosen
        page.print("No rows. No device work was recorded: use --on host." if unrecorded else "No rows.")
        return
    beside = _beside(table)
    cells = _work_cells if any("computation_flo" in _details(row) for row in table.rows) else _time_cells
    processors = _processors(table)
    taken = (_BESIDE_WIDTH if beside else 0) + (_PROCESSOR_WIDTH if processors else 0)
    width = max(_LEAST_NAME, page.width - _FIXED_WIDTH) - taken
    grid = Table(box=None, padding=(0, 2, 0, 0), header_style="")
    grid.add_column(table.by, no_wrap=True, width=width)
    if processors:
        grid.add_column("on", no_wrap=True, width=_PROCESSOR_WIDTH - 2)
    for title in (*cells(table.rows[0]), *beside):
        grid.add_column(title, justify="right", no_wrap=True)
    for place, row in enumerate(table.rows):
        times = [_time(row[key]) for key in beside.values()]
        grid.add_row(Text(_name(row, width)), *processors[place : place + 1], *cells(row).values(), *times)
    page.print(grid)
    if table.total_rows > len(table.rows):
        page.print(f"{table.total_rows - len(table.rows):,} more rows; choose with --limit, --filter or --json")
    waits = [row for row in table.rows if _details(row).get(HANDOVER)]
    if waits:
        names = ", ".join(dict.fromkeys(shortened(str(row["op_type"] or row["name"]), 30) for row in waits))
        page.print(f"{names}: waits for the host, no compute.")


def _beside(table: OperatorTable) -> dict[str, str]:
    """Column of what is known beside: the wall time of a name on a track, the time on the other side of an operator."""
    first = table.rows[0]
    other = "host" if table.on == "device" else "device"
    if "wall_ns" in first:
        return {"wall": "wall_ns"}
    return {other: f"{other}_ns"} if any(row.get(f"{other}_ns") is not None for row in table.rows) else {}


def _processors(table: OperatorTable) -> list[str]:
    """What each row ran on, where rows differ in it."""
    kinds = [row["device_kind"] for row in table.rows]
    if len(set(kinds) - {None}) < 2:
        return []
    return ["-" if kind is None else PROCESSOR_NAMES.get(str(kind), str(kind)) for kind in kinds]


def _time_cells(row: Row) -> dict[str, str]:
    times = {key.removesuffix("_ns"): _time(row[key]) for key in ("total_ns", "self_ns", "mean_ns")}
    return {"count": _count(row), **times, "share": _share(row)}


def _work_cells(row: Row) -> dict[str, str]:
    """For sources that tell what operators compute and move; each ran once, so that self and mean say little."""
    details = _details(row)
    return {
        "count": _count(row),
        "total": _time(row["total_ns"]),
        "FLO": quantity_text(_number(details.get("computation_flo"))),
        "FLO/s": quantity_text(_number(details.get("flo_per_s"))),
        "moved": size_text(memory if isinstance(memory := details.get("memory_bytes"), int) else None),
        "share": _share(row),
    }


def _details(row: Row) -> Row:
    info = row["info"]
    return info if isinstance(info, dict) else {}


def _count(row: Row) -> str:
    return count_text(row["count"] if isinstance(row["count"], int) else None)


def _time(value: object) -> str:
    return time_text(value) if isinstance(value, int) else "-"


def _share(row: Row) -> str:
    return share_text(row["share"], 1) if isinstance(row["share"], float) else "-"


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def _name(row: Row, width: int) -> str:
    if "track" in row:
        track = shortened(str(row["track"]).split(" (")[0], width // 2)
        return f"{track}: {shortened(str(row['name']), width - len(track) - 2)}"
    shapes = _details(row).get("input_shapes")
    known = [str(shape).replace(" ", "") for shape in shapes if shape] if isinstance(shapes, list) else []
    return shortened(f"{row['name']} {' '.join(known)}" if known else str(row["name"]), width)
