"""Rules on compilation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from laptime.advice.draft import Draft, on_each_rank
from laptime.advice.finding import Finding, Value
from laptime.advice.results import RankResults, Results
from laptime.advice.weight import weigh

COMPILING = ("compile_ns",)


def recompilation(results: Results) -> Iterator[Finding]:
    """Steps compile again and again; what only one of several steps compiles is start-up."""
    return on_each_rank(results, _recompilation)


def _recompilation(rank: RankResults) -> Iterator[Draft]:
    saved = rank.part(*COMPILING)
    compiling = int(np.count_nonzero(saved))
    weight = weigh(saved, rank.totals, most_ns=rank.mean_part(*COMPILING))
    if weight is None or not weight.counts or (compiling < 2 and len(saved) > 1):
        return
    rows = rank.rows_in_steps("compile", thread=rank.trace.main_thread)
    outer = rows[~np.isin(rank.trace.slices["parent_id"][rows], rows)]
    yield Draft(
        rank,
        "recompilation",
        "recompilation",
        weight,
        COMPILING,
        values={"compiling": str(compiling), "steps": str(len(saved))},
        evidence=(
            Value("compiling_steps", compiling, f"of {len(saved)}"),
            Value("compile_per_step", weight.saving_ns, "ns"),
            Value("compilations", len(outer), "count"),
        ),
        rows=rank.longest(outer),
        sure=len(saved) > 1,
    )
