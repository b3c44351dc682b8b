"""The three operator tables of the prompt: their columns, how they are printed and written as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table
from rich.text import Text

from laptime.analyses.device_operators import Timed, ai_core_operators, ai_core_types, ai_cpu_executions
from laptime.analyses.selection import Row, Selected
from laptime.analyses.tensors import Tensor, tensors_of
from laptime.cli.report_page import console
from laptime.cli.units import clean, count_text, shortened
from laptime.errors import LaptimeError
from laptime.exports.outputs import open_output
from laptime.model.trace import Trace


@dataclass(frozen=True)
class OpTable:
    """A table that `op` lists."""

    titles: dict[str, str]
    """Columns by MindInsight's names, with what stands above them."""
    sort: str
    rows: Callable[[Trace], list[Row]]
    what: str
    """What a row is, in the plural."""
    note: str = ""


TABLES: dict[str, OpTable] = {
    "aicore_detail": OpTable(
        {
            "op_name": "op_name",
            "op_type": "op_type",
            "avg_execution_time": "avg_execution_time (ms)",
            "subgraph": "subgraph",
            "full_op_name": "full_op_name",
            "op_info": "op_info",
        },
        "avg_execution_time",
        ai_core_operators,
        "AI Core operators",
    ),
    "aicore_type": OpTable(
        {
            "op_type": "op_type",
            "execution_time": "execution_time (ms)",
            "execution_frequency": "execution_frequency",
            "percent": "percent (%)",
        },
        "execution_time",
        ai_core_types,
        "Types of AI Core operators",
        "execution_time sums the averages of the type's operators; execution_frequency\ncounts all its executions",
    ),
    "aicpu": OpTable(
        {
            "serial_number": "serial_number",
            "op_type": "op_type",
            "total_time": "total_time (ms)",
            "dispatch_time": "dispatch_time (ms)",
            "run_start": "run_start (us)",
            "run_end": "run_end (us)",
        },
        "total_time",
        ai_cpu_executions,
        "Executions on the AI CPU",
    ),
}
_TEXTS = frozenset({"op_name", "op_type", "subgraph", "full_op_name"})
_DECIMALS = {"percent": 2, "run_start": 0, "run_end": 0}


def show_rows(table: OpTable, chosen: Selected, *, known: int, title: str) -> None:
    """Prints the rows of a page, and how many there are."""
    page = console()
    page.print(Text(f"{table.what} of {title}"), style="bold")
    if not chosen.rows:
        page.print("None matches." if known else "None is recorded.")
        return
    if "full_op_name" in table.titles:
        _print_stacked(table, chosen.rows)
    else:
        _print_flat(table, chosen.rows)
    matching = "" if chosen.size == known else f" that match, {known:,} in all"
    page.print(f"{len(chosen.rows):,} of {chosen.size:,}{matching}")
    if table.note:
        page.print(table.note)


def _print_flat(table: OpTable, rows: Sequence[Row]) -> None:
    grid = Table(box=None, padding=(0, 1), pad_edge=False, header_style="")
    for name, title in table.titles.items():
        head = _in_two_lines(title) if len(table.titles) > _MOST_WIDE else title
        grid.add_column(head, justify="left" if name in _TEXTS else "right", no_wrap=True)
    for row in rows:
        grid.add_row(*(Text(_cell(row, name)) for name in table.titles))
    console().print(grid)


_MOST_WIDE = 4
"""Columns whose titles have room beside each other in 80 columns of text."""


def _in_two_lines(title: str) -> str:
    return title.replace(" (", "\n(").replace("serial_", "serial_\n")


_TYPE_WIDTH, _SUBGRAPH_WIDTH, _LEAST_NAME = 18, 9, 20


def _print_stacked(table: OpTable, rows: Sequence[Row]) -> None:
    """Three lines a row: full names and op_info have no room beside the rest."""
    page = console()
    title = table.titles["avg_execution_time"]
    name_width = max(_LEAST_NAME, page.width - _TYPE_WIDTH - _SUBGRAPH_WIDTH - len(title) - 6)

    def line(name: str, op_type: str, subgraph: str, time: str) -> Text:
        cells = (shortened(name, name_width), shortened(op_type, _TYPE_WIDTH), shortened(subgraph, _SUBGRAPH_WIDTH))
        widths = (name_width, _TYPE_WIDTH, _SUBGRAPH_WIDTH)
        left = "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
        return Text(f"{left}  {time:>{len(title)}}")

    page.print(line("op_name", "op_type", "subgraph", title))
    page.print(Text("    full_op_name\n    op_info"), style="dim")
    for row in rows:
        page.print(
            line(_cell(row, "op_name"), _cell(row, "op_type"), _cell(row, "subgraph"), _cell(row, "avg_execution_time"))
        )
        page.print(Text(f"    {shortened(_cell(row, 'full_op_name'), page.width - 4)}"), style="dim")
        page.print(Text(f"    {shortened(_tensors_text(row['op_info']), page.width - 4)}"), style="dim")


def _cell(row: Row, name: str) -> str:
    value = row[name]
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.{_DECIMALS.get(name, 6)}f}"
    return str(value) if isinstance(value, int) else clean(str(value))


def _tensors_text(info: object) -> str:
    """`FLOAT32[8,16], INT32[8] → FLOAT32[8]`."""
    tensors: dict[str, Tensor] = info if isinstance(info, dict) else {}
    sides = [
        ", ".join(
            f"{tensor['data_type'] or '?'}[{'?' if tensor['shape'] is None else tensor['shape']}]"
            for name, tensor in tensors.items()
            if name.startswith(side)
        )
        for side in ("input", "output")
    ]
    return f"{sides[0] or '-'} → {sides[1] or '-'}" if tensors else "-"


def write_rows(table: OpTable, rows: Sequence[Row], target: Path) -> None:
    """Writes rows as CSV; unknown is empty, `op_info` is JSON."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or "cannot be made"
        raise LaptimeError(reason, where=target.parent, remedy="give a folder that can be written") from None
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.titles.values())
    writer.writerows([_csv_cell(row[name]) for name in table.titles] for row in rows)
    with open_output(target) as output:
        output.write(text.getvalue().encode("utf-8", "replace"))


def _csv_cell(value: object) -> object:
    if isinstance(value, dict):
        return json.dumps(value)
    return f"{value:.6f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


def show_operator(op: Row, timed: Timed | None) -> None:
    """Prints one operator with its inputs and outputs."""
    page = console()
    page.print(Text(clean(str(op["full_name"] or op["name"]))), style="bold")
    known = (("op_name", op["name"]), ("op_type", op["op_type"]), ("subgraph", op["subgraph"]))
    for title, value in known:
        page.print(Text(f"{title}: {'-' if value is None else clean(str(value))}"))
    mean = "-" if timed is None or timed.mean_ns is None else f"{timed.mean_ns / 1e6:.6f} ms"
    executions = "" if timed is None or timed.count is None else f" ({count_text(timed.count)} executions)"
    page.print(f"avg_execution_time: {mean}{executions}")
    tensors = tensors_of(op)
    if not tensors:
        page.print("Inputs and outputs are not recorded.")
        return
    grid = Table(box=None, padding=(0, 2, 0, 0), header_style="")
    for title in ("", "format", "data_type", "shape"):
        grid.add_column(title, overflow="fold")
    for name, tensor in tensors.items():
        shape = "-" if tensor["shape"] is None else tensor["shape"] or "scalar"
        grid.add_row(name, *(Text(clean(tensor[key] or "-")) for key in ("format", "data_type")), Text(clean(shape)))
    page.print(grid)
