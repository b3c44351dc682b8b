"""Rank and number of ranks: of torch's process group or jax.distributed, else as the usual launchers tell."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping

_RANK = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "RANK_ID", "SLURM_PROCID")
_WORLD = (
    *("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMIX_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"),
    *("RANK_SIZE", "SLURM_NTASKS"),
)


def rank_and_world(environment: Mapping[str, str] | None = None) -> tuple[int | None, int | None]:
    """(rank, world size); None where nobody tells."""
    if environment is None and (told := _of_process_group() or _of_jax()) is not None:
        return told
    values = os.environ if environment is None else environment
    return _first_number(values, _RANK), _first_number(values, _WORLD)


def _of_process_group() -> tuple[int, int] | None:
    distributed = sys.modules.get("torch.distributed")
    with contextlib.suppress(Exception):  # a build without it
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            return int(distributed.get_rank()), int(distributed.get_world_size())
    return None


def _of_jax() -> tuple[int, int] | None:
    """Only where jax.distributed runs: without it every process is the first of one."""
    jax = sys.modules.get("jax")
    with contextlib.suppress(Exception):  # an older release
        if jax is not None and jax.distributed.is_initialized():
            return int(jax.process_index()), int(jax.process_count())
    return None


def _first_number(values: Mapping[str, str], names: tuple[str, ...]) -> int | None:
    for name in names:
        text = values.get(name, "").strip()
        if text.isdigit():
            return int(text)
    return None
