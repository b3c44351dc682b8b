"""`--steps-from NAME`: a function's calls are the steps, in a program that knows nothing of it.

The function is wrapped where it is found: in the globals of the program or of a module it imports, or in a class. In an
imported module that is when its import ends; in the program itself a look is put behind each statement at the top that
binds the name, in the compiled code alone.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import cast

from laptime.recorders.decorator import StepCalls
from laptime.recorders.programs import code_of

_MARK = "__laptime_steps__"
_Call = Callable[..., object]


@dataclass(frozen=True)
class StepsName:
    """What `--steps-from` names: `function`, `Class.method`, and `package.module:` before either."""

    module: str | None
    path: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.module}:{'.'.join(self.path)}" if self.module else ".".join(self.path)


def steps_name(text: str) -> StepsName:
    """Raises ValueError for what is no name."""
    module, _, path = text.rpartition(":")
    parts = path.split(".")
    if not all(part.isidentifier() for part in [*parts, *(module.split(".") if module else [])]):
        raise ValueError(f"{text!r} is no name of a function: train_step, pkg.mod:train_step or Class.method")
    return StepsName(module or None, tuple(parts))


class StepsFrom:
    """Wraps what the name means, wherever it appears."""

    def __init__(self, name: StepsName, calls: StepCalls) -> None:
        self.name, self.calls = name, calls
        self.is_found = False

    def look(self, namespace: dict[str, object]) -> None:
        """Looks for the function in a module's globals; what does not let itself be looked at or replaced is left."""
        with contextlib.suppress(Exception):
            self._look(namespace)

    def _look(self, namespace: dict[str, object]) -> None:
        first, *rest = self.name.path
        if first not in namespace:
            return
        if not rest:
            namespace[first] = self._wrapped(namespace[first])
            return
        owner = namespace[first]
        for part in rest[:-1]:
            owner = getattr(owner, part, None)
        if hasattr(owner, rest[-1]):
            self._look_in(owner, rest[-1])

    def wants(self, module: str, beside: str) -> bool:
        """Whether an imported module may hold it: the one that is named, else those in the program's folder."""
        if self.name.module is not None:
            return module == self.name.module
        top = os.path.join(beside, module.partition(".")[0])
        return os.path.isfile(f"{top}.py") or os.path.isdir(top)

    def may_be_of(self, program: str) -> bool:
        """Whether the function may be one of the program itself: a script's path, or the name of a module."""
        module = self.name.module
        return module in (
            None,
            "__main__",
            program,
            f"{program}.__main__",
            os.path.basename(program).removesuffix(".py"),
        )

    def _look_in(self, owner: object, name: str) -> None:
        static = inspect.getattr_static(owner, name)
        if isinstance(owner, type) and isinstance(static, (staticmethod, classmethod)):
            kind = type(static)
            setattr(owner, name, kind(cast("_Call", self._wrapped(static.__func__))))
        elif isinstance(owner, (type, ModuleType)):
            setattr(owner, name, self._wrapped(static))
        else:  # an object: its method, bound
            setattr(owner, name, self._wrapped(getattr(owner, name)))

    def _wrapped(self, found: object) -> object:
        if isinstance(found, type) or not callable(found) or not (hasattr(found, "__name__") or hasattr(found, "func")):
            return found  # an object that can be called, such as a model, is more than a function
        self.is_found = True
        if hasattr(found, _MARK):
            return found
        step = self.calls.wrap(found)
        if not isinstance(found, FunctionType):
            return _Stepping(found, step)
        setattr(step, _MARK, True)
        return step


class _Stepping:
    """Stands for a callable that is no plain function, such as a compiled one: its attributes stay within reach."""

    def __init__(self, found: _Call, step: _Call) -> None:
        functools.update_wrapper(self, found, updated=())
        self._found, self._step = found, step
        setattr(self, _MARK, True)

    def __call__(self, *args: object, **kwargs: object) -> object:
        return self._step(*args, **kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> object:
        return self if instance is None else functools.partial(self._step, instance)

    def __getattr__(self, name: str) -> object:
        if name == "_found":
            raise AttributeError(name)
        return getattr(self._found, name)


# ---- in the program itself ----

_looking: list[StepsFrom] = []


def look(namespace: dict[str, object]) -> None:
    """Called by the program's changed code, where the name may have been bound."""
    for steps in _looking:
        steps.look(namespace)


def looking_for(steps: StepsFrom) -> Callable[[ast.Module], ast.Module]:
    """A change of the program's code that calls `look` behind each statement that may bind the name."""
    _looking[:] = [steps]
    return lambda tree: _with_looks(tree, steps.name)


def changed_code(change: Callable[[ast.Module], ast.Module], code: CodeType | None, path: str) -> CodeType | None:
    """The code of a module's file, changed; as it is where there is no source."""
    if code is None or not path.endswith(".py"):
        return code
    with open(path, "rb") as file:
        return code_of(file.read(), path, change)


_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_COMPOUND = (
    *(ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.With, ast.AsyncWith, ast.Match),
    *(ast.ExceptHandler, ast.match_case),
)


def _with_looks(tree: ast.Module, name: StepsName) -> ast.Module:
    _add_looks(tree, name)
    return ast.fix_missing_locations(tree)


def _add_looks(block: ast.AST, name: StepsName) -> None:
    """Functions and classes are not gone into: what they bind is their own."""
    for field in _BLOCKS:
        statements: list[ast.AST] = getattr(block, field, [])
        if statements:
            setattr(block, field, [part for each in statements for part in _followed(each, name)])


def _followed(statement: ast.AST, name: StepsName) -> list[ast.AST]:
    if isinstance(statement, _COMPOUND):
        _add_looks(statement, name)
        return [statement]
    if not _binds(statement, name):
        return [statement]
    call = ast.parse(f"__import__({__name__!r}, fromlist=['look']).look(globals())").body[0]
    for node in ast.walk(call):
        ast.copy_location(node, statement)
    return [statement, call]


def _binds(statement: ast.AST, name: StepsName) -> bool:
    first, last = name.path[0], name.path[-1]
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return statement.name == first
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        bound = [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
        return first in bound or "*" in bound
    return any(
        (isinstance(node, ast.Name) and node.id == first and isinstance(node.ctx, ast.Store))
        or (isinstance(node, ast.Attribute) and node.attr == last and isinstance(node.ctx, ast.Store))
        for node in ast.walk(statement)
    )
