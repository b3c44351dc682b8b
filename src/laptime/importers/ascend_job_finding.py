"""Finds a raw Ascend job by its name or its device, and says what is wrong where there is none to read.

Jobs lie in /var/log/npu/profiling, a folder `JOB*` each; host_start.log says on which device a job ran, and when.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from laptime.errors import LaptimeError
from laptime.importers.ascend_job_files import job_file, job_recordings
from laptime.importers.ascend_setup import PROFILING_FOLDER

_DEVICE = re.compile(r"^\[\s*Device\s*(\d{1,9})\s*\]", re.IGNORECASE | re.MULTILINE)
_STARTED = re.compile(r"^clock_realtime\s*:\s*(\d{1,19})\b", re.MULTILINE)
_LARGEST_LOG = 1 << 16
_DOCTOR = "check the ada daemon (laptime doctor), then train again with the profiler on"
_COMPRESSED = (".zip", ".gz", ".bz2", ".xz", ".zst")


@dataclass(frozen=True)
class Job:
    """A job's folder and the device of it that was asked for."""

    folder: Path
    device: int
    """As the files of the recording name it."""
    remark: str | None = None
    """What a person should know about the choice."""


def find_job(profiling_folder: Path, job_id: str | None, device_id: int | None) -> Job:
    """The job of that name (or path), or else the newest one of the device. Raises LaptimeError where there is none.

    Without a device 0 is meant, or the job's only one. Where a file's name and host_start.log name different devices,
    either is taken.
    """
    if job_id is not None:
        folder = profiling_folder / job_id
        if not folder.is_dir():
            raise _no_such_job(profiling_folder, job_id)
        return _of_device(folder, device_id)
    for folder in _newest_first(profiling_folder):
        if _logged_devices(folder) & {device_id or 0}:
            return _of_device(folder, device_id)
    raise no_job_fault(profiling_folder, device_id)


def _no_such_job(profiling_folder: Path, job_id: str) -> LaptimeError:
    jobs = _newest_first(profiling_folder)
    if not jobs:
        return no_job_fault(profiling_folder, None)
    names = ", ".join(job.name for job in jobs[:5]) + (", ..." if len(jobs) > 5 else "")
    return LaptimeError(f"no job {job_id}", where=profiling_folder, remedy=f"jobs there: {names}")


def _newest_first(profiling_folder: Path) -> list[Path]:
    """Folders of jobs by the time of their start, as host_start.log or else the file system tells it."""
    try:
        folders = [entry for entry in profiling_folder.iterdir() if entry.is_dir() and entry.name.startswith("JOB")]
    except OSError:
        return []
    return sorted(folders, key=lambda folder: (-_started_ns(folder), folder.name))


def _started_ns(folder: Path) -> int:
    found = [int(match[1]) for text in _start_logs(folder) if (match := _STARTED.search(text))]
    return max(found) if found else folder.stat().st_mtime_ns


def _logged_devices(folder: Path) -> set[int]:
    """Devices that host_start.log names."""
    return {int(match[1]) for text in _start_logs(folder) for match in _DEVICE.finditer(text)}


def _start_logs(folder: Path) -> list[str]:
    """Texts of host_start.log, or host_start.log.{device}."""
    texts = []
    for path in sorted(folder.glob("host_start.log*")):
        try:
            with path.open(encoding="utf-8", errors="replace") as handle:
                texts.append(handle.read(_LARGEST_LOG))
        except OSError:
            continue
    return texts


def _of_device(folder: Path, device_id: int | None) -> Job:
    devices = [found.device or 0 for found in job_recordings(folder)]
    if not devices:
        raise job_fault(folder) or LaptimeError(
            "no recording in the job's folder", where=folder, remedy="check that its files were copied"
        )
    wanted = device_id if device_id is not None else 0 if 0 in devices else devices[0]
    if wanted in devices:
        return Job(folder, wanted, _remark_on_log(folder, wanted, alone=len(devices) == 1))
    if len(devices) == 1 and wanted in _logged_devices(folder):
        remark = f"names of the job's files say device {devices[0]}, its host_start.log device {wanted}; taken as one"
        return Job(folder, devices[0], remark)
    known = sorted({*devices, *(_logged_devices(folder) if len(devices) == 1 else ())})
    raise LaptimeError(
        f"no device {wanted} in this job",
        where=folder,
        remedy=f"choose --device-id {' or '.join(str(device) for device in known)}",
    )


def _remark_on_log(folder: Path, device: int, *, alone: bool) -> str | None:
    logged = _logged_devices(folder)
    if not logged or device in logged or not alone:
        return None
    others = " and ".join(str(other) for other in sorted(logged))
    return f"names of the job's files say device {device}, its host_start.log device {others}; taken as one"


# ---- what is wrong ----


def no_job_fault(folder: Path, device_id: int | None) -> LaptimeError:
    """Why a folder of jobs holds none (of the device)."""
    if not folder.is_dir():
        return LaptimeError("no folder of profiling jobs", where=folder, remedy=f"{_DOCTOR}, or name another folder")
    jobs = _newest_first(folder)
    if not jobs:
        return LaptimeError("no JOB folder", where=folder, remedy=_DOCTOR)
    if not any(_start_logs(job) for job in jobs):
        return LaptimeError(
            "no job there has a host_start.log, which tells its device",
            where=folder,
            remedy=f"name the job with --job-id ({jobs[0].name} is the newest); {_DOCTOR}",
        )
    devices = sorted({device for job in jobs for device in _logged_devices(job)})
    return LaptimeError(
        f"no job of device {device_id or 0}",
        where=folder,
        remedy=f"devices there: {', '.join(str(device) for device in devices)}; choose one with --device-id "
        "(and set DEVICE_ID when recording)",
    )


def job_fault(folder: Path) -> LaptimeError | None:
    """What is wrong with a job's folder that holds no recording; None where it is no job's folder.

    A folder of jobs without any is one, too.
    """
    if folder.name == Path(PROFILING_FOLDER).name and folder.is_dir() and not any(folder.glob("JOB*")):
        return no_job_fault(folder, None)
    if not folder.name.startswith("JOB") or not folder.is_dir():
        return None
    files = [path for path in (*folder.glob("*"), *folder.glob("data/*")) if path.is_file()]
    if any(path.name.endswith(_COMPRESSED) for path in files):
        return LaptimeError(
            "the job's files are compressed",
            where=folder,
            remedy="set COMPRESS_SWITCH=0 for profiling in /var/log/npu/conf/slog/ziplog.conf and record again",
        )
    if not any(path.name.startswith("host_start.log") for path in files):
        return LaptimeError(
            "the job has no host_start.log: recording never began",
            where=folder,
            remedy=f"{_DOCTOR}; COMPRESS_SWITCH must be 0 in ziplog.conf, and DEVICE_ID the device that trains",
        )
    if not any(job_file(path) for path in files if not path.name.startswith(("host_start", "dev_start"))):
        return LaptimeError(
            "the job holds no recording beside its start logs",
            where=folder,
            remedy=f"let training end before profiling is read; {_DOCTOR}",
        )
    return None
