"""What slices wait for and what waits for them: small timelines with the answer beside them, and random graphs."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from laptime.analyses.dependencies import LINKS, Edges, edges_of, walk
from laptime.analyses.slice_details import find_slice, slice_details
from laptime.errors import LaptimeError
from laptime.model.trace import Run, Trace
from tests.analyses.events import OTHER, US, Event, host, kernel, launch, op, scope, step, sync

Opener = Callable[..., Run]


def _edges(*pairs: tuple[int, int]) -> Edges:
    table = np.array(pairs, np.int64).reshape(-1, 2)
    return Edges(table[:, 0], table[:, 1], np.zeros(len(table), np.int32))


def _links(trace: Trace) -> set[tuple[str, str, str]]:
    """(kind, from, to) by name."""
    names = trace.slices.objects("name")
    edges = edges_of(trace)
    columns = (edges.kind.tolist(), edges.from_id.tolist(), edges.to_id.tolist())
    return {(LINKS[kind], str(names[a]), str(names[b])) for kind, a, b in zip(*columns, strict=True)}


# ---- the walk ----


def test_a_cycle_ends() -> None:
    found = walk(_edges((0, 1), (1, 2), (2, 0), (2, 2)), [0], depth=99)
    assert (found.slice_id.tolist(), found.depth.tolist(), found.via.tolist()) == ([1, 2], [1, 2], [0, 1])


def test_nothing_to_walk() -> None:
    assert len(walk(_edges(), [7], depth=3)) == 0
    assert len(walk(_edges((0, 1)), [0], depth=0)) == 0
    assert walk(_edges((0, 1)), [5, 0], depth=2).slice_id.tolist() == [1]


@pytest.mark.parametrize("seed", range(20))
def test_the_walk_agrees_with_a_queue(seed: int) -> None:
    """Each slice once, at its least depth, over an edge that is there."""
    chance = random.Random(seed)
    pairs = [(chance.randrange(30), chance.randrange(30)) for _ in range(chance.randrange(60))]
    starts, depth = chance.sample(range(30), 2), chance.randrange(6)
    distance = dict.fromkeys(starts, 0)
    queue = list(starts)
    for node in queue:
        for before, after in pairs:
            if before == node and after not in distance and distance[node] < depth:
                distance[after] = distance[node] + 1
                queue.append(after)
    found = walk(_edges(*pairs), starts, depth=depth)
    assert dict(zip(found.slice_id.tolist(), found.depth.tolist(), strict=True)) == {
        node: steps for node, steps in distance.items() if steps
    }
    for node, via, steps in zip(found.slice_id.tolist(), found.via.tolist(), found.depth.tolist(), strict=True):
        assert (via, node) in pairs
        assert distance[via] == steps - 1


# ---- links that follow from the timeline ----


def test_slices_of_a_stream_queue_behind_each_other(open_events: Opener) -> None:
    trace = open_events(
        kernel(1, 10, 20, name="a"), kernel(2, 20, 30, name="b"), kernel(3, 5, 50, name="c", stream=8)
    ).traces[0]
    assert _links(trace) == {("queue", "a", "b")}


WAITS: dict[str, tuple[list[Event], str | None]] = {
    "the slice that ended last while it waited": (
        [launch(1, 0), launch(2, 2), kernel(1, 5, 20, name="a"), kernel(2, 20, 40, name="b"), sync(10, 45)],
        "b",
    ),
    "not one that ended before": ([launch(1, 0), kernel(1, 2, 8, name="a"), sync(10, 12)], None),
    "not one that runs on": ([launch(1, 0), kernel(1, 2, 30, name="a"), sync(10, 12)], None),
    "not what another thread launched meanwhile": (
        [launch(1, 0), kernel(1, 5, 20, name="a"), launch(2, 12, tid=OTHER), kernel(2, 20, 30, name="b"), sync(10, 45)],
        "a",
    ),
    "one whose launch was not recorded": ([kernel(None, 5, 20, name="a"), sync(10, 45)], "a"),
    "one that ends the moment the wait does": ([launch(1, 0), kernel(1, 5, 45, name="a"), sync(10, 45)], "a"),
    "no wait for a slice that ends as it begins": ([launch(1, 0), kernel(1, 5, 10, name="a"), sync(10, 45)], None),
}


@pytest.mark.parametrize("case", WAITS)
def test_what_a_wait_waits_for(case: str, open_events: Opener) -> None:
    events, expected = WAITS[case]
    found = {(before, after) for kind, before, after in _links(open_events(*events).traces[0]) if kind == "wait"}
    assert found == (set() if expected is None else {(expected, "cudaStreamSynchronize")})


# ---- one slice ----


def _id_of(trace: Trace, name: str) -> int:
    return trace.slices.objects("name").index(name)


def _linear(open_events: Opener) -> Trace:
    return open_events(
        step(1, 0, 100),
        scope("forward", 0, 60),
        op("linear", 5, 50, **{"Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}),
        op("addmm", 10, 40),
        launch(1, 12),
        launch(2, 20),
        host("cuda_runtime", "cudaMalloc", 42, 44),
        kernel(1, 30, 55, name="gemm"),
        kernel(2, 55, 60, name="bias"),
        sync(52, 62),
    ).traces[0]


def _slice(trace: Trace, name: str, **options: int) -> Any:
    return slice_details(trace, _id_of(trace, name), **options)


def test_a_host_operator(open_events: Opener) -> None:
    trace = _linear(open_events)
    about = _slice(trace, "linear").slice
    assert (about["kind"], about["category"], about["step"], about["phase"]) == ("op", "cpu_op", 1, "forward")
    assert (about["start_ns"], about["dur_ns"], about["self_ns"]) == (5 * US, 45 * US, 13 * US)
    assert (about["host_ns"], about["device_ns"], about["device_slices"]) == (45 * US, 30 * US, 2)
    assert about["operator"]["op_type"] == "linear"
    assert [tensor["shape"] for tensor in about["inputs"]] == ["2,3", "3,4"]
    assert [tensor["data_type"] for tensor in about["inputs"]] == ["float", "float"]
    assert [parent["name"] for parent in about["parents"]] == ["forward", "ProfilerStep#1"]
    assert [other["name"] for other in about["elsewhere"]] == ["gemm", "bias"]
    assert about["arguments"] == {"Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}
    assert (about["source"], about["stack"]) == (None, [])


def test_a_device_slice(open_events: Opener) -> None:
    trace = _linear(open_events)
    details = _slice(trace, "bias", depth=2)
    about = details.slice
    assert (about["track_kind"], about["device"], about["stream"]) == ("stream", 0, 7)
    assert (about["host_ns"], about["device_ns"], about["device_slices"]) == (30 * US, 5 * US, 1)
    assert [other["name"] for other in about["elsewhere"]] == ["addmm", "cudaLaunchKernel"]
    assert [(e["name"], e["link"], e["depth"], e["gap_ns"]) for e in details.waited_for] == [
        ("gemm", "queue", 1, 0),
        ("cudaLaunchKernel", "launch", 1, 34 * US),
        ("cudaLaunchKernel", "launch", 2, 17 * US),
    ]
    assert details.waited_for[2]["via"] == _id_of(trace, "gemm")
    assert [(e["name"], e["link"]) for e in details.waited_by] == [("cudaStreamSynchronize", "wait")]
    assert details.left_out == {"waited_for": 0, "waited_by": 0, "candidates": 0}
    short = _slice(trace, "bias", depth=2, limit=1)
    assert [entry["name"] for entry in short.waited_for] == ["gemm"]
    assert short.left_out["waited_for"] == 2


def test_a_recording_without_device_knows_no_device_time(open_events: Opener) -> None:
    about = _slice(open_events(op("a", 0, 5), op("a", 1, 2)).traces[0], "a").slice
    assert (about["host_ns"], about["device_ns"], about["self_ns"]) == (5 * US, None, 4 * US)


def test_an_untimed_slice(open_events: Opener) -> None:
    untimed = {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 10, "tid": 1, "ts": 3}
    about = _slice(open_events(untimed, op("b", 0, 2)).traces[0], "a").slice
    assert (about["dur_ns"], about["self_ns"], about["host_ns"]) == (None, None, None)


def test_slices_by_number_and_name(open_events: Opener) -> None:
    trace = open_events(op("aten::mm", 0, 5), op("aten::mm", 10, 30), op("Other", 40, 41)).traces[0]
    assert find_slice(trace, "1").slice_id == 1
    assert find_slice(trace, "Other").slice_id == find_slice(trace, "oth").slice_id == 2
    found: Any = find_slice(trace, "MM")
    assert found.slice_id is None
    assert [(row["slice_id"], row["dur_ns"]) for row in found.candidates] == [(1, 20 * US), (0, 5 * US)]
    with pytest.raises(LaptimeError, match=r"no slice named conv: made.pt.trace.json"):
        find_slice(trace, "conv")
    with pytest.raises(LaptimeError, match=r"no slice 3: slices 0 to 2 of made.pt.trace.json"):
        slice_details(trace, 3)


def test_more_candidates_than_are_listed(open_events: Opener) -> None:
    found = find_slice(open_events(*(op("a", 10 * k, 10 * k + 5) for k in range(25))).traces[0], "a")
    assert (len(found.candidates), found.left_out) == (20, 5)
