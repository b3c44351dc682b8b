"""Live bytes against a twin that adds up, for each time, the blocks that live then; peaks and owners of real traces."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.analyses.memory import OWNERS_LISTED, curve, highest, memory
from laptime.cli.memory_page import drawn
from laptime.model.trace import Trace
from laptime.model.vocabulary import NULL
from tests.analyses.events import MAIN, US, op

Block = tuple[int, int | None, int | None]
"""Size, start, end; None: alive before, alive at the end."""


@st.composite
def blocks(draw: st.DrawFn) -> Block:
    size = draw(st.integers(0, 50))
    start, end = draw(st.none() | st.integers(-5, 20)), draw(st.none() | st.integers(-5, 20))
    return (size, end, start) if None not in (start, end) and end < start else (size, start, end)


def lives(listed: list[Block], time: int) -> list[int]:
    """Numbers of the blocks that live at a time."""
    return [
        number
        for number, (_, start, end) in enumerate(listed)
        if (start is None or start <= time) and (end is None or time < end)
    ]


def bytes_at(listed: list[Block], time: int) -> int:
    return sum(listed[number][0] for number in lives(listed, time))


def columns(listed: list[Block]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = [(size, NULL if start is None else start, NULL if end is None else end) for size, start, end in listed]
    size, start, end = np.array(rows, np.int64).reshape(-1, 3).T
    return size, start, end


@given(st.lists(blocks(), max_size=30))
def test_levels_are_sums_of_living_blocks(listed: list[Block]) -> None:
    times, levels = curve(*columns(listed))
    assert times[0] == min([0, *(time for block in listed for time in block[1:] if time is not None)])
    assert list(times) == sorted(set(times))
    moments = range(int(times[0]), 25)
    told = [int(levels[np.searchsorted(times, moment, side="right") - 1]) for moment in moments]
    assert told == [bytes_at(listed, moment) for moment in moments]


@given(st.lists(blocks(), max_size=30), st.integers(1, 40))
def test_each_column_of_the_drawing_is_the_most_of_its_span(listed: list[Block], count: int) -> None:
    times, levels = curve(*columns(listed))
    begin, end = int(times[0]), int(times[-1])
    if end == begin:
        return
    edges = [begin + (end - begin) * place // count for place in range(count + 1)]
    spans = [range(low, max(high, low + 1)) for low, high in pairwise(edges)]
    spans[-1] = range(spans[-1].start, end + 1)
    assert highest(times, levels, columns=count) == [max(bytes_at(listed, t) for t in span) for span in spans]


def test_sums_beyond_64_bits_are_exact() -> None:
    times, levels = curve(*columns([(2**62, 0, 5), (2**62, 1, None), (2**62, 2, 3)]))
    assert dict(zip(times.tolist(), map(int, levels), strict=True)) == {
        0: 2**62, 1: 2**63, 2: 3 * 2**62, 3: 2**63, 5: 2**62,
    }  # fmt: skip


# ---- traces ----


def change(time: int, address: int, size: int, *, device: int = 0, **totals: int) -> dict[str, Any]:
    """A `[memory]` event of a CUDA device."""
    args = {"Addr": address, "Bytes": size, "Device Type": 1, "Device Id": device, **totals}
    return {"ph": "i", "s": "t", "name": "[memory]", "pid": 10, "tid": MAIN, "ts": time, "args": args}


def result_of(opened: Any) -> dict[str, Any]:
    (trace,) = opened.traces
    return json.loads(json.dumps(memory(trace).as_json, allow_nan=False))  # type: ignore[no-any-return]


def test_peak_and_owners(open_events: Any) -> None:
    found = result_of(
        open_events(
            op("aten::linear", 0, 50),
            op("aten::mm", 10, 20),
            op("aten::add", 60, 70),
            change(12, 1, 512),
            change(15, 2, 2048),
            change(30, 1, -512),
            change(61, 3, 1024),
            change(62, 9, -4096),
            change(63, 2, -2048),
        )
    )
    (device,) = found["devices"]
    assert device["device"] == "cuda:0"
    assert (device["allocations"], device["before_bytes"], device["end_bytes"]) == (4, 4096, 1024)
    assert (device["peak_bytes"], device["peak_at_ns"]) == (4096 + 2048 + 1024, 61 * US)
    assert device["live_at_peak_count"] == 3
    assert [(row["name"], row["op"], row["size_bytes"]) for row in device["live_at_peak"]] == [
        (None, None, 4096),
        ("aten::mm", "aten::mm", 2048),
        ("aten::add", "aten::add", 1024),
    ]
    assert [(row["start_ns"], row["end_ns"]) for row in device["live_at_peak"]] == [
        (None, 62 * US),
        (15 * US, 63 * US),
        (61 * US, None),
    ]


def test_the_first_of_equal_peaks_counts(open_events: Any) -> None:
    events = [change(at, at, size) for at, size in ((1, 8), (5, 8))] + [change(2, 1, -8), change(6, 5, -8)]
    assert result_of(open_events(op("aten::mm", 0, 9), *events))["devices"][0]["peak_at_ns"] == US


def test_a_peak_before_everything_is_at_the_beginning(open_events: Any) -> None:
    (device,) = result_of(open_events(op("aten::mm", 0, 9), change(3, 1, -800), change(4, 2, 8)))["devices"]
    assert (device["peak_bytes"], device["peak_at_ns"], device["end_bytes"]) == (800, 0, 8)


def test_what_is_released_when_another_is_taken_does_not_count_twice(open_events: Any) -> None:
    (device,) = result_of(open_events(op("aten::mm", 0, 9), change(1, 1, 100), change(5, 2, 100), change(5, 1, -100)))[
        "devices"
    ]
    assert (device["peak_bytes"], device["peak_at_ns"]) == (100, US)


def test_what_is_released_at_the_peak_does_not_live_then(open_events: Any) -> None:
    (device,) = result_of(open_events(op("aten::mm", 0, 9), change(1, 1, 100), change(5, 1, -100), change(5, 2, 300)))[
        "devices"
    ]
    assert (device["peak_bytes"], device["peak_at_ns"]) == (300, 5 * US)
    assert [row["size_bytes"] for row in device["live_at_peak"]] == [300]


def test_devices_apart(open_events: Any) -> None:
    found = result_of(open_events(op("aten::mm", 0, 9), change(1, 1, 100), change(2, 1, 30, device=1)))
    assert [(row["device"], row["peak_bytes"]) for row in found["devices"]] == [("cuda:0", 100), ("cuda:1", 30)]


def test_the_list_of_owners_is_bounded_and_counted(open_events: Any) -> None:
    count = OWNERS_LISTED + 5
    events = [change(1 + place, place + 1, 8 + place) for place in range(count)]
    (device,) = result_of(open_events(op("aten::mm", 0, count + 9), *events))["devices"]
    assert (device["live_at_peak_count"], len(device["live_at_peak"])) == (count, OWNERS_LISTED)
    assert device["live_at_peak"][0]["size_bytes"] == 8 + count - 1


def test_counters_of_memory(open_events: Any) -> None:
    def sample(time: int, name: str, value: object) -> dict[str, Any]:
        return {"ph": "C", "name": name, "pid": 1, "tid": 1, "ts": time, "args": {"value": value}}

    found = result_of(
        open_events(
            op("aten::mm", 0, 9),
            change(1, 1, 100, **{"Total Allocated": 600, "Total Reserved": 1000}),
            change(2, 1, -100, **{"Total Allocated": 500, "Total Reserved": 1000}),
            sample(1, "gpu0:0_alloc_mem", 7.5),
            sample(2, "gpu0:0_alloc_mem", 2.5),
            sample(1, "sm_active", 1),
        )
    )
    rows = {row["name"].split(" value")[0]: row for row in found["counters"]}
    assert set(rows) == {"allocated bytes of cuda:0", "reserved bytes of cuda:0", "gpu0:0_alloc_mem"}
    allocated = rows["allocated bytes of cuda:0"]
    assert {key: allocated[key] for key in ("device", "unit", "max_value", "max_at_ns", "mean_value", "samples")} == {
        "device": "cuda:0", "unit": "bytes", "max_value": 600, "max_at_ns": US, "mean_value": 550.0, "samples": 2,
    }  # fmt: skip
    other = rows["gpu0:0_alloc_mem"]
    assert (other["device"], other["unit"], other["max_value"], other["mean_value"]) == ("gpu0:0", None, 7.5, 5.0)


def test_nothing_recorded(open_events: Any) -> None:
    found = result_of(open_events(op("aten::mm", 0, 9)))
    assert (found["devices"], found["counters"]) == ([], [])


# ---- the drawing ----


@pytest.fixture
def small(open_events: Any) -> Trace:
    (trace,) = open_events(
        op("aten::mm", 0, 100), change(0, 1, 60), change(50, 2, 60), change(75, 2, -60), change(100, 1, -60)
    ).traces
    return trace


def test_the_drawing_fits_and_shows_the_peak(small: Trace) -> None:
    (each,) = memory(small).curves
    lines = drawn(each, width=20)
    assert all(len(line) <= 31 for line in lines)
    assert lines[0] == "     120 B " + " " * 10 + "█████"
    assert lines[2] == "           " + " " * 10 + "█████"
    assert lines[3] == "           " + "█" * 20
    assert lines[-1] == "           0 ns" + "100 µs".rjust(16)
