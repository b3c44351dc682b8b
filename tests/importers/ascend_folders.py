"""Small recordings of Ascend's profilers, made in tests."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

Event = dict[str, object]
_FIRST_US = 1736408883688177
HOST, CANN, HARDWARE, HCCL, DERIVED = 70, 71, 72, 73, 74
PROCESSES = {HOST: "Python", CANN: "CANN", HARDWARE: "Ascend Hardware", HCCL: "HCCL", DERIVED: "Overlap Analysis"}


def us(offset: float) -> str:
    """A time as the files write it."""
    return (
        f"{_FIRST_US + offset:.3f}" if offset % 1 == 0 else f"{_FIRST_US + int(offset)}.{round(offset % 1 * 1000):03d}"
    )


def write_output(folder: Path, files: Mapping[str, str | bytes], info: Mapping[str, object] | None = None) -> Path:
    """A folder of one rank with ASCEND_PROFILER_OUTPUT."""
    output = folder / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (output / name).write_bytes(content.encode() if isinstance(content, str) else content)
    (folder / "profiler_info_3.json").write_text(json.dumps(info or {"rank_id": 3}))
    return folder


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A CSV file."""
    lines = [",".join(columns), *(",".join(str(value) for value in row) for row in rows)]
    return "\r\n".join(lines) + "\r\n"


def complete(pid: int, tid: int, name: str, start: float, dur: float | str, **more: object) -> Event:
    """A slice."""
    return {"ph": "X", "pid": pid, "tid": tid, "name": name, "ts": us(start), "dur": dur, **more}


def flow(phase: str, number: object, pid: int, tid: int, start: float, category: str) -> Event:
    """One end of a flow."""
    return {
        "ph": phase,
        "bp": "e",
        "name": category,
        "id": number,
        "pid": pid,
        "tid": tid,
        "ts": us(start),
        "cat": category,
    }


