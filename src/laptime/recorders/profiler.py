"""`laptime.Profiler`: records training, whatever the framework. It never changes what training does or returns."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TypeVar, cast

from laptime._version import __version__
from laptime.recorders import analysing, crashes, schedules
from laptime.recorders.backends import Backend, LoaderProbe, TrainingFailed, framework_name, make_backend
from laptime.recorders.event_log import EventLog
from laptime.recorders.options import Options, activities_of, formats_of
from laptime.recorders.ranks import rank_and_world
from laptime.recorders.telling import tell
from laptime.recorders.watching import Watched, WatchedIterator
from laptime.recorders.windows import OpenWindow

_T = TypeVar("_T")
_MANY_STEPS = 10
_MANY_ROWS = 1_000_000
_recording_now: list[weakref.ref[Profiler]] = []
_stems: set[str] = set()
_of_the_parent: list[object] = []
"""In a forked child: what the parent records with. It is kept, since a profiler may write when it is destroyed."""


class Profiler:
    """Records training into a folder; `laptime report FOLDER` explains it.

    As `with` block or with `start` and `stop`; `step()` at the end of each training step. `path` may be shared by all
    ranks. `framework` is found from what is imported. `schedule` picks the steps to record (`laptime.schedule`, or one
    of torch.profiler); without it everything is. Further arguments are those of the framework's own profiler.

    - `formats`: `chrome_timeline.json`, `memory_flow.svg` (the lives of tensors)
    - `sample_rate`: device memory is looked at every so many operators; 0 is never
    - `profile_device`: devices are recorded, not only the host
    - `with_scopes`: ranges for functions and tensor methods, not only for modules and optimizer steps
    - `with_backtrace` (or `with_stack`): Python call stacks of operators, waits and scopes
    - `activities`, `record_shapes`, `profile_memory`: as torch.profiler

    Raises ValueError for arguments that cannot be. Nothing else is raised: what cannot be recorded is told once.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] = "profile",
        *,
        framework: str | None = None,
        schedule: schedules.ScheduleFunction | None = None,
        format: str | None = None,
        formats: Sequence[str] | None = None,
        sample_rate: int = 0,
        profile_device: bool = True,
        with_scopes: bool = False,
        with_backtrace: bool = False,
        with_stack: bool = False,
        record_shapes: bool = True,
        profile_memory: bool = False,
        activities: Sequence[object] | None = None,
        **extra: object,
    ) -> None:
        if sample_rate < 0:
            raise ValueError(f"sample_rate must not be negative: {sample_rate}")
        if framework is not None:
            framework_name(framework)
        self.path = Path(path)
        self.step_number = 0
        """The step that runs, or is about to, from 1; 0 before the first start."""
        self.has_started = False
        self._options = Options(
            formats=formats_of(format, formats),
            sample_rate=sample_rate,
            profile_device=profile_device,
            with_scopes=with_scopes,
            with_backtrace=with_backtrace or with_stack,
            record_shapes=record_shapes,
            profile_memory=profile_memory,
            activities=activities_of(activities),
            extra=extra,
        )
        self._framework = framework
        self._schedule = schedule or schedules.always
        self._has_schedule = schedule is not None
        self._log: EventLog | None = None
        self._backend: Backend | None = None
        self._window: OpenWindow | None = None
        self._windows = 0
        self._recorded_steps = 0
        self._running = False
        self._told: set[str] = set()
        self._thread: int | None = None
        self._stands_aside = False
        self._lock = threading.RLock()

    # ---- life ----

    def start(self) -> None:
        """Begins; the first step begins with it. Does nothing where this or another Profiler runs already."""
        if self._running:
            return self._say_once("this Profiler runs already")
        if any(other() is not None for other in _recording_now):
            self._stands_aside = True
            return self._say_once("another Profiler is recording; this one does nothing")
        _recording_now[:] = [weakref.ref(self)]
        crashes.remember(self)
        self.has_started = self._running = True
        self._stands_aside = False
        self._thread = threading.get_ident()
        self.step_number += 1
        self._guarded(self._follow_schedule)

    def step(self) -> None:
        """Ends a training step; the next one begins."""
        if not self._running:
            return None if self._stands_aside else self._say_once("step() was called outside the profiler; ignored")
        if self._window is not None:
            self._guarded(self._end_step)
        self.step_number += 1
        self._guarded(self._follow_schedule)

    def stop(self) -> None:
        """Ends and writes everything; `start` begins another window."""
        self.finish(cut=False)

    def dump(self) -> None:
        """Writes what has been recorded; what still runs goes on in another window, its step as an incomplete one."""
        if self._window is not None:
            self._guarded(lambda: self._close_window(cut=False))
            self._guarded(lambda: self._follow_schedule(is_whole=False))

    def finish(self, *, cut: bool) -> None:
        """Ends recording; `cut` where training ends in the middle of a step."""
        if not self._running:
            return
        try:
            with crashes.uninterrupted():
                self._running = False
                try:
                    self._guarded(lambda: self._close_window(cut=cut), lets_through=not cut)
                finally:
                    if self._log is not None:
                        self._guarded(self._log.close)
                    _recording_now.clear()
        finally:  # an interrupt that came meanwhile is raised by now
            crashes.forget(self)

    def disown(self) -> None:
        """In a forked child: what the parent records is none of its business. It may start again, for itself."""
        _of_the_parent.extend((self._backend, self._window))
        if self._window is not None:
            self._window.disown()
        _recording_now.clear()
        self._running, self._stands_aside = False, True
        self._window = self._backend = self._log = None
        self._windows = 0
        self._lock = threading.RLock()

    def discard(self) -> None:
        """Ends recording and removes its log."""
        self.finish(cut=False)
        if self._log is not None:
            with contextlib.suppress(OSError):
                self._log.path.unlink()
            self._log = None

    def analyse(self, **choices: object) -> str:
        """Ends recording and returns the report, made in a process of its own.

        `choices` are options of `laptime report`, as in `analyse(steps="3-7")`.
        """
        self.stop()
        options = [f"--{name.replace('_', '-')}={value}" for name, value in choices.items()]
        log = self.log_path
        _, world = rank_and_world()
        is_alone = log is not None and world in (None, 1)  # else the folder holds the other ranks
        return analysing.analyse(log if log is not None and is_alone else self.path, command=("report", *options))

    def watch(self, loader: Iterable[_T]) -> Watched[_T] | WatchedIterator[_T]:
        """The loader, watched: how long training waits for each batch, how full its queues are, what its workers do."""
        if isinstance(loader, Iterator):
            return WatchedIterator(loader, self._waited, self._probe(loader))
        return Watched(loader, self._waited, self._probe)

    @property
    def recorded_steps(self) -> int:
        """Steps that were recorded so far."""
        return self._recorded_steps

    @property
    def log_path(self) -> Path | None:
        """The log, which names the recording of this process; None where there is none yet."""
        return None if self._log is None else self._log.path

    def callback(self) -> object:
        """A callback for the framework's own training loop that ends a step after each batch: MindSpore's Model.train.

        Raises TypeError for frameworks that have none.
        """
        maker = getattr(self._ready_backend(), "callback", None)
        if maker is None:
            raise TypeError(f"{self._ready_backend().name} has no training loop with callbacks: call step()")
        return cast("Callable[..., object]", maker)(self.step, counts_calls=self._has_schedule)

    @property
    def is_recording(self) -> bool:
        """Whether what happens now is recorded: the profiler runs and its schedule has a window open."""
        return self._window is not None

    def __enter__(self) -> Profiler:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.finish(cut=kind is not None)

    def __del__(self) -> None:
        if getattr(self, "_running", False):
            self.finish(cut=False)

    # ---- windows and steps ----

    def _follow_schedule(self, *, is_whole: bool = True) -> None:
        action = schedules.action_name(self._schedule(self.step_number - 1))
        if action in (schedules.RECORD, schedules.SAVE):
            window = self._window or self._open_window()
            window.begin_step(self.step_number, is_whole=is_whole)
        elif self._window is not None:  # a schedule of the user's own that ends a window without saying so
            self._close_window(cut=False)
        elif action == schedules.WARMUP:
            self._ready_backend().prepare()
        elif self._backend is None and framework_name(self._framework) != "python":
            self._ready_backend()  # some must be there before training makes its data loader

    def _open_window(self) -> OpenWindow:
        log, backend = self._ready_log(), self._ready_backend()
        self._windows += 1
        with crashes.uninterrupted():
            try:
                self._window = self._opened(log, backend)
            except TrainingFailed:
                raise
            except Exception as error:
                if backend.name == "python":
                    raise
                self._do_without(backend.name, error)
                log.add("note", f"the profiler of {backend.name} did not start: {_words(error)}")
                self._windows += 1
                self._window = self._opened(log, self._ready_backend())
        return self._window

    def _opened(self, log: EventLog, backend: Backend) -> OpenWindow:
        return OpenWindow(self._windows, log, backend, with_backtrace=self._options.with_backtrace)

    def _do_without(self, framework: str, error: Exception) -> None:
        """Steps, waits and scopes are worth having where the framework's own profiler does not work."""
        self._say_once(f"{framework} cannot be recorded, only steps, waits and scopes: {_words(error)}")
        self._backend = make_backend("python", self._options)

    def _end_step(self) -> None:
        window, log = self._window, self._log
        if window is None or log is None:
            return
        window.end_step(self.step_number)
        self._recorded_steps += 1
        if log.failure is not None:
            raise log.failure
        if schedules.action_name(self._schedule(self.step_number - 1)) == schedules.SAVE:
            self._close_window(cut=False)
        if not self._has_schedule and (self._recorded_steps > _MANY_STEPS or log.written > _MANY_ROWS):
            self._say_once(
                f"more than {_MANY_STEPS} steps or {_MANY_ROWS:,} events are recorded; "
                "schedule=laptime.schedule(wait=5, active=5) or --wait 5 --active 5 records a few"
            )

    def _close_window(self, *, cut: bool) -> None:
        window, self._window = self._window, None
        if window is not None:
            with crashes.uninterrupted():
                window.close(self.step_number, cut=cut)
        if self._log is not None and self._log.failure is not None:
            raise self._log.failure

    def _ready_backend(self) -> Backend:
        if self._backend is None:
            name = framework_name(self._framework)
            try:
                self._backend = make_backend(name, self._options)
            except Exception as error:
                self._do_without(name, error)
            if name == "python" and self._options.extra:
                self._say_once(f"plain Python has no option {', '.join(self._options.extra)}; ignored")
        assert self._backend is not None
        return self._backend

    def _ready_log(self) -> EventLog:
        if self._log is None:
            backend = self._ready_backend()
            rank, world = rank_and_world()
            header = {
                "version": __version__,
                "framework": backend.name,
                "framework_version": backend.version(),
                "rank": rank,
                "world_size": world,
                "pid": os.getpid(),
                "host": socket.gethostname(),
                "main_thread": threading.get_native_id(),
                "command": sys.argv,
                "with_backtrace": self._options.with_backtrace,
                "with_scopes": self._options.with_scopes,
            }
            self._log = EventLog(self.path, _stem(rank), header)
        return self._log

    # ---- data ----

    def _waited(self, span: tuple[int, int], *, fresh: bool) -> None:
        window = self._window
        if window is not None and threading.get_ident() == self._thread:
            self._guarded(lambda: window.waited(span, fresh=fresh))

    def _probe(self, loader: Iterable[object]) -> LoaderProbe | None:
        """Also between windows, since an iteration may outlast them; the log takes queues in windows alone."""
        if not self._running or self._schedule is _never:
            return None
        try:
            return self._ready_backend().watch(loader, self._ready_log())
        except Exception as error:
            self._say_once(f"the loader is watched from outside only: {_words(error)}")
            return None

    # ---- failures ----

    def _guarded(self, act: Callable[[], object], *, lets_through: bool = True) -> None:
        """Runs a part of recording; what fails is told once and ends recording, not training.

        Only what training itself did wrong goes on to it, unless training ends with another exception already.
        """
        failed: TrainingFailed | None = None
        with self._lock, crashes.Whole():
            try:
                act()
            except TrainingFailed as error:
                failed = error
            except Exception as error:
                self._say_once(f"recording stopped, training goes on: {_words(error)}")
                self._give_up()
        if failed is not None and lets_through:
            raise failed.error

    def _give_up(self) -> None:
        window, self._window = self._window, None
        self._schedule = _never
        if window is not None:
            with contextlib.suppress(Exception):
                window.close(self.step_number, cut=True)

    def _say_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            tell(text)


def _never(step: int) -> str:
    return schedules.NONE


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return f"{type(error).__name__}: {error}"


def _stem(rank: int | None) -> str:
    """A name that no other process gives its files: rank, host, process and time."""
    host = "".join(letter if letter.isalnum() else "-" for letter in socket.gethostname())
    moment = time.strftime("%Y%m%dT%H%M%S") + f".{time.time_ns() // 1_000_000 % 1000:03d}"
    stem = f"{'' if rank is None else f'rank{rank}-'}{host}-{os.getpid()}-{moment}"
    while stem in _stems:
        stem += "x"
    _stems.add(stem)
    return stem
