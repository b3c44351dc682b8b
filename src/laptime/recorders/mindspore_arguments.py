"""Which arguments MindSpore's profiler gets: ours by its names, and the names that older releases and guides use.

`mindspore.profiler.profile` takes some arguments itself and others by `_ExperimentalConfig`: its signature tells which.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import cast

from laptime.recorders.options import Options

CPU, ASCEND, GPU = "CPU", "Ascend", "GPU"
OWN_ARGUMENTS = ("data_process", "monitor_sampling_interval")
"""What laptime does itself, on every device; see `mindspore_minddata`."""
_DEVICE_ACTIVITY = {ASCEND: "NPU", GPU: "GPU"}
_WITHOUT_EFFECT = ("output_path", "start_profile", "timeline_limit", "schedule", "on_trace_ready", "ascend_job_id")
"""Of guides: laptime sets them itself, or they mean nothing any more."""


def profile_arguments(options: Options, profiler: ModuleType, target: str) -> dict[str, object]:
    """Arguments of `mindspore.profiler.profile`. Raises TypeError for names that neither it nor a guide knows."""
    wanted = _renamed(dict(options.extra), profiler)
    chosen: dict[str, object] = {
        "activities": _activities(options, wanted, profiler, target=target),
        "profile_memory": options.records_memory,
        "record_shapes": options.record_shapes and target != CPU,
        "with_stack": options.with_backtrace and target != CPU,
        "start_profile": False,
    }
    direct = _names(cast("Callable[..., object]", profiler.profile))
    config = getattr(profiler, "_ExperimentalConfig", None)
    indirect = {name: wanted.pop(name) for name in list(wanted) if name not in direct and name in _names(config)}
    if indirect and config is not None:
        chosen["experimental_config"] = config(**indirect)
    chosen.update(wanted)
    unknown = sorted(set(chosen) - direct)
    if unknown:
        raise TypeError(f"MindSpore's profiler has no argument {', '.join(unknown)}")
    return chosen


def _renamed(extra: dict[str, object], profiler: ModuleType) -> dict[str, object]:
    """The user's arguments by the names of today's API."""
    for name in (*OWN_ARGUMENTS, *_WITHOUT_EFFECT):
        extra.pop(name, None)
    level = extra.pop("level", extra.pop("profiler_level", None))
    if extra.pop("profile_communication", False) and level is None:
        level = 1
    if level is not None:
        extra["profiler_level"] = _level(profiler, level)
    if "host_stack" in extra:
        extra["with_stack"] = extra.pop("host_stack")
    return extra


def _level(profiler: ModuleType, level: object) -> object:
    """A member of ProfilerLevel: 1, "1", "Level1" and the member are the same."""
    text = str(getattr(level, "name", level))
    return _member(profiler, "ProfilerLevel", text if text.lower().startswith("level") else f"Level{text}")


def _activities(options: Options, wanted: dict[str, object], profiler: ModuleType, *, target: str) -> list[object]:
    """What to record: of the device unless `profile_device` or `op_time` forbids it, of the host likewise."""
    device = _DEVICE_ACTIVITY.get(target)
    records_device = wanted.pop("op_time", True) is not False and options.profile_device
    records_host = wanted.pop("profile_framework", "all") not in (None, False)
    known = [name for name, taken in (("CPU", records_host), (device, records_device)) if taken and name] or ["CPU"]
    asked = known if options.activities is None else [name for name in known if name.lower() in options.activities]
    return [_member(profiler, "ProfilerActivity", name) for name in asked or known]


def _member(profiler: ModuleType, enumeration: str, name: str) -> object:
    members = getattr(profiler, enumeration)
    found = next((each for each in members if each.name.lower() == name.lower()), None)
    if found is None:
        raise TypeError(f"{enumeration} has no {name}: choose from {', '.join(each.name for each in members)}")
    return found


def _names(function: Callable[..., object] | None) -> set[str]:
    return set() if function is None else set(inspect.signature(function).parameters)
