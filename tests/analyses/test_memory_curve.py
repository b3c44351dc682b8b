"""Thinned curves, what lives at an instant, and the table of blocks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.analyses.allocations import ALLOCATION_COLUMNS, allocations
from laptime.analyses.memory import live_bytes, live_bytes_of
from laptime.analyses.memory_curve import memory_curve
from laptime.analyses.memory_live import live_at
from laptime.analyses.selection import Selection
from laptime.analyses.thinning import LEAST_POINTS, thinned
from laptime.errors import LaptimeError
from laptime.importers.opening import open_run
from laptime.model.trace import Trace
from laptime.model.workspace import Workspace
from tests.analyses.events import MAIN, US, op
from tests.analyses.test_memory import change
from tests.conftest import SAMPLES

CORPUS = (
    "pytorch/hta-v100-216k-events",
    "megengine/memflow_resnet",
    "ascend/pt-text-level1",
    "jax_xplane/rocm_te_fused_attn",
)


@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(-20, 20)), min_size=1, max_size=200),
    st.integers(LEAST_POINTS, 60),
)
def test_a_thinned_curve_keeps_what_a_drawing_shows(points: list[tuple[int, int]], count: int) -> None:
    times = np.cumsum([gap for gap, _ in points])
    levels = np.array([level for _, level in points])
    kept = thinned(times, levels, count)
    assert len(kept) <= max(count, LEAST_POINTS)
    assert list(kept) == sorted(set(kept))
    assert kept[0] == 0
    assert kept[-1] == len(times) - 1
    assert int(np.argmax(levels)) in kept
    assert int(np.argmin(levels)) in kept
    if len(times) > count:
        spans = (count - 1) // 3
        edges = [int(times[0]) + int(times[-1] - times[0]) * span // spans for span in range(1, spans)]
        for edge in edges:  # the level that holds there is the right one
            before = np.flatnonzero(times < edge)
            assert levels[before[-1]] == levels[kept[kept <= before[-1]][-1]]


def test_levels_beyond_64_bits_are_thinned_too() -> None:
    levels = np.array([2**70 + place % 7 for place in range(100)], object)
    kept = thinned(np.arange(100), levels, 20)
    assert max(levels[kept]) == 2**70 + 6
    assert len(kept) <= 20


@pytest.fixture
def trace(open_events: Any) -> Trace:
    (found,) = open_events(
        op("aten::linear", 0, 100),
        op("aten::mm", 10, 20),
        op("aten::add", 60, 70),
        change(12, 1, 512),
        change(15, 2, 2048),
        change(30, 1, -512),
        change(61, 3, 1024),
        change(62, 9, -4096),
        change(63, 2, -2048),
        change(5, 7, 100, device=1),
        {"ph": "C", "name": "gpu_mem", "pid": 1, "tid": 1, "ts": 3, "args": {"value": 7.5}},
        {"ph": "i", "s": "t", "name": "[memory]", "pid": 10, "tid": MAIN, "ts": 5,
         "args": {"Addr": 77, "Bytes": 1, "Device Type": 0, "Device Id": -1, "Total Reserved": 9}},
    ).traces  # fmt: skip
    return found  # type: ignore[no-any-return]


def test_the_curve_of_the_fullest_device(trace: Trace) -> None:
    found = memory_curve(trace)
    assert (found.device, found.devices) == ("cuda:0", ["cpu", "cuda:0", "cuda:1"])
    assert list(zip(found.times_ns, found.bytes, strict=True)) == [
        (0, 4096), (12 * US, 4608), (15 * US, 6656), (30 * US, 6144), (61 * US, 7168), (62 * US, 3072), (63 * US, 1024),
    ]  # fmt: skip
    assert (found.peak_bytes, found.peak_at_ns, found.changes, found.end_ns) == (7168, 61 * US, 7, 100 * US)
    assert found.capacity_bytes is None
    assert [(counter["name"], counter["values"]) for counter in found.counters] == [("gpu_mem", [7.5])]


def test_counters_of_other_devices_are_left_out(trace: Trace) -> None:
    assert [row["name"] for row in memory_curve(trace, device="cpu").counters] == [
        "reserved bytes of cpu", "gpu_mem",
    ]  # fmt: skip


@pytest.mark.parametrize("ask", [memory_curve, live_at, allocations])
def test_an_unknown_device_names_those_there_are(trace: Trace, ask: Any) -> None:
    with pytest.raises(LaptimeError, match="devices here: cpu, cuda:0, cuda:1"):
        ask(trace, device="npu:0")


@pytest.mark.parametrize("ask", [memory_curve, live_at, allocations])
def test_nothing_recorded_is_unknown(open_events: Any, ask: Any) -> None:
    (trace,) = open_events(op("aten::mm", 0, 9)).traces
    found = ask(trace)
    assert found.device is None
    assert [getattr(found, key) for key in ("peak_bytes", "bytes") if hasattr(found, key)] in ([None, []], [None], [])
    with pytest.raises(LaptimeError, match="none is named"):
        ask(trace, device="cuda:0")


def test_what_lives_at_an_instant(trace: Trace) -> None:
    found = live_at(trace, 20 * US)
    assert (found.at_ns, found.bytes, found.total_rows) == (20 * US, 6656, 3)
    assert [(row["op"], row["size_bytes"]) for row in found.owners] == [
        (None, 4096),
        ("aten::mm", 2048),
        ("aten::mm", 512),
    ]
    assert live_at(trace).at_ns == 61 * US
    assert live_at(trace, -5).bytes == 4096
    limited = live_at(trace, 20 * US, limit=1)
    assert (len(limited.owners), limited.total_rows, limited.bytes) == (1, 3, 6656)


def test_blocks_are_chosen_sorted_and_paged(trace: Trace) -> None:
    found = allocations(trace)
    assert [row["size_bytes"] for row in found.rows] == [4096, 2048, 1024, 512]
    assert [row["dur_ns"] for row in found.rows] == [None, 48 * US, None, 18 * US]
    assert set(found.rows[0]) == set(ALLOCATION_COLUMNS)
    of_mm = allocations(trace, selection=Selection(contains={"op": ["MM"]}, sort="start_ns", ascending=True))
    assert [row["size_bytes"] for row in of_mm.rows] == [512, 2048]
    second = allocations(trace, selection=Selection(sort="size_bytes", limit=1, offset=1))
    assert (second.total_rows, [row["size_bytes"] for row in second.rows]) == (4, [2048])
    with pytest.raises(LaptimeError, match="no column colour"):
        allocations(trace, selection=Selection(sort="colour"))


# ---- real recordings ----


def _check(trace: Trace) -> None:
    """The bytes at any instant are the curve there and the sum of all owners; the peak survives thinning."""
    for each in live_bytes(trace):
        curve = memory_curve(trace, device=each.device, points=30)
        assert max(curve.bytes) == curve.peak_bytes == each.peak[0]
        assert curve.bytes[curve.times_ns.index(each.peak[1])] == each.peak[0]
        first, last = int(each.times[0]), int(each.times[-1])
        for at in (first, *(first + (last - first) * place // 7 for place in range(1, 7)), each.peak[1], last):
            live = live_at(trace, at, device=each.device, limit=1_000_000)
            assert live.bytes == each.at(at) == sum(int(str(row["size_bytes"])) for row in live.owners)
            assert live.total_rows == len(live.owners)


def test_owners_sum_to_the_curve(workspace: Workspace) -> None:
    (trace,) = open_run(SAMPLES / "pytorch" / "memory.pt.trace.json.gz", workspace=workspace).traces
    assert live_bytes_of(trace, None) is not None
    _check(trace)


@pytest.mark.corpus
@pytest.mark.parametrize("case", CORPUS)
def test_owners_of_real_recordings_sum_to_the_curve(corpus: Path, workspace: Workspace, case: str) -> None:
    trace = open_run(corpus / case, workspace=workspace).traces[0]
    assert live_bytes_of(trace, None) is not None
    _check(trace)


@pytest.mark.corpus
def test_the_memory_that_a_device_has(corpus: Path, workspace: Workspace) -> None:
    trace = open_run(corpus / "pytorch" / "hta-v100-216k-events", workspace=workspace).traces[0]
    found = memory_curve(trace, points=500)
    assert (found.device, found.capacity_bytes) == ("cuda:1", 34089730048)
    assert len(found.times_ns) <= 500 < found.changes
