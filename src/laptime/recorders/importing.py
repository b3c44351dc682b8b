"""Listens to imports: calls back when a module has been imported whole, before whoever imports it goes on."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Protocol, cast


class _Finder(Protocol):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None: ...


class _Loader(Protocol):
    def exec_module(self, module: ModuleType) -> None: ...

    def get_code(self, fullname: str) -> CodeType | None: ...


class ImportListener:
    """A finder on `sys.meta_path` that finds what the others find, and has their loaders tell."""

    def __init__(self, wants: Callable[[str], bool], imported: Callable[[ModuleType], None]) -> None:
        self._wants, self._imported = wants, imported
        self.code: dict[str, Callable[[CodeType | None, str], CodeType | None]] = {}
        """By module: what is done to its code, and its file, before it runs."""
        self._asking: set[str] = set()

    def install(self) -> None:
        """Begins to listen."""
        sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the other finders find."""
        if fullname in self._asking or not (fullname in self.code or self._wants(fullname)):
            return None
        self._asking.add(fullname)
        try:
            spec = self._found(fullname, path, target)
        finally:
            self._asking.discard(fullname)
        if spec is not None and spec.loader is not None:
            with contextlib.suppress(AttributeError, TypeError):  # a loader that cannot be listened to
                self._listen(cast("_Loader", spec.loader), spec)
        return spec

    def _found(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
        for finder in list(sys.meta_path):
            if finder is not self and hasattr(finder, "find_spec"):
                spec = cast("_Finder", finder).find_spec(fullname, path, target)
                if spec is not None:
                    return spec
        return None

    def _listen(self, loader: _Loader, spec: ModuleSpec) -> None:
        if isinstance(loader, type):  # the loader of modules that are compiled into Python: one for all
            return
        execute, change = loader.exec_module, self.code.get(spec.name)

        def exec_module(module: ModuleType) -> None:
            execute(module)
            self._imported(module)

        loader.exec_module = exec_module  # type: ignore[method-assign]  # of this loader alone
        if change is not None:
            whole, changed = loader.get_code, change

            def get_code(fullname: str) -> CodeType | None:
                return changed(whole(fullname), spec.origin or "")

            loader.get_code = get_code  # type: ignore[method-assign]  # as above
