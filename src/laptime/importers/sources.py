"""Where recordings lie: files, folders, globs and archives become sources, one per rank file.

Nothing heavy is imported here: finding a cached result starts with finding its sources.
"""

from __future__ import annotations

import glob
import os
import re
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING

from laptime.errors import LaptimeError
from laptime.importers.folders import folder_recordings
from laptime.importers.laptime_folders import SUFFIX as LOG_SUFFIX
from laptime.importers.laptime_folders import recording_of
from laptime.importers.xplane_twins import twins

if TYPE_CHECKING:
    from laptime.importers.streams import ByteStream

HEAD_BYTES = 1 << 20
_TIMELINE = re.compile(r"(?P<run>.*)\.chrome_timeline\.json(?:\.gz)?\Z", re.DOTALL)
_DRAWING = re.compile(r"(?P<run>.*)\.memory_flow\.svg(?:\.gz)?\Z", re.DOTALL)
_IGNORED_NAMES = re.compile(r"^(\.|__MACOSX)")


@dataclass(frozen=True, order=True)
class Source:
    """One recording: a file, one member of a zip or tar archive, or a folder whose files belong together."""

    path: Path
    member: str | None = None
    format: str | None = None
    """Name of the importer of a folder recording; None where the first bytes tell it."""
    device: int | None = None
    """Device of a folder recording that holds one device of several."""
    files: tuple[Path, ...] = ()
    """Files of a folder recording, all of them, in order of name."""

    @property
    def name(self) -> str:
        """File or folder name, with the archive's name before a member's, with the device of a folder recording."""
        if self.device is not None:
            return f"{self.path.name}[{self.device}]"
        return self.path.name if self.member is None else f"{self.path.name}/{self.member}"

    @property
    def base_name(self) -> str:
        """The name the recorder gave the file."""
        return PurePosixPath(self.member).name if self.member else self.path.name

    @property
    def place(self) -> PurePath:
        """Folder of the file, or of the member in its archive."""
        return self.path.parent if self.member is None else self.path / PurePosixPath(self.member).parent

    def open(self) -> ByteStream:
        """The decompressed bytes."""
        from laptime.importers.streams import ByteStream

        if self.member is None:
            return ByteStream(self.path.open("rb"), size=self.path.stat().st_size, path=str(self.path))
        if tarfile.is_tarfile(self.path):
            archive = tarfile.open(self.path)  # noqa: SIM115 -- lives as long as the stream
            handle = archive.extractfile(self.member)
            if handle is None:
                raise LaptimeError("no file of that name in the archive", where=self.name, remedy="check the archive")
            return ByteStream(handle, size=archive.getmember(self.member).size, owner=archive)
        zipped = zipfile.ZipFile(self.path)
        return ByteStream(zipped.open(self.member), size=zipped.getinfo(self.member).file_size, owner=zipped)

    def head(self) -> bytes:
        """The first MiB, decompressed; nothing for a folder recording."""
        if self.format is not None:
            return b""
        with self.open() as stream:
            return stream.read(HEAD_BYTES)


def discover(path: str | os.PathLike[str]) -> list[Source]:
    """Sources of a path: a file, a folder (searched in depth), a glob or an archive; in order of name."""
    text = os.fspath(path)
    found = Path(text)
    if not found.exists() and glob.has_magic(text):
        matches = sorted({Path(match) for match in glob.glob(text, recursive=True)})
        if not matches:
            raise LaptimeError("nothing matches the pattern", where=text, remedy="check the pattern")
        return _without_twins(list(dict.fromkeys(source for match in matches for source in _sources_of(match))))
    if not found.exists():
        raise LaptimeError("no such file or folder", where=text, remedy="check the path")
    return discover_among([found])


def discover_among(paths: Sequence[Path]) -> list[Source]:
    """Sources of several files and folders that together make one run."""
    return _with_drawings(_without_twins(_without_claimed([source for path in paths for source in _sources_of(path)])))


