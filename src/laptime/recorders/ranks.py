"""Rank and number of ranks, from the environment variables of the usual launchers."""

from __future__ import annotations

import os
from collections.abc import Mapping

_RANK = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "RANK_ID", "SLURM_PROCID")
_WORLD = (
    *("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMIX_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"),
    *("RANK_SIZE", "SLURM_NTASKS"),
)


def rank_and_world(environment: Mapping[str, str] | None = None) -> tuple[int | None, int | None]:
    """(rank, world size); None where no launcher tells."""
    values = os.environ if environment is None else environment
    return _first_number(values, _RANK), _first_number(values, _WORLD)


def _first_number(values: Mapping[str, str], names: tuple[str, ...]) -> int | None:
    for name in names:
        text = values.get(name, "").strip()
        if text.isdigit():
            return int(text)
    return None
