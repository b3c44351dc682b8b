"""Recordings of laptime's own recorder: from rows of the log to tables, and what damage does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.parts import Part
from laptime.analyses.pipeline import pipeline
from laptime.analyses.report import report
from laptime.importers import laptime_log
from laptime.importers.opening import open_run
from laptime.model.trace import Run, Trace
from laptime.model.workspace import Workspace
from tests.conftest import SAMPLES
from tests.importers.megengine_timelines import training_step
from tests.recorders.running import steps_of, trace_of, warnings_of

_AHEAD = 1_700_000_000_000_000_000
_FACTS = {"laptime": 1, "framework": "python", "rank": 2, "world_size": 4, "pid": 10, "main_thread": 10}
_ROWS = [
    [["begin", 1, 1000, _AHEAD]],
    [
        ["thread", 10, "MainThread", 10],
        ["thread", 11, "loader", 10],
        ["stack", 0, "a.py(3): f;a.py(9): <module>"],
        ["slice", 10, "data loader starts", "host_other", 1000, 1500, None],
        ["start_up", 1000, 1500],
        ["slice", 10, "forward", "scope", 1600, 1900, 0],
        ["slice", 11, "fetch", "data", 1100, 1400, None],
        ["counter", "resident memory", "bytes", 1700, 4096],
        ["step", 1, 1500, 2000, True, 1],
    ],
    [
        ["pipeline_op", 0, "Loader", "Loader", 2, None, "q"],
        ["queue", "q", "host", 2050, 3, 4],
        ["slice", 10, "next batch", "data", 2010, 2100],
        ["queue", "q", "host", 2150, 1, 4],
        ["step", 2, 2000, 2500, True, 1],
    ],
    [["end", 1, 2600, "whole"]],
]


def _write(folder: Path, rows: list[object] = _ROWS, *, name: str = "a", facts: dict[str, object] = _FACTS) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.laptime.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in (facts, *rows)))
    return path


def _slices(trace: Trace) -> list[tuple[object, ...]]:
    columns = ("name", "kind", "start_ns", "dur_ns", "track_id", "step")
    return sorted(zip(*(trace.slices.objects(name) for name in columns), strict=True), key=lambda row: (row[2], row[0]))


def test_rows_become_tables(tmp_path: Path, workspace: Workspace) -> None:
    _write(tmp_path / "out")
    trace = trace_of(tmp_path / "out", workspace)
    assert (trace.rank, trace.meta["world_size"], trace.meta["framework"]) == (2, 4, "python")
    assert trace.meta["events"] == {"read": 16, "kept": 16, "dropped": {}}
    assert trace.meta["origin_ns"] == _AHEAD + 1000
    main, loader = (trace.tracks.objects("name").index(name) for name in ("MainThread", "loader"))
    assert _slices(trace) == [
        ("data loader starts", "host_other", 0, 500, main, None),
        ("fetch", "data", 100, 300, loader, None),
        ("forward", "scope", 600, 300, main, 1),
        ("next batch", "data", 1010, 90, main, 2),
    ]
    steps = trace.table("steps").arrow().to_pylist()
    assert [(row["step"], row["start_ns"], row["end_ns"], row["window"], row["source"]) for row in steps] == [
        (1, 500, 1000, 1, "marked"),
        (2, 1000, 1500, 1, "marked"),
    ]
    assert [(row["forward_start_ns"], row["backward_end_ns"]) for row in steps] == [(600, None), (None, None)]
    assert trace.table("counters").arrow().to_pylist()[0]["value"] == 4096
    assert [(row["function"], row["line"]) for row in trace.table("stacks").arrow().to_pylist()] == [
        ("f", 3),
        ("<module>", 9),
    ]


def test_the_data_pipeline(tmp_path: Path, workspace: Workspace) -> None:
    _write(tmp_path / "out")
    trace = trace_of(tmp_path / "out", workspace)
    samples = trace.table("queue_samples").arrow().to_pylist()
    assert [(row["step"], row["ts_ns"], row["size"], row["capacity"]) for row in samples] == [
        (2, 1050, 3, 4),
        (2, 1150, 1, 4),
    ]
    result = pipeline(trace)
    (op,) = trace.table("pipeline_ops").arrow().to_pylist()
    assert (op["name"], op["workers"], op["queue_mean_size"], op["queue_usage_share"]) == ("Loader", 2, 2.0, 0.5)
    assert result is not None


def test_queues_that_minddata_looked_at_begin_at_its_first_look(tmp_path: Path, workspace: Workspace) -> None:
    """No clock places them among the steps, in a log that counts from the epoch neither."""
    _write(tmp_path / "out", [*_ROWS[:-1], [["file", 1, "a.window1.mindspore-data", "minddata"]], *_ROWS[-1:]])
    (tmp_path / "out" / "a.window1.mindspore-data").mkdir()
    queue = {"size": [1, 2, 4], "length": 4}
    tree = {"sampling_interval": 10, "op_info": [{"op_id": 7, "op_type": "Batch", "metrics": {"output_queue": queue}}]}
    (tmp_path / "out" / "a.window1.mindspore-data" / "pipeline_profiling_0.json").write_text(json.dumps(tree))
    trace = trace_of(tmp_path / "out", workspace)
    samples = trace.table("queue_samples").arrow().to_pylist()
    times = {row["queue"]: [each["ts_ns"] for each in samples if each["queue"] == row["queue"]] for row in samples}
    assert times == {"op 7": [0, 10_000_000, 20_000_000], "q": [1050, 1150]}
    ops = {row["op_id"]: row["queue"] for row in trace.table("pipeline_ops").arrow().to_pylist()}
    assert ops == {7: "op 7", 0: "q"}
    operators: Any = pipeline(trace, Part(steps=((2, 2),)))["operators"]
    known = {op["op_id"]: op["output_queue"]["mean_size"] for op in operators}
    assert known == {7: None, 0: 2.0}


def test_stages_that_took_no_time_are_not_slow(tmp_path: Path, workspace: Workspace) -> None:
    rows = [["pipeline_op", 0, "fetch", "Data", 1, None, "q"], ["slice", 11, "fetch", "data", 1100, 1100]]
    _write(tmp_path / "out", [_ROWS[0], [*rows, ["queue", "q", "host", 1600, 0, 4]], *_ROWS[-1:]])
    found = pipeline(trace_of(tmp_path / "out", workspace))
    assert (found["operators"][0]["total_ns"], found["bottleneck"]) == (0, None)  # type: ignore[index]  # JSON


@pytest.mark.parametrize(
    ("wait_ns", "words"),
    [(40, "training hardly waits for it"), (400, "training waits although they are ready")],
)
def test_waiting_beside_full_queues(wait_ns: int, words: str, tmp_path: Path, workspace: Workspace) -> None:
    rows = [
        ["pipeline_op", 0, "Loader", "Loader", 2, None, "q"],
        ["queue", "q", "process", 2050, 4, 4],
        ["slice", 10, "next batch", "data", 2010, 2010 + wait_ns],
        ["step", 1, 2000, 2500, True, 1],
    ]
    _write(tmp_path / "out", [_ROWS[0], rows, [["end", 1, 2600, "whole"]]])
    found = pipeline(trace_of(tmp_path / "out", workspace))["bottleneck"]
    assert isinstance(found, dict)
    assert f"; but only 0 of 1 batches found no data: {words}" in found["reason"]


def test_the_report_of_plain_python(tmp_path: Path, workspace: Workspace) -> None:
    """Scopes stand for operators where there are none; the start of a loader is no step's wait."""
    _write(tmp_path / "out")
    trace = trace_of(tmp_path / "out", workspace)
    (rank,) = report(Run("x", [trace]))["ranks"]
    first, second = (step["budget"] for step in rank["steps"])
    assert (first["basis"], first["total_ns"], first["compute_ns"], first["idle_data_wait_ns"]) == ("host", 500, 300, 0)
    assert (second["compute_ns"], second["idle_data_wait_ns"], second["idle_other_ns"]) == (0, 90, 410)
    assert [(row["name"], row["count"], row["total_ns"]) for row in rank["top_ops"]] == [("forward", 1, 300)]


