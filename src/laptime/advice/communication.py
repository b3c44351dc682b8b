"""Rules on collectives: those that run on the stream of the computation, and those that nothing hides."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from laptime.advice.draft import Draft, on_each_rank
from laptime.advice.finding import Finding, Value
from laptime.advice.results import RankResults, Results
from laptime.advice.weight import WORTH_TELLING, Weight, weigh
from laptime.analyses.intervals import intersect, subtract, union
from laptime.model.arrays import IntArray
from laptime.model.vocabulary import KIND_CODE

EXPOSED = ("communication_exposed_ns",)
_COMPUTES = 0.1
"""Share of a rank's kernel time from which a stream is one of computation."""
_MOST = 0.5
"""Share of the exposed communication from which where it runs is its cause."""


def serial_communication(results: Results) -> Iterator[Finding]:
    """Collectives run on the stream that computes, so that nothing can run beside them."""
    return on_each_rank(results, _serial)


def _serial(rank: RankResults) -> Iterator[Draft]:
    if rank.basis != "device" or rank.runs_on_cpu or rank.share(*EXPOSED) < WORTH_TELLING:
        return
    rows = _on_computing_streams(rank)
    weight = _serial_weight(rank, rows)
    if weight is None or not weight.counts:
        return
    yield Draft(
        rank,
        "serial_communication",
        "serial_communication",
        weight,
        EXPOSED,
        values={"stream": _stream_names(rank, rows)},
        evidence=_evidence(rank, rows),
        rows=rank.longest(rows),
    )


def _serial_weight(rank: RankResults, rows: IntArray) -> Weight | None:
    """What serial collectives cost; None where most of what is exposed runs elsewhere."""
    trace = rank.trace
    time = subtract(union(trace.slices["start_ns"][rows], trace.end_ns[rows]), rank.work.compute)
    saved = time.within(rank.spans.start, rank.spans.end)
    if saved.sum() < _MOST * rank.part(*EXPOSED).sum():
        return None
    return weigh(saved, rank.totals, most_ns=rank.mean_part(*EXPOSED))


def collectives(rank: RankResults) -> IntArray:
    """Collectives of devices that start in the steps."""
    rows = rank.device_rows[rank.trace.slices["kind"][rank.device_rows] == KIND_CODE["communication"]]
    inside: IntArray = rows[rank.step_of(rows) >= 0]
    return inside


def _on_computing_streams(rank: RankResults) -> IntArray:
    """Collectives on streams that hold a fair part of the computation too."""
    slices = rank.trace.slices
    rows = rank.device_rows[rank.step_of(rank.device_rows) >= 0]
    kernels = rows[slices["kind"][rows] == KIND_CODE["kernel"]]
    found = collectives(rank)
    if not len(kernels) or not len(found):
        return found[:0]
    by_track = np.bincount(slices["track_id"][kernels], weights=slices["dur_ns"][kernels])
    computing = np.flatnonzero(by_track >= _COMPUTES * by_track.sum())
    serial: IntArray = found[np.isin(slices["track_id"][found], computing)]
    return serial


def _stream_names(rank: RankResults, rows: IntArray) -> str:
    names = rank.trace.tracks.objects("name")
    return ", ".join(str(names[track]) for track in np.unique(rank.trace.slices["track_id"][rows]).tolist())


def _evidence(rank: RankResults, rows: IntArray) -> tuple[Value, ...]:
    slices, count = rank.trace.slices, len(rank.steps)
    time = rank.work.communication.within(rank.spans.start, rank.spans.end)
    hidden = intersect(rank.work.communication, rank.work.compute).within(rank.spans.start, rank.spans.end)
    return (
        Value("collectives_per_step", len(rows) / count, "count"),
        Value("communication_per_step", int(time.sum()) // count, "ns"),
        Value("overlapped_by_compute", float(hidden.sum() / time.sum()) if time.sum() else None, "share"),
        Value("longest_collective", int(slices["dur_ns"][rows].max()) if len(rows) else None, "ns"),
    )


def exposed_communication(results: Results) -> Iterator[Finding]:
    """Collectives that nothing hides; of ranks that are compared, what even the one that waits least loses."""
    known = [[rank for rank in peers if rank.budget is not None] for peers in results.peers]
    least = [min(peers, key=lambda rank: rank.mean_part(*EXPOSED)) for peers in known if peers]
    compared = any(len(peers) > 1 for peers in known)
    return on_each_rank(
        results,
        lambda rank: _exposed(rank, compared=compared) if rank in least else iter(()),
        counted=not compared,
    )


def _exposed(rank: RankResults, *, compared: bool) -> Iterator[Draft]:
    weight = weigh(rank.part(*EXPOSED), rank.totals, most_ns=rank.mean_part(*EXPOSED))
    if weight is None or not weight.counts:
        return
    on_device = rank.basis == "device"
    if on_device and not rank.runs_on_cpu and _serial_weight(rank, _on_computing_streams(rank)) is not None:
        return
    rows = collectives(rank) if on_device else rank.rows_in_steps("communication")
    yield Draft(
        rank,
        "exposed_communication",
        "exposed_communication",
        weight,
        EXPOSED,
        title_kinds=("compared",) if compared else (),
        evidence=_evidence(rank, rows)
        if on_device
        else (Value("collectives_per_step", len(rows) / len(rank.steps), "count"),),
        rows=rank.longest(rows),
    )
