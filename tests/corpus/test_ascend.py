"""Every number of the Ascend corpus' README that laptime reports; they were taken from the files by other means."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.operators import operator_table
from laptime.analyses.report import report
from laptime.analyses.step_trace import step_trace
from laptime.importers.opening import open_run
from laptime.model.trace import Run, Trace
from laptime.model.workspace import Workspace

pytestmark = pytest.mark.corpus

ROUNDING_NS = 150
"""What the vendor's sums of rounded microseconds may be off by."""
_TEXT = ("pt-text-level0", "pt-text-level1")

TIMES: dict[tuple[str, int], tuple[float, float, float, float]] = {
    ("pt-text-level0", 0): (8827.473, 81515.607, 4001.282, 85516.889),
    ("pt-text-level0", 1): (8813.173, 64616.114, 3989.596, 68605.710),
    ("pt-text-level1", 0): (8873.756, 101963.203, 4028.675, 105991.878),
    ("pt-text-level1", 1): (8878.295, 96359.047, 4016.239, 100375.286),
    ("st-level2-4ranks", 0): (231290.10, 420174.26, 0, 420174.26),
    ("st-level2-4ranks", 2): (400448.26, 277649.66, 0, 277649.66),
    ("pt-db-level0", 0): (8843.910, 85881.122, 3999.454, 89880.576),
    ("pt-db-level0", 1): (8831.637, 90000.781, 3993.077, 93993.858),
    ("pt-db-level1", 0): (8903.431, 98071.947, 4036.153, 102108.1),
    ("pt-db-level1", 1): (8915.634, 94556.05, 4034.14, 98590.19),
}
"""Computing, communication not overlapped, overlapped, communication (us), by case and rank."""
KERNELS = {"pt-text-level0": (191, 4), "pt-text-level1": (191, 4), "pt-db-level0": (191, 4), "pt-db-level1": (191, 4)}
ST_KERNELS = {0: (2463, 15), 2: (2587, 23)}
EVENTS = {("pt-text-level0", 0): 8375, ("pt-text-level0", 1): 8394, ("pt-text-level1", 0): 10112}
ELAPSE_TRANSIT_WAIT = {0: (105.9919, 3.6834, 5.9406), 1: (100.3753, 3.8597, 0.1914)}
ST_ELAPSE = {0: (313.8778, 106.2965), 1: (322.9806, 118.7278), 2: (72.6637, 204.986), 3: (74.9867, 186.5117)}
"""Milliseconds in send/receive and in collectives."""


def _run(corpus: Path, workspace: Workspace, case: str) -> Run:
    return open_run(corpus / "ascend" / case, workspace=workspace)


def _ns(microseconds: float) -> int:
    return round(microseconds * 1000)


def _slices(trace: Trace) -> list[dict[str, Any]]:
    kinds = dict(zip(trace.tracks.objects("track_id"), trace.tracks.objects("kind"), strict=True))
    ops = trace.ops.arrow().to_pylist()
    rows: list[dict[str, Any]] = []
    rows += trace.table("slices").arrow(["track_id", "kind", "name", "dur_ns", "op_id"]).to_pylist()
    for row in rows:
        row["track_kind"] = kinds[row["track_id"]]
        row["op"] = None if row["op_id"] is None else ops[row["op_id"]]
    return rows


def _on_device(trace: Trace, *kinds: str) -> list[dict[str, Any]]:
    return [row for row in _slices(trace) if row["track_kind"] == "stream" and row["kind"] in kinds]


@pytest.mark.parametrize(("case", "rank"), TIMES)
def test_device_times_are_the_vendors(corpus: Path, workspace: Workspace, case: str, rank: int) -> None:
    result: Any = report(_run(corpus, workspace, case))
    total = next(entry for entry in result["ranks"] if entry["rank"] == rank)["device_total"]
    found = [
        total[f"{part}_ns"]
        for part in ("compute", "communication_exposed", "communication_overlapped", "communication")
    ]
    slack = 0 if case.startswith("pt-db") else ROUNDING_NS
    for value, stored in zip(found, TIMES[case, rank], strict=True):
        assert abs(value - _ns(stored)) <= slack
    assert not [warning for warning in result["warnings"] if warning["code"] == "mismatch"]


