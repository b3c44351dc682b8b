"""PyTorch: torch.profiler underneath, one Kineto trace for each window, marked by steps as other tools expect it."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterable
from typing import Protocol, cast

from laptime.recorders.backends import LoaderProbe, Window
from laptime.recorders.event_log import EventLog, native_id, now, wall_clock_ahead
from laptime.recorders.options import Options
from laptime.recorders.pytorch_activities import chosen_activities
from laptime.recorders.pytorch_export import write_trace
from laptime.recorders.pytorch_functions import FunctionCalls, memory_sampler
from laptime.recorders.pytorch_loader import DataLoader, DataLoaderProbe, Pipelines
from laptime.recorders.pytorch_modules import ModuleScopes
from laptime.recorders.pytorch_ranges import Range, cheap_ranges, full_ranges
from laptime.recorders.pytorch_stacks import SlotCalls, log_stacks

IMPORTER = "pytorch_kineto"


class KinetoProfile(Protocol):
    """The low-level profiler of torch.profiler."""

    def prepare_trace(self) -> None: ...
    def start_trace(self) -> None: ...
    def stop_trace(self) -> None: ...
    def export_chrome_trace(self, path: str) -> None: ...


class _ProfileClass(Protocol):
    def __call__(self, **arguments: object) -> KinetoProfile: ...


class PyTorchBackend:
    """Records by torch.profiler."""

    name = "pytorch"
    marks_scopes = True

    def __init__(self, options: Options) -> None:
        self._options = options
        self._record_function = full_ranges()
        self._modules = ModuleScopes(cheap_ranges())
        self._pipelines = Pipelines()
        self._slots = SlotCalls() if options.with_backtrace else None
        self._sampler = memory_sampler(options.sample_rate)
        self._functions: FunctionCalls | None = None
        if options.with_scopes or self._sampler is not None:
            self._functions = FunctionCalls(cheap_ranges() if options.with_scopes else None, self._sampler)
        self._ahead = 0
        self._prepared: KinetoProfile | None = None
        self._running: KinetoProfile | None = None
        self._step: Range | None = None

    def version(self) -> str | None:
        """torch.__version__."""
        return str(importlib.import_module("torch").__version__)

    def prepare(self) -> None:
        """Starts the collection of the devices, which takes long the first time."""
        if self._prepared is None:
            self._prepared = _make_profile(self._options)
            self._prepared.prepare_trace()

    def start(self, window: Window) -> None:
        """Begins to record."""
        self._pipelines.since = now()
        self.prepare()
        prepared, self._prepared = self._prepared, None
        if prepared is not None:
            self._ahead = wall_clock_ahead()
            prepared.start_trace()
            self._running = prepared  # not before: what another profiler keeps from starting is not ours to stop
            self._install(window)

    def stop(self, window: Window) -> None:
        """Ends recording and writes the trace of the window."""
        self._uninstall()
        self._close_mark()
        self._pipelines.collect(window.log)
        running, self._running = self._running, None
        if running is None:
            return
        running.stop_trace()
        path = window.path("pt.trace.json.gz")
        dropped = None if window.unended_step is None else f"ProfilerStep#{window.unended_step}"
        write_trace(running, path, without=dropped)
        window.add_file(path, IMPORTER)
        if self._options.with_backtrace:
            with contextlib.suppress(AttributeError):  # a release with another tree of events: `def` lines are left
                log_stacks(running, window.log, self._ahead, native_id())

    def begin_step(self, number: int) -> None:
        """Begins the mark that torch.profiler would make."""
        self._step = self._record_function(f"ProfilerStep#{number}")
        self._step.__enter__()

    def end_step(self, number: int) -> None:
        """Ends the mark."""
        self._modules.end_open()
        self._close_mark()

    def open_scope(self, name: str) -> object:
        """Begins a range that Kineto calls user_annotation."""
        scope = self._record_function(name)
        scope.__enter__()
        return scope

    def close_scope(self, token: object) -> None:
        """Ends a range."""
        cast("Range", token).__exit__(None, None, None)

    def watch(self, loader: Iterable[object], log: EventLog) -> LoaderProbe | None:
        """What looks inside a torch DataLoader; other loaders are watched from outside."""
        kind: type = importlib.import_module("torch.utils.data").DataLoader
        return DataLoaderProbe(self._pipelines, cast("DataLoader", loader), log) if isinstance(loader, kind) else None

    def _install(self, window: Window) -> None:
        self._modules.install()
        if self._slots is not None:
            self._slots.install()
        if self._functions is not None:
            self._functions.install()
        if self._sampler is not None:
            self._sampler.log = window.log

    def _uninstall(self) -> None:
        if self._functions is not None:
            self._functions.remove()
        if self._slots is not None:
            self._slots.remove()
        self._modules.remove()

    def _close_mark(self) -> None:
        step, self._step = self._step, None
        if step is not None:
            step.__exit__(None, None, None)


def _make_profile(options: Options) -> KinetoProfile:
    profiler = importlib.import_module("torch.profiler")
    make: _ProfileClass = profiler.profile
    arguments: dict[str, object] = {
        "activities": chosen_activities(options, profiler.supported_activities()),
        "record_shapes": options.record_shapes,
        "profile_memory": options.records_memory,
        "with_stack": options.with_backtrace,
        **options.extra,
    }
    return make(**arguments)


def backend(options: Options) -> PyTorchBackend:
    """The recorder of PyTorch. Raises ImportError where torch is not installed."""
    if options.extra.pop("on_trace_ready", None) is not None:
        print("laptime: on_trace_ready is not called; the trace of each window is in the folder", file=sys.stderr)
    return PyTorchBackend(options)
