"""JAX: jax.profiler records each window as one `.xplane.pb`; steps and scopes are annotations in it.

Computations run on after they are dispatched. A step's end waits for none; a window's end waits for the arrays that
are alive, since jax.profiler loses what still runs when it stops.
"""

from __future__ import annotations

import contextlib
import importlib
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol, cast

from laptime.recorders.backends import LoaderProbe, Window
from laptime.recorders.event_log import EventLog
from laptime.recorders.options import Options


class _Annotation(Protocol):
    def __enter__(self) -> object: ...
    def __exit__(self, kind: object, error: object, traceback: object) -> object: ...


class _Array(Protocol):
    def block_until_ready(self) -> object: ...


class _StepAnnotations(Protocol):
    def __call__(self, name: str, *, step_num: int) -> _Annotation: ...


class _Annotations(Protocol):
    def __call__(self, name: str) -> _Annotation: ...


class _Profiling(Protocol):
    """What is used of jax.profiler; `ProfileOptions` is not there before JAX 0.6."""

    StepTraceAnnotation: _StepAnnotations
    TraceAnnotation: _Annotations

    def start_trace(self, log_dir: str, **options: object) -> None: ...
    def stop_trace(self) -> None: ...


class _Jax(Protocol):
    __version__: str
    profiler: _Profiling

    def live_arrays(self) -> Sequence[_Array]: ...


class JaxBackend:
    """Drives jax.profiler. Where a trace of the user's own runs already, only the log is written."""

    name = "jax"

    def __init__(self, options: Options) -> None:
        self._options = options
        self._jax = cast("_Jax", importlib.import_module("jax"))
        self._profiler = self._jax.profiler
        self._step: _Annotation | None = None
        self._traces = False
        self._told = False

    @property
    def marks_scopes(self) -> bool:
        """Scopes are annotations, where there is a trace of ours."""
        return self._traces

    def version(self) -> str | None:
        """JAX's version."""
        return self._jax.__version__

    def prepare(self) -> None:
        """Nothing to warm up."""

    def start(self, window: Window) -> None:
        """Begins a trace in a folder that is gone again when the window ends."""
        options = trace_options(self._profiler, self._options)
        try:
            self._profiler.start_trace(str(_folder(window)), **options)
            self._traces = True
        except RuntimeError as error:  # one trace at a time
            self._tell(window, f"jax.profiler does not start, only steps, scopes and waits are recorded: {error}")

    def stop(self, window: Window) -> None:
        """Waits for what was dispatched, ends the trace and keeps its profile."""
        if not self._traces:
            return
        self._traces = False
        folder = _folder(window)
        try:
            self._wait_for_devices()
            self._profiler.stop_trace()
        except RuntimeError as error:  # the user's code has ended it
            self._tell(window, f"jax.profiler was stopped before the window ended: {error}")
        finally:
            _keep_profile(folder, window)

    def begin_step(self, number: int) -> None:
        """A step is an annotation with a number."""
        self._step = self._profiler.StepTraceAnnotation("train", step_num=number)
        self._step.__enter__()

    def end_step(self, number: int) -> None:
        """Ends the annotation; nothing is waited for."""
        step, self._step = self._step, None
        if step is not None:
            step.__exit__(None, None, None)

    def open_scope(self, name: str) -> object:
        """Begins an annotation."""
        annotation = self._profiler.TraceAnnotation(name)
        annotation.__enter__()
        return annotation

    def close_scope(self, token: object) -> None:
        """Ends it."""
        cast("_Annotation", token).__exit__(None, None, None)

    def watch(self, loader: Iterable[object], log: EventLog) -> LoaderProbe | None:
        """JAX has no loader of its own."""
        return None

    def _wait_for_devices(self) -> None:
        for array in self._jax.live_arrays():
            with contextlib.suppress(Exception):  # a computation's failure is told where its result is used
                array.block_until_ready()

    def _tell(self, window: Window, text: str) -> None:
        window.log.add("note", text)
        if not self._told:
            self._told = True
            print(f"laptime: {text}", file=sys.stderr)


def trace_options(profiler: object, options: Options) -> dict[str, object]:
    """Arguments of start_trace; none where the installed JAX has no ProfileOptions."""
    make = getattr(profiler, "ProfileOptions", None)
    if make is None:
        return {}
    chosen = make()
    chosen.python_tracer_level = int(options.with_backtrace)
    if not options.profile_device:
        _without_devices(chosen)
    for name, value in options.extra.items():
        if hasattr(chosen, name):
            setattr(chosen, name, value)
    return {"profiler_options": chosen}


def _without_devices(chosen: object) -> None:
    """JAX lets a TPU's tracer alone be turned off; older releases have a level for every device."""
    if hasattr(chosen, "device_tracer_level"):
        setattr(chosen, "device_tracer_level", 0)  # noqa: B010 -- an attribute of no type known here
    if hasattr(chosen, "advanced_configuration"):
        setattr(chosen, "advanced_configuration", {"tpu_trace_mode": "TRACE_ONLY_HOST"})  # noqa: B010 -- as above


def _folder(window: Window) -> Path:
    return window.path("jax")


def _keep_profile(folder: Path, window: Window) -> None:
    """Moves the profile beside the log; the JSON that JAX writes with it repeats it, cut at a million events."""
    profiles = sorted(folder.rglob("*.xplane.pb"))
    for place, profile in enumerate(profiles):
        kept = window.path("xplane.pb" if place == 0 else f"{place}.xplane.pb")
        profile.rename(kept)
        window.add_file(kept, "xplane")
    if profiles:
        shutil.rmtree(folder, ignore_errors=True)


def backend(options: Options) -> JaxBackend:
    """The recorder of JAX."""
    return JaxBackend(options)
