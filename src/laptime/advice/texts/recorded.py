"""The Chinese of what a report lists as not recorded; what is not here is shown as it is."""

from __future__ import annotations

from collections.abc import Mapping

CHINESE_OF: Mapping[str, str] = {
    "device kernels": "设备上的kernel",
    "launches of the device kernels": "kernel的下发",
    "step markers": "迭代标记",
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
    "call prof.step() at the end of each training step": "在每个训练迭代结束时调用prof.step()",
    # ---- MegEngine ----
    "Profiler(profile_device=True), the default, around training that is not traced by trace()": (
        "用Profiler(profile_device=True)（默认）包住未经trace()的训练"
    ),
    "call profiler.step() at the end of each step, or put each step in scope('step0'), ...": (
        "在每个迭代结束时调用profiler.step()，或将每个迭代放入scope('step0')等"
    ),
    "Profiler(format='memory_flow.svg') in a run of its own; Profiler(sample_rate=10) for a curve": (
        "单独运行一次Profiler(format='memory_flow.svg')；需要曲线时用Profiler(sample_rate=10)"
    ),
    # ---- MindSpore ----
    "profile on an Ascend device with op_time=True": "在Ascend设备上用op_time=True记录",
    "profile on an Ascend device; on the CPU MindSpore marks no steps": (
        "在Ascend设备上记录；MindSpore在CPU上不标记迭代"
    ),
    "mindspore.Profiler(with_stack=True), MindSpore 2.3 or newer": (
        "mindspore.Profiler(with_stack=True)，MindSpore 2.3或更新版本"
    ),
    # ---- Ascend ----
    "kernels": "设备上的kernel",
    **{
        f"keep {files}: from {module}.profiler.profiler import analyse; analyse(DIR)": (
            f"保留{shown}：from {module}.profiler.profiler import analyse; analyse(DIR)"
        )
        for module in ("torch_npu", "mindspore")
        for files, shown in (
            ("kernel_details.csv or trace_view.json", "kernel_details.csv或trace_view.json"),
            ("trace_view.json", "trace_view.json"),
        )
    },
    "operators and calls of the host": "主机的算子和调用",
    "types and shapes of kernels": "kernel的类型和形状",
    "what collectives waited for": "集合通信等待的时间",
    "times of operators on the device, and with them the steps' budgets (hwts log)": (
        "算子在设备上的时间，以及由此得出的迭代时间构成（hwts log）"
    ),
    "steps and their communication (training_trace)": "迭代及其通信（training_trace）",
    "which operator a task belongs to, and with it the steps' budgets (task_desc_info)": (
        "任务所属的算子，以及由此得出的迭代时间构成（task_desc_info）"
    ),
    "shapes, formats and data types of operators (graph_desc_info)": "算子的形状、格式和数据类型（graph_desc_info）",
    "names of the step points and of communication (point)": "迭代打点和通信的名称（point）",
    "kernels of the AI CPU (DATA_PREPROCESS AICPU)": "AI CPU的kernel（DATA_PREPROCESS AICPU）",
    "the chip's queue when batches are fetched (DATA_PREPROCESS AICPUMI)": (
        "取批次时的数据队列（DATA_PREPROCESS AICPUMI）"
    ),
    "batches that wait to be sent (DATA_PREPROCESS TDT)": "等待发送的批次（DATA_PREPROCESS TDT）",
    "PROFILING_OPTIONS=training_trace:task_trace (the Profiler sets it; create it before the network is built)": (
        "PROFILING_OPTIONS=training_trace:task_trace（由Profiler设置；请在构建网络之前创建Profiler）"
    ),
    "copy the Framework.* files too; older installations keep them in container/DEVICE/data beside the JOB folder": (
        "同时复制Framework.*文件；较早的安装将其放在JOB文件夹旁的container/DEVICE/data中"
    ),
    "AICPU_PROFILING_MODE=true (the Profiler sets it; create it before the network is built)": (
        "AICPU_PROFILING_MODE=true（由Profiler设置；请在构建网络之前创建Profiler）"
    ),
    "tasks of the device (task_time, msprof or op_summary), and with them the steps' budgets": (
        "设备的任务（task_time、msprof或op_summary），以及由此得出的迭代时间构成"
    ),
    "msprof --export=on --output=PROF_DIR": "运行msprof --export=on --output=PROF_DIR",
    "executions on the device (output_timeline_data, timeline_display), and with them the steps' budgets": (
        "设备上的执行（output_timeline_data、timeline_display），以及由此得出的迭代时间构成"
    ),
    "mindspore.Profiler(op_time=True), then analyse(); copy the whole profiler folder": (
        "使用mindspore.Profiler(op_time=True)，然后analyse()；复制整个profiler文件夹"
    ),
    # ---- JAX, TensorFlow ----
    "jax.profiler.trace(...) on a device, with jax_platforms naming it": (
        "在设备上使用jax.profiler.trace(...)，并用jax_platforms指定该设备"
    ),
    "with jax.profiler.StepTraceAnnotation('train', step_num=i): around each step": (
        "用with jax.profiler.StepTraceAnnotation('train', step_num=i):包住每个迭代"
    ),
    "with tf.profiler.experimental.Trace('train', step_num=i, _r=1): around each step": (
        "用with tf.profiler.experimental.Trace('train', step_num=i, _r=1):包住每个迭代"
    ),
    "with torch_xla.debug.profiler.StepTrace('train', step_num=i): around each step": (
        "用with torch_xla.debug.profiler.StepTrace('train', step_num=i):包住每个迭代"
    ),
    # ---- laptime ----
    "if there was a device: laptime.Profiler(profile_device=True), the default": (
        "若有设备：laptime.Profiler(profile_device=True)（默认）"
    ),
    "laptime.Profiler() without activities= records the host as well": (
        "不带activities=的laptime.Profiler()也会记录主机"
    ),
    "call prof.step() at the end of each step, or laptime record --steps-from NAME": (
        "在每个迭代结束时调用prof.step()，或使用laptime record --steps-from NAME"
    ),
    "laptime.Profiler(record_shapes=True), the default": "laptime.Profiler(record_shapes=True)（默认）",
    "for batch in prof.watch(loader):  # a loader of the framework's own": (
        "for batch in prof.watch(loader):  # 框架自带的loader"
    ),
    "add one event named 'step N' around each step": "在每个迭代外加一个名为'step N'的事件",
}
"""By the English text."""
