"""Runs an unmodified program in this process as Python itself would: as `__main__`, with its own argv, path and end."""

from __future__ import annotations

import ast
import importlib.util
import io
import os
import pkgutil
import runpy
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import cast

_OWN = str(Path(__file__).parent)
Changes = Callable[[ast.Module], ast.Module]
"""What is done to a script's code before it runs."""


def run_script(path: str, arguments: Sequence[str], change: Changes | None = None) -> None:
    """Runs a script, or a folder or archive with a `__main__`, as `python PATH ARGUMENTS` does.

    Raises what the program raises, and OSError where there is no such file.
    """
    whole = os.path.join(os.getcwd(), path)
    if _holds_main(path):
        _take_place([path, *arguments], whole)
        _run_as_main("__main__", alter_argv=False)
        return
    with io.open_code(whole) as file:
        source = file.read()
    main = _take_place([path, *arguments], os.path.dirname(os.path.realpath(path)))
    main.__file__, main.__loader__ = whole, SourceFileLoader("__main__", whole)
    main.__dict__["__cached__"] = None
    main.__dict__.setdefault("__annotations__", {})
    exec(code_of(source, whole, change), main.__dict__)


def run_module(name: str, arguments: Sequence[str]) -> None:
    """Runs a module as `python -m NAME ARGUMENTS` does. Raises what the program raises."""
    _take_place(["-m", *arguments], os.getcwd())
    _run_as_main(name, alter_argv=True)


def has_package(module: str) -> bool:
    """Whether the package of a module, or the module itself, is there for `run_module`. Nothing is imported."""
    name, path = module.partition(".")[0], sys.path[:]
    sys.path.insert(0, os.getcwd())
    try:
        return name in sys.modules or importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
    finally:
        sys.path[:] = path


def code_of(source: bytes, path: str, change: Changes | None) -> CodeType:
    """Compiled code of a file."""
    if change is None:
        return compile(source, path, "exec", dont_inherit=True)
    tree = cast("ast.Module", compile(source, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True))
    return compile(change(tree), path, "exec", dont_inherit=True)


def hide_own_frames() -> None:
    """Has what ended the program be shown as if it had run by itself."""
    shown = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> object:
        own = without_own_frames(traceback)
        return shown(kind, error.with_traceback(own), own)

    sys.excepthook = show


def without_own_frames(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without frames of the recorder, nor those of imports that it listened to."""
    frames: list[TracebackType] = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    own = [frame.tb_frame.f_code.co_filename.startswith(_OWN) for frame in frames]
    first = own.index(True) if True in own else 0
    start = own.index(False, first) if False in own[first:] else len(own)  # the program begins
    kept, leads_to_own = None, False
    for frame, is_own in reversed(list(zip(frames[start:], own[start:], strict=True))):
        leads_to_own = is_own or (leads_to_own and frame.tb_frame.f_code.co_filename.startswith("<frozen importlib"))
        if not leads_to_own:
            kept = TracebackType(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return kept


def _holds_main(path: str) -> bool:
    """Whether it is a folder or an archive."""
    return os.path.exists(path) and pkgutil.get_importer(path) is not None


def _take_place(arguments: list[str], first: str) -> ModuleType:
    """A fresh `__main__`, which stays until the process ends; the program's arguments; where it imports from."""
    main = ModuleType("__main__")
    main.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = main
    sys.argv[:] = arguments
    if not getattr(sys.flags, "safe_path", False):  # python -P puts nothing there
        sys.path[0] = first
    return main


def _run_as_main(name: str, *, alter_argv: bool) -> None:
    """What the interpreter itself calls for `-m`; unlike `runpy.run_module` it leaves the module in its place."""
    run = cast("Callable[[str, bool], object]", vars(runpy)["_run_module_as_main"])
    run(name, alter_argv)
