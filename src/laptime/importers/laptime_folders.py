"""Which files of a folder are recordings of laptime's own recorder, told by names: one per process. Imports nothing
heavy."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from laptime.importers.folders import FolderRecording

FORMAT = "laptime"
SUFFIX = ".laptime.jsonl"


def laptime_recordings(folder: Path) -> list[FolderRecording]:
    """Each log of the folder, with the files of its windows."""
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return []
    logs = [entry for entry in entries if entry.name.endswith(SUFFIX) and entry.is_file()]
    return [recording_of(log, entries) for log in logs]


def recording_of(log: Path, entries: list[Path] | None = None) -> FolderRecording:
    """A log, with the files of its windows that lie beside it; a link to elsewhere is none."""
    from laptime.importers.folders import FolderRecording

    start = f"{log.name.removesuffix(SUFFIX)}.window"
    beside = sorted(log.parent.iterdir()) if entries is None else entries
    folder = os.path.dirname(os.path.realpath(log))
    own = [entry for entry in beside if entry.name.startswith(start) and _lies_in(entry, folder)]
    files = [file for entry in own for file in ([entry] if entry.is_file() else _files(entry))]
    return FolderRecording(FORMAT, (log, *files), path=log)


def _lies_in(entry: Path, folder: str) -> bool:
    return os.path.dirname(os.path.realpath(entry)) == folder


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
