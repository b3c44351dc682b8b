"""What keeps a machine from recording, whatever the framework: versions, devices, permissions, room on the disk.

As in `ascend_setup`, every check looks at a tree of files, at an environment and at nothing else. No framework is
imported: their versions are those that pip has noted.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

from laptime.importers.ascend_setup import Diagnosis, Machine, package_folders
from laptime.importers.known_faults import known_faults

FRAMEWORKS = ("torch", "megengine", "mindspore", "jax")
_BESIDE = ("jaxlib", "mindinsight", "numpy", "pillow", "torch_npu")
_LITTLE_SPACE = 1 << 30
_DEVICES = (
    ("NVIDIA", "nvidia-smi", "dev/nvidia[0-9]*", "start the container with --gpus all, or load the driver"),
    ("AMD", "rocm-smi", "dev/kfd", "start the container with --device /dev/kfd --device /dev/dri"),
    (
        "Ascend",
        "npu-smi",
        "dev/davinci[0-9]*",
        "start the container with --device /dev/davinci0 and the driver mounted",
    ),
    ("Intel", "xpu-smi", "dev/dri/renderD*", "start the container with --device /dev/dri"),
)
"""Vendor, its tool, its device files, and what to do where there are none."""


def installed_versions(machine: Machine) -> dict[str, str]:
    """Versions of the frameworks and of what they need, by name: of this Python, or of a machine given as a folder."""
    folders = sys.path if machine.root == Path("/") else [str(folder) for folder in package_folders(machine)]
    found: dict[str, str] = {}
    for distribution in metadata.distributions(path=list(folders)):
        name = str(distribution.metadata["Name"] or "").lower().replace("-", "_")
        if name in (*FRAMEWORKS, *_BESIDE):
            found.setdefault(name, distribution.version)
    return found


def diagnose_recording(machine: Machine, output: Path, *, free: Callable[[Path], int] | None = None) -> list[Diagnosis]:
    """All checks; `output` is where a recording would be written."""
    room = free or (lambda folder: shutil.disk_usage(folder).free)
    return [
        *_frameworks(installed_versions(machine)),
        *_devices(machine, installed_versions(machine)),
        *_kernel_profiling(machine),
        *_processor_counters(machine),
        *_output(output, room),
    ]


def _frameworks(installed: dict[str, str]) -> Iterator[Diagnosis]:
    found = [name for name in FRAMEWORKS if name in installed]
    if not found:
        yield Diagnosis("frameworks", "absent", "none is installed beside this laptime; plain Python is recorded")
    for name in found:
        yield Diagnosis("frameworks", "ok", f"{name} {installed[name]}")
    for fault in known_faults(installed):
        versions = ", ".join(f"{each.package} {installed[each.package]}" for each in fault.versions)
        yield Diagnosis("versions", "note" if fault.is_note else "fault", f"{versions}: {fault.what}", fault.remedy)


def _devices(machine: Machine, installed: dict[str, str]) -> Iterator[Diagnosis]:
    """Device files tell what a process can use; a tool without them is a container that was not given the device."""
    seen = []
    folders = [Path(part) for part in machine.environment.get("PATH", "").split(os.pathsep) if part]
    for vendor, tool, pattern, remedy in _DEVICES:
        count = len(list(machine.root.glob(pattern)))
        has_tool = any((folder / tool).is_file() for folder in folders)
        if count:
            seen.append(vendor)
            how_many = "1 device" if count == 1 else f"{count} devices"
            yield Diagnosis("devices", "ok", f"{how_many} of {vendor}{'' if has_tool else f', {tool} is not on PATH'}")
        elif has_tool:
            yield Diagnosis("devices", "fault", f"{tool} is found, but no device /{pattern}", remedy)
    torch = installed.get("torch", "")
    if "NVIDIA" in seen and torch.endswith("+cpu"):
        remedy = "install a build for CUDA, as the installation page of PyTorch says"
        yield Diagnosis("devices", "fault", f"torch {torch} is built for the processor alone", remedy)
    if not seen:
        yield Diagnosis("devices", "absent", "no device is found: the host alone is recorded")


def _kernel_profiling(machine: Machine) -> Iterator[Diagnosis]:
    """NVIDIA's driver may keep CUPTI to root: then no kernel is recorded."""
    file = machine.path("proc/driver/nvidia/params")
    if not file.is_file():
        return
    is_closed = any(
        line.split() == ["RmProfilingAdminOnly:", "1"] for line in file.read_text(errors="replace").splitlines()
    )
    if is_closed and machine.user_id:
        remedy = (
            "as root: echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' > /etc/modprobe.d/profiling.conf, "
            "and start the machine anew; in a container: --cap-add SYS_ADMIN"
        )
        message = "the NVIDIA driver lets root alone profile (RmProfilingAdminOnly is 1 in its params)"
        yield Diagnosis("CUPTI", "fault", message, remedy)
    else:
        yield Diagnosis("CUPTI", "ok", "the NVIDIA driver lets you profile")


def _processor_counters(machine: Machine) -> Iterator[Diagnosis]:
    """Not needed by laptime; tools that sample the processor beside it do."""
    file = machine.path("proc/sys/kernel/perf_event_paranoid")
    text = file.read_text(errors="replace").strip() if file.is_file() else ""
    if not text.lstrip("-").isdigit():
        return
    if int(text) > 2 and machine.user_id:
        message = f"perf_event_paranoid is {text}: perf and Nsight Systems cannot sample the processor"
        yield Diagnosis(
            "perf", "note", message, "nothing for laptime; for them, as root: sysctl kernel.perf_event_paranoid=2"
        )
    else:
        yield Diagnosis("perf", "ok", f"processor counters are open (perf_event_paranoid is {text})")


def _output(output: Path, free: Callable[[Path], int]) -> Iterator[Diagnosis]:
    """The folder to record into, or the first folder above it that is there."""
    there = next((folder for folder in (output.absolute(), *output.absolute().parents) if folder.exists()), Path("/"))
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        yield Diagnosis("output", "fault", f"{output} cannot be written: {there} is closed", "choose another: -o DIR")
        return
    room = free(there)
    if room < _LITTLE_SPACE:
        message = f"{there} has {room / (1 << 20):,.0f} MiB left; ten steps may take 1 GiB"
        yield Diagnosis("output", "fault", message, "record fewer steps (a schedule), or elsewhere: -o DIR")
    else:
        yield Diagnosis("output", "ok", f"{output} can be written, {room / (1 << 30):,.1f} GiB free")
