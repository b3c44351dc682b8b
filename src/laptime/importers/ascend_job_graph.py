"""What the framework told of a job's operators: the `Framework.*` text files of an Ascend job.

    graph_desc_info  op_name:.. op_type:.. input_id:0 input_format:.. input_data_type:40 input_shape:"1,2" .. output_..
    task_desc_info   full_op_name block_dim task_id stream_id            (a graph number before them in later files)
    point            tag full_op_name

The vm backend writes formats as text and MindSpore's numbers of data types, the ge backend numbers of its own for both.
Task numbers from 25000 on are unique in the job, smaller ones in their stream.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from laptime.model.builder import Op, TraceBuilder

GLOBAL_TASKS = 25_000
"""Task numbers from here on are unique in the job."""
_FIELD = re.compile(r'\b(\w+):("[^"]*"|\S*)')
_NUMBER = re.compile(r"^\d{1,9}$")
_NUMBERED = re.compile(r"^(.*\S)[-_]op\d+(?:_\d+)*$")
_SUBGRAPHS = ("Default", "Gradients")
AI_CORE, COMMUNICATION = "ai_core", "communication"


@dataclass
class _Described:
    """An operator as a line of the graph file describes it."""

    op_type: str | None
    sides: dict[str, dict[str, str]]
    """`input_0`, ..., `output_0`: format, data_type and shape."""


@dataclass
class Framework:
    """Operators by name, tasks by number, points by tag."""

    described: dict[str, _Described] = field(default_factory=dict)
    tasks: dict[tuple[int, int | None], str] = field(default_factory=dict)
    """Full names of operators by (task, stream); by (task, None) where the task's number is unique in the job."""
    points: dict[int, str] = field(default_factory=dict)
    blocks: dict[str, int] = field(default_factory=dict)
    """Block dimension by operator."""
    places: dict[str, list[dict[str, int]]] = field(default_factory=dict)
    """Tasks of an operator as the framework numbered them, and the graph where the file tells it."""
    _ops: dict[tuple[str, str], int] = field(default_factory=dict)

    def operator_of(self, task: int, stream: int) -> str | None:
        """Full name of the operator that a task of a stream belongs to; None for tasks of no operator."""
        return self.tasks.get(_task_key(task, stream))

    def op(self, full_name: str, device_kind: str, builder: TraceBuilder) -> int:
        """Number of the operator of that name."""
        key = full_name, device_kind
        if key not in self._ops:
            self._ops[key] = builder.add_op(self._described_op(full_name, device_kind))
        return self._ops[key]

    def add_all(self, builder: TraceBuilder) -> None:
        """Adds the operators that no task ran, too."""
        for full_name in dict.fromkeys([*self.described, *self.tasks.values()]):
            if (full_name, COMMUNICATION) not in self._ops:
                self.op(full_name, AI_CORE, builder)

    def _described_op(self, full_name: str, device_kind: str) -> Op:
        known = self.described.get(full_name)
        sides = known.sides if known else {}
        inputs = [side for name, side in sides.items() if name.startswith("input")]
        outputs = [side for name, side in sides.items() if name.startswith("output")]
        block_dim = self.blocks.get(full_name)
        info = {**sides, **({} if block_dim is None else {"block_dim": block_dim, "tasks": self.places[full_name]})}
        return Op(
            name=short_name(full_name),
            op_type=(known.op_type if known else None) or type_of(short_name(full_name)),
            full_name=full_name,
            subgraph=subgraph_of(full_name),
            device_kind=device_kind,
            input_shapes=json.dumps([_shape(side) for side in inputs]) if inputs else None,
            input_dtypes=json.dumps([_data_type(side) for side in inputs]) if inputs else None,
            output_shapes=json.dumps([_shape(side) for side in outputs]) if outputs else None,
            info=json.dumps(info) if info else None,
        )


def short_name(full_name: str) -> str:
    """Last part of a full name; fused operators keep their parts, joined by `+`."""
    return "+".join(part.rsplit("/", 1)[-1] for part in full_name.split("+")) or full_name


def type_of(name: str) -> str:
    """Type that an operator's name tells: `Mul-op29` is a Mul."""
    match = _NUMBERED.match(name)
    return match[1] if match else name


def subgraph_of(full_name: str) -> str | None:
    """Default or Gradients, where the full name begins so."""
    first = full_name.split("/", 1)[0]
    return first if first in _SUBGRAPHS else None


def text_lines(slices: Sequence[bytes]) -> list[str]:
    """Lines of a text file in slices, without empty ones."""
    text = b"".join(slices).decode("utf-8", "replace")
    return [line for part in re.split(r"[\n\r\0]+", text) if (line := part.strip())]


def read_graph(slices: Sequence[bytes], into: Framework, builder: TraceBuilder) -> None:
    """Takes in a graph file."""
    lines, bad = text_lines(slices), 0
    for line in lines:
        fields = [(key, value.strip('"')) for key, value in _FIELD.findall(line)]
        name = next((value for key, value in fields if key == "op_name"), "")
        if not name:
            bad += 1
            continue
        op_type = next((value for key, value in fields if key == "op_type"), "")
        into.described.setdefault(name, _Described(op_type or None, _sides(fields)))
    _count(builder, "graph", len(lines), bad)


