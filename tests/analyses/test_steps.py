"""Steps and what is said of them: marked or inferred, whole or not, averages, the parts of a step."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from laptime.analyses import averages
from laptime.analyses.report import report
from laptime.analyses.step_trace import StepTrace, as_json, step_trace
from laptime.importers.opening import open_run
from laptime.model.trace import Run, Trace
from laptime.model.workspace import Workspace
from tests.analyses import twin
from tests.analyses.events import MAIN, OTHER, US, Event, data, kernel, op, scope, step
from tests.conftest import SAMPLES

Opener = Callable[..., Run]


def _steps(trace: Trace) -> list[dict[str, Any]]:
    return list(trace.steps.arrow().to_pylist())


def _durations(trace: Trace) -> list[int]:
    """Of the whole steps."""
    return [row["end_ns"] - row["start_ns"] for row in _steps(trace) if row["complete"]]


# ---- marked ----


def _full_steps(first: int, last: int, *, length: int = 100) -> list[Event]:
    """Steps one after the other, each with 20 operators."""
    events = []
    for k, number in enumerate(range(first, last + 1)):
        begin = k * length
        events.append(step(number, begin, begin + length))
        events += [op("aten::add", begin + 2 * j, begin + 2 * j + 1) for j in range(20)]
    return events


def test_marked_steps_keep_their_numbers_and_spans(open_events: Opener) -> None:
    run = open_events(*_full_steps(7, 9), op("aten::add", 320, 330))
    found: dict[str, Any] = report(run)["ranks"][0]  # type: ignore[index]
    assert [(s["step"], s["index"], s["start_ns"], s["dur_ns"]) for s in found["steps"]] == [
        (7, 1, 0, 100 * US),
        (8, 2, 100 * US, 100 * US),
        (9, 3, 200 * US, 100 * US),
    ]
    assert {s["source"] for s in found["steps"]} == {"marked"}
    assert all(s["complete"] for s in found["steps"])
    assert found["step_summary"]["steps_used"] == 3


def test_copies_of_markers_on_the_device_are_no_steps(open_events: Opener) -> None:
    copies = [
        kernel(None, 110, 190, name="ProfilerStep#1", category="gpu_user_annotation"),
        kernel(None, 120, 180),
    ]
    assert [row["step"] for row in _steps(open_events(*_full_steps(1, 2), *copies).traces[0])] == [1, 2]


def test_the_thread_with_most_markers_tells_the_steps(open_events: Opener) -> None:
    elsewhere = [step(1, 10, 90, tid=OTHER)]
    rows = _steps(open_events(*_full_steps(1, 3), *elsewhere).traces[0])
    assert [(row["step"], row["start_ns"]) for row in rows] == [(1, 0), (2, 100 * US), (3, 200 * US)]


def test_a_nearly_empty_last_step_is_incomplete(open_events: Opener) -> None:
    """prof.step() after the last batch begins a step in which nothing happens any more."""
    run = open_events(*_full_steps(1, 3), step(4, 300, 304), op("aten::add", 301, 302))
    result: dict[str, Any] = report(run)
    assert [s["complete"] for s in result["ranks"][0]["steps"]] == [True, True, True, False]
    assert result["ranks"][0]["step_summary"]["steps_used"] == 3
    assert [w["count"] for w in result["warnings"] if w["code"] == "partial_step"] == [1]


@pytest.mark.parametrize(
    "last",
    [
        [step(4, 300, 304), *(op("aten::add", 300, 301) for _ in range(18))],  # short but as full as the others
        [step(4, 300, 400), op("aten::add", 301, 302)],  # as long as the others
    ],
)
def test_a_short_or_a_quiet_last_step_is_whole(open_events: Opener, last: list[Event]) -> None:
    rows = _steps(open_events(*_full_steps(1, 3), *last).traces[0])
    assert [row["complete"] for row in rows] == [True] * 4


def test_device_work_past_the_end_is_no_reason(open_events: Opener) -> None:
    late = kernel(None, 250, 900)
    assert all(row["complete"] for row in _steps(open_events(*_full_steps(1, 3), late).traces[0]))


def test_the_last_step_of_a_cut_file_is_incomplete(open_events: Opener) -> None:
    result: dict[str, Any] = report(open_events(*_full_steps(1, 3), tail=',\n{"ph": "X", "cat": "cpu_o'))
    assert "truncated" in [warning["code"] for warning in result["warnings"]]
    assert [s["complete"] for s in result["ranks"][0]["steps"]] == [True, True, False]
    assert result["ranks"][0]["step_summary"]["steps_used"] == 2


# ---- inferred ----


class _File(msgspec.Struct):
    traceEvents: list[msgspec.Raw]


def _without_markers(path: Path, folder: Path) -> Path:
    """The file without the events named ProfilerStep#N."""
    inflated = gzip.decompress(path.read_bytes())
    events = map(bytes, msgspec.json.decode(inflated, type=_File).traceEvents)
    found = folder / "without_markers.json"
    kept = b",\n".join(event for event in events if b'"ProfilerStep#' not in event)
    found.write_bytes(b'{"schemaVersion": 1, "traceEvents": [\n' + kept + b"\n]}")
    return found


