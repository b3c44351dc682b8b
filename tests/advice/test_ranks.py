"""Rules that compare ranks, on traces of a few events."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from laptime.advice.advising import advise
from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace
from tests.analyses.events import US, Event, kernel, launch, step

Json = dict[str, Any]


def _rank(computes: int | dict[int, int]) -> list[Event]:
    """Steps of 100 us, three unless given by number: so much compute, then a collective that ends with the step."""
    events = []
    by_number = computes if isinstance(computes, dict) else dict.fromkeys((1, 2, 3), computes)
    for number, computes in by_number.items():
        at = 100 * number
        events += [
            step(number, at, at + 100),
            launch(2 * number, at),
            launch(2 * number + 1, at + 2),
            kernel(2 * number, at, at + computes),
            kernel(2 * number + 1, at + computes, at + 100, name="ncclDevKernel_AllReduce_Sum", stream=20),
        ]
    return events


def _advice(folder: Path, workspace: Workspace, ranks: Sequence[int | dict[int, int]], *, world_size: int) -> Json:
    folder.mkdir()
    for rank, computes in enumerate(ranks):
        header = {"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": world_size, "backend": "nccl"}}
        text = json.dumps({**header, "traceEvents": _rank(computes)})
        (folder / f"rank{rank}.pt.trace.json").write_text(text)
    return advise(open_run(folder, workspace=workspace))


def _one(advice: Json, rule: str) -> Json:
    (found,) = [finding for finding in advice["findings"] if finding["rule"] == rule]
    return dict(found)


def test_the_rank_that_communicates_least_comes_last(tmp_path: Path, workspace: Workspace) -> None:
    """Ranks 0, 1 and 3 wait 70 us, 68 us and 72 us, rank 2 but 20 us."""
    advice = _advice(tmp_path / "run", workspace, [30, 32, 80, 28], world_size=4)
    found = _one(advice, "slow_rank")
    assert (found["rank"], found["cause"], found["severity"]) == (2, "unbalanced_ranks", "high")
    assert found["saving_ns_per_step"] == 50 * US  # the middle of the others less that
    assert found["title"].endswith("for rank 2, which spends 50.0 µs more computing")
    assert found["confidence"] == "high"


def test_what_even_that_rank_loses_is_communication(tmp_path: Path, workspace: Workspace) -> None:
    found = _one(_advice(tmp_path / "run", workspace, [30, 32, 80, 28], world_size=4), "exposed_communication")
    assert (found["rank"], found["saving_ns_per_step"]) == (2, 20 * US)


def test_equal_ranks_do_not_wait_for_one(tmp_path: Path, workspace: Workspace) -> None:
    advice = _advice(tmp_path / "run", workspace, [50, 50], world_size=2)
    assert [finding["rule"] for finding in advice["findings"]] == ["exposed_communication"]
    assert "the other ranks" not in [row["what"] for row in advice["not_recorded"]]


def test_steps_are_compared_by_their_numbers(tmp_path: Path, workspace: Workspace) -> None:
    """Both ranks compute for 20 us in odd steps, for 80 us in even ones; each misses a step that the other has."""
    ranks = [{number: 80 - 60 * (number % 2) for number in range(first, first + 4)} for first in (1, 2)]
    advice = _advice(tmp_path / "run", workspace, ranks, world_size=2)
    assert "slow_rank" not in [finding["rule"] for finding in advice["findings"]]


def test_the_late_rank_may_be_one_that_is_missing(tmp_path: Path, workspace: Workspace) -> None:
    advice = _advice(tmp_path / "run", workspace, [50, 60], world_size=8)
    assert _one(advice, "slow_rank")["confidence"] == "low"
    assert "the other ranks" in [row["what"] for row in advice["not_recorded"]]


def test_of_one_rank_alone_nothing_is_compared(tmp_path: Path, workspace: Workspace) -> None:
    _advice(tmp_path / "run", workspace, [30, 80], world_size=2)
    advice = advise(open_run(tmp_path / "run", workspace=workspace), rank=0)
    (found,) = advice["findings"]  # type: ignore[misc]  # a list of objects
    assert (found["rule"], found["saving_ns_per_step"]) == ("exposed_communication", 70 * US)
    assert "the other ranks" not in [row["what"] for row in advice["not_recorded"]]


@pytest.mark.parametrize("rank", [0, 1])
def test_slices_of_one_rank_alone_open_in_the_whole_run(tmp_path: Path, workspace: Workspace, rank: int) -> None:
    _advice(tmp_path / "run", workspace, [30, 80], world_size=2)
    advice = advise(open_run(tmp_path / "run", workspace=workspace), rank=rank)
    (found,) = advice["findings"]  # type: ignore[misc]  # a list of objects
    assert {each["rank_index"] for each in found["slices"]} == {rank}


@pytest.mark.parametrize("known", [True, False], ids=["with its report", "alone"])
def test_languages_agree(tmp_path: Path, workspace: Workspace, known: bool) -> None:
    from laptime.advice.advising import report

    _advice(tmp_path / "run", workspace, [30, 80], world_size=8)
    run = open_run(tmp_path / "run", workspace=workspace)
    english = advise(run)
    chinese: Json = advise(run, "zh", known=report(run) if known else None)
    assert len(english["not_recorded"]) == len(chinese["not_recorded"])  # type: ignore[arg-type]  # lists
    assert "其他rank" in [row["what"] for row in chinese["not_recorded"]]
    assert advise(run, known=report(run)) == english
