"""`cpu_ms_memory_record_{id}.txt`: totals of the allocator, `Timestamp(ns),Total Allocated(Byte),...`.

The file grows over the windows of a schedule: each repeats the rows of those before it. Rows older than the window,
whose beginning its folder's name tells in local time (`{host}_{pid}_{YYYYmmddHHMMSSmmm}_ascend_ms`), belong to others.
"""

from __future__ import annotations

import csv
import re
from datetime import datetime, timezone

import numpy as np

from laptime.model.arrays import IntArray
from laptime.model.builder import TraceBuilder
from laptime.model.tracks import TrackKey

_TIME = "Timestamp(ns)"
_COLUMNS = {"Total Allocated(Byte)": "allocated", "Total Reserved(Byte)": "reserved", "Total Active(Byte)": "active"}
_NUMBER = re.compile(r"\d{1,18}|[1-7]\d{18}", re.ASCII)
_WINDOW = re.compile(r"_(\d{14})(\d{3})_ascend_ms$", re.ASCII)
_ZONE_NS = 15 * 60 * 10**9
"""Time zones differ by multiples of this."""


def add_memory(text: str, folder_name: str, starts: IntArray, builder: TraceBuilder) -> None:
    """Adds the rows of this window as counters, a track per column."""
    rows, unreadable = _read(text)
    builder.read += len(rows) + unreadable
    builder.drop("unreadable", unreadable)
    builder.warnings.add("other", "rows of the memory record that cannot be read; dropped", unreadable)
    begins = _window_start(folder_name, int(starts[0])) if len(starts) else None
    kept = rows if begins is None or not len(rows) else rows[rows[:, 0] >= begins]
    builder.drop("repeated", len(rows) - len(kept))
    for place, title in enumerate(_COLUMNS.values(), start=1):
        key = TrackKey("counter", "", "", name=f"{title} bytes of cpu", unit="bytes")
        if len(kept):
            columns = {
                "track": np.full(len(kept), builder.tracks.code(key)),
                "ts": kept[:, 0],
                "value": kept[:, place].astype(np.float64),
            }
            builder.counters.append(len(kept), columns)


def _read(text: str) -> tuple[IntArray, int]:
    found, unreadable = [], 0
    rows = csv.reader(text.splitlines())
    try:
        header = next(rows, [])
        places = [header.index(column) if column in header else len(header) for column in (_TIME, *_COLUMNS)]
        for row in rows:
            fields = [row[place] if place < len(row) else "" for place in places]
            if not row:  # a blank line
                continue
            if all(_NUMBER.fullmatch(field) for field in fields):
                found.append([int(field) for field in fields])
            else:
                unreadable += 1
    except csv.Error:
        unreadable += 1
    return np.array(found, np.int64).reshape(-1, 1 + len(_COLUMNS)), unreadable


def _window_start(folder_name: str, first_start: int) -> int | None:
    """Beginning of the window in ns of the epoch, in the time zone that puts the first operator nearest to it."""
    match = _WINDOW.search(folder_name)
    if match is None:
        return None
    try:
        local = datetime.strptime(match[1], "%Y%m%d%H%M%S").replace(tzinfo=timezone.utc)
    except ValueError:
        return None
    begins = int(local.timestamp()) * 10**9 + int(match[2]) * 10**6
    return begins + (first_start - begins + _ZONE_NS // 2) // _ZONE_NS * _ZONE_NS
