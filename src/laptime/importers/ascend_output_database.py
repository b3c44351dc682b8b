"""ascend_pytorch_profiler_{rank}.db and ascend_mindspore_profiler_{rank}.db: all that the text files hold, as SQLite.

Times are integer nanoseconds (in PYTORCH_API as texts). Texts are numbers into STRING_IDS. A thread's id is
pid << 32 | tid. PYTORCH_API.connectionId leads through CONNECTION_IDS to the tasks that an operator launched, and joins
a forward operator with its backward one; that of CANN_API leads to the tasks of a call. Tables that MindStudio Insight
adds when it opens a file are not read.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from laptime.importers.ascend_output_checks import Intervals
from laptime.importers.ascend_output_communication import Collectives
from laptime.importers.ascend_output_database_links import (
    LAUNCH,
    DatabaseSlices,
    Links,
    connections_of,
    link_backward,
    link_operators,
)
from laptime.importers.ascend_output_kernels import COMMUNICATION, HARDWARE
from laptime.importers.ascend_output_memory import Blocks, add_blocks, add_curve
from laptime.importers.ascend_output_operators import Operator, Operators
from laptime.importers.ascend_output_sqlite import Database, whole_number, whole_numbers
from laptime.importers.ascend_output_tables import rows_of_each
from laptime.importers.ascend_output_tasks import category_of_call, task_category
from laptime.model.arrays import Column, IntArray
from laptime.model.builder import GivenStep, TraceBuilder
from laptime.model.tracks import TrackKey
from laptime.model.vocabulary import NULL

_API_CATEGORY = {50001: "cpu_op", 50002: "queue", 50003: "python_function", 50004: "user_annotation"}
_CALL_LEVELS = {5000: "Runtime", 5500: "Hccl", 10000: "Node", 15000: "Model", 20000: "AscendCL"}
_DETAILS = {"input_formats": 7, "output_formats": 8, "output_dtypes": 9, "block_dim": 10, "mix_block_dim": 11}
"""Places in a row of COMPUTE_TASK_INFO."""
_THREAD_BITS = 32


def read_database(database: Database, collectives: Collectives, builder: TraceBuilder) -> Intervals:
    """Reads all tables; returns the kernels and collectives."""
    tasks, task_ids = _tasks(database, builder)
    whole, whole_ids = _collectives(database, collectives)
    operators, numbers, forward_threads = _operators(database, builder)
    connections = connections_of(database, numbers)
    calls, call_ids = _calls(database)
    for slices in (tasks, whole, operators, calls):
        slices.add_to(builder)
    links = Links(builder)
    for slices, ids in ((tasks, task_ids), (whole, whole_ids)):
        links.add(LAUNCH, slices, ids, is_end=True)
        links.add("HostToDevice", slices, ids, is_end=True)
    links.add("HostToDevice", calls, call_ids, is_end=False)
    link_operators(operators, connections, calls, call_ids, links=links)
    link_backward(operators, connections, forward_threads, links=links)
    _add_memory(database, builder)
    return _work(tasks, whole)


# ---- the device ----


def _tasks(database: Database, builder: TraceBuilder) -> tuple[DatabaseSlices, IntArray]:
    columns = ("startNs", "endNs", "deviceId", "connectionId", "globalTaskId", "taskType", "streamId")
    rows = database.rows("TASK", *columns)
    start, end, device, connection, _, _, stream = (whole_numbers([row[place] for row in rows]) for place in range(7))
    operators, parts = _task_operators(database, builder), _parts_of_collectives(database)
    names, categories, ops = [], [], []
    for row in rows:
        kind, own = database.text(row[5]), operators.get(row[4])
        own_type = "" if operators or row[4] in parts else kind
        names.append(own[0] if own else kind or "task")
        categories.append("kernel" if own else task_category(kind, own_type))
        ops.append(own[1] if own else -1)
    tracks = [
        TrackKey("stream", HARDWARE, str(number), place, number)
        for place, number in zip(_or_none(device), _or_none(stream), strict=True)
    ]
    builder.tracks.process_names.update({HARDWARE: HARDWARE, COMMUNICATION: COMMUNICATION})
    return DatabaseSlices(start, end, names, categories, tracks, {"op": np.array(ops, np.int32)}), connection


def _or_none(numbers: IntArray) -> list[int | None]:
    return [None if number == NULL else number for number in numbers.tolist()]


def _task_operators(database: Database, builder: TraceBuilder) -> dict[object, tuple[str, int]]:
    """Name and operator of each task that computes."""
    operators = Operators(builder)
    columns = ("globalTaskId", "name", "opType", "taskType", "inputShapes", "inputDataTypes", "outputShapes")
    details = ("inputFormats", "outputFormats", "outputDataTypes", "blockDim", "mixBlockDim")
    found = {}
    for row in database.rows("COMPUTE_TASK_INFO", *columns, *details):
        name, kind, core, shapes, dtypes, outputs, *formats = (database.text(value) for value in row[1:10])
        numbers = [str(value) for value in row[10:12] if value is not None]
        info = tuple(zip(_DETAILS, [*formats, *numbers], strict=False))
        found[row[0]] = name, operators.number(Operator(name, kind, core, shapes, dtypes, outputs, info))
    return found


def _parts_of_collectives(database: Database) -> set[object]:
    return {row[0] for row in database.rows("COMMUNICATION_TASK_INFO", "globalTaskId")}


def _collectives(database: Database, known: Collectives) -> tuple[DatabaseSlices, IntArray]:
    columns = ("startNs", "endNs", "connectionId", "deviceId", "opName", "groupName", "opType")
    rows = database.rows("COMMUNICATION_OP", *columns)
    start, end, connection, device = (whole_numbers([row[place] for row in rows]) for place in range(4))
    device = np.where(device == NULL, device_of(database), device)
    names = [database.text(row[4]) for row in rows]
    groups = [database.text(row[5]) for row in rows]
    tracks = [
        TrackKey("stream", COMMUNICATION, group, place, None, name=f"Group {group} Communication")
        for group, place in zip(groups, _or_none(device), strict=True)
    ]
    ops = []
    for row, name, group, begins in zip(rows, names, groups, start.tolist(), strict=True):
        own = known.op_of(name, begins)
        details = (("group", group),)
        kind = database.text(row[6])
        ops.append(known.operators.number(Operator(name, kind, "HCCL", "", "", "", details)) if own is None else own)
    categories = ["collective_comm"] * len(rows)
    return DatabaseSlices(start, end, names, categories, tracks, {"op": np.array(ops, np.int32)}), connection


def device_of(database: Database) -> int:
    """Device of the rank; NULL where the file does not say."""
    rows = [*database.rows("RANK_DEVICE_MAP", "deviceId"), *database.rows("NPU_INFO", "id")]
    return whole_number(rows[0][0]) if rows else NULL


def _work(tasks: DatabaseSlices, collectives: DatabaseSlices) -> Intervals:
    work = Intervals()
    kernel = np.array([category == "kernel" for category in tasks.categories], bool)
    start, end = tasks.start[kernel], tasks.end[kernel]
    work.add(start, end - start, np.zeros(len(start), bool))
    start = collectives.start
    work.add(start, collectives.end - start, np.ones(len(start), bool))
    return work


# ---- the host ----


def _operators(database: Database, builder: TraceBuilder) -> tuple[DatabaseSlices, IntArray, IntArray]:
    """Operators with their connections, and of backward ones the thread of the forward one."""
    columns = (
        "startNs",
        "endNs",
        "globalTid",
        "connectionId",
        "type",
        "name",
        "inputShapes",
        "inputDtypes",
        "callchainId",
        "fwdThreadId",
    )
    rows = database.rows("PYTORCH_API", *columns)
    start, end, thread, connection, kind = (whole_numbers([row[place] for row in rows]) for place in range(5))
    categories = [_API_CATEGORY.get(number, "queue") for number in kind.tolist()]
    chains = _call_chains(database)
    texts = {
        "shapes": [database.text(row[6]) for row in rows],
        "dtypes": [database.text(row[7]) for row in rows],
        "call_stack": [chains.get(row[8], "") for row in rows],
    }
    extra: dict[str, Column] = {
        key: np.array([builder.texts[key].code(text) if text else -1 for text in values], np.int32)
        for key, values in texts.items()
    }
    names = [database.text(row[5]) for row in rows]
    _name_processes(thread, builder)
    forward_threads = whole_numbers([row[9] for row in rows])
    return DatabaseSlices(start, end, names, categories, _threads(thread), extra), connection, forward_threads


def _call_chains(database: Database) -> dict[object, str]:
    """Frames of each call chain, innermost first."""
    frames: dict[object, list[tuple[int, str]]] = {}
    for chain, frame, depth in database.rows("PYTORCH_CALLCHAINS", "id", "stack", "stackDepth"):
        frames.setdefault(chain, []).append((whole_number(depth), database.text(frame)))
    return {chain: ";".join(text for _, text in sorted(parts)) for chain, parts in frames.items()}


def _calls(database: Database) -> tuple[DatabaseSlices, IntArray]:
    rows = database.rows("CANN_API", "startNs", "endNs", "globalTid", "connectionId", "name", "type")
    start, end, thread, connection = (whole_numbers([row[place] for row in rows]) for place in range(4))
    names = [_call_name(database.text(row[4]), row[5]) for row in rows]
    categories = [category_of_call(name) for name in names]
    return DatabaseSlices(start, end, names, categories, _threads(thread)), connection


def _call_name(name: str, level: object) -> str:
    """The name that the text export gives the call."""
    prefix = _CALL_LEVELS.get(whole_number(level))
    return f"{prefix}@{name}" if prefix else name


def _threads(ids: IntArray) -> list[TrackKey]:
    lowest = 2**_THREAD_BITS - 1
    return [TrackKey("thread", str(number >> _THREAD_BITS), str(number & lowest)) for number in ids.tolist()]


def _name_processes(ids: IntArray, builder: TraceBuilder) -> None:
    for number in np.unique(ids).tolist():
        builder.tracks.process_names[str(number >> _THREAD_BITS)] = "Python"


# ---- what is no slice ----


def given_steps(database: Database) -> list[GivenStep]:
    """Steps of STEP_TIME."""
    rows = database.rows("STEP_TIME", "id", "startNs", "endNs")
    times = [(whole_number(step), whole_number(start), whole_number(end)) for step, start, end in rows]
    return [
        GivenStep(step, start, end, f"step {step}")
        for step, start, end in times
        if NULL not in (step, start) and start <= end
    ]


def _add_memory(database: Database, builder: TraceBuilder) -> None:
    totals = ("totalAllocated", "totalReserved", "totalActive")
    rows = database.rows("MEMORY_RECORD", "component", "timestamp", *totals)
    _add_curves([(database.text(row[0]), *row[1:]) for row in rows], ("allocated", "reserved", "active"), builder)
    rows = database.rows("NPU_MEM", "type", "timestampNs", "hbm")
    _add_curves([(database.text(row[0]).upper(), *row[1:]) for row in rows], ("reserved",), builder)
    rows = database.rows("OP_MEMORY", "name", "size", "allocationTime", "releaseTime", "deviceId")
    sizes, taken, released, devices = (whole_numbers([row[place] for row in rows]) for place in range(1, 5))
    for device in np.unique(devices).tolist():
        own = np.flatnonzero(devices == device)
        names = [database.text(rows[row][0]) for row in own.tolist()]
        blocks = Blocks(names, sizes[own], taken[own], released[own])
        add_blocks(blocks, None if device == NULL else device, builder)


def _add_curves(rows: list[tuple[object, ...]], totals: tuple[str, ...], builder: TraceBuilder) -> None:
    """Rows of (component, time, total, ...)."""
    components = rows_of_each([str(row[0]) for row in rows])
    times = whole_numbers([row[1] for row in rows])
    for place, total in enumerate(totals, start=2):
        values = whole_numbers([row[place] for row in rows])
        for component, rows_of in components.items():
            own = rows_of[(values[rows_of] != NULL) & (times[rows_of] != NULL)]
            add_curve(f"{component} {total}", times[own], values[own], builder)


def device_names(database: Database) -> dict[str, str]:
    """Names of devices by id."""
    named = {whole_number(number): name for number, name in database.pairs("NPU_INFO", "id", "name")}
    return {str(number): name for number, name in named.items() if number != NULL and isinstance(name, str)}


def is_recording(path: Path) -> bool:
    """Whether a file's name is that of a recording, not of the vendor's sums."""
    return path.name.startswith(("ascend_pytorch_profiler", "ascend_mindspore_profiler")) and path.suffix == ".db"
