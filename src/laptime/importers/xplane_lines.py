"""What the lines of a profile are (threads, streams, rows derived from others), and what their events are by name.

Names of planes and lines: xplane_schema.cc of tsl (OpenXLA). XLA on the CPU has no device plane; the lines of its
executor count as a device where nothing else is one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from laptime.importers.xplane_space import EventKind, Line, Plane
from laptime.model.classify import CALL

_DEVICE_PLANE = re.compile(r"^/device:(?P<type>[A-Za-z]\w*):(?P<number>\d{1,6})?")
_HOST_PLANE = re.compile(r"^/host:(?!metadata)|^Host CPUs")
_STREAM_LINE = re.compile(r"^Stream #(\d{1,9})")
_OP_LINES = frozenset({"XLA Ops", "Async XLA Ops", "Sparse Core Ops", "Host Offload Ops"})
_DERIVED_LINES = frozenset(
    {
        "Steps",
        "Sparse Core Steps",
        "Framework Name Scope",
        "TensorFlow Name Scope",
        "Framework Ops",
        "TensorFlow Ops",
        "XLA Modules",
        "Sparse Core Modules",
        "XLA TraceMe",
        "Launch Stats",
        "Source code",
        "_counters_",
    }
)
_COMPILER_LINE = re.compile(r"compil|codegen", re.IGNORECASE)
_EXECUTOR_LINE = re.compile(r"^tf_XLA")
_PYTHON_LINE = re.compile(r"^python")
_POOL_LINE = re.compile(r"/-?\d+$")

DEVICE, EXECUTOR, DERIVED, COMPILER, POOL, PYTHON = "device", "executor", "derived", "compiler", "pool", "python"


@dataclass(frozen=True)
class Place:
    """What a line is, and the device and stream that it belongs to."""

    role: str
    device: int | None = None
    stream: int | None = None


def is_device(plane: Plane) -> bool:
    """Whether a plane belongs to a device that did anything."""
    return bool(_DEVICE_PLANE.match(plane.name)) and any(len(line.events) for line in plane.lines)


def is_host(plane: Plane) -> bool:
    """Whether a plane holds threads of the host."""
    return bool(_HOST_PLANE.match(plane.name))


def device_ids(planes: Sequence[Plane]) -> dict[str, int]:
    """Device id by plane name: the plane's own number, or the next free one where another type of device has it."""
    ids: dict[str, int] = {}
    owner: dict[int, str] = {}
    for plane in planes:
        match = _DEVICE_PLANE.match(plane.name)
        if match is None or plane.name in ids:
            continue
        number = int(match["number"] or 0)
        while owner.setdefault(number, match["type"]) != match["type"]:
            number += 1
        ids[plane.name] = number
    return ids


def device_name(plane: Plane) -> str:
    """`AMD GPU`, `TPU v4`: the type that the profile names, else vendor and kind of the plane."""
    told = plane.stats.get("device_type_string") or plane.stats.get("device_type")
    if isinstance(told, str) and told:
        return told
    match = _DEVICE_PLANE.match(plane.name)
    kind = match["type"] if match else plane.name
    vendor = plane.stats.get("device_vendor")
    return f"{vendor} {kind}" if isinstance(vendor, str) and vendor else kind


def device_kind(plane: Plane) -> str:
    """`GPU`, `TPU`, ...; `HOST_CPU` for the host."""
    match = _DEVICE_PLANE.match(plane.name)
    return match["type"] if match else "HOST_CPU"


def device_place(plane: Plane, line: Line, device: int) -> Place:
    """Streams are work, else the rows of operators; rows that repeat these by scope, module or step are annotations."""
    stream = _STREAM_LINE.match(line.name)
    if stream is not None:
        return Place(DEVICE, device, int(stream[1]))
    has_streams = any(_STREAM_LINE.match(other.name) for other in plane.lines)
    has_op_rows = any(other.name in _OP_LINES for other in plane.lines)
    works = line.name in _OP_LINES if has_op_rows else line.name not in _DERIVED_LINES
    return Place(DEVICE if works and not has_streams else DERIVED, device)


