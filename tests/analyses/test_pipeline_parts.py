"""The data pipeline of a part of a recording: written by hand, against a slow twin, and parts that add up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.parts import WHOLE, Part
from laptime.analyses.pipeline import pipeline
from laptime.analyses.queue_curve import queue_curve
from laptime.errors import LaptimeError
from laptime.importers.opening import open_run
from laptime.model.trace import Run, Trace
from laptime.model.workspace import Workspace
from tests.analyses.events import US, data, op, step
from tests.analyses.pipeline_twin import pipeline_twin
from tests.conftest import SAMPLES

Opener = Callable[..., Run]
_AHEAD = 1_700_000_000_000_000_000


def steps(*numbers: int) -> Part:
    """A part of these steps."""
    return Part(steps=tuple((number, number) for number in numbers))


def told(trace: Trace, part: Part = WHOLE) -> Any:
    """The JSON."""
    return pipeline(trace, part)


# ---- a loader's waits ----


def test_batches_between_steps_belong_to_the_later_one(open_events: Opener) -> None:
    waits = [data(5, 8), data(100, 130), data(195, 198), data(210, 220), data(285, 310), data(395, 399)]
    marks = [step(1, 100, 190), step(2, 200, 290), step(3, 300, 390)]
    (trace,) = open_events(*marks, *waits, op("aten::mm", 0, 400)).traces
    bounds = {number: told(trace, steps(number))["data_bound"] for number in (1, 2, 3)}
    assert {number: (bound["batches"], bound["wait_ns"] / US) for number, bound in bounds.items()} == {
        1: (1, 30),
        2: (3, 10 + 5),
        3: (0, 10),
    }
    assert bounds[2]["mean_wait_ns"] == 5 * US
    assert bounds[2]["share_of_step"] == 15 / 90
    assert bounds[3]["mean_wait_ns"] is None
    two = told(trace, Part(from_ns=200 * US, to_ns=301 * US))
    assert (two["data_bound"]["batches"], two["data_bound"]["wait_ns"]) == (3, 25 * US)
    assert two["range"] == {"from_ns": 200 * US, "to_ns": 301 * US, "steps": None}
    assert told(trace)["range"] is None
    assert told(trace, Part(from_ns=201 * US, to_ns=202 * US))["data_bound"] is None


@pytest.mark.parametrize("ask", [pipeline, lambda trace, part: queue_curve(trace, part=part)])
def test_a_part_that_is_not_there(open_events: Opener, ask: Callable[[Trace, Part], object]) -> None:
    (trace,) = open_events(step(1, 0, 90), data(10, 20)).traces
    with pytest.raises(LaptimeError, match=r"no step 7: step numbers 1: choose some of these"):
        ask(trace, steps(7))
    with pytest.raises(LaptimeError, match=r"nothing was recorded: from 90000 ns on"):
        ask(trace, Part(from_ns=90 * US))


# ---- laptime's own recordings ----

_LOG: list[list[object]] = [
    ["begin", 1, 1_000, _AHEAD],
    ["thread", 10, "MainThread", 10],
    ["thread", 11, "worker", 12],
    ["pipeline_op", 0, "pin memory", "pin", 1, None, "device"],
    ["pipeline_op", 1, "collate", "stack", 2, 0, "host"],
    ["pipeline_op", 2, "fetch", "Data", 2, 1, None],
    ["slice", 10, "data loader starts", "host_other", 1_000, 1_400],
    ["start_up", 1_000, 1_400],
    ["step", 1, 1_400, 2_000, True, 1],
    ["queue", "host", "process", 1_450, 0, 4],
    ["queue", "device", "send", 1_450, 2, 4],
    ["slice", 10, "next batch", "data", 1_450, 1_750],
    ["slice", 11, "fetch", "data", 1_500, 1_600],
    ["slice", 11, "collate", "data", 1_600, 1_640],
    ["queue", "host", "process", 2_050, 4, 4],
    ["queue", "device", "send", 2_050, 1, 4],
    ["start_up", 2_100, 2_160],
    ["step", 2, 2_100, 2_600, True, 1],
    ["queue", "host", "process", 2_200, 3, 4],
    ["slice", 10, "next batch", "data", 2_200, 2_210],
    ["slice", 11, "fetch", "data", 2_300, 2_700],
    ["step", 3, 2_600, 3_000, True, 1],
    ["slice", 10, "forward", "scope", 2_600, 2_900],
    ["end", 1, 3_100, "whole"],
]
"""Three steps; between the first two a batch is asked for, in the third none."""


@pytest.fixture
def watched(tmp_path: Path, workspace: Workspace) -> Trace:
    """What laptime recorded of a loader with two queues and a worker."""
    facts = {"laptime": 1, "framework": "pytorch", "rank": 0, "world_size": 1, "pid": 10, "main_thread": 10}
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.laptime.jsonl").write_text(f"{json.dumps(facts)}\n{json.dumps(_LOG)}\n")
    return open_run(tmp_path / "out", workspace=workspace).traces[0]


def test_queues_of_a_part_are_those_of_its_samples(watched: Trace) -> None:
    first = told(watched, steps(1))
    host, device = first["queues"]
    assert (host["samples"], host["mean_size"], host["empty_count"], host["full_count"]) == (1, 0, 1, 0)
    assert (device["samples"], device["usage_share"]) == (1, 0.5)
    assert first["stage_verdict"]["stage"] == "process"
    pin, collate, fetch = first["operators"]
    assert pin["output_queue"] == {"capacity": 4, "mean_size": 2, "usage_share": 0.5, "empty_share": 0, "samples": 1}
    assert collate["output_queue"] == {"capacity": 4, "mean_size": 0, "usage_share": 0, "empty_share": 1, "samples": 1}
    assert [(each["count"], each["total_ns"]) for each in (pin, collate, fetch)] == [(None, None), (1, 40), (1, 100)]
    assert first["bottleneck"]["op_type"] == "fetch"
    assert first["start_up_ns"] == []
    second = told(watched, steps(2))
    assert [queue["samples"] for queue in second["queues"]] == [1, 0]
    assert second["stage_verdict"] is None  # whether the device's queue ran empty was not looked at
    assert second["start_up_ns"] == [60]
    assert (second["data_bound"]["waits"], second["data_bound"]["wait_ns"], second["bottleneck"]) == (0, 10, None)


def test_a_sample_between_steps_counts_by_its_time(watched: Trace) -> None:
    origin = 1_000
    between = told(watched, Part(from_ns=2_010 - origin, to_ns=2_060 - origin))
    assert [(queue["samples"], queue["mean_size"]) for queue in between["queues"]] == [(1, 4), (1, 1)]
    assert between["data_bound"] is None  # no step begins
    assert told(watched, steps(1, 2, 3))["queues"][0]["samples"] == 2
    curve = queue_curve(watched, "device", part=Part(from_ns=2_010 - origin))
    assert [(row["step"], row["ts_ns"], row["size"]) for row in curve.samples] == [(None, 1_050, 1)]


def test_a_step_without_a_batch(watched: Trace) -> None:
    third = told(watched, steps(3))
    assert [(queue["samples"], queue["mean_size"], queue["empty_count"]) for queue in third["queues"]] == [
        (0, None, 0),
        (0, None, 0),
    ]
    bound = third["data_bound"]
    assert (bound["batches"], bound["wait_ns"], bound["mean_wait_ns"], bound["waits"]) == (0, 0, None, 0)
    assert [op["output_queue"] and op["output_queue"]["usage_share"] for op in third["operators"]] == [None] * 3
    assert (third["stage_verdict"], third["bottleneck"]) == (None, None)
    assert [(op["count"], op["total_ns"]) for op in third["operators"]] == [(None, None), (0, 0), (0, 0)]


# ---- real recordings ----

RECORDINGS = (
    "pytorch/own-cpu-dataloader-workers0",
    "pytorch/own-cpu-dataloader-workers2",
    "mindspore/ms200-graph-slow-map",
    "mindspore/ms200-graph-sink",
    "mindinsight/job3_widedeep_raw",
    "mindinsight/run_2_alexnet_parsed",
    "megengine/loader_starved_workers1",
    "jax_xplane/jax_cpu_inputbound",
)


def _parts(trace: Trace) -> list[Part]:
    """Single steps and ranges of them, and of time."""
    numbers = trace.steps["step"].tolist()
    start, end = trace.steps["start_ns"].tolist(), trace.steps["end_ns"].tolist()
    few = sorted({*numbers[:3], *numbers[-2:], numbers[len(numbers) // 2]})
    middle = start[len(start) // 2]
    return [
        *(steps(number) for number in few),
        Part(steps=((numbers[0], numbers[len(numbers) // 2]), (numbers[-1], None))),
        Part(from_ns=middle),
        Part(to_ns=middle),
        Part(from_ns=start[0], to_ns=end[-1], steps=((None, numbers[-1]),)),
    ]


def _same_as_the_twin(trace: Trace) -> None:
    for part in _parts(trace):
        found, expected = told(trace, part), pipeline_twin(trace, part)
        figures = [{key: each[key] for key in expected["operators"][0]} for each in found["operators"]]
        assert {**{key: found[key] for key in expected}, "operators": figures} == expected, part


def _adds_up(trace: Trace) -> None:
    """Steps one by one add up to all of them, and where all that counts has a step, to the whole."""
    numbers = trace.steps["step"].tolist()
    whole, every = told(trace), told(trace, steps(*numbers))
    single = [told(trace, steps(number)) for number in numbers]
    bounds = [each["data_bound"] for each in single if each["data_bound"] is not None]
    if whole["data_bound"] is None:
        assert bounds == []
    else:
        assert sum(bound["wait_ns"] for bound in bounds) == every["data_bound"]["wait_ns"]
        assert sum(bound["batches"] for bound in bounds) == every["data_bound"]["batches"]
        covered = len(bounds) == len(numbers) and trace.meta.get("minddata") is None
        if covered or whole["data_bound"]["batches"] == every["data_bound"]["batches"]:
            assert every["data_bound"]["wait_ns"] == whole["data_bound"]["wait_ns"]
            assert every["data_bound"]["batches"] == whole["data_bound"]["batches"]
    for place, queue in enumerate(whole["queues"]):
        parts = [each["queues"][place] for each in single]
        for count in ("samples", "empty_count", "full_count"):
            values = [part[count] for part in parts]
            known = None if None in values else sum(values)
            assert known == every["queues"][place][count]
        if every["queues"][place]["samples"] == queue["samples"]:
            assert every["queues"][place] == queue


@pytest.mark.corpus
@pytest.mark.parametrize("case", RECORDINGS)
def test_parts_of_real_recordings(corpus: Path, workspace: Workspace, case: str) -> None:
    trace = open_run(corpus / case, workspace=workspace).traces[0]
    assert told(trace)["data_bound"] or told(trace)["queues"]
    _same_as_the_twin(trace)
    _adds_up(trace)


def test_parts_of_the_sample_of_the_recorder(workspace: Workspace) -> None:
    (trace,) = open_run(SAMPLES / "laptime" / "plain.laptime.jsonl", workspace=workspace).traces
    _same_as_the_twin(trace)
    _adds_up(trace)
    (whole,), numbers = told(trace)["operators"], trace.steps["step"].tolist()
    parts = [told(trace, steps(number))["operators"][0]["output_queue"] for number in numbers]
    assert [part["samples"] for part in parts] == [1] * len(numbers)
    assert sum(part["mean_size"] for part in parts) / len(parts) == whole["output_queue"]["mean_size"]
    assert sum(part["empty_share"] for part in parts) / len(parts) == whole["output_queue"]["empty_share"]


@pytest.mark.corpus
def test_what_minddata_tells_of_all_steps_only_is_unknown_for_some(corpus: Path, workspace: Workspace) -> None:
    trace = open_run(corpus / "mindspore" / "ms200-graph-slow-map", workspace=workspace).traces[0]
    number = trace.steps["step"].tolist()[1]
    part = told(trace, steps(number))
    assert part["bottleneck"] is None
    unknown = {"mean_size": None, "usage_share": None, "empty_share": None, "samples": None}
    queues = [op["output_queue"] for op in part["operators"] if op["output_queue"]]
    assert queues
    assert all({**queue, "capacity": None} == {**unknown, "capacity": None} for queue in queues)
    assert all(queue["capacity"] for queue in queues)
    assert (part["queues"][0]["samples"], part["data_bound"]["batches"]) == (1, 1)
    curve = queue_curve(trace, "op 3", part=steps(number))
    assert (curve.sample_count, curve.samples) == (None, [])
    assert [row["step"] for row in curve.waits] == [number]
    assert queue_curve(trace, "op 3").sample_count


@pytest.mark.corpus
def test_the_first_batch_alone_is_no_wait(corpus: Path, workspace: Workspace) -> None:
    trace = open_run(corpus / "mindspore" / "ms200-graph-slow-map", workspace=workspace).traces[0]
    whole, first = told(trace)["data_bound"], told(trace, steps(1))["data_bound"]
    assert (first["batches"], first["wait_ns"], first["mean_wait_ns"]) == (1, 0, None)
    assert first["first_wait_ns"] == whole["first_wait_ns"] == 351_000_000
    assert told(trace, Part(steps=((2, None),)))["data_bound"]["first_wait_ns"] is None


@pytest.mark.corpus
@pytest.mark.parametrize("case", RECORDINGS)
def test_curves_of_parts_are_pieces_of_the_whole(corpus: Path, workspace: Workspace, case: str) -> None:
    trace = open_run(corpus / case, workspace=workspace).traces[0]
    numbers = trace.steps["step"].tolist()
    chosen = numbers[len(numbers) // 2 :]
    for queue in queue_curve(trace).queues or [None]:
        whole, part = queue_curve(trace, queue), queue_curve(trace, queue, part=steps(*chosen))
        assert part.waits == [row for row in whole.waits if row["step"] in chosen]
        if part.sample_count is None:
            assert (part.samples, {row["step"] for row in whole.samples}) == ([], {None})
        else:
            assert part.samples == [row for row in whole.samples if row["step"] in chosen]