def _recording(corpus: Path, case: str) -> Path:
    (path,) = (p for p in (corpus / "pytorch" / case).glob("*.json*") if p.name != "facts.json")
    return path


@pytest.mark.corpus
@pytest.mark.parametrize(
    "case",
    [
        "tb-resnet50-workers0",
        "tb-resnet50-workers4",
        "hta-dlrm-a100-8rank-r3",
        "hta-dlrm-v100-2rank-r1",
        "hta-v100-216k-events",
    ],
)
def test_inferred_steps_are_those_that_were_marked(
    corpus: Path, workspace: Workspace, tmp_path: Path, case: str
) -> None:
    path = _recording(corpus, case)
    marked = _durations(open_run(path, workspace=workspace).traces[0])
    trace = open_run(_without_markers(path, tmp_path), workspace=workspace).traces[0]
    inferred = _durations(trace)
    assert {row["source"] for row in _steps(trace)} == {"inferred"}
    assert len(inferred) == len(marked)
    means = [Fraction(sum(durations), len(durations)) for durations in (marked, inferred)]
    assert abs(means[1] / means[0] - 1) < Fraction(2, 100)


@pytest.mark.corpus
@pytest.mark.parametrize(
    "case", ["tl-b200-vllm-8rank-r0", "tl-mi300-sglang-decode-graph", "tl-mi300-sglang-prefill-decode"]
)
def test_a_layer_that_comes_back_is_no_step(corpus: Path, workspace: Workspace, case: str) -> None:
    assert _steps(open_run(_recording(corpus, case), workspace=workspace).traces[0]) == []


def test_a_hand_made_layer_that_comes_back_is_no_step(open_events: Opener) -> None:
    layers = [op(name, 300 + 20 * k + 5 * j, 304 + 20 * k + 5 * j) for k in range(12) for j, name in enumerate("abc")]
    around = [op("embed", 0, 290), op("head", 560, 1200)]
    assert _steps(open_events(*layers, *around).traces[0]) == []


@pytest.mark.parametrize(("name", "count"), [("no_steps", 6), ("inference", 4), ("threads", 0)])
def test_own_samples_without_markers(workspace: Workspace, name: str, count: int) -> None:
    """6 iterations, 4 batches, no loop at all: see tests/samples/pytorch/README.md."""
    (path,) = (SAMPLES / "pytorch").glob(f"{name}.pt.trace.json*")
    rows = _steps(open_run(path, workspace=workspace).traces[0])
    assert [(row["source"], row["step"], row["complete"]) for row in rows] == [
        ("inferred", number, True) for number in range(1, count + 1)
    ]


@pytest.mark.parametrize("name", ["tiny_train", "loader", "memory"])
def test_own_samples_with_their_markers_taken_out(workspace: Workspace, tmp_path: Path, name: str) -> None:
    (path,) = (SAMPLES / "pytorch").glob(f"{name}.pt.trace.json*")
    marked = _steps(open_run(path, workspace=workspace).traces[0])
    inferred = _steps(open_run(_without_markers(path, tmp_path), workspace=workspace).traces[0])
    assert len(inferred) == len(marked)


