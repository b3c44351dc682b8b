"""Recordings that the tests of the command line ask: our own samples, and a small one with a device."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import EXAMPLE, SAMPLES

TORCH = SAMPLES / "pytorch"
TINY, LOADER, THREADS = (
    TORCH / name for name in ("tiny_train.pt.trace.json.gz", "loader.pt.trace.json.gz", "threads.pt.trace.json")
)
DDP2 = TORCH / "ddp2"
MEMORY_DRAWING, GRAPH_PROFILE = (
    SAMPLES / "megengine_memory" / name for name in ("train.memory_flow.svg.gz", "train.static_profile.gz")
)
PATHS = [*sorted(TORCH.glob("*.pt.trace.json*")), DDP2, EXAMPLE]

Event = dict[str, object]


def title(path: Path) -> str:
    """A short name of a sample."""
    return path.name.split(".")[0]


def slice_of(category: str, name: str, start: int, dur: int, **args: object) -> Event:
    """A slice of a host thread, or of stream 7 of device 0 where args say so."""
    place = {"pid": 0, "tid": 7} if "stream" in args else {"pid": 1, "tid": 1}
    return {"ph": "X", "cat": category, "name": name, "ts": start, "dur": dur, "args": args, **place}


def device_events() -> list[Event]:
    """Two steps of 100 us with one kernel, one copy and one collective each, all launched and linked."""
    events = []
    for step in (1, 2):
        at = 100 * step
        events += [
            slice_of("user_annotation", f"ProfilerStep#{step}", at, 100),
            slice_of("cpu_op", "aten::mm", at + 5, 30, **{"External id": step, "Input Dims": [[2, 3], [3, 4]]}),
        ]
        work = (
            ("kernel", "gemm", 20),
            ("gpu_memcpy", "Memcpy HtoD", 10),
            ("kernel", "ncclDevKernel_AllReduce_Sum", 15),
        )
        for place, (category, name, dur) in enumerate(work):
            link = {"correlation": 10 * step + place, "External id": step}
            events += [
                slice_of("cuda_runtime", "cudaLaunchKernel", at + 6 + 5 * place, 2, **link),
                slice_of(category, name, at + 20 + 20 * place, dur, device=0, stream=7, **link),
            ]
    return events


def written(path: Path, events: list[Event], **header: object) -> Path:
    """A PyTorch trace made of events."""
    path.write_text(json.dumps({"schemaVersion": 1, **header, "traceEvents": events}))
    return path
