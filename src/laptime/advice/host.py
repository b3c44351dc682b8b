"""Rules on the host: it waits for the device, launches too slowly, or does something else meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from laptime.advice.draft import Draft, on_each_rank
from laptime.advice.finding import Finding, Value
from laptime.advice.results import RankResults, Results
from laptime.advice.weight import WORTH_TELLING, weigh
from laptime.analyses.budget import time_of_kind
from laptime.analyses.late_launches import LateGaps, median_pace_ns
from laptime.analyses.syncs import WaitGroup, wait_groups
from laptime.model.arrays import BoolArray, IntArray
from laptime.model.vocabulary import KIND_CODE, NULL

LATE = ("idle_sync_ns", "idle_launch_ns")
_PAUSE_PACES = 10
"""Times the usual time between launches from which the host does something else."""
_PAUSE_SHARE = 0.005
"""... and the least share of a step."""
_LOOP = 4
"""Times a pause from which a slice around it is the training loop, not what the host does in the pause."""
_SMALL_KERNEL_NS = 10_000


def host_sync(results: Results) -> Iterator[Finding]:
    """The host waits for a value of the device and comes back too late to keep it busy."""
    return on_each_rank(results, _host_sync)


def _host_sync(rank: RankResults) -> Iterator[Draft]:
    if rank.basis != "device" or rank.share(*LATE) < WORTH_TELLING:
        return
    gaps = rank.late_gaps
    waits = np.unique(gaps.wait_id[gaps.wait_id >= 0])
    if not len(waits):
        return
    saved = _saved_by_wait(rank, gaps, waits)
    for group in wait_groups(rank.trace, waits):
        own = saved[np.isin(waits, group.rows)].sum(axis=0)
        if 2 * min(int(np.count_nonzero(own)), len(group.rows)) < len(rank.steps):
            continue
        weight = weigh(own, rank.totals, most_ns=rank.mean_part(*LATE))
        if weight is None or not weight.counts:
            continue
        rows = group.rows
        per_step = len(rows) / len(rank.steps)
        yield Draft(
            rank,
            "host_sync",
            "host_sync",
            weight,
            LATE,
            values={"call": _call_text(group)},
            evidence=(
                Value("waits_per_step", per_step, "count"),
                Value("waited_per_step", group.total_ns // len(rank.steps), "ns"),
                Value("idle_after_waits", weight.saving_ns, "ns"),
            ),
            rows=rank.longest(rows),
            subject=f"{group.name} {group.op} {group.source}",
        )


def _saved_by_wait(rank: RankResults, gaps: LateGaps, waits: IntArray) -> IntArray:
    """For each wait and step what the step would save without it.

    That is late idle time after the wait and before the next one, within the time of a step, but no more than the wait
    lasted: so much earlier would the host have been.
    """
    ended = rank.trace.end_ns[np.maximum(gaps.wait_id, 0)]
    soon = gaps.start_ns - ended <= rank.mean_part("total_ns")
    known = np.flatnonzero((gaps.wait_id >= 0) & soon)
    place = np.searchsorted(waits, gaps.wait_id[known])
    late = (gaps.sync_ns + gaps.launch_ns)[known]
    idle = np.bincount(place, weights=late, minlength=len(waits))
    ratio = np.minimum(1.0, rank.trace.slices["dur_ns"][waits] / np.maximum(idle, 1))
    table = np.zeros((len(waits), len(rank.steps)), np.int64)
    np.add.at(table, (place, gaps.step[known]), (late * ratio[place]).astype(np.int64))
    return table


def _call_text(group: WaitGroup) -> str:
    return f"{group.name} in {group.op}" if group.op and group.op != group.name else group.name


# ---- launches ----


def launch_bound(results: Results) -> Iterator[Finding]:
    """The device runs out of work between launches: many small pieces of work, launched one by one."""
    return on_each_rank(results, _launch_bound)


def _launch_bound(rank: RankResults) -> Iterator[Draft]:
    if not _waits_for_launches(rank):
        return
    gaps, pauses = rank.late_gaps, _pauses(rank)
    chosen = ~pauses & (gaps.launch_ns > 0)
    weight = weigh(_launch_time(rank, chosen), rank.totals, most_ns=rank.mean_part("idle_launch_ns"))
    if weight is None or not weight.counts:
        return
    slices = rank.trace.slices
    work = rank.device_rows[rank.step_of(rank.device_rows) >= 0]
    kernels = work[slices["kind"][work] == KIND_CODE["kernel"]]
    longest = np.flatnonzero(chosen)[np.argsort(-gaps.launch_ns[chosen], kind="stable")[:3]]
    evidence = [
        Value("gaps_per_step", np.count_nonzero(chosen) / len(rank.steps), "count"),
        Value("device_slices_per_step", len(work) / len(rank.steps), "count"),
    ]
    if len(kernels):
        median = int(np.median(slices["dur_ns"][kernels]))
        small = np.count_nonzero(slices["dur_ns"][kernels] < _SMALL_KERNEL_NS) / len(kernels)
        evidence += [Value("median_kernel", median, "ns"), Value("kernels_below_10us", small, "share")]
    if (pace := median_pace_ns(rank.trace, rank.spans)) is not None:
        evidence.append(Value("median_between_launches", pace, "ns"))
    yield Draft(
        rank,
        "launch_bound",
        "launch_bound",
        weight,
        ("idle_launch_ns",),
        evidence=tuple(evidence),
        rows=gaps.slice_id[longest],
        at_most=_on_cpu(rank),
    )


def host_busy(results: Results) -> Iterator[Finding]:
    """The host does something else while the device has nothing to do."""
    return on_each_rank(results, _host_busy)


def _host_busy(rank: RankResults) -> Iterator[Draft]:
    if not _waits_for_launches(rank):
        return
    gaps = rank.late_gaps
    chosen = _pauses(rank) & (gaps.launch_ns > 0)
    weight = weigh(_launch_time(rank, chosen), rank.totals, most_ns=rank.mean_part("idle_launch_ns"))
    if weight is None or not weight.counts:
        return
    longest = np.flatnonzero(chosen)[np.argsort(-gaps.launch_ns[chosen], kind="stable")[:3]]
    doing = _meanwhile(rank, gaps, int(longest[0]))
    rows = [doing] if doing is not None else []
    yield Draft(
        rank,
        "host_busy",
        "host_busy",
        weight,
        ("idle_launch_ns",),
        values={"name": rank.name_of(doing)} if doing is not None else {},
        title_kinds=("named",) if doing is not None else (),
        evidence=(
            Value("pauses_per_step", np.count_nonzero(chosen) / len(rank.steps), "count"),
            Value("longest_pause", int(gaps.launch_ns[longest[0]]), "ns"),
        ),
        rows=np.array([*rows, *gaps.slice_id[longest].tolist()], np.int64),
        at_most=_on_cpu(rank),
    )


def _waits_for_launches(rank: RankResults) -> bool:
    return rank.basis == "device" and rank.share("idle_launch_ns") >= WORTH_TELLING


def _on_cpu(rank: RankResults) -> str | None:
    """On the CPU late launches say little: the loop and the kernels share its cores, and nothing is launched far."""
    return "info" if rank.runs_on_cpu else None


def _pauses(rank: RankResults) -> BoolArray:
    """Late gaps before which the host launched nothing for much longer than usual."""
    gaps = rank.late_gaps
    pace = median_pace_ns(rank.trace, rank.spans) or 0
    least = max(_PAUSE_PACES * pace, _PAUSE_SHARE * rank.mean_part("total_ns"))
    return np.asarray((gaps.since_launch_ns > least) | (gaps.since_launch_ns < 0))


def _launch_time(rank: RankResults, chosen: BoolArray) -> IntArray:
    """Late time of some gaps by step, without what compiling takes of them."""
    gaps, thread = rank.late_gaps, rank.trace.main_thread
    time = gaps.launch_ns[chosen]
    if thread is not None:
        compiling = time_of_kind(rank.trace, "compile", thread).within(gaps.start_ns[chosen], gaps.end_ns[chosen])
        time = np.maximum(time - compiling, 0)
    by_step = np.zeros(len(rank.steps), np.int64)
    np.add.at(by_step, gaps.step[chosen], time)
    return by_step


def _meanwhile(rank: RankResults, gaps: LateGaps, place: int) -> int | None:
    """The innermost slice that takes at least half of a pause on the launching thread; None without one."""
    call = int(gaps.call_id[place])
    if call < 0:
        return None
    slices, ends = rank.trace.slices, rank.trace.end_ns
    last = int(slices["start_ns"][call])
    since = int(gaps.since_launch_ns[place])
    first = max(int(gaps.start_ns[place]), last - since) if since >= 0 else int(gaps.start_ns[place])
    if first >= last:
        return None
    begin, end = np.searchsorted(slices["track_id"], [slices["track_id"][call], slices["track_id"][call] + 1])
    rows = np.arange(begin, end)
    rows = rows[(slices["start_ns"][rows] < last) & (ends[rows] > first) & (slices["dur_ns"][rows] != NULL)]
    rows = rows[~np.isin(slices["kind"][rows], [KIND_CODE["step"], KIND_CODE["launch"]])]
    inside = np.minimum(ends[rows], last) - np.maximum(slices["start_ns"][rows], first)
    around = slices["dur_ns"][rows] > _LOOP * (last - first)
    taking = np.flatnonzero((2 * inside >= last - first) & ~around)
    return int(rows[taking[np.argmax(slices["depth"][rows[taking]])]]) if len(taking) else None
