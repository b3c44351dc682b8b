"""Which folders are recordings of MindSpore on CPU, told by names: one per rank. Imports nothing heavy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from laptime.importers.folders import FolderRecording

FORMAT = "mindspore_cpu"
_TIMES = re.compile(r"^cpu_op_execute_timestamp_(\d{1,9})\.txt$")
_OF_OTHER_DEVICES = re.compile(
    r"^(?:kernel_details|step_trace_time|op_statistic|ascend_|aicore_|output_|gpu_|framework_raw_|hccl_raw_)"
)
"""Where a training ran on another device, its CPU operators are beside the point."""
_DATASET = re.compile(r"^(?:pipeline_profiling|dataset_iterator_profiling|device_queue_profiling|minddata_)")


def mindspore_cpu_recordings(folder: Path) -> list[FolderRecording]:
    """`profiler/` of 2.0, or a folder with `FRAMEWORK/` of 2.10; with the dataset engine's files in or beside it."""
    from laptime.importers.folders import FolderRecording

    place = folder / "FRAMEWORK" if (folder / "FRAMEWORK").is_dir() else folder
    own = _names(place)
    ranks = sorted({match[1] for name in own if (match := _TIMES.match(name))}, key=int)
    if not ranks or any(_OF_OTHER_DEVICES.match(name) for name in [*own, *_names(folder / "ASCEND_PROFILER_OUTPUT")]):
        return []
    files = [*_files(folder), *(file for file in _beside(place, folder) if _DATASET.match(file.name))]
    return [
        FolderRecording(
            FORMAT,
            tuple(file for file in files if _is_of(file.name, rank, ranks)),
            device=int(rank) if len(ranks) > 1 else None,
        )
        for rank in ranks
    ]


def _is_of(name: str, rank: str, ranks: list[str]) -> bool:
    """Whether a file belongs to the rank, or to none of them by name and so to the first."""
    named = re.search(r"_(\d+)\.\w+(?:\.gz)?$", name)
    owner = named[1] if named and named[1] in ranks else ranks[0]
    return owner == rank


def _beside(place: Path, folder: Path) -> list[Path]:
    return _files(folder.parent / "minddata") if place != folder else []


def _names(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in folder.iterdir()]
    except OSError:
        return []


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file()) if folder.is_dir() else []
