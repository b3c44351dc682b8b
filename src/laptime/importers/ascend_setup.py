"""What keeps an Ascend machine from recording a profile: the faults that users of the MindInsight Profiler met.

Every check looks at a tree of files under a root folder, at an environment and at nothing else, so that a faulty
machine can be rebuilt as a folder. Where a check's subject is not there (no driver, no profile folder), it says so.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

PROFILING_FOLDER = "var/log/npu/profiling"
_ZIPLOG = "var/log/npu/conf/slog/ziplog.conf"
_DRIVER_TOOLS = ("usr/local/HiAI/driver/tools", "usr/local/Ascend/driver/tools")
_PACKAGE_FOLDERS = (
    "usr/lib/python3*/site-packages",
    "usr/local/lib/python3*/*-packages",
    "usr/local/python3*/lib/python3*/*-packages",
)
_DEVICE_LINE = re.compile(r"\[Device(\d+)\]")


@dataclass(frozen=True)
class Machine:
    """The machine to look at."""

    root: Path = Path("/")
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    home: Path = field(default_factory=Path.home)
    user_id: int = field(default_factory=lambda: os.getuid() if hasattr(os, "getuid") else 0)

    def path(self, relative: str) -> Path:
        """A path of the machine."""
        return self.root / relative

    @property
    def profiling(self) -> Path:
        """Where its jobs lie."""
        return self.path(PROFILING_FOLDER)

    @property
    def is_ascend(self) -> bool:
        """Whether an Ascend driver or its logs are there at all."""
        return any(self.path(tools).is_dir() for tools in _DRIVER_TOOLS) or self.path("var/log/npu").is_dir()


@dataclass(frozen=True)
class Diagnosis:
    """Result of a check: state is ok, fault, note (nothing is wrong, but it is worth knowing), or absent."""

    check: str
    state: str
    message: str
    remedy: str | None = None


def diagnose(machine: Machine) -> list[Diagnosis]:
    """All checks, in the order in which a person would look."""
    return [result for check in CHECKS for result in check(machine)]


def _ada_daemon(machine: Machine) -> Iterator[Diagnosis]:
    """The daemon that writes profiles must run, as the user who trains, started outside conda."""
    if not machine.is_ascend:
        yield Diagnosis("ada daemon", "absent", "no Ascend driver on this machine")
        return
    daemons = list(_processes(machine, "ada"))
    if not daemons:
        tools = next((f"/{t}/ada" for t in _DRIVER_TOOLS if machine.path(t).is_dir()), f"/{_DRIVER_TOOLS[0]}/ada")
        yield Diagnosis("ada daemon", "fault", "the ada daemon does not run", f"start it outside conda: {tools}")
        return
    process = daemons[0]
    owner = process.stat().st_uid
    if owner != machine.user_id:
        remedy = "train as that user, or restart it as yours: pkill ada, then start ada again"
        yield Diagnosis(
            "ada daemon", "fault", f"the ada daemon runs as user {owner}, you are {machine.user_id}", remedy
        )
    elif b"CONDA_PREFIX=" in _bytes(process / "environ"):
        remedy = "pkill ada, leave conda (conda deactivate), and start ada again"
        yield Diagnosis("ada daemon", "fault", "the ada daemon was started inside conda", remedy)
    else:
        yield Diagnosis("ada daemon", "ok", "the ada daemon runs as your user")


def _processes(machine: Machine, name: str) -> Iterator[Path]:
    for folder in sorted(machine.path("proc").glob("[0-9]*")):
        if _bytes(folder / "comm").strip() == name.encode():
            yield folder


def _certificate(machine: Machine) -> Iterator[Diagnosis]:
    """Without its certificate ada ends with `daemon init failed, exit`."""
    if not machine.is_ascend:
        return
    folder = machine.home / "ide_daemon"
    files = [file for file in folder.rglob("*") if file.is_file()] if folder.is_dir() else []
    if not files:
        remedy = f"mkdir -p {folder}; cp -rf /home/HwHiAiUser/ide_daemon/* {folder}"
        message = f"no certificate in {folder}; ada would say: daemon init failed, exit"
        yield Diagnosis("certificate", "fault", message, remedy)
        return
    unreadable = [file for file in files if not os.access(file, os.R_OK | os.W_OK)]
    if unreadable:
        message = f"{unreadable[0]} cannot be read and written by you; ada would say: daemon init failed, exit"
        yield Diagnosis("certificate", "fault", message, f"chown -R $USER {folder}; chmod -R u+rw {folder}")
    else:
        yield Diagnosis("certificate", "ok", f"certificate found in {folder}")


def _compression(machine: Machine) -> Iterator[Diagnosis]:
    """Compressed slices cannot be parsed; the switch stands in ziplog.conf, in the part on profiling."""
    file = machine.path(_ZIPLOG)
    if not file.is_file():
        return
    value = compress_switch(file.read_text(encoding="utf-8", errors="replace"))
    if value not in (None, "0"):
        message = f"profile files get compressed: COMPRESS_SWITCH is {value} in {file}"
        yield Diagnosis("compression", "fault", message, "set COMPRESS_SWITCH=0 for profiling there, and record again")
    else:
        yield Diagnosis("compression", "ok", "profile files are not compressed")


def compress_switch(text: str) -> str | None:
    """COMPRESS_SWITCH of the section on profiling; of the whole file where it has no such section."""
    sections: dict[str, str] = {}
    section = ""
    for line in text.splitlines():
        header = re.match(r"\s*\[(.+?)\]", line)
        setting = re.match(r"\s*COMPRESS_SWITCH\s*[=:]\s*(\S+)", line)
        if header:
            section = header[1].lower()
        elif setting:
            sections[section] = setting[1]
    about_profiling = [value for name, value in sections.items() if "prof" in name]
    return about_profiling[0] if about_profiling else sections.get("")


def _jobs(machine: Machine) -> Iterator[Diagnosis]:
    """A finished training must have left a JOB folder with host_start.log, for the device that was used."""
    if not machine.is_ascend:
        return
    jobs = sorted(machine.profiling.glob("JOB*"), key=lambda job: job.stat().st_mtime)
    if not jobs:
        message = f"no JOB folder in {machine.profiling}"
        yield Diagnosis("job folder", "fault", message, "check the ada daemon, then train again with the profiler on")
        return
    newest = jobs[-1]
    logs = sorted(newest.glob("host_start.log*"))
    if not logs:
        remedy = "check the ada daemon, and that COMPRESS_SWITCH is 0 in ziplog.conf; then record again"
        yield Diagnosis("job folder", "fault", f"{newest.name} has no host_start.log", remedy)
        return
    yield Diagnosis("job folder", "ok", f"{newest.name} has its host_start.log")
    yield from _device(machine, newest, logs[0])


def _device(machine: Machine, job: Path, log: Path) -> Iterator[Diagnosis]:
    found = _DEVICE_LINE.search(log.read_text(encoding="utf-8", errors="replace"))
    wanted = machine.environment.get("DEVICE_ID")
    if wanted is None:
        recorded = f"{job.name} was recorded on device {found[1]}" if found else f"{job.name} names no device"
        remedy = f"export DEVICE_ID={found[1] if found else 0}"
        yield Diagnosis("DEVICE_ID", "fault", f"DEVICE_ID is not set, so device 0 is meant; {recorded}", remedy)
    elif found and found[1] != wanted.strip():
        message = f"DEVICE_ID is {wanted}, but {job.name} was recorded on device {found[1]}"
        yield Diagnosis("DEVICE_ID", "fault", message, f"export DEVICE_ID={found[1]}, or open another job")
    else:
        yield Diagnosis("DEVICE_ID", "ok", f"DEVICE_ID is {wanted}")


def package_folders(machine: Machine) -> list[Path]:
    """Where packages of the machine's own Pythons lie."""
    return [folder for pattern in _PACKAGE_FOLDERS for folder in machine.root.glob(pattern)]


