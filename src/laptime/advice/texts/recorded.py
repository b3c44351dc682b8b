"""The Chinese of what a report lists as not recorded; what is not here is shown as it is."""

from __future__ import annotations

from collections.abc import Mapping

CHINESE_OF: Mapping[str, str] = {
    "device kernels": "设备上的kernel",
    "launches of the device kernels": "kernel的下发",
    "step markers": "step标记",
    "input shapes": "输入形状",
    "call stacks": "调用栈",
    "memory": "内存",
    "data queues": "数据队列",
    # ---- PyTorch ----
    "if there was a device: activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]": (
        "若有设备：activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"
    ),
    "activities=[ProfilerActivity.CPU, ...] in the same profile": (
        "在同一次记录中使用activities=[ProfilerActivity.CPU, ...]"
    ),
    "call prof.step() at the end of each training step": "在每个训练step结束时调用prof.step()",
    # ---- MegEngine ----
    "Profiler(profile_device=True), the default, around training that is not traced by trace()": (
        "用Profiler(profile_device=True)（默认）包住未经trace()的训练"
    ),
    "call profiler.step() at the end of each step, or put each step in scope('step0'), ...": (
        "在每个step结束时调用profiler.step()，或将每个step放入scope('step0')等"
    ),
    "Profiler(format='memory_flow.svg') in a run of its own; Profiler(sample_rate=10) for a curve": (
        "单独运行一次Profiler(format='memory_flow.svg')；需要曲线时用Profiler(sample_rate=10)"
    ),
    # ---- MindSpore ----
    "profile on an Ascend device with op_time=True": "在Ascend设备上用op_time=True记录",
    "profile on an Ascend device; on the CPU MindSpore marks no steps": (
        "在Ascend设备上记录；MindSpore在CPU上不标记step"
    ),
    "mindspore.Profiler(with_stack=True), MindSpore 2.3 or newer": (
        "mindspore.Profiler(with_stack=True)，MindSpore 2.3或更新版本"
    ),
    # ---- JAX, TensorFlow ----
    "jax.profiler.trace(...) on a device, with jax_platforms naming it": (
        "在设备上使用jax.profiler.trace(...)，并用jax_platforms指定该设备"
    ),
    "with jax.profiler.StepTraceAnnotation('train', step_num=i): around each step": (
        "用with jax.profiler.StepTraceAnnotation('train', step_num=i):包住每个step"
    ),
    "with tf.profiler.experimental.Trace('train', step_num=i, _r=1): around each step": (
        "用with tf.profiler.experimental.Trace('train', step_num=i, _r=1):包住每个step"
    ),
    "with torch_xla.debug.profiler.StepTrace('train', step_num=i): around each step": (
        "用with torch_xla.debug.profiler.StepTrace('train', step_num=i):包住每个step"
    ),
    # ---- laptime ----
    "if there was a device: laptime.Profiler(profile_device=True), the default": (
        "若有设备：laptime.Profiler(profile_device=True)（默认）"
    ),
    "laptime.Profiler() without activities= records the host as well": (
        "不带activities=的laptime.Profiler()也会记录主机"
    ),
    "call prof.step() at the end of each step, or laptime record --steps-from NAME": (
        "在每个step结束时调用prof.step()，或使用laptime record --steps-from NAME"
    ),
    "laptime.Profiler(record_shapes=True), the default": "laptime.Profiler(record_shapes=True)（默认）",
    "for batch in prof.watch(loader): with a loader of the framework's own": (
        "对框架自带的loader使用for batch in prof.watch(loader):"
    ),
    "add one event named 'step N' around each step": "在每个step外加一个名为'step N'的事件",
}
"""By the English text."""
