"""One row of the operator table in full; times in microseconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.analyses.device import device_rows
from laptime.analyses.execution_facts import BINS, histogram
from laptime.analyses.operator_details import OperatorDetails, OperatorKey, operator_details
from laptime.analyses.operators import whole_table
from laptime.analyses.parts import WHOLE, Part
from laptime.errors import LaptimeError
from laptime.importers.opening import open_run
from laptime.model.trace import Trace
from laptime.model.workspace import Workspace
from tests.analyses.events import US, kernel, launch, op, step
from tests.conftest import EXAMPLE, SAMPLES

CORPUS = (
    "pytorch/tb-resnet50-workers4",
    "pytorch/tl-mi300-bert-small",
    "mindinsight/job3_widedeep_raw",
    "mindinsight/run_1_master_newcols",
    "ascend/pt-text-level1",
    "megengine/mlp_backtrace",
    "megengine/static_profile_mlp_train",
    "jax_xplane/jax_cpu_plain",
    "mindspore/ms210-graph-model",
)


def details(trace: Trace, key: OperatorKey, *, by: str, on: str | None = None, part: Part = WHOLE) -> OperatorDetails:
    table = whole_table(trace, by=by, on=on, part=part)
    other = "host" if table.on == "device" else "device"
    beside = None if by == "kernel" else whole_table(trace, by=by, on=other, part=part)
    return operator_details(trace, key, table, beside=beside, part=part)


@pytest.fixture
def trace(open_events: Any) -> Trace:
    shapes = {"Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}
    other = {"Input Dims": [[5, 3], [3, 4]], "Input type": ["float", "float"]}
    (found,) = open_events(
        step(1, 0, 100),
        step(2, 100, 200),
        op("aten::linear", 0, 50),
        op("aten::mm", 10, 40, **shapes),
        launch(1, 12),
        launch(2, 14),
        op("aten::mm", 110, 120, **shapes),
        launch(3, 112),
        op("aten::mm", 130, 150, **other),
        kernel(1, 20, 60, name="gemm"),
        kernel(2, 60, 70, name="split"),
        kernel(3, 120, 130, name="gemm"),
    ).traces
    return found  # type: ignore[no-any-return]


def test_an_operator_on_both_sides(trace: Trace) -> None:
    found = details(trace, OperatorKey("aten::mm"), by="name")
    assert (found.on, found.op_type, found.name) == ("device", "mm", "aten::mm")
    assert found.host is not None
    assert found.device is not None
    assert (found.host["count"], found.host["total_ns"]) == (3, 60 * US)
    assert (found.device["count"], found.device["total_ns"]) == (2, 60 * US)
    assert found.by_step == [
        {"step": 1, "count": 1, "total_ns": 50 * US}, {"step": 2, "count": 1, "total_ns": 10 * US},
    ]  # fmt: skip
    assert [(row["start_ns"], row["dur_ns"]) for row in found.longest] == [(10 * US, 50 * US), (110 * US, 10 * US)]
    assert found.histogram is not None
    assert (found.histogram.edges_ns[0], found.histogram.edges_ns[-1]) == (10 * US, 50 * US)
    assert [count for count in found.histogram.counts if count] == [1, 1]


def test_inputs_are_those_of_most_of_the_time(trace: Trace) -> None:
    found = details(trace, OperatorKey("aten::mm"), by="name", on="host")
    assert [tensor["shape"] for tensor in found.inputs] == ["2,3", "3,4"]
    assert [(v.inputs[0]["shape"], v.count, v.total_ns) for v in found.variants] == [
        ("2,3", 2, 40 * US), ("5,3", 1, 20 * US),
    ]  # fmt: skip


def test_kernels_have_the_inputs_of_what_launched_them(trace: Trace) -> None:
    found = details(trace, OperatorKey("gemm"), by="kernel")
    assert (found.host, found.op_type) == (None, "kernel")
    assert [tensor["shape"] for tensor in found.inputs] == ["2,3", "3,4"]
    names = trace.slices.texts("name")
    assert {names[trace.slices["name"][row["slice_id"]]] for row in found.longest} == {"gemm"}


def test_rows_of_one_name_are_told_apart_by_their_shapes(trace: Trace) -> None:
    key = OperatorKey("aten::mm", input_shapes="[[5, 3],[3, 4]]")
    found = details(trace, key, by="shape", on="host")
    assert found.host is not None
    assert (found.host["count"], found.host["total_ns"], found.variants_left_out) == (1, 20 * US, 0)
    assert [row["start_ns"] for row in found.longest] == [130 * US]
    assert details(trace, OperatorKey("aten::mm"), by="shape", on="host").by_step[0]["total_ns"] == 30 * US


def test_a_part_counts_alone(trace: Trace) -> None:
    found = details(trace, OperatorKey("aten::mm"), by="name", part=Part(steps=((2, 2),)))
    assert found.device is not None
    assert (found.device["count"], [row["step"] for row in found.by_step]) == (1, [2])


def test_what_is_not_there_is_an_error_that_names_what_is(trace: Trace) -> None:
    with pytest.raises(LaptimeError, match=r"names on the device: .*aten::mm"):
        details(trace, OperatorKey("aten::nothing"), by="name")
    with pytest.raises(LaptimeError, match="no shape named aten::mm"):
        details(trace, OperatorKey("aten::mm", input_shapes="[[1]]"), by="shape")
    with pytest.raises(LaptimeError, match="group by kernel or name"):
        operator_details(trace, OperatorKey("gemm"), whole_table(trace, by="track"))


def test_the_call_stack(workspace: Workspace) -> None:
    """`with_stack=True`: the line that rows are grouped by is the one that their details name."""
    (trace,) = open_run(SAMPLES / "pytorch" / "loader.pt.trace.json.gz", workspace=workspace).traces
    table = whole_table(trace, by="source", on="host")
    sources = [str(row["name"]) for row in table.rows if ".py:" in str(row["name"])]
    assert sources
    for source in sources:
        found = operator_details(trace, OperatorKey(source), table)
        assert found.called_from == source
        assert source in [f"{frame['file']}:{frame['line']}" for frame in found.stack]


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=50))
def test_a_histogram_counts_every_execution_once(durations: list[int]) -> None:
    found = histogram(np.array(durations, np.int64))
    assert found is not None
    assert len(found.counts) == len(found.edges_ns) - 1 <= BINS
    assert sum(found.counts) == len(durations)
    assert found.edges_ns == sorted(set(found.edges_ns))
    expected = [0] * len(found.counts)
    for each in durations:
        place = max(i for i, edge in enumerate(found.edges_ns[:-1]) if edge <= each)
        expected[place] += 1
    assert found.counts == expected


def _check(trace: Trace, by: str) -> int:
    """Executions are those that the row counts; their steps, bins and variants sum to it. How many had any."""
    table = whole_table(trace, by=by)
    other = "host" if table.on == "device" else "device"
    beside = whole_table(trace, by=by, on=other) if by != "kernel" else None
    checked = 0
    for row in sorted(table.rows, key=lambda row: -int(str(row["self_ns"] or 0)))[:6]:
        kind = row["device_kind"]
        key = OperatorKey(str(row["name"]), None if kind is None else str(kind))
        found = operator_details(trace, key, table, beside=beside)
        side: Any = found.device if table.on == "device" else found.host
        if not found.by_step:
            assert (found.histogram, found.longest) == (None, [])
            continue
        checked += 1
        steps: list[Any] = found.by_step
        if side["min_ns"] is not None:  # no sums have joined the row
            assert sum(step["count"] for step in steps) == side["count"]
            assert sum(step["total_ns"] for step in steps) == side["total_ns"]
            assert found.histogram is not None
            assert sum(found.histogram.counts) == side["count"]
            longest: list[Any] = found.longest
            assert longest[0]["dur_ns"] == side["max_ns"]
        if found.variants_left_out == 0:
            assert sum(variant.count for variant in found.variants) <= side["count"]
    return checked


@pytest.mark.parametrize("by", ["op-type", "name", "full-name", "shape", "module", "source"])
def test_details_of_the_example_sum_to_its_rows(workspace: Workspace, by: str) -> None:
    assert _check(open_run(EXAMPLE, workspace=workspace).traces[0], by)


@pytest.mark.corpus
@pytest.mark.parametrize("case", CORPUS)
def test_details_of_real_recordings_sum_to_their_rows(corpus: Path, workspace: Workspace, case: str) -> None:
    trace = open_run(corpus / case, workspace=workspace).traces[0]
    for by in ("op-type", "name", "full-name", "shape", "module", "source", "kernel"):
        if by == "kernel" and not len(device_rows(trace)):
            continue
        checked = _check(trace, by)
        assert checked or case in ("mindinsight/run_1_master_newcols", "megengine/static_profile_mlp_train")
