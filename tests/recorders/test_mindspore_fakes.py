"""What no machine of ours can run: MindSpore on Ascend, older releases, data sink of several steps, by fake modules."""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from laptime.recorders.backends import Window
from laptime.recorders.event_log import EventLog
from laptime.recorders.mindspore_arguments import profile_arguments
from laptime.recorders.mindspore_callback import StepEnds
from laptime.recorders.mindspore_profile import start_profile, taken_folder
from laptime.recorders.options import Options


class ProfilerActivity(enum.Enum):
    NPU = "NPU"
    GPU = "GPU"
    CPU = "CPU"


class ProfilerLevel(enum.Enum):
    LevelNone = "LevelNone"
    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"


@dataclass
class _ExperimentalConfig:
    profiler_level: ProfilerLevel = ProfilerLevel.Level0
    l2_cache: bool = False
    mstx: bool = False


class Schedule:
    def __init__(self, *, wait: int, active: int, warmup: int = 0, repeat: int = 0) -> None: ...


ProfilerAction = enum.Enum("ProfilerAction", "NONE WARM_UP RECORD RECORD_AND_SAVE")


@dataclass
class profile:  # as MindSpore names it
    """MindSpore 2.10's class: writes what was asked of it into the handler's folder when recording ends."""

    activities: list[ProfilerActivity] | None = None
    with_stack: bool = False
    profile_memory: bool = False
    data_process: bool = False
    parallel_strategy: bool = False
    start_profile: bool = True
    hbm_ddr: bool = False
    pcie: bool = False
    sync_enable: bool = True
    record_shapes: bool = False
    schedule: Callable[[int], object] | None = None
    on_trace_ready: Callable[[object], None] | None = None
    experimental_config: _ExperimentalConfig | None = None
    calls: list[str] = field(default_factory=list)

    def start(self) -> None:
        made.append(self)
        assert self.schedule is not None
        self.current_action = self.schedule(0)
        self.calls.append(f"start {self.current_action}")
        (folders[-1] / "host_1_20260101000000000_ascend_ms").mkdir()

    def step(self) -> None:
        assert self.schedule is not None
        before, self.current_action = self.current_action, self.schedule(len(self.calls))
        self.calls.append(f"{before} -> {self.current_action}")

    def stop(self) -> None:
        self.calls.append("stop")


made: list[profile] = []
folders: list[Path] = []
analysed: list[bool] = []


def tensorboard_trace_handler(folder: str, *, analyse_flag: bool) -> Callable[[object], None]:
    folders.append(Path(folder))
    analysed.append(analyse_flag)
    return lambda _: None


