"""One small timeline per cause of idle time, its answer beside it.

Unless a case says otherwise the step is [0, 100) us and the device works [0, 20) and from some time on to the end; what
lies between is the gap. `D`, `S`, `L`, `O` are the microseconds of data wait, sync, launch and other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from laptime.analyses.report import report
from laptime.model.trace import Run
from tests.analyses.events import MAIN, OTHER, US, Event, data, host, kernel, launch, op, scope, step, sync

BEFORE = [step(1, 0, 100), launch(1, 0), kernel(1, 0, 20)]
"""A step whose first kernel ends at 20."""


def _causes(*, D: int = 0, S: int = 0, L: int = 0, O: int = 0) -> dict[str, int]:  # noqa: E741 -- as in the heading
    return {"data_wait": D, "sync": S, "launch": L, "other": O}


CASES: dict[str, tuple[list[Event], dict[str, int]]] = {
    "launch: the host was busy with something else": (
        [*BEFORE, op("aten::mm", 22, 40), launch(2, 30), kernel(2, 35, 100)],
        _causes(L=15),
    ),
    "launch: the call began the very moment the gap did": (
        [*BEFORE, launch(2, 20), kernel(2, 35, 100)],
        _causes(L=15),
    ),
    "other: launched before the gap, so queued in time": (
        [*BEFORE, launch(2, 19), kernel(2, 35, 100)],
        _causes(O=15),
    ),
    "other: queued in time, though the host waits for data and in a sync": (
        [*BEFORE, launch(2, 5), data(21, 25), sync(26, 30), kernel(2, 35, 100)],
        _causes(O=15),
    ),
    "other: the launch of the next slice was not recorded": (
        [*BEFORE, data(21, 25), kernel(None, 35, 100)],
        _causes(O=15),
    ),
    "data_wait: data slices of the launching thread before the launch, the rest is launch": (
        [*BEFORE, data(15, 30), data(33, 50), launch(2, 60), kernel(2, 62, 100)],
        _causes(D=10 + 17, L=15),
    ),
    "data_wait: not after the launch": (
        [*BEFORE, data(28, 45), launch(2, 30), kernel(2, 40, 100)],
        _causes(D=2, L=18),
    ),
    "data_wait: nested data slices count once": (
        [*BEFORE, data(22, 32), scope("fetch batch", 24, 30), launch(2, 40), kernel(2, 40, 100)],
        _causes(D=10, L=10),
    ),
    "data_wait: of the thread that launches, not of the main thread": (
        [*BEFORE, data(21, 25), data(26, 29, tid=OTHER), launch(2, 30, tid=OTHER), kernel(2, 35, 100)],
        _causes(D=3, L=12),
    ),
    "sync: in a blocking wait when the gap begins": (
        [*BEFORE, sync(10, 25), launch(2, 30), kernel(2, 35, 100)],
        _causes(S=15),
    ),
    "sync: in a blocking wait when the gap begins, though a launch came after it": (
        [*BEFORE, sync(10, 25), launch(3, 26), launch(2, 30), kernel(2, 35, 100), kernel(3, 50, 60, stream=8)],
        _causes(S=15),
    ),
    "sync: it began the moment the gap did": (
        [*BEFORE, sync(20, 25), launch(3, 26), launch(2, 30), kernel(2, 35, 100), kernel(3, 50, 60, stream=8)],
        _causes(S=15),
    ),
    "sync: a wait ended between the last device slice and the launch": (
        [*BEFORE, sync(22, 25), launch(2, 30), kernel(2, 35, 100)],
        _causes(S=15),
    ),
    "sync: the wait ended the moment the last device slice did": (
        [*BEFORE, sync(5, 20), launch(2, 30), kernel(2, 35, 100)],
        _causes(S=15),
    ),
    "sync: what is left after data": (
        [*BEFORE, sync(10, 22), data(23, 29), launch(2, 30), kernel(2, 35, 100)],
        _causes(D=6, S=9),
    ),
    "sync: recording an event after the wait is no launch": (
        [
            *BEFORE,
            sync(22, 25),
            host("cuda_runtime", "cudaEventRecord", 26, 27, correlation=3),
            {**kernel(3, 26, 27, name="Event Record"), "cat": "cuda_event"},
            launch(2, 30),
            kernel(2, 35, 100),
        ],
        _causes(S=15),
    ),
    "not sync: a launch came after the wait": (
        [*BEFORE, sync(22, 25), launch(3, 26), launch(2, 30), kernel(2, 35, 100), kernel(3, 50, 60, stream=8)],
        _causes(L=15),
    ),
    "not sync: the wait ended before the last device slice did": (
        [*BEFORE, sync(5, 19), launch(2, 30), kernel(2, 35, 100)],
        _causes(L=15),
    ),
    "not sync: the wait ended after the launch": (
        [*BEFORE, sync(32, 34, tid=MAIN), launch(2, 30), kernel(2, 35, 100)],
        _causes(L=15),
    ),
    "not sync: another thread waits": (
        [*BEFORE, sync(10, 25, tid=OTHER), launch(2, 30), kernel(2, 35, 100)],
        _causes(L=15),
    ),
    "no next slice: data slices of the main thread, else other": (
        [*BEFORE, data(30, 50), data(60, 90, tid=OTHER), sync(50, 70)],
        _causes(D=20, O=60),
    ),
    "no next slice: without data all is other": (
        [*BEFORE, sync(10, 70)],
        _causes(O=80),
    ),
    "start of a step: launched after the step began, so late": (
        [step(1, 50, 150), launch(1, 0), kernel(1, 0, 20), launch(2, 60), kernel(2, 80, 150)],
        _causes(L=30),
    ),
    "start of a step: launched before the step began, so in time for its part of the gap": (
        [step(1, 50, 150), launch(1, 0), kernel(1, 0, 20), launch(2, 40), kernel(2, 80, 150)],
        _causes(O=30),
    ),
    "start of a step: the wait ended before the step, after the last device slice": (
        [step(1, 50, 150), launch(1, 0), kernel(1, 0, 20), sync(22, 45), launch(2, 60), kernel(2, 80, 150)],
        _causes(S=30),
    ),
    "start of a step: data before the step is not of the step": (
        [step(1, 50, 150), launch(1, 0), kernel(1, 0, 20), data(30, 58), launch(2, 60), kernel(2, 80, 150)],
        _causes(D=8, L=22),
    ),
    "start of the recording: no device slice before": (
        [step(1, 0, 100), data(5, 15), launch(1, 30), kernel(1, 40, 100)],
        _causes(D=10, L=30),
    ),
    "end of a step: the next slice lies past it, launched late": (
        [step(1, 0, 50), launch(1, 0), kernel(1, 0, 20), launch(2, 30), kernel(2, 60, 100)],
        _causes(L=30),
    ),
    "end of a step: the next slice lies past it, launched in time": (
        [step(1, 0, 50), launch(1, 0), kernel(1, 0, 20), launch(2, 10), kernel(2, 60, 100)],
        _causes(O=30),
    ),
    "end of a step: the launch lies past it too, data counts up to the step's end": (
        [step(1, 0, 50), launch(1, 0), kernel(1, 0, 20), data(25, 70), launch(2, 80), kernel(2, 90, 100)],
        _causes(D=25, L=5),
    ),
    "a gap of the whole step": (
        [step(1, 30, 50), launch(1, 0), kernel(1, 0, 20), data(25, 40), launch(2, 45), kernel(2, 60, 100)],
        _causes(D=10, L=10),
    ),
    "no launch links at all: late up to the next slice, on the main thread": (
        [step(1, 0, 100), kernel(None, 0, 20), data(30, 37), kernel(None, 40, 100)],
        _causes(D=7, L=13),
    ),
    "no launch links at all: a wait that ended in the gap": (
        [step(1, 0, 100), kernel(None, 0, 20), data(30, 37), sync(22, 25), kernel(None, 40, 100)],
        _causes(D=7, S=13),
    ),
    "no launch links at all, no next slice": (
        [step(1, 0, 100), kernel(None, 0, 20), data(30, 37)],
        _causes(D=7, O=73),
    ),
    "two devices: idle only where both are": (
        [*BEFORE, launch(2, 30), launch(3, 31), kernel(3, 35, 60, device=1), kernel(2, 50, 100)],
        _causes(L=15),
    ),
    "several gaps, each with its own cause": (
        [
            *BEFORE,
            launch(2, 10),
            kernel(2, 25, 40),
            sync(30, 41),
            launch(3, 42),
            kernel(3, 45, 60),
            data(60, 66),
            launch(4, 68),
            kernel(4, 70, 80),
        ],
        _causes(O=5 + 20, S=5, D=6, L=4),
    ),
    "waits of the device's own rows are no work of it": (
        [*BEFORE, {**kernel(None, 20, 90, name="Stream Sync"), "cat": "cuda_sync"}, launch(2, 30), kernel(2, 35, 100)],
        _causes(L=15),
    ),
    "device slices without length make nothing busy": (
        [step(1, 0, 100), data(30, 40), launch(1, 0), kernel(1, 10, 10)],
        _causes(D=10, O=90),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_cause(open_events: Callable[..., Run], case: str) -> None:
    events, expected = CASES[case]
    result: dict[str, Any] = report(open_events(*events))
    (found,) = result["ranks"][0]["steps"]
    budget = found["budget"]
    assert budget["basis"] == "device"
    assert {cause: budget[f"idle_{cause}_ns"] for cause in expected} == {c: us * US for c, us in expected.items()}
    assert budget["idle_ns"] == sum(expected.values()) * US


HOST_CASES: dict[str, tuple[list[Event], dict[str, int]]] = {
    "each instant goes to the first that applies: data, communication, sync, op, none": (
        [
            step(1, 0, 100),
            op("aten::linear", 0, 80),
            host("cuda_runtime", "cudaDeviceSynchronize", 10, 50),
            op("gloo:all_reduce", 20, 40, tid=OTHER),
            data(30, 60),
        ],
        {"compute": 30, "communication_exposed": 10, "idle_data_wait": 30, "idle_sync": 10, "idle_other": 20},
    ),
    "ops, waits and data of other threads are not of the step; communication of any is": (
        [
            step(1, 0, 100),
            op("aten::mm", 0, 10),
            op("aten::mm", 10, 50, tid=OTHER),
            data(50, 60, tid=OTHER),
            sync(60, 70, tid=OTHER),
            op("gloo:broadcast", 90, 130, tid=OTHER),
        ],
        {"compute": 10, "communication_exposed": 10, "idle_data_wait": 0, "idle_sync": 0, "idle_other": 80},
    ),
    "the main thread is that of the markers, though another one works more": (
        [step(1, 0, 100), op("aten::mm", 20, 30), op("aten::mm", 0, 100, tid=OTHER)],
        {"compute": 10, "communication_exposed": 0, "idle_data_wait": 0, "idle_sync": 0, "idle_other": 90},
    ),
    "slices that reach over the step's borders count inside it": (
        [step(1, 50, 100), op("aten::mm", 0, 60), data(90, 120)],
        {"compute": 10, "communication_exposed": 0, "idle_data_wait": 10, "idle_sync": 0, "idle_other": 30},
    ),
}


@pytest.mark.parametrize("case", HOST_CASES)
def test_host_basis(open_events: Callable[..., Run], case: str) -> None:
    events, expected = HOST_CASES[case]
    result: dict[str, Any] = report(open_events(*events))
    (found,) = result["ranks"][0]["steps"]
    budget = found["budget"]
    assert budget["basis"] == "host"
    assert budget["idle_launch_ns"] is None
    assert budget["copy_exposed_ns"] == 0
    assert {part: budget[f"{part}_ns"] for part in expected} == {part: us * US for part, us in expected.items()}
    assert sum(expected.values()) * US == budget["total_ns"]


def test_compilation_lies_inside_the_other_parts(open_events: Callable[..., Run]) -> None:
    compiling = host("user_annotation", "_compile.compile_inner (dynamo_timed)", 10, 40)
    nested = host("user_annotation", "compile_fx (dynamo_timed)", 20, 50)
    elsewhere = host("user_annotation", "compile_fx (dynamo_timed)", 60, 90, tid=OTHER)
    result: dict[str, Any] = report(open_events(step(1, 0, 100), compiling, nested, elsewhere, op("aten::mm", 0, 30)))
    budget = result["ranks"][0]["steps"][0]["budget"]
    assert (budget["compile_ns"], budget["compute_ns"], budget["total_ns"]) == (40 * US, 30 * US, 100 * US)
