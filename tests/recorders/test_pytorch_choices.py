"""Which activities are asked for, by what a PyTorch supports; no hardware but the CPU has shown them."""

from __future__ import annotations

import enum

import pytest

from laptime.recorders.options import Options, activities_of
from laptime.recorders.pytorch_activities import chosen_activities


class Activity(enum.Enum):
    """torch's ProfilerActivity."""

    CPU = 0
    CUDA = 1
    XPU = 2
    MTIA = 3
    HPU = 4
    PrivateUse1 = 5


_CUDA = [Activity.CUDA, Activity.CPU]
"""Also what builds for ROCm support: there CUDA is the name of it."""
_XPU = [Activity.XPU, Activity.CPU]
_NPU = [Activity.PrivateUse1, Activity.CPU]


@pytest.mark.parametrize(
    ("supported", "options", "expected"),
    [
        ([Activity.CPU], {}, [Activity.CPU]),
        (_CUDA, {}, [Activity.CPU, Activity.CUDA]),
        (_XPU, {}, [Activity.CPU, Activity.XPU]),
        (_NPU, {}, [Activity.CPU, Activity.PrivateUse1]),
        (_CUDA, {"profile_device": False}, [Activity.CPU]),
        (_CUDA, {"activities": [Activity.CUDA]}, [Activity.CUDA]),
        (_CUDA, {"activities": ["CPU", "rocm"]}, [Activity.CPU, Activity.CUDA]),
        (_NPU, {"activities": ["cpu", "npu"]}, [Activity.CPU, Activity.PrivateUse1]),
        (_XPU, {"activities": [Activity.CPU, Activity.XPU, "xpu"]}, [Activity.CPU, Activity.XPU]),
    ],
)
def test_activities(supported: list[Activity], options: dict[str, object], expected: list[Activity]) -> None:
    chosen = activities_of(options.get("activities"))  # type: ignore[arg-type]
    device = bool(options.get("profile_device", True))
    assert chosen_activities(Options(activities=chosen, profile_device=device), supported) == expected


def test_what_is_not_supported_is_told_and_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    options = Options(activities=("cpu", "cuda"))
    assert chosen_activities(options, [Activity.CPU]) == [Activity.CPU]
    assert "cannot record cuda" in capsys.readouterr().err


def test_nothing_to_record() -> None:
    with pytest.raises(ValueError, match="nothing to record"):
        chosen_activities(Options(activities=("cuda",)), [Activity.CPU])
