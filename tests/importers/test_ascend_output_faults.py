"""Damaged and missing files of Ascend's profilers: what is whole is read, the rest is named, nothing crashes."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from laptime.analyses.operators import operator_table
from laptime.analyses.report import report
from laptime.analyses.step_trace import step_trace
from laptime.errors import LaptimeError
from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace
from tests.fuzz.mutations import mutated
from tests.importers.ascend_folders import recording_tables, table, timeline, us, write_database, write_output
from tests.importers.test_ascend_output import LEVEL2, _kernels
from tests.laws.report_checks import assert_consistent

MUTATIONS = 200


@cache
def _whole() -> dict[str, bytes]:
    """All files of a whole recording."""
    columns = ("Step", "Computing", "Communication(Not Overlapped)", "Communication")
    curves = ("Component", "Timestamp(us)", "Total Allocated(MB)", "Device Type")
    blocks = ("Name", "Size(KB)", "Allocation Time(us)", "Release Time(us)", "Device Type")
    times = {"Start Timestamp(us)": float(us(210)), "Elapse Time(ms)": 0.06025, "Wait Time(ms)": 0.05}
    collectives = {"step7": {"collective": {"hcom_allReduce__1_0_1@99": {"Communication Time Info": times}}}}
    files = {
        "trace_view.json": json.dumps(timeline()),
        "kernel_details.csv": _kernels(LEVEL2),
        "step_trace_time.csv": table(columns, [(7, 90.5, 29.75, 60.25)]),
        "memory_record.csv": table(curves, [("PTA", us(5), 1.5, "NPU:4")]),
        "operator_memory.csv": table(blocks, [("aten::mm", 0.5, us(10), us(20), "NPU:4")]),
        "communication.json": json.dumps(collectives),
    }
    with TemporaryDirectory() as folder:
        database = Path(folder, "made.db")
        write_database(database, recording_tables())
        made = {"ascend_pytorch_profiler_3.db": database.read_bytes()}
    return {name: text.encode() for name, text in files.items()} | made


def _read(folder: Path, workspace: Workspace) -> dict[str, Any] | None:
    """The report; None where the recording is refused."""
    try:
        run = open_run(folder, workspace=workspace)
    except LaptimeError as error:
        assert "\n" not in str(error)
        return None
    result: dict[str, Any] = report(run)
    assert_consistent(result)
    for trace in run.traces:
        step_trace(trace)
        operator_table(trace)
    return result


NAMES = (
    "trace_view.json",
    "kernel_details.csv",
    "step_trace_time.csv",
    "memory_record.csv",
    "operator_memory.csv",
    "communication.json",
    "ascend_pytorch_profiler_3.db",
)


@pytest.mark.parametrize("missing", NAMES)
def test_every_file_is_optional(tmp_path: Path, workspace: Workspace, missing: str) -> None:
    files = {name: content for name, content in _whole().items() if name != missing}
    result = _read(write_output(tmp_path / "x_ascend_pt", files), workspace)
    assert result is not None
    assert result["ranks"][0]["device_total"]["compute_ns"] == 90_500


@pytest.mark.parametrize("alone", NAMES)
def test_every_file_may_be_alone(tmp_path: Path, workspace: Workspace, alone: str) -> None:
    result = _read(write_output(tmp_path / "x_ascend_pt", {alone: _whole()[alone]}), workspace)
    assert result is not None
    has_device = alone not in ("step_trace_time.csv", "memory_record.csv", "operator_memory.csv", "communication.json")
    assert (result["ranks"][0]["device_total"] is not None) == has_device


@pytest.mark.parametrize("broken", NAMES)
@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff" * 500, b"[", b'{"a"', b"a,b\r\n1", b"SQLite format 3\x00" + b"\x07" * 4096]
)
def test_a_broken_file_hides_no_other(tmp_path: Path, workspace: Workspace, broken: str, content: bytes) -> None:
    files = {**_whole(), broken: content}
    result = _read(write_output(tmp_path / "x_ascend_pt", files), workspace)
    assert result is not None
    assert result["ranks"][0]["device_total"]["communication_ns"] == 60_250
    names_it = any(broken.partition(".")[0] in warning["message"] for warning in result["warnings"])
    unread = broken == "ascend_pytorch_profiler_3.db" or not content or content == b"a,b\r\n1"
    assert names_it or unread or result["warnings"]


@pytest.mark.parametrize("content", [b"", b"\x00"])
def test_nothing_whole_is_no_crash(tmp_path: Path, workspace: Workspace, content: bytes) -> None:
    _read(write_output(tmp_path / "x_ascend_pt", dict.fromkeys(NAMES, content)), workspace)


def test_a_damaged_database_is_named(tmp_path: Path, workspace: Workspace) -> None:
    damaged = bytearray(_whole()["ascend_pytorch_profiler_3.db"])
    damaged[4096:] = b"\x13" * (len(damaged) - 4096)
    result = _read(write_output(tmp_path / "x_ascend_pt", {"ascend_pytorch_profiler_3.db": bytes(damaged)}), workspace)
    assert result is not None
    assert any("cannot be read" in warning["message"] for warning in result["warnings"])


def test_a_cut_timeline_is_named(tmp_path: Path, workspace: Workspace) -> None:
    files = dict(_whole())
    files["trace_view.json"] = files["trace_view.json"][:-400]
    result = _read(write_output(tmp_path / "x_ascend_pt", files), workspace)
    assert result is not None
    assert "truncated" in {warning["code"] for warning in result["warnings"]}


@pytest.mark.parametrize("seed", range(MUTATIONS))
def test_no_damage_crashes(tmp_path: Path, workspace: Workspace, seed: int) -> None:
    dice = random.Random(seed)
    files = dict(_whole())
    others = list(files.values())
    for name in dice.sample(NAMES, dice.randint(1, len(NAMES))):
        files[name] = mutated(files[name], others, dice)
    if dice.random() < 0.4:  # the other sources of a timeline get their turn
        files.pop("trace_view.json")
    if dice.random() < 0.4:
        files.pop("kernel_details.csv")
    _read(write_output(tmp_path / "x_ascend_pt", files), workspace)
