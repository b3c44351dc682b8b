"""Rules on operators: those that do nothing useful, run on slow processors, take most of the time, or are not tuned."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator

import numpy as np

from laptime.advice.draft import Draft, on_each_rank
from laptime.advice.finding import Finding, Value
from laptime.advice.results import RankResults, Results
from laptime.advice.weight import weigh
from laptime.analyses.call_sites import OpTree, op_rows
from laptime.analyses.device import launch_of
from laptime.analyses.intervals import subtract, union
from laptime.analyses.processors import processor_of
from laptime.model.arrays import BoolArray, IntArray
from laptime.model.quantities import share_text
from laptime.model.vocabulary import KIND_CODE, PHASE_CODE

USELESS = frozenset(
    {
        "reshape",
        "view",
        "flatten",
        "squeeze",
        "unsqueeze",
        "transpose",
        "permute",
        "expand",
        "broadcast",
        "identity",
        "copy",
        "copy_",
        "clone",
        "contiguous",
        "to",
        "_to_copy",
        "cast",
        "typecvt",
        "typecvtv2",
        "addaxis",
        "removeaxis",
        "dimshuffle",
        "transdata",
    }
)
"""Types of operators that compute nothing: they change shape, type or place."""
USELESS_PARTS = ("compute_ns", "copy_exposed_ns", "idle_sync_ns", "idle_launch_ns")
_WITHIN = re.compile(r"DtoD|Device -> Device")
"""Names of copies that stay on their device."""
_MANY = 10
"""Such operators per step from which they are a chain."""
_MOST = 0.4
"""Share of the device's time from which one operator is worth a look."""
_KINDS = 5
"""Least number of operators among which one is worth a look."""
_NO_COMPUTATION = re.compile(
    r"\[|record_param_comms|c10d|.*(?:all.?reduce|all.?gather|reduce.?scatter|all.?to.?all|receive|send|nccl|hccl)",
    re.I,
)
"""Names of collectives; those in brackets are of no operator."""
_STRATEGY = "strategy"
_UNTUNED = "HEURISTIC"


def useless_operators(results: Results) -> Iterator[Finding]:
    """Operators that compute nothing run outside forward, backward and optimizer, one after the other."""
    return on_each_rank(results, _useless)


