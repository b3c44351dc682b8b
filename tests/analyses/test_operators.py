"""Operator tables of small hand-made call trees, the answers beside them (in microseconds)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from laptime.analyses.operators import operator_table
from laptime.analyses.parts import Part
from laptime.analyses.report import report
from laptime.analyses.selection import Selection
from laptime.analyses.side_by_side import all_operators
from laptime.errors import LaptimeError
from laptime.model.trace import Run
from tests.analyses.events import OTHER, US, Event, host, kernel, launch, op, scope, step

Rows = dict[str, dict[str, Any]]
Opener = Callable[..., Run]


def _rows(run: Run, *, by: str, on: str | None = None) -> Rows:
    table = operator_table(run.traces[0], by=by, on=on)
    assert table.total_rows == len(table.rows)
    return {str(row["name"]): row for row in table.rows}


def _us(rows: Rows, *columns: str) -> dict[str, tuple[Any, ...]]:
    """Columns of each row, times in microseconds."""
    return {name: tuple(_in_us(column, row[column]) for column in columns) for name, row in rows.items()}


def _in_us(column: str, value: Any) -> Any:
    return value / US if column.endswith("_ns") else value


# ---- host ----


def test_host_time_with_and_without_children(open_events: Opener) -> None:
    run = open_events(
        op("aten::linear", 0, 100),
        op("aten::t", 10, 30),
        op("aten::transpose", 15, 20),
        op("aten::addmm", 40, 90),
        host("cuda_runtime", "cudaLaunchKernel", 50, 60, correlation=1),
        op("aten::t", 200, 210),
    )
    assert _us(_rows(run, by="name", on="host"), "count", "total_ns", "self_ns") == {
        "aten::linear": (1, 100, 30),
        "aten::t": (2, 30, 25),
        "aten::transpose": (1, 5, 5),
        "aten::addmm": (1, 50, 50),  # a call of the runtime is no operator
    }


def test_a_nested_op_of_the_same_name_counts_once_in_total(open_events: Opener) -> None:
    run = open_events(
        op("aten::to", 0, 100),
        op("aten::_to_copy", 10, 90),
        op("aten::to", 20, 50),
        op("aten::to", 30, 40),
        op("aten::to", 200, 220),
    )
    rows = _rows(run, by="name", on="host")
    assert _us(rows, "count", "total_ns", "self_ns", "min_ns", "max_ns") == {
        "aten::to": (4, 120, 20 + 20 + 10 + 20, 10, 100),
        "aten::_to_copy": (1, 80, 50, 80, 80),
    }
    assert sum(row["self_ns"] for row in rows.values()) == 120 * US


def test_children_are_found_through_what_is_no_operator(open_events: Opener) -> None:
    run = open_events(
        op("outer", 0, 100),
        scope("a range", 10, 60),
        host("python_function", "model.py(3): forward", 15, 55),
        op("inner", 20, 50),
    )
    assert _us(_rows(run, by="name", on="host"), "total_ns", "self_ns") == {"outer": (100, 70), "inner": (30, 30)}


def test_children_that_cross_each_other_are_not_taken_off_twice(open_events: Opener) -> None:
    """Threads share an id, or the recorder tears a range: [10, 80) and [20, 90) cover [10, 90) of their parent."""
    run = open_events(op("outer", 0, 100), op("left", 10, 80), op("right", 20, 90))
    assert _us(_rows(run, by="name", on="host"), "total_ns", "self_ns")["outer"] == (100, 20)


def test_other_threads_have_their_own_trees(open_events: Opener) -> None:
    run = open_events(op("outer", 0, 100), op("inner", 20, 30, tid=OTHER))
    assert _us(_rows(run, by="name", on="host"), "self_ns") == {"outer": (100,), "inner": (10,)}


def test_an_untimed_op_is_in_no_time(open_events: Opener) -> None:
    untimed = {key: value for key, value in op("aten::mm", 50, 60).items() if key != "dur"}
    run = open_events(op("aten::mm", 0, 10), untimed, op("aten::mm", 20, 40))
    row = _rows(run, by="name", on="host")["aten::mm"]
    assert (row["total_ns"], row["min_ns"], row["p50_ns"]) == (30 * US, 10 * US, 15 * US)


def test_statistics(open_events: Opener) -> None:
    lengths = (1, 2, 3, 10)
    run = open_events(*(op("aten::mm", 100 * k, 100 * k + dur) for k, dur in enumerate(lengths)), op("b", 900, 904))
    row = _rows(run, by="name", on="host")["aten::mm"]
    assert (row["mean_ns"], row["min_ns"], row["max_ns"]) == (4 * US, 1 * US, 10 * US)
    assert (row["p50_ns"], row["p90_ns"]) == (2500, 7900)  # between 2 and 3; 3 + 0.7 * (10 - 3)
    assert row["share"] == 16 / 20


@pytest.mark.parametrize(
    ("durations", "p50", "p90"),
    [
        ([2, 3], 3, 3),  # 2.5 rounds up
        ([0, 5], 3, 5),  # 4.5 rounds up
        ([0, 15, 15], 15, 15),
        ([1_000_000_000_000, 1_000_000_000_005], 1_000_000_000_003, 1_000_000_000_005),
        ([100, 115], 108, 114),  # 100 + 0.9 * 15 = 113.5
        ([19_999, 20_014], 20_007, 20_013),  # 19,999 + 13.5 = 20,012.5
        ([100] * 9 + [125], 100, 103),  # 100 + 0.1 * 25 = 102.5
    ],
)
def test_percentiles_round_half_up(open_events: Opener, durations: list[int], p50: int, p90: int) -> None:
    """By linear interpolation, in nanoseconds; no float may come between."""
    events = [{**op("aten::mm", 0, 1), "ts": k * 10**10, "dur": ns / 1000} for k, ns in enumerate(durations)]
    row = _rows(open_events(*events), by="name", on="host")["aten::mm"]
    assert (row["p50_ns"], row["p90_ns"]) == (p50, p90)


# ---- device ----

LINEAR: list[Event] = [
    op("aten::linear", 0, 100),
    launch(1, 5),
    op("aten::addmm", 10, 50),
    launch(2, 20),
    launch(3, 30),
    op("aten::relu", 60, 80),
    kernel(1, 100, 107, name="fill"),
    kernel(2, 110, 150, name="gemm"),
    kernel(3, 150, 155, name="bias"),
]


def test_device_time_through_links(open_events: Opener) -> None:
    """Self is what the op itself launched, total adds its children; an op that launched nothing is no row."""
    assert _us(_rows(open_events(*LINEAR), by="name", on="device"), "count", "total_ns", "self_ns") == {
        "aten::linear": (1, 52, 7),
        "aten::addmm": (1, 45, 45),
    }


def test_a_nested_op_of_the_same_name_counts_once_on_the_device(open_events: Opener) -> None:
    run = open_events(
        op("aten::to", 0, 100),
        launch(1, 5),
        op("aten::to", 10, 50),
        launch(2, 20),
        kernel(1, 100, 107),
        kernel(2, 110, 150),
    )
    assert _us(_rows(run, by="name", on="device"), "count", "total_ns", "self_ns") == {"aten::to": (2, 47, 47)}


def test_graph_launch_gives_all_its_kernels_to_its_op(open_events: Opener) -> None:
    graph = host("cuda_runtime", "cudaGraphLaunch", 10, 12, correlation=5)
    run = open_events(op("replay", 0, 20), graph, *(kernel(5, 20 + 10 * k, 27 + 10 * k) for k in range(20)))
    assert _us(_rows(run, by="name", on="device"), "count", "total_ns", "self_ns") == {"replay": (1, 140, 140)}


def test_unlinked_work_is_shown_so_that_self_sums_to_all_device_time(open_events: Opener) -> None:
    unlinked = [
        kernel(None, 200, 230, name="lost"),
        kernel(None, 240, 244, name="Memcpy DtoH", category="gpu_memcpy"),
        kernel(None, 250, 260, name="ncclDevKernel_AllReduce"),
    ]
    outside = [launch(9, 190), kernel(9, 262, 264, name="launched outside any op")]
    run = open_events(*LINEAR, *unlinked, *outside)
    whole = 52 + 30 + 4 + 10 + 2
    for by in ("name", "op-type", "full-name", "kernel", "module", "shape", "source"):
        rows = _rows(run, by=by, on="device") if by != "shape" else {}
        rows = rows or {str(k): row for k, row in enumerate(operator_table(run.traces[0], by=by, on="device").rows)}
        assert sum(row["self_ns"] for row in rows.values()) == whole * US, by
        assert sum(row["share"] for row in rows.values()) == pytest.approx(1)
    operators = _rows(run, by="name", on="device")
    lost = [row["self_ns"] // US for name, row in operators.items() if not name.startswith("aten::")]
    assert sorted(lost) == [4, 10, 32]


def test_kernels_by_name(open_events: Opener) -> None:
    run = open_events(*LINEAR, launch(8, 85), kernel(8, 160, 170, name="gemm", stream=9))
    rows = _rows(run, by="kernel")
    assert _us(rows, "count", "total_ns", "self_ns", "max_ns", "op_type") == {
        "fill": (1, 7, 7, 7, "kernel"),
        "gemm": (2, 50, 50, 40, "kernel"),
        "bias": (1, 5, 5, 5, "kernel"),
    }
    with pytest.raises(LaptimeError):
        operator_table(run.traces[0], by="kernel", on="host")


# ---- overrunning ----


def _swallowing(count: int, *, inside: int | None = None, stream: int = 7, category: str = "kernel") -> list[Event]:
    """A kernel of [0, 1000) and `count` others on a stream, 20 us each from 100 on."""
    others = [
        kernel(inside or 10 + k, 100 + 50 * k, 120 + 50 * k, name="inner", stream=stream, category=category)
        for k in range(count)
    ]
    return [step(1, 0, 1100), kernel(1, 0, 1000, name="long"), *others]


@pytest.mark.parametrize(
    ("events", "long_us"),
    [
        (_swallowing(8), 100),  # clipped to the next start
        (_swallowing(7), 1000),  # seven are no proof
        (_swallowing(12, stream=9), 1000),  # another stream may run at the same time
        (_swallowing(12, inside=1), 1000),  # one graph launch: they share its correlation
        (_swallowing(12, category="gpu_memcpy"), 100),  # copies count
        (_swallowing(12, category="gpu_user_annotation"), 1000),  # scopes never do
        ([*_swallowing(7), kernel(99, 990, 1010, name="inner")], 1000),  # a partial overlap is not swallowed
    ],
)
def test_overrunning_slices_are_clipped_in_sums_by_name(open_events: Opener, events: list[Event], long_us: int) -> None:
    run = open_events(*events)
    row = _rows(run, by="kernel")["long"]
    assert (row["total_ns"], row["max_ns"]) == (long_us * US, long_us * US)
    result: dict[str, Any] = report(run)
    assert result["ranks"][0]["device_total"]["busy_ns"] >= 1000 * US  # unions keep what was recorded
    warned = [warning["count"] for warning in result["warnings"] if warning["code"] == "overrunning"]
    assert warned == ([1] if long_us < 1000 else [])


# ---- groups ----


def test_by_type_module_shape_and_source(open_events: Opener) -> None:
    run = open_events(
        host("python_function", "/home/me/train.py(10): main", 0, 300),
        host("python_function", "nn.Module: Net_0", 10, 200),
        host("python_function", "nn.Module: Linear_1", 20, 100),
        host("python_function", "/home/me/net.py(7): forward", 25, 95),
        host("python_function", "/usr/lib/python3.11/site-packages/torch/nn/functional.py(5): linear", 28, 92),
        op("aten::mm", 30, 90, **{"Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}),
        op("aten::mm", 120, 130, **{"Input Dims": [[5, 3], [3, 4]], "Input type": ["float", "float"]}),
        op("mine::mm", 250, 260),
    )
    columns = ("count", "total_ns")
    assert _us(_rows(run, by="op-type"), *columns) == {"mm": (3, 80)}
    assert _us(_rows(run, by="name"), *columns) == {"aten::mm": (2, 70), "mine::mm": (1, 10)}
    assert _us(_rows(run, by="module"), *columns) == {
        "Net_0/Linear_1": (1, 60),
        "Net_0": (1, 10),
        "[no module]": (1, 10),
    }
    assert _us(_rows(run, by="full-name"), *columns) == {
        "Net_0/Linear_1/aten::mm": (1, 60),
        "Net_0/aten::mm": (1, 10),
        "mine::mm": (1, 10),
    }
    shapes = operator_table(run.traces[0], by="shape").rows
    found = [(row["name"], (row["info"] or {}).get("input_shapes"), row["total_ns"] // US) for row in shapes]
    assert found == [("aten::mm", [[2, 3], [3, 4]], 60), ("aten::mm", [[5, 3], [3, 4]], 10), ("mine::mm", None, 10)]
    assert _us(_rows(run, by="source"), *columns) == {"/home/me/net.py:7": (1, 60), "/home/me/train.py:10": (2, 20)}


def test_default_is_the_device_where_there_is_one(open_events: Opener) -> None:
    on_device = operator_table(open_events(*LINEAR).traces[0])
    assert (on_device.by, on_device.on) == ("op-type", "device")
    assert {row["name"] for row in on_device.rows} == {"linear", "addmm"}
    assert operator_table(open_events(op("aten::mm", 0, 5)).traces[0]).on == "host"


def test_sorted_and_limited(open_events: Opener) -> None:
    trace = open_events(op("b", 0, 5), op("a", 10, 15), op("c", 20, 30), op("d", 40, 41)).traces[0]
    table = operator_table(trace, by="name", selection=Selection(sort="self_ns", limit=3))
    assert ([row["name"] for row in table.rows], table.total_rows) == (["c", "a", "b"], 4)
    by_name = operator_table(trace, by="name", selection=Selection(sort="name", none_of={"name": ["C"]}))
    assert [row["name"] for row in by_name.rows] == ["a", "b", "d"]


# ---- one device of several ----


def _two_devices(open_events: Opener) -> Run:
    return open_events(
        step(1, 0, 100),
        op("aten::mm", 0, 20),
        launch(1, 5),
        op("aten::add", 30, 50),
        launch(2, 35),
        launch(3, 40),
        kernel(1, 10, 40, device=0),
        kernel(2, 50, 60, device=0, name="add"),
        kernel(3, 50, 90, device=1, name="add"),
    )


@pytest.mark.parametrize(("device", "expected"), [(0, {"mm": (1, 30), "add": (1, 10)}), (1, {"add": (1, 40)})])
def test_operators_of_one_device(open_events: Opener, device: int, expected: dict[str, tuple[int, float]]) -> None:
    trace = _two_devices(open_events).traces[0]
    table = operator_table(trace, by="op-type", part=Part(device=device))
    rows = {str(row["name"]): row for row in table.rows}
    assert _us(rows, "count", "self_ns") == expected
    assert sum(row["share"] for row in rows.values()) == pytest.approx(1)


@pytest.mark.parametrize("by", ["op-type", "name", "kernel", "track"])
def test_devices_make_up_the_whole(open_events: Opener, by: str) -> None:
    trace = _two_devices(open_events).traces[0]

    def own(part: Part) -> int:
        return sum(row["self_ns"] for row in operator_table(trace, by=by, part=part).rows)  # type: ignore[misc]

    assert own(Part(device=0)) + own(Part(device=1)) == own(Part()) == 80 * US


def test_threads_know_no_device(open_events: Opener) -> None:
    trace = _two_devices(open_events).traces[0]
    whole, of_device = (all_operators(trace, by="name", on="host", part=part).rows for part in (Part(), Part(device=1)))
    assert [row["host_ns"] for row in of_device] == [row["host_ns"] for row in whole]
    assert [(row["name"], row["device_ns"]) for row in of_device] == [("aten::mm", 0), ("aten::add", 40 * US)]


def test_a_device_that_is_not_there(open_events: Opener) -> None:
    trace = _two_devices(open_events).traces[0]
    with pytest.raises(LaptimeError, match=r"no device 2: .*: devices here: 0, 1"):
        operator_table(trace, part=Part(device=2))
