"""What the rows of Ascend's timelines mean: categories, and what a task of the device is where no table names it.

Only tasks of the cores compute. Copies are copies; waits and records of events, notifications and the parts of
collectives (whose whole is a slice of its own) are no device work.
"""

from __future__ import annotations

import re

from laptime.importers.categories import Meaning, kineto_meaning
from laptime.model.classify import CALL

_MEANINGS = {
    "cann_runtime": Meaning("thread", CALL),
    "npu_sync": Meaning("thread", "sync"),
    "cann_launch": Meaning("thread", "launch"),
    "queue": Meaning("thread", "host_other"),
    "enqueue": Meaning("thread", "host_other"),
    "dequeue": Meaning("thread", "host_other"),
    "kernel": Meaning("stream", "kernel"),
    "npu_memcpy": Meaning("stream", "copy"),
    "npu_memset": Meaning("stream", "memset"),
    "device_task": Meaning("stream", "device_other"),
    "collective_comm": Meaning("stream", "communication"),
    "collective_part": Meaning("annotation", "device_other"),
    "overlap_analysis": Meaning("span", "device_other"),
    "scope_layer": Meaning("span", "scope"),
}
_BLOCKING_CALL = re.compile(r"aclrt(?:Synchronize\w*|Memcpy|Memcpy2d|Memset|MemcpyBatch)$")
_LAUNCHING_CALL = re.compile(r"^Node@launch$|^Hccl@Launch|aclrt(?:Memcpy|Memset)\w*Async$", re.IGNORECASE)
_KERNEL = re.compile(
    r"^(?:KERNEL_)?(?:AI_?CORE|AI_?CPU|AI_VECTOR_CORE|AIVEC|AIV|AIC|MIX_AI[CV]|VECTOR_CORE)$|^DSA(?:_SQE)?$|^Other$"
    r"|^FFTS_PLUS$",
    re.IGNORECASE,
)
_COPY = re.compile(r"MEMCPY|MEMORY_COPY|^PCIE_DMA", re.IGNORECASE)
_MEMSET = re.compile(r"MEMSET", re.IGNORECASE)


def meaning_of(category: str) -> Meaning:
    """Meaning of a category of Ascend's timelines; those of the host are PyTorch's."""
    return _MEANINGS.get(category) or kineto_meaning(category)


def category_of_call(name: str) -> str:
    """Category of a call into CANN; copies that are not asynchronous wait like synchronisations."""
    if _BLOCKING_CALL.search(name):
        return "npu_sync"
    return "cann_launch" if _LAUNCHING_CALL.search(name) else "cann_runtime"


def task_category(name: str, task_type: str) -> str:
    """`kernel`, `npu_memcpy`, `npu_memset` or `device_task` (no work of the device)."""
    if _COPY.search(name) and not _KERNEL.match(task_type):
        return "npu_memcpy"
    if _KERNEL.match(task_type):
        return "kernel"
    if _COPY.search(task_type):
        return "npu_memcpy"
    return "npu_memset" if _MEMSET.search(task_type) or name.upper().startswith("MEMSET") else "device_task"