# ---- windows ----


def _second_window(rows: list[object]) -> list[object]:
    """The same later, on a wall clock that has been set meanwhile."""
    again = json.loads(json.dumps(rows))
    for row in (row for line in again for row in line):
        places = {"begin": [2], "end": [2], "step": [2, 3], "slice": [4, 5], "start_up": [1, 2], "counter": [3]}
        for place in places.get(row[0], [3] if row[0] == "queue" else []):
            row[place] += 10_000
        if row[0] in ("begin", "end"):
            row[1] = 2
        if row[0] == "step":
            row[1], row[5] = row[1] + 2, 2
        if row[0] == "begin":
            row[3] += 500
    return again


def test_windows_are_one_trace_on_the_wall_clock(tmp_path: Path, workspace: Workspace) -> None:
    _write(tmp_path / "out", [*_ROWS, *_second_window(_ROWS)])
    trace = trace_of(tmp_path / "out", workspace)
    steps = trace.table("steps").arrow().to_pylist()
    assert [(row["step"], row["window"], row["start_ns"]) for row in steps] == [
        (1, 1, 500),
        (2, 1, 1000),
        (3, 2, 11_000),
        (4, 2, 11_500),
    ]
    assert [row[2] for row in _slices(trace) if row[0] == "forward"] == [600, 11_100]


