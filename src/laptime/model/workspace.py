"""The workspace: where imported traces and results are kept, never inside the user's profile folder.

A trace lies in `traces/KEY/`: one Parquet file per table and `meta.json`; KEY is made of the source's fingerprint and
the importer's version. A run lies in `runs/KEY/`: `run.json` names its traces, `report.json` is its stored report.
Everything is written under a temporary name and renamed, so a half-written cache is never read and two processes may
import the same file at once. This file imports nothing heavy: a cached report needs no table.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from laptime.errors import WorkspaceError

_ENDS_BYTES = 64 << 10
_REMNANT_SECONDS = 86_400
_CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
"""What no reading of a recording meets."""
ENVIRONMENT = "LAPTIME_WORKSPACE"


@dataclass(frozen=True)
class StoredRun:
    """An entry of the run list."""

    key: str
    path: str
    name: str
    format: str
    framework: str | None
    traces: list[str]
    """Keys of the traces, in order of rank, then name."""
    sources: list[str]
    """Names of the recordings, one per trace."""
    imported_unix: float
    size_bytes: int = 0
    notes: list[dict[str, object]] = field(default_factory=list)
    """Warnings about the run itself, as `{code, message, count}`."""


class Workspace:
    """A folder of cached imports."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @staticmethod
    def choose(wanted: Path | None, *, say: Callable[[str], None]) -> Workspace:
        """The folder asked for, LAPTIME_WORKSPACE or the user's cache folder; a temporary one if it is read-only."""
        root = wanted or Path(os.environ.get(ENVIRONMENT) or default_root())
        try:
            (root / "traces").mkdir(parents=True, exist_ok=True)
            (root / "runs").mkdir(exist_ok=True)
            with tempfile.TemporaryFile(dir=root):
                pass
        except OSError as error:
            fallback = private_temporary_folder()
            say(f"workspace {root} cannot be written ({error.strerror}); using {fallback}")
            (fallback / "traces").mkdir(parents=True, exist_ok=True)
            (fallback / "runs").mkdir(exist_ok=True)
            return Workspace(fallback)
        return Workspace(root)

    def trace_folder(self, key: str) -> Path:
        """Where a trace lies, or would lie."""
        return self.root / "traces" / key

    def run_folder(self, key: str) -> Path:
        """Where a run lies, or would lie."""
        return self.root / "runs" / key

    def has_trace(self, key: str) -> bool:
        """Whether the trace is there, whole."""
        return (self.trace_folder(key) / "meta.json").is_file()

    def has_run(self, key: str) -> bool:
        """Whether a run is listed."""
        return (self.run_folder(key) / "run.json").is_file()

    @contextmanager
    def new_trace(self, key: str) -> Iterator[Path]:
        """A temporary folder that becomes the trace at the end; if another process was faster, its result stays."""
        with self._failures():
            (self.root / "traces").mkdir(parents=True, exist_ok=True)
            self._clear_remnants()
            work = Path(tempfile.mkdtemp(prefix=f".{key}.", dir=self.root / "traces"))
        try:
            with self._failures(of_others=True):
                yield work
            with self._failures():
                self._put(work, key)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    @contextmanager
    def _failures(self, *, of_others: bool = False) -> Iterator[None]:
        """Words failures of the workspace; with `of_others`, leaves those of other files as they are."""
        try:
            yield
        except OSError as error:
            own = error.errno in _CANNOT_WRITE or str(error.filename or "").startswith(str(self.root))
            if of_others and not own:
                raise
            raise WorkspaceError(
                f"the workspace cannot be written ({error.strerror or 'no reason told'})",
                where=self.root,
                remedy="free space there, or choose another folder with --workspace",
            ) from error

    def _put(self, work: Path, key: str) -> None:
        """Renames a finished trace to its place, unless a whole one is there; remnants are cleared away."""
        target = self.trace_folder(key)
        for _ in range(2):
            try:
                work.rename(target)
                return
            except OSError:
                if self.has_trace(key):
                    return
                shutil.rmtree(target, ignore_errors=True)
        work.rename(target)

    def _clear_remnants(self) -> None:
        """Removes what killed imports left more than a day ago."""
        for folder in (self.root / "traces").glob(".*"):
            try:
                if time.time() - folder.stat().st_mtime > _REMNANT_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)
            except OSError:
                continue

    def is_whole(self, key: str) -> bool:
        """Whether a run is listed and all its traces are still there."""
        run = self.read_result(key, "run")
        traces = run.get("traces") if run else None
        return isinstance(traces, list) and all(self.has_trace(trace) for trace in traces)

    def store_run(self, run: StoredRun) -> None:
        """Lists a run."""
        with self._failures():
            self.run_folder(run.key).mkdir(parents=True, exist_ok=True)
        self.write_result(run.key, "run", asdict(run))

    def write_result(self, key: str, name: str, result: object) -> None:
        """Stores a JSON result about a run."""
        target = self.run_folder(key) / f"{name}.json"
        with self._failures():
            handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=target.parent)
            with os.fdopen(handle, "w") as out:
                json.dump(result, out, separators=(",", ":"))
            Path(temporary).replace(target)

    def read_result(self, key: str, name: str) -> dict[str, object] | None:
        """A stored JSON result; None where there is none that can be read."""
        try:
            result = json.loads((self.run_folder(key) / f"{name}.json").read_text())
        except (OSError, ValueError):
            return None
        return result if isinstance(result, dict) else None

    def runs(self) -> list[StoredRun]:
        """Listed runs, newest first, with the bytes they occupy."""
        found = []
        for folder in sorted((self.root / "runs").iterdir()):
            run = self.listed(folder.name)
            if run is not None:
                size = sum(_folder_bytes(self.trace_folder(key)) for key in run.traces)
                found.append(replace(run, size_bytes=size))
        return sorted(found, key=lambda run: -run.imported_unix)

    def listed(self, key: str) -> StoredRun | None:
        """A listed run by its key; its size is not counted."""
        stored = self.read_result(key, "run")
        try:
            return StoredRun(**stored) if stored is not None else None  # type: ignore[arg-type]  # written by store_run
        except TypeError:  # by another version
            return None

    def find(self, text: str) -> StoredRun | None:
        """The newest run of that key or name."""
        return next((run for run in self.runs() if text in (run.key, run.name)), None)

    def remove(self, run: StoredRun) -> None:
        """Forgets a run and the traces that no other run uses."""
        shutil.rmtree(self.run_folder(run.key), ignore_errors=True)
        used = {key for other in self.runs() for key in other.traces}
        for key in set(run.traces) - used:
            shutil.rmtree(self.trace_folder(key), ignore_errors=True)


