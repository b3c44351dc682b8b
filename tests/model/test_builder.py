"""Small traces written by hand, each beside the rows that must come out."""

from __future__ import annotations

import json

import pytest

from laptime.model.schema import SCHEMAS
from laptime.model.trace import Trace

HOST = {"pid": 10, "tid": 10}
GPU = {"pid": 0, "tid": 7}


def op(name: str, ts: object, dur: object, cat: str = "cpu_op", **more: object) -> dict[str, object]:
    return {"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur, **HOST, **more}


def call(name: str, ts: float, dur: float, correlation: int, **more: object) -> dict[str, object]:
    return op(name, ts, dur, "cuda_runtime", args={"correlation": correlation}, **more)


def kernel(name: str, ts: object, dur: object, correlation: int | None = None, **args: object) -> dict[str, object]:
    found = {"device": 0, "stream": 7, **args} | ({} if correlation is None else {"correlation": correlation})
    return {"ph": "X", "cat": "kernel", "name": name, "ts": ts, "dur": dur, **GPU, "args": found}


def step(number: int, ts: float, dur: float) -> dict[str, object]:
    return op(f"ProfilerStep#{number}", ts, dur, "user_annotation")


def flow(letter: str, ts: float, identity: int, cat: str, place: dict[str, int] = HOST) -> dict[str, object]:
    return {"ph": letter, "cat": cat, "name": cat, "ts": ts, "id": identity, "bp": "e", **place}


def rows(trace: Trace, *columns: str) -> list[tuple[object, ...]]:
    table = trace.slices.arrow(list(columns)).to_pydict()
    return list(zip(*table.values(), strict=True))


def named(trace: Trace, column: str) -> dict[str, object]:
    """A column by slice name, parents and ops as they are."""
    return dict(rows(trace, "name", column))


def flows(trace: Trace) -> list[tuple[str, str, str]]:
    """(cause, effect, kind) by name."""
    names = trace.slices.objects("name")
    return [(names[a], names[b], kind) for a, b, kind in zip(*trace.flows.arrow().to_pydict().values(), strict=True)]


def warnings(trace: Trace) -> dict[str, int]:
    """Counts by code."""
    found: dict[str, int] = {}
    for warning in trace.meta["warnings"]:
        found[warning["code"]] = found.get(warning["code"], 0) + warning["count"]
    return found


def tracks(trace: Trace) -> list[dict[str, object]]:
    return trace.tracks.arrow().to_pylist()


# ---- tables, order, nesting ----


def test_all_tables_have_their_declared_columns(open_events):
    trace = open_events(
        step(1, 0, 100), op("aten::mm", 1, 5), call("cudaLaunchKernel", 2, 1, 1), kernel("gemm", 4, 9, 1)
    )
    for name, schema in SCHEMAS.items():
        assert trace.table(name).arrow().schema.equals(schema), name


def test_slices_are_sorted_by_track_start_and_length_then_as_in_the_file(open_events):
    trace = open_events(
        op("late", 20, 1),
        op("inner", 10, 2),
        op("outer", 10, 8),
        op("twin 1", 30, 3),
        op("twin 2", 30, 3),
        op("other thread", 0, 1, tid=11),
    )
    assert [name for (name,) in rows(trace, "name")] == ["outer", "inner", "late", "twin 1", "twin 2", "other thread"]
    assert [row["first_slice"] for row in tracks(trace)] == [0, 5]
    assert [row["slice_count"] for row in tracks(trace)] == [5, 1]


def test_parents_and_depths_of_a_thread(open_events):
    trace = open_events(op("a", 0, 100), op("b", 10, 20), op("c", 10, 20), op("d", 30, 5), op("e", 200, 1))
    assert rows(trace, "name", "parent_id", "depth", "lane") == [
        ("a", None, 0, 0),
        ("b", 0, 1, 0),
        ("c", 1, 2, 0),
        ("d", 0, 1, 0),
        ("e", None, 0, 0),
    ]


def test_a_slice_that_crosses_goes_to_a_lane_and_keeps_its_containing_parent(open_events):
    trace = open_events(op("all", 0, 100), op("first", 10, 20), op("crossing", 20, 30), op("after", 60, 5))
    assert rows(trace, "name", "parent_id", "lane") == [
        ("all", None, 0),
        ("first", 0, 0),
        ("crossing", 0, 1),
        ("after", 0, 0),
    ]
    assert warnings(trace).get("unbalanced") is None


def test_streams_are_laned_and_never_nested(open_events):
    trace = open_events(
        kernel("long", 0, 50), kernel("inside", 10, 10), kernel("again", 20, 10), kernel("after", 50, 5)
    )
    assert rows(trace, "name", "parent_id", "depth", "lane") == [
        ("long", None, 0, 0),
        ("inside", None, 0, 1),
        ("again", None, 0, 1),
        ("after", None, 0, 0),
    ]


def test_numbers_and_texts_of_the_same_id_are_one_thread(open_events):
    trace = open_events(op("a", 0, 1), op("b", 2, 1, pid="10", tid="10"), op("c", 4, 1, tid=10.0))
    assert {track for (track,) in rows(trace, "track_id")} == {0}


def test_an_empty_trace_has_empty_tables(open_events):
    trace = open_events()
    assert {name: trace.table(name).row_count for name in SCHEMAS} == dict.fromkeys(SCHEMAS, 0)
    assert trace.meta["events"] == {"read": 0, "kept": 0, "dropped": {}}
    assert trace.main_thread is None


# ---- time ----


def test_epoch_decimals_are_exact(open_text):
    events = ",".join(
        f'{{"ph":"X","cat":"cpu_op","name":"{name}","pid":1,"tid":1,"ts":{ts},"dur":{dur}}}'
        for name, ts, dur in [
            ("a", "1712195478123456.75", "0.001"),
            ("b", "1712195478123456.751", "1.5"),
            ("c", '"1712195478123460.003"', '"2.25"'),
            ("d", "1712195478123470", "3"),
        ]
    )
    trace = open_text(f'{{"schemaVersion":1,"traceEvents":[{events}]}}')
    assert rows(trace, "name", "start_ns", "dur_ns") == [
        ("a", 0, 1),
        ("b", 1, 1500),
        ("c", 3253, 2250),
        ("d", 13250, 3000),
    ]
    assert trace.meta["origin_ns"] == 1712195478123456750


def test_times_written_as_strings_are_read(open_events):
    trace = open_events(op("a", "100.5", "2.125"), op("b", "110", 7), op("c", 120.25, "8"))
    assert rows(trace, "start_ns", "dur_ns") == [(0, 2125), (9500, 7000), (19750, 8000)]


def test_the_clock_starts_at_the_first_slice_instant_or_counter(open_events):
    metadata = {"ph": "M", "name": "process_name", "ts": 0, "args": {"name": "python"}, **HOST}
    instant = {"ph": "i", "name": "mark", "ts": 90, "s": "t", **HOST}
    trace = open_events(metadata, op("a", 100, 5), instant, op("untimed", 0, None))
    assert named(trace, "start_ns")["a"] == 10_000
    assert trace.table("instants").arrow().to_pylist()[0]["ts_ns"] == 0
    assert trace.meta["origin_ns"] == 90_000


def test_untimed_slices_have_no_duration_and_are_counted(open_events):
    trace = open_events(op("good", 10, 5), op("absent", 11, None), op("negative", 12, -3), op("zero", 13, 0))
    assert named(trace, "dur_ns") == {"good": 5000, "absent": None, "negative": None, "zero": 0}
    assert warnings(trace)["untimed"] == 2


def test_kernels_the_driver_could_not_time_are_untimed(open_events):
    trace = open_events(op("host", 50, 5), kernel("lost", 0, 0, 1), kernel("good", 60, 5, 2))
    assert named(trace, "dur_ns") == {"host": 5000, "good": 5000, "lost": None}
    assert named(trace, "start_ns")["host"] == 0


@pytest.mark.parametrize("ts", [None, "soon", True, "NaN", 1e300], ids=str)
def test_slices_without_a_time_are_dropped_and_counted(open_events, ts):
    trace = open_events(op("good", 10, 5), op("nowhere", ts, 5))
    assert named(trace, "start_ns") == {"good": 0}
    assert trace.meta["events"] == {"read": 2, "kept": 1, "dropped": {"no_timestamp": 1}}


# ---- devices ----


def test_stream_0_and_device_0_are_a_stream(open_events):
    trace = open_events(kernel("a", 0, 1, 1, stream=0), kernel("b", 2, 1, 2, stream=0), kernel("c", 4, 1, 3, stream=7))
    assert [(row["device"], row["stream"], row["slice_count"]) for row in tracks(trace)] == [(0, 0, 2), (0, 7, 1)]
    assert {row["kind"] for row in tracks(trace)} == {"stream"}


def test_one_stream_of_two_devices_is_two_tracks(open_events):
    trace = open_events(kernel("a", 0, 1, 1), {**kernel("b", 0, 1, 2, device=1), "pid": 1})
    assert [(row["device"], row["stream"]) for row in tracks(trace)] == [(0, 7), (1, 7)]


def test_duplicate_device_slices_are_dropped_and_counted(open_events):
    twice = kernel("gemm", 10, 5, 3)
    trace = open_events(
        twice, twice, twice, kernel("gemm", 10, 5, 4), kernel("other", 10, 5, 3), op("a", 0, 1), op("a", 0, 1)
    )
    assert sorted(name for (name,) in rows(trace, "name")) == ["a", "a", "gemm", "gemm", "other"]
    assert trace.meta["events"] == {"read": 7, "kept": 5, "dropped": {"duplicate": 2}}
    assert warnings(trace)["duplicate"] == 2


def test_device_slices_without_a_duration_are_no_duplicates(open_events):
    trace = open_events(kernel("gemm", 10, 0, 3), kernel("gemm", 10, 0, 3))
    assert len(rows(trace, "name")) == 2


def test_annotations_of_a_device_lie_beside_its_stream(open_events):
    annotation = {**kernel("forward", 0, 50), "cat": "gpu_user_annotation"}
    trace = open_events(annotation, kernel("gemm", 10, 5, 1))
    kinds = {row["track_id"]: row["kind"] for row in tracks(trace)}
    assert {name: kinds[track] for name, track in rows(trace, "name", "track_id")} == {
        "gemm": "stream",
        "forward": "annotation",
    }
    assert named(trace, "kind") == {"gemm": "kernel", "forward": "scope"}
    parents = {row["kind"]: row["parent_track"] for row in tracks(trace)}
    assert kinds[parents["annotation"]] == "stream"
    assert warnings(trace)["unlinked_device_ops"] == 1


@pytest.mark.parametrize(
    ("cat", "name", "kind"),
    [
        ("kernel", "ncclDevKernel_AllReduce", "communication"),
        ("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", "copy"),
        ("gpu_memset", "Memset (Device)", "memset"),
        ("Kernel", "gemm", "kernel"),
        ("hip_kernel", "gemm", "kernel"),
        ("mtia_ccp_events", "dma_request", "copy"),
    ],
)
def test_kinds_of_device_slices(open_events, cat, name, kind):
    trace = open_events({**kernel(name, 0, 5, 1), "cat": cat})
    assert rows(trace, "kind", "category") == [(kind, cat)]


def test_arguments_that_name_a_collective_make_communication_and_an_op(open_events):
    trace = open_events(kernel("vendor_kernel", 0, 5, 1, **{"Collective name": "allreduce"}))
    assert named(trace, "kind") == {"vendor_kernel": "communication"}
    (row,) = trace.ops.arrow().to_pylist()
    assert (row["op_type"], row["device_kind"]) == ("allreduce", "device")


# ---- links ----


def test_a_launch_is_linked_to_its_kernel_by_correlation(open_events):
    trace = open_events(op("aten::mm", 0, 10), call("cudaLaunchKernel", 1, 2, 5), kernel("gemm", 20, 5, 5))
    assert flows(trace) == [("cudaLaunchKernel", "gemm", "launch")]
    assert named(trace, "kind")["cudaLaunchKernel"] == "launch"
    assert warnings(trace) == {}


def test_one_launch_may_start_many_kernels(open_events):
    trace = open_events(call("cudaGraphLaunch", 1, 2, 5), *(kernel(f"k{n}", 10 + n, 1, 5) for n in range(3)))
    assert flows(trace) == [("cudaGraphLaunch", f"k{n}", "launch") for n in range(3)]


def test_kernels_launched_before_the_window_are_kept_and_counted(open_events):
    trace = open_events(op("aten::mm", 5, 10), kernel("early", 6, 5, 99), kernel("no correlation", 12, 1))
    assert flows(trace) == []
    assert named(trace, "dur_ns")["early"] == 5000
    assert warnings(trace)["unlinked_device_ops"] == 2


def test_a_call_of_unknown_name_that_launched_something_is_a_launch(open_events):
    trace = open_events(call("vendorSubmit", 1, 2, 5), call("vendorQuery", 4, 1, 6), kernel("gemm", 20, 5, 5))
    assert named(trace, "kind")["vendorSubmit"] == "launch"
    assert named(trace, "kind")["vendorQuery"] == "host_other"


def test_of_several_calls_with_one_correlation_the_launch_counts(open_events):
    trace = open_events(call("cudaMalloc", 1, 2, 5), call("cudaLaunchKernel", 4, 1, 5), kernel("gemm", 20, 5, 5))
    assert flows(trace) == [("cudaLaunchKernel", "gemm", "launch")]


def test_ops_with_a_correlation_are_no_launch(open_events):
    trace = open_events(op("aten::mm", 1, 2, args={"correlation": 5}), kernel("gemm", 20, 5, 5))
    assert flows(trace) == []


def test_flow_events_link_where_correlations_do_not(open_events):
    trace = open_events(
        op("cudaLaunchKernel", 1, 2, "cuda_runtime"),
        kernel("gemm", 20, 5),
        flow("s", 1, 5, "ac2g"),
        flow("f", 20, 5, "ac2g", GPU),
    )
    assert flows(trace) == [("cudaLaunchKernel", "gemm", "launch")]


def test_a_launch_told_twice_is_linked_once(open_events):
    trace = open_events(
        call("cudaLaunchKernel", 1, 2, 5),
        kernel("gemm", 20, 5, 5),
        flow("s", 1, 5, "ac2g"),
        flow("f", 20, 5, "ac2g", GPU),
    )
    assert flows(trace) == [("cudaLaunchKernel", "gemm", "launch")]


def test_forward_and_backward_are_linked_by_flow_events(open_events):
    trace = open_events(
        op("aten::linear", 0, 10),
        op("aten::addmm", 2, 5),
        op("autograd::engine::evaluate_function: AddmmBackward0", 50, 10, tid=11),
        flow("s", 2, 1, "fwdbwd"),
        flow("f", 50, 1, "fwdbwd", {"pid": 10, "tid": 11}),
    )
    assert flows(trace) == [("aten::addmm", "autograd::engine::evaluate_function: AddmmBackward0", "forward_backward")]


def test_flow_ends_that_hold_no_slice_or_have_no_start_are_left_out(open_events):
    trace = open_events(
        op("a", 0, 10),
        flow("f", 5, 1, "fwdbwd"),
        flow("s", 5, 2, "fwdbwd"),
        flow("f", 500, 2, "fwdbwd"),
        flow("s", 5, 3, "fwdbwd"),
        flow("f", 5, 3, "other"),
    )
    assert flows(trace) == []


def test_flow_events_without_an_id_link_nothing(open_events):
    start, end = flow("s", 1, 1, "dataflow"), flow("f", 11, 1, "dataflow")
    del start["id"], end["id"]
    trace = open_events(op("a", 0, 5), op("b", 10, 5), start, end)
    assert flows(trace) == []


def test_flows_with_ids_beyond_int64_are_told_apart(open_events):
    points = [
        flow("s", 1, 2**63 + 1, "x"),
        flow("s", 11, 2**63 + 2, "x"),
        flow("f", 21, 2**63 + 1, "x"),
        flow("f", 31, 2**63 + 2, "x"),
    ]
    trace = open_events(*(op(name, ts, 5) for name, ts in {"a": 0, "b": 10, "c": 20, "d": 30}.items()), *points)
    assert flows(trace) == [("a", "c", "data"), ("b", "d", "data")]


# ---- steps ----


def test_host_slices_belong_to_the_step_of_their_start(open_events):
    trace = open_events(
        op("before", 0, 20),
        step(3, 10, 90),
        step(4, 100, 100),
        op("in 3", 50, 80),
        op("at 4", 100, 1),
        op("after", 200, 5),
    )
    assert named(trace, "step") == {
        "before": None,
        "ProfilerStep#3": 3,
        "in 3": 3,
        "ProfilerStep#4": 4,
        "at 4": 4,
        "after": None,
    }


def test_device_slices_belong_to_the_step_of_their_launch(open_events):
    trace = open_events(
        step(1, 0, 100),
        step(2, 100, 100),
        call("cudaLaunchKernel", 90, 5, 1),
        kernel("of step 1", 130, 10, 1),
        kernel("unlinked", 150, 10),
        kernel("after all", 500, 10),
    )
    assert {name: number for name, number in named(trace, "step").items() if "cuda" not in name} == {
        "ProfilerStep#1": 1,
        "ProfilerStep#2": 2,
        "of step 1": 1,
        "unlinked": 2,
        "after all": None,
    }


def test_steps_are_the_markers(open_events):
    trace = open_events(
        *(step(n, 100 * n, 90) for n in (5, 6, 7)), *(op("aten::mm", 100 * n + 1, 5) for n in (5, 6, 7))
    )
    found = [(row["step"], row["index"], row["start_ns"], row["end_ns"]) for row in trace.steps.arrow().to_pylist()]
    assert found == [(5, 1, 0, 90_000), (6, 2, 100_000, 190_000), (7, 3, 200_000, 290_000)]
    assert trace.steps.objects("source") == ["marked"] * 3
    assert trace.steps.objects("complete") == [True] * 3


def test_markers_of_the_profiler_count_before_others(open_events):
    trace = open_events(step(1, 0, 90), step(2, 100, 90), op("step 77", 10, 5, "user_annotation"))
    assert trace.steps.objects("step") == [1, 2]


def test_a_last_step_that_is_nearly_empty_was_cut(open_events):
    full = [
        event for n in (1, 2, 3) for event in (step(n, 100 * n, 99), *(op("x", 100 * n + k, 1) for k in range(1, 40)))
    ]
    trace = open_events(*full, step(4, 400, 1))
    assert trace.steps.objects("complete") == [True, True, True, False]
    assert warnings(trace)["partial_step"] == 1


def test_phases_of_a_step(open_events):
    trace = open_events(
        step(1, 0, 100),
        op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 9, "user_annotation"),
        op("aten::stack", 2, 3),
        op("aten::linear", 12, 8),
        op("aten::addmm", 13, 5),
        op("autograd::engine::evaluate_function: AddmmBackward0", 40, 20, tid=11),
        op("aten::mm", 45, 5, tid=11),
        op("Optimizer.step#SGD.step", 70, 20, "user_annotation"),
        op("aten::add_", 72, 5),
    )
    phases = named(trace, "phase")
    assert {
        name: phases[name] for name in ("aten::stack", "aten::linear", "aten::addmm", "aten::mm", "aten::add_")
    } == {
        "aten::stack": None,
        "aten::linear": "forward",
        "aten::addmm": "forward",
        "aten::mm": "backward",
        "aten::add_": "optimizer",
    }
    (row,) = trace.steps.arrow().to_pylist()
    points = (row["forward_start_ns"], row["backward_end_ns"], row["optimizer_start_ns"])
    assert points == (12_000, 60_000, 70_000)


