"""`memory_flow.svg`: which block of memory lies where and how long, as a drawing that a browser shows whole.

Each device has a panel: the curve of its live bytes above, its blocks below, time to the right. A block is a rectangle;
its height is its size, its colour how long it lives, and its tooltip says what it is. Blocks lie at their addresses,
without the ranges that none ever uses, or packed where the source tells no addresses. Of more than `MOST_DRAWN` blocks
those of the largest area are drawn, and the drawing says so.

The attributes are those of MegEngine's drawing of that name (see `importers.megengine_memory_flow`), exact, with
`device` and `op` besides: imported again, the lives of the drawn blocks are equal.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from laptime.analyses.memory import LiveBytes, highest, live_bytes
from laptime.errors import LaptimeError
from laptime.exports.memory_flow_layout import Floats, by_address, has_addresses, packed
from laptime.exports.outputs import open_output
from laptime.exports.svg import PALE, Scale, escaped, label, line, size_ticks, time_ticks
from laptime.model.arrays import IntArray
from laptime.model.quantities import size_text, time_text
from laptime.model.trace import Trace
from laptime.model.vocabulary import NULL

Row = dict[str, object]

MOST_DRAWN = 20_000
_LEFT, _RIGHT, _PLOT_WIDTH = 90, 30, 1000
_TITLE_HEIGHT, _LEGEND_HEIGHT = 34, 30
_CURVE_HEIGHT, _BLOCKS_HEIGHT, _GAP, _AXIS_HEIGHT = 130, 340, 18, 46
_WIDTH = _LEFT + _PLOT_WIDTH + _RIGHT
_LEAST_PX = 0.6
_TAG_SPACE = "https://megengine.org.cn"
_SOURCE_OP_ID = "megengine_op_id"
_LIVES = (
    (100_000, "#F2C14E", "under 100 µs"),
    (1_000_000, "#F08A4B", "under 1 ms"),
    (10_000_000, "#D9534F", "under 10 ms"),
    (100_000_000, "#A23B72", "under 100 ms"),
    (1_000_000_000, "#5B3A8C", "under 1 s"),
    (2**63, "#1F3A70", "longer"),
)
_OPEN_LIFE = ("#7A8B99", "begins before or ends after the recording")


def write_memory_flow(trace: Trace, target: Path) -> None:
    """Writes the drawing of one rank, compressed as the name says. Raises LaptimeError where no block is known."""
    curves = list(live_bytes(trace))
    if not curves:
        raise LaptimeError(
            "no blocks of memory were recorded",
            where=trace.source,
            remedy="record with profile_memory=True (PyTorch) or MegEngine's format memory_flow.svg",
        )
    panel = _CURVE_HEIGHT + _BLOCKS_HEIGHT + _GAP + _AXIS_HEIGHT
    height = _TITLE_HEIGHT + _LEGEND_HEIGHT + panel * len(curves)
    with open_output(target) as output:
        output.write(_head(trace, height).encode())
        for number, each in enumerate(curves):
            for part in _panel(trace, each, top=_TITLE_HEIGHT + _LEGEND_HEIGHT + number * panel):
                output.write(part.encode())
        output.write(b"</svg>\n")


def _head(trace: Trace, height: int) -> str:
    keys = [*(entry[1:] for entry in _LIVES), _OPEN_LIFE]
    legend, x = label(_LEFT, _TITLE_HEIGHT + 14, "lives"), _LEFT + 40.0
    for colour, title in keys:
        legend += f'<rect x="{x:.0f}" y="{_TITLE_HEIGHT + 4}" width="12" height="12" fill="{colour}"/>\n'
        legend += label(x + 17, _TITLE_HEIGHT + 14, title)
        x += 36 + 6.6 * len(title)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:tag="{_TAG_SPACE}" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif">\n'
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>\n'
        + label(_LEFT, 22, f"Memory of {trace.source}", size=16)
        + legend
    )


# ---- a device ----


@dataclass(frozen=True)
class _Axes:
    """Pixels of a device's panel."""

    time: Scale
    bytes: Scale
    blocks_top: int
    blocks_bottom: int

    @staticmethod
    def of(curve: LiveBytes, top: int) -> _Axes:
        """Axes that hold all of a device's curve."""
        top += 20
        time = Scale(int(curve.times[0]), int(curve.times[-1]), _LEFT, _LEFT + _PLOT_WIDTH)
        bottom = top + _CURVE_HEIGHT - 20
        levels = Scale(0, max(curve.peak[0], 1), bottom, top)
        return _Axes(time, levels, bottom + _GAP, bottom + _GAP + _BLOCKS_HEIGHT)


