"""Distinct operators and call stacks: which op a slice is an execution of, and which source lines led to it."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass

import numpy as np

from laptime.model.arrays import BoolArray, CodeArray, IntArray, codes_in, distinct_codes, distinct_rows
from laptime.model.assembly import Assembled
from laptime.model.builder import TraceBuilder
from laptime.model.vocabulary import KIND_CODE, KINDS

_PYTHON_FRAME = re.compile(r"^(?P<file>.+?)\((?P<line>\d+)\):(?: (?P<function>.*))?$", re.DOTALL)
_XLA_FRAME = re.compile(r"^\$(?:(?P<file>[^ :]+):(?P<line>\d+) )?(?P<function>.*)$", re.DOTALL)
_MODULE = "nn.Module: "
_MODULE_RANGE = "module: "
"""Begins the names of ranges that laptime's recorder puts around modules; their whole path follows."""
_BACKWARD = " (backward)"
_NAMESPACE = re.compile(r"^(?:\w+::)+")
_AUTOGRAD_PREFIX = "autograd::engine::evaluate_function: "
_DEEPEST_STACK = 200


@dataclass(frozen=True)
class Operators:
    """The `ops` and `stacks` tables as columns, and each slice's row in them (-1: none)."""

    op_of_slice: CodeArray
    stack_of_slice: CodeArray
    ops: dict[str, list[object]]
    stacks: dict[str, list[object]]
    first_given: int
    """Row of the first operator that the source itself gave."""


def find_operators(slices: Assembled, builder: TraceBuilder) -> Operators:
    """Interns framework ops by (name, module, shapes, types), collectives by their arguments, and call stacks."""
    names = builder.names.texts
    nodes = _frame_nodes(slices, names)
    module_of = _modules(builder, nodes, names)
    module_code = np.where(slices.columns["module"] >= 0, len(nodes.name) + slices.columns["module"], nodes.of_slice)
    op_of_slice, ops = _ops(slices, builder, module_of, module_code)
    stack_of_slice, stacks = _stacks(slices, builder, nodes, names)
    first_given = len(ops["op_id"])
    for op_id, op in enumerate(builder.ops, start=first_given):
        for key, value in {"op_id": op_id, **asdict(op)}.items():
            ops[key].append(value)
    given = slices.columns["op"]
    op_of_slice = np.where(given >= 0, given + first_given, op_of_slice).astype(np.int32)
    return Operators(op_of_slice, stack_of_slice, ops, stacks, first_given)


# ---- call stacks from nested Python frames ----


@dataclass(frozen=True)
class _FrameNodes:
    """A trie of Python frames: `parent` and `name` of each node; `of_slice` is the innermost node around each slice."""

    parent: IntArray
    name: IntArray
    of_slice: IntArray


