"""Use of devices and streams, overlap per step, collectives, the summary of the timeline; times in microseconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.parts import Part
from laptime.analyses.report import rank_report
from laptime.analyses.timeline_summary import timeline_summary
from laptime.analyses.utilisation import Utilisation, utilisation
from laptime.errors import LaptimeError
from laptime.importers.opening import open_run
from laptime.model.trace import Trace
from laptime.model.workspace import Workspace
from tests.analyses.events import OTHER, US, host, kernel, op, step
from tests.conftest import EXAMPLE

REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
GATHER = "ncclDevKernel_AllGather_RING_LL"
CORPUS = (
    "pytorch/hta-v100-216k-events",
    "pytorch/hta-dlrm-a100-8rank-r3",
    "pytorch/hta-nccl-args-a100",
    "pytorch/hta-mtia-training",
    "mindinsight/job3_widedeep_raw",
    "ascend/pt-text-level1",
    "megengine/mlp_default",
    "megengine/synthetic_gpu_allreduce_overlap",
    "jax_xplane/jax_cpu_dp4",
    "mindspore/ms200-graph-baseline",
)


@pytest.fixture
def trace(open_events: Any) -> Trace:
    """Device 0 has a stream of compute and one of communication, device 1 one of compute."""
    (found,) = open_events(
        step(1, 0, 100),
        step(2, 100, 200),
        kernel(None, 0, 40, name="gemm"),
        kernel(None, 30, 60, name=REDUCE, stream=8),
        kernel(None, 60, 70, name="Memcpy HtoD", category="gpu_memcpy"),
        kernel(None, 110, 160, name="gemm"),
        kernel(None, 150, 180, name=REDUCE, stream=8),
        kernel(None, 170, 180, name=GATHER, stream=9),
        kernel(None, 20, 30, name="relu", device=1),
        kernel(None, 140, 150, name="gemm", device=1),
    ).traces
    return found  # type: ignore[no-any-return]


def test_devices_and_streams(trace: Trace) -> None:
    found = utilisation(trace)
    shown = [
        (
            each.times.device,
            [
                (s.stream, s.slices, s.busy_ns, s.kinds.kernel_ns, s.kinds.communication_ns, s.kinds.copy_ns)
                for s in each.streams
            ],
        )
        for each in found.devices
    ]
    assert shown == [
        (0, [(7, 3, 100 * US, 90 * US, 0, 10 * US), (8, 2, 60 * US, 0, 60 * US, 0), (9, 1, 10 * US, 0, 10 * US, 0)]),
        (1, [(7, 2, 20 * US, 20 * US, 0, 0)]),
    ]
    assert found.devices[0].times.span_ns == 180 * US
    assert [stream.busy_share for stream in found.devices[0].streams] == [100 / 180, 60 / 180, 10 / 180]


def test_steps_of_each_device_and_of_all_together(trace: Trace) -> None:
    found = utilisation(trace)
    shown = [(s.step, s.device, s.busy_ns, s.communication_ns, s.overlapped_ns, s.exposed_ns) for s in found.steps]
    assert shown == [
        (1, 0, 70 * US, 30 * US, 10 * US, 20 * US),
        (1, 1, 10 * US, 0, 0, 0),
        (2, 0, 70 * US, 30 * US, 10 * US, 20 * US),
        (2, 1, 10 * US, 0, 0, 0),
    ]
    assert [step.busy_share for step in found.steps] == [0.7, 0.1, 0.7, 0.1]
    assert [(s.device, s.busy_ns, s.exposed_ns) for s in found.together] == [
        (None, 70 * US, 20 * US), (None, 70 * US, 20 * US),
    ]  # fmt: skip


def test_collectives_by_name(trace: Trace) -> None:
    shown = [
        (each.name, each.on, each.count, each.total_ns, each.exposed_ns) for each in utilisation(trace).collectives
    ]
    assert shown == [(REDUCE, "device", 2, 60 * US, 40 * US), (GATHER, "device", 1, 10 * US, 10 * US)]


def test_a_part_cuts_its_times(trace: Trace) -> None:
    found = utilisation(trace, Part(from_ns=0, to_ns=50 * US))
    assert [(each.name, each.count, each.total_ns, each.exposed_ns) for each in found.collectives] == [
        (REDUCE, 1, 20 * US, 10 * US)
    ]
    assert [(s.stream, s.slices, s.busy_ns) for s in found.devices[0].streams] == [
        (7, 1, 40 * US), (8, 1, 20 * US), (9, 0, 0),
    ]  # fmt: skip
    assert [step.step for step in found.steps] == [1, 1]
    assert [step.step for step in utilisation(trace, Part(steps=((2, 2),))).together] == [2]
    with pytest.raises(LaptimeError, match="no step 9"):
        utilisation(trace, Part(steps=((9, 9),)))


def test_collectives_of_the_host_have_no_known_exposure(open_events: Any) -> None:
    (trace,) = open_events(
        step(1, 0, 50), op("aten::mm", 0, 10), host("user_annotation", "gloo:all_reduce", 5, 25)
    ).traces
    found = utilisation(trace)
    assert (found.devices, found.device_total, found.steps, found.together) == ([], None, [], [])
    assert [(each.name, each.on, each.total_ns, each.exposed_ns) for each in found.collectives] == [
        ("gloo:all_reduce", "host", 20 * US, None)
    ]


def test_the_timeline_of_devices(trace: Trace) -> None:
    found = timeline_summary(trace)
    assert (found.on, found.devices, found.streams, found.tasks, found.executions) == ("device", 2, 4, 5, 8)
    assert (found.total_ns, found.span_ns, found.slices) == (190 * US, 200 * US, 10)


def test_the_timeline_of_a_host(open_events: Any) -> None:
    (trace,) = open_events(
        op("aten::linear", 0, 50), op("aten::mm", 10, 40), op("aten::mm", 60, 70), op("aten::add", 5, 15, tid=OTHER)
    ).traces
    found = timeline_summary(trace)
    assert (found.on, found.devices, found.streams, found.tasks, found.executions) == ("host", 0, 2, 3, 4)
    assert found.total_ns == 70 * US


# ---- real recordings ----


def _agrees_with_the_report(trace: Trace) -> Utilisation:
    found, told = utilisation(trace), rank_report(trace)
    assert [each.times.as_json() for each in found.devices] == told["devices"]
    assert (found.device_total.as_json() if found.device_total else None) == told["device_total"]
    steps: Any = told["steps"]
    busy = {(step["index"], device["device"]): device for step in steps for device in step["devices"]}
    for use in found.steps:
        if use.busy_ns is not None:
            known = busy.pop((use.index, use.device))
            assert (known["busy_ns"], known["busy_share"]) == (use.busy_ns, use.busy_share)
    assert not busy
    for told_step, use in zip(steps, found.together, strict=bool(found.together)):
        budget = told_step["budget"]
        if budget and budget["basis"] == "device":
            assert use.exposed_ns == budget["communication_exposed_ns"]
            assert use.busy_ns == budget["total_ns"] - budget["idle_ns"]
    for device in found.devices:
        assert len(device.streams) == device.times.streams
        assert sum(stream.slices for stream in device.streams) == device.times.ops
        if device.times.busy_ns is not None:
            busy_sum = sum(stream.busy_ns or 0 for stream in device.streams)
            assert max(s.busy_ns or 0 for s in device.streams) <= device.times.busy_ns <= busy_sum
    exposed = [each.exposed_ns for each in found.collectives if each.exposed_ns is not None]
    if found.device_total and found.device_total.communication_exposed_ns is not None:
        assert sum(exposed) >= found.device_total.communication_exposed_ns
    return found


@pytest.mark.corpus
@pytest.mark.parametrize("case", CORPUS)
def test_real_recordings_agree_with_their_report(corpus: Path, workspace: Workspace, case: str) -> None:
    traces = open_run(corpus / case, workspace=workspace).traces
    assert any(utilisation(trace).devices for trace in traces)
    for trace in traces:
        _agrees_with_the_report(trace)


def test_the_example_agrees_with_its_report(workspace: Workspace) -> None:
    for trace in open_run(EXAMPLE, workspace=workspace).traces:
        found = _agrees_with_the_report(trace)
        assert {each.on for each in found.collectives} == {"host"}


@pytest.mark.corpus
def test_the_overlap_of_a_real_job(corpus: Path, workspace: Workspace) -> None:
    """The job's README, worked out another way: mean ms of steps 2 to 14."""
    (trace,) = open_run(corpus / "mindinsight" / "job3_widedeep_raw", workspace=workspace).traces
    steps = [each for each in utilisation(trace).together if 2 <= each.index <= 14]
    totals = [sum(getattr(each, key) for each in steps) for key in ("communication_ns", "overlapped_ns", "exposed_ns")]
    assert [round(total / len(steps) / 1e6, 2) for total in totals] == [94.24, 16.82, 77.43]


@pytest.mark.corpus
def test_the_overlap_of_an_eight_rank_recording(corpus: Path, workspace: Workspace) -> None:
    """The recording's README: unions over the whole of it, in us."""
    folder = corpus / "pytorch" / "hta-dlrm-a100-8rank-r3"
    (trace,) = open_run(folder / "control.json.gz", workspace=workspace).traces
    total = utilisation(trace).device_total
    assert total is not None
    times = (total.busy_ns, total.compute_ns, total.communication_ns, total.communication_overlapped_ns)
    assert [None if time is None else time / US for time in times] == [388587.0, 281336.0, 163535.0, 75614.0]
    assert timeline_summary(trace).executions == 9450