def _versions(machine: Machine) -> Iterator[Diagnosis]:
    """MindSpore and MindInsight must be of one minor version: the column names of their files changed three times."""
    found: dict[str, str] = {}
    for folder in package_folders(machine):
        for package in ("mindspore", "mindinsight"):
            for info in folder.glob(f"{package}*-*.dist-info"):
                found.setdefault(package, info.name.split("-")[1].removesuffix(".dist"))
    if len(found) < 2:
        return
    spore, insight = found["mindspore"], found["mindinsight"]
    if spore.split(".")[:2] != insight.split(".")[:2]:
        message = f"mindspore {spore} and mindinsight {insight} do not match"
        yield Diagnosis("versions", "fault", message, f"pip install mindinsight=={'.'.join(spore.split('.')[:2])}.*")
    else:
        yield Diagnosis("versions", "ok", f"mindspore {spore} and mindinsight {insight} match")


def _commands(machine: Machine) -> Iterator[Diagnosis]:
    """Commands that are installed beside a Python but not found on PATH."""
    folders = [Path(part) for part in machine.environment.get("PATH", "").split(os.pathsep) if part]
    for command in ("laptime", "mindinsight"):
        if any((folder / command).is_file() for folder in folders):
            yield Diagnosis("PATH", "ok", f"{command} is found on PATH")
            continue
        places = [
            place
            for pattern in ("usr/local/python3*/bin", "usr/local/bin", "opt/*/bin")
            for place in sorted(machine.root.glob(pattern))
            if (place / command).is_file()
        ]
        if places:
            remedy = f"export PATH={places[0]}:$PATH, or ln -s {places[0] / command} /usr/local/bin/{command}"
            yield Diagnosis("PATH", "fault", f"{command} is installed in {places[0]}, which is not on PATH", remedy)


CHECKS: tuple[Callable[[Machine], Iterator[Diagnosis]], ...] = (
    _ada_daemon,
    _certificate,
    _compression,
    _jobs,
    _versions,
    _commands,
)


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""