@pytest.mark.parametrize("case", KERNELS)
def test_kernels_and_collectives(corpus: Path, workspace: Workspace, case: str) -> None:
    for trace in _run(corpus, workspace, case).traces:
        rows = _on_device(trace, "kernel", "communication")
        assert (len(rows), sum(row["kind"] == "communication" for row in rows)) == KERNELS[case]


def test_kernels_of_the_big_ranks(corpus: Path, workspace: Workspace) -> None:
    run = _run(corpus, workspace, "st-level2-4ranks")
    assert [trace.rank for trace in run.traces] == [0, 1, 2, 3]
    assert run.traces[0].meta["world_size"] == 4
    groups: Any = run.traces[0].meta["parallel_groups"]
    assert groups["group_name_19"] == {"group_name": "pp", "group_rank": 0, "global_ranks": [0, 2]}
    devices = [{row["device"] for row in trace.tracks.arrow(["device", "kind"]).to_pylist()} for trace in run.traces]
    assert [max(each - {None}) for each in devices] == [0, 1, 4, 5]
    for rank, expected in ST_KERNELS.items():
        rows = _on_device(run.traces[rank], "kernel", "communication")
        assert (len(rows), sum(row["kind"] == "communication" for row in rows)) == expected


OP_STATISTIC = {
    "pt-text-level1/rank0_ascend_pt": 33,
    "pt-text-level1/rank1_ascend_pt": 33,
    "st-level2-4ranks/rank_0_ascend_pt": 35,
    "st-level2-4ranks/rank_2_ascend_pt": 46,
}
"""Rows of op_statistic.csv."""


@pytest.mark.parametrize("case", OP_STATISTIC)
def test_operators_regroup_to_op_statistic(corpus: Path, workspace: Workspace, case: str) -> None:
    trace = _run(corpus, workspace, case).traces[0]
    sums: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row in _on_device(trace, "kernel", "communication"):
        sums[row["op"]["op_type"], row["op"]["device_kind"]].append(row["dur_ns"])
    with (corpus / "ascend" / case / "ASCEND_PROFILER_OUTPUT" / "op_statistic.csv").open(newline="") as file:
        stored = list(csv.DictReader(file))
    assert len(stored) == OP_STATISTIC[case]
    for row in stored:
        own = sums[row["OP Type"], row["Core Type"]]
        assert len(own) == int(row["Count"])
        assert abs(sum(own) - _ns(float(row["Total Time(us)"]))) <= len(own) + 1


def test_top_types(corpus: Path, workspace: Workspace) -> None:
    run = _run(corpus, workspace, "st-level2-4ranks")
    table = operator_table(run.traces[0], by="op-type", on="device")
    found = {row["name"]: (row["count"], row["total_ns"]) for row in table.rows}
    assert found["FlashAttentionScoreGrad"] == (28, 63_128_660)
    assert found["MatMulV3"] == (280, 48_000_780)


@pytest.mark.parametrize(("case", "rank"), EVENTS)
def test_every_event_is_counted(corpus: Path, workspace: Workspace, case: str, rank: int) -> None:
    result: Any = report(_run(corpus, workspace, case))
    assert result["ranks"][rank]["events"] == {"read": EVENTS[case, rank], "kept": EVENTS[case, rank], "dropped": {}}


@pytest.mark.parametrize("case", _TEXT)
def test_flows(corpus: Path, workspace: Workspace, case: str) -> None:
    """210 launches by operators, 27 pairs of forward and backward, 159 queued tasks, and 215 ends of 210 runtime calls,
    which level 0 does not record."""
    for trace in _run(corpus, workspace, case).traces:
        kinds = Counter(trace.flows.objects("kind"))
        queued_and_called = 159 if case.endswith("0") else 159 + 215
        assert kinds == {"launch": 210, "forward_backward": 27, "data": queued_and_called}


@pytest.mark.parametrize("case", _TEXT)
def test_what_the_vendor_derived_is_no_work(corpus: Path, workspace: Workspace, case: str) -> None:
    for trace in _run(corpus, workspace, case).traces:
        derived = Counter(row["name"] for row in _slices(trace) if row["track_kind"] == "span")
        assert derived == {"Computing": 187, "Communication": 4, "Communication(Not Overlapped)": 101, "Free": 90}


