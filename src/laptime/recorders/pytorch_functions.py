"""Ranges of functions and tensor methods, and samples of the device's memory, by torch's own way to see all calls.

A mode at the bottom of torch's stack of function modes sees the outermost calls of the training thread. The device
that `torch.set_default_device` or `with torch.device(...)` chose has to stay below it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import cast

from laptime.recorders.event_log import EventLog, now
from laptime.recorders.pytorch_modules import compiling_test
from laptime.recorders.pytorch_ranges import FUNCTION, MakesRange

_Function = Callable[..., object]
_QUIET = ("__get__", "__set__", "__delete__", "__torch_function__", "__repr__", "__str__", "__format__")
"""Attributes of tensors, and what only shows them."""


class FunctionCalls:
    """While installed, calls of torch functions and methods are ranges, or counted for samples of memory, or both."""

    def __init__(self, make_range: MakesRange | None, sampler: MemorySampler | None) -> None:
        self._make_range, self._sampler = make_range, sampler
        self._overrides: ModuleType = importlib.import_module("torch.overrides")
        self._device_mode: type = importlib.import_module("torch.utils._device").DeviceContext
        self._is_compiling = compiling_test()
        self._names: dict[object, str | None] = {}
        self._mode = self._make_mode()

    def install(self) -> None:
        """Puts the mode above those of devices and below all others, so that leaving those takes none but their own."""
        self._rebuild(lambda modes: modes.insert(self._above_devices(modes), self._mode))

    def remove(self) -> None:
        """Takes it away."""
        self._rebuild(lambda modes: modes.remove(self._mode) if self._mode in modes else None)

    def _above_devices(self, modes: list[object]) -> int:
        return next((place for place, mode in enumerate(modes) if not isinstance(mode, self._device_mode)), len(modes))

    def _rebuild(self, change: Callable[[list[object]], None]) -> None:
        stack = self._overrides
        modes = [stack._pop_mode() for _ in range(stack._len_torch_function_stack())][::-1]
        change(modes)
        for mode in modes:
            stack._push_mode(mode)

    def _make_mode(self) -> object:
        calls = self

        def called(
            mode: object, func: _Function, types: object, args: tuple[object, ...] = (), kwargs: object = None
        ) -> object:
            return calls._call(func, args, cast("Mapping[str, object]", kwargs or {}))

        base: type = self._overrides.TorchFunctionMode
        return type("LaptimeMode", (base,), {"__torch_function__": called})()

    def _call(self, func: _Function, args: tuple[object, ...], kwargs: Mapping[str, object]) -> object:
        name = None if self._is_compiling() else self._name(func)
        if name is None:
            return func(*args, **kwargs)
        if self._sampler is not None:
            self._sampler.count()
        if self._make_range is None:
            return func(*args, **kwargs)
        with self._make_range(name):
            return func(*args, **kwargs)

    def _name(self, func: _Function) -> str | None:
        try:
            return self._names[func]
        except KeyError:
            name = self._names[func] = self._named(func)
        return name

    def _named(self, func: _Function) -> str | None:
        resolved = self._overrides.resolve_name(func)
        name = str(resolved or getattr(func, "__qualname__", None) or getattr(func, "__name__", "?"))
        is_inner = name.startswith(("profiler.", "_"))
        return None if is_inner or name.rpartition(".")[2] in _QUIET else FUNCTION + name


class MemorySampler:
    """Samples what torch's allocator holds on the device, every so many calls."""

    def __init__(self, every: int, device: str) -> None:
        self.log: EventLog | None = None
        self._every, self._device, self._calls = every, device, 0
        self._memory: ModuleType = importlib.import_module(f"torch.{device}")

    def count(self) -> None:
        """A call was made."""
        self._calls += 1
        log = self.log
        if log is None or self._calls % self._every:
            return
        time = now()
        log.add("counter", f"{self._device} memory allocated", "bytes", time, self._memory.memory_allocated())
        log.add("counter", f"{self._device} memory reserved", "bytes", time, self._memory.memory_reserved())


def memory_sampler(every: int) -> MemorySampler | None:
    """A sampler for the accelerator there is; None without one, or where nobody wants samples."""
    torch = importlib.import_module("torch")
    for device in ("cuda", "xpu", "npu", "mtia"):
        module = getattr(torch, device, None)
        if every and module is not None and module.is_available() and hasattr(module, "memory_allocated"):
            return MemorySampler(every, device)
    return None
