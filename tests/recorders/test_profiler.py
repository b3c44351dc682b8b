"""The Profiler: its life, its windows and steps, what it does when something fails."""

from __future__ import annotations

import gc
import itertools
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import laptime
from laptime.model.workspace import Workspace
from laptime.recorders import active, backends
from tests.recorders import failing
from tests.recorders.running import Row, log_of, rows_of, steps_of, trace_of, warnings_of

EVERYTHING = ("backend", "prepare", "start", "stop", "begin_step", "end_step", "watch")


@pytest.fixture
def framework(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A framework whose recorder fails where `failing.fails_in` says."""
    monkeypatch.setitem(backends.BACKENDS, "failing", (None, "tests.recorders.failing"))
    failing.fails_in.clear()
    failing.calls.clear()
    yield "failing"
    failing.fails_in.clear()


def _spans(folder: Path) -> list[tuple[object, object]]:
    return [(row[0], row[2]) for row in rows_of(folder, "end")]


# ---- life ----


def test_steps_follow_each_other_without_a_gap(tmp_path: Path) -> None:
    with laptime.Profiler(tmp_path) as prof:
        for number in range(1, 4):
            assert prof.step_number == number
            prof.step()
    steps = rows_of(tmp_path, "step")
    assert [(row[0], row[3], row[4]) for row in steps] == [(1, True, 1), (2, True, 1), (3, True, 1)]
    for before, after in itertools.pairwise(steps):
        assert 0 <= after[1] - before[2] < 50_000_000


def test_facts_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "8")
    with laptime.Profiler(tmp_path, with_backtrace=True):
        pass
    facts, _ = log_of(tmp_path)
    assert facts["laptime"] == 1
    assert (facts["rank"], facts["world_size"], facts["framework"], facts["with_backtrace"]) == (3, 8, "python", True)
    assert next(tmp_path.iterdir()).name.startswith("rank3-")


def test_stop_and_start_are_two_windows_of_one_log(tmp_path: Path, workspace: Workspace) -> None:
    prof = laptime.Profiler(tmp_path / "out")
    for _ in range(2):
        prof.start()
        prof.step()
        prof.stop()
    assert _spans(tmp_path / "out") == [(1, "whole"), (2, "whole")]
    assert steps_of(trace_of(tmp_path / "out", workspace)) == [(1, True), (3, True)]


def test_dump_keeps_the_step_that_runs_as_an_incomplete_one(tmp_path: Path, workspace: Workspace) -> None:
    with laptime.Profiler(tmp_path / "out") as prof:
        prof.step()
        prof.dump()
        prof.step()
        prof.step()
    assert _spans(tmp_path / "out") == [(1, "whole"), (2, "whole")]
    assert steps_of(trace_of(tmp_path / "out", workspace)) == [(1, True), (2, False), (3, True)]


def test_the_destructor_ends_recording(tmp_path: Path) -> None:
    prof = laptime.Profiler(tmp_path)
    prof.start()
    prof.step()
    del prof
    gc.collect()
    assert _spans(tmp_path) == [(1, "whole")]
    assert active.recorder is None


def test_a_second_profiler_stands_aside(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with laptime.Profiler(tmp_path / "a") as first:
        with laptime.Profiler(tmp_path / "b") as second:
            second.step()
        first.step()
    assert not (tmp_path / "b").exists()
    assert len(rows_of(tmp_path / "a", "step")) == 1
    assert capfd.readouterr().err == "laptime: another Profiler is recording; this one does nothing\n"
    with second:
        second.step()
    assert len(rows_of(tmp_path / "b", "step")) == 1


def test_calls_out_of_order_are_told_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    prof = laptime.Profiler(tmp_path)
    prof.stop()
    prof.dump()
    prof.step()
    prof.step()
    prof.start()
    prof.start()
    prof.step()
    prof.stop()
    prof.stop()
    assert capfd.readouterr().err.splitlines() == [
        "laptime: step() was called outside the profiler; ignored",
        "laptime: this Profiler runs already",
    ]
    assert len(rows_of(tmp_path, "step")) == 1


def test_profilers_one_right_after_the_other_have_logs_of_their_own(tmp_path: Path) -> None:
    for _ in range(20):
        with laptime.Profiler(tmp_path):
            pass
    assert len(list(tmp_path.glob("*.laptime.jsonl"))) == 20


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"sample_rate": -1}, "sample_rate must not be negative"),
        ({"framework": "caffe"}, "unknown framework 'caffe': choose from pytorch"),
        ({"format": "svg"}, "unknown format 'svg': choose from chrome_timeline.json"),
    ],
)
def test_arguments_that_cannot_be(arguments: dict[str, object], words: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=words):
        laptime.Profiler(tmp_path, **arguments)


def test_one_format_may_be_a_text(tmp_path: Path) -> None:
    assert laptime.Profiler(tmp_path, formats="memory_flow.svg")._options.formats == ("memory_flow.svg",)
    with pytest.raises(ValueError, match="unknown format 'svg'"):
        laptime.Profiler(tmp_path, formats="svg")


def test_options_that_plain_python_does_not_have_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with laptime.Profiler(tmp_path, framework="python", with_scope=True) as prof:
        prof.step()
    assert capsys.readouterr().err == "laptime: plain Python has no option with_scope; ignored\n"


# ---- windows ----


def test_a_window_without_steps_has_the_time_of_its_block(tmp_path: Path) -> None:
    prof = laptime.Profiler(tmp_path, framework="python")
    for _ in range(2):
        prof.start()
        prof.stop()
    with prof:
        prof.step()
    assert [(row[0], row[3]) for row in rows_of(tmp_path, "block")] == [(1, 1), (2, 2)]
    assert all(row[2] >= row[1] for row in rows_of(tmp_path, "block"))
    assert [row[0] for row in rows_of(tmp_path, "step")] == [3]


def test_windows_of_a_schedule(tmp_path: Path, framework: str) -> None:
    plan = laptime.schedule(skip_first=1, wait=1, warmup=1, active=2, repeat=2)
    with laptime.Profiler(tmp_path, framework=framework, schedule=plan) as prof:
        recording = []
        for _ in range(12):
            recording.append(prof.is_recording)
            prof.step()
    assert [number for number, is_on in enumerate(recording, 1) if is_on] == [4, 5, 8, 9]
    assert [(row[0], row[4]) for row in rows_of(tmp_path, "step")] == [(4, 1), (5, 1), (8, 2), (9, 2)]
    assert _spans(tmp_path) == [(1, "whole"), (2, "whole")]
    window = ["start", "begin_step", "end_step", "begin_step", "end_step", "stop"]
    assert [call for call in failing.calls if call != "watch"] == ["prepare", *window, "prepare", *window]


def test_a_schedule_of_the_users_own(tmp_path: Path) -> None:
    with laptime.Profiler(tmp_path, schedule=lambda step: "record" if step in (1, 2, 4) else "none") as prof:
        for _ in range(6):
            prof.step()
    assert [(row[0], row[4]) for row in rows_of(tmp_path, "step")] == [(2, 1), (3, 1), (5, 2)]


def test_a_schedule_that_fails(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with laptime.Profiler(tmp_path, schedule=lambda step: "record" if step < 2 else "nonsense") as prof:
        for _ in range(6):
            prof.step()
    assert len(rows_of(tmp_path, "step")) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert "a schedule must return none, warmup, record or record_and_save, not 'nonsense'" in line


@pytest.mark.parametrize("steps", [10, 11, 40])
@pytest.mark.parametrize("has_schedule", [False, True])
def test_many_steps_are_remarked_once(
    steps: int, has_schedule: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with laptime.Profiler(tmp_path, schedule=laptime.schedule(active=50) if has_schedule else None) as prof:
        for _ in range(steps):
            prof.step()
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == (steps > 10 and not has_schedule)
    assert all("laptime.schedule(wait=5, active=5)" in line for line in lines)


def test_between_windows_nothing_is_kept(tmp_path: Path) -> None:
    plan = laptime.schedule(wait=2, active=1, repeat=1)
    with laptime.Profiler(tmp_path, schedule=plan) as prof:
        for number in prof.watch(range(1, 6)):
            with laptime.scope(f"scope {number}"):
                pass
            prof.step()
    names = [row[1] for row in rows_of(tmp_path, "slice") if row[2] in ("scope", "data")]
    assert names == ["next batch", "scope 3"] or names == ["scope 3"]
    ((_, start, end),) = [(row[0], row[1], row[2]) for row in rows_of(tmp_path, "step")]
    assert all(start <= row[3] <= row[4] <= end for row in rows_of(tmp_path, "slice") if row[2] == "scope")


# ---- data ----


def _loader(times: list[float]) -> Iterator[int]:
    for number, seconds in enumerate(times):
        time.sleep(seconds)
        yield number


def test_waits_for_data(tmp_path: Path) -> None:
    times = [0.03, 0.002, 0.002]
    with laptime.Profiler(tmp_path) as prof:
        for _ in prof.watch(_loader(times)):
            prof.step()
    waits = [row for row in rows_of(tmp_path, "slice") if row[2] == "data"]
    assert [row[1] for row in waits] == ["next batch", "next batch"]
    assert all(row[4] - row[3] >= 2_000_000 for row in waits)
    ((start, end),) = rows_of(tmp_path, "start_up")
    assert end - start >= 30_000_000
    first = rows_of(tmp_path, "step")[0]
    assert first[1] == end  # the first batch of a fresh iterator is start-up, no step's wait


# ---- failures ----


@pytest.mark.parametrize("place", EVERYTHING)
def test_whatever_fails_training_goes_on(
    place: str, framework: str, tmp_path: Path, workspace: Workspace, capfd: pytest.CaptureFixture[str]
) -> None:
    failing.fails_in.add(place)
    trained: list[int] = []
    plan = laptime.schedule(warmup=1, active=2, repeat=2)
    with laptime.Profiler(tmp_path / "out", framework=framework, schedule=plan) as prof:
        for number in prof.watch(range(8)):
            with laptime.scope("work"):
                trained.append(number)
            prof.step()
    assert trained == list(range(8))
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    assert "no " + place in lines[0] or "not installed" in lines[0]
    assert active.recorder is None
    if place in ("backend", "start", "watch"):
        assert steps_of(trace_of(tmp_path / "out", workspace)) == [(n, True) for n in (2, 3, 5, 6)]


def test_a_framework_that_cannot_start_is_noted(framework: str, tmp_path: Path, workspace: Workspace) -> None:
    failing.fails_in.add("start")
    with laptime.Profiler(tmp_path / "out", framework=framework) as prof:
        prof.step()
    trace = trace_of(tmp_path / "out", workspace)
    assert warnings_of(trace) == {"other": "the profiler of failing did not start: RuntimeError: no start today"}
    assert [row[0] for row in rows_of(tmp_path / "out", "begin")] == [1, 2]
    assert failing.calls == ["start", "stop"]  # what had begun is taken back


def test_a_system_that_gives_no_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    before = list(gc.callbacks)
    with laptime.Profiler(tmp_path / "out") as prof:
        prof.step()
    assert gc.callbacks == before
    assert [row[0] for row in rows_of(tmp_path / "out", "step")] == [1]


def test_several_failures_at_once(framework: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    failing.fails_in.update(EVERYTHING[1:])
    with laptime.Profiler(tmp_path, framework=framework) as prof:
        prof.step()
    assert len(capfd.readouterr().err.splitlines()) == 1


def test_a_thousand_steps_keep_no_rows(tmp_path: Path) -> None:
    """What a finished step recorded is on disk, not in memory."""
    with laptime.Profiler(tmp_path) as prof:
        for _ in range(1000):
            for _ in range(10):
                with laptime.scope("work"):
                    pass
            prof.step()
        log = prof._log
        assert log is not None
        assert len(log._rows) < 20
    rows: list[Row] = rows_of(tmp_path, "slice")
    assert sum(row[2] == "scope" for row in rows) == 10_000
