"""What a rule found on one recording, and how that becomes a finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from laptime.advice.finding import Finding, SliceRef, Value
from laptime.advice.places import place_of
from laptime.advice.results import RankResults, Results
from laptime.advice.texts.wording import Text, variant
from laptime.advice.weight import Weight
from laptime.model.arrays import IntArray
from laptime.model.quantities import share_text, time_text

_NONE = np.empty(0, np.int64)
_FEW_STEPS = 3


@dataclass(frozen=True)
class Draft:
    """A finding on one recording. Texts are those of the rule, in the variant for `kinds` where there is one."""

    rank: RankResults
    rule: str
    cause: str
    weight: Weight | None
    """None: how much it costs is not known."""
    budget_parts: tuple[str, ...] = ()
    values: Mapping[str, str | Text] = field(default_factory=dict)
    """What fills the placeholders of the texts, beside `share` and `time`."""
    title_kinds: tuple[str, ...] = ()
    fix_kinds: tuple[str, ...] = ()
    evidence: tuple[Value, ...] = ()
    rows: IntArray = field(default_factory=lambda: _NONE)
    """Slices that show it, the most telling first."""
    subject: str = ""
    at_most: str | None = None
    """Greatest severity that the recording allows to claim."""
    sure: bool = True


DraftRule = Callable[[RankResults], Iterator[Draft]]
Rule = Callable[[Results], Iterator[Finding]]


def on_each_rank(results: Results, rule: DraftRule, *, counted: bool = True) -> Iterator[Finding]:
    """Findings of a rule; what several recordings have is told once, of that which loses most, with their count."""
    by_subject: dict[str, list[Draft]] = {}
    for rank in results.ranks:
        for draft in rule(rank):
            by_subject.setdefault(draft.subject, []).append(draft)
    for drafts in by_subject.values():
        worst = max(drafts, key=lambda draft: draft.weight.saving_ns if draft.weight else -1)
        if counted and len(results.ranks) > 1:
            count = Value("recordings", len({draft.rank.index for draft in drafts}), f"of {len(results.ranks)}")
            worst = replace(worst, evidence=(*worst.evidence, count))
        yield as_finding(worst)


def as_finding(draft: Draft) -> Finding:
    """The finding with its texts, place and slices."""
    rank, weight = draft.rank, draft.weight
    values = {**draft.values}
    if weight is not None:
        values |= {"share": share_text(weight.share, 1), "time": time_text(weight.saving_ns)}
    rows = list(dict.fromkeys(draft.rows.tolist()))
    title = variant(f"{draft.rule}.title", *(draft.title_kinds if weight else ("unknown",)))
    return Finding(
        rule=draft.rule,
        cause=draft.cause,
        severity=_severity(draft),
        title=Text(title, values),
        saving_ns_per_step=weight.saving_ns if weight else None,
        saving_share=weight.share if weight else None,
        confidence=_confidence(draft),
        fix=Text(variant(f"{draft.rule}.fix", rank.framework, *draft.fix_kinds), values),
        evidence=draft.evidence,
        slices=tuple(SliceRef(rank.index, row) for row in rows),
        where=place_of(rank.trace, rows[0]) if rows else None,
        rank=rank.rank,
        budget_parts=draft.budget_parts,
        subject=draft.subject,
    )


def _severity(draft: Draft) -> str:
    return "info" if draft.weight is None else draft.at_most or draft.weight.severity


def _confidence(draft: Draft) -> str:
    """High where steps are marked and there are several; low where the rule or the recording leaves doubts."""
    if draft.weight is None or not draft.sure or draft.at_most is not None:
        return "low"
    return "medium" if draft.rank.inferred or len(draft.rank.steps) < _FEW_STEPS else "high"
