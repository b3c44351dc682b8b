"""MegEngine timelines written by hand: what belongs to what, and what is left of damaged ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.operators import operator_table
from laptime.analyses.report import report
from laptime.analyses.step_trace import step_trace
from laptime.importers.opening import open_run
from laptime.model.trace import Run
from laptime.model.workspace import Workspace
from tests.importers import megengine_timelines as timelines
from tests.importers.megengine_timelines import COMM, GPU, INTERPRETER, WORKER, Timeline


def opened(line: Timeline, tmp_path: Path, workspace: Workspace, *, with_names: bool = True) -> Run:
    path = line.write(tmp_path / "77.chrome_timeline.json", with_names=with_names)
    return open_run(path, workspace=workspace)


def rows(run: Run, query: str) -> list[dict[str, Any]]:
    return list(run.sql(query).to_pylist())


@pytest.fixture
def step(tmp_path: Path, workspace: Workspace) -> Run:
    return opened(timelines.training_step(), tmp_path, workspace)


FLOWS = (
    "SELECT f.kind, a.name AS a, ta.name AS at, b.name AS b, tb.name AS bt FROM flows f "
    "JOIN slices a ON a.slice_id = f.from_id JOIN slices b ON b.slice_id = f.to_id "
    "JOIN tracks ta ON ta.track_id = a.track_id JOIN tracks tb ON tb.track_id = b.track_id ORDER BY ALL"
)


def test_links(step: Run) -> None:
    found = [tuple(row.values()) for row in rows(step, FLOWS)]
    assert [row for row in found if row[0] == "async"] == [
        ("async", name, "interpreter", name, "worker") for name in ("MatrixMul", "MatrixMul", "SUB")
    ]
    assert [row for row in found if row[0] == "launch"] == [
        ("launch", name, "worker", name, "gpu0:0") for name in ("MatrixMul", "MatrixMul", "SUB")
    ]
    assert [row for row in found if row[0] == "data"] == [
        ("data", "MatrixMul", "worker", "MatrixMul", "worker"),
        ("data", "MatrixMul", "worker", "SUB", "worker"),
        ("data", "MatrixMul", "worker", "TensorWaitProp", "interpreter"),
    ]
    assert [row for row in found if row[0] == "forward_backward"] == [
        ("forward_backward", "MatrixMul", "worker", "MatrixMul", "worker")
    ]


def test_kinds_phases_and_steps(step: Run) -> None:
    query = "SELECT t.name AS track, s.name, s.kind, s.phase, s.step FROM slices s JOIN tracks t USING (track_id) "
    found = [tuple(row.values()) for row in rows(step, query + "ORDER BY slice_id")]
    assert ("interpreter", "step0", "step", None, 0) in found
    assert ("interpreter", "fetch", "data", None, 0) in found
    assert ("worker", "fetch", "scope", None, 0) in found
    assert ("interpreter", "MatrixMul", "launch", "forward", 0) in found
    assert ("interpreter", "ADD", "op", "forward", 0) in found  # computed by the host, not lost
    assert ("interpreter", "SUB", "launch", "optimizer", 0) in found
    assert [row for row in found if row[0] == "gpu0:0"] == [
        ("gpu0:0", "MatrixMul", "kernel", "forward", 0),
        ("gpu0:0", "MatrixMul", "kernel", "backward", 0),
        ("gpu0:0", "SUB", "kernel", "optimizer", 0),
    ]
    assert ("interpreter", "TensorWaitProp", "sync", None, 0) in found


def test_the_step_and_its_idle_time(step: Run) -> None:
    trace = step_trace(step.traces[0])
    assert (trace.forward_start_op, trace.backward_end_op) == ("MatrixMul", "MatrixMul")
    (only,) = trace.steps
    assert (only["forward_backward_ns"], only["tail_ns"]) == (35_000, 20_000)
    (rank,) = report(step)["ranks"]  # type: ignore[misc]  # JSON
    budget: Any = rank["steps"][0]["budget"]
    assert (budget["total_ns"], budget["compute_ns"]) == (100_000, 24_000)
    # 0-50 before MatrixMul, dispatched at 45 and executed at 46: fetch until 40, then the host
    assert budget["idle_data_wait_ns"] == 40_000
    # 10 of these; 60-66 before the backward MatrixMul, dispatched at 63; 76-88 before SUB, executed at 86
    assert budget["idle_launch_ns"] == 10_000 + 6_000 + 12_000
    assert budget["idle_other_ns"] == 8_000  # nothing runs after 92


def test_operators_with_shapes_types_and_lent_call_stacks(step: Run) -> None:
    found = rows(step, "SELECT name, op_type, module, device_kind, input_shapes, output_shapes FROM ops ORDER BY op_id")
    assert {
        "name": "MatrixMul",
        "op_type": "MatrixMul",
        "module": "fc",
        "device_kind": "device",
        "input_shapes": "[[10, 4], [11, 4]]",
        "output_shapes": "[[12, 4]]",
    } in found
    assert {row["op_type"] for row in found if row["name"] in ("ADD", "SUB")} == {"Elemwise"}
    stacks = rows(
        step,
        "SELECT s.name, s.phase, k.file, k.line, k.function FROM slices s JOIN stacks k USING (stack_id) "
        "WHERE s.kind = 'kernel' AND k.depth = 0 ORDER BY s.start_ns",
    )
    assert [(row["phase"], row["file"], row["line"], row["function"]) for row in stacks] == [
        ("forward", "/model.py", 3, "forward"),
        ("backward", "/model.py", 3, "forward"),
    ]


def test_host_and_device_time_of_operators(step: Run) -> None:
    table: Any = operator_table(step.traces[0], by="name", on="device").rows
    assert {row["name"]: (row["count"], row["total_ns"]) for row in table} == {
        "MatrixMul": (2, 20_000),
        "SUB": (1, 4_000),
    }
    table = operator_table(step.traces[0], by="name", on="host").rows
    assert {row["name"]: (row["count"], row["total_ns"]) for row in table} == {
        "MatrixMul": (2, 6_000),
        "SUB": (1, 1_000),
        "ADD": (1, 0),
    }


def test_waits_name_what_makes_their_tensor(step: Run) -> None:
    (rank,) = report(step)["ranks"]  # type: ignore[misc]  # JSON
    assert rank["top_syncs"] == [
        {"name": "TensorWaitProp", "op": "MatrixMul", "source": "/model.py:3", "count": 1, "total_ns": 9_000}
    ]


def test_steps_by_profiler_step(tmp_path: Path, workspace: Workspace) -> None:
    line = Timeline()
    for number in range(3):
        start = 100.0 * number
        line.op(number, "ADD", start + 1, (start + 2, start + 3), runs=[(GPU, start + 4, start + 50)])
        line.step_end(start + 90)
    run = opened(line, tmp_path, workspace)
    found = rows(run, "SELECT step, start_ns, end_ns, complete FROM steps ORDER BY start_ns")
    assert [tuple(row.values()) for row in found] == [
        (1, 0, 89_000, True),
        (2, 89_000, 189_000, True),
        (3, 189_000, 289_000, True),
    ]


def test_a_copy_between_devices_counts_once(tmp_path: Path, workspace: Workspace) -> None:
    line = Timeline()
    line.names[COMM] = "gpu1:0"
    line.op(1, "Copy", 0, (1, 2), runs=[(GPU, 10, 30), (COMM, 28, 30)])
    run = opened(line, tmp_path, workspace)
    kernels = rows(run, "SELECT t.device, s.kind FROM slices s JOIN tracks t USING (track_id) WHERE t.kind = 'stream'")
    assert [tuple(row.values()) for row in kernels] == [(0, "kernel"), (1, "device_other")]
    table: Any = operator_table(run.traces[0], by="name", on="device").rows
    assert [(row["name"], row["count"], row["total_ns"]) for row in table] == [("Copy", 1, 20_000)]


def test_a_scope_that_never_ended_holds_its_operators(tmp_path: Path, workspace: Workspace) -> None:
    """A crash inside the second operator: both lie in the module whose scope is open."""
    line = Timeline()
    for tid in (INTERPRETER, WORKER):
        line.begin(tid, "fc", 1)
    line.op(1, "MatrixMul", 2, (3, 5), runs=[(GPU, 5, 9)], takes=(10,), makes=(11,))
    line.op(2, "RELU", 6, (7, 8), runs=[(GPU, 9, 10)], takes=(11,), makes=(12,))
    run = opened(line, tmp_path, workspace)
    modules = rows(run, "SELECT o.name, o.module FROM ops o ORDER BY o.name")
    assert modules == [{"name": "MatrixMul", "module": "fc"}, {"name": "RELU", "module": "fc"}]


@pytest.mark.parametrize("early_ns", [1, 2])
def test_an_end_that_was_rounded_to_before_its_begin(early_ns: int, tmp_path: Path, workspace: Workspace) -> None:
    """Times are written as thousandths of a microsecond, each rounded by itself; what is further off is no rounding."""
    line = Timeline()
    line.begin(WORKER, "fc", 1)
    line.op(1, "RELU", 2, (3, 4), runs=[(GPU, 5, 9)], takes=(10,), makes=(11,))
    line.span(WORKER, "HostToDevice", 4.622, 4.622 - early_ns / 1000)
    line.end(WORKER, "fc", 8)
    run = opened(line, tmp_path, workspace)
    found = rows(run, "SELECT name, start_ns, dur_ns FROM slices WHERE name IN ('fc', 'HostToDevice') ORDER BY ALL")
    warned = "unbalanced" in {warning["code"] for warning in run.traces[0].meta["warnings"]}
    assert warned == (early_ns > 1)
    if not warned:
        assert [(row["name"], row["dur_ns"]) for row in found] == [("HostToDevice", 0), ("fc", 7000)]


@pytest.mark.parametrize("early_ns", [1, 2])
def test_a_begin_that_was_rounded_to_before_the_end_it_follows(
    early_ns: int, tmp_path: Path, workspace: Workspace
) -> None:
    line = Timeline()
    line.op(1, "RELU", 2, (3, 4), runs=[(GPU, 5, 9)], takes=(10,), makes=(11,))
    line.span(WORKER, "Sync", 5, 5.806)
    line.span(WORKER, "HostToDevice", 5.806 - early_ns / 1000, 7)
    run = opened(line, tmp_path, workspace)
    found = rows(run, "SELECT name, start_ns, dur_ns FROM slices WHERE name IN ('Sync', 'HostToDevice') ORDER BY ALL")
    warned = "unbalanced" in {warning["code"] for warning in run.traces[0].meta["warnings"]}
    assert warned == (early_ns > 1)
    if not warned:
        (copy, sync) = found
        assert (copy["dur_ns"], sync["dur_ns"]) == (1194, 806)
        assert sync["start_ns"] + sync["dur_ns"] == copy["start_ns"]


def test_a_recomputed_operator_has_all_its_executions(tmp_path: Path, workspace: Workspace) -> None:
    """Each device span belongs to the execution of its turn."""
    line = Timeline()
    line.op(1, "EXP", 0, (1, 2), runs=[(GPU, 3, 5)], makes=(9,))
    args = {"__id__": 1, "__name__": "EXP"}
    line.begin(WORKER, "ReGen 9", 10)
    line.begin(WORKER, "EXP", 10)
    line.span(WORKER, "Output 9", 10, 10, timelines.tensor_args(9))
    line.end(WORKER, "EXP", 12, args)
    line.end(WORKER, "ReGen 9", 13, timelines.tensor_args(9))
    line.span(GPU, "EXP", 13, 16, args, cat="Kernel")
    run = opened(line, tmp_path, workspace)
    starts = rows(
        run,
        "SELECT a.start_ns AS executed, b.start_ns AS ran FROM flows f JOIN slices a ON a.slice_id = f.from_id "
        "JOIN slices b ON b.slice_id = f.to_id WHERE f.kind = 'launch' ORDER BY ran",
    )
    assert [tuple(row.values()) for row in starts] == [(1_000, 3_000), (10_000, 13_000)]
    assert rows(run, "SELECT count(*) AS n FROM flows WHERE kind = 'async'")[0]["n"] == 2


def test_a_file_without_its_end_is_told_by_what_its_threads_hold(tmp_path: Path, workspace: Workspace) -> None:
    line = timelines.training_step()
    line.begin(INTERPRETER, "fc", 101)
    run = opened(line, tmp_path, workspace, with_names=False)
    kinds = {row["kind"]: row["n"] for row in rows(run, "SELECT kind, count(*) AS n FROM slices GROUP BY kind")}
    assert (kinds["kernel"], kinds["launch"], kinds["sync"]) == (3, 3, 1)
    warnings: Any = report(run)["warnings"]
    assert [(w["code"], w["count"]) for w in warnings if w["code"] == "unbalanced"] == [("unbalanced", 1)]


def test_stored_ratios_are_checked(tmp_path: Path, workspace: Workspace) -> None:
    line = timelines.training_step()
    line.counter("gpu_usgae_ratio", 0, 10.0)
    line.counter("train_time_ratio", 0, -2.3e12)
    messages = [w["message"] for w in report(opened(line, tmp_path, workspace))["warnings"]]  # type: ignore[attr-defined]  # JSON
    assert any("busy 10.00 % (gpu_usgae_ratio); its operators take 57.14 %" in message for message in messages)
    assert any("-2.3e+12 % (train_time_ratio)" in message for message in messages)


def test_without_device_spans_no_budget_is_known(tmp_path: Path, workspace: Workspace) -> None:
    """profile_device=False: the device worked, but nobody saw it."""
    line = Timeline()
    line.begin(INTERPRETER, "step0", 0)
    line.op(1, "ADD", 1, (2, 3), runs=[])
    line.span(GPU, "HostToDevice", 4, 5, timelines.tensor_args(3))
    line.end(INTERPRETER, "step0", 10)
    result: Any = report(opened(line, tmp_path, workspace))
    (rank,) = result["ranks"]
    assert [step["budget"] for step in rank["steps"]] == [None]
    assert (rank["device_total"]["ops"], rank["device_total"]["compute_ns"]) == (1, None)
    assert result["not_recorded"][0]["what"] == "device kernels"


def test_what_was_not_recorded(tmp_path: Path, workspace: Workspace) -> None:
    line = Timeline()
    line.op(1, "ADD", 0, (1, 2), runs=[])
    line.counter("nr_op_pending", 0, 1.0)
    line.span(GPU, "HostToDevice", 1, 2)
    line.events = [event for event in line.events if event["tid"] != GPU]
    missing: Any = report(opened(line, tmp_path, workspace))["not_recorded"]
    assert [row["what"] for row in missing] == ["device kernels", "step markers", "call stacks", "memory"]
    assert any("memory_flow.svg" in row["how_to_record"] for row in missing)


def test_ranks_of_a_folder_lie_on_one_clock(tmp_path: Path, workspace: Workspace) -> None:
    early, late = timelines.training_step(), timelines.training_step()
    early.write(tmp_path / "1.chrome_timeline.json")
    path = late.write(tmp_path / "2.chrome_timeline.json")
    path.write_text(path.read_text().replace(str(timelines.LOCAL_TIME), str(timelines.LOCAL_TIME + 5_000)))
    ranks: Any = report(open_run(tmp_path, workspace=workspace))["ranks"]
    assert [rank["offset_ns"] for rank in ranks] == [0, 5_000]


def listed(events: list[dict[str, Any]], tmp_path: Path, workspace: Workspace) -> Run:
    """A file of MegEngine before 1.6: a list."""
    path = tmp_path / "profile.chrome_timeline.json"
    path.write_text(json.dumps([{"pid": 77, **event} for event in events], indent=4))
    return open_run(path, workspace=workspace)


def test_megengine_1_5_lists_tensors_in_arguments(tmp_path: Path, workspace: Workspace) -> None:
    """Operators, at their begin: number, name, tensors taken and made. Threads are called channel and worker."""

    def op(
        tid: int, name: str, number: int, times: tuple[float, float], tensors: tuple[str, str]
    ) -> list[dict[str, Any]]:
        args = {"op.mode": "x", "name": name, "id": number, "inputs": tensors[0], "outputs": tensors[1]}
        return [
            {"name": name, "ph": "B", "tid": tid, "ts": times[0], "args": args},
            {"name": name, "ph": "E", "tid": tid, "ts": times[1]},
        ]

    wait = {"id": 12, "prop": "2", "prop_desc": "HostValue"}
    names = {0: "channel", 1: "worker", 2: 'CompNode("gpu0:0" from "gpux:0")'}
    run = listed(
        [
            {"name": "CommandEnqueue", "ph": "X", "tid": 0, "ts": 1, "dur": 0, "args": {"__type__": "ApplyOp"}},
            {"name": "CommandExecute", "ph": "B", "tid": 1, "ts": 2, "args": {"__type__": "ApplyOp"}},
            *op(1, "MatrixMul", 5, (3, 6), ("{10, 11}", "{12}")),
            {"name": "CommandExecute", "ph": "E", "tid": 1, "ts": 7},
            {"name": "TensorLifetime", "ph": "N", "id": 12, "tid": 0, "ts": 1},
            *op(2, "MatrixMul", 5, (8, 20), ("{10, 11}", "{12}")),
            *op(1, "Elemwise", 6, (9, 10), ("{12}", "{13}")),
            *op(2, "Elemwise", 6, (21, 25), ("{12}", "{13}")),
            {"name": "TensorWaitProp", "ph": "B", "tid": 0, "ts": 11, "args": wait},
            {"name": "TensorWaitProp", "ph": "E", "tid": 0, "ts": 22, "args": wait},
            *({"name": "thread_name", "ph": "M", "tid": tid, "ts": 0, "args": {"name": n}} for tid, n in names.items()),
        ],
        tmp_path,
        workspace,
    )
    found = [tuple(row.values()) for row in rows(run, FLOWS)]
    assert [row for row in found if row[0] == "launch"] == [
        ("launch", "Elemwise", "worker", "Elemwise", "gpu0:0"),
        ("launch", "MatrixMul", "worker", "MatrixMul", "gpu0:0"),
    ]
    assert [row for row in found if row[0] == "data"] == [
        ("data", "MatrixMul", "worker", "Elemwise", "worker"),
        ("data", "MatrixMul", "worker", "TensorWaitProp", "channel"),
    ]
    (rank,) = report(run)["ranks"]  # type: ignore[misc]  # JSON
    assert (rank["format"], rank["host"]["syncs"], rank["device_total"]["compute_ns"]) == ("megengine", 1, 16_000)


@pytest.mark.parametrize(("unit", "warned"), [(1.0, False), (0.001, True)], ids=["us", "ms"])
def test_megengine_1_0_has_one_host_thread(unit: float, warned: bool, tmp_path: Path, workspace: Workspace) -> None:
    """Arguments at both ends, threads with names for numbers; times in us, or in ms by mistake."""
    events = []
    for number, (name, host, device) in enumerate(
        [("MatrixMul", (10, 30), (40, 90)), ("Elemwise", (30, 45), (90, 95))]
    ):
        args = {"__id__": f"[{number}]", "strategy": 1}
        for tid, (start, end) in (("host", host), ("gpu0:0", device)):
            events += [{"name": name, "ph": "B", "tid": tid, "ts": start * unit, "args": args}]
            events += [{"name": name, "ph": "E", "tid": tid, "ts": end * unit, "args": args}]
    run = listed(events, tmp_path, workspace)
    found = rows(run, "SELECT t.name AS track, s.name, s.kind, s.dur_ns FROM slices s JOIN tracks t USING (track_id)")
    assert [tuple(row.values()) for row in found] == [
        ("host", "MatrixMul", "op", 20_000),
        ("host", "Elemwise", "op", 15_000),
        ("gpu0:0", "MatrixMul", "kernel", 50_000),
        ("gpu0:0", "Elemwise", "kernel", 5_000),
    ]
    assert rows(run, "SELECT count(*) AS n FROM flows WHERE kind = 'launch'")[0]["n"] == 2
    messages = [w["message"] for w in report(run)["warnings"]]  # type: ignore[attr-defined]  # JSON
    assert any("milliseconds" in message for message in messages) == warned


RECT = (
    '<rect tag:type="tensor" tag:name="{name}" tag:address="0x10" tag:size="1KB" tag:layout="{{4(1)}} Float32" '
    'tag:produced="{start}us" tag:erased="{end}us" tag:duration="1us"{group}/>\n'
)


def test_a_drawing_of_memory_beside_the_timeline_is_part_of_it(tmp_path: Path, workspace: Workspace) -> None:
    """Tensors belong to the execution that made them: group is the number of its operator."""
    timelines.training_step().write(tmp_path / "77.chrome_timeline.json")
    tensors = (("fc.MatrixMul:0", 46, 90, ' tag:group="1"'), ("weight", 0, 99, ""))
    rects = "".join(RECT.format(name=name, start=start, end=end, group=group) for name, start, end, group in tensors)
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:tag="https://megengine.org.cn">\n{rects}</svg>\n'
    (tmp_path / "77.memory_flow.svg").write_text(svg)
    run = open_run(tmp_path, workspace=workspace)
    assert [trace.source for trace in run.traces] == ["77.chrome_timeline.json"]
    found = rows(
        run,
        "SELECT a.name, a.size_bytes, a.start_ns, s.name AS made_by, s.start_ns AS at, o.op_type FROM allocations a "
        "LEFT JOIN slices s USING (slice_id) LEFT JOIN ops o ON o.op_id = a.op_id ORDER BY a.start_ns DESC",
    )
    assert [tuple(row.values()) for row in found] == [
        ("fc.MatrixMul:0", 1024, 46_000, "MatrixMul", 46_000, "MatrixMul"),
        ("weight", 1024, 0, None, None, None),
    ]
    alone = open_run(tmp_path / "77.memory_flow.svg", workspace=workspace)
    assert alone.traces[0].meta["format"] == "megengine_memory_flow"
