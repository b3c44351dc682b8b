"""A small MegEngine timeline: per step two operators, each dispatched, executed and run, and a wait for the second."""

from __future__ import annotations

import json
from pathlib import Path

Event = dict[str, object]

INTERPRETER, WORKER, DEVICE = 1, 0, 2
_STACK = "Python Backtrace: /train/run.py , line 5, in <module>\n/train/model.py , line {line}, in forward\n"


def _span(name: str, tid: int, begin: float, end: float, category: str | None = None, **args: object) -> list[Event]:
    place = {"name": name, "pid": 7, "tid": tid, **({"cat": category} if category else {})}
    return [{**place, "ph": "B", "ts": begin}, {**place, "ph": "E", "ts": end, **({"args": args} if args else {})}]


def _operator(number: int, name: str, at: float, takes: int, makes: int, *, has_stack: bool) -> list[Event]:
    stack = {"python_backtrace": _STACK.format(line=number)} if has_stack else {}
    op = {"__id__": number, "__name__": name, "mode": 'a "b" }, {'}

    def tensor(side: str, tensor_id: int, begin: float) -> list[Event]:
        args = {"id": tensor_id, "shape": "{2,3}", "dtype": "Float32", "device": 'CompNode("cpu0:0" from "cpux:0")'}
        return _span(f"{side} {tensor_id}", WORKER, begin, begin + 0.5, **args)

    begin, end = _span(name, WORKER, at + 2, at + 9, **op, **stack)
    return [
        *_span("OpDispatch", INTERPRETER, at, at + 1, **op, **stack),
        begin,
        *tensor("Input", takes, at + 3),
        *tensor("Output", makes, at + 6),
        end,
        *_span(name, DEVICE, at + 12, at + 30.125, "Kernel", **op),
        {"ph": "C", "name": "device_ahead_ms", "pid": 7, "tid": WORKER, "ts": at + 9, "args": {"value": 3}},
    ]


def megengine_events() -> list[Event]:
    """Three steps, each a scope of the user's."""
    events: list[Event] = [
        {"ph": "M", "name": "thread_name", "pid": 7, "tid": tid, "args": {"name": name}}
        for tid, name in ((INTERPRETER, "interpreter"), (WORKER, "worker"), (DEVICE, "cpux:0"))
    ]
    for step in range(3):
        at, number = 100.0 * step, 10 * step
        begin, end = _span(f"step{step}", INTERPRETER, at, at + 90)
        events += [
            begin,
            *_operator(number + 1, "MatrixMul", at + 5, takes=100 + number, makes=101 + number, has_stack=True),
            *_operator(number + 2, "ADD", at + 40, takes=101 + number, makes=102 + number, has_stack=False),
            *_span("TensorWaitProp", INTERPRETER, at + 45, at + 75, id=102 + number, shape="{2,3}", dtype="Float32"),
            end,
        ]
    return events


def write_timeline(folder: Path) -> Path:
    """Writes it as MegEngine's profiler does."""
    path = folder / "7.chrome_timeline.json"
    path.write_text(json.dumps({"traceEvents": megengine_events(), "metadata": {"localTime": "1795956677395375233"}}))
    return path
