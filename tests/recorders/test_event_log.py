"""The log: rows of any thread, also from callbacks of the garbage collector in the midst of writing, whole or not at
all."""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from laptime.recorders import event_log
from laptime.recorders.event_log import EventLog, native_id, wall_clock_ahead


def _log(folder: Path) -> EventLog:
    log = EventLog(folder, "a", {"rank": 0})
    log.is_open = True
    return log


def _rows(log: EventLog) -> list[list[object]]:
    log.close()
    first, *lines = log.path.read_text().splitlines()
    assert json.loads(first) == {"laptime": 1, "rank": 0}
    return [row for line in lines for row in json.loads(line)]


def test_rows_of_several_threads_are_whole_and_in_order(tmp_path: Path) -> None:
    log = _log(tmp_path)
    threads, rows = 6, 3000
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work(number: int) -> None:
        for count in range(rows):
            log.add("counter", "c", "", count, number)
            if count % 7 == 0:
                log.flush()

    try:
        workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(before)
    found = _rows(log)
    for number in range(threads):
        assert [row[3] for row in found if row[4] == number] == list(range(rows))


def test_collections_amid_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each collection adds rows and flushes, in the thread that is just writing."""
    monkeypatch.setattr(event_log, "_ROWS_AT_ONCE", 8)
    log = _log(tmp_path)
    seen: Counter[str] = Counter()

    def collected(phase: str, info: dict[str, int]) -> None:
        seen[phase] += 1
        log.slice(native_id(), f"gc {seen['start']}", "host_other", (1, 2))

    thresholds = gc.get_threshold()
    gc.callbacks.append(collected)
    gc.set_threshold(5, 1, 1)
    try:
        kept = []
        for number in range(500):
            kept.append([number])
            log.slice(1, f"scope {number}", "scope", (number, number + 1))
            gc.collect(0)
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(collected)
    names = Counter(str(row[2]) for row in _rows(log) if row[0] == "slice")
    assert sum(count for name, count in names.items() if name.startswith("gc ")) == seen["start"] + seen["stop"]
    assert all(names[f"scope {number}"] == 1 for number in range(500))


def test_an_exception_amid_writing_loses_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = _log(tmp_path)
    write, fails = EventLog._write, [True]

    def interrupted(self: EventLog, line: str) -> None:
        if fails.pop():
            raise KeyboardInterrupt
        write(self, line)

    monkeypatch.setattr(EventLog, "_write", interrupted)
    log.add("note", "one")
    with pytest.raises(KeyboardInterrupt):
        log.flush()
    monkeypatch.undo()
    log.add("note", "two")
    assert _rows(log) == [["note", "one"], ["note", "two"]]


def test_lines_are_of_bounded_length(tmp_path: Path) -> None:
    log = _log(tmp_path)
    for number in range(10_000):
        log.add("counter", "c", "", number, 0)
    assert len(log._rows) <= 4096
    rows = _rows(log)
    assert len(rows) == log.written == 10_000
    assert log.path.read_text().count("\n") == 4


def test_between_windows_only_facts_are_kept(tmp_path: Path) -> None:
    log = _log(tmp_path)
    log.is_open = False
    log.slice(1, "late", "scope", (1, 2))
    log.add("queue", "q", "", 1, 2)
    log.add("counter", "c", "", 1, 2)
    log.add("note", "kept")
    assert [row for row in _rows(log) if row[0] != "thread"] == [["note", "kept"]]


def test_stacks_and_threads_are_told_once(tmp_path: Path) -> None:
    log = _log(tmp_path)
    for _ in range(3):
        log.slice(native_id(), "s", "scope", (1, 2), stack="a.py(1): f")
    kinds = Counter(row[0] for row in _rows(log))
    assert kinds == {"slice": 3, "stack": 1, "thread": 1}


def test_what_is_added_after_closing_is_appended(tmp_path: Path) -> None:
    log = _log(tmp_path)
    log.add("note", "one")
    log.close()
    log.add("note", "two")
    log.close()
    assert _rows(log) == [["note", "one"], ["note", "two"]]


def test_a_value_that_is_no_json_is_written_as_its_text(tmp_path: Path) -> None:
    log = _log(tmp_path)
    log.add("fact", "path", tmp_path)
    assert _rows(log) == [["fact", "path", str(tmp_path)]]


def test_a_thread_that_python_did_not_start_is_named_by_its_number(tmp_path: Path) -> None:
    log = _log(tmp_path)
    log.slice(99_999_999, "s", "scope", (1, 2))
    assert _rows(log)[0] == ["thread", 99_999_999, "thread 99999999", os.getpid()]


def test_the_wall_clock() -> None:
    import time

    assert abs(wall_clock_ahead() + event_log.now() - time.time_ns()) < 50_000_000
