"""Memory of a part of a recording: against a twin that looks at each instant, and on real recordings."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.analyses.allocations import allocations
from laptime.analyses.intervals import union
from laptime.analyses.memory import live_bytes_in, memory
from laptime.analyses.memory_by_operator import memory_by_operator
from laptime.analyses.memory_curve import memory_curve
from laptime.analyses.memory_live import live_at
from laptime.analyses.parts import WHOLE, Part
from laptime.analyses.selection import Selection
from laptime.errors import LaptimeError
from laptime.importers.opening import open_run
from laptime.model.trace import Trace
from laptime.model.workspace import Workspace
from tests.analyses.events import US, Event, op, step
from tests.analyses.memory_twin import MemoryTwin, Span, merged
from tests.analyses.test_memory import Block, blocks, change, columns
from tests.conftest import SAMPLES

Opener = Callable[..., Any]
MEMORY = SAMPLES / "pytorch" / "memory.pt.trace.json.gz"
DRAWING = SAMPLES / "megengine_memory" / "train.memory_flow.svg.gz"
CORPUS = ("pytorch/hta-v100-216k-events", "ascend/pt-text-level1", "ascend/st-level2-4ranks")
ALL = Selection(sort="size_bytes", limit=1_000_000)
ASKS: tuple[Callable[..., Any], ...] = (
    lambda trace, part: memory(trace, part),
    lambda trace, part: memory_curve(trace, part=part),
    lambda trace, part: live_at(trace, part=part),
    lambda trace, part: allocations(trace, part=part),
    lambda trace, part: memory_by_operator(trace, part=part),
)

spans = st.lists(st.tuples(st.integers(-8, 22), st.integers(1, 9)), min_size=1, max_size=4).map(
    lambda found: merged((first, first + dur) for first, dur in found)
)


def rows_of(listed: list[Block]) -> list[dict[str, Any]]:
    return [{"size_bytes": size, "start_ns": start, "end_ns": end} for size, start, end in listed]


@given(st.lists(blocks(), max_size=30), spans)
def test_a_part_against_the_twin(listed: list[Block], covered: list[Span]) -> None:
    twin = MemoryTwin(rows_of(listed), covered)
    time = union(np.array([first for first, _ in covered]), np.array([last for _, last in covered]))
    size, start, end = columns(listed)
    found = live_bytes_in(time, (size, start, end), rows=np.arange(len(listed)), device=None)
    assert found.peak == twin.peak()
    assert [twin.blocks[row] for row in found.rows] == twin.living()
    assert (found.before_bytes, int(found.levels[-1])) == (twin.before(), twin.end())
    alive = found.alive_at(found.peak[1], start, end)
    assert [twin.blocks[row] for row in alive] == twin.alive(found.peak[1])
    assert set(alive) <= set(found.rows)
    first, last = covered[0][0], covered[-1][1]
    assert found.times[0] == first
    assert [found.at(moment) for moment in range(first, last)] == [twin.bytes_at(at) for at in range(first, last)]
    assert [found.nearest(at) for at in (first - 5, first, last - 1, last, last + 5)] == [first, first, *[last - 1] * 3]


def random_events(seed: int) -> list[Event]:
    """Steps with and without time between them, and blocks of two devices that are taken and given back anywhere."""
    random = Random(seed)
    events, at = [op("aten::mm", 0, 300), op("aten::add", 40, 90)], random.randint(0, 10)
    for number in range(1, 6):
        dur = random.randint(5, 40)
        events.append(step(number, at, at + dur))
        at += dur + random.choice((0, 0, 7))
    for address in range(1, 40):
        start, dur = random.randint(0, 280), random.randint(1, 200)
        device, size = address % 2, random.randint(1, 1000)
        kept = random.choice(("both", "both", "both", "start", "end"))
        if kept != "end":
            events.append(change(start, address, size, device=device, **{"Total Allocated": random.randint(0, 9999)}))
        if kept != "start":
            events.append(change(min(start + dur, 299), address, -size, device=device))
    return events


PARTS = (
    Part(steps=((1, 1),)),
    Part(steps=((2, 4),)),
    Part(steps=((1, 1), (4, None))),
    Part(from_ns=33 * US, to_ns=120 * US),
    Part(from_ns=100 * US),
    Part(to_ns=50 * US),
    Part(from_ns=20 * US, steps=((2, 3), (5, 5))),
)


@pytest.mark.parametrize("seed", range(8))
def test_all_answers_about_a_part_against_the_twin(seed: int, open_events: Opener) -> None:
    (trace,) = open_events(*random_events(seed)).traces
    for part in PARTS:
        for device in memory(trace, part).as_json["devices"]:  # type: ignore[attr-defined]  # JSON
            _check(trace, part, device)


def _check(trace: Trace, part: Part, told: dict[str, Any]) -> None:
    """What all analyses say of one device, against the twin over the rows of the tables."""
    name = told["device"]
    table = trace.table("allocations").arrow().to_pylist()
    twin = MemoryTwin([row for row in table if row["device"] == name], spans_of(trace, part, table))
    most, at = twin.peak()
    assert (told["peak_bytes"], told["peak_at_ns"]) == (most, at)
    assert (told["before_bytes"], told["end_bytes"], told["allocations"]) == (
        twin.before(),
        twin.end(),
        len(twin.living()),
    )
    sizes = sorted((row["size_bytes"] for row in twin.alive(at)), reverse=True)
    assert [row["size_bytes"] for row in told["live_at_peak"]] == sizes
    assert told["live_at_peak_count"] == len(sizes)
    live = live_at(trace, device=name, part=part, limit=1_000_000)
    assert (live.at_ns, live.bytes, [row["size_bytes"] for row in live.owners]) == (at, most, sizes)
    rows = allocations(trace, device=name, part=part, selection=ALL).rows
    living = twin.living()
    assert sorted(row["size_bytes"] for row in rows) == sorted(row["size_bytes"] for row in living)  # type: ignore[type-var]
    by_op: Any = memory_by_operator(trace, device=name, part=part).rows
    assert sum(row["count"] for row in by_op) == len(living)
    assert sum(row["total_bytes"] for row in by_op) == sum(row["size_bytes"] for row in living)
    assert sum(row["live_at_peak_bytes"] for row in by_op) == most
    curve = memory_curve(trace, device=name, part=part)
    assert (curve.peak_bytes, curve.peak_at_ns) == (most, at)
    assert (curve.start_ns, curve.end_ns) == (twin.spans[0][0], twin.spans[-1][1])
    assert curve.bytes == [twin.bytes_at(time) for time in curve.times_ns]
    assert (curve.times_ns[0], curve.bytes[-1]) == (curve.start_ns, twin.end())


def spans_of(trace: Trace, part: Part, table: list[dict[str, Any]]) -> list[Span]:
    """The time of a part: spans of its steps, cut at its bounds; without steps what lies between these."""
    ends = [time for row in table for time in (row["start_ns"], row["end_ns"]) if time is not None]
    slices = trace.slices.arrow(["start_ns", "dur_ns"]).to_pylist()
    last = max([row["start_ns"] + (row["dur_ns"] or 0) for row in slices] + [time + 1 for time in ends])
    begin, end = part.from_ns or 0, min(last, part.to_ns or last)
    if part.steps is None:
        return [(begin, end)]
    chosen = [
        (max(row["start_ns"], begin), min(row["end_ns"], end))
        for row in trace.steps.arrow().to_pylist()
        if any((low or 0) <= row["step"] <= (high or row["step"]) for low, high in part.steps)
    ]
    return merged(chosen)


def test_counters_take_the_samples_of_the_part(open_events: Opener) -> None:
    samples = [(5, 100), (30, 900), (45, 300), (70, 200)]
    events = [change(at, at, 8, **{"Total Allocated": total}) for at, total in samples]
    (trace,) = open_events(step(1, 0, 20), step(2, 25, 28), step(3, 40, 60), op("aten::mm", 0, 90), *events).traces

    def told(part: Part) -> Any:
        (counter,) = memory(trace, part).as_json["counters"]  # type: ignore[misc]  # JSON
        return tuple(counter[key] for key in ("samples", "max_value", "max_at_ns", "mean_value"))

    assert told(WHOLE) == (4, 900, 30 * US, 375.0)
    assert told(Part(steps=((1, 1), (3, 3)))) == (2, 300, 45 * US, 200.0)
    assert told(Part(steps=((2, 2),))) == (0, None, None, None)
    # The curve shows the time between the steps too; its most is of the steps.
    (drawn,) = memory_curve(trace, part=Part(steps=((1, 1), (3, 3)))).counters
    assert (drawn["values"], drawn["max_value"], drawn["max_at_ns"]) == ([100, 900, 300], 300, 45 * US)
    (drawn,) = memory_curve(trace, part=Part(steps=((2, 2),))).counters
    assert (drawn["values"], drawn["samples"], drawn["max_value"]) == ([], 0, None)


def test_a_device_without_a_block_in_the_part_is_listed_with_nothing(open_events: Opener) -> None:
    events = [change(2, 1, 100), change(4, 1, -100), change(5, 2, 7, device=1)]
    (trace,) = open_events(step(1, 0, 10), step(2, 20, 30), *events).traces
    first, second = memory(trace, Part(steps=((2, 2),))).as_json["devices"]  # type: ignore[misc]  # JSON
    assert (first["allocations"], first["peak_bytes"], first["peak_at_ns"], first["live_at_peak"]) == (
        0,
        0,
        20 * US,
        [],
    )
    assert (second["allocations"], second["peak_bytes"], second["before_bytes"]) == (1, 7, 7)
    assert memory_curve(trace, part=Part(steps=((2, 2),))).device == "cuda:1"  # fullest in the part
    assert memory_curve(trace, part=Part(steps=((1, 1),))).device == "cuda:0"


def test_an_instant_beyond_the_part_is_its_end(open_events: Opener) -> None:
    events = [change(2, 1, 100), change(12, 2, 10), change(15, 1, -100), change(25, 3, 1)]
    (trace,) = open_events(step(1, 0, 10), step(2, 10, 20), op("aten::mm", 0, 40), *events).traces
    part = Part(steps=((2, 2),))
    assert [live_at(trace, at * US, part=part).bytes for at in (0, 10, 13, 16, 30)] == [100, 100, 110, 10, 10]
    assert live_at(trace, 30 * US, part=part).at_ns == 20 * US - 1
    assert live_at(trace, part=part).at_ns == 12 * US


@pytest.mark.parametrize("ask", ASKS)
def test_a_part_that_is_not_there_is_the_error_of_other_commands(ask: Callable[..., Any], open_events: Opener) -> None:
    (trace,) = open_events(step(1, 0, 10), step(2, 20, 30), change(2, 1, 100)).traces
    with pytest.raises(LaptimeError, match=r"^no step 7: step numbers 1, 2: choose some of these$"):
        ask(trace, Part(steps=((7, 7),)))
    with pytest.raises(LaptimeError, match=r"^nothing was recorded: from 31000 ns on"):
        ask(trace, Part(from_ns=31 * US))


def test_a_step_of_no_time_has_no_memory(open_events: Opener) -> None:
    (trace,) = open_events(step(1, 0, 10), step(2, 20, 20), change(2, 1, 100), op("aten::mm", 0, 30)).traces
    with pytest.raises(LaptimeError, match="the range takes no time"):
        memory(trace, Part(steps=((2, 2),)))


def test_no_range_is_the_whole(workspace: Workspace) -> None:
    """All that was recorded, given as a range, has the same peak, owners and end."""
    (trace,) = open_run(MEMORY, workspace=workspace).traces
    whole, ranged = (memory(trace, part).as_json for part in (WHOLE, Part(from_ns=0)))
    assert (whole["range"], ranged["range"]) == (None, {"from_ns": 0, "to_ns": None, "steps": None})
    assert {**ranged, "range": None} == whole


def test_a_recording_of_blocks_alone_has_ranges_of_time(workspace: Workspace) -> None:
    (trace,) = open_run(DRAWING, workspace=workspace).traces
    assert trace.slices.row_count == 0
    (whole,) = memory(trace).as_json["devices"]  # type: ignore[misc]  # JSON
    last = max(trace.table("allocations")["end_ns"])
    for part in (Part(from_ns=10_000_000), Part(to_ns=10_000_000), Part(from_ns=20_000_000, to_ns=30_000_000)):
        (told,) = memory(trace, part).as_json["devices"]  # type: ignore[misc]  # JSON
        table = trace.table("allocations").arrow().to_pylist()
        twin = MemoryTwin(table, [(part.from_ns or 0, part.to_ns or last + 1)])
        assert (told["peak_bytes"], told["peak_at_ns"]) == twin.peak()
        assert told["allocations"] == len(twin.living()) < whole["allocations"]


# ---- real recordings ----


def _parts_make_the_whole(trace: Trace) -> None:
    """The highest peak of the single steps and of the time between them is the recording's."""
    table = trace.steps.arrow().to_pylist()
    assert table
    parts = [Part(steps=((row["step"], row["step"]),)) for row in table]
    covered = merged((row["start_ns"], row["end_ns"]) for row in table)
    edges = [(None, None), *covered, (None, None)]
    for (_, end), (begin, _) in pairwise(edges):
        if end is None or begin is None or end < begin:
            parts.append(Part(from_ns=end, to_ns=begin))
    peaks: dict[str | None, list[int]] = defaultdict(list)
    for part in parts:
        try:
            told: Any = memory(trace, part).as_json["devices"]
        except LaptimeError as error:  # nothing before the first step, or after the last
            assert part.steps is None
            assert re.match("nothing was recorded|the range takes no time", str(error))
            continue
        for device in told:
            peaks[device["device"]].append(device["peak_bytes"])
            by_op: Any = memory_by_operator(trace, device=device["device"], part=part, limit=1_000_000).rows
            assert sum(row["live_at_peak_bytes"] for row in by_op) == device["peak_bytes"]
            assert sum(row["count"] for row in by_op) == device["allocations"]
    whole: Any = memory(trace).as_json["devices"]
    assert whole
    assert {device: max(found) for device, found in peaks.items()} == {
        device["device"]: device["peak_bytes"] for device in whole
    }
    assert any(len(set(found)) > 1 for found in peaks.values())


def test_parts_make_the_whole(workspace: Workspace) -> None:
    _parts_make_the_whole(open_run(MEMORY, workspace=workspace).traces[0])


@pytest.mark.corpus
@pytest.mark.parametrize("case", CORPUS)
def test_parts_of_real_recordings_make_the_whole(corpus: Path, workspace: Workspace, case: str) -> None:
    _parts_make_the_whole(open_run(corpus / case, workspace=workspace).traces[0])
