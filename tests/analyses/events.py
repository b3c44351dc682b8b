"""Events of a made-up recording; times in whole microseconds, [start, end)."""

from __future__ import annotations

from typing import Any

Event = dict[str, Any]

MAIN, OTHER = 1, 2
US = 1000
"""Nanoseconds of the microsecond in which these traces are written."""


def host(category: str, name: str, start: int, end: int, *, tid: int = MAIN, **args: Any) -> Event:
    """A slice of a host thread."""
    event = {"ph": "X", "cat": category, "name": name, "pid": 10, "tid": tid, "ts": start, "dur": end - start}
    return {**event, "args": args} if args else event


def step(number: int, start: int, end: int, *, tid: int = MAIN) -> Event:
    """A marker as torch.profiler writes it."""
    return host("user_annotation", f"ProfilerStep#{number}", start, end, tid=tid)


def op(name: str, start: int, end: int, *, tid: int = MAIN, **args: Any) -> Event:
    """An operator."""
    return host("cpu_op", name, start, end, tid=tid, **args)


def scope(name: str, start: int, end: int, *, tid: int = MAIN) -> Event:
    """A range of the user's or of torch."""
    return host("user_annotation", name, start, end, tid=tid)


def data(start: int, end: int, *, tid: int = MAIN) -> Event:
    """A wait for the data loader."""
    return scope("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", start, end, tid=tid)


def sync(start: int, end: int, *, tid: int = MAIN) -> Event:
    """A blocking wait for the device."""
    return host("cuda_runtime", "cudaStreamSynchronize", start, end, tid=tid, correlation=900_000 + start)


def launch(correlation: int, start: int, *, tid: int = MAIN) -> Event:
    """The call that launches a device slice; it takes one microsecond."""
    return host("cuda_runtime", "cudaLaunchKernel", start, start + 1, tid=tid, correlation=correlation)


def kernel(
    correlation: int | None,
    start: int,
    end: int,
    *,
    name: str = "gemm",
    category: str = "kernel",
    device: int = 0,
    stream: int = 7,
) -> Event:
    """A slice of a device's stream; without correlation its launch was not recorded."""
    args = {"device": device, "stream": stream}
    if correlation is not None:
        args["correlation"] = correlation
    place = {"pid": device, "tid": stream}
    return {"ph": "X", "cat": category, "name": name, **place, "ts": start, "dur": end - start, "args": args}
