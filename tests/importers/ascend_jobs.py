"""Writes small raw Ascend jobs, byte by byte."""

from __future__ import annotations

import struct
from pathlib import Path

HWTS = "hwts.log.data.45.dev.profiler_default_tag.0.slice_0"
POINTS = "training_trace.46.dev.profiler_default_tag.0.slice_0"
GRAPH = "Framework.host.vm.graph_desc_info.0.slice_0"
TASKS = "Framework.host.vm.task_desc_info.0.slice_0"
POINT_NAMES = "Framework.host.vm.point.0.slice_0"
AICPU = "DATA_PREPROCESS.dev.AICPU.0.slice_0"
FETCHES = "DATA_PREPROCESS.dev.AICPUMI.0.slice_0"
SENDS = "DATA_PREPROCESS.dev.TDT.0.slice_0"
HOST_START, DEV_START = "host_start.log.0", "dev_start.log.0"

STEP = 10_000
"""Length of a step in counts of 10 ns."""
ZERO = 1_000_000
"""Count at the first step's start tag."""


class HwtsLog:
    """Records of 64 bytes with a running counter."""

    def __init__(self) -> None:
        self.records: list[bytes] = []

    def add(self, kind: int, stream: int, task: int, time: int) -> None:
        """A record; kind 0 is a start, 1 an end."""
        head = kind | (len(self.records) % 16) << 4
        self.records.append(struct.pack("<BBHHHQI44x", head, 0, 0x6BD3, 0, task, time, stream))

    def run(self, stream: int, task: int, start: int, end: int) -> None:
        """Start and end of a task."""
        self.add(0, stream, task, start)
        self.add(1, stream, task, end)

    def bytes(self) -> bytes:
        """The file."""
        return b"".join(self.records)


def point(tag: int, time: int, stream: int = 0) -> bytes:
    """A record of 20 bytes."""
    return struct.pack("<QHHQ", tag, 0, stream, time)


def step_points(count: int, *, end: int = 255, start: int | None = 0) -> list[list[bytes]]:
    """Records of each step: forward start 500 after its start, backward end at 6000, end at 9900; a region on stream
    7 from 4000 to 7000."""
    steps = []
    for place in range(count):
        zero = ZERO + place * STEP
        records = [] if start is None else [point(start, zero)]
        records += [point(1, zero + 500), point(3, zero + 4000, 7), point(2, zero + 6000), point(4, zero + 7000, 7)]
        steps.append([*records, point(end, zero + 9900)])
    return steps


def joined(steps: list[list[bytes]]) -> bytes:
    """A file of step points."""
    return b"".join(record for step in steps for record in step)


def hwts_log(count: int) -> HwtsLog:
    """In each step Mul (30001 on stream 3) from 1000 to 3000 and Add (30002) from 3000 to 5000, a task without an
    operator on stream 7 all along; one more task after the last step."""
    log = HwtsLog()
    for place in range(count):
        zero = ZERO + place * STEP
        log.add(0, 7, 40_000, zero + 100)
        log.run(3, 30_001, zero + 1000, zero + 3000)
        log.run(3, 30_002, zero + 3000, zero + 5000)
        log.add(1, 7, 40_000, zero + 9000)
    log.run(9, 41_000, ZERO + count * STEP + 100, ZERO + count * STEP + 200)
    return log


_SIDE = (
    'input_id:0 input_format:NC1HWC0 input_data_type:39 input_shape:"32,16" '
    'output_id:0 output_format:NC1HWC0 output_data_type:40 output_shape:"32"'
)


def job_files(count: int = 4) -> dict[str, bytes]:
    """A whole job, by name."""
    graph = f"op_name:Default/net/Mul-op1 op_type:Mul {_SIDE}\nop_name:Gradients/net/Add-op2 op_type:Add {_SIDE}\n"
    node = "[100] Node:Default/GetNext-op3, Run start:120 12000, Run end:150 15000\0"
    thread = (
        "Thread[ 1] process device[0]:aicpu[ 0] task end, tickDrvTopHalf=1000010,tickDrvBottomHalf=1000020, "
        "tickBeforeRun=1000030,tickAfterRun=1000210, dispatchTime=1 us, totalTime=2 us.\0"
    )
    return {
        HWTS: hwts_log(count).bytes(),
        POINTS: joined(step_points(count)),
        GRAPH: graph.encode(),
        TASKS: b"Default/net/Mul-op1 32 30001 3\nGradients/net/Add-op2 8 30002 3\n",
        POINT_NAMES: b"1 Default/net/Mul-op1\n2 Gradients/net/Add-op2\n3 Default/net/AllReduce-op9\n",
        AICPU: (node + thread).encode(),
        FETCHES: b"Node:GetNext, Run start:10, Run end:30, queue size:2\0"
        b"Node:GetNext, Run start:40, Run end:41, queue size:0\0",
        SENDS: b"[393] Enqueue data to dp, source:f8-11, index:1, size:0\0"
        b"[394] Enqueue data to dp, source:f8, index:2, size:5\0",
        HOST_START: b"[Device0]\nclock_realtime: 1591183963784568740\nclock_monotonic_raw: 261003032627\n",
        DEV_START: b"clock_realtime: 1\nclock_monotonic_raw: 2\ncntvct: 900000\n",
    }


def write_job(folder: Path, files: dict[str, bytes]) -> Path:
    """Writes the files into a folder of that name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder
