"""Rank and world size, as launchers tell them."""

from __future__ import annotations

import pytest

from laptime.recorders.ranks import rank_and_world


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, (None, None)),
        ({"RANK": "3", "WORLD_SIZE": "8"}, (3, 8)),
        ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, (1, 2)),
        ({"PMI_RANK": "5", "PMI_SIZE": "6"}, (5, 6)),
        ({"RANK_ID": "2", "RANK_SIZE": "4"}, (2, 4)),
        ({"SLURM_PROCID": "7", "SLURM_NTASKS": "16"}, (7, 16)),
        ({"RANK": "0", "WORLD_SIZE": "2", "SLURM_PROCID": "9", "SLURM_NTASKS": "9"}, (0, 2)),
        ({"RANK": " 1 ", "WORLD_SIZE": ""}, (1, None)),
        ({"RANK": "-1", "WORLD_SIZE": "two"}, (None, None)),
    ],
)
def test_what_launchers_set(environment: dict[str, str], expected: tuple[int | None, int | None]) -> None:
    assert rank_and_world(environment) == expected


def test_the_process_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "4")
    monkeypatch.setenv("WORLD_SIZE", "5")
    assert rank_and_world() == (4, 5)
