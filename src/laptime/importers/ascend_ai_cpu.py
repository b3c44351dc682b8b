"""Kernels of the AI CPU: the same slices whether a raw job or a processed folder told them.

They lie on a lane of the device named `AI CPU`, which has no stream number, with category `aicpu`. Kernels that wait
for data or prepare its queue are `data`, all others `kernel`; runs without a name are `device_other`, in no sum.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from laptime.model.arrays import IntArray
from laptime.model.builder import BASE_KIND_CODE, TraceBuilder
from laptime.model.tracks import TrackKey
from laptime.model.vocabulary import NULL

AI_CPU = "ai_cpu"
"""`device_kind` of its operators."""
AI_CPU_LANE = "AI CPU"
_CATEGORY = "aicpu"
_NAMELESS = "AI CPU task"
_QUEUE_OPS = re.compile(r"GetNext|InitData|EndOfSequence|.*Queue")


@dataclass(frozen=True)
class AiCpuRuns:
    """Runs of kernels, one entry each, in ns."""

    names: Sequence[str | None]
    """Short names."""
    ops: IntArray
    start_ns: IntArray
    dur_ns: IntArray
    args: Sequence[str]
    """JSON of `ai_cpu_args`; empty where nothing is known."""


def ai_cpu_kind(name: str | None) -> str:
    """Kind of a kernel by its name, short or full: no work of the device where it waits for data or has no name."""
    if name is None:
        return "device_other"
    return "data" if _QUEUE_OPS.match(name.rsplit("/", 1)[-1]) else "kernel"


def ai_cpu_args(times_ns: Mapping[str, int]) -> str:
    """Arguments of a run from its `run_start`, `run_end`, `dispatch` and `total`: in us, as the logs have them."""
    known = {f"{key}_us": ns for key, ns in times_ns.items() if ns != NULL}
    return json.dumps({key: ns / 1000 if ns % 1000 else ns // 1000 for key, ns in known.items()})


def add_ai_cpu_slices(runs: AiCpuRuns, device: int, builder: TraceBuilder) -> None:
    """Adds the runs to the lane of the device."""
    count = len(runs.names)
    if not count:
        return
    track = builder.tracks.code(TrackKey("stream", str(device), AI_CPU_LANE, device=device, name=AI_CPU_LANE))
    texts = [text.encode() for text in runs.args]
    lengths = np.fromiter((len(text) for text in texts), np.int64, count)
    builder.add_slices(
        count,
        {
            "track": np.full(count, track, np.int32),
            "start": runs.start_ns,
            "dur": runs.dur_ns,
            "name": builder.names.codes(name or _NAMELESS for name in runs.names),
            "category": np.full(count, builder.categories.code(_CATEGORY), np.int32),
            "kind": np.array([BASE_KIND_CODE[ai_cpu_kind(name)] for name in runs.names], np.int8),
            "op": runs.ops.astype(np.int32),
            "args_start": builder.spool.add(b"".join(texts)) + np.cumsum(lengths) - lengths,
            "args_length": lengths,
        },
    )
