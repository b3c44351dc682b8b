"""XPlane profiles built in code: what each plane, line and event becomes, and what damage leaves."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.analyses.report import report
from laptime.errors import LaptimeError
from laptime.importers import event_cap
from laptime.importers.opening import open_run
from laptime.importers.xplane_events import decode_events
from laptime.importers.xplane_ops import module_path
from laptime.importers.xplane_space import read_space
from laptime.importers.xplane_wire import Buffer
from laptime.model.trace import Run
from laptime.model.vocabulary import NULL
from laptime.model.workspace import Workspace
from tests.importers.xspaces import MS, HloProto, Message, Plane, Ref, XSpace, gpu_training

Rank = dict[str, Any]


def _opened(space: Message | bytes, folder: Path, name: str = "host.xplane.pb") -> Run:
    data = space if isinstance(space, bytes) else space.SerializeToString()
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return open_run(path, workspace=Workspace.choose(folder / "workspace", say=lambda _: None))


def _rank(run: Run) -> Rank:
    (rank,) = report(run)["ranks"]
    return rank


def _rows(run: Run, what: str) -> list[dict[str, Any]]:
    return run.sql(f"SELECT {what}").to_pylist()


def _codes(run: Run) -> dict[str, int]:
    return {row["code"]: row["count"] for row in report(run)["warnings"]}


# ---- a GPU ----


def test_kernels_are_linked_to_their_calls(tmp_path: Path) -> None:
    run = _opened(gpu_training(), tmp_path)
    rank = _rank(run)
    (device,) = rank["devices"]  # GPU 1 did nothing: no device
    assert (device["device"], device["name"], device["streams"]) == (0, "Nvidia GPU", 1)
    assert (device["ops"], device["linked_ops"]) == (9, 9)
    assert (device["compute_ns"], device["communication_ns"], device["copy_ns"]) == (3_000_000,) * 3
    assert rank["host"]["launches"] == 9
    assert {row["bytes"] for row in _rows(run, "bytes FROM slices WHERE kind = 'copy'")} == {4096}


def test_rows_that_repeat_the_streams_are_no_work(tmp_path: Path) -> None:
    run = _opened(gpu_training(), tmp_path)
    assert _rows(run, "kind, name, device FROM tracks WHERE name = 'XLA Ops'") == [
        {"kind": "annotation", "name": "XLA Ops", "device": 0}
    ]
    assert _rank(run)["devices"][0]["busy_ns"] == 9_000_000


def test_steps_carry_the_number_and_name_of_their_annotation(tmp_path: Path) -> None:
    run = _opened(gpu_training(), tmp_path)
    steps = _rank(run)["steps"]
    assert [(step["step"], step["label"], step["source"], step["dur_ns"]) for step in steps] == [
        (number, "train", "marked", 9_000_000) for number in (5, 6, 7)
    ]
    assert all(step["complete"] for step in steps)
    assert steps[1]["start_ns"] - steps[0]["start_ns"] == 10_000_000


def test_what_the_host_did(tmp_path: Path) -> None:
    run = _opened(gpu_training(steps=1), tmp_path)
    kinds = {row["name"]: row["kind"] for row in _rows(run, "slices.name, slices.kind FROM slices")}
    assert kinds["train"] == "step"
    assert kinds["load_batch"] == "data"
    assert kinds["PjitFunction(step)"] == "op"
    assert kinds["Handle input events"] == "host_other"  # not the user's: it lies inside a call of the runtime
    assert kinds["cuLaunchKernel"] == "launch"


def test_operators_come_from_the_events(tmp_path: Path) -> None:
    run = _opened(gpu_training(steps=1), tmp_path)
    rows = _rows(run, "name, op_type, subgraph, device_kind, info FROM ops WHERE device_kind = 'GPU' ORDER BY name")
    assert [(row["name"], row["op_type"], row["subgraph"]) for row in rows] == [
        ("all-reduce-start.1", "all-reduce-start", "jit_step"),
        ("loop_fusion.3", "loop_fusion", "jit_step"),
    ]
    assert json.loads(rows[0]["info"]) == {"program_id": 4}


def test_gzip_and_another_name_make_no_difference(tmp_path: Path) -> None:
    data = gpu_training().SerializeToString()
    plain = _rank(_opened(data, tmp_path / "a"))
    for other, name in ((gzip.compress(data), "host.xplane.pb.gz"), (data, "profile.bin")):
        same = _rank(_opened(other, tmp_path / name, name))
        assert {**same, "source": None} == {**plain, "source": None}


# ---- XLA on the CPU, TPUs ----


def _cpu_space() -> Message:
    space = XSpace()
    host = Plane(space, "/host:CPU")
    python, pool = host.line("python", id=1), host.line("tf_XLAEigen/-77", id=-77)
    compiler = host.line("tf_xla-cpu-codegen/9", id=9)
    host.event(python, "step 3", 0, 10 * MS)
    host.event(python, "backend_compile_and_load", MS, 4 * MS)
    host.event(python, "dot.9", 6 * MS, MS, hlo_op=Ref("dot.9"), hlo_module=Ref("jit_f"))
    host.event(python, "CommonPjRtBuffer::Await", 7 * MS, MS)
    host.event(pool, "ThunkExecutor::Execute", 5 * MS, 3 * MS)
    host.event(pool, "while.2", 5 * MS, 3 * MS, hlo_op=Ref("while.2"), hlo_module=Ref("jit_f"))
    host.event(pool, "dot.1", 5 * MS, MS, hlo_op=Ref("dot.1"), hlo_module=Ref("jit_f"), run_id=-5)
    host.event(pool, "all-reduce.3", 6 * MS, MS, hlo_op="all-reduce.3", hlo_module="jit_f")
    host.event(compiler, "CSEPass", MS, MS)
    return space


def test_the_executor_of_the_cpu_counts_as_a_device(tmp_path: Path) -> None:
    run = _opened(_cpu_space(), tmp_path)
    rank = _rank(run)
    (device,) = rank["devices"]
    assert (device["device"], device["name"], device["ops"], device["linked_ops"]) == (0, "CPU", 3, 0)
    assert device["communication_ns"] == 1_000_000
    kinds = {row["name"]: row["kind"] for row in _rows(run, "slices.name, slices.kind FROM slices")}
    assert kinds["while.2"] == kinds["ThunkExecutor::Execute"] == "device_other"  # they only hold other work
    assert (kinds["CSEPass"], kinds["CommonPjRtBuffer::Await"]) == ("compile", "sync")
    assert {row["name"]: row["kind"] for row in _rows(run, "name, kind FROM tracks")} == {
        "python": "thread",
        "python (XLA)": "stream",  # work that XLA ran on the calling thread
        "tf_XLAEigen/-77": "stream",
        "tf_xla-cpu-codegen/9": "thread",
    }
    assert "unlinked_device_ops" not in _codes(run)  # the format has no launches here, so none is missing


def test_compilation_is_part_of_the_budget(tmp_path: Path) -> None:
    (step,) = _rank(_opened(_cpu_space(), tmp_path))["steps"]
    assert step["budget"]["compile_ns"] == 4_000_000


def test_arguments_hold_what_is_no_column(tmp_path: Path) -> None:
    run = _opened(_cpu_space(), tmp_path)
    (row,) = _rows(run, "a.args FROM args a JOIN slices s USING (slice_id) WHERE s.name = 'dot.1'")
    assert json.loads(row["args"]) == {"run_id": -5}


def test_a_tpu_has_its_operators_in_rows_of_their_own(tmp_path: Path) -> None:
    space = XSpace()
    tpu = Plane(space, "/device:TPU:2", device_type_string="TPU v5e")
    ops, modules = tpu.line("XLA Ops", id=3), tpu.line("XLA Modules", id=2)
    text = "%fusion.7 = f32[8]{0} fusion(f32[8]{0} %p), kind=kLoop"
    tpu.event_id(
        text, "fusion.7", hlo_category=Ref("loop fusion"), flops=160, bytes_accessed=64, tf_op="jit(f)/Net/add"
    )
    tpu.event(ops, text, 0, 1_400)
    tpu.event(ops, text, 1_400, 1_400)
    tpu.event(modules, "jit_f(1)", 0, 2_800)
    run = _opened(space, tmp_path)
    (device,) = _rank(run)["devices"]
    assert (device["device"], device["name"], device["ops"], device["busy_ns"]) == (2, "TPU v5e", 2, 3)
    (op,) = _rows(run, "* FROM ops")
    assert (op["name"], op["op_type"], op["full_name"], op["module"]) == (
        "fusion.7",
        "loop fusion",
        "jit(f)/Net/add",
        "Net",
    )
    assert json.loads(op["info"]) == {"category": "loop fusion", "flops": 160, "bytes_accessed": 64, "text": text}
    assert [row["start_ns"] for row in _rows(run, "start_ns FROM slices WHERE kind = 'kernel' ORDER BY 1")] == [0, 1]


def _with_module(space: Message, **told: object) -> Message:
    """The profile and the module of its operator dot.1: two operands, `told` of its origin."""
    proto = HloProto()
    proto.module.name = "jit_f"
    made = proto.module.computations.add().instructions
    named = [("p", "parameter", (2, 3)), ("q", "parameter", (3,)), ("dot.1", "dot", (2,))]
    for number, (name, opcode, shape) in enumerate(named):
        instruction = made.add(id=number + 7, name=name, opcode=opcode)
        instruction.shape.element_type = 11
        instruction.shape.dimensions.extend(shape)
    made[2].operand_ids.extend([7, 8])
    for key, value in told.items():
        setattr(made[2].metadata, key, value)
    index = proto.module.index
    index.file_names.append("net.py")
    index.function_names.extend(["forward", "main"])
    for function, line in ((1, 5), (2, 9)):
        index.file_locations.add(file_name_id=1, function_name_id=function, line=line)
    index.stack_frames.add(file_location_id=2)
    index.stack_frames.add(file_location_id=1, parent_frame_id=1)
    metadata = Plane(space, "/host:metadata", jax_version="0.10.2")
    metadata.event_id("jit_f(26)", **{"Hlo Proto": proto.SerializeToString()})
    return space


def test_instructions_come_from_the_module(tmp_path: Path) -> None:
    space = _with_module(_cpu_space(), op_name="jit(f)/jvp(Net)/dot_general", stack_frame_id=2)
    run = _opened(space, tmp_path)
    assert (run.traces[0].meta["framework"], run.traces[0].meta["framework_version"]) == ("jax", "0.10.2")
    (op,) = _rows(run, "* FROM ops WHERE name = 'dot.1'")
    assert (op["op_type"], op["full_name"], op["module"]) == ("dot", "jit(f)/jvp(Net)/dot_general", "Net")
    assert [json.loads(op[key]) for key in ("input_shapes", "input_dtypes", "output_shapes")] == [
        [[2, 3], [3]],
        ["f32", "f32"],
        [[2]],
    ]
    frames = _rows(
        run,
        "stacks.depth, function, file, line FROM slices JOIN stacks USING (stack_id) WHERE name = 'dot.1' ORDER BY 1",
    )
    assert [tuple(frame.values()) for frame in frames] == [(0, "forward", "net.py", 5), (1, "main", "net.py", 9)]


def test_older_modules_tell_one_line(tmp_path: Path) -> None:
    run = _opened(_with_module(_cpu_space(), source_file="net.py", source_line=12), tmp_path)
    assert _rows(run, "file, line FROM slices JOIN stacks USING (stack_id) WHERE name = 'dot.1'") == [
        {"file": "net.py", "line": 12}
    ]


def test_both_ends_of_an_event_are_rounded(tmp_path: Path) -> None:
    space = XSpace()
    host = Plane(space, "/host:CPU")
    line = host.line("python", at_ns=1_700_000_000_000_000_000)
    host.event(line, "a", 499, 1)
    host.event(line, "b", 500, 1_000)
    run = _opened(space, tmp_path)
    assert _rows(run, "name, start_ns, dur_ns FROM slices ORDER BY name") == [
        {"name": "a", "start_ns": 0, "dur_ns": 1},
        {"name": "b", "start_ns": 1, "dur_ns": 1},
    ]
    assert run.traces[0].meta["base_unix_ns"] == 0  # the line counts from the epoch itself


def test_the_clock_begins_with_the_profile(tmp_path: Path) -> None:
    space = gpu_training()
    Plane(space, "Task Environment", profile_start_time=1_795_956_844_705_445_906)
    assert _opened(space, tmp_path).traces[0].meta["base_unix_ns"] == 1_795_956_844_705_445_906


def test_sums_of_many_executions_are_kept_as_sums(tmp_path: Path) -> None:
    space = XSpace()
    host = Plane(space, "/host:CPU")
    line = host.line("python")
    line.events.add(metadata_id=host.event_id("Summed"), num_occurrences=4, duration_ps=10_000)
    run = _opened(space, tmp_path)
    assert _rows(run, "o.name, t.count, t.total_ns, t.mean_ns FROM op_totals t JOIN ops o USING (op_id)") == [
        {"name": "Summed", "count": 4, "total_ns": 10, "mean_ns": 3}
    ]
    assert _rank(run)["events"] == {"read": 1, "kept": 1, "dropped": {}}


def test_python_frames_make_call_stacks(tmp_path: Path) -> None:
    space = XSpace()
    host = Plane(space, "/host:CPU")
    line = host.line("python")
    host.event(line, "$train.py:12 main", 0, 5 * MS)
    host.event(line, "$builtins len", MS, MS)
    host.event(line, "PjitFunction(f)", 3 * MS, MS)
    run = _opened(space, tmp_path)
    assert _rows(run, "function, file, line FROM stacks") == [{"function": "main", "file": "train.py", "line": 12}]
    assert {row["kind"] for row in _rows(run, "kind FROM slices WHERE name LIKE '$%'")} == {"python"}


# ---- several files ----


def test_one_rank_for_each_host(tmp_path: Path) -> None:
    folder = tmp_path / "plugins" / "profile" / "2026_11_29"
    for host in ("t1v-n-0-w-1", "t1v-n-0-w-0"):
        _opened(gpu_training(), folder, f"{host}.xplane.pb")
        (folder / f"{host}.trace.json.gz").write_bytes(gzip.compress(b'{"traceEvents":[{}]}'))
    result = report(open_run(folder, workspace=Workspace.choose(tmp_path / "w", say=lambda _: None)))
    ranks = [(rank["rank"], rank["source"]) for rank in result["ranks"] if rank["format"] == "xplane"]
    assert ranks == [(0, "t1v-n-0-w-0.xplane.pb"), (1, "t1v-n-0-w-1.xplane.pb")]
    assert len(result["ranks"]) == 2
    notes = [row["message"] for row in result["warnings"] if row["code"] == "other"]
    assert "t1v-n-0-w-0.trace.json.gz: the same recording as t1v-n-0-w-0.xplane.pb, which is read instead" in notes


def test_a_glob_counts_each_host_once(tmp_path: Path) -> None:
    _opened(gpu_training(), tmp_path / "p", "vm.xplane.pb")
    (tmp_path / "p" / "vm.trace.json").write_text('{"traceEvents":[{}]}')
    run = open_run(tmp_path / "p" / "vm.*", workspace=Workspace.choose(tmp_path / "w", say=lambda _: None))
    assert [trace.source for trace in run.traces] == ["vm.xplane.pb"]


def test_the_json_of_another_host_is_read(tmp_path: Path) -> None:
    _opened(gpu_training(), tmp_path / "p", "a.xplane.pb")
    (tmp_path / "p" / "b.trace.json").write_text(
        '{"traceEvents":[{"ph":"X","ts":0,"dur":1,"pid":1,"tid":1,"name":"x"}]}'
    )
    run = open_run(tmp_path / "p", workspace=Workspace.choose(tmp_path / "w", say=lambda _: None))
    assert sorted(trace.source for trace in run.traces) == ["a.xplane.pb", "b.trace.json"]


@pytest.mark.parametrize(("slices", "cut"), [(9, False), (10, True), (11, False)])
def test_json_that_jax_cut_is_named(slices: int, cut: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_cap, "LIMIT", 10)
    events: list[dict[str, object]] = [{"ph": "M", "pid": 7, "name": "process_name", "args": {"name": "/host:CPU"}}]
    events += [{"ph": "X", "pid": 7, "tid": 1, "ts": at, "dur": 1, "name": "x"} for at in range(slices)]
    data = json.dumps({"displayTimeUnit": "ns", "traceEvents": [*events, {}]}).encode()
    run = _opened(data, tmp_path, "vm.trace.json")
    assert ("cut_by_recorder" in _codes(run)) == cut


def test_json_of_others_is_never_taken_as_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_cap, "LIMIT", 10)
    events = [{"ph": "X", "pid": 7, "tid": 1, "ts": at, "dur": 1, "name": "x"} for at in range(10)]
    assert "cut_by_recorder" not in _codes(_opened(json.dumps(events).encode(), tmp_path, "other.json"))


# ---- damage ----


@pytest.mark.parametrize("part", range(1, 20))
def test_a_file_cut_anywhere_gives_what_is_whole(part: int, tmp_path: Path) -> None:
    data = gpu_training().SerializeToString()
    size = len(data) * part // 20
    run = _opened(data[:size], tmp_path)
    (warning,) = (row for row in report(run)["warnings"] if row["code"] == "truncated")
    assert "damage from byte " in warning["message"]
    events = _rank(run)["events"]
    assert events["kept"] <= events["read"] <= 3 * 13
    assert events["kept"] == run.traces[0].slices.row_count


def test_a_damaged_plane_costs_nothing_of_the_others(tmp_path: Path) -> None:
    space = gpu_training()
    whole = _rank(_opened(space, tmp_path / "whole"))
    host, *devices = (plane.SerializeToString() for plane in space.planes)
    broken = host[:40] + b"\xff" * 20 + host[60:]
    parts = [b"\x0a" + _varint(len(plane)) + plane for plane in (broken, *devices)]
    damaged = _opened(b"".join(parts), tmp_path / "damaged")
    assert "truncated" in _codes(damaged)
    assert _rank(damaged)["devices"][0]["busy_ns"] == whole["devices"][0]["busy_ns"]


def _varint(value: int) -> bytes:
    digits = []
    while value >= 0x80:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"\xff" * 400, "not an XPlane profile (no plane at byte 0)"),
        (b"\x0a\x80\x04\x12\x0a/host:CPU" + b"\xef\xbf\xbd" * 300, "damaged by a text conversion"),
    ],
    ids=["empty", "no protobuf", "text conversion"],
)
def test_what_is_no_profile_is_refused(data: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(LaptimeError) as error:
        _opened(data, tmp_path)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_a_profile_without_events_is_empty(tmp_path: Path) -> None:
    space = XSpace(hostnames=["vm"])
    Plane(space, "/host:CPU").line("python")
    assert _rank(_opened(space, tmp_path))["events"] == {"read": 0, "kept": 0, "dropped": {}}


def test_impossible_times_are_in_no_sum(tmp_path: Path) -> None:
    space = XSpace()
    host = Plane(space, "/host:CPU")
    line = host.line("python")
    host.event(line, "a", 0, MS)
    host.event(line, "negative", MS, -5)
    host.event(line, "far away", -(1 << 62), MS)
    run = _opened(space, tmp_path)
    assert _rank(run)["events"] == {"read": 3, "kept": 2, "dropped": {"no_timestamp": 1}}
    assert _rows(run, "name FROM slices WHERE dur_ns IS NULL") == [{"name": "negative"}]


def test_what_the_profiler_says_of_itself_is_shown(tmp_path: Path) -> None:
    space = gpu_training()
    space.errors.append("Failed to load\nlibcupti")
    assert "the profiler reports: Failed to load libcupti" in [
        row["message"] for row in report(_opened(space, tmp_path))["warnings"]
    ]


# ---- decoding, against protobuf ----

_numbers = st.one_of(st.integers(0, 300), st.integers(-(1 << 63), (1 << 63) - 1))
_values = st.one_of(_numbers, st.floats(allow_nan=False), st.text(max_size=9), st.binary(max_size=200))
_events = st.lists(
    st.tuples(_numbers, st.one_of(st.none(), _numbers), _numbers, st.lists(st.tuples(_numbers, _values), max_size=4)),
    max_size=30,
)


@given(_events, st.integers(0, 3))
def test_events_are_decoded_as_protobuf_does(events: list[Any], extra: int) -> None:
    space = XSpace()
    line = space.planes.add(name="/host:CPU").lines.add(name="python", duration_ps=extra)
    for metadata, offset, duration, stats in events:
        event = line.events.add(metadata_id=metadata, duration_ps=duration)
        if offset is None:
            event.num_occurrences = 7
        else:
            event.offset_ps = offset
        for key, value in stats:
            stat = event.stats.add(metadata_id=key)
            name = {int: "int64", float: "double", str: "str", bytes: "bytes"}[type(value)]
            setattr(stat, f"{name}_value", value)
    data = space.SerializeToString()
    (found,) = read_space(data).planes[0].lines
    decoded = decode_events(Buffer(data), found.events, np.empty(0, np.int64))
    assert decoded.bad == 0
    assert decoded.metadata.tolist() == [event[0] for event in events]
    assert decoded.offset_ps.tolist() == [NULL if event[1] is None else event[1] for event in events]
    assert decoded.duration_ps.tolist() == [event[2] for event in events]
    told = zip(decoded.stats.row.tolist(), decoded.stats.key.tolist(), range(len(decoded.stats.row)), strict=True)
    assert [(row, key, _value(decoded.stats, place, data)) for row, key, place in told] == [
        (row, key, value) for row, event in enumerate(events) for key, value in event[3]
    ]


@given(_events, st.randoms(use_true_random=False), st.sampled_from([3, 1 << 15]), st.sampled_from([9, 1 << 18]))
def test_fields_are_decoded_in_any_order(events: list[Any], random: Any, chunk: int, block: int) -> None:
    parts = []
    for metadata, offset, duration, stats in events:
        told = [{"metadata_id": metadata}, {"offset_ps": offset or 0}, {"duration_ps": duration}]
        told += [{"stats": [{"metadata_id": key % 300, "int64_value": duration}]} for key, _ in stats]
        random.shuffle(told)
        parts.append([XSpace().planes.add().lines.add().events.add(**field).SerializeToString() for field in told])
    data = b"".join(_field(4, b"".join(event)) for event in parts)
    expected = type(XSpace().planes.add().lines.add()).FromString(data).events
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("laptime.importers.xplane_events._CHUNK", chunk)
        patch.setattr("laptime.importers.xplane_chains._BLOCK", block)
        data = _field(1, _field(2, b"/host:CPU") + _field(3, data))
        decoded = decode_events(Buffer(data), read_space(data).planes[0].lines[0].events, np.empty(0, np.int64))
    told = zip(decoded.metadata.tolist(), decoded.offset_ps.tolist(), decoded.duration_ps.tolist(), strict=True)
    assert list(told) == [(event.metadata_id, event.offset_ps, event.duration_ps) for event in expected]
    stats = zip(decoded.stats.row.tolist(), decoded.stats.key.tolist(), strict=True)
    assert list(stats) == [(row, stat.metadata_id) for row, event in enumerate(expected) for stat in event.stats]
    assert decoded.stats.value.view(np.int64).tolist() == [
        stat.int64_value for event in expected for stat in event.stats
    ]


def _field(number: int, data: bytes) -> bytes:
    """A length-delimited field."""
    length, size = [], len(data)
    while size >= 0x80:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([number << 3 | 2, *length, size]) + data


def _value(stats: Any, place: int, data: bytes) -> object:
    kind, value, begin = int(stats.kind[place]), stats.value[place : place + 1], int(stats.begin[place])
    if kind == 2:
        return float(value.view(np.float64)[0])
    if kind in (5, 6):
        text = data[begin : begin + int(value[0])]
        return text.decode() if kind == 5 else text
    return int(value.view(np.int64)[0])


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("jit(step)/transpose(jvp(MLP))/Dense_0/dot_general", "MLP/Dense_0"),
        ("jit(step)/jvp(layer1)/dot_general", "layer1"),
        ("jit(step)/transpose(jvp())/mul;jit(step)/Net/add", None),
        ("jit(step)/(transpose(jvp(A))/dot:jvp()/reduce_sum)", "A"),
        ("model/dense/MatMul:MatMul", "model/dense"),
        ("add", None),
    ],
)
def test_modules_are_paths_without_transforms(path: str, module: str | None) -> None:
    assert module_path(path) == module
