"""Scopes in MegEngine's recording that MegEngine does not open by itself: the user's, and those of `with_scopes`."""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable, Iterator
from typing import ParamSpec, Protocol, TypeVar, cast

from laptime.recorders.megengine_core import Core

_P = ParamSpec("_P")
_R = TypeVar("_R")


class _Naming(Protocol):
    scopes: list[str | None]
    """Modules whose call has not returned."""


class _Patcher(Protocol):
    def __exit__(self, kind: None, error: None, traceback: None, /) -> None: ...


class _PatcherClass(Protocol):
    def __call__(self, wrap: Callable[[Callable[..., object]], Callable[..., object]], /) -> _Patcher: ...


class Scopes:
    """Opens and closes scopes in order, also past modules that an exception left open in MegEngine.

    A step is a scope around those that are open: the profiler's own mark of a step (`stop_step`) makes it read past the
    end of a list when it writes the file, which ends the process now and then.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._naming = cast("_Naming", importlib.import_module("megengine.utils.naming").AutoNaming)
        self._open: list[str] = []
        self._step: str | None = None

    def open(self, name: str) -> tuple[str, int]:
        """The name, and how many modules are open."""
        self._core.push_scope(name)
        self._open.append(name)
        return name, len(self._naming.scopes)

    def close(self, name: str, modules: int) -> None:
        """Closes the scope. Modules that are still open were left by an exception: MegEngine never closes them."""
        for left in reversed(self._naming.scopes[modules:]):
            if left is not None:
                with contextlib.suppress(RuntimeError):
                    self._core.pop_scope(left)
        if name in self._open:
            self._open.remove(name)
        self._core.pop_scope(name)

    def begin_step(self, number: int) -> None:
        """A step begins; scopes that are open go on inside it."""
        with self.left() as left:
            self._step = f"laptime step {number}" if left else self._step

    def end_step(self) -> None:
        """The step ends. Where something else is open that only MegEngine knows of, its scope stays open."""
        with self.left() as left:
            self._step = None if left else self._step

    @contextlib.contextmanager
    def left(self) -> Iterator[bool]:
        """Closes all inside the block and opens them again after it; False if MegEngine does not let close them all."""
        closed: list[str] = []
        with contextlib.suppress(RuntimeError):
            for name in reversed(self._all()):
                self._core.pop_scope(name)
                closed.insert(0, name)
        left = len(closed) == len(self._all())
        try:
            yield left
        finally:
            for name in self._all() if left else closed:
                self._core.push_scope(name)

    def _all(self) -> list[str]:
        return [*([] if self._step is None else [self._step]), *self._open]


class FunctionScopes:
    """Scopes of functions and tensor methods (`with_scopes`), named as MegEngine's own Profiler names them.

    What is replaced is told by MegEngine's Patcher, which finds the functions wherever they were imported to.
    """

    def __init__(self, core: Core) -> None:
        self._push, self._pop = core.push_scope_with_type, core.pop_scope_with_type
        self._raw = cast("type", importlib.import_module("megengine.core._imperative_rt.core2").Tensor)
        self._patcher: _Patcher | None = None

    def start(self) -> None:
        """Puts the wrappers in place."""
        module = importlib.import_module("megengine.traced_module.module_tracer")
        self._patcher = cast("_PatcherClass", module.Patcher)(self._wrapped)

    def stop(self) -> None:
        """Takes them away."""
        patcher, self._patcher = self._patcher, None
        if patcher is not None:
            patcher.__exit__(None, None, None)

    def _wrapped(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        push, pop, own_name = self._push, self._pop, (function.__name__, "functional")
        names: dict[type, tuple[str, str]] = {}

        @functools.wraps(function)
        def scoped(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            scope = own_name
            if args:
                first: object = args[0]
                kind = first if isinstance(first, type) else type(first)
                known = names.get(kind)
                if known is None:
                    known = names[kind] = self._method(kind, scoped) or own_name
                scope = known
            push(*scope)
            try:
                result = function(*args, **kwargs)
            except BaseException:
                with contextlib.suppress(RuntimeError):  # what it left open
                    pop(*scope)
                raise
            pop(*scope)
            return result

        return scoped

    def _method(self, kind: type, function: object) -> tuple[str, str] | None:
        """The name of a tensor's method; None where the function is none of the type."""
        if not issubclass(kind, self._raw):
            return None
        found = (name for each in kind.__mro__ for name, value in vars(each).items() if value is function)
        name = next(found, None)
        return None if name is None else (f"tensor.{name}", "tensor_method")