@pytest.mark.parametrize("rank", ELAPSE_TRANSIT_WAIT)
def test_times_of_collectives(corpus: Path, workspace: Workspace, rank: int) -> None:
    trace = _run(corpus, workspace, "pt-text-level1").traces[rank]
    infos = [json.loads(row["op"]["info"]) for row in _on_device(trace, "communication")]
    found = [sum(info[f"{part}_ns"] for info in infos) for part in ("elapse", "transit", "wait")]
    assert [round(ns / 1e6, 4) for ns in found] == list(ELAPSE_TRANSIT_WAIT[rank])
    assert all(info["links"].keys() >= {"HCCS"} for info in infos[:1])


@pytest.mark.parametrize("rank", ST_ELAPSE)
def test_elapse_of_send_receive_and_collectives(corpus: Path, workspace: Workspace, rank: int) -> None:
    """Ranks 1 and 3 hold no kernels: their collectives come from communication.json alone."""
    trace = _run(corpus, workspace, "st-level2-4ranks").traces[rank]
    sums: Counter[bool] = Counter()
    for row in _on_device(trace, "communication"):
        sums["SendRecv" in row["name"] or "send" in row["name"] or "receive" in row["name"]] += row["dur_ns"]
    assert [round(sums[key] / 1e6, 4) for key in (True, False)] == list(ST_ELAPSE[rank])
    assert step_trace(trace).steps[0]["step"] == 13


@pytest.mark.parametrize("case", ["pt-text-level0", "pt-text-level1", "pt-db-level0", "pt-db-level1"])
def test_memory(corpus: Path, workspace: Workspace, case: str) -> None:
    for trace in _run(corpus, workspace, case).traces:
        blocks = trace.table("allocations").arrow().to_pylist()
        assert len(blocks) == 184
        assert sum(block["size_bytes"] for block in blocks) == 1460243.5 * 1024
        assert sum(block["end_ns"] is None for block in blocks) == 24
        peaks = _peaks(trace)
        assert round(peaks["PTA allocated"], 3) == 1187.981
        assert peaks["PTA reserved"] == 1452.0
        if case.startswith("pt-text"):
            assert peaks["APP reserved"] == pytest.approx(2109.6 if case.endswith("0") else 2113.73, abs=0.005)


def test_memory_of_the_big_ranks(corpus: Path, workspace: Workspace) -> None:
    run = _run(corpus, workspace, "st-level2-4ranks")
    for rank, peaks, rows in ((0, (10372, 11925.016), 18659), (2, (10868, 12675.371), 19396)):
        found = _peaks(run.traces[rank])
        assert (found["PTA reserved"], round(found["APP reserved"], 3)) == peaks
        components = Counter(name.partition(" ")[0] for name in _samples(run.traces[rank]) if "reserved" in name)
        assert components.total() == rows


def _samples(trace: Trace) -> list[str]:
    names = dict(zip(trace.tracks.objects("track_id"), trace.tracks.objects("name"), strict=True))
    return [str(names[track]) for track in trace.table("counters").objects("track_id")]


def _peaks(trace: Trace) -> dict[str, float]:
    """Greatest value of each curve, in MiB."""
    peaks: dict[str, float] = defaultdict(float)
    for name, value in zip(_samples(trace), trace.table("counters").objects("value"), strict=True):
        peaks[name] = max(peaks[name], float(str(value)) / 2**20)
    return peaks


@pytest.mark.parametrize(("case", "tasks"), [("pt-db-level0", 550), ("pt-db-level1", 552)])
def test_rows_of_the_databases(corpus: Path, workspace: Workspace, case: str, tasks: int) -> None:
    for trace in _run(corpus, workspace, case).traces:
        rows = _slices(trace)
        on_stream = [row for row in rows if row["track_kind"] == "stream"]
        assert len(on_stream) == tasks + 4
        kernels = [row for row in on_stream if row["kind"] == "kernel"]
        assert len(kernels) == 187
        assert sum(row["dur_ns"] for row in kernels) == _ns(TIMES[case, trace.rank or 0][0])


