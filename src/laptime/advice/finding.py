"""A finding as the JSON contract names it; its texts are keys of a catalogue until it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from laptime.advice.texts.wording import Text, Wording

CAUSES = (
    "data_loading",
    "data_transfer",
    "host_sync",
    "launch_bound",
    "host_busy",
    "serial_communication",
    "exposed_communication",
    "unbalanced_ranks",
    "useless_ops",
    "slow_operator",
    "small_kernels",
    "recompilation",
    "recomputation",
    "memory_pressure",
    "step_variation",
    "not_tuned",
    "other",
)
"""Closed list of what costs time."""


@dataclass(frozen=True)
class Value:
    """A number behind a finding; `name` is a key of the catalogue."""

    name: str
    value: int | float | str | None
    unit: str
    filled: Mapping[str, str] = field(default_factory=dict)
    """What fills placeholders of the name."""


@dataclass(frozen=True)
class SliceRef:
    """A slice that `laptime slice` opens."""

    rank_index: int
    slice_id: int


@dataclass(frozen=True)
class Place:
    """Where in the user's program; what is unknown is None."""

    module: str | None
    file: str | None
    line: int | None
    function: str | None


@dataclass(frozen=True)
class Finding:
    """One cause of lost time. A saving of None is unknown; `budget_parts` says which parts of the budget it lies in."""

    rule: str
    cause: str
    severity: str
    title: Text
    saving_ns_per_step: int | None
    saving_share: float | None
    confidence: str
    fix: Text
    evidence: tuple[Value, ...] = ()
    slices: tuple[SliceRef, ...] = ()
    where: Place | None = None
    rank: int | None = None
    budget_parts: tuple[str, ...] = ()
    subject: str = field(default="", compare=False)
    """What tells findings of one rule apart, the same on all ranks."""

    def as_json(self, wording: Wording) -> dict[str, object]:
        """FINDING of the JSON contract, in a language."""
        return {
            "rule": self.rule,
            "cause": self.cause,
            "severity": self.severity,
            "title": wording.say(self.title),
            "saving_ns_per_step": self.saving_ns_per_step,
            "saving_share": self.saving_share,
            "confidence": self.confidence,
            "evidence": [
                {
                    "name": wording.say(Text(f"evidence.{each.name}", each.filled)),
                    "value": each.value,
                    "unit": each.unit,
                }
                for each in self.evidence
            ],
            "slices": [asdict(each) for each in self.slices],
            "where": asdict(self.where) if self.where else None,
            "fix": wording.say(self.fix),
            "rank": self.rank,
            "budget_parts": list(self.budget_parts),
        }
