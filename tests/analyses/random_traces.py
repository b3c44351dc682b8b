"""Small random traces in the form of torch.profiler, on a grid of a few nanoseconds so that edges often meet."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

Event = dict[str, Any]

PID = 100
MAIN, AUTOGRAD, LOADER = 1, 2, 30
ORIGINS = (5_000, 1_000_000_007, 4_398_046_511_104_123, 5_100_551_778_372_897)
"""Nanoseconds; the times of a trace begin about here."""

_OPS = (
    "aten::mm",
    "aten::add",
    "aten::mm",
    "autograd::engine::evaluate_function: MmBackward0",
    "MmBackward0",
    "gloo:all_reduce",
)
_SYNCS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaMemcpy")
_LAUNCHES = ("cudaLaunchKernel", "cudaMemcpyAsync", "cuLaunchKernel", "cudaGraphLaunch")
_RANGES = ("Optimizer.step#SGD.step", "forward", "some range", "Optimizer.zero_grad#SGD.zero_grad", "fetch batch")
_HOST = (
    ("cpu_op", _OPS, 8),
    ("cuda_runtime", _SYNCS, 2),
    ("cuda_runtime", _LAUNCHES, 5),
    ("cuda_runtime", ("cudaEventQuery", "cudaMalloc"), 1),
    ("user_annotation", ("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",), 2),
    ("user_annotation", _RANGES, 2),
    ("python_function", ("train.py(12): step", "_compile.compile_inner (dynamo_timed)"), 1),
)
_DEVICE = (
    ("kernel", "gemm_128x128", 6),
    ("kernel", "vectorized_elementwise_kernel", 3),
    ("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 3),
    ("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 2),
    ("gpu_memset", "Memset (Device)", 1),
)
_HOLDS_OTHERS = ("cpu_op", "user_annotation", "python_function")


@dataclass
class _Writer:
    random: Random
    crossing: bool
    linked: bool
    events: list[Event] = field(default_factory=list)
    launches: list[tuple[int, int, bool]] = field(default_factory=list)
    """(correlation, start, whether it launches many)"""

    def add(self, category: str, name: str, place: tuple[int, int], span: tuple[int, int], **args: Any) -> None:
        start, dur = span
        event = {"ph": "X", "cat": category, "name": name, "pid": place[0], "tid": place[1], "ts": start, "dur": dur}
        self.events.append({**event, "args": args} if args else event)

    def host(self, tid: int, first: int, last: int, depth: int = 0) -> None:
        """Slices one after the other in [first, last), with others inside them."""
        at = first + self.random.randint(0, 4)
        while at <= last:
            end = min(at + self.random.choice((0, 1, 2, 4, 7, 12, 20)) // (1 + depth // 2), last)
            category, names, _ = self.random.choices(_HOST, [row[2] for row in _HOST])[0]
            args = {}
            name = self.random.choice(names)
            if category == "cuda_runtime":
                correlation = len(self.launches) + 1
                self.launches.append((correlation, at, name == "cudaGraphLaunch"))
                args["correlation"] = correlation
            self.add(category, name, (PID, tid), (at, end - at), **args)
            if category in _HOLDS_OTHERS and depth < 4:
                self.host(tid, at, end, depth + 1)
            back = self.random.randint(0, 3) if self.crossing else 0
            at = max(end - back, at) + self.random.choice((0, 0, 1, 3))
            at += at == end and self.random.random() < 0.5

    def device(self, devices: list[int], streams: list[int], last: int) -> None:
        """What the launches started, and slices whose launch was not recorded."""
        for correlation, start, many in self.launches:
            if self.random.random() < 0.3:
                continue
            place = (self.random.choice(devices), self.random.choice(streams))
            at = start + self.random.choice((-3, 0, 0, 1, 2, 5, 12, 30))
            for _ in range(self.random.randint(1, 12) if many else 1):
                dur = self.random.choice((0, 1, 1, 2, 3, 6, 14))
                self.device_slice(place, (max(at, 0), dur), correlation if self.linked else None)
                at += dur + self.random.choice((-1, 0, 0, 2))
        for _ in range(self.random.randint(0, 4)):
            place = (self.random.choice(devices), self.random.choice(streams))
            self.device_slice(place, (self.random.randint(0, last), self.random.randint(0, 9)), None)

    def device_slice(self, place: tuple[int, int], span: tuple[int, int], correlation: int | None) -> None:
        category, name, _ = self.random.choices(_DEVICE, [row[2] for row in _DEVICE])[0]
        args = {"device": place[0], "stream": place[1]}
        if correlation is not None:
            args["correlation"] = correlation
        self.add(category, name, place, span, **args)

    def overrun(self, place: tuple[int, int], first: int) -> None:
        """A slice that swallows about as many others as make it overrunning."""
        count = self.random.randint(6, 11)
        self.device_slice(place, (first, 4 * count), 9_000_001 if self.random.random() < 0.5 else None)
        for k in range(count):
            self.device_slice(place, (first + 1 + 3 * k, 2), 9_000_000 + self.random.randint(1, 40))

    def noise(self, device: int, stream: int, last: int) -> None:
        """What lies on a device's rows and is no work of it."""
        place, args = (device, stream), {"device": device, "stream": stream}
        self.add("gpu_user_annotation", "ProfilerStep#1", place, (0, last), **args)
        self.add("cuda_sync", "Stream Sync", place, (1, last), **args)
        self.add("kernel", "untimed kernel", place, (3, -1), **args)


def random_trace(seed: int) -> Event:
    """A trace; the seed decides all of it. Every fifth has no device, some no links, some slices that cross."""
    random = Random(seed)
    writer = _Writer(random, crossing=seed % 7 == 3, linked=seed % 6 != 4)
    at = first = random.randint(0, 20)
    for number in range(1, random.randint(2, 4)):
        dur = random.randint(15, 60)
        writer.add("user_annotation", f"ProfilerStep#{number}", (PID, MAIN), (at, dur))
        at += dur + random.choice((0, 0, 5))
    for tid in random.sample((MAIN, MAIN, AUTOGRAD, LOADER), 3):
        writer.host(tid, max(first - random.randint(0, 20), 0), at + random.randint(0, 20))
    if seed % 5:
        devices = random.sample((0, 1, 3), random.randint(1, 2))
        writer.device(devices, random.sample((0, 7, 20), random.randint(1, 3)), at + 30)
        if seed % 4 == 1:
            writer.overrun((devices[0], 7), random.randint(0, at))
        writer.noise(devices[0], 7, at)
    return _as_file(random, writer.events)


def _as_file(random: Random, events: list[Event]) -> Event:
    origin = random.choice(ORIGINS)
    random.shuffle(events)
    for event in events:
        event["ts"] = (origin + event["ts"]) / 1000
        event["dur"] = event["dur"] / 1000
        if event["dur"] < 0:
            del event["dur"]
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Made up"}], "traceEvents": events}
