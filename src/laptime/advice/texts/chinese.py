"""The Chinese texts; the terms are those of the MindInsight Profiler guide where it has one."""

from __future__ import annotations

from collections.abc import Mapping

_MINDSPORE = {
    "map": "增加map的num_parallel_workers，用C++变换代替Python变换，或设置python_multiprocessing=True",
    "batch": "增加prefetch_size（ds.config.set_prefetch_size）和batch的num_parallel_workers",
    "generator": "增加GeneratorDataset的num_parallel_workers，加快数据源，或将数据转换为MindRecord",
    "shuffle": "减小shuffle的buffer_size，或在读取时打乱（数据集的shuffle=True）",
    "any": "增加数据集的num_parallel_workers，使用更快的存储，或将数据转换为MindRecord",
}
_PYTORCH = {
    "fetch": "增加DataLoader的num_workers，使用更快的存储，或简化数据集的__getitem__",
    "collate": "简化collate_fn，让数据集直接返回整个批次（__getitems__），或增加num_workers",
    "pin": "减少或缩小要发送的张量，或只对要发送到设备的张量使用锁页内存；锁页由单个线程完成",
    "any": "增加DataLoader的num_workers或prefetch_factor",
}
_MEGENGINE = {
    "transform": "增加DataLoader的num_workers，或简化transform",
    "collate": "简化collator，或增加DataLoader的num_workers",
    "any": "增加DataLoader的num_workers，或加快fetch、transform、collate中最慢的一个",
}
_ITERATOR = {"any": "用更多线程或进程准备批次，或加快准备过程"}
_REMEDIES = {
    "mindspore": _MINDSPORE,
    "pytorch": _PYTORCH,
    "megengine": _MEGENGINE,
    "jax": _ITERATOR,
    "python": _ITERATOR,
}

