"""How long training waited for data: in each step by its main thread, or for each batch by the dataset engine.

Definitions: docs/definitions.md, "Data pipeline".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.analyses.budget import StepSpans
from laptime.analyses.intervals import union
from laptime.analyses.parts import WHOLE, Part
from laptime.analyses.pipeline_stages import named
from laptime.analyses.ranges import chosen_steps
from laptime.model.arrays import BoolArray, IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import KIND_CODE, NULL

_OWN_WAIT = "next batch"
"""Waits that laptime's recorder measured."""


@dataclass(frozen=True)
class RecordedWaits:
    """What the dataset engine measured of each batch; `fetched` from the chip's queue, else from the host's."""

    fetched: bool
    step: list[int]
    """Batch n belongs to step n."""
    wait_ns: list[int]
    push_ns: list[int | None]
    total_ns: list[int | None]
    first_ns: int | None
    """The wait for the first batch, for which workers start; None where the part does not hold it."""
    later_ns: list[int]
    """Waits that count: the others, or the only one of the recording."""


@dataclass(frozen=True)
class LoaderWaits:
    """Waits of the main thread inside each step, and batches asked for in all of them."""

    step: list[int]
    wait_ns: list[int]
    batches: int


def is_watched(trace: Trace) -> bool:
    """Whether laptime recorded it, whose own waits are those of all windows."""
    return trace.meta.get("format") == "laptime"


def recorded_waits(trace: Trace, part: Part = WHOLE) -> RecordedWaits | None:
    """Waits that the dataset engine measured itself; None where it measured none of the part."""
    facts = trace.meta.get("minddata")
    if not isinstance(facts, dict):
        return None
    fetched, told = facts.get("fetch_wait_ns"), facts.get("batches")
    batches = told if isinstance(told, dict) else {}
    waits = fetched or batches.get("wait_ns") or []
    places = _batches_in(trace, part, len(waits))
    if not len(places):
        return None
    counted = places[places > 0] if len(waits) > 1 else places
    return RecordedWaits(
        fetched=bool(fetched),
        step=(places + 1).tolist(),
        wait_ns=[waits[place] for place in places],
        push_ns=_at(places, batches.get("push_ns")),
        total_ns=_at(places, batches.get("total_ns")),
        first_ns=waits[0] if places[0] == 0 else None,
        later_ns=[waits[place] for place in counted],
    )


def _batches_in(trace: Trace, part: Part, count: int) -> IntArray:
    """Places of the batches of a part, of so many."""
    places = np.arange(count)
    return places if part.is_whole else places[np.isin(places + 1, trace.steps["step"][chosen_steps(trace, part)])]


def _at(places: IntArray, values: list[int] | None) -> list[int | None]:
    """Values at these places; unknown where there are fewer."""
    known = values or []
    return [known[place] if place < len(known) else None for place in places]


def loader_waits(trace: Trace, part: Part = WHOLE) -> LoaderWaits | None:
    """Data slices of the main thread inside steps: laptime's own where it watched the loader, else PyTorch's."""
    thread = trace.main_thread
    chosen = chosen_steps(trace, part)
    if thread is None or not len(chosen):
        return None
    on_thread = trace.slices["track_id"] == thread
    data = on_thread & (trace.slices["kind"] == KIND_CODE["data"]) & (trace.slices["dur_ns"] != NULL)
    own = data & named(trace, _OWN_WAIT)
    data = own if own.any() else data
    if not data.any():
        return None
    waits = union(trace.slices["start_ns"][data], trace.end_ns[data])
    spans = StepSpans.of(trace)
    place = _step_of_batch(trace.slices["start_ns"][data & ~_inside(trace, data)], spans)
    return LoaderWaits(
        step=trace.steps["step"][chosen].tolist(),
        wait_ns=waits.within(spans.start[chosen], spans.end[chosen]).tolist(),
        batches=int(np.count_nonzero(np.isin(place, chosen))),
    )


def _step_of_batch(start: IntArray, spans: StepSpans) -> IntArray:
    """Place of the step in which each batch is asked for, or that follows; -1 before the first and after the last."""
    place = np.searchsorted(np.maximum.accumulate(spans.end), start, side="right")
    return np.where((start >= spans.start.min()) & (place < len(spans.end)), place, -1)


def _inside(trace: Trace, chosen: BoolArray) -> BoolArray:
    """Whether the slice around each slice is one of the chosen: stages of a loader lie in the wait for its batch."""
    parent = trace.slices["parent_id"]
    return np.asarray((parent != NULL) & chosen[np.where(parent == NULL, 0, parent)])