def _useless(rank: RankResults) -> Iterator[Draft]:
    if rank.basis != "device":
        return
    rows = _outside(rank)
    names = _type_names(rank, rows)
    rows = rows[np.array([name.lower() in USELESS for name in names], bool)] if len(rows) else rows
    if len(rows) < _MANY * len(rank.steps):
        return
    weight = weigh(_time_of(rank, rows), rank.totals, most_ns=rank.mean_part(*USELESS_PARTS))
    if weight is None or not weight.counts:
        return
    kinds = Counter(name for name in names if name.lower() in USELESS)
    yield Draft(
        rank,
        "useless_operators",
        "useless_ops",
        weight,
        USELESS_PARTS,
        values={
            "count": f"{len(rows) / len(rank.steps):.0f}",
            "names": ", ".join(name for name, _ in kinds.most_common(3)),
        },
        evidence=(
            Value("useless_per_step", len(rows) / len(rank.steps), "count"),
            Value("useless_device_time", int(rank.trace.slices["dur_ns"][rows].sum()) // len(rank.steps), "ns"),
        ),
        rows=rank.longest(rows),
    )


def _outside(rank: RankResults) -> IntArray:
    """Kernels, and copies within a device, that belong to no phase; none where the recording does not tell phases."""
    phase = rank.trace.slices["phase"]
    rows = rank.device_rows[rank.step_of(rank.device_rows) >= 0]
    if not np.any(phase[rows] == PHASE_CODE["backward"]):
        return rows[:0]
    rows = rows[phase[rows] < 0]
    copied = rank.trace.slices["kind"][rows] == KIND_CODE["copy"]
    within = [bool(_WITHIN.search(name)) for name in rank.trace.slices.texts("name")]
    kernel = rank.trace.slices["kind"][rows] == KIND_CODE["kernel"]
    chosen: IntArray = rows[kernel | (copied & np.array(within or [False], bool)[rank.trace.slices["name"][rows]])]
    return chosen


def _type_names(rank: RankResults, rows: IntArray) -> list[str]:
    """Type of the operator that launched each device slice, without its name space; else the slice's own name."""
    if not len(rows):
        return []
    trace = rank.trace
    ops = op_rows(trace)
    launch = launch_of(trace, rows)
    around = OpTree(trace, ops).op_around(np.maximum(launch, 0)) if len(ops) else np.full(len(rows), -1)
    shown = np.where((launch >= 0) & (around >= 0), ops[np.maximum(around, 0)] if len(ops) else rows, rows)
    names = trace.slices.texts("name")
    return [names[code].rpartition("::")[2] for code in trace.slices["name"][shown].tolist()]


def _alone(rank: RankResults, rows: IntArray) -> IntArray:
    """Time in which nothing but some device slices runs, by step."""
    start, end = rank.trace.slices["start_ns"], rank.trace.end_ns
    others = np.setdiff1d(rank.device_rows, rows)
    alone = subtract(union(start[rows], end[rows]), union(start[others], end[others]))
    return alone.within(rank.spans.start, rank.spans.end)


def _time_of(rank: RankResults, rows: IntArray) -> IntArray:
    """Time in which nothing but some device slices runs, and of the late gaps that they end, by step."""
    by_step = _alone(rank, rows)
    gaps = rank.late_gaps
    ended = np.isin(gaps.slice_id, rows)
    np.add.at(by_step, gaps.step[ended], (gaps.sync_ns + gaps.launch_ns)[ended])
    return by_step


# ---- processors ----


def ai_cpu_operators(results: Results) -> Iterator[Finding]:
    """Operators run on the AI CPU while nothing else runs."""
    return on_each_rank(results, _ai_cpu)


def _ai_cpu(rank: RankResults) -> Iterator[Draft]:
    rows = rank.device_rows[_on_ai_cpu(rank)]
    if not len(rows):
        return
    slices, inside = rank.trace.slices, rank.step_of(rows) >= 0
    names = Counter(rank.name_of(row) for row in rows.tolist())
    weight = None
    if inside.any():
        rows = rows[inside]
        weight = weigh(_alone(rank, rows), rank.totals, most_ns=rank.mean_part("compute_ns"))
        if weight is None or not weight.counts:
            return
    yield Draft(
        rank,
        "ai_cpu_operators",
        "slow_operator",
        weight,
        ("compute_ns",) if weight else (),
        values={"names": ", ".join(name for name, _ in names.most_common(3))},
        evidence=(
            Value("ai_cpu_executions", len(rows), "count"),
            Value("ai_cpu_time", int(slices["dur_ns"][rows].sum()), "ns"),
        ),
        rows=rank.longest(rows),
    )


def _on_ai_cpu(rank: RankResults) -> BoolArray:
    kinds = [processor_of(kind) == "ai_cpu" for kind in rank.trace.ops.objects("device_kind")]
    op_id = rank.trace.slices["op_id"][rank.device_rows]
    known = op_id >= 0
    return np.asarray(known & np.array(kinds or [False], bool)[np.where(known, op_id, 0)])


def slow_operator(results: Results) -> Iterator[Finding]:
    """One operator takes most of the device's time; whether it could be faster no recording tells."""
    return on_each_rank(results, _slow_operator)


def _slow_operator(rank: RankResults) -> Iterator[Draft]:
    listed = rank.entry["top_ops"]
    top = listed[0] if isinstance(listed, list) and listed and rank.entry["top_ops_on"] == "device" else None
    if top is None or not rank.steps or not isinstance(listed, list) or len(listed) < _KINDS:
        return
    name, share = str(top["name"]), top["share"]
    if not isinstance(share, float) or share < _MOST or _NO_COMPUTATION.match(name):
        return
    mean = top["mean_ns"]
    yield Draft(
        rank,
        "slow_operator",
        "slow_operator",
        None,
        values={"name": str(top["name"]), "part": share_text(top["share"], 1)},
        evidence=(
            Value("executions", top["count"], "count"),
            Value("share_of_device", top["share"], "share"),
            *([Value("mean_execution", mean, "ns")] if isinstance(mean, int) else []),
        ),
        rows=rank.longest(_named(rank, str(top["name"]))),
        subject=str(top["name"]),
    )


def _named(rank: RankResults, name: str) -> IntArray:
    """Device slices of a name."""
    codes = [code for code, text in enumerate(rank.trace.slices.texts("name")) if text == name]
    rows: IntArray = rank.device_rows[np.isin(rank.trace.slices["name"][rank.device_rows], codes)]
    return rows


# ---- tuning ----


def not_tuned(results: Results) -> Iterator[Finding]:
    """MegEngine chose kernels by rules of thumb where it could have measured (fast_run)."""
    return on_each_rank(results, _not_tuned)


def _not_tuned(rank: RankResults) -> Iterator[Draft]:
    if rank.framework != "megengine" or rank.basis != "device":
        return
    rows = rank.device_rows[rank.step_of(rank.device_rows) >= 0]
    rows = rows[rank.trace.slices["kind"][rows] == KIND_CODE["kernel"]]
    names = rank.trace.slices["name"][rows]
    used, first = np.unique(names, return_index=True)
    texts = rank.trace.slices.texts("name")
    convolutions = [
        pair for pair in zip(used.tolist(), first.tolist(), strict=True) if texts[pair[0]].startswith("Conv")
    ]
    untuned = [code for code, place in convolutions if _is_untuned(rank, int(rows[place]))]
    chosen = rows[np.isin(names, untuned)]
    time = int(rank.trace.slices["dur_ns"][chosen].sum())
    if not len(chosen) or time < 0.1 * int(rank.trace.slices["dur_ns"][rows].sum()):
        return
    yield Draft(
        rank,
        "not_tuned",
        "not_tuned",
        None,
        values={"names": ", ".join(texts[code] for code in untuned[:3])},
        evidence=(Value("untuned_per_step", time // len(rank.steps), "ns"),),
        rows=rank.longest(chosen),
    )


def _is_untuned(rank: RankResults, row: int) -> bool:
    """Whether the call of an operator told the strategy that guesses."""
    launch = int(launch_of(rank.trace, np.array([row]))[0])
    for each in (launch, row):
        text = rank.trace.table("args").row(each)["args"] if each >= 0 else None
        try:
            told = json.loads(text) if isinstance(text, str) else None
        except ValueError:
            told = None
        if isinstance(told, dict) and _STRATEGY in told:
            return str(told[_STRATEGY]) == _UNTUNED
    return False
