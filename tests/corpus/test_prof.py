"""`laptime prof` on the real job JOB3: its folder holds what MindInsight made of the job, and MindInsight opens it.

The twin is of MindSpore 1.1, whose files have other names and columns; docs/mindinsight.md lists what differs on
purpose.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.report import report
from laptime.analyses.step_trace import step_trace
from laptime.cli.prof import parse_job
from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace
from tests.conftest import corpus_folder
from tests.environments import MINDINSIGHT, Unavailable, make

pytestmark = pytest.mark.corpus
_START_SECONDS = 60


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `prof` writes, device 1 as its twin."""
    corpus = corpus_folder()
    if corpus is None:
        pytest.skip("no corpus: set LAPTIME_CORPUS to the folder of real recordings")
    place = tmp_path_factory.mktemp("prof")
    return parse_job(
        "job3_widedeep_raw",
        device_id=1,
        output_path=place / "summaries" / "job3",
        profiling_dir=corpus / "mindinsight",
        workspace=place / "workspace",
    )


@pytest.fixture
def twin(corpus: Path) -> Path:
    return corpus / "mindinsight" / "job3_parsed_r1.1" / "profiler"


def _rows(path: Path) -> list[list[str]]:
    with path.open(newline="") as handle:
        return list(csv.reader(handle))


def test_step_trace_is_that_of_the_twin(written: Path, twin: Path) -> None:
    name = "step_trace_raw_1_detail_time.csv"
    ours = _rows(written / name)
    assert ours == _rows(twin / name)
    assert len(ours) == 1 + 322 + 1
    assert json.loads((written / "step_trace_point_info_1.json").read_text()) == json.loads(
        (twin / "step_trace_point_info.json").read_text()
    )


def test_operators_are_those_of_the_twin(written: Path, twin: Path) -> None:
    ours, theirs = _rows(written / "framework_raw_1.csv"), _rows(twin / "framework_raw_1.csv")
    assert len(ours[0]) == 10
    short = [[*row[:4], *row[5:8], json.loads(row[8])] for row in ours[1:]]
    assert short == [[*row[:7], json.loads(row[7])] for row in theirs[1:]]
    assert len(short) == 199


def test_means_are_those_of_the_twin(written: Path, twin: Path) -> None:
    ours = {row[0]: float(row[1]) for row in _rows(written / "aicore_intermediate_1_detail.csv")[1:]}
    theirs = {row[0]: float(row[1]) for row in _rows(twin / "aicore_intermediate_1_detail.csv")[1:]}
    assert ours == pytest.approx(theirs, rel=1e-12)
    counts = [int(row[2]) for row in _rows(written / "aicore_intermediate_1_detail.csv")[1:]]
    assert (counts.count(14), counts.count(15), sum(counts)) == (168, 31, 2_817)


def _text_table(path: Path) -> dict[str, tuple[float, str]]:
    lines = [line.rsplit(None, 2) for line in path.read_text().splitlines()[3:]]
    return {name: (float(value), stream) for name, value, stream in lines}


def test_text_of_means_is_that_of_the_twin(written: Path, twin: Path) -> None:
    ours, theirs = (_text_table(folder / "output_op_compute_time_1.txt") for folder in (written, twin))
    assert {name: stream for name, (_, stream) in ours.items()} == {
        name: stream for name, (_, stream) in theirs.items()
    }
    assert {name: value for name, (value, _) in ours.items()} == pytest.approx(
        {name: value for name, (value, _) in theirs.items()}, rel=1e-12
    )
    assert round(ours["total op"][0], 9) == 126.436317571


def test_times_per_step_by_type_are_those_of_the_twin(written: Path, twin: Path) -> None:
    lines = (written / "output_op_compute_time_detail_1.txt").read_text().splitlines()
    ours = [line.split() for line in lines[3 : lines.index("")]]
    theirs = _rows(twin / "aicore_intermediate_1_type.csv")[1:]
    assert {row[0]: (float(row[1]), row[2], float(row[3])) for row in ours} == {
        row[0]: (pytest.approx(float(row[1]), abs=5e-7), row[2], float(row[3])) for row in theirs
    }


