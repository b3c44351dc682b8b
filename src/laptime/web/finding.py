"""Finds runs under a folder: the innermost folders that hold recordings.

Looking again is cheap: a folder whose time of change, and those of its subfolders, are as before is not read again.
Links are followed only to files inside the folder searched, so that nothing outside it is ever shown.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from laptime.errors import LaptimeError
from laptime.importers.folders import folder_recordings
from laptime.importers.laptime_folders import SUFFIX as LOG_SUFFIX
from laptime.importers.opening import IMPORTERS, importer_of
from laptime.importers.sources import HEAD_BYTES, Source, discover, discover_among

MOST_FOLDERS = 50_000
"""Folders that are searched under one base; more are said to be left out."""
_IGNORED = re.compile(r"^(\.|__MACOSX$|__pycache__$|node_modules$|site-packages$|lost\+found$)")
_CANDIDATE = re.compile(
    r"\.(json|jsonl|pb|svg|trace|static_profile)(\.(gz|zst|zstd|bz2|xz))?$|\.static_profile|\.zip$", re.IGNORECASE
)
"""Files that may be recordings, by their names; the others open by `laptime open FILE`."""
_OF_ONE_RANK = re.compile(r"_ascend_(pt|ms)$")
"""Folders of one rank each: the run is the folder they lie in."""
_TELLING = re.compile(r"trace|timeline|xplane|laptime|memory_flow|static_profile", re.IGNORECASE)
"""Names that recorders give: looked at before others, since one recording makes the folder a run."""
_OF_RECORDERS = re.compile(
    r"\.pt\.trace\.json|\.xplane\.pb|chrome_timeline\.json|memory_flow\.svg|\.static_profile", re.IGNORECASE
)
"""Names that only recorders give: such a file makes the folder a run even where nothing can read it."""
UNKNOWN = "unknown"
"""Format of what nothing can read."""
_FIRST_LOOK = 16 << 10
_MOST_MEMBERS = 8
"""Members of an archive that are looked at."""
_SETTLED_NS = 2_000_000_000
"""A folder that changed less long ago may change again within the resolution of its clock."""


@dataclass(frozen=True)
class RunFolder:
    """Where a run lies: a folder, or one file that was named itself."""

    base: Path
    path: Path
    format: str
    files: tuple[Path, ...] = ()
    """Files that make it, as far as names tell."""
    inner: tuple[Path, ...] = ()
    """Folders inside it that are runs of their own."""

    @property
    def relative(self) -> str:
        """Its place below the base, with slashes; the base's own name where it is the base."""
        below = self.path.relative_to(self.base).as_posix()
        return self.base.name or "/" if below == "." else below

    def sources(self) -> list[Source]:
        """Its recordings, without those of runs inside it and without links to elsewhere."""
        if not self.inner or not self.path.is_dir():
            found = discover(self.path)
        else:
            within = {parent for folder in self.inner for parent in (folder, *folder.parents)}
            found = discover_among([entry for entry in sorted(self.path.iterdir()) if entry not in within])
        return [source for source in found if all(lies_in(file, self.base) for file in (source.path, *source.files))]


def lies_in(path: Path, base: Path) -> bool:
    """Whether a path, its links resolved, lies in a folder."""
    return Path(os.path.realpath(path)).is_relative_to(base)


@dataclass(frozen=True)
class _Seen:
    """What one folder showed."""

    stamp: tuple[object, ...]
    format: str | None
    files: tuple[Path, ...]
    folders: tuple[Path, ...]
    """Subfolders to search."""
    watched: tuple[Path, ...]
    """All subfolders: where one changes, this folder may show something else."""
    links: int
    """Links that were not followed."""
    of_one_rank: bool = False