# ---- other phases of the format ----


def test_begin_and_end_events_become_slices(open_events):
    def point(letter: str, ts: float, **more: object) -> dict[str, object]:
        return {"ph": letter, "cat": "cpu_op", "ts": ts, **HOST, **more}

    trace = open_events(point("B", 0, name="a"), point("B", 2, name="b"), point("E", 5), point("E", 9), point("E", 10))
    assert rows(trace, "name", "start_ns", "dur_ns", "parent_id") == [("a", 0, 9000, None), ("b", 2000, 3000, 0)]
    assert trace.meta["events"]["dropped"] == {"unbalanced": 1}
    assert warnings(trace)["unbalanced"] == 1


def test_end_events_without_a_category_close_begins_with_one(open_events):
    trace = open_events({"ph": "B", "cat": "cpu_op", "name": "a", "ts": 0, **HOST}, {"ph": "E", "ts": 9, **HOST})
    assert rows(trace, "name", "dur_ns") == [("a", 9000)]
    assert warnings(trace) == {}


def test_asynchronous_events_become_slices_of_their_own_track(open_events):
    def point(letter: str, ts: float, identity: object) -> dict[str, object]:
        return {"ph": letter, "cat": "io", "name": "read", "id": identity, "ts": ts, **HOST}

    trace = open_events(point("b", 0, "0x1"), point("b", 2, "0x2"), point("e", 5, "0x1"), point("e", 9, "0x2"))
    assert rows(trace, "name", "start_ns", "dur_ns", "lane") == [("read", 0, 5000, 0), ("read", 2000, 7000, 1)]
    assert [row["kind"] for row in tracks(trace)] == ["async"]


