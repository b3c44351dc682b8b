"""What the `cat` of a Chrome trace event means, for PyTorch's profiler of all eras and vendors.

Kineto renamed its categories several times (Operator, Runtime, Kernel before 1.10; cpu_op, cuda_runtime, kernel since)
and every accelerator added its own (hip, xpu, mtia, hpu, privateuse1 for others). Names: libkineto's ActivityType.cpp.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from laptime.model.classify import CALL


@dataclass(frozen=True)
class Meaning:
    """Where slices of a category lie (a track kind) and their base kind."""

    place: str
    kind: str
    known: bool = True


_OP = Meaning("thread", "op")
_CALL = Meaning("thread", CALL)
_KERNEL = Meaning("stream", "kernel")
_MEANINGS = {
    "operator": _OP,
    "cpu_op": _OP,
    "user_annotation": Meaning("thread", "scope"),
    "gpu_user_annotation": Meaning("annotation", "scope"),
    "python_function": Meaning("thread", "python"),
    "runtime": _CALL,
    "kernel": _KERNEL,
    "concurrent_kernel": _KERNEL,
    "hpu_op": _KERNEL,
    "mtia_ccp_events": _KERNEL,
    "collective_comm": Meaning("stream", "communication"),
    "memcpy": Meaning("stream", "copy"),
    "memset": Meaning("stream", "memset"),
    "cuda_sync": Meaning("sync", "sync"),
    "cuda_event": Meaning("sync", "sync"),
    "cuda_profiler_range": Meaning("annotation", "device_other"),
    "mtia_insight": Meaning("annotation", "device_other"),
    "overhead": Meaning("span", "host_other"),
    "trace": Meaning("span", "host_other"),
}
_VENDOR_PREFIX = re.compile(r"^(?:gpu|cuda|hip|roc|xpu|mtia|hpu|glow|npu|musa|privateuse1|xla)_")
_CALL_SUFFIX = re.compile(r"_(?:runtime|driver)$")

_PLAIN_KINDS = {"python": Meaning("thread", "python"), "python_function": Meaning("thread", "python")}
_UNCATEGORISED = Meaning("thread", "op")


def kineto_meaning(category: str) -> Meaning:
    """Meaning of a category in a PyTorch trace; unknown ones are other host work."""
    text = category.lower()
    if text in _MEANINGS:
        return _MEANINGS[text]
    if _CALL_SUFFIX.search(text):
        return _CALL
    bare = _VENDOR_PREFIX.sub("", text)
    if bare == "user_annotation":
        return _MEANINGS["gpu_user_annotation"]
    if bare in ("kernel", "memcpy", "memset"):
        return _MEANINGS[bare]
    if bare == "sync":
        return _MEANINGS["cuda_sync"]
    return Meaning("thread", "host_other", known=False)


def chrome_meaning(category: str) -> Meaning:
    """Meaning of a category in a trace of unknown origin: PyTorch's where it is one of them, else an operation."""
    meaning = kineto_meaning(category) if category else _UNCATEGORISED
    if meaning.known:
        return meaning
    return _PLAIN_KINDS.get(category.lower(), _UNCATEGORISED)
