"""`laptime.scope`: ranges of threads, next to nothing while nothing is recorded, never in the way of training."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import laptime
from laptime.recorders import active
from tests.recorders.running import rows_of


def _scopes(folder: Path) -> list[str]:
    return [str(row[1]) for row in rows_of(folder, "slice") if row[2] == "scope"]


def test_they_nest_and_end_in_order(tmp_path: Path) -> None:
    with laptime.Profiler(tmp_path), laptime.scope("outer"):
        with laptime.scope("inner"):
            pass
        with laptime.scope("later"):
            pass
    assert _scopes(tmp_path) == ["inner", "later", "outer"]
    spans = {row[1]: (row[3], row[4]) for row in rows_of(tmp_path, "slice") if row[2] == "scope"}
    assert spans["outer"][0] <= spans["inner"][0] <= spans["inner"][1] <= spans["later"][0]
    assert spans["later"][1] <= spans["outer"][1]


def test_a_decorated_function(tmp_path: Path) -> None:
    @laptime.scope("twice")
    def twice(value: int) -> int:
        """Doubles."""
        return 2 * value if value > 1 else twice(2)

    assert (twice(3), twice.__name__, twice.__doc__) == (6, "twice", "Doubles.")
    with laptime.Profiler(tmp_path):
        assert twice(1) == 4
    assert _scopes(tmp_path) == ["twice", "twice"]


def test_exceptions_pass(tmp_path: Path) -> None:
    with laptime.Profiler(tmp_path), pytest.raises(KeyError), laptime.scope("failing"):
        raise KeyError
    assert _scopes(tmp_path) == ["failing"]


def test_open_across_the_ends_of_a_window(tmp_path: Path) -> None:
    prof = laptime.Profiler(tmp_path)
    with laptime.scope("begun before"):
        prof.start()
        with laptime.scope("ends after"):
            prof.stop()
    assert _scopes(tmp_path) == []


@pytest.mark.parametrize("name", ["a\nb", '"quoted"', "\ud800", "Schicht 模型", "", 7, ["list"]])
def test_any_name(name: object, tmp_path: Path) -> None:
    with laptime.Profiler(tmp_path), laptime.scope(name):
        pass
    assert _scopes(tmp_path) == [str(name)]


def test_threads_have_their_own_ranges_and_names(tmp_path: Path) -> None:
    def work() -> None:
        with laptime.scope("of a thread"):
            pass

    with laptime.Profiler(tmp_path), laptime.scope("of the main thread"):
        thread = threading.Thread(target=work, name="worker 7")
        thread.start()
        thread.join()
    threads = {row[1]: row[0] for row in rows_of(tmp_path, "slice") if row[2] == "scope"}
    names = {row[0]: row[1] for row in rows_of(tmp_path, "thread")}
    assert names[threads["of a thread"]] == "worker 7"
    assert threads["of the main thread"] == threading.get_native_id()


def test_call_stacks_of_scopes(tmp_path: Path) -> None:
    def place() -> None:
        with laptime.scope("here"):
            pass

    with laptime.Profiler(tmp_path, with_backtrace=True):
        place()
    (scope,) = [row for row in rows_of(tmp_path, "slice") if row[2] == "scope"]
    stacks = {row[0]: str(row[1]) for row in rows_of(tmp_path, "stack")}
    line = place.__code__.co_firstlineno + 1
    first, second, *_ = stacks[scope[5]].split(";")
    assert first == f"{__file__}({line}): place"
    assert second.endswith(": test_call_stacks_of_scopes")
    assert "recorders/scopes.py" not in stacks[scope[5]]


@pytest.mark.parametrize("fails", ["open_scope", "close_scope"])
def test_a_recorder_that_fails(fails: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Recorder:
        def open_scope(self, name: str) -> object:
            if fails == "open_scope":
                raise RuntimeError
            return name

        def close_scope(self, token: object) -> None:
            raise RuntimeError

    monkeypatch.setattr(active, "recorder", Recorder())
    done = []
    with laptime.scope("work"):
        done.append(1)
    assert done == [1]
