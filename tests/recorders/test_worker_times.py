"""Times that workers tell through a pipe."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from laptime.recorders.event_log import EventLog
from laptime.recorders.worker_times import WorkerTimes


def test_a_closed_pipe_is_none_of_the_files_opened_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their numbers are those of the pipe; what tells times outlives the iteration in a process forked later."""
    log = EventLog(tmp_path, "a", {})
    times = WorkerTimes(log)
    times.close()
    later = [(tmp_path / name).open("wb") for name in "bcd"]
    monkeypatch.setattr(os, "getpid", lambda: 1)
    times.add("fetch", (1, 2))
    for file in later:
        file.close()
    log.close()
    assert [(tmp_path / name).stat().st_size for name in "bcd"] == [0, 0, 0]