def test_windows_without_steps_are_steps(tmp_path: Path, workspace: Workspace) -> None:
    rows = [[row for row in line if row[0] != "step"] for line in [*_ROWS, *_second_window(_ROWS)]]
    _write(tmp_path / "out", rows)
    assert steps_of(trace_of(tmp_path / "out", workspace)) == [(1, True), (2, True)]


def test_a_window_that_did_not_open_is_no_step(tmp_path: Path, workspace: Workspace) -> None:
    rows = [[row for row in line if row[0] != "step"] for line in _second_window(_ROWS)]
    _write(tmp_path / "out", [[["begin", 1, 1000, _AHEAD], ["end", 1, 1100, "failed"]], *rows])
    assert steps_of(trace_of(tmp_path / "out", workspace)) == []


def _block(number: int, *rows: object, state: str = "whole") -> list[object]:
    """A window of one block, which takes 500 ns from 300 ns after the window's beginning on."""
    start = 10_000 * number
    return [[["begin", number, start, _AHEAD]], [*rows, ["end", number, start + 900, state]]]


def test_a_window_without_steps_is_as_long_as_its_block(tmp_path: Path, workspace: Workspace) -> None:
    """The start of the framework's profiler is no part of it; a block that an exception ended hides no other."""
    blocks = [["block", number, 10_000 * number + 300, 10_000 * number + 800, number] for number in (1, 2)]
    cut = ["step", 3, 30_300, 30_400, False, 3]
    _write(tmp_path / "out", [*_block(1, blocks[0]), *_block(2, blocks[1]), *_block(3, cut, state="cut")])
    steps = trace_of(tmp_path / "out", workspace).table("steps").arrow().to_pylist()
    assert [(row["step"], row["window"], row["end_ns"] - row["start_ns"], row["complete"]) for row in steps] == [
        (1, 1, 500, True),
        (2, 2, 500, True),
        (3, 3, 100, False),
    ]


