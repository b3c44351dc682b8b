"""The facts of MegEngine's memory drawings and graph profiles, to the byte and the nanosecond."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.memory import memory
from laptime.analyses.operators import operator_table
from laptime.importers.opening import open_run
from laptime.model.trace import Trace
from laptime.model.workspace import Workspace

pytestmark = pytest.mark.corpus


def opened(corpus: Path, case: str, workspace: Workspace) -> tuple[Trace, dict[str, Any]]:
    facts = json.loads((corpus / "megengine" / "facts.json").read_text())[case]
    (trace,) = open_run(corpus / "megengine" / case, workspace=workspace).traces
    assert trace.meta["warnings"] == []
    return trace, facts


@pytest.mark.parametrize("case", ["memflow_mlp", "memflow_resnet"])
def test_memory_drawings(corpus: Path, workspace: Workspace, case: str) -> None:
    trace, facts = opened(corpus, case, workspace)
    rows = trace.table("allocations").arrow().to_pylist()
    assert len(rows) == facts["tensors"]
    assert sum(row["size_bytes"] for row in rows) == facts["sum_tensor_bytes"]
    assert sum(row["op_id"] is None for row in rows) == facts["without_group"]
    assert len({row["address"] for row in rows}) == facts["distinct_addresses"]
    largest = sorted(((row["size_bytes"], row["name"], row["layout"]) for row in rows), key=lambda row: -row[0])
    assert largest[0][0] == facts["largest"][0][0]
    assert {tuple(entry) for entry in facts["largest"]} <= set(largest)
    (device,) = json.loads(json.dumps(memory(trace).as_json))["devices"]
    assert device["allocations"] == facts["tensors"]
    assert device["peak_bytes"] == facts["peak_sum_of_live_tensor_bytes"]
    assert round(device["peak_at_ns"] / 1e6, 3) == pytest.approx(facts["peak_at_ms"], abs=0.0011)
    assert sum(row["size_bytes"] for row in device["live_at_peak"]) == device["peak_bytes"]


@pytest.mark.parametrize("case", ["static_profile_mlp_train", "static_profile_mlp_infer"])
def test_profiles_of_graphs(corpus: Path, workspace: Workspace, case: str) -> None:
    trace, facts = opened(corpus, case, workspace)
    events: Any = trace.meta["events"]
    assert (events["read"], events["kept"]) == (facts["operators"], facts["executed"])
    for on in ("device", "host"):
        rows: list[dict[str, Any]] = operator_table(trace, by="op-type", on=on).rows
        assert {row["name"]: [row["count"], row["total_ns"] / 1000] for row in rows} == facts[f"{on}_us_by_type"]
        assert sum(row["total_ns"] for row in rows) == 1000 * facts[f"{on}_total_us"]
    rows = operator_table(trace, by="op-type").rows
    assert sum(row["info"]["computation_flo"] or 0 for row in rows) == facts["total_flo"]
    assert sum(row["info"]["memory_bytes"] for row in rows) == facts["total_bytes"]


@pytest.mark.parametrize(
    ("case", "devices", "counters"),
    [
        ("ascend/pt-text-level1", {"privateuse1:0"}, {"PTA allocated", "PTA reserved", "GE allocated", "APP reserved"}),
        ("mindspore/ms210-graph-schedule", set(), {"allocated bytes of cpu", "reserved bytes of cpu"}),
    ],
)
def test_memory_of_other_recorders(
    corpus: Path, workspace: Workspace, case: str, devices: set[str], counters: set[str]
) -> None:
    found = json.loads(json.dumps(memory(open_run(corpus / case, workspace=workspace).traces[0]).as_json))
    assert {row["device"] for row in found["devices"]} == devices
    assert counters <= {row["name"] for row in found["counters"]}
