"""The samples' numbers against facts.json, which was taken from the files by the standard library alone."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.report import report
from laptime.model.trace import Run, Trace
from laptime.model.workspace import Workspace
from tests.conftest import ROOT, SAMPLES
from tests.exports.chrome_checks import import_alone
from tests.laws.recordings import FILES, title

FACTS: dict[str, Any] = json.loads((SAMPLES / "pytorch" / "facts.json").read_text())


def _slices(trace: Trace, prefix: str) -> list[tuple[str, int]]:
    """Name and duration of the slices whose name starts so, in order of time."""
    columns = [trace.slices.objects(name) for name in ("start_ns", "name", "dur_ns")]
    return [(name, dur) for _, name, dur in sorted(zip(*columns, strict=True)) if str(name).startswith(prefix)]


def test_every_sample_has_facts() -> None:
    assert {path.relative_to(ROOT).as_posix() for path in FILES} == set(FACTS)


@pytest.mark.parametrize("path", FILES, ids=title)
def test_the_tables_hold_the_facts(path: Path, workspace: Workspace) -> None:
    fact = FACTS[path.relative_to(ROOT).as_posix()]
    trace = import_alone(path, workspace)
    assert trace.meta["events"] == {"read": fact["events"], "kept": fact["events"], "dropped": {}}
    assert Counter(trace.slices.objects("category")) == fact["slices_by_cat"]
    assert (trace.rank, trace.meta["world_size"]) == (fact["rank"], fact["world_size"])
    assert trace.table("instants").objects("name").count("[memory]") == fact["memory_events"]
    assert _slices(trace, "enumerate(DataLoader)") == [tuple(entry) for entry in fact["data_loader"]]
    reduced = [dur for name, dur in _slices(trace, "gloo:all_reduce") if name == "gloo:all_reduce"]
    assert (len(reduced), sum(reduced)) == (fact["gloo_all_reduce_count"], fact["gloo_all_reduce_total_ns"])
    kinds = Counter(trace.slices.objects("kind"))
    assert kinds["communication"] >= fact["gloo_all_reduce_count"]
    assert kinds["data"] >= len(fact["data_loader"])


@pytest.mark.parametrize("path", FILES, ids=title)
def test_the_report_holds_the_facts(path: Path, workspace: Workspace) -> None:
    fact = FACTS[path.relative_to(ROOT).as_posix()]
    trace = import_alone(path, workspace)
    result: dict[str, Any] = report(Run(str(path), [trace]))
    (rank,) = result["ranks"]
    marked = [[step["label"], step["dur_ns"]] for step in rank["steps"] if step["source"] == "marked"]
    assert marked == fact["steps"]
    assert result["run"]["world_size"] == fact["world_size"]
    assert rank["device_total"] is None
    assert rank["devices"] == []
    _check_data_wait(trace, rank["steps"], fact["data_loader"])


def _check_data_wait(trace: Trace, steps: list[dict[str, Any]], loads: list[list[Any]]) -> None:
    """Where the loader's slices are the only data slices, a step waits as long as its one load takes."""
    others = trace.slices.objects("kind").count("data") - len(loads)
    if not loads or others:
        assert loads or not others
        return
    assert [step["budget"]["idle_data_wait_ns"] for step in steps] == [dur for _, dur in loads]
