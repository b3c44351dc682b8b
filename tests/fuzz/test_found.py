"""What damaged recordings once led to, as small as it goes."""

from __future__ import annotations

import json
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.operators import operator_table
from laptime.analyses.pipeline import pipeline
from laptime.analyses.report import report
from laptime.cli.app import run as command_line
from laptime.exports.chrome import write_chrome
from laptime.importers.ascend_output_sqlite import Database
from laptime.importers.ascend_output_tables import read_table, rows_of_each
from laptime.importers.opening import open_run
from laptime.model.builder import Warnings
from laptime.model.trace import Run
from laptime.model.workspace import Workspace
from tests.importers.ascend_folders import recording_tables, write_database, write_output
from tests.importers.ascend_jobs import AICPU, FETCHES, GRAPH, job_files, write_job
from tests.importers.test_mindinsight import ascend_folder, written
from tests.importers.test_mindspore_cpu import _write as write_cpu
from tests.laws.report_checks import assert_consistent, assert_sound_pipeline


def opened(path: Path, workspace: Workspace, *events: str) -> Run:
    """The run of a recording that holds some events, as their JSON text."""
    path.write_text('{"schemaVersion":1,"traceEvents":[\n' + ",\n".join(events) + "]}")
    return open_run(path, workspace=workspace)


def test_a_step_whose_device_work_takes_no_time(tmp_path: Path, workspace: Workspace) -> None:
    run = opened(
        tmp_path / "trace.json",
        workspace,
        '{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":10}',
        '{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":2,"dur":0,"args":{"device":0,"stream":7}}',
    )
    result: dict[str, Any] = report(run)
    assert_consistent(result)
    (rank,) = result["ranks"]
    assert (rank["device_total"]["ops"], rank["device_total"]["busy_ns"]) == (1, 0)
    assert rank["steps"][0]["budget"]["idle_ns"] == 10_000


def test_an_infinite_size_among_the_input_shapes(tmp_path: Path, workspace: Workspace) -> None:
    """1e400 is a number of JSON, but no number that JSON can be written with."""
    run = opened(
        tmp_path / "trace.json",
        workspace,
        '{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":9,"args":{"Input Dims":[[1e400,2]]}}',
    )
    rows = operator_table(run.traces[0], by="shape", on="host").rows
    assert len(rows) == 1
    json.dumps(rows, allow_nan=False)


def test_sqlite_quotes_bytes_of_the_file_that_are_no_text(tmp_path: Path) -> None:
    """sqlite3 fails to decode its own message then, and raises that instead."""
    path = tmp_path / "ascend_pytorch_profiler_0.db"
    write_database(path, recording_tables())
    path.write_bytes(path.read_bytes().replace(b'CREATE TABLE "TASK"', b'CREATE TABL\xff "TASK"', 1))
    warnings = Warnings()
    assert Database(path, warnings).rows("STRING_IDS", "id", "value") == []
    (row,) = warnings.as_rows()
    message = str(row["message"])
    assert "STRING_IDS cannot be read (malformed database schema" in message
    assert "\n" not in message


def test_a_device_without_a_number(tmp_path: Path, workspace: Workspace) -> None:
    tables = recording_tables() | {"NPU_INFO": (("id", "name"), [(None, "Ascend"), ("x", "y"), (2, b"z"), (3, "w")])}
    folder = write_output(tmp_path / "x_ascend_pt", {})
    write_database(folder / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_3.db", tables)
    (trace,) = open_run(folder, workspace=workspace).traces
    assert trace.meta["device_names"] == {"3": "w"}
    write_chrome(trace, tmp_path / "exported.json")


@pytest.mark.parametrize("count", ["9" * 5000, "\N{SUPERSCRIPT TWO}", '"' + "9" * 200_000])
def test_counts_that_are_no_counts(tmp_path: Path, workspace: Workspace, count: str) -> None:
    folder = write_cpu(tmp_path / "profiler")
    columns = "op_type,type_occurrences,execution_frequency(per-step)"
    (folder / "cpu_op_type_info_0.csv").write_text(f"{columns}\nConv2D,3,{count}\n", encoding="utf-8")
    assert_consistent(report(open_run(folder, workspace=workspace)))


def test_a_size_with_two_signs(tmp_path: Path, workspace: Workspace) -> None:
    folder = write_cpu(tmp_path / "profiler")
    framework = folder / "cpu_framework_0.txt"
    framework.write_text(framework.read_text().replace("[2, 3]", "[2, --3]"))
    (trace,) = open_run(folder, workspace=workspace).traces
    assert trace.ops.objects("input_shapes")[0] == "[[2], null]"


def test_a_queue_fuller_than_full(tmp_path: Path, workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    """A bar as long as the queue would be does not fit into memory."""
    files = ascend_folder()
    files["pipeline_profiling_3.json"] = files["pipeline_profiling_3.json"].replace(
        "[1, 2]", "[1, 9223372036854775807]"
    )
    folder = written(tmp_path / "profiler", files)
    (trace,) = open_run(folder, workspace=workspace).traces
    assert_sound_pipeline(pipeline(trace))
    assert any("sizes that no queue" in row["message"] for row in warnings_of(trace.meta))
    with pytest.raises(SystemExit) as ended:
        command_line(["pipeline", str(folder), "--workspace", str(workspace.root)])
    assert not ended.value.code
    assert "Batch" in capsys.readouterr().out


def test_fetches_that_end_before_they_begin(tmp_path: Path, workspace: Workspace) -> None:
    files = {**ascend_folder(), "minddata_aicpu_3.txt": "GetNext_wait 90 40 1\nGetNext_wait 90 100 1\n"}
    job = {**job_files(), FETCHES: b"Node:GetNext, Run start:90, Run end:40, queue size:1\0" + job_files()[FETCHES]}
    for folder in (written(tmp_path / "profiler", files), write_job(tmp_path / "JOB1", job)):
        (trace,) = open_run(folder, workspace=workspace).traces
        bound: Any = pipeline(trace)["data_bound"]
        assert bound["batches"] == (1 if folder.name == "profiler" else 2)
        assert bound["first_wait_ns"] > 0


def test_a_header_that_runs_on_for_all_columns_of_many_rows(tmp_path: Path) -> None:
    """Lost line ends: rows are not filled up to the length of such a header."""
    path = tmp_path / "kernel_details.csv"
    path.write_text("Name," + "x," * 20_000 + "\n" + "MatMul,1\n" * 2000)
    tracemalloc.start()
    table = read_table(path, Warnings())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert table is not None
    assert table.texts("Name") == ["MatMul"] * 2000
    assert table.texts("x") == ["1"] * 2000
    assert peak < 50 << 20


def test_a_column_of_steps_in_which_every_row_is_another(tmp_path: Path) -> None:
    steps = [str(number) for number in range(30_000)]
    began = time.process_time()
    rows = rows_of_each([*steps, "7"])
    assert time.process_time() - began < 3
    assert rows["7"].tolist() == [7, 30_000]
    assert list(rows) == steps


def test_logs_without_line_ends(tmp_path: Path, workspace: Workspace) -> None:
    """Patterns with gaps try all ways to fill them."""
    files = job_files()
    files[AICPU] = files[AICPU].replace(b"\0", b" ").replace(b"totalTime", b"total") * 150
    files[FETCHES] = b"Node:" + b" " * 2000
    files[GRAPH] = b"a" * 60_000
    folder = write_job(tmp_path / "JOB1", files)
    began = time.process_time()
    assert_consistent(report(open_run(folder, workspace=workspace)))
    assert time.process_time() - began < 5


def warnings_of(meta: dict[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = meta["warnings"]
    return rows
