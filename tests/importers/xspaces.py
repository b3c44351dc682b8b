"""XSpaces built in code, written by protobuf itself, so that nothing of the importer's own reading is used."""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_FIELD = descriptor_pb2.FieldDescriptorProto
_INT, _UINT, _DOUBLE = _FIELD.TYPE_INT64, _FIELD.TYPE_UINT64, _FIELD.TYPE_DOUBLE
_TEXT, _BYTES = _FIELD.TYPE_STRING, _FIELD.TYPE_BYTES
_SCHEMA: dict[str, list[tuple[int, str, Any, str]]] = {
    "XSpace": [(1, "planes", "XPlane", "*"), (2, "errors", _TEXT, "*"), (4, "hostnames", _TEXT, "*")],
    "XPlane": [
        (1, "id", _INT, ""),
        (2, "name", _TEXT, ""),
        (3, "lines", "XLine", "*"),
        (4, "event_metadata", "EventEntry", "*"),
        (5, "stat_metadata", "StatEntry", "*"),
        (6, "stats", "XStat", "*"),
    ],
    "EventEntry": [(1, "key", _INT, ""), (2, "value", "XEventMetadata", "")],
    "StatEntry": [(1, "key", _INT, ""), (2, "value", "XStatMetadata", "")],
    "XLine": [
        (1, "id", _INT, ""),
        (10, "display_id", _INT, ""),
        (2, "name", _TEXT, ""),
        (11, "display_name", _TEXT, ""),
        (3, "timestamp_ns", _INT, ""),
        (9, "duration_ps", _INT, ""),
        (4, "events", "XEvent", "*"),
    ],
    "XEvent": [
        (1, "metadata_id", _INT, ""),
        (2, "offset_ps", _INT, "one"),
        (5, "num_occurrences", _INT, "one"),
        (3, "duration_ps", _INT, ""),
        (4, "stats", "XStat", "*"),
    ],
    "XStat": [
        (1, "metadata_id", _INT, ""),
        (2, "double_value", _DOUBLE, "one"),
        (3, "uint64_value", _UINT, "one"),
        (4, "int64_value", _INT, "one"),
        (5, "str_value", _TEXT, "one"),
        (6, "bytes_value", _BYTES, "one"),
        (7, "ref_value", _UINT, "one"),
    ],
    "XEventMetadata": [
        (1, "id", _INT, ""),
        (2, "name", _TEXT, ""),
        (4, "display_name", _TEXT, ""),
        (5, "stats", "XStat", "*"),
    ],
    "XStatMetadata": [(1, "id", _INT, ""), (2, "name", _TEXT, "")],
    "HloProto": [(1, "module", "HloModule", "")],
    "HloModule": [(1, "name", _TEXT, ""), (3, "computations", "Computation", "*"), (17, "index", "FrameIndex", "")],
    "Computation": [(2, "instructions", "Instruction", "*")],
    "Instruction": [
        (1, "name", _TEXT, ""),
        (2, "opcode", _TEXT, ""),
        (3, "shape", "Shape", ""),
        (7, "metadata", "OpMetadata", ""),
        (35, "id", _INT, ""),
        (36, "operand_ids", _INT, "*"),
    ],
    "Shape": [(2, "element_type", _INT, ""), (3, "dimensions", _INT, "*"), (4, "tuple_shapes", "Shape", "*")],
    "OpMetadata": [
        (2, "op_name", _TEXT, ""),
        (3, "source_file", _TEXT, ""),
        (4, "source_line", _INT, ""),
        (15, "stack_frame_id", _INT, ""),
    ],
    "FrameIndex": [
        (1, "file_names", _TEXT, "*"),
        (2, "function_names", _TEXT, "*"),
        (3, "file_locations", "Location", "*"),
        (4, "stack_frames", "Frame", "*"),
    ],
    "Location": [(1, "file_name_id", _INT, ""), (2, "function_name_id", _INT, ""), (3, "line", _INT, "")],
    "Frame": [(1, "file_location_id", _INT, ""), (2, "parent_frame_id", _INT, "")],
}
"""Number, name, type and rule (`*` repeated, `one` of a oneof) of each field, as in xplane.proto and hlo.proto."""