def test_a_file_of_the_framework_beside_the_log(tmp_path: Path, workspace: Workspace) -> None:
    """Its slices and those of the log are on one thread."""
    rows = [*_ROWS[:-1], [["file", 1, "a.window1.json", "megengine"]], *_ROWS[-1:]]
    _write(tmp_path / "out", rows, facts={**_FACTS, "framework": "megengine"})
    (tmp_path / "out" / "a.window1.json").write_text(training_step().text())
    trace = trace_of(tmp_path / "out", workspace)
    kinds = trace.slices.objects("kind")
    assert kinds.count("op") > 0
    assert "forward" in trace.slices.objects("name")
    assert warnings_of(trace).keys() <= {"other", "untimed", "unknown_events"}


@pytest.mark.parametrize(
    ("name", "importer", "content", "text"),
    [
        ("a.window1.json", "megengine", None, "a.window1.json, which the log names, is not there; left out"),
        ("a.window1.xplane.pb", "xplane", "no protobuf", "a.window1.xplane.pb: "),
        ("a.window1.x", "of the future", "{}", "a.window1.x: of a format that laptime does not read; left out"),
    ],
)
def test_files_of_windows_that_cannot_be_read(
    name: str, importer: str, content: str | None, text: str, tmp_path: Path, workspace: Workspace
) -> None:
    _write(tmp_path / "out", [*_ROWS[:-1], [["file", 1, name, importer]], *_ROWS[-1:]])
    if content is not None:
        (tmp_path / "out" / name).write_text(content)
    trace = trace_of(tmp_path / "out", workspace)
    assert warnings_of(trace)["other"].startswith(text)
    assert steps_of(trace) == [(1, True), (2, True)]


