"""Savings, their share and their severity, on steps written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from laptime.advice.weight import Weight, weigh


def _weigh(saved: list[int], totals: list[int], most: int | None = None) -> Weight:
    weight = weigh(np.array(saved, np.int64), np.array(totals, np.int64), most_ns=most)
    assert weight is not None
    return weight


@pytest.mark.parametrize(
    ("saved", "severity"), [(200, "high"), (199, "medium"), (100, "medium"), (99, "low"), (50, "low"), (49, "info")]
)
def test_severity_goes_by_the_share_of_the_step(saved: int, severity: str) -> None:
    weight = _weigh([saved, saved], [1000, 1000])
    assert (weight.saving_ns, weight.share, weight.severity) == (saved, saved / 1000, severity)


def test_less_than_a_hundredth_does_not_count() -> None:
    assert _weigh([10], [1000]).counts
    assert not _weigh([9], [1000]).counts


def test_one_slow_step_is_no_fault_of_all() -> None:
    weight = _weigh([900, 0, 0, 0], [1900, 1000, 1000, 1000])
    assert (weight.saving_ns, weight.severity) == (225, "info")
    assert weight.share == 900 / 4900
    assert _weigh([900, 900, 0, 0], [1900, 1900, 1000, 1000]).severity == "high"


def test_three_steps_are_too_few_to_leave_one_out() -> None:
    assert _weigh([900, 0, 0], [1900, 1000, 1000]).severity == "high"


def test_a_small_saving_within_the_spread_of_the_steps_is_info() -> None:
    saved = [60] * 5
    assert _weigh(saved, [1000, 1001, 999, 1000, 1000]).severity == "low"
    assert _weigh(saved, [1100, 900, 1000, 1050, 950]).severity == "info"  # 2 x 79.06 / sqrt(5) = 70.7 > 60


def test_a_mean_saving_is_never_more_than_its_part() -> None:
    assert _weigh([101, 100], [1000, 1000], most=100).saving_ns == 100
    assert _weigh([101, 100], [1000, 1000]).saving_ns == 101


def test_without_steps_there_is_no_weight() -> None:
    assert weigh(np.empty(0, np.int64), np.empty(0, np.int64)) is None
