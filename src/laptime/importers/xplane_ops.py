"""Operators of XLA's device work: the HLO instruction behind each event, with what the profile tells of it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence

import numpy as np

from laptime.importers.xplane_events import REFERENCE, STRING, Events, Stats
from laptime.importers.xplane_hlo import HloModules, Instruction, Shape
from laptime.importers.xplane_lines import device_kind, shown_name, without_number, work_kind
from laptime.importers.xplane_space import EventKind, Plane
from laptime.importers.xplane_wire import Buffer
from laptime.model.arrays import CodeArray, Column, IntArray, distinct_rows
from laptime.model.builder import BASE_KIND_CODE, Op, TraceBuilder
from laptime.model.vocabulary import NULL

OP_STATS = ("hlo_op", "hlo_module", "program_id", "tf_op", "name")
"""Stats of an event that tell its operator."""
_NUMBERS = ("flops", "model_flops", "bytes_accessed", "raw_bytes_accessed")
_GENERIC = frozenset({"fusion", "custom-call", "call"})
_WRAPPED = re.compile(r"^\w+\(([^()]*(?:\([^()]*\))*[^()]*)\)$")
_JIT = re.compile(r"^p?jit\(")
_MERGED = re.compile(r"/\((?=[^)]*\))")
_ABSENT = -1
_UNKNOWN = EventKind("", "", {})


class OpTable:
    """Operators of one plane, added to the builder when met."""

    def __init__(self, plane: Plane, modules: HloModules, builder: TraceBuilder) -> None:
        self._plane = plane
        self._modules = modules
        self._builder = builder
        self._keys = [plane.stat_key(name) for name in OP_STATS]
        self._known: dict[tuple[int, ...], tuple[int, int, int]] = {}

    @property
    def keys(self) -> list[int]:
        """Metadata ids of the stats that tell operators."""
        return [key for key in self._keys if key >= 0]

    def of(self, events: Events, rows: IntArray) -> tuple[CodeArray, CodeArray, Column]:
        """Operator and call stack (-1: none is named), and base kind of each of the rows, which are device work."""
        columns = [events.metadata[rows], *(_without_null(events.column(key)[rows]) for key in self._keys)]
        first, place = distinct_rows(columns) if len(rows) else (rows, rows)
        keys = [tuple(int(column[row]) for column in columns) for row in first.tolist()]
        found = np.array([self._op(key) for key in keys] or [(-1, -1, 0)], np.int32)[place]
        return found[:, 0], found[:, 1], found[:, 2]

    def _op(self, key: tuple[int, ...]) -> tuple[int, int, int]:
        if key not in self._known:
            self._known[key] = self._new(key)
        return self._known[key]

    def _new(self, key: tuple[int, ...]) -> tuple[int, int, int]:
        kind = self._plane.event_kinds.get(key[0], _UNKNOWN)
        own: dict[str, object] = {
            name: value if name == "program_id" else self._plane.stat_names.get(value)
            for name, value in zip(OP_STATS, key[1:], strict=True)
            if value != _ABSENT
        }
        told: dict[str, object] = {**kind.stats, **own}
        shown, hlo, category = shown_name(kind), _text(told.get("hlo_op")), _text(told.get("hlo_category"))
        base = BASE_KIND_CODE[work_kind(shown, hlo, category)]
        if hlo is None and category is None:
            return -1, -1, base
        program, module = told.get("program_id"), _text(told.get("hlo_module"))
        found = self._modules.instruction(program if isinstance(program, int) else None, module, hlo or shown)
        stack = self._builder.texts["call_stack"].code(";".join(found.stack)) if found and found.stack else -1
        return self._builder.add_op(self._describe(hlo or shown, kind, told, found)), stack, base

    def _describe(self, name: str, kind: EventKind, told: dict[str, object], found: Instruction | None) -> Op:
        path = (found.op_name if found else None) or _path_in(told)
        info = {
            "category": told.get("hlo_category"),
            "program_id": told.get("program_id"),
            **{key: told.get(key) for key in _NUMBERS},
            "source": _text(told.get("source")),
            "text": kind.name if kind.name.startswith("%") else None,
        }
        known = {key: value for key, value in info.items() if _is_shown(value)}
        operands = [shape for shapes in found.operands for shape in shapes] if found else []
        return Op(
            name=name,
            op_type=_type_of(name, _text(told.get("hlo_category")), found),
            full_name=path,
            subgraph=_text(told.get("hlo_module")),
            device_kind=device_kind(self._plane),
            module=module_path(path) if path else None,
            input_shapes=_sizes(operands),
            input_dtypes=_types(operands),
            output_shapes=_sizes(found.shapes if found else ()),
            info=json.dumps(known) if known else None,
        )


def _without_null(column: IntArray) -> IntArray:
    """NULL replaced, since a narrow range of numbers is sorted out faster."""
    return np.where(column == NULL, _ABSENT, column)


def as_references(stats: Stats, keys: Sequence[int], plane: Plane, buffer: Buffer) -> Stats:
    """Texts of some keys as references to names that are added to the plane, as most writers have them anyway."""
    chosen = np.flatnonzero((stats.kind == STRING) & np.isin(stats.key, keys))
    if not len(chosen):
        return stats
    code_of = {name: code for code, name in plane.stat_names.items()}
    kind, value = stats.kind.copy(), stats.value.copy()
    for row, begin, length in zip(
        chosen.tolist(), stats.begin[chosen].tolist(), stats.value[chosen].tolist(), strict=True
    ):
        text = buffer.data[begin : begin + length].decode("utf-8", "replace")
        code = code_of.setdefault(text, max(code_of.values(), default=0) + 1)
        plane.stat_names[code] = text
        kind[row], value[row] = REFERENCE, code
    return Stats(stats.row, stats.key, kind, value, stats.begin)


def _is_shown(value: object) -> bool:
    return isinstance(value, (int, str)) or (isinstance(value, float) and math.isfinite(value))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _path_in(told: dict[str, object]) -> str | None:
    """The framework's path of an operation, where the annotation of its launch tells it."""
    for key in ("name", "tf_op"):
        text = _text(told.get(key))
        if text and "/" in text:
            return text
    return None


def _type_of(name: str, category: str | None, found: Instruction | None) -> str:
    if category:
        return category
    return found.opcode if found and found.opcode and found.opcode not in _GENERIC else without_number(name)


def module_path(path: str) -> str | None:
    """`MLP/Dense_0` of `jit(step)/transpose(jvp(MLP))/Dense_0/dot_general`: without transforms and the operation.

    Of an instruction that XLA made of several (`a;b`, `(a:b)`) it is that of the first.
    """
    parts = _MERGED.sub("/", path.partition(";")[0]).partition(":")[0].split("/")
    modules = [_unwrapped(part) for part in parts[:-1] if not _JIT.match(part)]
    return "/".join(module for module in modules if module) or None


def _unwrapped(part: str) -> str:
    while (match := _WRAPPED.match(part)) is not None:
        part = match[1]
    return part


def _sizes(shapes: Sequence[Shape]) -> str | None:
    return json.dumps([list(shape.sizes) for shape in shapes]) if shapes else None


def _types(shapes: Sequence[Shape]) -> str | None:
    return json.dumps([shape.dtype for shape in shapes]) if shapes else None
