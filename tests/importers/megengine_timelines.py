"""Writes small timelines in the form of MegEngine's profiler."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PID = 77
INTERPRETER, WORKER, GPU, COMM = 1, 0, 2, 3
LOCAL_TIME = 1_700_000_000_000_000_000
Event = dict[str, Any]


class Timeline:
    """Events in order of writing; times in us."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.names = {WORKER: "worker", INTERPRETER: "interpreter", GPU: "gpu0:0"}

    def span(self, tid: int, name: str, start: float, end: float, args: Event | None = None, **more: object) -> None:
        """A span without anything inside it."""
        self.begin(tid, name, start, **more)
        self.end(tid, name, end, args, **more)

    def begin(self, tid: int, name: str, start: float, **more: object) -> None:
        self.events.append({"name": name, "ph": "B", "pid": PID, "tid": tid, "ts": start, **more})

    def end(self, tid: int, name: str, end: float, args: Event | None = None, **more: object) -> None:
        event = {"name": name, "ph": "E", "pid": PID, "tid": tid, "ts": end, **more}
        self.events.append({**event, "args": args} if args else event)

    def scope(self, name: str, start: float, end: float, *, worker: tuple[float, float]) -> None:
        """A scope of the interpreter with its mirror on the worker, without anything inside."""
        self.span(INTERPRETER, name, start, end)
        self.span(WORKER, name, *worker)

    def op(
        self,
        number: int,
        name: str,
        dispatch: float,
        execute: tuple[float, float] | None,
        *,
        runs: list[tuple[int, float, float]],
        takes: tuple[int, ...] = (),
        makes: tuple[int, ...] = (),
        backtrace: str | None = None,
    ) -> None:
        """Dispatch, execution with its tensors, and spans on devices: (row, start, end)."""
        args: Event = {"__id__": number, "__name__": name, "__device__": "invalid"}
        if backtrace:
            args["python_backtrace"] = backtrace
        self.span(INTERPRETER, "OpDispatch", dispatch, dispatch, args)
        if execute is None:
            return
        begin, end = execute
        self.begin(WORKER, name, begin)
        for kind, tensors in (("Input", takes), ("Output", makes)):
            for tensor in tensors:
                self.span(WORKER, f"{kind} {tensor}", begin, begin, tensor_args(tensor))
        self.end(WORKER, name, end, args)
        for row, start, until in runs:
            self.span(row, name, start, until, args, cat="Kernel")

    def counter(self, name: str, time: float, value: float) -> None:
        self.events.append({"name": name, "ph": "C", "pid": PID, "tid": WORKER, "ts": time, "args": {"value": value}})

    def step_end(self, time: float) -> None:
        """`profiler.step()`."""
        for tid in (INTERPRETER, WORKER):
            self.events.append({"name": "StopStep", "ph": "i", "pid": PID, "tid": tid, "ts": time})

    def text(self, *, with_names: bool = True) -> str:
        """The file."""
        named = [
            {"name": "thread_name", "ph": "M", "pid": PID, "tid": tid, "args": {"name": name}}
            for tid, name in self.names.items()
        ]
        events = self.events + (named if with_names else [])
        return json.dumps({"traceEvents": events, "metadata": {"localTime": str(LOCAL_TIME)}})

    def write(self, path: Path, *, with_names: bool = True) -> Path:
        """Writes the file."""
        path.write_text(self.text(with_names=with_names))
        return path


def tensor_args(number: int) -> Event:
    """Details of a tensor: shape {number, 4}."""
    device = 'CompNode("gpu0:0" from "gpux:0")'
    return {"id": number, "name": f"t{number}", "shape": f"{{{number},4}}", "dtype": "Float32", "device": device}


FRAMES = "Python Backtrace: /train.py , line 9, in <module>\nscope: <fc>\n/model.py , line 3, in forward\n"


def training_step() -> Timeline:
    """One step from 0 to 100: fetch 0-40; fc forward (MatrixMul 1) dispatched at 45; loss computed by the host (ADD 2);
    backward 60-80 with its MatrixMul 3; optimizer (SUB 4) at 85; a wait for tensor 13 from 90 to 99."""
    line = Timeline()
    line.begin(INTERPRETER, "step0", 0)
    line.begin(WORKER, "step0", 1)
    line.scope("fetch", 0, 40, worker=(2, 41))
    line.begin(INTERPRETER, "fc", 44)
    line.begin(WORKER, "fc", 45)
    line.op(1, "MatrixMul", 45, (46, 50), runs=[(GPU, 50, 60)], takes=(10, 11), makes=(12,), backtrace=FRAMES)
    line.end(INTERPRETER, "fc", 47)
    line.end(WORKER, "fc", 51)
    line.op(2, "ADD", 50, None, runs=[])
    line.begin(INTERPRETER, "backward", 60)
    line.begin(INTERPRETER, "MatrixMulBackward", 61)
    line.begin(WORKER, "backward", 61)
    line.begin(WORKER, "MatrixMulBackward", 62)
    line.op(3, "MatrixMul", 63, (64, 66), runs=[(GPU, 66, 76)], takes=(10, 12), makes=(13,))
    line.end(INTERPRETER, "MatrixMulBackward", 70)
    line.end(INTERPRETER, "backward", 80)
    line.end(WORKER, "MatrixMulBackward", 71)
    line.end(WORKER, "backward", 81)
    line.begin(INTERPRETER, "step", 82)
    line.begin(WORKER, "step", 83)
    line.op(4, "SUB", 85, (86, 87), runs=[(GPU, 88, 92)], takes=(13,), makes=(14,))
    line.end(INTERPRETER, "step", 88)
    line.end(WORKER, "step", 89)
    line.span(INTERPRETER, "TensorWaitProp", 90, 99, tensor_args(13))
    line.end(INTERPRETER, "step0", 100)
    line.end(WORKER, "step0", 101)
    return line
