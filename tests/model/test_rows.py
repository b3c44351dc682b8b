"""Growing columns and spooled texts."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from laptime.model.arrays import chosen_rows, is_repeated
from laptime.model.rows import Rows, TextSpool


def spooled(spool: TextSpool, *texts: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Where each text begins and how long it is."""
    lengths = np.array([len(text) for text in texts], np.int32)
    return spool.add(b"".join(texts)) + np.cumsum(lengths, dtype=np.int64) - lengths, lengths


def test_texts_come_back_in_any_order(tmp_path: Path):
    spool = TextSpool(tmp_path / "spool")
    parts = [spooled(spool, b"one", b"two", b"three"), spooled(spool, b"\xff\x00", "é".encode())]
    starts, lengths = (np.concatenate(column)[::-1].copy() for column in zip(*parts, strict=True))
    reader = spool.reader()
    assert reader.gather(starts, lengths).to_pylist() == ["é".encode(), b"\xff\x00", b"three", b"two", b"one"]
    reader.close()


def test_an_empty_text_is_none(tmp_path: Path):
    spool = TextSpool(tmp_path / "spool")
    starts, lengths = spooled(spool, b"a", b"", b"b")
    assert closing(spool, starts, lengths) == [b"a", None, b"b"]


def test_a_pool_holds_each_text_once(tmp_path: Path):
    spool = TextSpool(tmp_path / "spool")
    starts, lengths = spooled(spool, b"one", b"unused", b"two")
    order, gone = np.array([2, 0, 0, 2, 0]), np.array([False, True, False, False, False])
    reader = spool.reader()
    texts, place_of = reader.pool(starts[order], np.where(gone, 0, lengths[order]).astype(np.int32))
    reader.close()
    assert texts.to_pylist() == [b"one", b"two"]
    assert place_of.tolist() == [1, -1, 0, 1, 0]


def closing(spool: TextSpool, starts: np.ndarray, lengths: np.ndarray) -> list[bytes | None]:
    reader = spool.reader()
    try:
        return reader.gather(starts, lengths).to_pylist()
    finally:
        reader.close()


def test_nothing_gathered_is_nothing(tmp_path: Path):
    spool = TextSpool(tmp_path / "spool")
    assert closing(spool, np.empty(0, np.int64), np.empty(0, np.int32)) == []
    assert closing(spool, np.zeros(2, np.int64), np.zeros(2, np.int32)) == [None, None]


def test_the_same_text_may_be_asked_for_twice(tmp_path: Path):
    spool = TextSpool(tmp_path / "spool")
    starts, lengths = spooled(spool, b"abc")
    assert closing(spool, np.repeat(starts, 2), np.repeat(lengths, 2)) == [b"abc", b"abc"]


def test_texts_far_apart_are_read_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    spool = TextSpool(tmp_path / "spool")
    starts, lengths = spooled(spool, b"first", b"x" * 200_000, b"last")
    asked: list[int] = []
    read = os.pread
    monkeypatch.setattr(os, "pread", lambda handle, size, place: asked.append(size) or read(handle, size, place))
    assert closing(spool, starts[[2, 0]], lengths[[2, 0]]) == [b"last", b"first"]
    assert asked == [5, 4]


def test_a_discarded_spool_leaves_no_file(tmp_path: Path):
    spool = TextSpool(tmp_path / "spool")
    spool.add(b"abc")
    spool.discard()
    spool.discard()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_imports_leave_no_file_open(open_events, tmp_path):
    event = {
        "ph": "X",
        "name": "a",
        "cat": "cpu_op",
        "pid": 1,
        "tid": 1,
        "ts": 1,
        "dur": 1,
        "args": {"Sequence number": 1},
    }
    for number in range(3):
        open_events({**event, "ts": number})
    spools = [path for path in map(os.path.realpath, Path("/proc/self/fd").iterdir()) if str(tmp_path) in path]
    assert spools == []


def test_columns_left_out_are_filled_and_types_kept():
    rows = Rows({"a": (np.int64, -1), "b": (np.int8, 3)})
    rows.append(2, {"a": np.array([5, 6], np.int32)})
    rows.append(0, {"a": np.empty(0)})
    rows.append(1, {"b": np.array([9])})
    columns = rows.take_all()
    assert rows.count == 3
    assert columns["a"].tolist() == [5, 6, -1] and columns["a"].dtype == np.int64
    assert columns["b"].tolist() == [3, 3, 9] and columns["b"].dtype == np.int8


def test_a_column_that_no_block_has_is_its_default_repeated():
    rows = Rows({"a": (np.int64, -1), "b": (np.int8, 3)})
    rows.append(2, {"a": np.array([5, 6])})
    rows.append(1, {"a": np.array([7])})
    joined = rows.joined("b")
    joined[:] = 0  # a copy
    column = rows.take("b")
    assert is_repeated(column) and column.tolist() == [3, 3, 3] and column.dtype == np.int8
    chosen = chosen_rows(column, np.array([2, 0]))
    assert is_repeated(chosen) and chosen.tolist() == [3, 3]
    assert rows.least("a", missing=5) == 6


def test_least_leaves_missing_values_out():
    rows = Rows({"a": (np.int64, -1)})
    assert rows.least("a", missing=-1) is None
    rows.append(1, {"a": np.array([-1])})
    assert rows.least("a", missing=-1) is None
    rows.append(3, {"a": np.array([9, -1, 4])})
    assert rows.least("a", missing=-1) == 4
    assert rows.least("unknown", missing=-1) is None


def test_no_rows_give_empty_columns():
    columns = Rows({"a": (np.int64, 0), "b": (np.bool_, 0)}).take_all()
    assert {name: (len(column), column.dtype) for name, column in columns.items()} == {
        "a": (0, np.dtype(np.int64)),
        "b": (0, np.dtype(np.bool_)),
    }
