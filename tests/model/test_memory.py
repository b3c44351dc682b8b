"""Lives of memory blocks from allocations and frees made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from laptime.model.memory import device_label, pair_allocations
from laptime.model.vocabulary import NULL

CPU, CUDA = 0, 1


def events(*rows: tuple[int, int, int], device: tuple[int, int] = (CUDA, 0)) -> dict[str, np.ndarray]:
    """Events (time, address, bytes: negative for a free) of one device in file order."""
    return {
        "ts": np.array([row[0] for row in rows], np.int64),
        "address": np.array([row[1] for row in rows], np.int64),
        "bytes": np.array([row[2] for row in rows], np.int64),
        "device_type": np.full(len(rows), device[0], np.int64),
        "device_id": np.full(len(rows), device[1], np.int64),
    }


def joined(*parts: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def blocks(table: dict[str, np.ndarray]) -> set[tuple[int, int]]:
    """(row that allocated, row that freed) of each block; -1 outside the recording."""
    found = pair_allocations(table)
    return set(zip(found.born.tolist(), found.freed.tolist(), strict=True))


def test_a_free_ends_the_block_at_its_address():
    assert blocks(events((0, 100, 8), (1, 200, 16), (2, 100, -8), (3, 200, -16))) == {(0, 2), (1, 3)}


def test_an_address_may_be_used_again():
    assert blocks(events((0, 100, 8), (1, 100, -8), (2, 100, 32), (3, 100, -32))) == {(0, 1), (2, 3)}


def test_a_block_alive_before_the_recording_has_no_allocation():
    assert blocks(events((0, 100, -8), (1, 100, 8))) == {(-1, 0), (1, -1)}


def test_a_block_alive_at_the_end_has_no_free():
    assert blocks(events((0, 100, 8))) == {(0, -1)}


def test_two_allocations_in_a_row_are_two_blocks():
    """The free between them was not recorded; the second block is the one that is freed."""
    assert blocks(events((0, 100, 8), (1, 100, 16), (2, 100, -16))) == {(0, -1), (1, 2)}


def test_two_frees_in_a_row_free_one_block_and_an_older_one():
    assert blocks(events((0, 100, 8), (1, 100, -8), (2, 100, -8))) == {(0, 1), (-1, 2)}


def test_time_decides_not_the_place_in_the_file():
    assert blocks(events((5, 100, -8), (0, 100, 8))) == {(1, 0)}


def test_at_equal_times_the_file_decides():
    assert blocks(events((0, 100, 8), (0, 100, -8), (0, 100, 16))) == {(0, 1), (2, -1)}


def test_devices_have_their_own_addresses():
    first, second, host = (events((0, 100, 8), (1, 100, -8), device=on) for on in ((CUDA, 0), (CUDA, 1), (CPU, 0)))
    assert blocks(joined(first, second, host)) == {(0, 1), (2, 3), (4, 5)}


@pytest.mark.parametrize("row", [(0, NULL, 8), (0, 100, NULL), (0, 100, 0)], ids=["no address", "no size", "no bytes"])
def test_events_that_tell_no_block_give_none(row):
    assert blocks(events(row)) == set()


def test_no_events_give_no_blocks():
    assert blocks(events()) == set()


@pytest.mark.parametrize(
    ("kind", "number", "label"),
    [
        (0, -1, "cpu"),
        (0, NULL, "cpu"),
        (1, 0, "cuda:0"),
        (6, 3, "hip:3"),
        (20, 1, "privateuse1:1"),
        (77, 2, "device type 77:2"),
    ],
)
def test_labels_of_devices(kind, number, label):
    assert device_label(kind, number) == label


def test_lives_in_a_trace_name_their_ops(open_events):
    def memory(ts: float, address: int, size: int, total: int) -> dict[str, object]:
        args = {"Addr": address, "Bytes": size, "Device Type": 1, "Device Id": 0, "Total Allocated": total}
        return {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts, "args": args}

    trace = open_events(
        {"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 1, "tid": 1, "ts": 10, "dur": 5},
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 20, "dur": 5},
        memory(12, 4096, 512, 1512),
        memory(22, 4096, -512, 1000),
        memory(23, 8192, -1000, 0),
    )
    rows = trace.table("allocations").arrow().to_pylist()
    lives = [(row["address"], row["size_bytes"], row["start_ns"], row["end_ns"]) for row in rows]
    assert lives == [(4096, 512, 2000, 12000), (8192, 1000, None, 13000)]
    assert [(row["slice_id"], row["free_slice_id"], row["name"]) for row in rows] == [
        (0, 1, "aten::empty"),
        (None, 1, None),
    ]
    assert {row["device"] for row in rows} == {"cuda:0"}
    counters = trace.table("counters").arrow().to_pylist()
    assert [(row["ts_ns"], row["value"]) for row in counters] == [(2000, 1512.0), (12000, 1000.0), (13000, 0.0)]
    tracks = {row["track_id"]: row for row in trace.tracks.arrow().to_pylist()}
    assert tracks[counters[0]["track_id"]]["name"] == "allocated bytes of cuda:0"
    assert tracks[counters[0]["track_id"]]["unit"] == "bytes"