def _message_classes(*roots: str) -> list[Any]:
    file = descriptor_pb2.FileDescriptorProto(name="xplane.proto", package="test", syntax="proto3")
    for name, fields in _SCHEMA.items():
        message = file.message_type.add(name=name)
        for number, field, kind, rule in fields:
            added = message.field.add(name=field, number=number, label=3 if rule == "*" else 1)
            if isinstance(kind, str):
                added.type, added.type_name = _FIELD.TYPE_MESSAGE, f".test.{kind}"
            else:
                added.type = kind
            if rule == "one":
                if not message.oneof_decl:
                    message.oneof_decl.add(name="value")
                added.oneof_index = 0
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return [message_factory.GetMessageClass(pool.FindMessageTypeByName(f"test.{root}")) for root in roots]


XSpace, HloProto = _message_classes("XSpace", "HloProto")
Message = Any


class Ref(str):
    """A text that is stored once, as the name of a stat, and referred to."""


class Plane:
    """A plane under construction; names get their numbers when used."""

    def __init__(self, space: Message, name: str, **stats: object) -> None:
        self.message = space.planes.add(name=name)
        self._events: dict[str, int] = {}
        self._stats: dict[str, int] = {}
        for key, value in stats.items():
            self._set(self.message.stats.add(), key, value)

    def line(self, name: str, *, id: int = 1, at_ns: int = 0) -> Message:
        """A new line."""
        return self.message.lines.add(id=id, name=name, timestamp_ns=at_ns)

    def event(self, line: Message, name: str, start_ps: int, duration_ps: int, **stats: object) -> Message:
        """A new event of a line."""
        event = line.events.add(metadata_id=self.event_id(name), offset_ps=start_ps, duration_ps=duration_ps)
        for key, value in stats.items():
            self._set(event.stats.add(), key, value)
        return event

    def event_id(self, name: str, display_name: str = "", **stats: object) -> int:
        """Number of an event's name."""
        if name not in self._events:
            self._events[name] = len(self._events) + 1
            value = self.message.event_metadata.add(key=self._events[name]).value
            value.id, value.name, value.display_name = self._events[name], name, display_name
            for key, each in stats.items():
                self._set(value.stats.add(), key, each)
        return self._events[name]

    def _stat_id(self, name: str) -> int:
        if name not in self._stats:
            self._stats[name] = len(self._stats) + 1
            value = self.message.stat_metadata.add(key=self._stats[name]).value
            value.id, value.name = self._stats[name], name
        return self._stats[name]

    def _set(self, stat: Message, key: str, value: object) -> None:
        stat.metadata_id = self._stat_id(key)
        if isinstance(value, Ref):
            stat.ref_value = self._stat_id(value)
        elif isinstance(value, str):
            stat.str_value = value
        elif isinstance(value, float):
            stat.double_value = value
        elif isinstance(value, bytes):
            stat.bytes_value = value
        elif isinstance(value, int):
            stat.int64_value = value


MS = 1_000_000_000
"""Picoseconds of a millisecond."""


def gpu_training(*, steps: int = 3) -> Message:
    """Steps of 10 ms on a host that launches a kernel, a collective and a copy of a GPU each time."""
    space = XSpace()
    host, device = Plane(space, "/host:CPU"), Plane(space, "/device:GPU:0", device_vendor="Nvidia")
    Plane(space, "/device:GPU:1")
    python, calls = host.line("python", id=11, at_ns=500), host.line("Host Threads/12", id=12, at_ns=500)
    stream = device.line("Stream #7(MemcpyH2D,Kernel)", id=7, at_ns=500)
    derived = device.line("XLA Ops", id=8, at_ns=500)
    for step in range(steps):
        at = 10 * MS * step
        host.event(python, "train", at, 9 * MS, step_num=step + 5, _r=1)
        host.event(python, "load_batch", at + MS // 2, 2 * MS)
        host.event(python, "PjitFunction(step)", at + 3 * MS, MS)
        host.event(python, "Handle input events", at + 3 * MS + 5, MS // 4)
        for place, (name, call, hlo) in enumerate(_WORK):
            correlation = 100 * step + place
            start = at + (3 + place) * MS
            host.event(calls, call, start, MS // 10, correlation_id=correlation)
            told = {"hlo_op": Ref(hlo), "hlo_module": Ref("jit_step"), "program_id": 4} if hlo else {}
            told |= {} if hlo else {"memcpy_details": Ref("kind_src:pageable kind_dst:device size:4096 dest:0 async:1")}
            device.event(stream, name, start + MS // 2, MS, correlation_id=correlation, **told)
            device.event(derived, hlo or "copy", start + MS // 2, MS)
    return space


_WORK = (
    ("loop_fusion_kernel", "cuLaunchKernel", "loop_fusion.3"),
    ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "cuLaunchKernelEx", "all-reduce-start.1"),
    ("MemcpyH2D", "cuMemcpyHtoDAsync_v2", ""),
)