def test_types_are_totals_and_executions(written: Path) -> None:
    """Deliberately not the twin's sums of means and numbers of operators."""
    rows = {row[0]: row[1:] for row in _rows(written / "aicore_intermediate_1_type.csv")[1:]}
    assert len(rows) == 29
    assert sum(float(row[0]) for row in rows.values()) == pytest.approx(1771.38285, abs=1e-9)
    assert sum(int(row[1]) for row in rows.values()) == 2_817
    assert sum(float(row[2]) for row in rows.values()) == pytest.approx(1, abs=1e-6)


def test_executions_are_those_of_the_twin(written: Path, twin: Path) -> None:
    def rows(folder: Path) -> list[tuple[str, str, float, float]]:
        lines = (folder / "output_timeline_data_1.txt").read_text().splitlines()[1:]
        return [
            (name, stream, float(start), float(dur)) for name, stream, start, dur in (x.rsplit(",", 3) for x in lines)
        ]

    assert rows(written) == rows(twin)
    counter = "min_cycle_counter_1.txt"
    assert float((written / counter).read_text()) == float((twin / counter).read_text()) == 43806841592


def test_the_timeline_is_that_of_the_twin(written: Path, twin: Path) -> None:
    def events(text: bytes) -> list[tuple[object, ...]]:
        return sorted(
            (each["pid"], each["tid"], each["name"], round(each["ts"], 2), round(each["dur"], 2), str(each.get("args")))
            for each in json.loads(text)
            if each["ph"] == "X"
        )

    ours = (written / "ascend_timeline_display_1.json").read_bytes()
    assert events(ours) == events(gzip.decompress((twin / "timeline_display_1.json.gz").read_bytes()))
    sums = json.loads((written / "ascend_timeline_summary_1.json").read_text())
    theirs = json.loads((twin / "timeline_summary_1.json").read_text())
    assert sums == {**theirs, "total_time": 1_771_382.85, "max_scope_name_num": 0}


def test_laptime_reads_the_folder_as_it_reads_the_job(written: Path, corpus: Path, workspace: Workspace) -> None:
    job = open_run(corpus / "mindinsight" / "job3_widedeep_raw", workspace=workspace)
    folder = open_run(written, workspace=workspace)
    ours, theirs = (step_trace(run.traces[0]) for run in (folder, job))
    assert (ours.average, ours.median, ours.p90) == (theirs.average, theirs.median, theirs.p90)
    ranks: list[Any] = [report(run)["ranks"][0] for run in (folder, job)]  # type: ignore[index]  # JSON
    assert ranks[0]["step_summary"]["budget"] == ranks[1]["step_summary"]["budget"]
    assert {w["code"] for w in report(folder)["warnings"]} == set()  # type: ignore[attr-defined]  # JSON


# ---- MindInsight itself ----


@dataclass(frozen=True)
class _Server:
    address: str

    def get(self, query: str) -> Any:
        return self._answer(urllib.request.Request(f"{self.address}/v1/mindinsight/profile/{query}"))

    def post(self, query: str, body: dict[str, object]) -> Any:
        data = json.dumps(body).encode()
        return self._answer(urllib.request.Request(f"{self.address}/v1/mindinsight/profile/{query}", data))

    def _answer(self, request: urllib.request.Request) -> Any:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())