_TEXTS = {
    # ---- 数据 ----
    "data_wait.title": "训练等待数据：每个迭代有{time}（{share}）",
    "data_wait.fix": "用更多线程或进程提前准备批次，使训练总能立即取到数据。",
    "data_wait.fix.pytorch": (
        "增加DataLoader的num_workers和prefetch_factor，设置persistent_workers=True和pin_memory=True，或简化数据集的"
        "__getitem__。"
    ),
    "data_wait.fix.pytorch.no_workers": (
        "将DataLoader的num_workers设为2或更大：为0时由训练循环自己加载每个批次。再设置persistent_workers=True和"
        "pin_memory=True。"
    ),
    "data_wait.fix.megengine": "增加megengine.data.DataLoader的num_workers，简化transform，或事先准备好数据。",
    "data_wait.fix.mindspore": (
        "增加数据集算子的num_parallel_workers和ds.config.set_prefetch_size，或将数据转换为MindRecord。"
    ),
    "data_wait.fix.jax": (
        "在后台线程中加载批次并提前放到设备上（jax.device_put，或flax.jax_utils.prefetch_to_device那样的预取迭代器"
        "），或使用带prefetch的tf.data或grain。"
    ),
    "slow_process.title": "{empty}的批次遇到主机队列为空：数据处理太慢（{time}，{share}）",
    "slow_process.title.unknown": "{empty}的批次遇到主机队列为空：数据处理比训练慢",
    "slow_process.fix": "加快数据处理：更多worker，更简单的变换，更快的存储，事先准备好的数据。",
    "slow_process.fix.mindspore": (
        "增加最慢算子（laptime pipeline会指出）的num_parallel_workers和ds.config.set_prefetch_size。"
    ),
    "slow_process.fix.pytorch": "增加DataLoader的num_workers，或简化__getitem__和collate_fn。",
    "slow_process.fix.megengine": "增加DataLoader的num_workers，或简化transform和collator。",
    "slow_send.title": "主机队列有数据而数据队列为空：数据发送太慢（{time}，{share}）",
    "slow_send.title.unknown": "主机队列有数据而数据队列为空：数据发送到设备较慢",
    "slow_send.fix": "减少发送的字节：更小的类型（uint8图像，在设备上转换），更大的批次，锁页内存。",
    "slow_send.fix.mindspore": "减少发送的字节（uint8图像，在设备上归一化），并检查dataset_sink_mode和到设备的链路。",
    "slow_send.fix.pytorch": "设置pin_memory=True并用non_blocking=True复制；发送uint8，在设备上转换类型。",
    "pipeline_operator.title": "{operator}拖慢了数据处理pipeline，训练每个迭代等待{time}（{share}）",
    "pipeline_operator.title.unknown": "{operator}是数据处理pipeline中最慢的算子",
    "pipeline_operator.fix": "加快该算子：{remedy}。",
    "pipeline_operator.remedy": "增加worker，或减少其工作量",
    "processor_load.title": "训练等待数据时CPU负载为{load}（{time}，{share}）",
    "processor_load.title.unknown": "CPU负载为{load}：数据加载可能缺少CPU",
    "processor_load.fix": (
        "给数据加载留出CPU核：worker数少于核数，不在同一机器上运行其他任务，更简单或本地实现的变换，事先准备好的数据。"
    ),
    # ---- 主机 ----
    "host_sync.title": "主机在{call}中等待设备；之后设备每个迭代空闲{time}（{share}）",
    "host_sync.fix": "不要在每个迭代中读取设备上的值；必须读取时，推迟一个迭代。",
    "host_sync.fix.pytorch": (
        "在迭代中避免.item()、.cpu()、.numpy()、print(tensor)、对张量的布尔判断和nonzero()；在设备上累加并每N个"
        "迭代读取一次，从锁页内存用non_blocking=True复制。"
    ),
    "host_sync.fix.megengine": (
        "在迭代中避免.numpy()、.item()、float(tensor)、if tensor，以及对大小取决于数据的结果（cond_take）取.shape；"
        "在设备上累加并每N个迭代读取一次。"
    ),
    "host_sync.fix.jax": (
        "避免在每个迭代中调用block_until_ready()、float(loss)和np.asarray(...)；每N个迭代读取一次指标，或读取上一个"
        "迭代的指标。"
    ),
    "host_sync.fix.mindspore": "在迭代中避免.asnumpy()和打印张量；使用dataset_sink_mode=True，每N个迭代读取一次。",
    "launch_bound.title": "设备等待下发：每个迭代有{time}（{share}）是小任务之间的空隙",
    "launch_bound.fix": "减少下发次数：融合算子，增大批次，或将整个迭代作为一个编译好的图执行。",
    "launch_bound.fix.pytorch": (
        "使用torch.compile(model, mode='reduce-overhead')或torch.cuda.make_graphed_callables（CUDA graph），融合的"
        "优化器（fused=True或foreach=True），更大的批次。"
    ),
    "launch_bound.fix.megengine": (
        "用megengine.jit.trace(symbolic=True)将迭代作为图执行，增大批次，并让其选择更快的kernel（"
        "set_execution_strategy('PROFILE')，即fast_run）。"
    ),
    "launch_bound.fix.jax": "将整个迭代放入jax.jit，多个迭代放入jax.lax.scan；增大批次。",
    "launch_bound.fix.mindspore": (
        "使用图模式（set_context(mode=GRAPH_MODE)或@jit）和dataset_sink_mode=True；增大批次。"
    ),
    "host_busy.title": "设备每个迭代等待{time}（{share}），此时主机在做下发以外的事",
    "host_busy.title.named": "设备每个迭代等待{time}（{share}），主要是主机在{name}中时",
    "host_busy.fix": "将这些工作移出迭代：放到其他线程，降低频率，或放到设备上；记录调用栈可看到代码行。",
    "host_busy.fix.pytorch": (
        "将这些工作移出迭代（其他线程，每N个迭代一次，在设备上），对慢的Python代码使用torch.compile；用"
        "with_stack=True记录可看到代码行。"
    ),
    "host_busy.fix.megengine": (
        "将这些工作移出迭代（其他线程，每N个迭代一次，在设备上）；用with_backtrace=True记录可看到代码行。"
    ),
    "host_busy.fix.jax": "将这些工作移出迭代，在读取结果之前下发下一个迭代，将Python循环放入jax.jit。",
    # ---- 通信 ----
    "serial_communication.title": "通信在计算所用的流上执行（{stream}）：每个迭代有{time}（{share}）没有其他工作",
    "serial_communication.fix": "让通信在自己的流上执行，与反向计算并行。",
    "serial_communication.fix.pytorch": (
        "让DistributedDataParallel在反向计算时分桶规约梯度（bucket_cap_mb），或用async_op=True调用all_reduce并尽量"
        "晚等待。"
    ),
    "serial_communication.fix.megengine": (
        "用GradManager().attach(params, callbacks=[dist.make_allreduce_cb('mean')])绑定参数：梯度将在反向计算时于"
        "gpuN:1上规约。"
    ),
    "serial_communication.fix.mindspore": (
        "拆分融合的AllReduce（set_auto_parallel_context(all_reduce_fusion_config=[...])），使其在反向计算时开始。"
    ),
    "serial_communication.fix.jax": (
        "让XLA重叠通信：XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true；调整切分使其可行。"
    ),
    "exposed_communication.title": "未被计算掩盖的通信占每个迭代的{time}（{share}）",
    "exposed_communication.fix": "让通信与计算重叠，减少发送的字节，并检查哪个rank来得晚。",
    "exposed_communication.fix.pytorch": (
        "让梯度在反向计算时规约（DistributedDataParallel、bucket_cap_mb、FSDP预取），用no_sync()在多个批次上累积，"
        "以bf16发送（bf16_compress_hook）。"
    ),
    "exposed_communication.fix.megengine": "用dist.make_allreduce_cb在反向计算时规约梯度，减少发送的字节，增大批次。",
    "exposed_communication.fix.mindspore": (
        "调整AllReduce的融合（all_reduce_fusion_config），使用梯度累积或更好的切分。"
    ),
    "exposed_communication.fix.jax": (
        "使用XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true，增大每个设备的批次，采用传输字节更少的切分。"
    ),
    # ---- 编译 ----
    "recompilation.title": "{steps}个迭代中有{compiling}个在编译：每个迭代有{time}（{share}）",
    "recompilation.fix": "让所有迭代的形状、类型和静态参数保持不变，使编译结果可以重复使用。",
    "recompilation.fix.jax": (
        "让所有迭代中jax.jit的形状和静态参数保持不变：填充批次，丢弃最后一个批次，减少static_argnums；"
        "jax.config.update('jax_log_compiles', True)会指出变化之处。"
    ),
    "recompilation.fix.pytorch": (
        "保持形状不变（drop_last=True，填充），或使用torch.compile(dynamic=True)、mark_dynamic；"
        "TORCH_LOGS=recompiles会指出失败的guard。"
    ),
    "recompilation.fix.mindspore": "保持形状不变，或用set_inputs声明动态形状；丢弃最后一个批次。",
    # ---- 算子、rank、间隙 ----
    "exposed_copies.title": "未被掩盖的复制占每个迭代的{time}（{share}）：{names}",
    "exposed_copies.fix": "减少复制，提前复制，使用锁页内存，并与计算并行。",
    "exposed_copies.fix.pytorch": (
        "在DataLoader中设置pin_memory=True，并在使用前用.to(device, non_blocking=True)复制；避免不必要的.to()、"
        ".cpu()、.clone()和清零（zero_grad(set_to_none=True)）。"
    ),
    "exposed_copies.fix.jax": (
        "提前将批次放到设备上（在预取迭代器中调用jax.device_put），捐出缓冲区（donate_argnums）以减少复制。"
    ),
    "step_interval.title": "设备在迭代之间空闲{time}（占两个迭代之间时间的{share}）：迭代间隙较长",
    "step_interval.title.data": "设备在迭代之间空闲{time}（{share}），主要是训练在等待数据：迭代间隙较长",
    "step_interval.fix": (
        "查看迭代之间执行的内容（日志、评估、检查点、指标、数据加载）：降低频率或与训练并行；将其放入迭代标记内可看"
        "到各部分。"
    ),
    "step_interval.fix.mindspore": (
        "加快数据处理（laptime pipeline），使用dataset_sink_mode=True，并降低callback的频率。"
    ),
    "useless_operators.title": (
        "每个迭代有{count}个不做计算的算子（{names}）在前向、反向和优化器之外执行：{time}（{share}）"
    ),
    "useless_operators.fix": "删除它们：没有代码需要其结果，或只需其中一个。",
    "useless_operators.fix.pytorch": (
        "删除迭代之后成串的.to()、.clone()、.contiguous()、.view()；在torch.no_grad()下每N个迭代计算一次要记录的内容。"
    ),
    "useless_operators.fix.megengine": (
        "删除optimizer.step()之后成串的reshape、astype和复制；用with_backtrace=True记录可看到其代码行。"
    ),
    "ai_cpu_operators.title": "AI CPU算子占用时AI Core空闲：每个迭代有{time}（{share}），{names}",
    "ai_cpu_operators.title.unknown": "有算子在AI CPU上执行：{names}",
    "ai_cpu_operators.fix": (
        "使用AI Core支持的数据类型（用int32、float16代替int64、float64）或其他算子，或事先在主机上完成。"
    ),
    "slow_operator.title.unknown": "{name}占设备时间的{part}",
    "slow_operator.title": "{name}占设备时间的{part}",
    "slow_operator.fix": "查看能否减小、减少或替换该算子：更低精度、其他数据排布、融合的或库中的kernel。",
    "slow_operator.fix.megengine": (
        "查看是否使用了朴素kernel（debug日志会给出算法），并让MegEngine实测选择kernel："
        "megengine.functional.debug_param.set_execution_strategy('PROFILE')。"
    ),
    "not_tuned.title": "{names}的kernel由经验规则选择（没有开fast_run）",
    "not_tuned.title.unknown": "{names}的kernel由经验规则选择（没有开fast_run）",
    "not_tuned.fix": (
        "让MegEngine实测并选择：训练前调用megengine.functional.debug_param.set_execution_strategy('PROFILE')。"
    ),
    "slow_rank.title": "rank {rank}最晚到达通信，其他rank每个迭代等待它{time}（{share}）",
    "slow_rank.title.named": "其他rank每个迭代等待rank {rank} {time}（{share}），它{part}多用了{more}",
    "slow_rank.fix": "让该rank与其他rank一样快：相同的工作量和数据量，相同速度的设备和主机，且没有其他任务。",
    "stage_imbalance.title": (
        "流水线stage {stage}每个迭代计算{longest}，其他stage为{others}：均衡后每个迭代可缩短{time}（{share}）"
    ),
    "stage_imbalance.fix": "将该stage的部分层移到其他stage；增加micro-batch数以减少stage之间的等待。",
    "slow_link.title.unknown": "链路{link}（{type}）的带宽比同类平均低{below}",
    "slow_link.title": "链路{link}（{type}）的带宽比同类平均低{below}",
    "slow_link.fix": "检查该链路及其上的其他流量；将通信最多的rank放在快的链路上。",
    "exposed_communication.title.compared": "在等待最少的rank上，未被计算掩盖的通信占每个迭代的{time}（{share}）",
    "part.compute_ns": "在计算上",
    "part.copy_exposed_ns": "在复制上",
    "part.idle_data_wait_ns": "在等待数据上",
    "part.idle_sync_ns": "在主机同步后的空闲上",
    "part.idle_launch_ns": "在等待下发上",
    "part.idle_other_ns": "在空闲或算子之外上",
    "exposed_copies.fix.pytorch.within": (
        "避免不需要的复制：.clone()、.contiguous()、大张量的torch.cat、清零（zero_grad(set_to_none=True)，"
        "gradient_as_bucket_view=True）；其余让torch.compile融合。"
    ),
    "step_interval.title.told": "每个迭代之前的迭代间隙为{time}（占两个迭代之间时间的{share}）",
    "missing.other_ranks": "其他rank",
    "missing.other_ranks.how": "将所有rank记录到同一文件夹并打开该文件夹：其他rank所等待的可能就在其中",
    "missing.data_queues": "数据队列",
    "missing.data_queues.how": (
        'with laptime.Profiler("runs/mine") as prof:\n'
        "    for batch in prof.watch(loader):  # 记录等待和队列\n"
        "        train(batch)\n"
        "        prof.step()"
    ),
    "missing.data_queues.how.mindspore": "设置mindspore.Profiler(data_process=True)",
    # ---- 页面 ----
    "page.title": "{path}：改进建议",
    "page.nothing": "没有发现占迭代百分之一以上的问题。",
    "page.nothing_without_steps": "没有发现问题。此记录没有迭代标记：迭代未知时，无法得知其损失的时间。",
    "page.note": "节省的时间是每个迭代最多可缩短的时间；同一原因的节省不能相加。",
    "page.not_recorded": "未记录的内容，以及如何记录",
    "page.high": "高",
    "page.medium": "中",
    "page.low": "低",
    "page.info": "提示",
    # ---- 依据的名称 ----
    "evidence.recordings": "有此问题的记录",
    "evidence.data_wait_per_step": "每个迭代等待数据的时间",
    "evidence.wait_per_batch": "每个批次的平均等待",
    "evidence.longest_data_wait": "最长的批次等待",
    "evidence.host_queue_empty": "主机队列为空的比例",
    "evidence.device_queue_empty": "数据队列为空的比例",
    "evidence.input_queue_usage": "输入队列使用率",
    "evidence.output_queue_usage": "输出队列使用率",
    "evidence.work_per_batch": "每个批次的工作时间",
    "evidence.workers": "worker数",
    "evidence.processor_load": "CPU负载",
    "evidence.processors": "CPU核数",
    "evidence.waits_per_step": "每个迭代的等待次数",
    "evidence.waited_per_step": "每个迭代主机等待的时间",
    "evidence.idle_after_waits": "之后设备空闲的时间",
    "evidence.gaps_per_step": "每个迭代以晚下发结束的空隙数",
    "evidence.device_slices_per_step": "每个迭代的设备任务数",
    "evidence.median_kernel": "kernel时长中位数",
    "evidence.kernels_below_10us": "短于10 µs的kernel比例",
    "evidence.median_between_launches": "两次下发之间时间的中位数",
    "evidence.pauses_per_step": "每个迭代的停顿次数",
    "evidence.longest_pause": "最长的停顿",
    "evidence.collectives_per_step": "每个迭代的通信次数",
    "evidence.communication_per_step": "每个迭代的通信时间",
    "evidence.overlapped_by_compute": "被计算掩盖的比例",
    "evidence.longest_collective": "最长的通信",
    "evidence.compiling_steps": "编译的迭代数",
    "evidence.compile_per_step": "每个迭代的编译时间",
    "evidence.compilations": "编译次数",
    "evidence.copies_per_step": "每个迭代的复制次数",
    "evidence.copy_time_per_step": "每个迭代的复制时间",
    "evidence.interval_per_step": "迭代之间的空闲",
    "evidence.data_wait_between_steps": "其中等待数据",
    "evidence.useless_per_step": "每个迭代的此类算子数",
    "evidence.useless_device_time": "每个迭代其设备时间",
    "evidence.ai_cpu_executions": "执行次数",
    "evidence.ai_cpu_time": "其时间",
    "evidence.executions": "执行次数",
    "evidence.share_of_device": "占设备时间的比例",
    "evidence.mean_execution": "平均执行时间",
    "evidence.untuned_per_step": "每个迭代其时间",
    "evidence.communication_of_late_rank": "晚到rank未被掩盖的通信",
    "evidence.communication_of_others": "其他rank的平均",
    "evidence.more_before": "它之前多用的时间",
    "evidence.compute_of_stage": "stage {stage}的计算",
    "evidence.between_stages": "stage之间的时间比例",
    "evidence.link_speed": "该链路的带宽",
    "evidence.mean_link_speed": "同类平均带宽",
}

CHINESE: Mapping[str, str] = {
    **_TEXTS,
    **{
        f"pipeline_operator.remedy.{framework}.{kind}": text
        for framework, remedies in _REMEDIES.items()
        for kind, text in remedies.items()
    },
}
"""All texts by key."""