def test_files_elsewhere_are_not_read(tmp_path: Path, workspace: Workspace) -> None:
    """Not by a path in the log, nor by a link; where the log is a link too, its files lie beside what it leads to."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "secret.json").write_text(training_step().text())
    names = ["../elsewhere/secret.json", str(elsewhere / "secret.json"), "a.window1.json", "a.window1.folder"]
    files = [["file", 1, name, "megengine"] for name in names]
    path = _write(tmp_path / "out", [*_ROWS[:-1], files, *_ROWS[-1:]])
    (tmp_path / "out" / "a.window1.json").symlink_to(elsewhere / "secret.json")
    (tmp_path / "out" / "a.window1.folder").symlink_to(elsewhere)
    (trace,) = open_run(path, workspace=workspace).traces
    assert len(_slices(trace)) == 4
    assert [w["message"] for w in trace.meta["warnings"]] == [
        f"{name}, which the log names, is not there; left out" for name in sorted(names)
    ]
    (tmp_path / "out" / "a.window1.json").unlink()
    (tmp_path / "out" / "a.window1.json").write_text(training_step().text())
    (tmp_path / "linked").mkdir()
    for name in (path.name, "a.window1.json"):
        (tmp_path / "linked" / name).symlink_to(tmp_path / "out" / name)
    (trace,) = open_run(tmp_path / "linked", workspace=workspace).traces
    assert len(_slices(trace)) > 4


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path, workspace: Workspace) -> None:
    file = ["file", 1, "a.window1.json", "megengine"]
    counts = []
    for number, again in enumerate(
        [[], [["begin", 2, 2700, _AHEAD], ["file", 2, *file[2:]], ["end", 2, 2800, "whole"]]]
    ):
        folder = tmp_path / f"{number}"
        _write(folder, [*_ROWS[:-1], [file], *_ROWS[-1:], again])
        (folder / "a.window1.json").write_text(training_step().text())
        counts.append(len(_slices(trace_of(folder, workspace))))
    assert counts[0] == counts[1] > 4


@pytest.mark.parametrize(
    "text",
    [
        '{"baseTimeNanoseconds":4611686018427387904,"traceEvents":[{"ph":"X","name":"f","ts":1,"dur":1,"tid":1}]}',
        '{"traceEvents":[{"ph":"X","name":"f","ts":-4e15,"dur":1},{"ph":"X","name":"g","ts":4e15,"dur":1}]}',
    ],
)
def test_times_that_do_not_fit_the_wall_clock(text: str, tmp_path: Path, workspace: Workspace) -> None:
    _write(tmp_path / "out", [*_ROWS[:-1], [["file", 1, "a.window1.json", "chrome_trace"]], *_ROWS[-1:]])
    (tmp_path / "out" / "a.window1.json").write_text(text)
    trace = trace_of(tmp_path / "out", workspace)
    assert warnings_of(trace) == {"other": "a.window1.json: times that cannot be; left out"}
    assert (len(_slices(trace)), steps_of(trace)) == (4, [(1, True), (2, True)])


# ---- damage ----


def test_a_killed_run(tmp_path: Path, workspace: Workspace) -> None:
    _write(tmp_path / "out", _ROWS[:-1])
    trace = trace_of(tmp_path / "out", workspace)
    assert steps_of(trace) == [(1, True), (2, True)]
    assert warnings_of(trace) == {"truncated": "windows that were not ended: training was killed, or still runs"}


def test_a_torn_last_line(tmp_path: Path, workspace: Workspace) -> None:
    path = _write(tmp_path / "out", _ROWS[:-1])
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    trace = trace_of(tmp_path / "out", workspace)
    assert steps_of(trace) == [(1, True)]
    cut = whole.rindex(b"\n", 0, -1) + 1
    messages = [warning["message"] for warning in trace.meta["warnings"]]
    assert f"the log is cut at byte {cut:,}; what comes before is kept" in messages


def test_a_log_that_is_still_being_written(tmp_path: Path, workspace: Workspace) -> None:
    """Opened again when there is more, it shows more."""
    path = _write(tmp_path / "out", _ROWS[:2])
    assert steps_of(trace_of(tmp_path / "out", workspace)) == [(1, True)]
    with path.open("a") as file:
        file.writelines(f"{json.dumps(line)}\n" for line in _ROWS[2:])
    trace = trace_of(tmp_path / "out", workspace)
    assert steps_of(trace) == [(1, True), (2, True)]
    assert trace.meta["warnings"] == []


@pytest.mark.parametrize(
    "row",
    [
        ["slice", 10, "s", "scope", 2000],
        ["slice", 10, "s", "scope", "now", 3000],
        ["slice", 10, "s", "scope", -5, 3000],
        ["slice", 10, "s", "scope", 1, 1 << 63],
        ["queue", "q", "host", 2050, 1 << 60, 4],
        ["pipeline_op", 1 << 40, "Loader", "Loader"],
        ["step", "three", 1, 2, True, 1],
        ["of the future", 1],
        [],
        "text",
        None,
        {"a": 1},
    ],
)
def test_a_row_that_is_none_costs_itself_alone(row: object, tmp_path: Path, workspace: Workspace) -> None:
    lines = [list(line) for line in _ROWS]
    lines[1].insert(3, row)
    _write(tmp_path / "out", lines)
    trace = trace_of(tmp_path / "out", workspace)
    assert trace.meta["events"] == {"read": 17, "kept": 16, "dropped": {"invalid_json": 1}}
    assert warnings_of(trace) == {"invalid_json": "rows of the log that are none; dropped"}
    assert len(_slices(trace)) == 4


@pytest.mark.parametrize("slice_", [["slice", 10, "s", "scope", 20, 10], ["slice", 10, "s", "no kind", 10, 20]])
def test_impossible_slices(slice_: list[object], tmp_path: Path, workspace: Workspace) -> None:
    _write(tmp_path / "out", [*_ROWS[:-1], [slice_], *_ROWS[-1:]])
    trace = trace_of(tmp_path / "out", workspace)
    assert trace.meta["events"]["dropped"] == {"invalid_json": 1}
    assert len(_slices(trace)) == 4


@pytest.mark.parametrize("line", ["{}", '[["fact","deep",{}]]'])
def test_a_line_that_is_too_deep(line: str, tmp_path: Path, workspace: Workspace) -> None:
    path = _write(tmp_path / "out")
    path.write_text(path.read_text() + line.format("[" * 100_000 + "]" * 100_000) + "\n")
    trace = trace_of(tmp_path / "out", workspace)
    assert trace.meta["events"] == {"read": 17, "kept": 16, "dropped": {"invalid_json": 1}}


def test_a_line_without_end(tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laptime_log, "_BLOCK_BYTES", 1 << 10)
    monkeypatch.setattr(laptime_log, "_LONGEST_LINE", 1 << 12)
    _write(tmp_path / "out", [*_ROWS[:2], ["x" * 20_000], *_ROWS[2:]])
    trace = trace_of(tmp_path / "out", workspace)
    assert steps_of(trace) == [(1, True)]
    assert any("the log is cut at byte" in warning["message"] for warning in trace.meta["warnings"])


@pytest.mark.parametrize("rank", [-1, 1 << 40, True, "0"])
def test_ranks_that_cannot_be(rank: object, tmp_path: Path, workspace: Workspace) -> None:
    _write(tmp_path / "out", facts={**_FACTS, "rank": rank})
    assert trace_of(tmp_path / "out", workspace).rank is None


def test_facts_that_cannot_be_read(tmp_path: Path, workspace: Workspace) -> None:
    path = _write(tmp_path / "out")
    path.write_bytes(b'{"laptime":1,"rank":\n' + path.read_bytes().split(b"\n", 1)[1])
    trace = trace_of(tmp_path / "out", workspace)
    assert trace.rank is None
    assert steps_of(trace) == [(1, True), (2, True)]


def test_a_log_without_windows(tmp_path: Path, workspace: Workspace) -> None:
    _write(tmp_path / "out", [])
    trace = trace_of(tmp_path / "out", workspace)
    assert trace.slices.row_count == 0
    assert warnings_of(trace)["other"].startswith("the recorder began no window")


# ---- folders ----


def test_ranks_of_a_folder_are_one_run(tmp_path: Path, workspace: Workspace) -> None:
    for rank in (1, 0):
        _write(tmp_path / "out", name=f"rank{rank}-x", facts={**_FACTS, "rank": rank})
    run = open_run(tmp_path / "out", workspace=workspace)
    assert [trace.rank for trace in run.traces] == [0, 1]


def test_the_log_alone_names_the_recording(tmp_path: Path, workspace: Workspace) -> None:
    rows = [*_ROWS[:-1], [["file", 1, "a.window1.json", "megengine"]], *_ROWS[-1:]]
    path = _write(tmp_path / "out", rows)
    (tmp_path / "out" / "a.window1.json").write_text(training_step().text())
    by_file, by_folder = (open_run(place, workspace=workspace) for place in (path, tmp_path / "out"))
    assert len(by_file.traces) == len(by_folder.traces) == 1
    assert by_file.traces[0].slices.row_count == by_folder.traces[0].slices.row_count > 4


def test_the_sample(workspace: Workspace) -> None:
    """What record.py beside it did: two windows of three steps, each with five scopes of the main thread."""
    (trace,) = open_run(SAMPLES / "laptime" / "plain.laptime.jsonl", workspace=workspace).traces
    assert steps_of(trace) == [(number, True) for number in (3, 4, 5, 7, 8, 9)]
    names = trace.slices.objects("name")
    for name in ("forward", "embed", "attend", "backward", "optimizer", "next batch"):
        assert names.count(name) == 6, name
    assert trace.table("queue_samples").row_count == 6
    assert len(trace.table("pipeline_ops").arrow()) == 1
    lines = {row["function"]: row["line"] for row in trace.table("stacks").arrow().to_pylist()}
    assert {"forward", "backward", "train", "main", "_fill"} <= lines.keys()
