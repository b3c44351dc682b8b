"""What keeps a machine from recording, each fault on a machine rebuilt as a folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from laptime.importers.ascend_setup import Diagnosis, Machine
from laptime.importers.known_faults import KNOWN_FAULTS, Versions, known_faults
from laptime.importers.recording_setup import diagnose_recording, installed_versions
from tests.conftest import ROOT

_PACKAGES = "usr/local/lib/python3.11/site-packages"
_PLENTY = 50 << 30


def _machine(root: Path, files: dict[str, str], *, versions: dict[str, str] | None = None, user: int = 1000) -> Machine:
    for name, version in (versions or {}).items():
        files = {
            **files,
            f"{_PACKAGES}/{name}-{version}.dist-info/METADATA": f"Name: {name}\nVersion: {version}\n",
        }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return Machine(root, {"PATH": str(root / "bin")}, root, user)


def _found(machine: Machine, output: Path | None = None, *, free: int = _PLENTY) -> list[Diagnosis]:
    return diagnose_recording(machine, output or machine.root / "profile", free=lambda folder: free)


def _texts(machine: Machine, check: str) -> list[tuple[str, str]]:
    return [(result.state, result.message) for result in _found(machine) if result.check == check]


def test_a_bare_machine(tmp_path: Path) -> None:
    found = _found(_machine(tmp_path, {}))
    assert [(result.check, result.state) for result in found] == [
        ("frameworks", "absent"),
        ("devices", "absent"),
        ("output", "ok"),
    ]


def test_frameworks_and_their_versions(tmp_path: Path) -> None:
    versions = {"torch": "2.9.0", "jax": "0.7.1", "MegEngine": "1.13.0", "requests": "2.0", "numpy": "1.23.5"}
    machine = _machine(tmp_path, {}, versions=versions)
    assert installed_versions(machine) == {"torch": "2.9.0", "jax": "0.7.1", "megengine": "1.13.0", "numpy": "1.23.5"}
    assert _texts(machine, "frameworks") == [("ok", "torch 2.9.0"), ("ok", "megengine 1.13.0"), ("ok", "jax 0.7.1")]
    assert {state for state, _ in _texts(machine, "versions")} == {"note"}


@pytest.mark.parametrize(
    ("versions", "words"),
    [
        ({"torch": "2.0.1+cu117"}, "laptime records PyTorch 2.1 and newer"),
        ({"megengine": "1.13.0", "numpy": "1.26.4"}, "NumPy 1.24 has removed"),
        ({"mindspore": "2.10.0", "numpy": "2.1.0"}, "a GeneratorDataset whose source returns NumPy scalars fails"),
        ({"mindspore": "2.0.0", "pillow": "10.1.0"}, "Pillow 10 has removed"),
        ({"mindspore": "2.0.0", "numpy": "1.25"}, "does not work with NumPy 1.25"),
    ],
)
def test_versions_that_do_not_record(versions: dict[str, str], words: str, tmp_path: Path) -> None:
    faults = [
        r for r in _found(_machine(tmp_path, {}, versions=versions)) if (r.check, r.state) == ("versions", "fault")
    ]
    assert [words in fault.message for fault in faults] == [True]
    assert faults[0].remedy
    assert next(iter(versions.values())) in faults[0].message


def test_sound_versions() -> None:
    sound = {"torch": "2.1.0", "mindspore": "2.10.0", "numpy": "1.26.4", "pillow": "11", "jax": "0.7"}
    assert known_faults(sound) == []


@pytest.mark.parametrize(
    ("versions", "version", "holds"),
    [
        (Versions("p"), "1", True),
        (Versions("p", since="2.1"), "2.1.0rc1", True),
        (Versions("p", since="2.1"), "2.0.9", False),
        (Versions("p", before="2.1"), "2.10", False),
        (Versions("p", before="1.24"), "1.9.5", True),
        (Versions("p", since="2.0", before="2.1"), "2.0.0+cpu", True),
        (Versions("p", since="1"), "unknown", False),
    ],
)
def test_versions(versions: Versions, version: str, holds: bool) -> None:
    assert versions.holds(version) is holds


def test_known_faults_are_documented() -> None:
    text = (ROOT / "docs" / "recording.md").read_text()
    for fault in KNOWN_FAULTS:
        versions = ", ".join(map(str, fault.versions))
        assert f"| {versions} | {fault.what} | {fault.remedy.replace('|', '')} |" in text


# ---- devices ----


def test_devices(tmp_path: Path) -> None:
    files = {"dev/nvidia0": "", "dev/nvidia1": "", "dev/nvidiactl": "", "bin/nvidia-smi": "", "dev/davinci3": ""}
    assert _texts(_machine(tmp_path, files), "devices") == [
        ("ok", "2 devices of NVIDIA"),
        ("ok", "1 device of Ascend, npu-smi is not on PATH"),
    ]


@pytest.mark.parametrize("tool", ["nvidia-smi", "rocm-smi", "npu-smi", "xpu-smi"])
def test_a_container_without_its_device(tool: str, tmp_path: Path) -> None:
    fault, nothing = (r for r in _found(_machine(tmp_path, {f"bin/{tool}": ""})) if r.check == "devices")
    assert fault.state == "fault"
    assert fault.message.startswith(f"{tool} is found, but no device /dev/")
    assert "container" in str(fault.remedy)
    assert nothing.state == "absent"


def test_a_build_without_the_device(tmp_path: Path) -> None:
    machine = _machine(tmp_path, {"dev/nvidia0": ""}, versions={"torch": "2.9.0+cpu"})
    assert ("fault", "torch 2.9.0+cpu is built for the processor alone") in _texts(machine, "devices")
    other = _machine(tmp_path / "other", {"dev/nvidia0": ""}, versions={"torch": "2.9.0+cu128"})
    assert {state for state, _ in _texts(other, "devices")} == {"ok"}


# ---- permissions ----


@pytest.mark.parametrize(
    ("params", "user", "state"),
    [
        ("Foo: 2\nRmProfilingAdminOnly: 1\n", 1000, "fault"),
        ("RmProfilingAdminOnly: 1\n", 0, "ok"),
        ("RmProfilingAdminOnly: 0\n", 1000, "ok"),
    ],
)
def test_cupti(params: str, user: int, state: str, tmp_path: Path) -> None:
    ((found, message),) = _texts(_machine(tmp_path, {"proc/driver/nvidia/params": params}, user=user), "CUPTI")
    assert found == state
    assert ("RmProfilingAdminOnly" in message) == (state == "fault")


@pytest.mark.parametrize(
    ("text", "user", "states"),
    [("4\n", 1000, ["note"]), ("4", 0, ["ok"]), ("2\n", 1000, ["ok"]), ("-1", 1000, ["ok"]), ("none", 1000, [])],
)
def test_perf(text: str, user: int, states: list[str], tmp_path: Path) -> None:
    machine = _machine(tmp_path, {"proc/sys/kernel/perf_event_paranoid": text}, user=user)
    assert [state for state, _ in _texts(machine, "perf")] == states


# ---- where the recording goes ----


def test_little_room(tmp_path: Path) -> None:
    (found,) = [r for r in _found(_machine(tmp_path, {}), free=200 << 20) if r.check == "output"]
    assert (found.state, found.message) == ("fault", f"{tmp_path} has 200 MiB left; ten steps may take 1 GiB")


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_closed(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    (found,) = [r for r in _found(_machine(tmp_path, {}), tmp_path / "closed" / "a") if r.check == "output"]
    assert found.state == "fault"


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (found,) = [r for r in _found(_machine(tmp_path, {}), tmp_path / "file" / "a") if r.check == "output"]
    assert (found.state, found.remedy) == ("fault", "choose another: -o DIR")
    assert str(tmp_path / "file") in found.message
