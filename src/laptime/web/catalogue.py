"""The runs that the server shows: found under its base folders, each with a state, imported when asked for.

A run's id is made of its name and of its place below the base folder: the same after a restart, and no path.
"""

from __future__ import annotations

import hashlib
import logging
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from typing_extensions import TypedDict

from laptime.errors import LaptimeError
from laptime.importers.keys import run_key
from laptime.model.trace import Run
from laptime.model.workspace import Workspace
from laptime.web.cards import EMPTY, Card, Cause, card_of
from laptime.web.finding import RunFolder, Search, fault_of
from laptime.web.imports import Imports
from laptime.web.opened import OpenedRuns

_LOG = logging.getLogger(__name__)
Status = Literal["new", "queued", "importing", "ready", "failed"]
_GENERIC = {"profiler", "profile", "plugins", "ASCEND_PROFILER_OUTPUT", "traces", "."}
"""Names of folders that say nothing of the run in them."""
_REFRESH_S = 2.0
_REST = 20
"""A slow search rests so many times as long as it takes."""


class RunRow(TypedDict):
    """A run as the list shows it; numbers are null until it is imported."""

    run: str
    name: str
    path: str
    format: str
    framework: str | None
    status: Status
    message: str | None
    progress: float | None
    world_size: int | None
    ranks: list[int | None]
    device: str | None
    steps: int | None
    step_mean_ns: int | None
    step_ns: list[int]
    biggest_cause: Cause | None
    updated_unix: float | None
    size_bytes: int


class NotFound(LaptimeError):
    """A run, or a part of one, that is not there."""


class NotImported(LaptimeError):
    """A run that must be imported first."""


@dataclass
class _Entry:
    folder: RunFolder
    run: str
    name: str
    status: Status = "new"
    message: str | None = None
    progress: float | None = None
    key: str | None = None
    card: Card | None = None
    stamp: tuple[object, ...] = ()
    """Sizes and times of its files when its state was last looked up."""
    updated_unix: float | None = None
    size_bytes: int = 0

    def row(self) -> RunRow:
        card = self.card or EMPTY
        return {
            "run": self.run,
            "name": self.name,
            "path": self.folder.relative,
            "format": card["format"] or self.folder.format,
            "framework": card["framework"],
            "status": self.status,
            "message": self.message,
            "progress": self.progress,
            "world_size": card["world_size"],
            "ranks": card["ranks"],
            "device": card["device"],
            "steps": card["steps"],
            "step_mean_ns": card["step_mean_ns"],
            "step_ns": card["step_ns"],
            "biggest_cause": card["biggest_cause"],
            "updated_unix": self.updated_unix,
            "size_bytes": self.size_bytes,
        }