def _panel(trace: Trace, curve: LiveBytes, *, top: int) -> Iterator[str]:
    axes = _Axes.of(curve, top)
    peak, at = curve.peak
    name = "" if curve.device is None else f"{curve.device}: "
    yield label(
        _LEFT, top + 12, f"{name}live bytes; most {size_text(peak)} at {time_text(at)}, {len(curve.rows):,} blocks"
    )
    yield from _curve(curve, axes)
    yield from _blocks(trace, curve, axes)
    x = axes.time(at)
    yield line(x, axes.bytes.to_px, x, axes.blocks_bottom, colour="#C00000", dashes="4 3")
    for time, text in time_ticks(axes.time.low, axes.time.high, at_most=10):
        x = axes.time(time)
        yield line(x, axes.blocks_bottom, x, axes.blocks_bottom + 5)
        yield label(x, axes.blocks_bottom + 18, text, anchor="middle", size=11)
    yield label(_LEFT + _PLOT_WIDTH / 2, axes.blocks_bottom + 34, "time", anchor="middle")


def _curve(curve: LiveBytes, axes: _Axes) -> Iterator[str]:
    for value, text in size_ticks(0, axes.bytes.high, at_most=7):
        y = axes.bytes(value)
        yield line(_LEFT, y, _LEFT + _PLOT_WIDTH, y, colour=PALE)
        yield label(_LEFT - 8, y + 4, text, anchor="end", size=11)
    base = axes.bytes.from_px
    points = " ".join(
        f"{_LEFT + column},{axes.bytes(level):.1f} {_LEFT + column + 1},{axes.bytes(level):.1f}"
        for column, level in enumerate(highest(curve.times, curve.levels, columns=_PLOT_WIDTH))
    )
    yield f'<polygon points="{_LEFT},{base:.1f} {points} {_LEFT + _PLOT_WIDTH},{base:.1f}" fill="#9DB4C8"/>\n'
    yield line(_LEFT, base, _LEFT + _PLOT_WIDTH, base)


# ---- blocks ----


def _blocks(trace: Trace, curve: LiveBytes, axes: _Axes) -> Iterator[str]:
    table = trace.table("allocations")
    table.load("address", "size_bytes", "start_ns", "end_ns")
    rows = _largest(curve, table["size_bytes"], table["start_ns"], table["end_ns"])
    size, start, end = (table[key][rows] for key in ("size_bytes", "start_ns", "end_ns"))
    true_places = has_addresses(table["address"][rows])
    offset, total = by_address(table["address"][rows], size) if true_places else packed(size, start, end)
    what = "addresses, those never used left out" if true_places else "blocks, packed since no addresses are known"
    omitted = len(curve.rows) - len(rows)
    note = f"; {omitted:,} smaller or shorter blocks are not drawn" if omitted else ""
    yield label(_LEFT, axes.blocks_top - 4, f"{size_text(round(total))} of {what}{note}", size=11)
    yield f'<rect x="{_LEFT}" y="{axes.blocks_top}" width="{_PLOT_WIDTH}" height="{_BLOCKS_HEIGHT}" fill="#F4F5F7"/>\n'
    scale = Scale(0, max(round(total), 1), axes.blocks_bottom, axes.blocks_top)
    for value, text in size_ticks(0, scale.high, at_most=8):
        yield line(_LEFT - 5, scale(value), _LEFT, scale(value))
        yield label(_LEFT - 8, scale(value) + 4, text, anchor="end", size=11)
    yield '<g stroke="white" stroke-width="0.25">\n'
    for place, row in zip(_places(axes.time, scale, start, end, offset, size), _rows(trace, rows), strict=True):
        yield _block(place, row)
    yield "</g>\n"


