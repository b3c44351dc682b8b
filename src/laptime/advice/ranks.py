"""Rules on several ranks: one that comes late, pipeline stages of unequal work, links off the mean."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from statistics import median

import numpy as np

from laptime.advice.communication import EXPOSED, collectives
from laptime.advice.draft import Draft, as_finding
from laptime.advice.finding import Finding, Value
from laptime.advice.results import RankResults, Results
from laptime.advice.texts.wording import Text
from laptime.advice.weight import weigh
from laptime.model.arrays import IntArray
from laptime.model.quantities import share_text, time_text

OWN_PARTS = (
    "compute_ns",
    "copy_exposed_ns",
    "idle_data_wait_ns",
    "idle_sync_ns",
    "idle_launch_ns",
    "idle_other_ns",
)
"""Parts of a step in which a rank may spend more time than others before it comes to a collective."""
_UNEQUAL = 0.1
"""Share by which the busiest stage must be above the mean."""
_SLOW_LINK = 0.2
"""Share by which a link must be below the median of its type."""


def slow_rank(results: Results) -> Iterator[Finding]:
    """One rank comes late to collectives, and the others wait for it."""
    for peers in results.peers:
        known = [rank for rank in peers if rank.budget is not None]
        if len(known) > 1:
            yield from map(as_finding, _slow_rank(known))


def _slow_rank(ranks: list[RankResults]) -> Iterator[Draft]:
    late = min(ranks, key=lambda rank: rank.mean_part(*EXPOSED))
    others = sorted((rank for rank in ranks if rank is not late), key=lambda rank: rank.mean_part(*EXPOSED))
    waiting = others[len(others) // 2]
    weight = weigh(*_waited(waiting, late), most_ns=waiting.mean_part(*EXPOSED))
    if weight is None or not weight.counts:
        return
    more = {part: late.mean_part(part) - _mean(rank.mean_part(part) for rank in others) for part in OWN_PARTS}
    part = max(more, key=lambda name: more[name])
    named = more[part] * 2 >= weight.saving_ns
    yield Draft(
        late,
        "slow_rank",
        "unbalanced_ranks",
        weight,
        EXPOSED,
        values={
            "rank": str(late.rank),
            **({"part": Text(f"part.{part}"), "more": time_text(more[part])} if named else {}),
        },
        title_kinds=("named",) if named else (),
        evidence=(
            Value("communication_of_late_rank", late.mean_part(*EXPOSED), "ns"),
            Value("communication_of_others", _mean(rank.mean_part(*EXPOSED) for rank in others), "ns"),
            *([Value("more_before", more[part], "ns")] if named else []),
        ),
        rows=_shown(late, part if named else ""),
        sure=_all_recorded(late, ranks),
    )


def _waited(waiting: RankResults, late: RankResults) -> tuple[IntArray, IntArray]:
    """How much longer one rank communicates than the late one, and its time, in each step that both have.

    Where their steps have no number in common, than the late one does on average.
    """
    least = dict(zip((step["step"] for step in late.steps), late.part(*EXPOSED).tolist(), strict=True))
    exposed, mean = waiting.part(*EXPOSED), late.mean_part(*EXPOSED)
    numbers = [step["step"] for step in waiting.steps]
    common = np.flatnonzero([number in least for number in numbers])
    places = common if len(common) else np.arange(len(numbers))
    others = np.array([least.get(numbers[place], mean) for place in places], np.int64)
    return np.maximum(exposed[places] - others, 0), waiting.totals[places]


def _shown(late: RankResults, part: str) -> IntArray:
    if part == "idle_data_wait_ns":
        return late.longest(late.rows_in_steps("data", thread=late.trace.main_thread))
    rows = collectives(late) if late.basis == "device" else late.rows_in_steps("communication")
    return late.longest(rows)


def _all_recorded(rank: RankResults, ranks: list[RankResults]) -> bool:
    """Whether no rank of the job is missing that may be the one all wait for."""
    size = rank.trace.meta.get("world_size")
    return not isinstance(size, int) or size <= len(ranks)


def _mean(values: Iterator[int]) -> int:
    listed = list(values)
    return sum(listed) // len(listed)


# ---- pipeline stages ----


def stage_imbalance(results: Results) -> Iterator[Finding]:
    """Stages of a pipeline compute for different times; the others wait for the longest."""
    by_stage: dict[int, list[RankResults]] = defaultdict(list)
    for rank in results.ranks:
        if rank.stage is not None and _computed(rank) is not None:
            by_stage[rank.stage].append(rank)
    if len(by_stage) > 1:
        yield from map(as_finding, _imbalance(by_stage, results))


def _imbalance(by_stage: Mapping[int, list[RankResults]], results: Results) -> Iterator[Draft]:
    computed = {stage: _mean(_computed(rank) or 0 for rank in ranks) for stage, ranks in sorted(by_stage.items())}
    longest = max(computed, key=lambda stage: computed[stage])
    even = sum(computed.values()) // len(computed)
    rank = max(by_stage[longest], key=lambda each: _computed(each) or 0)
    total = _step_time(rank)
    if total is None or computed[longest] < (1 + _UNEQUAL) * even:
        return
    weight = weigh(np.array([computed[longest] - even], np.int64), np.array([total], np.int64))
    if weight is None or not weight.counts:
        return
    stages = results.report["run"]
    shares = stages.get("pipeline_stages") if isinstance(stages, dict) else None
    between = [Value("between_stages", shares["between_stages_share"], "share")] if shares else []
    yield Draft(
        rank,
        "stage_imbalance",
        "unbalanced_ranks",
        weight,
        ("compute_ns",) if rank.budget is not None else (),
        values={
            "stage": str(longest + 1),
            "longest": time_text(computed[longest]),
            "others": time_text(_mean(value for stage, value in computed.items() if stage != longest)),
        },
        evidence=(
            *(Value("compute_of_stage", value, "ns", {"stage": str(stage + 1)}) for stage, value in computed.items()),
            *between,
        ),
        rows=rank.longest(collectives(rank)) if rank.budget is not None else np.empty(0, np.int64),
    )


def _computed(rank: RankResults) -> int | None:
    """Time that a rank computes in a step, by its budget or by what the source tells of its stage."""
    if rank.budget is not None:
        return rank.mean_part("compute_ns")
    told = rank.trace.meta.get("cluster")
    mean = told.get("mean") if isinstance(told, dict) else None
    value = mean.get("computation_ns") if isinstance(mean, dict) else None
    return value if isinstance(value, int) else None


def _step_time(rank: RankResults) -> int | None:
    if rank.budget is not None:
        return rank.mean_part("total_ns")
    average = rank.step_trace.average if rank.trace.steps.row_count else None
    total = average["total_ns"] if average else None
    return total if isinstance(total, int) else None


# ---- links ----


def slow_link(results: Results) -> Iterator[Finding]:
    """A link between two devices carries less than the others of its type, where the source measures links."""
    speeds: dict[str, list[tuple[float, str, RankResults]]] = defaultdict(list)
    for rank in results.ranks:
        for kind, link, speed in _links(rank):
            speeds[kind].append((speed, link, rank))
    for kind, found in speeds.items():
        mean = sum(speed for speed, _, _ in found) / len(found)
        speed, link, rank = min(found, key=lambda each: each[0])
        if len(found) > 2 and speed < (1 - _SLOW_LINK) * median(each[0] for each in found):
            yield as_finding(
                Draft(
                    rank,
                    "slow_link",
                    "unbalanced_ranks",
                    None,
                    values={"link": link, "type": kind, "below": share_text(1 - speed / mean, 1)},
                    evidence=(Value("link_speed", speed, "byte/s"), Value("mean_link_speed", mean, "byte/s")),
                    subject=kind,
                )
            )


def _links(rank: RankResults) -> Iterator[tuple[str, str, float]]:
    """Type, ends and bytes per second of the links to other devices, over all steps."""
    told = rank.trace.meta.get("hccl")
    steps = told.get("steps") if isinstance(told, dict) else None
    sums: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for step in steps if isinstance(steps, list) else []:
        for link, kinds in (step.get("links") or {}).items():
            source, _, target = link.partition("-")
            for kind, row in kinds.items() if source != target else ():
                sums[kind, link][0] += float(row[0])
                sums[kind, link][1] += float(row[1])
    for (kind, link), (milliseconds, kilobytes) in sums.items():
        if milliseconds > 0:
            yield kind, link, 1e6 * kilobytes / milliseconds
