"""`megengine.utils.profiler` by its names: `from laptime.compat.megengine import profile, Profiler, scope`.

The arguments, their order and defaults are MegEngine's. Unlike there every entered `with` block and every call of a
decorated function is kept, each as a step; both formats can be had at once; a scope that raises is closed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import ParamSpec, TypeVar, overload

from laptime.recorders import Profiler as _Recorder
from laptime.recorders import active, scope
from laptime.recorders.options import FORMATS
from laptime.recorders.telling import tell

__all__ = ["Profiler", "is_profiling", "profile", "scope"]

_P = ParamSpec("_P")
_R = TypeVar("_R")
_MANY_ITERATIONS = 10


class Profiler(contextlib.ContextDecorator):
    """MegEngine's Profiler: around iterations as `with` block or decorator, or with `start` and `stop`.

    The files go into the folder `path` as soon as a block ends. Raises AssertionError, as MegEngine does, for an
    unknown format and for `formats` that are no list.
    """

    CHROME_TIMELINE = FORMATS[0]
    valid_formats = frozenset(FORMATS)

    def __init__(
        self,
        path: str | os.PathLike[str] = "profile",
        format: str = FORMATS[0],
        formats: Sequence[str] | None = None,
        with_backtrace: bool = False,
        with_scopes: bool = False,
        *,
        sample_rate: int = 0,
        profile_device: bool = True,
        num_tensor_watch: int = 10,
        enable_cupti: bool = False,
        **unknown: object,
    ) -> None:
        if isinstance(formats, str):
            raise AssertionError("formats expects a list, got str")
        self._formats = list(formats or [format])
        for name in self._formats:
            if name not in FORMATS:
                raise AssertionError(f"unsupported format {name}: choose from {', '.join(FORMATS)}")
        if unknown:  # MegEngine says nothing
            tell(f"the profiler has no option {', '.join(unknown)}; ignored")
        self._path = os.fspath(path)
        self._recorder = _Recorder(
            self._path,
            framework="megengine",
            formats=self._formats,
            sample_rate=int(sample_rate),
            profile_device=bool(profile_device),
            with_scopes=bool(with_scopes),
            with_backtrace=bool(with_backtrace),
            num_tensor_watch=int(num_tensor_watch),
            enable_cupti=int(enable_cupti),
        )
        self._depth = self._iterations = 0

    @property
    def path(self) -> str:
        """Pattern of the files that are written."""
        names = self._formats[0] if len(self._formats) == 1 else "{" + ",".join(self._formats) + "}"
        return os.path.join(self._path, f"*.{names}")

    @property
    def directory(self) -> str:
        """Folder of the files."""
        return self._path

    @property
    def formats(self) -> list[str]:
        """What is written."""
        return list(self._formats)

    def start(self) -> Profiler:
        """Begins an iteration. Inside of another profiler nothing is recorded, and said so."""
        self._depth += 1
        if self._depth == 1:
            self._iterations += 1
            if self._iterations == _MANY_ITERATIONS + 1:
                tell(f"more than {_MANY_ITERATIONS} iterations are recorded, each is kept; a few are enough")
            self._recorder.start()
        return self

    def stop(self) -> None:
        """Ends it and writes its files."""
        self._end(cut=False)

    def step(self) -> Profiler:
        """Ends a training step inside the block; without any the block is one."""
        self._recorder.step()
        return self

    def dump(self) -> None:
        """Writes what is recorded so far; blocks that have ended are written already."""
        self._recorder.dump()

    def __enter__(self) -> Profiler:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end(cut=kind is not None)

    def __call__(self, function: Callable[_P, _R]) -> Callable[_P, _R]:  # type: ignore[override]  # keeps the signature
        """The function; each outermost call is recorded."""
        wrapped = super().__call__(function)
        wrapped.__profiler__ = self  # type: ignore[attr-defined]  # as MegEngine's does
        return wrapped

    def _end(self, *, cut: bool) -> None:
        self._depth = max(self._depth - 1, 0)
        if self._depth == 0:
            self._recorder.finish(cut=cut)


@overload
def profile(function: Callable[_P, _R], /) -> Callable[_P, _R]: ...
@overload
def profile(path: str = ..., *args: object, **options: object) -> Profiler: ...
def profile(*args: object, **options: object) -> object:
    """`@profile` or `@profile(path, ...)` with the arguments of Profiler: each call of the function is a step."""
    if len(args) == 1 and not options and callable(args[0]):
        return Profiler()(args[0])
    return Profiler(*args, **options)  # type: ignore[arg-type]  # checked by Profiler


def is_profiling() -> bool:
    """Whether something is recorded now."""
    return active.recorder is not None
