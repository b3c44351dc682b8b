"""Schedules against torch.profiler's: its documented example, and its code, written out anew."""

from __future__ import annotations

import enum

import pytest
from hypothesis import given
from hypothesis import strategies as st

import laptime
from laptime.recorders.schedules import NONE, RECORD, SAVE, WARMUP, action_name, always

_COUNT = st.integers(0, 5)


def _torch(step: int, wait: int, warmup: int, active: int, repeat: int, skip_first: int) -> str:
    """torch.profiler.schedule as its documentation says: skip the first steps, then cycles of wait, warmup, active."""
    step -= skip_first
    if step < 0:
        return NONE
    cycle = [NONE] * wait + [WARMUP] * warmup + [RECORD] * (active - 1) + [SAVE]
    if repeat and step // len(cycle) >= repeat:
        return NONE
    return cycle[step % len(cycle)]


@given(wait=_COUNT, warmup=_COUNT, active=st.integers(1, 5), repeat=_COUNT, skip_first=_COUNT)
def test_as_torch(wait: int, warmup: int, active: int, repeat: int, skip_first: int) -> None:
    ours = laptime.schedule(wait=wait, warmup=warmup, active=active, repeat=repeat, skip_first=skip_first)
    steps = range(60)
    assert [ours(step) for step in steps] == [_torch(step, wait, warmup, active, repeat, skip_first) for step in steps]


def test_the_example_of_torchs_documentation() -> None:
    """`schedule(wait=1, warmup=1, active=2, repeat=1)` of the recipe: the third and fourth step are recorded."""
    plan = laptime.schedule(wait=1, warmup=1, active=2, repeat=1)
    assert [plan(step) for step in range(6)] == [NONE, WARMUP, RECORD, SAVE, NONE, NONE]


@pytest.mark.parametrize("name", ["wait", "warmup", "repeat", "skip_first"])
def test_negative_numbers(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must not be negative: -1"):
        laptime.schedule(**{"active": 1, name: -1})


@pytest.mark.parametrize("active", [0, -3])
def test_nothing_to_record(active: int) -> None:
    with pytest.raises(ValueError, match="active must be 1 or more"):
        laptime.schedule(active=active)


def test_actions_of_torch_by_their_names() -> None:
    actions = enum.Enum("ProfilerAction", ["NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"])
    assert [action_name(action) for action in actions] == [NONE, WARMUP, RECORD, SAVE]
    assert action_name(always(7)) == RECORD
    with pytest.raises(ValueError, match="not 3"):
        action_name(3)
