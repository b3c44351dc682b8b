"""Memory over time as text for a terminal of 80 columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from laptime.analyses.memory import LiveBytes, Memory, highest
from laptime.cli.report_page import console
from laptime.cli.units import count_text, shortened, size_text, time_text

Json = dict[str, Any]

_OWNERS_SHOWN = 10
_CURVE_HEIGHT, _SCALE_WIDTH = 6, 11
_WIDEST_CURVE = 100
_NARROWEST_CURVE = 20
_EIGHTHS = " ▁▂▃▄▅▆▇█"


def show(memory: Memory, *, path: str, rank: str, how_to_record: str | None) -> None:
    """Prints the curve, the peak and its owners of each device, then the counters."""
    page = console()
    page.print(f"Memory of {shortened(path, 55)}{rank}", style="bold")
    result: Json = memory.as_json
    for device, curve in zip(result["devices"], memory.curves, strict=True):
        _show_device(page, device, curve)
    _show_counters(page, result["counters"])
    if not result["devices"] and not result["counters"]:
        page.print("Nothing about memory was recorded.")
        if how_to_record:
            page.print(f"To record it: {how_to_record}")


def _show_device(page: Console, device: Json, curve: LiveBytes) -> None:
    title = "" if device["device"] is None else f"{shortened(device['device'], 30)}: "
    page.print(
        f"{title}{count_text(device['allocations'])} blocks; most {size_text(device['peak_bytes'])} "
        f"at {time_text(device['peak_at_ns'])}; {size_text(device['end_bytes'])} at the end"
    )
    width = max(min(page.width - _SCALE_WIDTH, _WIDEST_CURVE), _NARROWEST_CURVE)
    for line in drawn(curve, width=width):
        page.print(line)
    _show_owners(page, device)


# ---- the curve ----


def drawn(curve: LiveBytes, *, width: int) -> list[str]:
    """The curve, the most of each column's time span; a scale of bytes at its left, of time below."""
    times, levels = curve.times, curve.levels
    if curve.end_ns is not None:  # its last level holds until there
        times, levels = np.append(times, curve.end_ns), np.append(levels, levels[-1])
    begin, end, peak = int(times[0]), int(times[-1]), int(levels.max())
    if peak <= 0 or end <= begin:
        return []
    most = highest(times, levels, columns=width)
    filled = [_ceil_share(int(level), peak, len(_EIGHTHS[1:]) * _CURVE_HEIGHT) for level in most]
    lines = []
    for row in reversed(range(_CURVE_HEIGHT)):
        label = size_text(peak) if row == _CURVE_HEIGHT - 1 else "0 B" if row == 0 else ""
        cells = "".join(_EIGHTHS[min(max(each - 8 * row, 0), 8)] for each in filled)
        lines.append(f"{label:>{_SCALE_WIDTH - 1}} {cells}".rstrip())
    left, right = time_text(begin), time_text(end)
    lines.append(" " * _SCALE_WIDTH + left + right.rjust(width - len(left)))
    return lines


def _ceil_share(part: int, whole: int, steps: int) -> int:
    """Steps that stand for a part; what is not nothing is at least one."""
    return -(-max(part, 0) * steps // whole)


# ---- tables ----


def _show_owners(page: Console, device: Json) -> None:
    owners = device["live_at_peak"]
    if not owners:
        return
    grid = Table(box=None, padding=(0, 2, 0, 0), header_style="")
    name_width = max(24, page.width - 47)
    grid.add_column("lives at the peak", no_wrap=True, width=name_width)
    grid.add_column("made by", no_wrap=True, width=14)
    for title in ("size", "from", "life"):
        grid.add_column(title, justify="right", no_wrap=True)
    for owner in owners[:_OWNERS_SHOWN]:
        start, end = owner["start_ns"], owner["end_ns"]
        grid.add_row(
            Text(shortened(owner["name"] or owner["layout"] or "-", name_width)),
            Text(shortened(owner["op"] or "-", 14)),
            size_text(owner["size_bytes"]),
            "before" if start is None else time_text(start),
            "-" if None in (start, end) else time_text(end - start),
        )
    page.print(grid)
    more = device["live_at_peak_count"] - len(owners[:_OWNERS_SHOWN])
    if more > 0:
        page.print(f"{more:,} more blocks live then; --json lists them")


def _show_counters(page: Console, counters: list[Json]) -> None:
    if not counters:
        return
    grid = Table(box=None, padding=(0, 2, 0, 0), header_style="")
    grid.add_column("counter", no_wrap=True, width=max(24, page.width - 44))
    for title in ("samples", "mean", "most", "at"):
        grid.add_column(title, justify="right", no_wrap=True)
    for counter in counters:
        is_bytes = counter["unit"] == "bytes"
        grid.add_row(
            Text(shortened(counter["name"], max(24, page.width - 44))),
            count_text(counter["samples"]),
            _amount(counter["mean_value"], is_bytes=is_bytes),
            _amount(counter["max_value"], is_bytes=is_bytes),
            time_text(counter["max_at_ns"]),
        )
    page.print(grid)


def _amount(value: float | None, *, is_bytes: bool) -> str:
    if value is None:
        return "-"
    return size_text(round(value)) if is_bytes else f"{value:.4g}"