def host_place(line: Line, *, executor_is_device: bool) -> Place:
    """Threads; the executor's lines of XLA:CPU are a device where there is no other."""
    if _COMPILER_LINE.search(line.name) and not _PYTHON_LINE.match(line.name):
        return Place(COMPILER)
    if _EXECUTOR_LINE.match(line.name):
        return Place(EXECUTOR, 0) if executor_is_device else Place(POOL)
    if _POOL_LINE.search(line.name) and not _PYTHON_LINE.match(line.name):
        return Place(POOL)
    return Place(PYTHON)


# ---- events of a device ----

_COPY = re.compile(r"^Memcpy|^(?:infeed|outfeed)(?:[-.]|$)", re.IGNORECASE)
_MEMSET = re.compile(r"^Memset", re.IGNORECASE)
_COLLECTIVE = re.compile(
    r"^(?:async-)?(?:ragged-)?(?:all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute|collective-broadcast)"
    r"|^(?:send|recv)(?:-done)?(?:\.\d+)?$"
)
_CONTAINER = re.compile(r"^(?:while|conditional|call)(?:\.\d+)?$")
_NUMBER = re.compile(r"(?:\.\d+)+$")


def shown_name(kind: EventKind) -> str:
    """The short name where the other is the instruction's whole text, as on TPUs."""
    return kind.display_name if kind.display_name and (kind.name.startswith("%") or not kind.name) else kind.name


def work_kind(name: str, instruction: str | None, category: str | None) -> str:
    """Base kind of device work; loops and calls only hold other work, and are none themselves."""
    hlo = instruction or name
    if _CONTAINER.match(hlo) or category in ("while", "conditional", "call"):
        return "device_other"
    if _COLLECTIVE.match(hlo) or (category is not None and _COLLECTIVE.match(category)):
        return "communication"
    if _MEMSET.match(name):
        return "memset"
    return "copy" if _COPY.match(name) or _COPY.match(hlo) else "kernel"


def without_number(instruction: str) -> str:
    """`dot` for `dot.12`."""
    return _NUMBER.sub("", instruction) or instruction


# ---- events of the host ----

_COMPILE = re.compile(r"^backend_compile|^XlaCompile|^Xla(?:Local)?Compil")
_WAIT = re.compile(r"(?:Buffer|Array|Future|Event)\w*::Await$|::BlockHostUntil\w+$|^block_until_ready$")
_LOADER = re.compile(r"^Iterator(?:GetNext|::)")
_FRAMEWORK_OP = re.compile(r"^PjitFunction\(|^[^:\s]+:[A-Z]\w*$")
_RUNTIME = re.compile(
    r"::|^np\.asarray\(jax|^(?:PJRT_|PjRt|Pjit|Memory(?:Deal|Al)location|DevicePut|ParseArguments|shard_args|trace_to_jaxpr|lower_sharding"
    r"|ExecuteReplicated|batched_|BatchedCopy|cpp_|Wait\b|Handle |AllocateOutput|MakeOutput|ThenExecute|Rendezvous"
    r"|InvokeRendezvous|H2D |D2H |Transfer(?:To|From)|Buffer|RecordUsage|ComputeSemaphore|Resolve constant|Build buffer"
    r"|FunctionRun|SessionRun|RunGraph|Executor|Eager|ThreadpoolListener)"
)
_TICK = re.compile(r"^ThreadpoolListener::")


def host_kind(name: str, role: str) -> str:
    """Base kind of an event on a thread, from its name alone; `scope` where a user may have named it."""
    if name.startswith("$"):
        return "python"
    if role == COMPILER:
        return "host_other" if _TICK.match(name) else "compile"
    for pattern, kind in ((_COMPILE, "compile"), (_WAIT, "sync"), (_LOADER, "data"), (_FRAMEWORK_OP, "op")):
        if pattern.search(name):
            return kind
    return "scope" if role == PYTHON and not _RUNTIME.search(name) else "host_other"


HOST_CALL = CALL
"""Base kind of calls with a correlation id."""
