"""How long training waited for data: in each step by its main thread, or for each batch by the dataset engine.

Definitions: docs/definitions.md, "Data pipeline".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.analyses.budget import StepSpans
from laptime.analyses.intervals import union
from laptime.analyses.pipeline_stages import named
from laptime.model.arrays import BoolArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import KIND_CODE, NULL

_OWN_WAIT = "next batch"
"""Waits that laptime's recorder measured."""


@dataclass(frozen=True)
class RecordedWaits:
    """What the dataset engine measured of each batch; `fetched` from the chip's queue, else from the host's."""

    fetched: bool
    wait_ns: list[int]
    push_ns: list[int]
    total_ns: list[int]


@dataclass(frozen=True)
class LoaderWaits:
    """Waits of the main thread inside each step, and batches asked for in all of them."""

    wait_ns: list[int]
    batches: int


def is_watched(trace: Trace) -> bool:
    """Whether laptime recorded it, whose own waits are those of all windows."""
    return trace.meta.get("format") == "laptime"


def recorded_waits(trace: Trace) -> RecordedWaits | None:
    """Waits that the dataset engine measured itself."""
    facts = trace.meta.get("minddata")
    if not isinstance(facts, dict):
        return None
    fetched, told = facts.get("fetch_wait_ns"), facts.get("batches")
    batches = told if isinstance(told, dict) else {}
    waits = fetched or batches.get("wait_ns")
    if not waits:
        return None
    return RecordedWaits(bool(fetched), waits, batches.get("push_ns") or [], batches.get("total_ns") or [])


def loader_waits(trace: Trace) -> LoaderWaits | None:
    """Data slices of the main thread inside steps: laptime's own where it watched the loader, else PyTorch's."""
    thread = trace.main_thread
    spans = StepSpans.of(trace)
    if thread is None or not len(spans.start):
        return None
    on_thread = trace.slices["track_id"] == thread
    data = on_thread & (trace.slices["kind"] == KIND_CODE["data"]) & (trace.slices["dur_ns"] != NULL)
    own = data & named(trace, _OWN_WAIT)
    data = own if own.any() else data
    if not data.any():
        return None
    waits = union(trace.slices["start_ns"][data], trace.end_ns[data])
    start = trace.slices["start_ns"][data & ~_inside(trace, data)]
    batches = int(np.count_nonzero((start >= spans.start.min()) & (start < spans.end.max())))
    return LoaderWaits(waits.within(spans.start, spans.end).tolist(), batches)


def _inside(trace: Trace, chosen: BoolArray) -> BoolArray:
    """Whether the slice around each slice is one of the chosen: stages of a loader lie in the wait for its batch."""
    parent = trace.slices["parent_id"]
    return np.asarray((parent != NULL) & chosen[np.where(parent == NULL, 0, parent)])