def default_root() -> Path:
    """The platform's folder for a user's caches."""
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "laptime"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "laptime"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "laptime"


def fingerprint(path: Path, member: str | None = None) -> str:
    """Identity of a file's content without reading all of it: size, time of change, first and last 64 KiB."""
    stat = path.stat()
    digest = hashlib.blake2b(digest_size=16)
    digest.update(f"{stat.st_size} {stat.st_mtime_ns} {member or ''} ".encode("utf-8", "surrogateescape"))
    with path.open("rb") as handle:
        digest.update(handle.read(_ENDS_BYTES))
        handle.seek(max(0, stat.st_size - _ENDS_BYTES))
        digest.update(handle.read(_ENDS_BYTES))
    return digest.hexdigest()


def joined_key(parts: list[str]) -> str:
    """One key made of several."""
    return hashlib.blake2b("\n".join(parts).encode("utf-8", "surrogateescape"), digest_size=10).hexdigest()


def _folder_bytes(folder: Path) -> int:
    return sum(entry.stat().st_size for entry in folder.iterdir()) if folder.is_dir() else 0


def private_temporary_folder() -> Path:
    """A temporary folder that stays the same between commands, unless somebody else could have written it."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    folder = Path(tempfile.gettempdir()) / f"laptime-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        stat = folder.lstat()
        if folder.is_dir() and stat.st_uid in (user, 0 if os.name == "nt" else user) and not stat.st_mode & 0o022:
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="laptime-"))
