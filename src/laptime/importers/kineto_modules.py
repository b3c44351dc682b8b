"""Ranges that laptime's recorder puts around modules in PyTorch's recordings.

The hooks that begin and end a module's backward pass run inside the engine's own range of a node, `evaluate_function`.
A range that outlasts it is moved to its start, so that ranges nest as the modules do.
"""

from __future__ import annotations

import numpy as np

from laptime.model.arrays import BoolArray, IntArray
from laptime.model.builder import TraceBuilder

_RANGE, _BACKWARD = "module: ", " (backward)"
_NODE = "autograd::engine::evaluate_function: "


def fit_backward_ranges(builder: TraceBuilder) -> None:
    """Ends and starts of backward ranges go to the start of the node's range that they fall into and outlast."""
    names = builder.names.texts
    if not any(text.startswith(_RANGE) and text.endswith(_BACKWARD) for text in names):
        return
    columns = {name: builder.slices.joined(name) for name in ("name", "track", "start", "dur")}
    is_range = np.array([text.startswith(_RANGE) and text.endswith(_BACKWARD) for text in names], bool)
    is_node = np.array([text.startswith(_NODE) for text in names], bool)
    start, end = columns["start"].astype(np.int64), columns["start"] + columns["dur"]
    timed = columns["dur"] >= 0
    ranges, nodes = timed & is_range[columns["name"]], timed & is_node[columns["name"]]
    for track in np.unique(columns["track"][ranges]).tolist():
        on_track = columns["track"] == track
        _fit(start, end, np.flatnonzero(ranges & on_track), np.flatnonzero(nodes & on_track))
    builder.slices.replace("start", start)
    builder.slices.replace("dur", np.where(timed, end - start, columns["dur"]))


def _fit(start: IntArray, end: IntArray, ranges: IntArray, nodes: IntArray) -> None:
    """Of the ranges and nodes of one track; changes start and end."""
    nodes = nodes[np.argsort(start[nodes], kind="stable")]
    first, last = start[nodes], end[nodes]
    begins, ends = start[ranges], end[ranges]
    around_begin, inside_begin = _holding(first, last, begins)
    around_end, inside_end = _holding(first, last, ends)
    if not len(nodes):
        return
    outlasts = inside_begin & (ends > last[around_begin])
    comes_in = inside_end & (begins < first[around_end])
    start[ranges] = np.where(outlasts, first[around_begin], begins)
    end[ranges] = np.where(comes_in, first[around_end], ends)


def _holding(first: IntArray, last: IntArray, times: IntArray) -> tuple[IntArray, BoolArray]:
    """The last of some spans that begins before each time, and whether it holds the time; spans do not overlap."""
    place = np.searchsorted(first, times, side="right") - 1
    inside = (place >= 0) & (times <= last[np.maximum(place, 0)]) if len(first) else np.zeros(len(times), bool)
    return np.maximum(place, 0), inside
