"""MindSpore's own profiler for one window: `mindspore.profiler.profile`, or `mindspore.Profiler` where that is all.

Both put their files into a folder `{host}_{pid}_{time}_ascend_ms` (older releases: `profiler`) of the one they are
given. On CPU the files that matter are there as soon as recording ends; MindSpore's parsing would only repeat them.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Protocol, cast

from laptime.recorders.mindspore_arguments import ASCEND, CPU, profile_arguments
from laptime.recorders.options import Options

_TAKEN_PATH = re.compile(r"[./_\-\s~0-9a-zA-Z\u4e00-\u9fa5]{1,1024}")
"""Paths with other characters MindSpore silently replaces by `./data`."""


class WindowProfile(Protocol):
    """A profiler that records."""

    def next_step(self) -> None:
        """A training step has ended."""
        ...

    def end(self) -> None:
        """Ends recording and writes the files."""
        ...


class _Profile(Protocol):
    current_action: object

    def start(self) -> None: ...
    def step(self) -> None: ...
    def stop(self) -> None: ...


class _OldProfiler(Protocol):
    def analyse(self) -> None: ...


def device_target() -> str:
    """CPU, Ascend or GPU."""
    return str(importlib.import_module("mindspore").get_context("device_target"))


@contextlib.contextmanager
def taken_folder(folder: Path) -> Iterator[Path]:
    """The folder, or where MindSpore does not take its name another one, whose files come into it at the end."""
    real = folder.resolve()
    if _TAKEN_PATH.fullmatch(str(real)):
        yield real
        return
    with tempfile.TemporaryDirectory(prefix="laptime-") as other:
        yield Path(other)
        shutil.copytree(other, real, dirs_exist_ok=True)


def start_profile(options: Options, folder: Path) -> WindowProfile:
    """Begins to record into a folder. Raises OSError where MindSpore, which only logs what fails, did not begin."""
    folder.mkdir(parents=True, exist_ok=True)
    profiler = importlib.import_module("mindspore.profiler")
    window: WindowProfile
    if hasattr(profiler, "profile"):
        window = _NewApi(profiler, options, folder)
        if not any(folder.iterdir()):
            raise OSError(f"MindSpore's profiler did not start in {folder}; its warnings tell why")
    else:
        window = _OldApi(options, folder)
    return window


class _NewApi:
    """MindSpore 2.5 and later."""

    def __init__(self, profiler: ModuleType, options: Options, folder: Path) -> None:
        target = device_target()
        self._actions = importlib.import_module("mindspore.profiler.schedule").ProfilerAction
        self._ended = False
        handler = cast("Callable[..., object]", profiler.tensorboard_trace_handler)
        make = cast("Callable[..., _Profile]", profiler.profile)
        arguments = profile_arguments(options, profiler, target)
        ready = handler(str(folder), analyse_flag=target == ASCEND)
        self._profile = make(**arguments, schedule=self._schedule(), on_trace_ready=ready)
        self._marks_steps = target != CPU
        self._profile.start()

    def _schedule(self) -> object:
        """A schedule that records until told to end: MindSpore's own must know the number of steps before."""
        kind: type = importlib.import_module("mindspore.profiler.schedule").Schedule
        laps = type("Laps", (kind,), {"__call__": lambda _, step: self._action()})
        return cast("Callable[..., object]", laps)(wait=0, warmup=1, active=1, repeat=1)

    def _action(self) -> object:
        return self._actions.NONE if self._ended else self._actions.RECORD

    def next_step(self) -> None:
        """On chips MindSpore marks steps itself, which its tables of kernels and steps need."""
        if self._marks_steps:
            self._profile.step()

    def end(self) -> None:
        """Goes from the last recorded step to one that is not recorded: MindSpore then writes."""
        self._ended = True
        self._profile.current_action = self._actions.RECORD_AND_SAVE
        self._profile.step()
        self._profile.stop()


class _OldApi:
    """MindSpore 2.0 to 2.4."""

    def __init__(self, options: Options, folder: Path) -> None:
        make = cast("Callable[..., _OldProfiler]", importlib.import_module("mindspore").Profiler)
        self._profiler = make(output_path=str(folder), profile_memory=options.records_memory, **options.extra)

    def next_step(self) -> None:
        """Steps are told from the operators, or marked by the device."""

    def end(self) -> None:
        """Ends; in PyNative mode on CPU releases raise after the files are written."""
        with contextlib.suppress(RuntimeError):
            self._profiler.analyse()
