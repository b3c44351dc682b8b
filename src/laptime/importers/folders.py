"""Folders whose files make one recording together, told by names alone: which importer reads them, and per device.

Nothing heavy is imported here: finding a cached result starts with finding its sources.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from laptime.importers.ascend_job_files import job_recordings
from laptime.importers.ascend_output_folders import ascend_recordings
from laptime.importers.laptime_folders import laptime_recordings
from laptime.importers.mindinsight_files import mindinsight_recordings
from laptime.importers.mindspore_cpu_folders import mindspore_cpu_recordings
from laptime.importers.msprof_folders import msprof_recordings


@dataclass(frozen=True)
class FolderRecording:
    """Files of a folder (and its subfolders) that one importer reads as one rank."""

    format: str
    files: tuple[Path, ...]
    device: int | None = None
    path: Path | None = None
    """Folder that names it, where that is not the one looked at."""


Rule = Callable[[Path], list[FolderRecording]]
"""Looks at one folder; an empty list where it holds no such recording."""

RULES: tuple[Rule, ...] = (
    laptime_recordings,
    job_recordings,
    mindspore_cpu_recordings,
    ascend_recordings,
    msprof_recordings,
    mindinsight_recordings,
)
"""Special before general; the first that finds something in a folder decides."""


def folder_recordings(folder: Path) -> list[FolderRecording]:
    """Recordings that a folder is, one per device."""
    for rule in RULES:
        found = rule(folder)
        if found:
            return found
    return []
