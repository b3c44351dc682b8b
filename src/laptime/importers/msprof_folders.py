"""Which folders are recordings of msprof (`PROF_*`), told by names: one per device. Imports nothing heavy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from laptime.importers.folders import FolderRecording

FORMAT = "msprof"
_PROFILE = re.compile(r"^PROF_\w+$")
_DEVICE = re.compile(r"^device_(\d{1,9})$")
_EXPORTS, OUTPUT = ("timeline", "summary"), "mindstudio_profiler_output"
_SUMMARY = re.compile(r"^op_summary_(?:slice_\d+_)?\d+(?:_\d+)*\.csv$")
_EXPORTED = re.compile(r"^[a-z_]+_\d+(?:_\d+)*\.(?:csv|json)(?:\.\w+)?$")


def msprof_recordings(folder: Path) -> list[FolderRecording]:
    """A `PROF_*` folder (exported or not), an exported `device_N`, an output folder, or one with an `op_summary`."""
    from laptime.importers.folders import FolderRecording

    if _DEVICE.match(folder.name):
        devices = [folder] if any((folder / name).is_dir() for name in _EXPORTS) else []
        output: list[Path] = []
    elif _PROFILE.match(folder.name):
        devices = sorted((entry for entry in folder.iterdir() if _DEVICE.match(entry.name)), key=_device_of)
        output = _files(folder / OUTPUT)
    else:
        devices, output = [], _files(folder) if folder.name == OUTPUT else _loose(folder)
    if devices:
        return [FolderRecording(FORMAT, (*_files(place), *output), _device_of(place)) for place in devices]
    return [FolderRecording(FORMAT, tuple(output))] if output else []


def _loose(folder: Path) -> list[Path]:
    """Exported files that lie in a folder of any name, where an `op_summary` is among them."""
    files = sorted(entry for entry in folder.iterdir() if _EXPORTED.match(entry.name) and entry.is_file())
    return files if any(_SUMMARY.match(file.name) for file in files) else []


def _device_of(folder: Path) -> int:
    match = _DEVICE.match(folder.name)
    return int(match[1]) if match else 0


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file()) if folder.is_dir() else []
