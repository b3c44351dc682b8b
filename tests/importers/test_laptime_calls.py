"""Call stacks that the log tells: which slices of a framework get them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from laptime.importers.laptime_calls import add_call_stacks
from laptime.importers.laptime_log import Call, Log, Stack
from laptime.model.builder import BASE_KIND_CODE, TraceBuilder
from laptime.model.tracks import TrackKey
from laptime.model.vocabulary import FLOW_KINDS, PHASE_CODE

MAIN = 5
US = 1000


@pytest.fixture
def builder(tmp_path: Path) -> Iterator[TraceBuilder]:
    """An empty one with the tracks of the main thread, a worker and a device."""
    made = TraceBuilder(tmp_path)
    for name in ("main", "worker", "device"):
        made.tracks.code(TrackKey("thread", "1", name))
    yield made
    made.spool.discard()


def add(builder: TraceBuilder, name: str, kind: str, span: tuple[int, int], *, track: int = 0, phase: int = -1) -> None:
    """A slice, in microseconds."""
    values = {"track": track, "start": span[0] * US, "dur": (span[1] - span[0]) * US, "name": builder.names.code(name)}
    values |= {"kind": BASE_KIND_CODE[kind], "phase": phase}
    builder.add_slices(1, {key: np.array([value]) for key, value in values.items()})


def stacks(builder: TraceBuilder, *calls: tuple[str | None, int, int, int]) -> list[str | None]:
    """The call stack of each slice, after calls (name, begin, end, number of its stack) were told, in microseconds."""
    rows = [Call(MAIN, name, start * US, end * US, stack) for name, start, end, stack in calls]
    log = Log(rows=[*rows, *(Stack(number, f"file.py({number}): f") for number in {row.stack for row in rows})])
    add_call_stacks(log, lambda time: time, lambda thread: 0 if thread == MAIN else 1, builder)
    texts = builder.texts["call_stack"].texts
    return [None if code < 0 else texts[code] for code in builder.slices.joined("call_stack").tolist()]


def test_a_wait_has_the_stack_of_the_call_it_lies_in(builder: TraceBuilder) -> None:
    for span in ((1000, 1500), (3010, 3015), (9000, 9001)):
        add(builder, "TensorWaitProp", "sync", span)
    add(builder, "TensorWaitProp", "sync", (1000, 1500), track=1)
    found = stacks(builder, (None, 990, 1510, 1), (None, 3000, 3020, 2))
    assert found == ["file.py(1): f", "file.py(2): f", None, None]


def test_of_two_near_calls_the_one_that_fits_is_taken(builder: TraceBuilder) -> None:
    """The clocks differ by some microseconds; the waits are as long as their calls."""
    add(builder, "TensorWaitProp", "sync", (1003, 1013))
    add(builder, "TensorWaitProp", "sync", (1018, 1058))
    assert stacks(builder, (None, 1000, 1010, 1), (None, 1015, 1055, 2)) == ["file.py(1): f", "file.py(2): f"]


def test_the_call_may_end_long_after_the_wait_that_lies_in_it(builder: TraceBuilder) -> None:
    """Another process had the core; the call before is nearer on the whole."""
    add(builder, "TensorWaitProp", "sync", (1004, 1900))
    add(builder, "TensorWaitProp", "sync", (1965, 2002))
    found = stacks(builder, (None, 1000, 1910, 1), (None, 1960, 13460, 2), (None, 13500, 13506, 3))
    assert found == ["file.py(1): f", "file.py(2): f"]


def test_scopes_tell_where_the_clocks_disagree(builder: TraceBuilder) -> None:
    """The framework's is 3 ms ahead: operators and waits of a pass have the stacks of their own calls all the same."""
    backward = PHASE_CODE["backward"]
    add(builder, "backward", "scope", (4005, 4995), phase=backward)
    add(builder, "Reduce", "launch", (4010, 4011), phase=backward)
    add(builder, "TensorWaitProp", "sync", (5105, 5135))
    add(builder, "TensorWaitProp", "sync", (8050, 8060))
    calls = ("backward", 1000, 2000, 1), (None, 2100, 2140, 2), (None, 5045, 5065, 3), (None, 5100, 5140, 4)
    assert stacks(builder, *calls) == [*["file.py(1): f"] * 2, "file.py(2): f", "file.py(3): f"]


def test_a_scope_has_the_stack_of_its_own_call(builder: TraceBuilder) -> None:
    add(builder, "train", "scope", (1000, 9000))
    add(builder, "train", "scope", (2000, 3000))
    add(builder, "other", "scope", (2000, 3000))
    assert stacks(builder, ("train", 995, 9005, 1), ("train", 1999, 3001, 2), ("gone", 0, 9999, 3)) == [
        "file.py(1): f",
        "file.py(2): f",
        None,
    ]


def test_a_pause_cuts_a_scope_into_parts_that_all_have_its_stack(builder: TraceBuilder) -> None:
    for span in ((1000, 2000), (5000, 9000)):
        add(builder, "train", "scope", span)
    assert stacks(builder, ("train", 995, 9005, 1)) == ["file.py(1): f"] * 2


def test_operators_of_a_backward_pass_have_the_stack_of_its_call(builder: TraceBuilder) -> None:
    backward = PHASE_CODE["backward"]
    add(builder, "backward", "scope", (1000, 2000), phase=backward)
    add(builder, "Reduce", "launch", (1100, 1101), phase=backward)
    add(builder, "Reduce", "op", (1500, 1600), track=1, phase=backward)
    add(builder, "Reduce", "kernel", (1700, 1800), track=2, phase=backward)
    add(builder, "ADD", "launch", (3000, 3001))
    for before, after, kind in ((1, 2, "async"), (2, 3, "launch")):
        row = {"from": before, "to": after, "kind": FLOW_KINDS.index(kind)}
        builder.links.append(1, {key: np.array([value]) for key, value in row.items()})
    found = stacks(builder, ("training", 900, 4000, 2), ("backward", 999, 2001, 1))
    assert found == [*["file.py(1): f"] * 4, None]


def test_a_stack_that_the_framework_recorded_stays(builder: TraceBuilder) -> None:
    add(builder, "TensorWaitProp", "sync", (1000, 1500))
    builder.slices.put("call_stack", np.array([builder.texts["call_stack"].code("own.py(3): g")]))
    assert stacks(builder, (None, 990, 1510, 1)) == ["own.py(3): g"]
