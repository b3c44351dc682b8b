"""Operators of a processed MindSpore folder: `framework_raw` in its 8, 9 and 10 column dialects, and names alone.

Columns: task_id, stream_id, block_dim, full_op_name, op_name, op_type, subgraph, op_info; since MindSpore 1.8
full_kernel_name, op_name (full), kernel_name, kernel_type, subgraph, op_info, later also graph_id. `op_info` is JSON:
{"input_0": {"format", "data_type", "shape"}, ..., "output_0": ...}; shapes are texts ("32,3") or lists.
"""

from __future__ import annotations

import json
import re

from laptime.importers.mindinsight_reading import Columns, Folder, parsed_json, whole
from laptime.model.builder import Op, TraceBuilder

_NUMBERED = re.compile(r"^(.*\S)[-_]op\d+(?:_\d+)*$")
_SUBGRAPHS = ("Default", "Gradients")
_TYPE_PREFIX = "NUMBER_TYPE_"


class OperatorBook:
    """Operators by full name; those that no file describes are made from their names."""

    def __init__(self, folder: Folder) -> None:
        self._builder: TraceBuilder = folder.builder
        self.framework = folder.table("framework")
        """Operators and, in older dialects, their tasks."""
        self._described = {} if self.framework is None else _described(folder, self.framework)
        self._codes: dict[tuple[str, str], int] = {}
        self.timed: set[str] = set()
        """Full names of operators whose executions or sums are known already."""

    def code(self, full_name: str, device_kind: str, *, op_type: str | None = None) -> int:
        """Number of the operator of that full name."""
        key = (full_name, device_kind)
        if key not in self._codes:
            self._codes[key] = self._builder.add_op(self.op(full_name, device_kind, op_type))
        return self._codes[key]

    def short_name(self, full_name: str) -> str:
        """Last part of a full name."""
        known = self._described.get(full_name)
        return known.name if known else full_name.rsplit("/", 1)[-1] or full_name

    def op(self, full_name: str, device_kind: str, op_type: str | None) -> Op:
        """The operator as the files describe it."""
        known = self._described.get(full_name)
        name = self.short_name(full_name)
        return Op(
            name=name,
            op_type=op_type or (known.op_type if known else None) or type_of(name),
            full_name=full_name,
            subgraph=known.subgraph if known else subgraph_of(full_name),
            device_kind=device_kind,
            input_shapes=known.input_shapes if known else None,
            input_dtypes=known.input_dtypes if known else None,
            output_shapes=known.output_shapes if known else None,
            info=known.info if known else None,
        )

    @property
    def described(self) -> int:
        """How many operators the framework file describes."""
        return len(self._described)


def type_of(name: str) -> str | None:
    """Type that an operator's name tells: `Mul-op29` is a Mul."""
    match = _NUMBERED.match(name)
    return match[1] if match else None


def subgraph_of(full_name: str) -> str | None:
    """Default or Gradients, where the full name begins so."""
    first = full_name.split("/", 1)[0]
    return first if first in _SUBGRAPHS else None


def _described(folder: Folder, table: Columns) -> dict[str, Op]:
    full = table.texts("full_kernel_name", "full_op_name")
    if full is None:
        folder.note_bad("framework", "has no column of full operator names; left out")
        return {}
    short = table.texts("kernel_name", "op_name") or full
    kinds = table.texts("kernel_type", "op_type") or [""] * table.count
    subgraphs = table.texts("subgraph") or [""] * table.count
    infos = table.texts("op_info") or [""] * table.count
    blocks, graphs = table.texts("block_dim"), table.texts("graph_id")
    ops: dict[str, Op] = {}
    bad = 0
    for row, name in enumerate(full):
        if name in ops:  # an operator of several tasks
            continue
        info = _parsed(infos[row])
        bad += info is None
        ops[name] = _op(
            (name, short[row], kinds[row], subgraphs[row]), info or {}, _extras(row, block_dim=blocks, graph_id=graphs)
        )
    folder.drop_rows("framework", bad)
    return ops


def _extras(row: int, **columns: list[str] | None) -> dict[str, object]:
    values = {name: whole(column[row]) for name, column in columns.items() if column is not None}
    return {name: value for name, value in values.items() if value is not None}


def _op(texts: tuple[str, str, str, str], info: dict[str, object], extras: dict[str, object]) -> Op:
    full_name, name, op_type, subgraph = texts
    inputs, outputs = _sides(info, "input"), _sides(info, "output")
    return Op(
        name=name.rsplit("/", 1)[-1] or full_name,
        op_type=op_type or None,
        full_name=full_name,
        subgraph=subgraph if subgraph in _SUBGRAPHS else subgraph_of(full_name),
        input_shapes=json.dumps([_shape(side.get("shape")) for side in inputs]) if inputs else None,
        input_dtypes=json.dumps([_data_type(side.get("data_type")) for side in inputs]) if inputs else None,
        output_shapes=json.dumps([_shape(side.get("shape")) for side in outputs]) if outputs else None,
        info=json.dumps({**info, **extras}) if info or extras else None,
    )


def _parsed(text: str) -> dict[str, object] | None:
    """`op_info`; empty where there is none, None where it is broken."""
    if not text.strip():
        return {}
    info = parsed_json(text)
    return info if isinstance(info, dict) else None


def _sides(info: dict[str, object], which: str) -> list[dict[str, object]]:
    """Inputs or outputs in order of number."""
    found = []
    for key, value in info.items():
        match = re.fullmatch(which + r"_(\d{1,6})", key)
        if match and isinstance(value, dict):
            found.append((int(match[1]), value))
    return [value for _, value in sorted(found, key=lambda each: each[0])]


def _shape(value: object) -> list[object] | None:
    """A shape as a list: `"184696,8"` is [184696, 8], `""` a scalar."""
    if isinstance(value, str):
        return [whole(part) for part in value.strip("[]() ").split(",") if part.strip()]
    return list(value) if isinstance(value, list) else None


def _data_type(value: object) -> str | None:
    return value.removeprefix(_TYPE_PREFIX) if isinstance(value, str) else None
