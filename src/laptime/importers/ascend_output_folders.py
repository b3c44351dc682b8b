"""Which folders are exports of Ascend's profilers, told by names: one recording per rank. Imports nothing heavy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from laptime.importers.folders import FolderRecording

FORMAT = "ascend_output"
OUTPUT = "ASCEND_PROFILER_OUTPUT"
_RAW = re.compile(r"_ascend_(?:pt|ms)$")
_FACTS = ("profiler_info*.json", "profiler_metadata.json")
_CPU_OPS = "cpu_op_execute_timestamp*"
"""MindSpore writes this, and of the output only the timeline, where it trained on a CPU."""


def ascend_recordings(folder: Path) -> list[FolderRecording]:
    """The recording of one rank: a folder that holds ASCEND_PROFILER_OUTPUT, that folder itself, or a raw recording."""
    from laptime.importers.folders import FolderRecording

    try:
        files = _recorded_files(folder)
    except OSError:  # as in a walk: what may not be read is not seen
        return []
    return [FolderRecording(FORMAT, tuple(sorted(set(files))))] if files else []


def _recorded_files(folder: Path) -> list[Path]:
    if folder.name == OUTPUT:
        return [*_files_of(folder), *_facts_of(folder.parent)] if _files_of(folder) else []
    output = _files_of(folder / OUTPUT) if (folder / OUTPUT).is_dir() else []
    if not output and not _RAW.search(folder.name):
        return []
    if (folder / "FRAMEWORK").is_dir() and any((folder / "FRAMEWORK").glob(_CPU_OPS)):
        output = output if any(not file.name.startswith("trace_view") for file in output) else []
        return [*output, *_facts_of(folder)] if output else []
    return [*output, *_facts_of(folder), *_one_per_part(folder)] if output else _one_per_part(folder)


def _facts_of(folder: Path) -> list[Path]:
    return [file for pattern in _FACTS for file in folder.glob(pattern) if file.is_file()]


def _files_of(folder: Path) -> list[Path]:
    return [entry for entry in folder.iterdir() if entry.is_file() and not entry.name.startswith(".")]


def _one_per_part(folder: Path) -> list[Path]:
    """Files of a recording that was never exported: its own, and one of each part, which no other rule then takes."""
    found = _files_of(folder)
    for part in sorted(entry for entry in folder.iterdir() if entry.is_dir()):
        found += next(([file] for file in sorted(part.rglob("*")) if file.is_file()), [])
    return found
