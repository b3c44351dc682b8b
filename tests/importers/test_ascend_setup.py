"""The guide's set-up faults, each on a machine rebuilt as a folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from laptime.importers.ascend_setup import Diagnosis, Machine, compress_switch, diagnose

USER = os.getuid()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A sound Ascend machine."""
    files = {
        "usr/local/HiAI/driver/tools/ada": "",
        "var/log/npu/conf/slog/ziplog.conf": "[profiling]\nCOMPRESS_SWITCH=0\n",
        "var/log/npu/profiling/JOBAB/host_start.log.4": "[Device4]\nclock_realtime: 1\n",
        "proc/7/comm": "ada\n",
        "proc/7/environ": "HOME=/root\0",
        "root/ide_daemon/cert.pem": "x",
        "usr/local/python3.7/bin/mindinsight": "",
        "usr/local/lib/python3.7/site-packages/mindspore_ascend-1.1.0.dist-info/METADATA": "",
        "usr/local/lib/python3.7/site-packages/mindinsight-1.1.1.dist-info/METADATA": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    path = str(tmp_path / "usr/local/python3.7/bin")
    return Machine(tmp_path, {"DEVICE_ID": "4", "PATH": path}, tmp_path / "root", USER)


def faults(machine: Machine) -> dict[str, Diagnosis]:
    return {result.check: result for result in diagnose(machine) if result.state == "fault"}


def test_a_sound_machine_has_no_fault(machine: Machine) -> None:
    results = diagnose(machine)
    assert {result.state for result in results} == {"ok"}
    checks = ["ada daemon", "certificate", "compression", "job folder", "DEVICE_ID", "versions", "PATH"]
    assert [result.check for result in results] == checks


def test_a_machine_without_ascend_has_nothing_to_check(tmp_path: Path) -> None:
    assert [result.state for result in diagnose(Machine(tmp_path, {"PATH": ""}, tmp_path, USER))] == ["absent"]


ZIPLOG = "[log]\nCOMPRESS_SWITCH=0\n[profiling]\nCOMPRESS_SWITCH=1\n"
PACKAGES = "usr/local/lib/python3.7/site-packages"
BROKEN_FILES: dict[str, Callable[[Path], object]] = {
    "ada absent": lambda root: (root / "proc/7/comm").write_text("bash\n"),
    "ada in conda": lambda root: (root / "proc/7/environ").write_text("CONDA_PREFIX=/opt/conda\0"),
    "no certificate": lambda root: (root / "root/ide_daemon/cert.pem").unlink(),
    "compressed": lambda root: (root / "var/log/npu/conf/slog/ziplog.conf").write_text(ZIPLOG),
    "no job": lambda root: (root / "var/log/npu/profiling/JOBAB").rename(root / "var/log/npu/profiling/old"),
    "no host_start.log": lambda root: (root / "var/log/npu/profiling/JOBAB/host_start.log.4").unlink(),
    "versions": lambda root: (root / PACKAGES / "mindinsight-1.1.1.dist-info").rename(
        root / PACKAGES / "mindinsight-2.0.0.dist-info"
    ),
}


def _break(machine: Machine, fault: str) -> Machine:
    if fault in BROKEN_FILES:
        BROKEN_FILES[fault](machine.root)
        return machine
    path = machine.environment["PATH"]
    changes: dict[str, dict[str, Any]] = {
        "ada of another user": {"user_id": USER + 1},
        "DEVICE_ID unset": {"environment": {"PATH": path}},
        "DEVICE_ID of another device": {"environment": {"PATH": path, "DEVICE_ID": "0"}},
        "not on PATH": {"environment": {"DEVICE_ID": "4", "PATH": "/bin"}},
    }
    return replace(machine, **changes[fault])


@pytest.mark.parametrize(
    ("fault", "check", "says", "do"),
    [
        ("ada absent", "ada daemon", "does not run", "/usr/local/HiAI/driver/tools/ada"),
        ("ada of another user", "ada daemon", f"runs as user {USER}", "pkill ada"),
        ("ada in conda", "ada daemon", "inside conda", "conda deactivate"),
        ("no certificate", "certificate", "daemon init failed, exit", "cp -rf"),
        ("compressed", "compression", "COMPRESS_SWITCH is 1", "COMPRESS_SWITCH=0"),
        ("no job", "job folder", "no JOB folder", "ada"),
        ("no host_start.log", "job folder", "no host_start.log", "COMPRESS_SWITCH"),
        ("DEVICE_ID unset", "DEVICE_ID", "not set", "export DEVICE_ID=4"),
        ("DEVICE_ID of another device", "DEVICE_ID", "recorded on device 4", "export DEVICE_ID=4"),
        ("versions", "versions", "do not match", "mindinsight==1.1"),
        ("not on PATH", "PATH", "not on PATH", "ln -s"),
    ],
)
def test_each_fault_is_named_with_what_to_do(machine: Machine, fault: str, check: str, says: str, do: str) -> None:
    found = faults(_break(machine, fault))
    assert list(found) == [check]
    assert says in found[check].message
    assert do in str(found[check].remedy)


@pytest.mark.parametrize(
    ("text", "value"),
    [("", None), ("COMPRESS_SWITCH=1", "1"), ("[a]\nCOMPRESS_SWITCH=1", None), ("[prof]\n COMPRESS_SWITCH : 2", "2")],
)
def test_the_switch_of_the_profiling_part_counts(text: str, value: str | None) -> None:
    assert compress_switch(text) == value