def test_counters_have_a_track_per_series(open_events):
    trace = open_events(
        {"ph": "C", "name": "GPU", "ts": 1, "pid": 10, "args": {"used": 5, "free": "7.5", "note": "x"}},
        {"ph": "C", "name": "queue", "ts": 2, "pid": 10, "args": {"value": 3}},
    )
    names = {row["track_id"]: row["name"] for row in tracks(trace)}
    samples = trace.table("counters").arrow().to_pylist()
    assert {(names[row["track_id"]], row["ts_ns"], row["value"]) for row in samples} == {
        ("GPU used", 0, 5.0),
        ("GPU free", 0, 7.5),
        ("queue", 1000, 3.0),
    }


def test_metadata_names_processes_and_threads(open_events):
    trace = open_events(
        {"ph": "M", "name": "process_name", "pid": 10, "args": {"name": "python3"}},
        {"ph": "M", "name": "thread_name", "pid": 10, "tid": "10", "args": {"name": "main"}},
        {"ph": "M", "name": "thread_sort_index", "pid": 10, "tid": 10, "args": {"sort_index": 9}},
        {"ph": "M", "name": "thread_sort_index", "pid": 10, "tid": 11, "args": {"sort_index": 1}},
        op("a", 0, 1),
        op("b", 0, 1, tid=11),
    )
    assert [(row["process"], row["name"]) for row in tracks(trace)] == [("python3", "thread 11"), ("python3", "main")]