@pytest.fixture(scope="module")
def mindinsight(written: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Server]:
    """MindInsight 2.3.1, started on what `prof` wrote."""
    try:
        make(MINDINSIGHT)
    except Unavailable as reason:
        pytest.skip(f"MindInsight cannot be installed: {reason}")
    programs = MINDINSIGHT.python.parent
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    place = tmp_path_factory.mktemp("mindinsight")
    paths = os.pathsep.join([str(programs), os.environ["PATH"]])
    variables = {**os.environ, "PATH": paths, "HOME": str(place)}
    common = ["--port", str(port), "--workspace", str(place)]
    start = [str(programs / "mindinsight"), "start", *common, "--summary-base-dir", str(written.parent.parent)]
    log = place / "start.log"
    with log.open("wb") as handle:
        subprocess.run(start, env=variables, stdout=handle, stderr=handle, check=False, timeout=120)
    server = _Server(f"http://127.0.0.1:{port}")
    try:
        _wait_for(server, log)
        yield server
    finally:
        _stop(port)


def _wait_for(server: _Server, log: Path) -> None:
    last = time.monotonic() + _START_SECONDS
    while time.monotonic() < last:
        try:
            server.get("devices?train_id=./job3&profile=profiler")
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.5)
        else:
            return
    pytest.fail(f"MindInsight did not start: {log.read_text()[-500:]}")


def _stop(port: int) -> None:
    """Ends the server's processes, which outlive the command that started them."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(word.endswith(b"gunicorn") for word in words) and any(str(port).encode() in word for word in words):
            os.kill(int(process.name), signal.SIGTERM)


def test_mindinsight_finds_the_device(mindinsight: _Server) -> None:
    assert mindinsight.get("devices?train_id=./job3&profile=profiler")["device_list"] == ["1"]


def test_mindinsight_answers_all_operators(mindinsight: _Server) -> None:
    query = "ops/search?train_id=./job3&profile=profiler"
    answer = mindinsight.post(query, {"op_type": "aicore_detail", "device_id": "1"})
    assert answer["size"] == len(answer["object"]) == 199
    rows = {row[0]: dict(zip(answer["col_name"], row, strict=True)) for row in answer["object"]}
    large = next(row for name, row in rows.items() if name.endswith("GatherV2-op55"))
    assert (large["kernel_type"], large["avg_execution_time"], large["execution_frequency"]) == (
        "GatherV2",
        42220.212,
        14,
    )
    assert large["op_info"]["input_0"]["shape"] == "184696,8"
    types = mindinsight.post(query, {"op_type": "aicore_type", "device_id": "1"})
    assert types["size"] == 29
    first = dict(zip(types["col_name"], types["object"][0], strict=True))
    assert (first["kernel_type"], first["execution_frequency"], first["total_time"]) == (
        "UnsortedSegmentSum",
        28,
        624509.57,
    )


def test_mindinsight_answers_the_step_trace(mindinsight: _Server) -> None:
    answer = mindinsight.get("training-trace/graph?dir=./job3&device_id=1&type=0")
    assert answer["size"] == 322
    assert answer["point_info"] == {"fp_start": "Default/Cast-op6", "bp_end": "Default/TransData-op7"}
    summary = answer["summary"]
    parts = ("total_time", "iteration_interval", "fp_and_bp", "tail")
    assert [summary[part] for part in parts] == [205.3809, 0.2038, 118.054, 87.1231]
    graph = answer["training_trace_graph"]
    assert len(graph) == 13
    assert graph[-1][1] == {"name": "stream_540_parallel_0", "start": 118.3705, "duration": 49.281}
    first = mindinsight.get("training-trace/graph?dir=./job3&device_id=1&type=1")
    assert first["training_trace_graph"][0][0]["duration"] == 284.2712
    tails = mindinsight.get("training-trace/target-time-info?dir=./job3&device_id=1&type=tail")
    assert len(tails["info"]["tail"]) == 322


def test_mindinsight_answers_the_timeline(mindinsight: _Server) -> None:
    assert mindinsight.get("timeline-summary?dir=./job3&device_id=1&device_type=ascend") == {
        "total_time": 1_771_382.85,
        "num_of_streams": 11,
        "num_of_ops": 199,
        "op_exe_times": 2_817,
        "max_scope_name_num": 0,
    }
    events = mindinsight.get("timeline?dir=./job3&device_id=1&device_type=ascend")
    assert sum(event["ph"] == "X" for event in events) == 6_359
