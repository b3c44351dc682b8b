"""Executions on XLA:CPU and waits for values: links and times that the profile tells in pieces only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from laptime.analyses.operators import operator_table
from laptime.analyses.report import report
from laptime.importers.opening import open_run
from laptime.model.trace import Run
from laptime.model.workspace import Workspace
from tests.importers.xspaces import MS, Message, Plane, Ref, XSpace

_HELPER = "CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice"
_WAIT = "CommonPjRtBuffer::Await"


def _opened(space: Message, folder: Path) -> Run:
    path = folder / "host.xplane.pb"
    path.write_bytes(space.SerializeToString())
    return open_run(path, workspace=Workspace.choose(folder / "workspace", say=lambda _: None))


def _rows(run: Run, what: str) -> list[dict[str, Any]]:
    return run.sql(f"SELECT {what}").to_pylist()


class _Host:
    """A thread of Python that calls programs, and the executor that runs them."""

    def __init__(self) -> None:
        self.space = XSpace()
        self.plane = Plane(self.space, "/host:CPU")
        self.python = self.plane.line("python", id=1)
        self.executor = self.plane.line("tf_XLAPjRtCpuClient/5", id=5)

    def call(self, name: str, at_ms: float) -> None:
        at = int(at_ms * MS)
        for nested in (0, MS // 1000):
            self.plane.event(self.python, f"PjitFunction({name})", at + nested, MS // 2 - nested)
        self.plane.event(self.python, _HELPER, at + MS // 10, MS // 10)

    def run(self, program: str, run_id: int, at_ms: float, *, device: int = 0) -> None:
        told = {"hlo_module": Ref(program), "run_id": run_id, "program_id": 3, "device_ordinal": device}
        for part in range(2):
            name, at = f"dot.{part}", int((at_ms + 2 * part) * MS)
            self.plane.event(self.executor, name, at, MS, hlo_op=Ref(name), **told)

    def wait(self, start_ms: float, end_ms: float) -> None:
        self.plane.event(self.python, _WAIT, int(start_ms * MS), MS // 1000, _p=7, _pt=0)
        self.plane.event(self.python, _WAIT, int(end_ms * MS), MS // 1000, _c=7, _ct=0)


_LINKS = """f.start_ns // 1000000 AS call, t.start_ns // 1000000 AS work FROM flows
    JOIN slices f ON f.slice_id = from_id JOIN slices t ON t.slice_id = to_id
    WHERE flows.kind = 'launch' ORDER BY work"""


def test_executions_are_linked_to_their_calls_by_name(tmp_path: Path) -> None:
    host = _Host()
    host.call("step", 0)
    host.call("<lambda>", 1)
    host.call("step", 2)
    host.run("jit_step", -9, 10)
    host.run("jit_step", -8, 30)
    host.run("jit__lambda", 4, 20)
    run = _opened(host.space, tmp_path)
    assert [(row["call"], row["work"]) for row in _rows(run, _LINKS)] == [
        *((0, 10), (0, 12)),
        *((1, 20), (1, 22)),
        *((2, 30), (2, 32)),
    ]
    assert {row["kind"] for row in _rows(run, f"kind FROM slices WHERE name = '{_HELPER}'")} == {"launch"}


def test_of_what_was_called_before_the_recording_the_call_is_unknown(tmp_path: Path) -> None:
    host = _Host()
    host.run("jit_step", 1, 0)
    host.call("step", 5)
    host.run("jit_step", 2, 10)
    run = _opened(host.space, tmp_path)
    assert [(row["call"], row["work"]) for row in _rows(run, _LINKS)] == [(5, 10), (5, 12)]
    assert [row["count"] for row in report(run)["warnings"] if row["code"] == "unlinked_device_ops"] == [2]


def test_what_was_not_run_any_more_moves_no_link(tmp_path: Path) -> None:
    host = _Host()
    host.call("step", 0)
    host.run("jit_step", 1, 1)
    host.call("step", 20)
    assert [row["call"] for row in _rows(_opened(host.space, tmp_path), _LINKS)] == [0, 0]


def test_several_devices_of_one_program_are_not_told_apart(tmp_path: Path) -> None:
    host = _Host()
    host.call("step", 0)
    host.run("jit_step", 1, 1)
    host.run("jit_step", 1, 1, device=1)
    assert _rows(_opened(host.space, tmp_path), _LINKS) == []


def test_device_time_goes_to_the_instructions_not_to_the_call(tmp_path: Path) -> None:
    host = _Host()
    host.call("step", 0)
    host.run("jit_step", 1, 1)
    trace = _opened(host.space, tmp_path).traces[0]
    assert [(row["name"], row["count"]) for row in operator_table(trace, by="op").rows] == [("dot.0", 1), ("dot.1", 1)]


def test_a_call_that_jax_marks_twice_counts_once(tmp_path: Path) -> None:
    host = _Host()
    host.call("step", 0)
    host.call("step", 1)
    rows = _rows(_opened(host.space, tmp_path), "kind, count(*) n FROM slices WHERE name LIKE 'Pjit%' GROUP BY kind")
    assert {row["kind"]: row["n"] for row in rows} == {"op": 2, "host_other": 2}


def test_a_wait_lasts_from_its_first_mark_to_its_second(tmp_path: Path) -> None:
    host = _Host()
    host.wait(1, 5)
    host.wait(7, 8)
    run = _opened(host.space, tmp_path)
    assert _rows(run, "dur_ns FROM slices WHERE kind = 'sync' ORDER BY start_ns") == [
        {"dur_ns": 4_001_000},
        {"dur_ns": 1_001_000},
    ]
    assert _rows(run, "count(*) n FROM slices") == [{"n": 4}]


def test_a_wait_whose_begin_or_end_was_not_recorded_stays_a_mark(tmp_path: Path) -> None:
    host = _Host()
    host.plane.event(host.python, _WAIT, 2 * MS, MS // 1000, _c=3)
    host.wait(4, 5)
    host.plane.event(host.python, _WAIT, 9 * MS, MS // 1000, _p=8)
    run = _opened(host.space, tmp_path)
    rows = _rows(run, "dur_ns FROM slices WHERE kind = 'sync' ORDER BY start_ns")
    assert [row["dur_ns"] for row in rows] == [1_000, 1_001_000, 1_000]