def _sides(fields: list[tuple[str, str]]) -> dict[str, dict[str, str]]:
    sides: dict[str, dict[str, str]] = {}
    current: dict[str, str] = {}
    for key, value in fields:
        kind, _, what = key.partition("_")
        if kind not in ("input", "output"):
            continue
        if what == "id":
            current = sides.setdefault(f"{kind}_{value}", {})
        elif what in ("format", "data_type", "shape"):
            current[what] = value
    for side in sides.values():
        by_number = bool(_NUMBER.match(side.get("format", "")))
        types = _GE_TYPES if by_number else _VM_TYPES
        if by_number:
            side["format"] = _GE_FORMATS.get(int(side["format"]), "UNKNOWN")
        if _NUMBER.match(side.get("data_type", "")):
            side["data_type"] = types.get(int(side["data_type"]), "UNKNOWN")
    return sides


def _shape(side: dict[str, str]) -> list[int]:
    return [int(part) for part in side.get("shape", "").split(",") if re.fullmatch(r"\s*-?\d{1,18}\s*", part)]


def _data_type(side: dict[str, str]) -> str:
    return side.get("data_type", "UNKNOWN").removeprefix("NUMBER_TYPE_").removeprefix("DT_")


def read_tasks(slices: Sequence[bytes], into: Framework, builder: TraceBuilder) -> None:
    """Takes in a task file."""
    lines, bad = text_lines(slices), 0
    for line in lines:
        fields = line.split()
        name, *numbers = fields[-4:] if len(fields) in (4, 5) else [""]
        if not name or not all(_NUMBER.match(number) for number in numbers):
            bad += 1
            continue
        block_dim, task, stream = (int(number) for number in numbers)
        graph = {"graph_id": int(fields[0])} if len(fields) == 5 and _NUMBER.match(fields[0]) else {}
        into.tasks.setdefault(_task_key(task, stream), name)
        into.blocks.setdefault(name, block_dim)
        into.places.setdefault(name, []).append({"task_id": task, "stream_id": stream, **graph})
    _count(builder, "task", len(lines), bad)


def _task_key(task: int, stream: int) -> tuple[int, int | None]:
    return task, None if task >= GLOBAL_TASKS else stream


def read_points(slices: Sequence[bytes], into: Framework, builder: TraceBuilder) -> None:
    """Takes in a point file."""
    lines, bad = text_lines(slices), 0
    for line in lines:
        tag, _, name = line.partition(" ")
        if not _NUMBER.match(tag) or not name.strip():
            bad += 1
            continue
        into.points.setdefault(int(tag), name.strip())
    _count(builder, "point", len(lines), bad)


def _count(builder: TraceBuilder, kind: str, lines: int, bad: int) -> None:
    builder.read += lines
    builder.drop("bad_line", bad)
    builder.warnings.add("other", f"lines of the framework's {kind} file that say nothing; left out", bad)


_VM_TYPE_NAMES = """BOOL INT INT8 INT16 INT32 INT64 UINT UINT8 UINT16 UINT32 UINT64 FLOAT FLOAT16 FLOAT32 FLOAT64"""
_GE_TYPE_NAMES = """FLOAT FLOAT16 INT8 INT32 UINT8 ? INT16 UINT16 UINT32 INT64 UINT64 DOUBLE BOOL STRING DUAL_SUB_INT8
    DUAL_SUB_UINT8 COMPLEX64 COMPLEX128 QINT8 QINT16 QINT32 QUINT8 QUINT16 RESOURCE STRING_REF DUAL UNDEFINED"""
_GE_FORMAT_NAMES = """NCHW NHWC ND NC1HWC0 FRACTAL_Z NC1C0HWPAD NHWC1C0 FSR_NCHW FRACTAL_DECONV C1HWNC0
    FRACTAL_DECONV_TRANSPOSE FRACTAL_DECONV_SP_STRIDE_TRANS NC1HWC0_C04 FRACTAL_Z_C04 CHWN
    FRACTAL_DECONV_SP_STRIDE8_TRANS HWCN NC1KHKWHWC0 BN_WEIGHT FILTER_HWCK HASHTABLE_LOOKUP_LOOKUPS
    HASHTABLE_LOOKUP_KEYS HASHTABLE_LOOKUP_VALUE HASHTABLE_LOOKUP_OUTPUT HASHTABLE_LOOKUP_HITS C1HWNCOC0 MD NDHWC
    FRACTAL_ZZ FRACTAL_NZ NCDHW DHWCN NDC1HWC0 FRACTAL_Z_3D CN NC DHWNC FRACTAL_Z_3D_TRANSPOSE RESERVED ALL"""
_VM_TYPES = {number: f"NUMBER_TYPE_{name}" for number, name in enumerate(_VM_TYPE_NAMES.split(), 27)}
_GE_TYPES = {number: f"DT_{name}" for number, name in enumerate(_GE_TYPE_NAMES.split()) if name != "?"}
_GE_FORMATS = dict(enumerate(_GE_FORMAT_NAMES.split()))
