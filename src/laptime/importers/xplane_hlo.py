"""HLO modules that XLA put into a profile: which instruction is what, and where in the model it comes from.

HloProto{1 HloModuleProto{1 name, 3 computations*{2 instructions*{1 name, 2 opcode, 3 shape, 7 metadata, 35 id,
36 operand_ids*}}, 17 stack frames}}; ShapeProto{2 element_type, 3 dimensions*, 4 tuple_shapes*}; OpMetadata{2 op_name,
3 source_file, 4 source_line, 15 stack_frame_id}. Specified by hlo.proto and xla_data.proto of OpenXLA.
Modules are read when an event names them.
"""

from __future__ import annotations

from dataclasses import dataclass

from laptime.importers.xplane_frames import Frames, read_frames
from laptime.importers.xplane_space import Space, Span
from laptime.importers.xplane_wire import LENGTH, VARINT, Damage, Field, fields, varint_at

_TYPES = {
    1: "pred", 2: "s8", 3: "s16", 4: "s32", 5: "s64", 6: "u8", 7: "u16", 8: "u32", 9: "u64", 10: "f16", 11: "f32",
    12: "f64", 13: "tuple", 14: "opaque", 15: "c64", 16: "bf16", 17: "token", 18: "c128", 19: "f8e5m2", 20: "f8e4m3fn",
    21: "s4", 22: "u4", 23: "f8e4m3b11fnuz", 24: "f8e5m2fnuz", 25: "f8e4m3fnuz", 26: "s2", 27: "u2",
}  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """Element type and sizes."""

    dtype: str
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Instruction:
    """An HLO instruction."""

    opcode: str
    op_name: str | None
    """Path of the framework's operation: `jit(train_step)/jvp(Dense_0)/dot_general`."""
    stack: tuple[str, ...]
    """Lines of the model that made it, as `file(line): function`, the innermost first."""
    shapes: tuple[Shape, ...]
    operands: tuple[tuple[Shape, ...], ...]


class HloModules:
    """Instructions by module and name."""

    def __init__(self, data: bytes, space: Space) -> None:
        self._data = data
        self._by_id: dict[int, Span] = {}
        self._by_name: dict[str, Span] = {}
        self._read: dict[Span, dict[str, Instruction]] = {}
        plane = space.plane("/host:metadata")
        for key, kind in plane.event_kinds.items() if plane is not None else ():
            proto = kind.stats.get("Hlo Proto")
            if isinstance(proto, Span):
                program = kind.stats.get("program_id")
                self._by_id[program if isinstance(program, int) else key] = proto
                self._by_name.setdefault(kind.name.partition("(")[0], proto)

    def __len__(self) -> int:
        return len(self._by_id)

    def instruction(self, program: int | None, module: str | None, name: str) -> Instruction | None:
        """The instruction of a name; the program's id tells the module better than its name, which may repeat."""
        span = self._by_id.get(program) if program is not None else None
        span = span or (self._by_name.get(module) if module is not None else None)
        if span is None:
            return None
        if span not in self._read:
            self._read[span] = _instructions(self._data, span)
        return self._read[span].get(name)


def _instructions(data: bytes, proto: Span) -> dict[str, Instruction]:
    """All instructions of a module up to the first damage."""
    found: dict[str, Instruction] = {}
    try:
        for module in _inner(data, proto.start, proto.end, 1):
            frames = read_frames(data, module)
            for computation in _inner(data, module.start, module.end, 3):
                found.update(_of_computation(data, computation, frames))
    except Damage:
        pass
    return found


def _of_computation(data: bytes, computation: Field, frames: Frames) -> dict[str, Instruction]:
    """Ids of operands are those of the same computation."""
    raw = [_raw(data, part) for part in _inner(data, computation.start, computation.end, 2)]
    shape_of = {each.id: each.shapes for each in raw}
    return {
        each.name: Instruction(
            each.opcode,
            each.op_name,
            frames.stack(each.frame) or ((f"{each.source}: ",) if each.source else ()),
            each.shapes,
            tuple(shape_of.get(operand, ()) for operand in each.operand_ids),
        )
        for each in raw
    }


def _inner(data: bytes, start: int, end: int, number: int) -> list[Field]:
    return [part for part in fields(data, start, end) if part.number == number and part.wire == LENGTH]


@dataclass
class _Raw:
    id: int = 0
    name: str = ""
    opcode: str = ""
    op_name: str | None = None
    source: str | None = None
    frame: int = 0
    shapes: tuple[Shape, ...] = ()
    operand_ids: tuple[int, ...] = ()


def _raw(data: bytes, outer: Field) -> _Raw:
    raw = _Raw()
    for part in fields(data, outer.start, outer.end):
        if part.number == 35 and part.wire == VARINT:
            raw.id = part.value
        elif part.number == 36:
            raw.operand_ids += _numbers(data, part)
        elif part.wire != LENGTH:
            continue
        elif part.number == 1:
            raw.name = _text(data, part)
        elif part.number == 2:
            raw.opcode = _text(data, part)
        elif part.number == 3:
            raw.shapes = _shapes(data, part)
        elif part.number == 7:
            raw.op_name, raw.source, raw.frame = _origin(data, part)
    return raw


def _origin(data: bytes, outer: Field) -> tuple[str | None, str | None, int]:
    """Path, source line (older profiles) and stack frame (newer ones)."""
    name = file = None
    line = frame = 0
    for part in fields(data, outer.start, outer.end):
        if part.number == 2 and part.wire == LENGTH:
            name = _text(data, part) or None
        elif part.number == 3 and part.wire == LENGTH:
            file = _text(data, part) or None
        elif part.number == 4 and part.wire == VARINT:
            line = part.value
        elif part.number == 15 and part.wire == VARINT:
            frame = part.value
    return name, f"{file}({line})" if file and line else None, frame


def _shapes(data: bytes, outer: Field, depth: int = 0) -> tuple[Shape, ...]:
    """Shapes of an array, or of the arrays of a tuple."""
    dtype = ""
    sizes: tuple[int, ...] = ()
    inner: tuple[Shape, ...] = ()
    for part in fields(data, outer.start, outer.end):
        if part.number == 2 and part.wire == VARINT:
            dtype = _TYPES.get(part.value, f"type {part.value}")
        elif part.number == 3:
            sizes += _numbers(data, part)
        elif part.number == 4 and part.wire == LENGTH and depth < 8:
            inner += _shapes(data, part, depth + 1)
    return inner or ((Shape(dtype, sizes),) if dtype and dtype != "tuple" else ())


def _numbers(data: bytes, part: Field) -> tuple[int, ...]:
    """A repeated int64 field, packed or not."""
    if part.wire == VARINT:
        return (part.signed,)
    if part.wire != LENGTH:
        return ()
    numbers, place = [], part.start
    while place < part.end:
        value, place = varint_at(data, place, part.end)
        numbers.append(value)
    return tuple(numbers)


def _text(data: bytes, part: Field) -> str:
    return data[part.start : part.end].decode("utf-8", "replace")
