"""Folders whose files make one recording together, told by names alone: which importer reads them, and per device.

Nothing heavy is imported here: finding a cached result starts with finding its sources.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class FolderRecording:
    """Files of a folder (and its subfolders) that one importer reads as one rank."""

    format: str
    files: tuple[Path, ...]
    device: int | None = None


Rule = Callable[[Path], list[FolderRecording]]
"""Looks at one folder; an empty list where it holds no such recording."""

RULES: tuple[Rule, ...] = ()
"""Special before general; the first that finds something in a folder decides."""


def folder_recordings(folder: Path) -> list[FolderRecording]:
    """Recordings that a folder is, one per device."""
    for rule in RULES:
        found = rule(folder)
        if found:
            return found
    return []