def sources_beside(folder: Path, files: Sequence[Path]) -> list[Source]:
    """Recordings that files under a folder make: those in folders of their own by their names, others each."""
    own = [Source(file) for file in files if file.parent == folder]
    inner = dict.fromkeys(folder / file.relative_to(folder).parts[0] for file in files if file.parent != folder)
    return _with_drawings(own) + [source for each in inner for source in _without_twins(list(_sources_of(each)))]


def _with_drawings(sources: list[Source]) -> list[Source]:
    """MegEngine draws the memory of a run beside its timeline: both are one recording, named as the timeline."""
    drawings = {
        match["run"]: source
        for source in sources
        if source.member is None and (match := _DRAWING.match(str(source.path)))
    }
    joined = []
    for source in sources:
        match = _TIMELINE.match(str(source.path)) if source.member is None else None
        drawing = drawings.pop(match["run"], None) if match else None
        joined.append(source if drawing is None else replace(source, files=(source.path, drawing.path)))
    left = list(drawings.values())
    return [source for source in joined if source in left or source.files or not _DRAWING.match(str(source.path))]


def _without_claimed(sources: list[Source]) -> list[Source]:
    """Without what a recording of another folder has taken."""
    claimed = {file for source in sources for file in source.files if source.path not in (file, *file.parents)}
    return [source for source in sources if not claimed.issuperset(source.files or (source.path,))]


def twin_notes(path: str | os.PathLike[str], sources: list[Source]) -> list[str]:
    """Names of the files of a folder that are not sources because they repeat one; none for a path to one file."""
    if os.path.isfile(path):
        return []
    there = {(str(source.place), source.base_name) for source in sources}
    folders = {source.place for source in sources if source.member is None and source.base_name.count(".xplane.pb")}
    beside = {(str(folder), name) for folder in folders for name in os.listdir(folder)}
    repeated = twins(there | beside)
    return [
        f"{name}: the same recording as {repeated[folder, name]}, which is read instead"
        for folder, name in sorted(repeated.keys() - there)
    ]


def _without_twins(sources: list[Source]) -> list[Source]:
    """Without files that repeat what another of the sources holds whole."""
    repeated = twins({(str(source.place), source.base_name) for source in sources})
    return [source for source in sources if (str(source.place), source.base_name) not in repeated]


def _sources_of(path: Path) -> Iterator[Source]:
    if path.is_dir():
        for folder, folders, files in os.walk(path):
            folders[:] = sorted(name for name in folders if not _IGNORED_NAMES.match(name))
            recordings = [
                Source(found.path or Path(folder), format=found.format, device=found.device, files=found.files)
                for found in folder_recordings(Path(folder))
            ]
            yield from recordings
            taken = {file for source in recordings for file in source.files}
            if any(source.files and Path(folder) != file.parent for source in recordings for file in source.files):
                folders[:] = [name for name in folders if not any(Path(folder, name) in file.parents for file in taken)]
            for name in sorted(files):
                entry = Path(folder, name)
                if not _IGNORED_NAMES.match(name) and entry not in taken and entry.is_file():
                    yield from _archive_members(entry) or [Source(entry)]
    elif path.name.endswith(LOG_SUFFIX):
        found = recording_of(path)
        yield Source(path, format=found.format, files=found.files)
    elif path.is_file():
        yield from _archive_members(path) or [Source(path)]


def _archive_members(path: Path) -> list[Source]:
    """Members of a zip or tar archive; an empty list where the file is none."""
    try:
        with path.open("rb") as handle:
            magic = handle.read(4)
        if magic == b"PK\x03\x04":
            with zipfile.ZipFile(path) as archive:
                names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
        elif _may_be_tar(path) and tarfile.is_tarfile(path):
            with tarfile.open(path) as tar:
                names = [entry.name for entry in tar if entry.isfile()]
        else:
            return []
    except (OSError, zipfile.BadZipFile, tarfile.TarError, EOFError):
        return []
    return [Source(path, name) for name in sorted(names) if not _IGNORED_NAMES.match(PurePosixPath(name).name)]


def _may_be_tar(path: Path) -> bool:
    return bool(re.search(r"\.(tar|tgz|tbz2?|txz)(\.\w+)?$", path.name, re.IGNORECASE))