# ---- parts of a step ----


def _training_step(number: int, begin: int) -> list[Event]:
    """[begin, begin + 100): data 5 to 20, forward 22 to 40, backward on another thread 45 to 70, optimizer 75 to 95."""
    return [
        step(number, begin, begin + 100),
        data(begin + 5, begin + 20),
        op("aten::randperm", begin + 6, begin + 10),
        op("aten::linear", begin + 22, begin + 40),
        op("aten::addmm", begin + 24, begin + 30),
        op("autograd::engine::evaluate_function: AddmmBackward0", begin + 45, begin + 60, tid=OTHER),
        op("AddmmBackward0", begin + 46, begin + 55, tid=OTHER),
        op("autograd::engine::evaluate_function: AccumulateGrad", begin + 60, begin + 70, tid=OTHER),
        scope("Optimizer.step#SGD.step", begin + 75, begin + 95),
        op("aten::_foreach_add_", begin + 80, begin + 90),
    ]


def _trace_of(open_events: Opener, *events: Event) -> StepTrace:
    return step_trace(open_events(*events).traces[0])


def _parts(row: dict[str, Any]) -> tuple[Any, ...]:
    values = (row[key] for key in ("interval_ns", "forward_backward_ns", "tail_ns", "total_ns"))
    return tuple(None if value is None else value / US for value in values)


def test_parts(open_events: Opener) -> None:
    """Step 2 begins 10 us after step 1 ended, step 3 at once: interval is previous end -> forward start."""
    steps = [*_training_step(1, 0), *_training_step(2, 110), *_training_step(3, 210)]
    result = _trace_of(open_events, *steps)
    assert [_parts(row) for row in result.steps[1:]] == [(32, 48, 30, 110), (22, 48, 30, 100)]
    assert [row["gap_before_ns"] for row in result.steps[1:]] == [10 * US, 0]
    assert result.forward_start_op == "aten::linear"
    assert result.backward_end_op == "autograd::engine::evaluate_function: AccumulateGrad"
    assert result.average is not None
    assert result.average["steps_used"] == 2
    assert result.average["first_step_included"] is False
    assert _parts(result.average) == (27, 48, 30, 105)
    assert result.p90 is not None
    assert _parts(result.p90) == (31, 48, 30, 109)


def test_the_first_step_has_no_interval(open_events: Opener) -> None:
    """Contract: "interval is previous end -> forward start (the first step's is null or 0, said so)"."""
    result = _trace_of(open_events, *_training_step(1, 0), *_training_step(2, 100))
    first = result.steps[0]
    assert first["interval_ns"] in (None, 0)
    assert first["forward_backward_ns"] == 48 * US
    assert first["tail_ns"] == 30 * US


def test_a_lone_step_is_its_own_average(open_events: Opener) -> None:
    result = _trace_of(open_events, *_training_step(1, 0))
    assert result.average is not None
    assert result.average["first_step_included"] is True
    assert result.average["steps_used"] == 1
    assert result.average["total_ns"] == 100 * US


def test_the_parts_of_the_average_sum_where_some_steps_have_none(open_events: Opener) -> None:
    """Step 3 evaluates: no forward pass is known in it, so that it tells of no mean step."""
    evaluating = [step(3, 200, 250), op("evaluate", 205, 245)]
    result = _trace_of(open_events, *_training_step(1, 0), *_training_step(2, 100), *evaluating)
    assert _parts(result.steps[2]) == (None, None, None, 50)
    assert result.average is not None
    assert _parts(result.average) == (22, 48, 30, 100)
    assert result.average["steps_used"] == 1


def test_without_phases_the_total_is_kept(open_events: Opener) -> None:
    result = _trace_of(open_events, step(1, 0, 50), step(2, 50, 90), op("aten::mm", 55, 60))
    assert [_parts(row) for row in result.steps] == [(None, None, None, 50), (None, None, None, 40)]
    assert {entry["step"] for entry in result.skipped} == {1, 2}