def _largest(curve: LiveBytes, size: IntArray, start: IntArray, end: IntArray) -> IntArray:
    """Rows of the blocks to draw, in order."""
    rows = curve.rows
    if len(rows) <= MOST_DRAWN:
        return rows
    first, last = int(curve.times[0]), int(curve.times[-1])
    begins = np.where(start[rows] == NULL, first, start[rows])
    ends = np.where(end[rows] == NULL, last, end[rows])
    area = size[rows].astype(np.float64) * np.maximum(ends - begins, (last - first) / _PLOT_WIDTH)
    return np.sort(rows[np.argsort(-area, kind="stable")[:MOST_DRAWN]])


def _places(
    time: Scale, scale: Scale, start: IntArray, end: IntArray, offset: Floats, size: IntArray
) -> Iterator[tuple[float, float, float, float]]:
    """x, y, width and height of each block; at least `_LEAST_PX` each way, so that none vanishes."""
    span = max(time.high - time.low, 1)
    left = np.where(start == NULL, _LEFT, _LEFT + (start - time.low) / span * _PLOT_WIDTH)
    right = np.where(end == NULL, _LEFT + _PLOT_WIDTH, _LEFT + (end - time.low) / span * _PLOT_WIDTH)
    height = size / scale.high * _BLOCKS_HEIGHT
    bottom = scale.from_px - offset / scale.high * _BLOCKS_HEIGHT
    wide, high = np.maximum(right - left, _LEAST_PX), np.maximum(height, _LEAST_PX)
    columns = (left, bottom - high, wide, high)
    yield from zip(*(column.tolist() for column in columns), strict=True)


def _rows(trace: Trace, rows: IntArray) -> Iterator[Row]:
    """The blocks with their operators."""
    names, infos = trace.ops.objects("name"), trace.ops.objects("info")
    for row in trace.table("allocations").arrow().take(rows).to_pylist():
        op = row["op_id"]
        group = None if op is None or infos[op] is None else json.loads(str(infos[op])).get(_SOURCE_OP_ID)
        yield {**row, "op": None if op is None else names[op], "group": group}


def _block(place: tuple[float, float, float, float], row: Row) -> str:
    x, y, width, height = place
    start, end = _known(row["start_ns"]), _known(row["end_ns"])
    life = None if start is None or end is None else end - start
    colour = _OPEN_LIFE[0] if life is None else next(entry[1] for entry in _LIVES if life < entry[0])
    address = row["address"]
    tags = {
        "type": "tensor",
        "name": row["name"],
        "address": hex(address) if isinstance(address, int) else None,
        "size": f"{row['size_bytes']}B",
        "layout": row["layout"],
        "produced": None if start is None else f"{start}ns",
        "erased": None if end is None else f"{end}ns",
        "duration": None if life is None else f"{life}ns",
        "group": row["group"],
        "device": row["device"],
        "op": row["op"],
    }
    told = "".join(f' tag:{key}="{escaped(value)}"' for key, value in tags.items() if value is not None)
    return (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" fill="{colour}"{told}>'
        f"<title>{escaped(_tooltip(row, start, end))}</title></rect>\n"
    )


def _tooltip(row: Row, start: int | None, end: int | None) -> str:
    """What, how much, when."""
    size = row["size_bytes"]
    since = "before the recording" if start is None else time_text(start)
    until = "its end" if end is None else time_text(end)
    life = "" if start is None or end is None else f" ({time_text(end - start)})"
    told = (row["name"], row["layout"], None if row["op"] is None else f"made by {row['op']}")
    lines = [str(text) for text in told if text is not None]
    return "\n".join([*lines, size_text(size if isinstance(size, int) else 0), f"from {since} to {until}{life}"])


def _known(value: object) -> int | None:
    return value if isinstance(value, int) else None
