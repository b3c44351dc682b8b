"""JAX: jax.profiler records each window as one `.xplane.pb`; steps and scopes are annotations in it.

Computations run on after they are dispatched. A step's end waits for none; a window's end waits for the arrays that
are alive, since jax.profiler loses what still runs when it stops.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol, cast

from laptime.recorders.backends import LoaderProbe, Window
from laptime.recorders.event_log import EventLog
from laptime.recorders.options import Options
from laptime.recorders.patching import Patches
from laptime.recorders.queues import QueueProbe
from laptime.recorders.telling import tell


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
    """Drives jax.profiler. Beside a trace of the user's own only the log is written."""

    name = "jax"

    def __init__(self, options: Options) -> None:
        self._options = options
        self._jax = cast("_Jax", importlib.import_module("jax"))
        self._profiler = self._jax.profiler
        self._step: _Annotation | None = None
        self._window: Window | None = None
        self._traces = False
        self._patches = Patches()
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
        self._window = window
        options, unknown = trace_options(self._profiler, self._options)
        if unknown:
            self._tell(window, f"jax.profiler has no option {', '.join(unknown)}; ignored")
        try:
            self._profiler.start_trace(str(_folder(window)), **options)
        except RuntimeError as error:  # one trace at a time
            self._tell(window, f"jax.profiler does not start, only steps, scopes and waits are recorded: {error}")
        else:
            self._traces = True
            self._give_way(window)

    def stop(self, window: Window) -> None:
        """Waits for what was dispatched, ends the trace and keeps its profile."""
        self._patches.undo()
        if not self._traces:
            return
        self._traces = False
        try:
            self._wait_for_devices()
            self._profiler.stop_trace()
        except RuntimeError as error:  # the user's code has ended it
            self._tell(window, f"jax.profiler was stopped before the window ended: {error}")
        finally:
            self._close_step()
            _keep_profile(_folder(window), window)

    def _give_way(self, window: Window) -> None:
        """Where the user's code begins a trace, which would fail beside ours, ours ends."""

        def replacement(original: object) -> object:
            @functools.wraps(cast("Callable[..., object]", original))
            def start_trace(*args: object, **options: object) -> object:
                try:
                    if self._traces:
                        self.stop(window)
                        self._tell(
                            window, "a trace of the program's own begins: jax.profiler records no more for laptime"
                        )
                except Exception as error:
                    self._tell(window, f"jax.profiler's trace cannot be kept: {error}")
                return cast("Callable[..., object]", original)(*args, **options)

            return start_trace

        inner = sys.modules.get(getattr(self._profiler.start_trace, "__module__", ""))
        for owner in (self._profiler, inner):  # jax.profiler.trace takes the inner one
            if owner is not None and hasattr(owner, "start_trace"):
                self._patches.replace(owner, "start_trace", replacement)

    def begin_step(self, number: int) -> None:
        """A step is an annotation with a number."""
        self._step = self._profiler.StepTraceAnnotation("train", step_num=number)
        self._step.__enter__()

    def end_step(self, number: int) -> None:
        """Ends the annotation, waiting for nothing; what is no whole step ends after the trace, which then omits it."""
        if self._window is None or self._window.unended_step != number:
            self._close_step()

    def _close_step(self) -> None:
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
        """Of any iterator the queue it takes batches from, if it has one."""
        return QueueProbe(loader, log)

    def _wait_for_devices(self) -> None:
        for array in self._jax.live_arrays():
            with contextlib.suppress(Exception):  # a computation's failure is told where its result is used
                array.block_until_ready()

    def _tell(self, window: Window, text: str) -> None:
        window.log.add("note", text)
        if not self._told:
            self._told = True
            tell(text)


def trace_options(profiler: object, options: Options) -> tuple[dict[str, object], list[str]]:
    """Arguments of start_trace, and names of options that JAX has not; before 0.6 it has none."""
    make = getattr(profiler, "ProfileOptions", None)
    if make is None:
        return {}, list(options.extra)
    chosen = make()
    chosen.python_tracer_level = int(options.with_backtrace)
    if not options.profile_device:
        _without_devices(chosen)
    known = {name: value for name, value in options.extra.items() if hasattr(chosen, name)}
    for name, value in known.items():
        setattr(chosen, name, value)
    return {"profiler_options": chosen}, [name for name in options.extra if name not in known]


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
