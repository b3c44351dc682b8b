"""Makes an environment once, whoever asks for it first; the others wait."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.environments.places import Environment, installed_python, named

# Written last: a virtual environment cannot be made elsewhere and moved.
_MARKER = "complete"
_REFUSAL = "unavailable"


class Unavailable(Exception):
    """Why an environment cannot be had on this machine, in one line."""


def absence(environment: Environment) -> str | None:
    """Why it is not there, as the last try to make it told; None where it is."""
    if _made(environment):
        return None
    refusal = _beside(environment, _REFUSAL)
    return refusal.read_text(encoding="utf-8") if refusal.is_file() else "not made yet: run make test-frameworks"


def ensure(name: str) -> Path | None:
    """The interpreter of an environment, made where absent; None, after a line that says why, where it cannot be."""
    environment = named(name)
    try:
        make(environment)
    except Unavailable as reason:
        print(f"skipped: {name}: {reason}", flush=True)
        return None
    return environment.python


def make(environment: Environment) -> None:
    """Makes an environment where it is absent. Raises Unavailable where that cannot be."""
    if _made(environment):
        return
    with _locked(environment):
        if _made(environment):  # by whoever held the lock
            return
        refusal = _beside(environment, _REFUSAL)
        try:
            _install(environment)
        except Unavailable as reason:
            refusal.write_text(str(reason), encoding="utf-8")
            raise
        refusal.unlink(missing_ok=True)


def _made(environment: Environment) -> bool:
    return (environment.folder / _MARKER).is_file()


def _beside(environment: Environment, ending: str) -> Path:
    return environment.folder.parent / f"{environment.folder.name}.{ending}"


def _say(environment: Environment, text: str) -> None:
    print(f"{environment.name} {environment.version} for Python {environment.python_version}: {text}", flush=True)


@contextmanager
def _locked(environment: Environment) -> Iterator[None]:
    lock = _beside(environment, "lock")
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.touch()
    except OSError as error:
        raise Unavailable(f"{error.filename}: {error.strerror}") from error
    with lock.open() as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say(environment, "waiting for another process that installs it")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield  # closing the file gives the lock back


def _install(environment: Environment) -> None:
    interpreter = installed_python(environment.python_version)
    if interpreter is None:
        raise Unavailable(f"no Python {environment.python_version} on this machine")
    started = time.monotonic()
    _say(environment, f"installing into {environment.folder}")
    shutil.rmtree(environment.folder, ignore_errors=True)
    pip = [interpreter, "-m", "pip", "--python", str(environment.python), "install", "--quiet", "--no-deps"]
    try:
        _run([interpreter, "-m", "venv", "--without-pip", str(environment.folder)])  # to copy pip takes long
        _run([*pip, "--disable-pip-version-check", "-r", str(environment.pins)])
        (environment.folder / _MARKER).touch()
    finally:
        if not _made(environment):
            shutil.rmtree(environment.folder, ignore_errors=True)
    _say(environment, f"installed in {time.monotonic() - started:.0f} s")


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
        raise Unavailable((errors or lines or ["no message"])[-1])