@dataclass
class Search:
    """Runs under one base; `found()` looks again."""

    base: Path
    folders_read: int = 0
    files_opened: int = 0
    _seen: dict[Path, _Seen] = field(default_factory=dict)
    _heads: dict[Path, tuple[tuple[int, int], str | None]] = field(default_factory=dict)

    def found(self) -> list[RunFolder]:
        """All runs, in order of path."""
        if self.base.is_file():
            format_ = self._format_of(self.base, self.base.stat()) or UNKNOWN
            return [RunFolder(self.base.parent, self.base, format_, (self.base,))]
        seen: dict[Path, _Seen] = {}
        for folder in self._walk():
            seen[folder] = self._look(folder, self._seen.get(folder))
            self._pending.extend(reversed(seen[folder].folders))
        self._seen = seen
        return _runs_of(self.base, seen)

    @property
    def notes(self) -> list[str]:
        """What was left out, and why."""
        links = sum(seen.links for seen in self._seen.values())
        notes = [f"{links} links that lead out of the folder are not followed"] if links else []
        if len(self._seen) >= MOST_FOLDERS:
            notes.append(f"only the first {MOST_FOLDERS:,} folders are searched; give a narrower base folder")
        return notes

    def _walk(self) -> Iterator[Path]:
        self._pending = [self.base]
        for _ in range(MOST_FOLDERS):
            if not self._pending:
                return
            yield self._pending.pop()

    def _look(self, folder: Path, before: _Seen | None) -> _Seen:
        try:
            if before is not None and before.stamp == _stamp(folder, before):
                return before
            return self._read(folder)
        except OSError:  # as in a walk: what may not be read is not seen
            return _Seen((), None, (), (), (), 0)

    def _read(self, folder: Path) -> _Seen:
        self.folders_read += 1
        files, folders, links = _entries(folder, self.base)
        recordings = folder_recordings(folder)
        taken = {file for recording in recordings for file in recording.files if lies_in(file, self.base)}
        own = tuple(sorted(taken))
        format_ = recordings[0].format if own else None
        watched, folders = folders, [each for each in folders if not any(each in file.parents for file in taken)]
        if format_ is None:
            format_ = next(
                (name for file in _likely_first(files) if (name := self._format_of(file, file.stat()))),
                UNKNOWN if any(_OF_RECORDERS.search(file.name) for file in files) else None,
            )
            own = tuple(files)
        of_one_rank = bool(recordings) and folder != self.base and bool(_OF_ONE_RANK.search(folder.name))
        seen = _Seen((), format_, own, tuple(folders), tuple(watched), links, of_one_rank)
        return replace(seen, stamp=_stamp(folder, seen))

    def _format_of(self, file: Path, stat: os.stat_result) -> str | None:
        """Format of a file by its first bytes; remembered until it changes."""
        known = self._heads.get(file)
        mark = (stat.st_mtime_ns, stat.st_size)
        if known is None or known[0] != mark:
            self.files_opened += 1
            known = self._heads[file] = (mark, format_of(file))
        return known[1]


def format_of(file: Path) -> str | None:
    """Which importer takes a file; None where none does."""
    try:
        sources = discover(file)[:_MOST_MEMBERS] if file.name.endswith((".zip", LOG_SUFFIX)) else [Source(file)]
        return next((name for source in sources if (name := _format_of_source(source))), None)
    except Exception:  # whatever a damaged file raises, it is no recording to list
        return None


def fault_of(folder: RunFolder) -> str | None:
    """Why nothing can read what a run of an unknown format holds; None where something may."""
    if folder.format != UNKNOWN or any(file.name.endswith(".zip") for file in folder.files):
        return None
    faults = []
    for file in _likely_first(list(folder.files))[:_MOST_MEMBERS]:
        try:
            importer_of(Source(file))
            return None
        except LaptimeError as error:
            faults.append(str(error))
        except Exception as error:  # whatever a damaged file raises
            faults.append(f"the file cannot be read: {file.name}: {error}")
    return next(iter(faults), None)


def _format_of_source(source: Source) -> str | None:
    if source.format is not None:
        return source.format
    with source.open() as stream:
        head = stream.read(_FIRST_LOOK)
        name = _importer_of(head, source)
        if name is None and len(head) == _FIRST_LOOK:
            name = _importer_of(head + stream.read(HEAD_BYTES - _FIRST_LOOK), source)
    return name


def _importer_of(head: bytes, source: Source) -> str | None:
    return next((importer.name for importer in IMPORTERS if head and importer.matches(head, source)), None)


def _entries(folder: Path, base: Path) -> tuple[list[Path], list[Path], int]:
    """Files that may be recordings, subfolders, and how many links lead elsewhere."""
    files, folders, links = [], [], 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if _IGNORED.match(entry.name):
                continue
            path = Path(entry.path)
            if entry.is_symlink() and (path.is_dir() or not lies_in(path, base)):
                links += not lies_in(path, base)
            elif entry.is_dir():
                folders.append(path)
            elif entry.is_file() and _CANDIDATE.search(entry.name):
                files.append(path)
    return sorted(files), sorted(folders), links


def _likely_first(files: list[Path]) -> list[Path]:
    return sorted(files, key=lambda file: not _TELLING.search(file.name))


def _stamp(folder: Path, seen: _Seen) -> tuple[object, ...]:
    """What changes when the folder may show something else; never equal while the folder is fresh."""
    times = [each.stat().st_mtime_ns for each in (folder, *seen.watched)]
    if time.time_ns() - max(times) < _SETTLED_NS:
        times.append(time.monotonic_ns())
    undecided = seen.files if seen.format in (None, UNKNOWN) else ()
    return (*times, *((file.stat().st_mtime_ns, file.stat().st_size) for file in undecided))


def _runs_of(base: Path, seen: dict[Path, _Seen]) -> list[RunFolder]:
    """The folders that hold recordings; folders of one rank each are joined where they lie."""
    formats: dict[Path, str] = {}
    files: dict[Path, list[Path]] = {}
    for folder, shown in seen.items():
        if shown.format is not None:
            run = folder.parent if shown.of_one_rank else folder
            formats.setdefault(run, shown.format)
            files.setdefault(run, []).extend(shown.files)
    inner: dict[Path, list[Path]] = {run: [] for run in formats}
    for run in sorted(formats):
        for parent in run.parents:
            if parent in inner:
                inner[parent].append(run)
    return [RunFolder(base, run, formats[run], tuple(files[run]), tuple(inner[run])) for run in sorted(formats)]