def _frame_nodes(slices: Assembled, names: list[str]) -> _FrameNodes:
    columns = slices.columns
    is_frame = codes_in(columns["kind"], [KIND_CODE["python"], KIND_CODE["compile"]])
    is_range = np.array([name.startswith(_MODULE_RANGE) for name in names] or [False], bool)
    is_frame |= (columns["kind"] == KIND_CODE["scope"]) & is_range[columns["name"]]
    is_frame &= slices.on_thread
    of_slice = np.full(len(slices.end), -1, np.int64)
    parents: list[IntArray] = []
    node_names: list[IntArray] = []
    if not is_frame.any():
        empty = np.empty(0, np.int64)
        return _FrameNodes(empty, empty, of_slice)
    count = 0
    of_slice = np.append(of_slice, -1)  # what lies in nothing (-1) finds no node
    for rows in slices.levels:
        outer = of_slice[slices.parent[rows]]
        frames = is_frame[rows]
        if not frames.all():
            of_slice[rows] = outer
            rows, outer = rows[frames], outer[frames]
        if not len(rows):
            continue
        distinct, place = distinct_codes((outer + 1) * len(names) + columns["name"][rows])
        of_slice[rows] = count + place
        parents.append(distinct // len(names) - 1)
        node_names.append(distinct % len(names))
        count += len(distinct)
    return _FrameNodes(np.concatenate(parents), np.concatenate(node_names), of_slice[:-1])


def _stacks(
    slices: Assembled, builder: TraceBuilder, nodes: _FrameNodes, names: list[str]
) -> tuple[CodeArray, dict[str, list[object]]]:
    kinds = slices.columns["kind"]
    wanted = slices.on_thread & ~codes_in(kinds, [KIND_CODE["python"], KIND_CODE["step"]])
    stack_of_slice = np.full(len(kinds), -1, np.int32)
    table: dict[str, list[object]] = {"stack_id": [], "depth": [], "function": [], "file": [], "line": []}
    has_frames = np.append(_has_frames(nodes, names), False)  # the last place: no node
    from_frames = np.flatnonzero(wanted & has_frames[nodes.of_slice] & (slices.columns["call_stack"] < 0))
    used, place = distinct_codes(nodes.of_slice[from_frames])
    stack_of_slice[from_frames] = place
    for stack_id, node in enumerate(used.tolist()):
        frames: list[str] = []
        while node >= 0 and len(frames) < _DEEPEST_STACK:
            frames.append(names[nodes.name[node]])
            node = int(nodes.parent[node])
        _add_stack(table, stack_id, [frame for frame in frames if not frame.startswith((_MODULE, _MODULE_RANGE))])
    texts = builder.texts["call_stack"].texts
    from_text = np.flatnonzero(slices.columns["call_stack"] >= 0)
    used, place = distinct_codes(slices.columns["call_stack"][from_text])
    base = int(stack_of_slice.max(initial=-1)) + 1
    stack_of_slice[from_text] = base + place
    for stack_id, code in enumerate(used.tolist(), start=base):
        _add_stack(table, stack_id, [frame for frame in texts[code].split(";") if frame.strip()][:_DEEPEST_STACK])
    return stack_of_slice, table


def _has_frames(nodes: _FrameNodes, names: list[str]) -> BoolArray:
    """Whether a node or one around it is a Python frame, not only a module; parents come before their children."""
    found: list[bool] = []
    for parent, name in zip(nodes.parent.tolist(), nodes.name.tolist(), strict=True):
        found.append(not names[name].startswith((_MODULE, _MODULE_RANGE)) or (parent >= 0 and found[parent]))
    return np.array(found, bool)


def _add_stack(table: dict[str, list[object]], stack_id: int, frames: list[str]) -> None:
    for depth, frame in enumerate(frames):
        match = _PYTHON_FRAME.match(frame.strip()) or _XLA_FRAME.match(frame.strip())
        table["stack_id"].append(stack_id)
        table["depth"].append(depth)
        table["function"].append(match["function"] if match else frame.strip())
        table["file"].append(match["file"] if match else None)
        table["line"].append(int(match["line"]) if match and match["line"] and len(match["line"]) < 10 else None)


# ---- modules ----


def _modules(builder: TraceBuilder, nodes: _FrameNodes, names: list[str]) -> list[str | None]:
    """Module path of each frame node, then of each distinct `Module Hierarchy` text."""
    paths: list[str | None] = []
    for parent, name in zip(nodes.parent.tolist(), nodes.name.tolist(), strict=True):
        outer = paths[parent] if parent >= 0 else None
        frame = names[name]
        if frame.startswith(_MODULE):
            own = frame[len(_MODULE) :]
            paths.append(f"{outer}/{own}" if outer else own)
        elif frame.startswith(_MODULE_RANGE):
            paths.append(frame[len(_MODULE_RANGE) :].removesuffix(_BACKWARD).replace(".", "/"))
        else:
            paths.append(outer)
    return paths + [text.replace(".", "/") for text in builder.texts["module"].texts]


# ---- operators ----


def _ops(
    slices: Assembled, builder: TraceBuilder, module_of: list[str | None], module_code: IntArray
) -> tuple[CodeArray, dict[str, list[object]]]:
    columns = slices.columns
    modules, place = np.unique(np.array([text or "" for text in module_of] or [""]), return_inverse=True)
    is_op = slices.on_thread & (columns["kind"] == KIND_CODE["op"])
    is_op |= slices.on_stream & (columns["collective"] >= 0)
    rows = np.flatnonzero(is_op & (columns["op"] < 0))
    module = np.where(module_code[rows] >= 0, place[np.maximum(module_code[rows], 0)], -1)
    keys = [columns[name][rows] for name in ("name", "shapes", "dtypes", "collective", "kind")]
    first, op_of_row = distinct_rows([*keys, module])
    order = np.argsort(first)  # ops are numbered as they appear
    first, op_of_row = first[order], np.argsort(order)[op_of_row]
    op_of_slice = np.full(len(slices.end), -1, np.int32)
    op_of_slice[rows] = op_of_row
    chosen = np.stack([key[first] for key in [*keys, module]]) if len(rows) else np.empty((6, 0), np.int64)
    return op_of_slice, _ops_table(chosen, builder, modules.tolist())


def _ops_table(chosen: IntArray, builder: TraceBuilder, modules: list[str]) -> dict[str, list[object]]:
    names = builder.names.texts
    shapes, dtypes = builder.texts["shapes"].texts, builder.texts["dtypes"].texts
    collectives = builder.texts["collective"].texts
    table: dict[str, list[object]] = {key: [] for key in _OPS_COLUMNS}
    for op_id, (name, shape, dtype, collective, kind, module) in enumerate(chosen.T.tolist()):
        info = {"collective": collectives[collective]} if collective >= 0 else None
        row = {
            "op_id": op_id,
            "name": names[name],
            "op_type": collectives[collective] if collective >= 0 else op_type(names[name]),
            "full_name": None,
            "subgraph": None,
            "device_kind": "device" if KINDS[kind] in ("kernel", "communication", "copy") else "host",
            "module": modules[module] or None if module >= 0 else None,
            "input_shapes": shapes[shape] if shape >= 0 else None,
            "input_dtypes": dtypes[dtype] if dtype >= 0 else None,
            "output_shapes": None,
            "info": json.dumps(info) if info else None,
        }
        for key, value in row.items():
            table[key].append(value)
    return table


_OPS_COLUMNS = (
    "op_id",
    "name",
    "op_type",
    "full_name",
    "subgraph",
    "device_kind",
    "module",
    "input_shapes",
    "input_dtypes",
    "output_shapes",
    "info",
)


def op_type(name: str) -> str:
    """An op's type: its name without name spaces and without the autograd engine's prefix."""
    if name.startswith(_AUTOGRAD_PREFIX):
        return name[len(_AUTOGRAD_PREFIX) :]
    return _NAMESPACE.sub("", name) or name
