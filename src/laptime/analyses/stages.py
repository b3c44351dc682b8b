"""Pipeline parallelism: how much of the time stages wait for each other, and collectives take within them.

Definitions: docs/definitions.md, "Pipeline stages". Sources that give times of each rank's stage: MindSpore's
`cluster_analyse` tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from laptime.model.trace import Run

_CLOSE = 5e-5
"""Shares are shown with four digits after the point."""


@dataclass(frozen=True)
class StageShares:
    """Shares of the time of all ranks, receiving included."""

    between_stages: float
    """Time in which ranks only receive from another stage."""
    within_stages: list[float]
    """By stage: time in which its ranks do nothing but collectives."""


@dataclass(frozen=True)
class Stages:
    """What the steps give, and what the averages that the source stores would give."""

    stages: int
    shares: StageShares
    stored: StageShares | None

    def as_json(self) -> dict[str, object]:
        """`run.pipeline_stages` of the report."""
        return {
            "stages": self.stages,
            **_named(self.shares),
            "stored": None if self.stored is None else _named(self.stored),
        }

    @property
    def warnings(self) -> list[dict[str, object]]:
        """Where the stored averages say something else."""
        if self.stored is None or abs(self.stored.between_stages - self.shares.between_stages) < _CLOSE:
            return []
        message = (
            f"averages that the files store give {100 * self.stored.between_stages:.2f} % of the time between pipeline "
            f"stages, their steps {100 * self.shares.between_stages:.2f} %, which is shown"
        )
        return [{"code": "mismatch", "message": message, "count": 1}]


def _named(shares: StageShares) -> dict[str, object]:
    return {f"{key}_{'share' if key == 'between_stages' else 'shares'}": value for key, value in asdict(shares).items()}


def pipeline_stages(run: Run) -> Stages | None:
    """Shares of a run with several pipeline stages; None where no rank of it tells its stage's times."""
    tables = [table for trace in run.traces if isinstance(table := trace.meta.get("cluster"), dict)]
    tables = [table for table in tables if table.get("mode") == "pipeline" and table.get("mean")]
    stages, ranks = (max((int(table[key]) for table in tables), default=0) for key in ("stages", "ranks"))
    if not tables or stages < 2 or ranks < stages:
        return None
    stage_of = [int(table["rank"]) * stages // ranks for table in tables]
    shares = _shares([table["mean"] for table in tables], stage_of, stages)
    if shares is None:
        return None
    return Stages(stages, shares, _shares([table.get("stored_average") for table in tables], stage_of, stages))


def _shares(rows: Sequence[object], stage_of: Sequence[int], stages: int) -> StageShares | None:
    """Shares from one row for each rank; None where a row lacks a time."""
    keys = ("receive_alone_ns", "stage_ns", "collective_communication_alone_ns")
    times = [tuple(row.get(key) for key in keys) for row in rows if isinstance(row, Mapping)]
    known = [row for row in times if all(isinstance(value, int) for value in row)]
    if len(known) < len(rows):
        return None
    receive, stage, collective = ([int(str(row[place])) for row in known] for place in range(3))

    def share(part: list[int], chosen: Sequence[int]) -> float:
        whole = sum(receive[rank] + stage[rank] for rank in chosen)
        return sum(part[rank] for rank in chosen) / whole if whole else 0.0

    everyone = range(len(known))
    of_stage = [[rank for rank in everyone if stage_of[rank] == number] for number in range(stages)]
    return StageShares(share(receive, everyone), [share(collective, chosen) for chosen in of_stage])
