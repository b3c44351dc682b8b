"""Gaps of the device by what ends them, and how far the device runs behind its launches; times in microseconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from laptime.analyses.budget import StepSpans
from laptime.analyses.parts import Part
from laptime.analyses.queueing import delays_of, gaps
from laptime.analyses.report import report
from laptime.model.trace import Run
from tests.analyses.events import US, data, kernel, launch, op, step, sync

Opener = Callable[..., Run]

STEP = [
    step(1, 0, 100),
    launch(1, 0),
    kernel(1, 5, 10, name="late"),  # 0-5: launched in the step
    launch(2, 3),
    kernel(2, 12, 20, name="queued"),  # 10-12: launched before the gap
    data(18, 28),
    launch(3, 30),
    kernel(3, 34, 50, name="after data"),  # 20-34: 8 of data, 6 of launch
    sync(40, 55),
    launch(4, 60),
    kernel(4, 70, 100, name="after sync", stream=8),  # 50-70
]


def _steps(run: Run, part: Part | None = None) -> list[dict[str, Any]]:
    result: Any = report(run) if part is None else report(run, part)
    return list(result["ranks"][0]["steps"])


def test_each_gap_counts_for_the_cause_of_most_of_it(open_events: Opener) -> None:
    run = open_events(*STEP)
    (found,) = _steps(run)
    assert found["gaps"] == {
        "count": 4,
        "data_wait": 1,
        "sync": 1,
        "launch": 1,
        "other": 1,
        "longest_ns": 20 * US,
        "longest_cause": "sync",
    }
    budget = found["budget"]
    assert (budget["idle_data_wait_ns"], budget["idle_launch_ns"]) == (8 * US, (5 + 6) * US)


def test_busy_share_is_that_of_the_step(open_events: Opener) -> None:
    (found,) = _steps(open_events(*STEP))
    assert found["devices"] == [{"device": 0, "busy_ns": 59 * US, "busy_share": 0.59}]
    two = _steps(open_events(*STEP, kernel(None, 0, 50, device=1)))[0]["devices"]
    assert [(each["device"], each["busy_share"]) for each in two] == [(0, 0.59), (1, 0.5)]


def test_delays_run_from_the_end_of_the_launch(open_events: Opener) -> None:
    run = open_events(*STEP)
    (found,) = _steps(run)
    delays = sorted([5 - 1, 12 - 4, 34 - 31, 70 - 61])
    assert delays == [3, 4, 8, 9]
    assert found["launches"] == {
        "count": 4,
        "mean_ns": 6 * US,
        "min_ns": 3 * US,
        "p50_ns": 6 * US,
        "p90_ns": 8700,
        "max_ns": 9 * US,
        "recorded_mean_ns": None,
    }


def test_launches_belong_to_the_step_they_begin_in(open_events: Opener) -> None:
    """Wherever their slices run; the next step launches none."""
    run = open_events(step(1, 0, 50), step(2, 50, 100), launch(1, 49), kernel(1, 80, 90))
    first, second = _steps(run)
    assert (first["launches"]["count"], first["launches"]["mean_ns"]) == (1, 30 * US)
    assert second["launches"] is None


def test_a_slice_may_start_before_its_launch_returns(open_events: Opener) -> None:
    event = launch(1, 10)
    run = open_events(step(1, 0, 50), {**event, "dur": 8}, kernel(1, 12, 20))
    assert _steps(run)[0]["launches"]["min_ns"] == -6 * US


def test_what_the_source_recorded_itself_stands_beside(open_events: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("laptime.analyses.queueing._RECORDED", "ahead_ms")  # MegEngine's name makes it a file of its
    samples = [
        {"ph": "C", "name": "ahead_ms", "pid": 10, "ts": ts, "args": {"value": value}}
        for ts, value in ((10, 0.001), (20, 0.003), (30, 1e300), (120, 9))
    ]
    run = open_events(*STEP, *samples)
    assert _steps(run)[0]["launches"]["recorded_mean_ns"] == 2 * US


def test_the_summary_takes_all_steps(open_events: Opener) -> None:
    events = [step(1, 0, 100), step(2, 100, 200), launch(1, 10), kernel(1, 20, 70), launch(2, 140), kernel(2, 150, 200)]
    result: Any = report(open_events(*events))
    assert result["ranks"][0]["queueing"] == {
        "busy_share": 0.5,
        "gaps_per_step": {"data_wait": 0.0, "sync": 0.0, "launch": 1.5, "other": 0.0},
        "launches": {
            "count": 2,
            "mean_ns": 9 * US,
            "min_ns": 9 * US,
            "p50_ns": 9 * US,
            "p90_ns": 9 * US,
            "max_ns": 9 * US,
            "recorded_mean_ns": None,
        },
    }


def test_a_range_has_its_own_gaps_and_launches(open_events: Opener) -> None:
    result: Any = report(open_events(*STEP), Part(from_ns=15 * US, to_ns=60 * US))
    window = result["ranks"][0]["range"]
    assert (window["gaps"]["count"], window["gaps"]["data_wait"], window["gaps"]["sync"]) == (2, 1, 1)
    assert window["launches"]["count"] == 1
    assert window["devices"] == [{"device": 0, "busy_ns": 21 * US, "busy_share": 21 / 45}]


def test_without_a_device_nothing_is_known(open_events: Opener) -> None:
    run = open_events(step(1, 0, 100), op("a", 0, 10))
    (found,) = _steps(run)
    assert (found["gaps"], found["launches"], found["devices"]) == (None, None, [])
    result: Any = report(run)
    assert result["ranks"][0]["queueing"] is None
    assert gaps(run.traces[0], StepSpans.of(run.traces[0])) is None


@pytest.mark.parametrize("first", [0, 31])
def test_nothing_is_launched_in_a_span_without_launches(first: int, open_events: Opener) -> None:
    delays = delays_of(open_events(*STEP).traces[0])
    found = delays.between(first * US, 60 * US)
    assert (found is None) == (first == 31)
