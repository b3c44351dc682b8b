"""What a recording lacks, and the argument of the profiler that would record it."""

from __future__ import annotations

import re
from collections.abc import Callable

from laptime.analyses.device import kernels_recorded
from laptime.model.trace import Run, Trace


def not_recorded(run: Run) -> list[dict[str, str]]:
    """`{what, how_to_record}` for everything that no rank of the run holds and its framework can record."""
    how = _how(run.traces[0])
    missing = [
        {"what": what, "how_to_record": how[what]}
        for what, is_there in _PARTS
        if what in how and not any(is_there(trace) for trace in run.traces)
    ]
    for trace in run.traces:
        told = trace.meta.get("not_recorded")
        missing += [row for row in told if row not in missing] if isinstance(told, list) else []
    return missing


def how_to_mark_steps(trace: Trace) -> str:
    """What marks training steps in a recording of the trace's framework."""
    return _how(trace)["step markers"]


def _how(trace: Trace) -> dict[str, str]:
    if trace.meta.get("format") == "laptime":
        own = _BY_LAPTIME
        return {what: own[what] for what in _RECORDED_WITH.get(str(trace.meta.get("framework")), _BY_ALL)}
    if trace.meta.get("format") == "xplane" and trace.meta.get("framework") == "pytorch":
        return _BY_TORCH_XLA
    return _HOW.get(str(trace.meta.get("framework")), _BY_OTHERS)


def _has_device(trace: Trace) -> bool:
    if not kernels_recorded(trace) and trace.meta.get("framework") == "megengine":
        return False
    rows = zip(trace.tracks.objects("kind"), trace.tracks["slice_count"].tolist(), strict=True)
    return any(kind == "stream" and count for kind, count in rows)


def _has_markers(trace: Trace) -> bool:
    return "marked" in trace.steps.objects("source")


def _has_shapes(trace: Trace) -> bool:
    return any(shape is not None for shape in trace.ops.objects("input_shapes"))


def _has_stacks(trace: Trace) -> bool:
    return trace.table("stacks").row_count > 0


def _has_memory(trace: Trace) -> bool:
    if trace.table("allocations").row_count:
        return True
    tracks = zip(trace.tracks.objects("kind"), trace.tracks.objects("name"), strict=True)
    return any(kind == "counter" and _MEMORY_COUNTER.search(str(name)) for kind, name in tracks)


def _has_launches(trace: Trace) -> bool:
    return trace.flows.row_count > 0 or not _has_device(trace) or trace.meta.get("records_launches") is False


def _has_queues(trace: Trace) -> bool:
    return trace.table("queue_samples").row_count > 0


_MEMORY_COUNTER = re.compile(r"mem|alloc|reserved", re.IGNORECASE)
_PARTS: tuple[tuple[str, Callable[[Trace], bool]], ...] = (
    ("device kernels", _has_device),
    ("launches of the device kernels", _has_launches),
    ("step markers", _has_markers),
    ("input shapes", _has_shapes),
    ("call stacks", _has_stacks),
    ("memory", _has_memory),
    ("data queues", _has_queues),
)
_HOW = {
    "pytorch": {
        "device kernels": "if there was a device: activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",
        "launches of the device kernels": "activities=[ProfilerActivity.CPU, ...] in the same profile",
        "step markers": "call prof.step() at the end of each training step",
        "input shapes": "torch.profiler.profile(record_shapes=True)",
        "call stacks": "torch.profiler.profile(with_stack=True)",
        "memory": "torch.profiler.profile(profile_memory=True)",
    },
    "megengine": {
        "device kernels": "Profiler(profile_device=True), the default, around training that is not traced by trace()",
        "step markers": "call profiler.step() at the end of each step, or put each step in scope('step0'), ...",
        "call stacks": "Profiler(with_backtrace=True)",
        "memory": "Profiler(format='memory_flow.svg') in a run of its own; Profiler(sample_rate=10) for a curve",
    },
    "mindspore": {
        "device kernels": "profile on an Ascend device with op_time=True",
        "step markers": "profile on an Ascend device; on the CPU MindSpore marks no steps",
        "call stacks": "mindspore.Profiler(with_stack=True), MindSpore 2.3 or newer",
        "memory": "mindspore.Profiler(profile_memory=True)",
        "data queues": "mindspore.Profiler(data_process=True)",
    },
    "jax": {
        "device kernels": "jax.profiler.trace(...) on a device, with jax_platforms naming it",
        "launches of the device kernels": "ProfileOptions: host_tracer_level = 2",
        "step markers": "with jax.profiler.StepTraceAnnotation('train', step_num=i): around each step",
        "input shapes": "ProfileOptions: enable_hlo_proto = True",
        "call stacks": "ProfileOptions: python_tracer_level = 1",
    },
    "tensorflow": {
        "step markers": "with tf.profiler.experimental.Trace('train', step_num=i, _r=1): around each step",
        "call stacks": "tf.profiler.experimental.ProfilerOptions(python_tracer_level=1)",
    },
}
"""What each framework's own profiler can record, and by which argument."""
_BY_LAPTIME = {
    "device kernels": "if there was a device: laptime.Profiler(profile_device=True), the default",
    "launches of the device kernels": "laptime.Profiler() without activities= records the host as well",
    "step markers": "call prof.step() at the end of each step, or laptime record --steps-from NAME",
    "input shapes": "laptime.Profiler(record_shapes=True), the default",
    "call stacks": "laptime.Profiler(with_backtrace=True)",
    "memory": "laptime.Profiler(profile_memory=True)",
    "data queues": "for batch in prof.watch(loader):  # a loader of the framework's own",
}
_BY_ALL = ("step markers", "call stacks")
_RECORDED_WITH = {
    "pytorch": tuple(_BY_LAPTIME),
    "megengine": ("device kernels", *_BY_ALL, "memory", "data queues"),
    "mindspore": (*_BY_ALL, "data queues"),
    "jax": ("device kernels", *_BY_ALL),
}
_BY_TORCH_XLA = {
    "step markers": "with torch_xla.debug.profiler.StepTrace('train', step_num=i): around each step",
}
_BY_OTHERS = {"step markers": "add one event named 'step N' around each step"}