def test_forward_starts_after_the_last_data_slice(open_events: Opener) -> None:
    """Gradients accumulated over two batches: "forward start = first forward op after the last data slice"."""
    second = [
        data(172, 180),
        op("aten::linear", 182, 184),
        op("autograd::engine::evaluate_function: AddmmBackward0", 186, 190, tid=OTHER),
    ]
    batch = [event for event in _training_step(2, 100) if not event["name"].startswith(("Optimizer", "aten::_foreach"))]
    result = _trace_of(open_events, *_training_step(1, 0), *batch, *second)
    assert _parts(result.steps[1]) == (82, 8, 10, 100)


def test_communication_of_a_step(open_events: Opener) -> None:
    events = [
        *_training_step(1, 0),
        *_training_step(2, 100),
        kernel(None, 50, 60, name="ncclDevKernel_AllReduce"),
        kernel(None, 190, 230, name="ncclDevKernel_AllReduce", stream=9),
        op("gloo:all_reduce", 120, 125, tid=MAIN),
    ]
    result = _trace_of(open_events, *events)
    found: list[list[dict[str, Any]]] = [row["communication"] for row in result.steps]  # type: ignore[misc]
    assert [[(c["name"], c["start_ns"] // US, c["dur_ns"] // US) for c in row] for row in found] == [
        [("ncclDevKernel_AllReduce", 50, 10)],
        [("gloo:all_reduce", 120, 5), ("ncclDevKernel_AllReduce", 190, 40)],
    ]


def test_collectives_name_their_slices_and_the_average_has_its_own(open_events: Opener) -> None:
    """The first step does not count in the average; times of the average begin with the step."""
    kernels = [kernel(None, begin, end, name="ncclDevKernel_AllReduce") for begin, end in ((50, 60), (190, 200))]
    run = open_events(*_training_step(1, 0), *_training_step(2, 100), *kernels)
    trace = run.traces[0]
    told: dict[str, Any] = as_json(step_trace(trace), trace)
    names = trace.slices.objects("name")
    for step_told in told["steps"]:
        for each in step_told["communication"]:
            assert names[each["slice_id"]] == each["name"]
            assert trace.slices["start_ns"][each["slice_id"]] == each["start_ns"]
    average = told["average"]["communication"]
    assert [(each["name"], each["start_ns"] // US, each["dur_ns"] // US) for each in average] == [
        ("ncclDevKernel_AllReduce", 90, 10)
    ]


# ---- averages ----

_values = st.lists(st.integers(0, 10**12), min_size=1, max_size=12)


@given(_values)
def test_mean_rounds_half_up(values: list[int]) -> None:
    assert averages.mean(values) == twin.mean(values)


@example([0] * 7 + [5], (90, twin.P90))  # 1.5 rounds up
@example([0] * 9 + [25], (90, twin.P90))  # 2.5 rounds up
@given(_values, st.sampled_from([(50, twin.P50), (90, twin.P90)]))
def test_quantiles_interpolate_and_round_half_up(values: list[int], share: tuple[int, Fraction]) -> None:
    assert averages.quantile(values, share[0]) == twin.quantile(values, share[1])


@given(st.lists(st.tuples(*[st.integers(0, 10**12)] * 4), min_size=1, max_size=9))
def test_mean_parts_sum_to_the_mean_total(rows: list[tuple[int, ...]]) -> None:
    columns = list(zip(*rows, strict=True))
    total = twin.mean([sum(row) for row in rows])
    parts = averages.mean_parts(columns, total)
    assert sum(parts) == total
    assert all(abs(part * len(rows) - sum(column)) < len(rows) for part, column in zip(parts, columns, strict=True))


def test_averages_round_halves_up() -> None:
    assert [averages.mean(values) for values in ([1, 2], [2, 3], [0, 0, 1])] == [2, 3, 0]
    assert [averages.quantile(values, 50) for values in ([1, 2], [2, 3])] == [2, 3]
    assert averages.quantile([0, 5], 90) == 5