@dataclass
class Catalogue:
    """Runs under some base folders; `refresh` looks for new ones, `start` does so again and again."""

    bases: Sequence[Path]
    workspace: Workspace
    changed: Callable[[RunRow], None] = lambda row: None
    """Hears of each run whose row changes; from any thread."""
    scanning: bool = False
    _entries: dict[str, _Entry] = field(default_factory=dict)
    _stop: threading.Event = field(default_factory=threading.Event)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self.bases = [Path(base).resolve() for base in self.bases]
        self._searches = [Search(base) for base in self.bases]
        self._imports = Imports(self.workspace.root)
        self._opened = OpenedRuns(self.workspace)
        self._stored = _StoredPaths(self.workspace)

    # ---- what is there ----

    def runs(self) -> list[RunRow]:
        """All runs, those that changed last first."""
        with self._lock:
            rows = [entry.row() for entry in self._entries.values()]
        return sorted(rows, key=lambda row: (-(row["updated_unix"] or 0.0), row["path"]))

    def folders(self) -> list[RunFolder]:
        """Where the runs lie."""
        with self._lock:
            return [entry.folder for entry in self._entries.values()]

    def row(self, run_id: str) -> RunRow:
        """One run. Raises NotFound."""
        return self._entry(run_id).row()

    @property
    def notes(self) -> list[str]:
        """What the search left out, and why."""
        return [note for search in self._searches for note in search.notes]

    def key(self, run_id: str) -> str:
        """Under which key an imported run lies in the workspace. Raises NotFound, NotImported."""
        entry = self._entry(run_id)
        if entry.key is None or entry.status != "ready":
            raise NotImported(
                "the run is not imported yet", where=run_id, remedy=f"POST /api/runs/{run_id}/import, then ask again"
            )
        return entry.key

    def run(self, run_id: str) -> Run:
        """An imported run. Raises NotFound, NotImported."""
        shown_path = self._entry(run_id).folder.relative
        key = self.key(run_id)
        try:
            return self._opened.run(key, shown_path)
        except (LaptimeError, OSError):
            self._forget(run_id)
            return self._opened.run(self.key(run_id), shown_path)  # NotImported unless another import was faster

    def stored(self, run_id: str, name: str) -> dict[str, object] | None:
        """A result that is kept beside an imported run. Raises NotFound, NotImported."""
        return self.workspace.read_result(self.key(run_id), name)

    # ---- imports ----

    def import_run(self, run_id: str) -> RunRow:
        """Queues the import of a run, unless it is under way or done. Raises NotFound."""
        with self._lock:
            entry = self._entry(run_id)
            if entry.status in ("new", "failed"):
                self._set(entry, "queued")
                self._imports.add(entry.folder, _Watcher(self, entry))
            return entry.row()

    @property
    def import_processes(self) -> list[int]:
        """Ids of the processes that import now."""
        return self._imports.processes

    # ---- looking again ----

    def start(self) -> None:
        """Looks for runs from now on, in a thread of its own."""
        self.scanning = True
        threading.Thread(target=self._watch, name="laptime-catalogue", daemon=True).start()

    def close(self) -> None:
        """Stops looking and importing."""
        self._stop.set()
        self._imports.close()

    def refresh(self) -> None:
        """Looks once."""
        found = [folder for search in self._searches for folder in search.found()]
        with self._lock:
            self._take(found)
            entries = list(self._entries.values())
        self._stored.refresh()
        for entry in entries:
            self._look_up(entry)

    def _watch(self) -> None:
        while not self._stop.is_set():
            began = time.monotonic()
            try:
                self.refresh()
            except OSError:  # a folder went away meanwhile; the next look sees what is left
                _LOG.debug("the search was cut short", exc_info=True)
            except Exception:  # whatever a strange folder raises, the runs known by now are served
                _LOG.exception("the search failed")
            self.scanning = False
            self._stop.wait(max(_REFRESH_S, _REST * (time.monotonic() - began)))

    def _take(self, found: list[RunFolder]) -> None:
        """Adds new runs and drops those that are gone."""
        entries: dict[str, _Entry] = {}
        for folder in found:
            run_id = _run_id(folder, taken=entries)
            known = self._entries.get(run_id)
            if known is not None and known.folder.path == folder.path:
                if known.folder.inner != folder.inner:
                    known.stamp = ()
                known.folder = folder
                entries[run_id] = known
            else:
                entries[run_id] = _Entry(folder, run_id, _name(folder))
        self._entries = entries

    def _look_up(self, entry: _Entry) -> None:
        """Finds the state of a run whose files changed, or which another program may have imported."""
        updated, size, stamp = _measured(entry.folder.files)
        keys = self._stored.keys_of(entry.folder.path)
        stamp = (*stamp, keys)
        with self._lock:
            if stamp == entry.stamp or entry.status in ("queued", "importing"):
                return
            entry.stamp, entry.updated_unix, entry.size_bytes = stamp, updated, size
        key = self._key_among(entry.folder, keys)
        card = None if key is None else card_of(self.workspace, key)
        fault = None if card else fault_of(entry.folder)
        with self._lock:
            if entry.status in ("queued", "importing"):
                return
            entry.key, entry.card = (key, card) if card else (None, None)
            self._set(entry, "ready" if card else "failed" if fault else "new", message=fault)

    def _key_among(self, folder: RunFolder, keys: frozenset[str]) -> str | None:
        """The key of the folder as it is now, if the workspace has it."""
        if not keys:
            return None
        try:
            key = run_key(folder.path, folder.sources())
        except (LaptimeError, OSError):
            return None
        return key if key in keys else None

    # ---- states ----

    def _entry(self, run_id: str) -> _Entry:
        with self._lock:
            entry = self._entries.get(run_id)
        if entry is None:
            raise NotFound("no such run", where=run_id, remedy="see /api/runs for the runs there are")
        return entry

    def _set(self, entry: _Entry, status: Status, *, message: str | None = None, progress: float | None = None) -> None:
        with self._lock:
            entry.status, entry.message, entry.progress = status, message, progress
            row = entry.row()
        self.changed(row)

    def _forget(self, run_id: str) -> None:
        """Its import is gone from the workspace."""
        entry = self._entry(run_id)
        with self._lock:
            if entry.status == "ready":
                entry.key = entry.card = None
                self._set(entry, "new")