def test_every_element_is_kept_or_counted_as_dropped(open_text):
    events = [
        json.dumps(event)
        for event in (
            op("a", 0, 1),
            {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "x"}},
            flow("s", 0, 1, "ac2g"),
            {"ph": "i", "name": "mark", **HOST},
            {"ph": "Q", "name": "odd", "ts": 1, **HOST},
            {"ph": "N", "name": "object", "id": 1, "ts": 1, **HOST},
            {"ph": "E", "ts": 1, **HOST},
            op("timeless", None, 1),
        )
    ]
    trace = open_text('{"schemaVersion":1,"traceEvents":[' + ",".join([*events, "17", '"text"', "null"]) + "]}")
    counts = trace.meta["events"]
    assert counts["read"] == 11
    assert counts["dropped"] == {
        "invalid_json": 3,
        "no_timestamp": 2,
        "not_shown": 1,
        "unbalanced": 1,
        "unknown_phase": 1,
    }
    assert counts["kept"] == counts["read"] - sum(counts["dropped"].values())


# ---- arguments, operators, stacks ----


def test_arguments_are_kept_as_they_stand(open_text):
    texts = ['{"a" : [1,  2.50], "b": {"c": "é\\u00e9"}}', None, "{}"]
    events = ",".join(
        f'{{"ph":"X","cat":"cpu_op","name":"{n}","pid":1,"tid":1,"ts":{9 - n},"dur":1'
        + ("}" if text is None else f',"args":{text}}}')
        for n, text in enumerate(texts)
    )
    trace = open_text(f'{{"schemaVersion":1,"traceEvents":[{events}]}}')
    assert rows(trace, "name") == [("2",), ("1",), ("0",)]
    assert trace.table("args").objects("args") == texts[::-1]


