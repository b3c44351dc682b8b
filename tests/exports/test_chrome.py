"""Chrome trace events written from a trace: rows are stacks, and nothing is lost on the way back."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from laptime.analyses.parts import Part
from laptime.analyses.ranges import chosen_steps, starting_in
from laptime.errors import LaptimeError
from laptime.exports.chrome import write_chrome
from laptime.importers.opening import open_run
from laptime.model.trace import Trace
from laptime.model.workspace import Workspace
from tests.conftest import EXAMPLE, SAMPLES
from tests.exports.chrome_checks import (
    Event,
    assert_equal_traces,
    assert_only_nests_or_follows,
    events_of,
    import_alone,
    plain_table,
    read_document,
)

OWN = [path for folder in (SAMPLES / "pytorch", EXAMPLE) for path in sorted(folder.rglob("*.pt.trace.json*"))]
OWN += sorted((SAMPLES / "pytorch" / "ddp2").iterdir())
CORPUS = (
    "hta-nccl-args-a100/nccl_data.json.gz",
    "hta-amd-mi250-minitoy/mi250_minitoy_train_ROCm6_2_kineto.json.gz",
    "hta-cuda-event-sync/event_sync_trace.json.gz",
    "tl-vllm-decode-fullgraph/graph_execution.json.gz",
    "tl-b200-vllm-8rank-r0/eager_trace.json.gz",
    "tl-mi300-resnet-act-checkpoint/resnet_act_checkpoint.json.gz",
    "malformed/B_E_phases.json",
    "malformed/kernel_ts_zero.json",
)


def round_trip(
    source: Path, tmp_path: Path, workspace: Workspace, *, ending: str = ".json"
) -> tuple[Trace, Trace, Path]:
    """The trace of a file, what comes back of its export, and the export."""
    target = tmp_path / f"exported{ending}"
    first = import_alone(source, workspace)
    write_chrome(first, target)
    return first, import_alone(target, workspace), target


def written(tmp_path: Path, events: list[Event], **header: object) -> Path:
    """A recording made of events."""
    path = tmp_path / "recording.json"
    path.write_text(json.dumps({**header, "traceEvents": events}))
    return path


def complete(name: str, start: float, dur: float | None, **fields: object) -> Event:
    """A slice."""
    timed = {} if dur is None else {"dur": dur}
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start, **timed, **fields}


@pytest.mark.parametrize("source", OWN, ids=lambda path: f"{path.parent.name}-{path.name.split('.')[0]}")
def test_own_recordings_come_back_equal(source: Path, tmp_path: Path, workspace: Workspace) -> None:
    first, second, target = round_trip(source, tmp_path, workspace)
    assert_only_nests_or_follows(events_of(target))
    assert_equal_traces(first, second)


@pytest.mark.corpus
@pytest.mark.parametrize("source", CORPUS)
def test_real_recordings_come_back_equal(source: str, corpus: Path, tmp_path: Path, workspace: Workspace) -> None:
    first, second, target = round_trip(corpus / "pytorch" / source, tmp_path, workspace, ending=".json.gz")
    assert_only_nests_or_follows(events_of(target))
    assert_equal_traces(first, second)


def test_the_checker_finds_slices_that_cross() -> None:
    inside, after = complete("inside", 2, 8), complete("after", 10, 1)
    assert_only_nests_or_follows([complete("outer", 0, 10), inside, after])
    with pytest.raises(AssertionError, match="'late' at 9000 ns crosses"):
        assert_only_nests_or_follows([complete("outer", 0, 10), complete("late", 9, 2)])


def test_crossing_slices_get_a_tid_of_their_own(tmp_path: Path, workspace: Workspace) -> None:
    """On threads, streams and annotation rows alike; all come back to their track and lane."""
    device = {"args": {"device": 0, "stream": 7}, "pid": 0, "tid": 7}
    events = [
        complete("a", 0, 10),
        complete("b", 5, 10),
        complete("c", 6, 2),
        complete("k1", 0, 10, **{**device, "cat": "kernel"}),
        complete("k2", 5, 10, **{**device, "cat": "kernel"}),
        complete("r1", 1, 10, **{**device, "cat": "gpu_user_annotation"}),
        complete("r2", 5, 10, **{**device, "cat": "gpu_user_annotation"}),
        complete("w", 4, 3, **{**device, "cat": "cuda_sync"}),
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "main"}},
    ]
    first, second, target = round_trip(written(tmp_path, events, schemaVersion=1), tmp_path, workspace)
    assert first.slices["lane"].max() == 1
    assert_only_nests_or_follows(events_of(target))
    assert_equal_traces(first, second)
    tids = {event["name"]: event["tid"] for event in events_of(target) if event["ph"] == "X"}
    assert [tids[name] for name in ("a", "b", "c")] == [1, "1 lane 1", "1 lane 1"]
    assert [tids[name] for name in ("k1", "k2")] == [7, "7 lane 1"]
    assert [tids[name] for name in ("r1", "r2", "w")] == ["7 annotations", "7 annotations lane 1", "7 waits"]


def test_every_form_of_event_comes_back(tmp_path: Path, workspace: Workspace) -> None:
    """Asynchronous slices, counters, points, odd names and ids, slices without a duration, times before zero."""
    events: list[Event] = [
        complete(
            'quoted "name" \\ 漢字\n', -1.25, 3.001, cat="work", pid="GPU 0", tid="stream 07", args={"x": '"}, {"'}
        ),
        complete("untimed", 2, None, cat="work"),
        complete("zero", 2, 0, cat="work"),
        {"ph": "X", "ts": 3, "dur": 1},
        {"ph": "b", "cat": "io", "name": "read", "id": 5, "pid": 1, "tid": 1, "ts": 1, "args": {"file": "x"}},
        {"ph": "b", "cat": "io", "name": "read", "id": 6, "pid": 1, "tid": 2, "ts": 2},
        {"ph": "e", "cat": "io", "name": "read", "id": 5, "pid": 1, "tid": 2, "ts": 4},
        {"ph": "e", "cat": "io", "name": "read", "id": 6, "pid": 1, "tid": 2, "ts": 4},
        {"ph": "C", "name": "load", "pid": 1, "ts": 1, "args": {"user": 0.1, "system": 1e300}},
        {"ph": "C", "name": "load", "pid": 1, "ts": 2, "args": {"user": "nan", "system": -3}},
        {"ph": "C", "name": "temperature", "pid": 1, "ts": 2, "args": {"value": 61}},
        {"ph": "i", "s": "g", "name": "mark", "pid": 1, "tid": 9, "ts": 1.5, "args": {"why": None}},
        {"ph": "E", "pid": 3, "tid": 3, "ts": 1},
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}},
        {"ph": "M", "name": "process_sort_index", "pid": 1, "args": {"sort_index": 9}},
        {"ph": "M", "name": "thread_sort_index", "pid": 1, "tid": 1, "args": {"sort_index": 9}},
    ]
    first, second, target = round_trip(written(tmp_path, events), tmp_path, workspace)
    assert first.meta["format"] == "chrome_trace"
    assert first.slices.row_count == 6
    assert_equal_traces(first, second)
    assert_only_nests_or_follows(events_of(target))


def test_a_foreign_trace_stays_one_when_pytorch_words_come_early(tmp_path: Path, workspace: Workspace) -> None:
    """The first MiB decides the dialect, and an export has another order."""
    padding = [complete("pad", 10 + k, 1, cat="odd", args={"text": "x" * 1000}) for k in range(1100)]
    source = written(tmp_path, [*padding, complete("k", 1, 1, cat="kernel", tid=0)])
    first, second, _ = round_trip(source, tmp_path, workspace)
    assert first.meta["format"] == second.meta["format"] == "chrome_trace"
    assert_equal_traces(first, second)


def test_times_keep_their_nanosecond(tmp_path: Path, workspace: Workspace) -> None:
    source = tmp_path / "recording.json"
    text = '{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1712195478123456.789,"dur":0.001}'
    source.write_text('{"schemaVersion":1,"traceEvents":[' + text + "," + text.replace("789", "791") + "]}")
    first, second, target = round_trip(source, tmp_path, workspace)
    assert first.slices["start_ns"].tolist() == [0, 2]
    assert_equal_traces(first, second)
    numbers = re.findall(r'"(?:ts|dur)":([^,}]+)', target.read_text())
    assert numbers == ["1712195478123456.789", "0.001", "1712195478123456.791", "0.001"]


def test_links_bind_where_a_child_covers_the_start(tmp_path: Path, workspace: Workspace) -> None:
    link = {"cat": "fwdbwd", "name": "fwdbwd", "id": 1, "pid": 1}
    events = [
        complete("forward", 0, 10),
        complete("child", 0, 4),
        complete("backward", 20, 5, tid=2),
        {"ph": "s", "tid": 1, "ts": 6, **link},
        {"ph": "f", "bp": "e", "tid": 2, "ts": 20, **link},
    ]
    first, second, target = round_trip(written(tmp_path, events, schemaVersion=1), tmp_path, workspace)
    assert first.flows["from_id"].tolist() == [0]
    assert_equal_traces(first, second)
    (start,) = [event for event in events_of(target) if event["ph"] == "s"]
    assert str(start["ts"]) == "4.001"


def test_launches_are_drawn_as_arrows(tmp_path: Path, workspace: Workspace) -> None:
    call = complete("cudaLaunchKernel", 0, 2, cat="cuda_runtime", args={"correlation": 4})
    kernel = complete("k", 5, 2, cat="kernel", pid=0, tid=7, args={"correlation": 4, "device": 0, "stream": 7})
    first, second, target = round_trip(written(tmp_path, [call, kernel], schemaVersion=1), tmp_path, workspace)
    assert_equal_traces(first, second)
    ends = [(event["ph"], event["cat"], event["tid"]) for event in events_of(target) if event["ph"] in "sf"]
    assert ends == [("s", "ac2g", 1), ("f", "ac2g", 7)]


def test_memory_samples_are_not_written_twice(tmp_path: Path, workspace: Workspace) -> None:
    first, second, target = round_trip(SAMPLES / "pytorch" / "memory.pt.trace.json.gz", tmp_path, workspace)
    assert first.table("counters").row_count == second.table("counters").row_count > 0
    assert not [event for event in events_of(target) if event["ph"] == "C"]


# ---- what may differ ----


def test_a_step_cut_by_the_end_of_the_file_counts_as_complete_afterwards(tmp_path: Path, workspace: Workspace) -> None:
    source = written(
        tmp_path, [complete("ProfilerStep#1", 0, 5, cat="user_annotation"), complete("cut", 6, 1)], schemaVersion=1
    )
    source.write_text(source.read_text()[:-20])
    first, second, _ = round_trip(source, tmp_path, workspace)
    assert first.meta["warnings"] != second.meta["warnings"]
    assert first.steps.objects("complete") == [False]
    assert second.steps.objects("complete") == [True]
    assert plain_table(first, "slices").equals(plain_table(second, "slices"))


def test_memory_events_of_one_nanosecond_may_change_places(tmp_path: Path, workspace: Workspace) -> None:
    def event(tid: int, address: int, total: int) -> Event:
        args = {"Addr": address, "Bytes": 8, "Total Allocated": total, "Device Type": 0, "Device Id": -1}
        return {"ph": "i", "name": "[memory]", "pid": 1, "tid": tid, "ts": 1, "args": args}

    source = written(tmp_path, [complete("a", 0, 5), event(2, 64, 8), event(1, 128, 16)], schemaVersion=1)
    first, second, _ = round_trip(source, tmp_path, workspace)
    assert first.table("counters")["value"].tolist() == [8.0, 16.0]
    assert sorted(second.table("counters")["value"].tolist()) == [8.0, 16.0]
    for name in ("slices", "instants", "allocations"):
        assert plain_table(first, name).equals(plain_table(second, name)), name


# ---- files ----


@pytest.mark.parametrize("ending", [".json", ".json.gz", ".json.zst"])
def test_the_ending_chooses_the_compression(ending: str, tmp_path: Path, workspace: Workspace) -> None:
    first, second, target = round_trip(
        SAMPLES / "pytorch" / "ddp2" / "rank1.json.gz", tmp_path, workspace, ending=ending
    )
    magic = {".json": b'{"la', ".json.gz": b"\x1f\x8b", ".json.zst": b"\x28\xb5\x2f\xfd"}[ending]
    assert target.read_bytes().startswith(magic)
    document = read_document(target)
    assert document["distributedInfo"] == {"backend": "gloo", "rank": 1, "world_size": 2}
    assert document["schemaVersion"] == 1
    assert (first.rank, second.rank) == (1, 1)


def test_a_recording_without_events_is_written(tmp_path: Path, workspace: Workspace) -> None:
    first, second, target = round_trip(written(tmp_path, [], schemaVersion=1), tmp_path, workspace)
    assert events_of(target) == []
    assert_equal_traces(first, second)


def test_a_failure_leaves_no_file_behind(tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = import_alone(written(tmp_path, [complete("a", 0, 1)], schemaVersion=1), workspace)
    folder = tmp_path / "out"
    with pytest.raises(LaptimeError, match="No such file"):
        write_chrome(trace, folder / "trace.json")
    folder.mkdir()

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("laptime.exports.chrome.find_arrows", fail)
    with pytest.raises(LaptimeError, match="No space left on device"):
        write_chrome(trace, folder / "trace.json")
    assert list(folder.iterdir()) == []


# ---- a part of a recording ----


def _check_part(trace: Trace, part: Part, target: Path, workspace: Workspace) -> Trace:
    """The part comes back: its slices with all they have, its steps, no link to what was left out."""
    write_chrome(trace, target, part)
    assert_only_nests_or_follows(events_of(target))
    second = import_alone(target, workspace)
    kept = starting_in(trace, np.arange(trace.slices.row_count), part)
    assert second.slices.row_count == np.count_nonzero(kept) > 0
    columns = ["name", "dur_ns", "category", "bytes"]
    ours, theirs = (sorted(map(repr, each.slices.arrow(columns).to_pylist())) for each in (trace, second))
    expected = trace.slices.arrow(columns).filter(pa.array(kept)).to_pylist()
    assert theirs == sorted(map(repr, expected)) != ours
    assert second.steps["step"].tolist() == trace.steps["step"][chosen_steps(trace, part)].tolist()
    both = kept[trace.flows["from_id"]] & kept[trace.flows["to_id"]]
    assert second.flows.row_count == np.count_nonzero(both)
    return second


def test_steps_of_a_recording(tmp_path: Path, workspace: Workspace) -> None:
    trace = import_alone(SAMPLES / "pytorch" / "tiny_train.pt.trace.json.gz", workspace)
    numbers = trace.steps["step"].tolist()
    part = Part(steps=((numbers[1], numbers[1]),))
    _check_part(trace, part, tmp_path / "part.json.gz", workspace)


def test_a_part_that_there_is_not_is_an_error_and_leaves_no_file(tmp_path: Path, workspace: Workspace) -> None:
    trace = import_alone(SAMPLES / "pytorch" / "tiny_train.pt.trace.json.gz", workspace)
    with pytest.raises(LaptimeError, match="no step 99"):
        write_chrome(trace, tmp_path / "part.json", Part(steps=((99, 99),)))
    assert not list(tmp_path.glob("*part*"))


@pytest.mark.corpus
@pytest.mark.parametrize(
    "source",
    [
        "pytorch/hta-nccl-args-a100/nccl_data.json.gz",
        "megengine/mlp_backtrace",
        "mindinsight/job3_widedeep_raw",
        "ascend/pt-text-level1/rank0_ascend_pt",
        "jax_xplane/jax_cpu_dp4",
    ],
)
def test_steps_of_real_recordings(source: str, corpus: Path, tmp_path: Path, workspace: Workspace) -> None:
    trace = open_run(corpus / source, workspace=workspace).traces[0]
    numbers = trace.steps["step"].tolist()
    place = min(2, len(numbers) - 1)
    second = _check_part(trace, Part(steps=((numbers[place], numbers[place]),)), tmp_path / "part.json.gz", workspace)
    assert second.meta["format"] == trace.meta["format"]


@pytest.mark.corpus
def test_memory_of_a_part(corpus: Path, tmp_path: Path, workspace: Workspace) -> None:
    trace = open_run(corpus / "pytorch" / "hta-v100-216k-events", workspace=workspace).traces[0]
    second = _check_part(trace, Part(steps=((3, 4),)), tmp_path / "part.json.gz", workspace)
    assert 0 < second.table("counters").row_count < trace.table("counters").row_count
    assert 0 < second.table("allocations").row_count < trace.table("allocations").row_count