@pytest.mark.parametrize("case", ["pt-db-level0", "pt-db-level1"])
def test_forward_and_backward_operators_of_the_databases(corpus: Path, workspace: Workspace, case: str) -> None:
    """27 pairs, as in the text exports of the same training; each backward operator is named after its forward one."""
    for trace in _run(corpus, workspace, case).traces:
        names = trace.table("slices").arrow(["name"]).to_pydict()["name"]
        pairs = [row for row in trace.flows.arrow().to_pylist() if row["kind"] == "forward_backward"]
        assert len(pairs) == 27
        assert Counter(names[row["from_id"]] for row in pairs)["aten::conv2d"] == 5
        assert {names[row["to_id"]] for row in pairs if names[row["from_id"]] == "aten::conv2d"} == {
            "ConvolutionBackward0"
        }


def test_the_free_time_of_mindstudio_insight(corpus: Path, workspace: Workspace) -> None:
    """Its OVERLAP_ANALYSIS of this file: 25258.144 us in which nothing computes or communicates."""
    trace = _run(corpus, workspace, "pt-db-level1").traces[0]
    rows = trace.table("slices").arrow(["track_id", "start_ns", "dur_ns", "kind"]).to_pylist()
    spans = sorted(
        (row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in rows if row["kind"] in ("kernel", "communication")
    )
    free, end = 0, spans[0][1]
    for begins, ends in spans:
        free += max(begins - end, 0)
        end = max(end, ends)
    assert free == 25_258_144


def test_a_sample_that_was_cut_is_no_match(corpus: Path, workspace: Workspace) -> None:
    result: Any = report(_run(corpus, workspace, "unit-rank0"))
    assert round(result["ranks"][0]["device_total"]["compute_ns"] / 1000, 1) == 27132.4
    messages = [warning["message"] for warning in result["warnings"] if warning["code"] == "mismatch"]
    assert any("computing 75174.575 us" in message and "27132.428 us" in message for message in messages)


def test_nothing_is_written_beside_the_files(corpus: Path, workspace: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "rank0_ascend_pt"
    shutil.copytree(corpus / "ascend" / "pt-db-level1" / "rank0_ascend_pt", folder)
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    open_run(folder, workspace=workspace)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


@pytest.mark.parametrize("inside", ["", "ASCEND_PROFILER_OUTPUT"])
def test_the_folder_or_what_is_in_it(corpus: Path, workspace: Workspace, inside: str) -> None:
    trace = open_run(corpus / "ascend" / "pt-text-level1" / "rank1_ascend_pt" / inside, workspace=workspace).traces[0]
    assert (trace.rank, trace.meta["framework"], trace.meta["format"]) == (1, "pytorch", "ascend_output")


def test_a_summary_of_operators_alone(corpus: Path, workspace: Workspace) -> None:
    """msprof-op-summary, whose last FlashAttentionScore lacks a cell: sums by type and task type, added up here."""
    folder = corpus / "ascend" / "msprof-op-summary"
    expected: dict[tuple[str, str], list[int]] = {}
    with (folder / "op_summary_1.csv").open(newline="") as handle:
        for row in csv.DictReader(handle):
            core = {"HCCL": "communication", "AI_CPU": "ai_cpu", "DSA_SQE": "dsa_sqe"}.get(row["Task Type"], "ai_core")
            found = expected.setdefault((row["OP Type"], core), [0, 0])
            found[0] += 1
            found[1] += round(float(row["Task Duration(us)"]) * 1000)
    run = open_run(folder, workspace=workspace)
    rows = operator_table(run.traces[0]).rows
    assert {(r["name"], r["device_kind"]): (r["count"], r["total_ns"]) for r in rows} == {
        key: pytest.approx(value, abs=2) for key, value in expected.items()
    }
    assert sum(count for count, _ in expected.values()) == 21
    result: Any = report(run)
    assert [(step["step"], step["complete"]) for step in result["ranks"][0]["steps"]] == [(2, True)]
    assert result["ranks"][0]["device_total"]["communication_ns"] == pytest.approx(10_238_000, abs=1_000)
