"""Every number of the PyTorch corpus that laptime reports, against values computed from the files by other means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.report import report
from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace
from tests.conftest import corpus_folder

pytestmark = pytest.mark.corpus

MTIA_COMPUTE_NS, MTIA_COPY_NS = 7_309_063_136, 393_854_432
"""By the JSON contract MTIA's dma_request is a copy; the facts count it as compute."""


def _recordings() -> list[tuple[str, str]]:
    folder = corpus_folder()
    if folder is None:
        return []
    found = []
    for facts in sorted((folder / "pytorch").glob("*/facts.json")):
        known = json.loads(facts.read_text())
        found += [
            (facts.parent.name, name) for name, fact in known.items() if isinstance(fact, dict) and "X_by_cat" in fact
        ]
    return found


def _facts(corpus: Path, case: str) -> dict[str, Any]:
    return dict(json.loads((corpus / "pytorch" / case / "facts.json").read_text()))


def _ns(microseconds: float) -> int:
    return round(microseconds * 1000)


@pytest.mark.parametrize(("case", "name"), _recordings() or [("", "")])
def test_report_has_the_facts(corpus: Path, workspace: Workspace, case: str, name: str) -> None:
    fact = _facts(corpus, case)[name]
    result: dict[str, Any] = report(open_run(corpus / "pytorch" / case / name, workspace=workspace))
    rank = result["ranks"][0]
    events = rank["events"]
    assert events["read"] == fact["events"]
    assert events["kept"] + sum(events["dropped"].values()) == fact["events"]
    marked = [[step["label"], step["dur_ns"]] for step in rank["steps"] if step["source"] == "marked"]
    assert marked == [[label, _ns(microseconds)] for label, microseconds in fact["steps"]]
    assert result["run"]["world_size"] == fact["distributed"].get("world_size")
    if "rank" in fact["distributed"]:
        assert rank["rank"] == fact["distributed"]["rank"]
    if "gpu_us" not in fact:
        assert rank["device_total"] is None
        assert rank["devices"] == []
        return
    _check_device(rank, fact, mtia=case == "hta-mtia-training")


def _check_device(rank: dict[str, Any], fact: dict[str, Any], *, mtia: bool) -> None:
    times = {key: _ns(microseconds) for key, microseconds in fact["gpu_us"].items()}
    if mtia:
        times["compute_union"], times["memcpy_memset_union"] = MTIA_COMPUTE_NS, MTIA_COPY_NS
    total = rank["device_total"]
    assert {
        "span": total["span_ns"],
        "busy": total["busy_ns"],
        "idle": total["idle_ns"],
        "compute_union": total["compute_ns"],
        "comm_union": total["communication_ns"],
        "memcpy_memset_union": total["copy_ns"],
        "comm_overlapped_by_compute": total["communication_overlapped_ns"],
    } == {key: times[key] for key in times if not key.startswith("sum_")}
    assert total["communication_exposed_ns"] == times["comm_union"] - times["comm_overlapped_by_compute"]
    assert total["ops"] == fact["device_ops"]
    assert total["linked_ops"] == fact["linked_to_launch"]
    assert {str(device["device"]): device["ops"] for device in rank["devices"]} == fact["devices"]
    assert total["streams"] == len(fact["streams"])


@pytest.mark.parametrize("case", ["own-cpu-dataloader-workers0", "own-cpu-dataloader-workers2"])
def test_data_wait_is_the_loader_time(corpus: Path, workspace: Workspace, case: str) -> None:
    facts = _facts(corpus, case)
    name = next(key for key in facts if key != "extra")
    result: dict[str, Any] = report(open_run(corpus / "pytorch" / case / name, workspace=workspace))
    waits = [step["budget"]["idle_data_wait_ns"] for step in result["ranks"][0]["steps"]]
    assert waits == [_ns(microseconds) for microseconds in facts["extra"]["dataloader_next_us"]]


def test_straggler_communicates_least(corpus: Path, workspace: Workspace) -> None:
    result: dict[str, Any] = report(open_run(corpus / "pytorch" / "own-cpu-ddp4-straggler", workspace=workspace))
    exposed = [rank["step_summary"]["budget"]["communication_exposed_ns"] for rank in result["ranks"]]
    assert [rank["rank"] for rank in result["ranks"]] == [0, 1, 2, 3]
    assert exposed.index(min(exposed)) == 2
