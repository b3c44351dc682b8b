"""What a recording lacks, and the argument of the profiler that would record it."""

from __future__ import annotations

from collections.abc import Callable

from laptime.model.trace import Run, Trace


def not_recorded(run: Run) -> list[dict[str, str]]:
    """`{what, how_to_record}` for everything that no rank of the run holds."""
    torch = run.traces[0].meta.get("framework") == "pytorch"
    missing = []
    for what, how, is_there in _PARTS:
        if not any(is_there(trace) for trace in run.traces):
            missing.append({"what": what, "how_to_record": how if torch else _ELSEWHERE.get(what, how)})
    return missing


def _has_device(trace: Trace) -> bool:
    return "stream" in trace.tracks.objects("kind")


def _has_markers(trace: Trace) -> bool:
    return "marked" in trace.steps.objects("source")


def _has_shapes(trace: Trace) -> bool:
    return any(shape is not None for shape in trace.ops.objects("input_shapes"))


def _has_stacks(trace: Trace) -> bool:
    return trace.table("stacks").row_count > 0


def _has_memory(trace: Trace) -> bool:
    return trace.table("allocations").row_count > 0 or trace.table("counters").row_count > 0


def _has_launches(trace: Trace) -> bool:
    return trace.flows.row_count > 0 or not _has_device(trace)


_PARTS: tuple[tuple[str, str, Callable[[Trace], bool]], ...] = (
    ("device kernels", "if there was a device: activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]", _has_device),
    ("launches of the device kernels", "activities=[ProfilerActivity.CPU, ...] in the same profile", _has_launches),
    ("step markers", "call prof.step() at the end of each training step", _has_markers),
    ("input shapes", "torch.profiler.profile(record_shapes=True)", _has_shapes),
    ("call stacks", "torch.profiler.profile(with_stack=True)", _has_stacks),
    ("memory", "torch.profiler.profile(profile_memory=True)", _has_memory),
)
_ELSEWHERE = {"step markers": "add one event named 'step N' around each step"}