@dataclass
class _Watcher:
    """Puts the course of an import into the run's state."""

    catalogue: Catalogue
    entry: _Entry

    def started(self) -> None:
        self.catalogue._set(self.entry, "importing", progress=0.0)

    def progressed(self, share: float) -> None:
        self.catalogue._set(self.entry, "importing", progress=share)

    def finished(self, key: str) -> None:
        card = card_of(self.catalogue.workspace, key)
        if card is None:
            self.failed("the import is gone from the workspace; try again")
            return
        self.entry.key, self.entry.card = key, card
        self.catalogue._set(self.entry, "ready")

    def failed(self, message: str) -> None:
        self.catalogue._set(self.entry, "failed", message=message)


class _StoredPaths:
    """Which paths the workspace has imports of; read again when its list of runs changes."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._paths: dict[str, str] = {}
        self._keys: dict[str, frozenset[str]] = {}
        self._stamp = 0

    def refresh(self) -> None:
        """Reads what was added."""
        folder = self._workspace.root / "runs"
        try:
            stamp = folder.stat().st_mtime_ns
            if stamp == self._stamp:
                return
            names = {entry.name for entry in folder.iterdir()}
        except FileNotFoundError:  # somebody cleared the workspace
            stamp, names = 0, set()
        known = {key: path for key, path in self._paths.items() if key in names}
        for key in names - known.keys():
            stored = self._workspace.listed(key)
            if stored is not None:
                known[key] = stored.path
        keys: dict[str, set[str]] = {}
        for key, path in known.items():
            keys.setdefault(path, set()).add(key)
        self._paths, self._stamp = known, stamp
        self._keys = {path: frozenset(each) for path, each in keys.items()}

    def keys_of(self, path: Path) -> frozenset[str]:
        """Keys of the imports of a path, of all its states."""
        return self._keys.get(str(path), frozenset())


def _measured(files: Sequence[Path]) -> tuple[float | None, int, tuple[object, ...]]:
    """When the files last changed, their bytes, and what changes with them."""
    stats = []
    for file in files:
        try:
            stats.append(file.stat())
        except OSError:
            continue
    newest = max((stat.st_mtime for stat in stats), default=None)
    marks = tuple((stat.st_size, stat.st_mtime_ns) for stat in stats)
    return newest, sum(stat.st_size for stat in stats), (len(files), *marks)


def _name(folder: RunFolder) -> str:
    """The last telling part of its place; what begins with a digit, as times do, with the one before."""
    parts = [part for part in (folder.base.name, *folder.relative.split("/")) if part not in _GENERIC] or ["run"]
    named = not parts[-1][:1].isdigit() or len(parts) == 1
    return parts[-1] if named else "/".join(parts[-2:])


def _run_id(folder: RunFolder, taken: dict[str, _Entry]) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", _name(folder).casefold()).strip("-")[:40].strip("-") or "run"
    for place in (f"{folder.base.name}/{folder.relative}", str(folder.path)):
        digest = hashlib.blake2b(place.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
        if f"{slug}-{digest}" not in taken:
            break
    return f"{slug}-{digest}"
