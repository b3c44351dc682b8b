"""What a slice is, told from its name: collectives, waits, launches, data loading, steps, compilation.

An importer says what a slice's category means (`op`, `scope`, `kernel`, `call` ...); the rules here refine it. Names
are looked at once each, not once per slice.
"""

from __future__ import annotations

import re

CALL = "call"
"""Base kind of a runtime or driver call; becomes launch, sync or host_other."""
MIRROR = "mirror"
"""Base kind of a range that repeats another thread's; stays a scope, whatever its name says."""

_COLLECTIVE = re.compile(
    r"nccl|rccl|hccl|hcom_|oneccl|onecclkernel|ccl_kernel|gloo"
    r"|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|all2all|send_?recv"
    r"|cross_device_reduce|quick_?reduce|mscclpp|nvshmem|deep_?ep(?:::|_)|multimem_",
    re.IGNORECASE,
)
"""Device kernels of collective libraries and the custom ones of serving engines (vLLM, SGLang, DeepEP, MSCCL++)."""
_NOT_COLLECTIVE = re.compile(r"\bElementwiseKernel|elementwise_kernel", re.IGNORECASE)

_HOST_COLLECTIVE = re.compile(r"^(?:gloo|mpi|ucc|ccl|oneccl):", re.IGNORECASE)
"""Collectives that the host itself runs (those of device libraries only enqueue)."""

_STEP = re.compile(r"^ProfilerStep#(\d+)$")
_GENERIC_STEP = re.compile(r"^(?:train(?:ing)?[ _])?(?:step|iteration|iter)[ _:#]*(\d+)$", re.IGNORECASE)

_LOADER = re.compile(r"^enumerate\(DataLoader\)#")
_DATA_WORDS = frozenset({"data", "load", "loader", "dataloader", "fetch", "batch", "input", "next"})
_OF_BATCHES = re.compile(r"(?i)batch(?:ed)?[_ ]?(?:norm|mat_?mul)")
"""Functions that are named for batches and load none."""
_WORD = re.compile(r"[A-Za-z]+")
_OPTIMIZER_RANGE = re.compile(r"^Optimizer\.(?:step|zero_grad)#")
_RECORDED_RANGE = re.compile(r"^(?:module|function): ")
"""Ranges that laptime's recorder puts around modules and functions; Kineto writes them as operators."""

_SYNC_CALL = re.compile(
    r"Synchronize"  # cuda*, cu*, hip*, ze*: stream, device, context, event
    r"|^(?:cuda|hip|cu)Memcpy(?:WithStream|2D|3D|Peer|[DH]to[DH]|ToSymbol|FromSymbol|ToArray)*(?:_v\d+|_spt)*$"
    r"|^(?:ur|pi)(?:EventWait|EventsWait|QueueFinish)$|^aclrtSynchronize|^zeFence\w*Synchronize",
)
_LAUNCH_CALL = re.compile(
    r"Launch|Memcpy\w*Async|Memset|^urEnqueue(?!Events)|^zeCommandListAppend(?!Barrier|Wait|Signal)"
    r"|^runFunction\b|^aclnn|^hipExtModule|^Node@launch$"
)
_COMPILE = re.compile(r"\(dynamo_timed\)$|^torch/_dynamo/convert_frame\.py\(\d+\): (?:_compile|compile_inner)$")
_EVENT_WAIT = re.compile(r"^(?:Stream Wait Event|Event (?:Sync|Record)|event_(?:wait|record))$", re.IGNORECASE)


def kind_of(base: str, name: str, *, has_collective_args: bool = False) -> str:
    """The kind of a slice whose category means `base`; arguments count before names."""
    if base in ("kernel", "copy", "memset"):
        return _device_kind(base, name, has_collective_args)
    if base == CALL:
        return "sync" if _SYNC_CALL.search(name) else "launch" if _LAUNCH_CALL.search(name) else "host_other"
    if base in ("scope", "op"):
        return _range_kind(base, name)
    if base == MIRROR:
        return "scope"
    if base == "python" and _COMPILE.search(name):
        return "compile"
    return base


def _device_kind(base: str, name: str, has_collective_args: bool) -> str:
    if _EVENT_WAIT.match(name):
        return "device_other"
    if name == "dma_request":  # MTIA: a transfer between host and device
        return "copy"
    if base == "kernel" and (has_collective_args or is_collective(name)):
        return "communication"
    return base


def _range_kind(base: str, name: str) -> str:
    if step_number(name) is not None:
        return "step"
    if _LOADER.match(name):
        return "data"
    if _HOST_COLLECTIVE.match(name):
        return "communication"
    if base == "op":
        return "scope" if _OPTIMIZER_RANGE.match(name) or _RECORDED_RANGE.match(name) else "op"
    if _COMPILE.search(name):
        return "compile"
    return "data" if _names_data(name) else "scope"


def is_loading(name: str) -> bool:
    """Whether a range is PyTorch's annotation of a loader's `next`."""
    return bool(_LOADER.match(name))


def is_collective(name: str) -> bool:
    """Whether a device kernel's name is that of a collective; unknown names are not."""
    return bool(_COLLECTIVE.search(name)) and not _NOT_COLLECTIVE.search(name)


def step_number(name: str) -> int | None:
    """Number of a step marker; None where the name marks no step."""
    match = _STEP.match(name) or _GENERIC_STEP.match(name)
    return int(match[1]) if match and len(match[1]) < 18 else None


def is_profiler_step(name: str) -> bool:
    """Whether the marker is PyTorch's own, which counts before any other."""
    return bool(_STEP.match(name))


def _names_data(name: str) -> bool:
    if _COLLECTIVE.search(name):
        return False
    return any(word.lower() in _DATA_WORDS for word in _WORD.findall(_OF_BATCHES.sub("", name)))


_BACKWARD_NODE = re.compile(r"^autograd::engine::evaluate_function: |Backward\d*$")
_BACKWARD_RANGE = re.compile(r"^\W*(?:backward|bwd)\b\W*$|^module: .* \(backward\)$", re.IGNORECASE)
_FORWARD_RANGE = re.compile(r"^\W*(?:forward|fwd)\b\W*$|\.forward$", re.IGNORECASE)


def phase_root(kind: str, name: str) -> str | None:
    """Phase that a slice and all it contains belong to; None where the name tells none."""
    if kind == "op" and _BACKWARD_NODE.search(name):
        return "backward"
    if kind == "scope":
        if _OPTIMIZER_RANGE.match(name):
            return "optimizer"
        if _BACKWARD_RANGE.match(name):
            return "backward"
        if _FORWARD_RANGE.search(name):
            return "forward"
    return None


_FRAMEWORK_RANGE = re.compile(
    r"^(?:\W*Call CompiledFxGraph|Torch-Compiled Region|CompiledFunction|TorchDynamo"
    r"|(?:nccl|rccl|hccl|gloo|mpi|ucc|ccl):)"
)


def is_framework_range(name: str) -> bool:
    """Whether a range was put there by the framework around one of its parts, once per layer or collective."""
    return bool(_FRAMEWORK_RANGE.match(name))


def is_autograd_node(name: str) -> bool:
    """Whether an op is one node of the backward pass."""
    return bool(_BACKWARD_NODE.search(name))


def is_optimizer_step(name: str) -> bool:
    """Whether a range is PyTorch's annotation of an optimizer's step."""
    return name.startswith("Optimizer.step#")
