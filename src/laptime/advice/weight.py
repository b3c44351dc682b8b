"""How much a finding matters: what it would save of a step, and what that is worth in the run at hand.

Definitions: docs/definitions.md, "Findings".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.model.arrays import IntArray

WORTH_TELLING = 0.01
"""Share of a step below which nothing is said."""
LEVELS = (("high", 0.20), ("medium", 0.10), ("low", 0.05))
"""Least share of a step of each severity; what is less is info."""
_STEPS_FOR_SPREAD = 5
"""Steps from which their spread tells something."""
_STEPS_FOR_OUTLIER = 4
"""Steps from which one may be left out."""


@dataclass(frozen=True)
class Weight:
    """Mean saving per step, its share of the mean step, and the severity of that."""

    saving_ns: int
    share: float
    severity: str

    @property
    def counts(self) -> bool:
        """Whether it is worth telling."""
        return self.share >= WORTH_TELLING


def weigh(saved: IntArray, totals: IntArray, *, most_ns: int | None = None) -> Weight | None:
    """Weight of what each step would be shorter by; None without steps. `most_ns`: the part of the mean step it is of.

    The severity goes by the steps without the one that would gain most, so that a single slow step is no fault of all;
    a small saving that the steps' own spread hides is info.
    """
    if not len(saved) or not totals.sum():
        return None
    count = len(saved)
    saving = (2 * int(saved.sum()) + count) // (2 * count)
    saving = saving if most_ns is None else min(saving, most_ns)
    share = min(1.0, saving * count / int(totals.sum()))  # a mean that is rounded up may be more than all
    severity = level_of(min(share, _without_worst(saved, totals)))
    if severity == "low" and count >= _STEPS_FOR_SPREAD and saving < 2 * totals.std(ddof=1) / np.sqrt(count):
        severity = "info"
    return Weight(saving, share, severity)


def level_of(share: float) -> str:
    """Severity of a share of the step."""
    return next((name for name, least in LEVELS if share >= least), "info")


def _without_worst(saved: IntArray, totals: IntArray) -> float:
    if len(saved) < _STEPS_FOR_OUTLIER:
        return 1.0
    kept = np.arange(len(saved)) != int(np.argmax(saved))
    return float(saved[kept].sum() / totals[kept].sum()) if totals[kept].sum() else 1.0
