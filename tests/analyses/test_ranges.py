"""Parts of a recording: what counts in them, against a twin that looks at every microsecond."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from laptime.analyses.operators import operator_table
from laptime.analyses.parts import WHOLE, Part
from laptime.analyses.ranges import as_json, chosen_steps, time_of, union_by_group
from laptime.analyses.report import report
from laptime.analyses.side_by_side import with_both_sides
from laptime.analyses.step_trace import step_trace
from laptime.errors import LaptimeError
from laptime.model.trace import Run, Trace
from tests.analyses.events import OTHER, US, Event, data, kernel, launch, op, step, sync

Opener = Callable[..., Run]
Rows = dict[str, dict[str, Any]]
STEPS = [step(number, 100 * number, 100 * number + 90) for number in (1, 2, 3, 4)]


def _rows(trace: Trace, part: Part, *, by: str, on: str | None = None) -> Rows:
    return {str(row["name"]): row for row in operator_table(trace, by=by, on=on, part=part).rows}


def _us(row: dict[str, Any], *keys: str) -> list[float]:
    return [row[key] / US if key.endswith("_ns") else row[key] for key in keys]


# ---- which steps ----


@pytest.mark.parametrize(
    ("part", "numbers"),
    [
        (WHOLE, [1, 2, 3, 4]),
        (Part(steps=((2, 3),)), [2, 3]),
        (Part(steps=((3, None),)), [3, 4]),
        (Part(steps=((None, 2),)), [1, 2]),
        (Part(steps=((4, 4), (1, 1))), [1, 4]),
        (Part(from_ns=100 * US), [2, 3, 4]),  # time begins with the first step
        (Part(from_ns=100 * US, to_ns=200 * US), [2]),
        (Part(from_ns=101 * US, steps=((1, 3),)), [3]),
    ],
)
def test_steps_that_begin_in_a_part(part: Part, numbers: list[int], open_events: Opener) -> None:
    trace = open_events(*STEPS).traces[0]
    assert trace.steps["step"][chosen_steps(trace, part)].tolist() == numbers
    assert [each["step"] for each in step_trace(trace, part=part).steps] == numbers
    (rank,) = report(Run("x", [trace]), part)["ranks"]  # type: ignore[misc]  # JSON
    assert [each["step"] for each in rank["steps"]] == numbers
    asked = None if part.is_whole else {"from_ns": part.from_ns, "to_ns": part.to_ns}
    steps = numbers if part.steps else None
    assert as_json(part, trace) == (None if asked is None else {**asked, "steps": steps})


def test_the_time_of_steps_is_that_of_their_markers(open_events: Opener) -> None:
    trace = open_events(*STEPS).traces[0]
    time = time_of(trace, Part(from_ns=250 * US, steps=((1, 1), (3, 4))))
    assert (time.start.tolist(), time.end.tolist()) == ([250 * US, 300 * US], [290 * US, 390 * US])
    whole = time_of(trace, WHOLE)
    assert (whole.start.tolist(), whole.end.tolist()) == ([0], [390 * US])


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (Part(steps=((7, 9), (12, None))), r"no step 7-9,12-: step numbers 1, 2, 3, 4: choose some of these"),
        (Part(from_ns=0, to_ns=5, steps=((3, 3),)), r"no step 3 in that time"),
        (Part(from_ns=390 * US), r"nothing was recorded: from 390000 ns on: the recording ends at 390000 ns"),
    ],
)
def test_a_part_that_is_not_there_is_an_error(part: Part, message: str, open_events: Opener) -> None:
    run = open_events(*STEPS)
    for ask in (
        lambda: operator_table(run.traces[0], part=part),
        lambda: operator_table(run.traces[0], by="track", part=part),
        lambda: step_trace(run.traces[0], part=part),
        lambda: report(run, part),
    ):
        with pytest.raises(LaptimeError, match=message):
            ask()


def test_a_part_that_one_rank_has_is_no_error(open_events: Opener) -> None:
    """The rank without these steps has no rows."""
    other = open_events(*STEPS, op("aten::mm", 110, 120)).traces[0]
    with_more = open_events(*STEPS, step(5, 500, 590), op("aten::mm", 510, 520)).traces[0]
    result: Any = report(Run("x", [other, with_more]), Part(steps=((5, 5),)))
    assert [[each["step"] for each in rank["steps"]] for rank in result["ranks"]] == [[], [5]]
    assert [[row["name"] for row in rank["top_ops"]] for rank in result["ranks"]] == [[], ["aten::mm"]]
    assert result["range"] == {"from_ns": None, "to_ns": None, "steps": [5]}


# ---- operators ----


def test_operators_that_start_in_the_range_count_whole(open_events: Opener) -> None:
    trace = open_events(op("a", 0, 100), op("b", 20, 40), op("c", 30, 35), op("b", 90, 95), op("b", 100, 120)).traces[0]
    rows = _rows(trace, Part(from_ns=20 * US, to_ns=100 * US), by="name", on="host")
    assert {name: _us(row, "count", "total_ns", "self_ns") for name, row in rows.items()} == {
        "b": [2, 25, 20],
        "c": [1, 5, 5],
    }
    assert rows["b"]["share"] == 20 / 25


def test_an_operator_counts_in_total_though_one_of_its_name_around_it_does_not(open_events: Opener) -> None:
    trace = open_events(op("to", 0, 100), op("to", 20, 50), op("to", 30, 40)).traces[0]
    row = _rows(trace, Part(from_ns=10 * US), by="name", on="host")["to"]
    assert _us(row, "count", "total_ns", "self_ns") == [2, 30, 30]


def test_device_time_is_that_of_slices_that_start_in_the_range(open_events: Opener) -> None:
    """Whenever they were launched; of a step those launched in it, whenever they ran."""
    events = [step(1, 0, 100), step(2, 100, 200), op("mm", 0, 50), launch(1, 1), launch(2, 2), op("mm", 110, 120)]
    events += [launch(3, 111), kernel(1, 10, 20), kernel(2, 120, 135, name="late"), kernel(3, 140, 160)]
    trace = open_events(*events).traces[0]
    assert _us(_rows(trace, Part(from_ns=100 * US), by="name")["mm"], "count", "total_ns") == [2, 35]
    assert _us(_rows(trace, Part(steps=((1, 1),)), by="name")["mm"], "count", "total_ns") == [1, 25]
    assert set(_rows(trace, Part(steps=((1, 1),)), by="kernel")) == {"gemm", "late"}
    both: Any = with_both_sides(trace, operator_table(trace, by="name", part=WHOLE), WHOLE).rows
    assert [(row["name"], row["host_ns"], row["device_ns"]) for row in both] == [("mm", 60 * US, 45 * US)]


def test_times_of_the_other_side(open_events: Opener) -> None:
    """An operator that launches nothing takes no device time; a slice without operator has no known host time."""
    events = [op("mm", 0, 50), launch(1, 1), op("view", 60, 65), kernel(1, 10, 20), kernel(None, 30, 33)]
    trace = open_events(*events).traces[0]
    on_host: Any = with_both_sides(trace, operator_table(trace, by="name", on="host"), WHOLE).rows
    assert {row["name"]: (row["host_ns"], row["device_ns"]) for row in on_host} == {
        "mm": (50 * US, 10 * US),
        "view": (5 * US, 0),
    }
    on_device: Any = with_both_sides(trace, operator_table(trace, by="name"), WHOLE).rows
    assert {row["name"]: (row["host_ns"], row["device_ns"]) for row in on_device} == {
        "mm": (50 * US, 10 * US),
        "[kernel without operator]": (None, 3 * US),
    }
    alone = open_events(op("mm", 0, 50)).traces[0]
    assert with_both_sides(alone, operator_table(alone, by="name"), WHOLE).rows[0]["device_ns"] is None
    assert "host_ns" not in with_both_sides(trace, operator_table(trace, by="kernel"), WHOLE).rows[0]


# ---- by track, against the twin ----


def _random_events(seed: int) -> list[Event]:
    """Nested and crossing slices of two threads and a stream, some without duration."""
    chance = random.Random(seed)
    events = [step(number, 50 * number, 50 * number + 40) for number in range(4)]
    for _ in range(60):
        start, dur = chance.randrange(200), chance.choice([0, 1, 3, 10, 30])
        name = chance.choice("abc")
        if chance.random() < 0.4:
            events.append(kernel(None, start, start + dur, name=name, stream=chance.choice([7, 8])))
        else:
            events.append(op(name, start, start + dur, tid=chance.choice([1, OTHER])))
    return events


PARTS = [
    WHOLE,
    Part(from_ns=30 * US, to_ns=97 * US),
    Part(steps=((1, 1), (3, 3))),
    Part(from_ns=60 * US, steps=((1, 2),)),
]


@pytest.mark.parametrize("part", PARTS, ids=["whole", "time", "steps", "both"])
@pytest.mark.parametrize("seed", range(6))
def test_by_track_agrees_with_counting_microseconds(seed: int, part: Part, open_events: Opener) -> None:
    trace = open_events(*_random_events(seed)).traces[0]
    time = time_of(trace, part)
    inside = {
        instant
        for first, last in zip(time.start.tolist(), time.end.tolist(), strict=True)
        for instant in range(first // US, last // US)
    }
    expected = _counted(trace, inside)
    for on in ("host", "device"):
        rows = operator_table(trace, by="track", on=on, part=part).rows
        found = {(row["track"], row["name"]): row for row in rows}
        wanted = {key: value for key, value in expected.items() if key[0].startswith("stream") == (on == "device")}
        assert found.keys() == wanted.keys()
        for key, value in wanted.items():
            columns = ("count", "wall_ns", "total_ns", "self_ns", "min_ns", "max_ns")
            assert _us(found[key], *columns) == value, key
        assert not found or sum(row["share"] or 0 for row in found.values()) == pytest.approx(1)


def _counted(trace: Trace, inside: set[int]) -> dict[tuple[str, str], list[float]]:
    slices = trace.slices.arrow().to_pylist()
    tracks = trace.tracks.objects("name")
    cells = [set(range(s["start_ns"] // US, (s["start_ns"] + s["dur_ns"]) // US)) & inside for s in slices]
    children: dict[int, set[int]] = defaultdict(set)
    for row, each in enumerate(slices):
        if each["parent_id"] is not None:
            children[each["parent_id"]] |= cells[row]
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row, each in enumerate(slices):
        if cells[row] or (each["dur_ns"] == 0 and each["start_ns"] // US in inside):
            groups[str(tracks[each["track_id"]]), each["name"]].append(row)
    return {
        key: [
            len(rows),
            len(set().union(*(cells[row] for row in rows))),
            sum(len(cells[row]) for row in rows),
            sum(len(cells[row] - children[row]) for row in rows),
            min(len(cells[row]) for row in rows),
            max(len(cells[row]) for row in rows),
        ]
        for key, rows in groups.items()
    }


def test_union_by_group() -> None:
    columns = (np.array(column, np.int64) for column in ([1, 0, 1, 1, 3], [5, 0, 0, 2, 9], [9, 4, 3, 4, 9]))
    assert union_by_group(*columns, 4).tolist() == [4, 8, 0, 0]


# ---- the report ----


def test_the_report_of_a_range_is_one_window(open_events: Opener) -> None:
    events = [step(1, 0, 100), step(2, 100, 200), launch(1, 5), launch(2, 50), launch(3, 105), data(30, 45)]
    events += [kernel(1, 10, 30), kernel(2, 60, 90), kernel(3, 110, 150), op("mm", 0, 80), sync(190, 199)]
    run = open_events(*events)
    (rank,) = _json(report(run, Part(from_ns=20 * US, to_ns=120 * US)))["ranks"]
    window = rank["range"]
    assert (window["start_ns"], window["dur_ns"]) == (20 * US, 100 * US)
    budget = window["budget"]
    assert budget["compute_ns"] == (10 + 30 + 10) * US
    assert budget["idle_ns"] == 50 * US
    assert budget["idle_data_wait_ns"] == 15 * US
    assert window["devices"] == [{"device": 0, "busy_ns": 50 * US, "busy_share": 0.5}]
    total = rank["device_total"]
    assert (total["ops"], total["span_ns"], total["busy_ns"]) == (3, 100 * US, 50 * US)
    assert [each["step"] for each in rank["steps"]] == [2]  # the one that begins there
    assert rank["host"]["syncs"] == 0
    assert {row["name"]: row["total_ns"] for row in rank["top_ops"]} == {
        "mm": 30 * US,
        "[kernel without operator]": 40 * US,
    }
    assert [(row["name"], row["total_ns"]) for row in rank["top_kernels"]] == [("gemm", 70 * US)]


def test_the_report_of_steps_has_their_summary(open_events: Opener) -> None:
    run = open_events(*STEPS, *(kernel(None, 100 * k, 100 * k + 10 * k) for k in (1, 2, 3, 4)))
    (rank,) = _json(report(run, Part(steps=((2, 2), (4, 4)))))["ranks"]
    assert rank["range"] is None
    assert rank["step_summary"]["steps_used"] == 2
    assert rank["step_summary"]["budget"]["compute_ns"] == 30 * US
    total = rank["device_total"]
    assert (total["ops"], total["busy_ns"], total["span_ns"]) == (2, 60 * US, (90 + 40) * US)
    assert (total["idle_ns"], total["kernel_busy_share"]) == (70 * US, 60 / 130)


def test_a_part_without_device_work_is_idle_not_unknown(open_events: Opener) -> None:
    run = open_events(*STEPS, kernel(None, 100, 110))
    (rank,) = _json(report(run, Part(from_ns=100 * US)))["ranks"]
    assert (rank["device_total"]["ops"], rank["device_total"]["busy_ns"]) == (0, 0)
    assert rank["device_total"]["kernel_busy_share"] is None
    assert rank["range"]["budget"]["idle_ns"] == 290 * US


def _json(result: object) -> dict[str, Any]:
    assert isinstance(result, dict)
    return result