def test_ops_are_distinct_by_name_shapes_and_types(open_events):
    shaped = {"Input Dims": [[2, 3], []], "Input type": ["float", "Scalar"]}
    trace = open_events(
        op("aten::mm", 0, 1, args=shaped),
        op("aten::mm", 2, 1, args=shaped),
        op("aten::mm", 4, 1),
        op("aten::add", 6, 1),
    )
    ids = [op_id for (op_id,) in rows(trace, "op_id")]
    assert ids[0] == ids[1] and len(set(ids)) == 3
    first = trace.ops.arrow().to_pylist()[ids[0]]
    assert (first["name"], first["op_type"], json.loads(first["input_shapes"])) == ("aten::mm", "mm", [[2, 3], []])


def test_stacks_are_the_python_frames_around_an_op(open_events):
    trace = open_events(
        op("train.py(12): main", 0, 100, "python_function"),
        op("nn.Module: Linear_0", 5, 80, "python_function"),
        op("model.py(7): forward", 10, 50, "python_function"),
        op("aten::linear", 20, 10),
        op("aten::add", 90, 5),
    )
    stacks = trace.table("stacks").arrow().to_pylist()
    of = named(trace, "stack_id")
    frames = {
        name: [(row["function"], row["file"], row["line"]) for row in stacks if row["stack_id"] == of[name]]
        for name in ("aten::linear", "aten::add")
    }
    assert frames == {
        "aten::linear": [("forward", "model.py", 7), ("main", "train.py", 12)],
        "aten::add": [("main", "train.py", 12)],
    }
    assert of["train.py(12): main"] is None
    modules = {row["name"]: row["module"] for row in trace.ops.arrow().to_pylist()}
    assert modules == {"aten::linear": "Linear_0", "aten::add": None}


def test_facts_of_the_header_are_kept(open_events):
    trace = open_events(
        op("a", 0, 1),
        distributedInfo={"backend": "nccl", "rank": 3, "world_size": 8},
        deviceProperties=[{"id": 0, "name": "NVIDIA H200"}],
        baseTimeNanoseconds=1712195478000000000,
    )
    assert (trace.rank, trace.meta["world_size"], trace.meta["backend"]) == (3, 8, "nccl")
    assert trace.meta["device_names"] == {"0": "NVIDIA H200"}
    assert (trace.meta["format"], trace.meta["framework"]) == ("pytorch_kineto", "pytorch")
