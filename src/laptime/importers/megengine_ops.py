"""Operators of a MegEngine timeline, distinct by name, scopes around and layouts of tensors; their call stacks."""

from __future__ import annotations

import json
import re

import numpy as np

from laptime.importers.megengine_events import Events
from laptime.importers.megengine_links import Links, Uses
from laptime.importers.megengine_scopes import Scopes
from laptime.importers.megengine_spans import Spans
from laptime.model.arrays import CodeArray, IntArray, distinct_rows
from laptime.model.builder import Op, TraceBuilder

_ELEMENTWISE = re.compile(r"[A-Z][A-Z0-9_]*\Z")
_NOT_ELEMENTWISE = frozenset({"LSTM", "RNN", "SVD", "LSQ", "TQT", "LRN", "NMS"})
_FRAME = re.compile(r"^(?P<file>.+?) , line (?P<line>\d+), in (?P<function>.*)$")
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def type_of(name: str) -> str:
    """Type of an operator: modes of Elemwise are written as names in capitals."""
    return "Elemwise" if _ELEMENTWISE.match(name) and name not in _NOT_ELEMENTWISE else name


def add_operators(events: Events, spans: Spans, links: Links, scopes: Scopes, builder: TraceBuilder) -> CodeArray:
    """Adds the operators to the builder and returns their codes by span, -1 for none.

    An execution, its dispatch and its device spans share one.
    """
    caller = np.full(len(spans), -1, np.int64)
    caller[links.calls[1]] = links.calls[0]
    executed, inline = links.executed, links.dispatched[links.inline]
    rows = np.concatenate([executed, inline])
    called = np.where(caller[rows] >= 0, caller[rows], rows)
    sides = [_fingerprint(spans, side, rows) for side in (links.inputs, links.outputs)]
    first, op = distinct_rows([spans.op_name[rows], scopes.path[called], *sides])
    texts, paths = builder.names.texts, scopes.paths
    layouts = [_Layouts(events, side) for side in (links.inputs, links.outputs)]
    base = len(builder.ops)
    for row in first.tolist():
        name = texts[spans.op_name[rows[row]]]
        inputs, outputs = (each.of(int(rows[row])) for each in layouts)
        builder.add_op(
            Op(
                name=name,
                op_type=type_of(name),
                module=paths[scopes.path[called[row]]] or None,
                device_kind="host" if row >= len(executed) else "device",
                input_shapes=json.dumps([shape for shape, _ in inputs]) if inputs else None,
                input_dtypes=json.dumps([dtype for _, dtype in inputs]) if inputs else None,
                output_shapes=json.dumps([shape for shape, _ in outputs]) if outputs else None,
            )
        )
    code = np.full(len(spans), -1, np.int32)
    code[rows] = base + op
    for before, after in (links.calls, links.launches):
        target, source = (before, after) if before is links.calls[0] else (after, before)
        code[target] = code[source]
    return code


def _fingerprint(spans: Spans, uses: Uses, rows: IntArray) -> IntArray:
    """A number for the layouts of each row's tensors on one side, in their order."""
    new = np.ones(len(uses.user), bool)
    new[1:] = uses.user[1:] != uses.user[:-1]
    position = np.arange(len(new)) - np.maximum.accumulate(np.where(new, np.arange(len(new)), 0))
    mixed = (uses.layout.astype(np.int64) + 2).astype(np.uint64)
    with np.errstate(over="ignore"):
        mixed = (mixed * _MULTIPLIER) ^ ((position.astype(np.uint64) + np.uint64(1)) * np.uint64(0xC2B2AE3D27D4EB4F))
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
    total = np.zeros(len(spans), np.uint64)
    np.add.at(total, uses.user, mixed)
    return np.unique(total[rows], return_inverse=True)[1].reshape(-1).astype(np.int64)


class _Layouts:
    """Shapes and types of the tensors of an execution; None where no tensor's are known."""

    def __init__(self, events: Events, uses: Uses) -> None:
        self._uses = uses
        self._values = [value for value in events.layouts.values if isinstance(value, tuple)]

    def of(self, row: int) -> list[tuple[list[int] | None, str | None]] | None:
        """Of one execution, in their order."""
        first, last = np.searchsorted(self._uses.user, [row, row + 1])
        codes = self._uses.layout[first:last].tolist()
        if all(code < 0 for code in codes):
            return None
        known = [self._values[code] if code >= 0 else (None, None) for code in codes]
        return [(_shape(shape), dtype) for shape, dtype in known]


def _shape(text: object) -> list[int] | None:
    """`{64,784}` as a list."""
    parts = re.findall(r"\d{1,18}", text) if isinstance(text, str) else None
    return None if parts is None else [int(part) for part in parts]


def call_stacks(
    events: Events, spans: Spans, links: Links, forward_backward: tuple[IntArray, IntArray], builder: TraceBuilder
) -> CodeArray:
    """Call stack of each span as a code of the builder's; device spans have that of their execution.

    MegEngine records none of backward operators: they get that of their forward operator.
    """
    texts = [_stack(str(text)) for text in events.backtraces.values]
    known = np.append(builder.texts["call_stack"].codes(texts) if texts else np.empty(0, np.int32), np.int32(-1))
    code = np.where(spans.backtrace >= 0, known[spans.backtrace], np.int32(-1)).astype(np.int32)
    dispatches = links.calls[1], links.calls[0]
    for before, after in (links.calls, forward_backward, links.launches, dispatches):
        empty = code[after] < 0
        code[after[empty]] = code[before[empty]]
    return code


def _stack(text: str) -> str:
    """Frames of a MegEngine backtrace, innermost first, in the form `file(line): function`."""
    frames = [
        match for line in text.removeprefix("Python Backtrace:").splitlines() if (match := _FRAME.match(line.strip()))
    ]
    return ";".join(f"{each['file']}({each['line']}): {each['function']}" for each in reversed(frames))
