"""Names of the files of a raw Ascend `JOB*` folder, and which of them belong together.

    hwts.log.data.45.dev.{tag}.{device}.slice_{n}, training_trace.46.dev.{tag}.{device}.slice_{n},
    Framework.[host.][vm.]{graph_desc_info|task_desc_info|point}.{device}[.{job}].slice_{n},
    DATA_PREPROCESS.[dev.]{AICPU|AICPUMI|TDT}.{device}[.slice_{n}], host_start.log[.{device}], dev_start.log[.{device}]

They lie in the folder or in its `data/`; older installations keep the Framework files in `container/{id}/data/` beside
the `JOB*` folders, with the job's name in theirs. Nothing heavy is imported here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from laptime.importers.folders import FolderRecording

FORMAT = "ascend_job"

_JOB = r"(?:\.(?P<job>JOB\w*))?"
_END = r"(?:\.slice_(?P<slice>\d{1,9}))?(?P<unread>\.done|\.zip|\.join)?$"
_NAMES = (
    re.compile(
        rf"^(?P<kind>hwts\.log\.data|training_trace)\.\d+\.dev\.(?:[\w-]+\.)*?(?P<device>\d{{1,9}}){_JOB}{_END}"
    ),
    re.compile(
        rf"^Framework\.(?:host\.)?(?:(?:vm|ge)[._])?(?P<kind>graph_desc_info|task_desc_info|point)"
        rf"\.(?P<device>\d{{1,9}}){_JOB}{_END}"
    ),
    re.compile(rf"^DATA_PREPROCESS\.(?:dev\.)?(?P<kind>AICPU|AICPUMI|TDT)\.(?P<device>\d{{1,9}}){_JOB}{_END}"),
)
_CLOCK_NAME = re.compile(r"^(?P<kind>host_start|dev_start)\.log(?:\.(?P<device>\d{1,9}))?$")
_MINDDATA_NAME = re.compile(
    r"^(?:pipeline_profiling|device_queue_profiling|dataset_iterator_profiling|minddata_aicpu"
    r"|minddata_cpu_utilization)_(?P<device>\d{1,9})\.(?:json|txt)$"
)
DEVICE_LOGS = ("hwts.log.data", "training_trace")
"""Kinds that the device itself wrote."""


@dataclass(frozen=True)
class JobFile:
    """A file of a job, as its name tells."""

    path: Path
    kind: str
    device: int | None
    """None for files that all devices share."""
    slice: int
    job: str | None
    unread: bool = False
    """A mark or a compressed copy beside the file proper."""


def job_file(path: Path) -> JobFile | None:
    """What a file of a job is; None for any other."""
    for pattern in _NAMES:
        match = pattern.match(path.name)
        if match:
            number = int(match["slice"] or 0)
            return JobFile(path, match["kind"], int(match["device"]), number, match["job"], bool(match["unread"]))
    match = _CLOCK_NAME.match(path.name)
    if match:
        return JobFile(path, match["kind"], None if match["device"] is None else int(match["device"]), 0, None)
    match = _MINDDATA_NAME.match(path.name)
    return JobFile(path, "minddata", int(match["device"]), 0, None) if match else None


def in_order(files: Iterable[JobFile]) -> list[JobFile]:
    """Slices of one kind by number; of those that two folders hold, the one nearest to the job's folder."""
    chosen: dict[int, JobFile] = {}
    for file in sorted(files, key=lambda each: (len(each.path.parts), str(each.path))):
        chosen.setdefault(file.slice, file)
    return [chosen[number] for number in sorted(chosen)]


def job_recordings(folder: Path) -> list[FolderRecording]:
    """Raw jobs that a folder holds: its own, and those whose Framework files lie in its `container/`."""
    own = [*_files_in(folder), *_files_in(folder / "data")]
    if folder.name.startswith("JOB"):
        own += [file for file in _contained(folder.parent) if file.job == folder.name]
    found = _recordings(own)
    contained = list(_contained(folder))
    for job in sorted({file.job for file in contained if file.job}):
        files = [*_files_in(folder / job), *_files_in(folder / job / "data")]
        found += _recordings([*files, *(file for file in contained if file.job == job)])
    return found


def _files_in(folder: Path) -> Iterator[JobFile]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    yield from (file for entry in entries if (file := job_file(entry)) is not None and entry.is_file())


def _contained(folder: Path) -> Iterator[JobFile]:
    try:
        parts = sorted(entry for entry in (folder / "container").iterdir() if entry.is_dir())
    except OSError:
        return
    for part in parts:
        yield from _files_in(part / "data")


def _recordings(files: list[JobFile]) -> list[FolderRecording]:
    """One recording per device."""
    from laptime.importers.folders import FolderRecording

    shared = {"host_start", "dev_start", "minddata"}
    telling = [file for file in files if file.kind not in shared and not file.unread]
    devices = sorted({file.device for file in telling if file.device is not None})
    if _one_device_under_two_names(telling):
        devices = sorted({file.device for file in telling if file.kind in DEVICE_LOGS and file.device is not None})
        return [FolderRecording(FORMAT, tuple(sorted(file.path for file in files)), devices[0])]
    return [
        FolderRecording(FORMAT, tuple(sorted(file.path for file in files if _is_of(file, device, devices))), device)
        for device in devices
    ]


def _is_of(file: JobFile, device: int, devices: list[int]) -> bool:
    """Files of no device belong to all; those of a device that recorded nothing itself, to the first."""
    return file.device in (None, device) or (file.device not in devices and device == devices[0])


def _one_device_under_two_names(files: list[JobFile]) -> bool:
    """DEVICE_ID was unset or another: the device's logs have one number, what the host wrote has another."""
    of_device = {file.device for file in files if file.kind in DEVICE_LOGS}
    of_host = {file.device for file in files if file.kind not in DEVICE_LOGS}
    return len(of_device) == 1 and len(of_host) == 1 and of_device != of_host