def timeline() -> list[Event]:
    """A step with two kernels, a copy, a wait, and a collective with its parts; names come after the events."""
    task = {"Task Type": "AI_CORE"}
    events = [
        complete(HOST, 1, "ProfilerStep#7", 0, 1000, cat="cpu_op"),
        complete(HOST, 1, "aten::mm", 10, 20, cat="cpu_op"),
        complete(HOST, 1, "aten::add", 40, 20, cat="cpu_op"),
        complete(CANN, 1, "AscendCL@aclrtSynchronizeStream", 45, 10),
        complete(CANN, 2, "Node@launch", 30, 5),
        complete(HARDWARE, 5, "MatMul1", 100, 50, args=task),
        complete(HARDWARE, 5, "Add2", 200, 40.5, args={"Task Type": "MIX_AIV"}),
        complete(HARDWARE, 5, "MEMCPY_ASYNC", 300, 10, args={"Task Type": "PCIE_DMA_SQE"}),
        complete(HARDWARE, 5, "EVENT_WAIT", 320, 10, args={"Task Type": "EVENT_WAIT_SQE"}),
        complete(HARDWARE, 6, "SDMA", 210, 5, args={"Task Type": "SDMA"}),
        complete(HCCL, 0, "hcom_allReduce__1_0_1", 210, 60.25),
        complete(HCCL, 1, "Notify_Wait", 210, 60),
        complete(DERIVED, 0, "Computing", 100, 50),
        flow("s", 1, HOST, 1, 10, "async_npu"),
        flow("f", 1, HARDWARE, 5, 100, "async_npu"),
        flow("s", 2, HOST, 1, 40, "async_npu"),
        flow("f", 2, HARDWARE, 5, 200, "async_npu"),
        flow("s", "9", CANN, 2, 30, "HostToDevice"),
        flow("f", "9", HARDWARE, 5, 100, "HostToDevice"),
        flow("f", "77", HARDWARE, 5, 300, "HostToDevice"),
        {"ph": "C", "pid": 75, "tid": 0, "name": "AI Core Freq", "ts": us(0), "args": {"MHz": 1800}},
    ]
    names = [
        {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
        for pid, name in PROCESSES.items()
    ]
    threads = {0: "Group 0 Communication", 1: "Plane 0"}
    names += [
        {"ph": "M", "args": {"name": name}, "name": "thread_name", "pid": HCCL, "tid": tid}
        for tid, name in threads.items()
    ]
    return events + names


def write_database(path: Path, tables: Mapping[str, tuple[Sequence[str], Iterable[Sequence[object]]]]) -> None:
    """A SQLite file."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for name, (columns, rows) in tables.items():
            connection.execute(f'CREATE TABLE "{name}" ({", ".join(columns)})')
            connection.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(columns))})', rows)


def recording_tables() -> dict[str, tuple[Sequence[str], Iterable[Sequence[object]]]]:
    """A kernel, a copy and a collective, launched by an operator, a queued call and an operator; a backward one."""
    texts = ["MatMul1", "MatMul", "AI_CORE", "1,2;2,3", "KERNEL_AICORE", "MEMCPY_ASYNC", "hcom_allReduce__1_0_1"]
    texts += ["hcom_allReduce_", "aten::mm", "Enqueue", "Dequeue@copy", "aclrtMemcpyAsync", "group", "app"]
    texts += ["MmBackward0"]
    number = {text: place for place, text in enumerate(texts)}
    tid = (40 << 32) | 41
    other = (40 << 32) | 42
    return {
        "STRING_IDS": (("id", "value"), list(enumerate(texts))),
        "TASK": (
            ("startNs", "endNs", "deviceId", "connectionId", "globalTaskId", "taskType", "streamId"),
            [
                (1000, 1500, 2, 11, 1, number["KERNEL_AICORE"], 8),
                (1600, 1700, 2, 12, 2, number["MEMCPY_ASYNC"], 8),
                (1710, 1720, 2, 99, 3, number["KERNEL_AICORE"], 8),
            ],
        ),
        "COMPUTE_TASK_INFO": (
            ("name", "globalTaskId", "taskType", "opType", "inputShapes"),
            [(number["MatMul1"], 1, number["AI_CORE"], number["MatMul"], number["1,2;2,3"])],
        ),
        "COMMUNICATION_OP": (
            ("opName", "startNs", "endNs", "connectionId", "groupName", "opType"),
            [(number["hcom_allReduce__1_0_1"], 1400, 1800, 13, number["group"], number["hcom_allReduce_"])],
        ),
        "PYTORCH_API": (
            ("startNs", "endNs", "globalTid", "connectionId", "name", "type", "fwdThreadId"),
            [
                ("900", "950", tid, 0, number["aten::mm"], 50001, 0),
                ("960", "965", tid, 1, number["Enqueue"], 50002, None),
                ("970", "990", other, 2, number["Dequeue@copy"], 50002, None),
                ("991", "999", other, 3, number["MmBackward0"], 50001, 1),
            ],
        ),
        "CANN_API": (
            ("startNs", "endNs", "globalTid", "connectionId", "name", "type"),
            [(975, 980, other, 12, number["aclrtMemcpyAsync"], 20000)],
        ),
        "CONNECTION_IDS": (("id", "connectionId"), [(0, 11), (0, 13), (0, 60), (1, 50), (2, 50), (3, 60)]),
        "STEP_TIME": (("id", "startNs", "endNs"), [(4, 800, 2000)]),
        "RANK_DEVICE_MAP": (("rankId", "deviceId"), [(3, 2)]),
        "NPU_INFO": (("id", "name"), [(2, "Ascend910B")]),
        "NPU_MEM": (("type", "ddr", "hbm", "timestampNs", "deviceId"), [(number["app"], 0, 4096, 850, 2)]),
        "status_info": (("id", "key", "value"), [(1, "OVERLAP_ANALYSIS_STATUS", "FINISH")]),
    }