@pytest.fixture
def mindspore(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A MindSpore 2.10 on Ascend."""
    whole, profiler, schedules = (ModuleType(f"mindspore{part}") for part in ("", ".profiler", ".profiler.schedule"))
    vars(whole).update({"get_context": lambda name: "Ascend", "__version__": "2.10.0", "__path__": []})
    names = (profile, tensorboard_trace_handler, ProfilerActivity, ProfilerLevel, _ExperimentalConfig)
    vars(profiler).update({each.__name__: each for each in names} | {"__path__": []})
    vars(schedules).update({"Schedule": Schedule, "ProfilerAction": ProfilerAction})
    for module in (whole, profiler, schedules):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    made.clear(), folders.clear(), analysed.clear()
    return profiler


def test_what_ascend_gets_by_default(mindspore: ModuleType) -> None:
    assert profile_arguments(Options(), mindspore, "Ascend") == {
        "activities": [ProfilerActivity.CPU, ProfilerActivity.NPU],
        "profile_memory": False,
        "record_shapes": True,
        "with_stack": False,
        "start_profile": False,
    }


def test_cpu_gets_nothing_that_has_no_effect_there(mindspore: ModuleType) -> None:
    given = profile_arguments(Options(with_backtrace=True, profile_memory=True), mindspore, "CPU")
    assert given["activities"] == [ProfilerActivity.CPU]
    assert (given["with_stack"], given["record_shapes"], given["profile_memory"]) == (False, False, True)


@pytest.mark.parametrize(
    ("options", "activities"),
    [
        (Options(profile_device=False), "CPU"),
        (Options(activities=("npu",)), "NPU"),
        (Options(extra={"op_time": False}), "CPU"),
        (Options(extra={"profile_framework": None}), "NPU"),
        (Options(activities=("cuda",)), "CPU NPU"),
    ],
)
def test_activities(mindspore: ModuleType, options: Options, activities: str) -> None:
    given = profile_arguments(options, mindspore, "Ascend")["activities"]
    assert given == [ProfilerActivity[name] for name in activities.split()]


@pytest.mark.parametrize("level", [1, "1", "Level1", "level1", ProfilerLevel.Level1])
def test_levels(mindspore: ModuleType, level: object) -> None:
    given = profile_arguments(Options(extra={"level": level}), mindspore, "Ascend")
    assert given["experimental_config"] == _ExperimentalConfig(ProfilerLevel.Level1)


def test_arguments_of_guides_and_of_the_experimental_config(mindspore: ModuleType) -> None:
    extra = {"profile_communication": True, "l2_cache": True, "pcie": True, "output_path": "x", "data_process": True}
    given = profile_arguments(Options(extra=dict(extra)), mindspore, "Ascend")
    assert given["experimental_config"] == _ExperimentalConfig(ProfilerLevel.Level1, l2_cache=True)
    assert given["pcie"] is True
    assert not {"output_path", "data_process", "profile_communication"} & set(given)


def test_unknown_arguments(mindspore: ModuleType) -> None:
    with pytest.raises(TypeError, match="no argument is_fast"):
        profile_arguments(Options(extra={"is_fast": True}), mindspore, "Ascend")
    with pytest.raises(TypeError, match="ProfilerLevel has no Level7: choose from LevelNone, Level0"):
        profile_arguments(Options(extra={"level": 7}), mindspore, "Ascend")


def test_a_window_on_ascend_marks_steps_and_is_parsed(mindspore: ModuleType, tmp_path: Path) -> None:
    window = start_profile(Options(), tmp_path / "window")
    window.next_step()
    window.next_step()
    window.end()
    record, save, none = (f"ProfilerAction.{name}" for name in ("RECORD", "RECORD_AND_SAVE", "NONE"))
    assert made[0].calls == [f"start {record}", *[f"{record} -> {record}"] * 2, f"{save} -> {none}", "stop"]
    assert analysed == [True]


def test_a_profiler_that_did_not_start(mindspore: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile, "start", lambda self: None)
    with pytest.raises(OSError, match="did not start in"):
        start_profile(Options(), tmp_path / "window")


def test_releases_that_have_the_old_class_alone(
    mindspore: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(mindspore, "profile")
    told: list[object] = []

    class Profiler:
        def __init__(self, **arguments: object) -> None:
            told.append(arguments)

        def analyse(self) -> None:
            told.append("analyse")
            raise RuntimeError("PyNative mode is not supported on CPU currently.")

    monkeypatch.setattr(sys.modules["mindspore"], "Profiler", Profiler, raising=False)
    start_profile(Options(extra={"data_process": True}), tmp_path).end()
    arguments = {"output_path": str(tmp_path), "profile_memory": False, "data_process": True}
    assert told == [arguments, "analyse"]


def test_folders_whose_names_mindspore_does_not_take(tmp_path: Path) -> None:
    odd = tmp_path / "lr=0.1"
    with taken_folder(odd) as folder:
        assert folder != odd
        (folder / "file").write_text("content")
    assert (odd / "file").read_text() == "content"
    with taken_folder(tmp_path / "plain") as folder:
        assert folder == tmp_path / "plain"


@pytest.mark.parametrize(("counts_calls", "steps"), [(True, 5), (False, 3)])
def test_data_sink_of_several_steps(counts_calls: bool, steps: int) -> None:
    ended, told = [], []

    def sunk(number: int) -> bool:
        told.append(number)
        return counts_calls

    ends = StepEnds(lambda: ended.append(1), sunk)
    ends.begins(SimpleNamespace(original_args=lambda: SimpleNamespace(cur_step_num=0)))
    for number in (1, 2, 3, 13, 23):
        ends.ended(SimpleNamespace(original_args=lambda now=number: SimpleNamespace(cur_step_num=now)))
    assert (len(ended), told) == (steps, [10, 10])


def test_ascend_folders_are_read_by_their_importer(
    mindspore: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from laptime.recorders import mindspore as recorder

    monkeypatch.setattr(recorder, "Hooks", lambda *_: SimpleNamespace(install=lambda: None, remove=lambda: None))
    backend = recorder.backend(Options(extra={"data_process": False}))
    window = Window(1, EventLog(tmp_path, "stem", {}))
    backend.start(window)
    backend.stop(window)
    window.log.close()
    assert window.files == [("stem.window1.mindspore", "ascend_output")]
