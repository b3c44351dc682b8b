"""The English texts. Placeholders stand in braces; `share` and `time` are what a finding would save of a step."""

from __future__ import annotations

from collections.abc import Mapping

from laptime.analyses.pipeline_remedies import REMEDIES

_TEXTS = {
    # ---- data ----
    "data_wait.title": "Training waits for data: {time} of each step ({share})",
    "data_wait.fix": "Prepare batches in more threads or processes, and ahead of time, so that one is always ready.",
    "data_wait.fix.pytorch": (
        "Raise num_workers and prefetch_factor of the DataLoader, set persistent_workers=True and pin_memory=True, "
        "or make the dataset's __getitem__ cheaper."
    ),
    "data_wait.fix.pytorch.no_workers": (
        "Give the DataLoader num_workers of 2 or more: with 0 the training loop itself loads each batch. Then set "
        "persistent_workers=True and pin_memory=True."
    ),
    "data_wait.fix.megengine": (
        "Raise num_workers of megengine.data.DataLoader, make transforms cheaper, or prepare the data beforehand."
    ),
    "data_wait.fix.mindspore": (
        "Raise num_parallel_workers of the dataset's operators and ds.config.set_prefetch_size, or convert the "
        "data to MindRecord."
    ),
    "data_wait.fix.jax": (
        "Load batches in a background thread and put them on the device ahead (jax.device_put, a prefetching "
        "iterator as in flax.jax_utils.prefetch_to_device), or use tf.data or grain with prefetch."
    ),
    "slow_process.title": (
        "{empty} of the batches find the host queue empty: processing data is too slow ({time}, {share})"
    ),
    "slow_process.title.unknown": (
        "{empty} of the batches find the host queue empty: processing data is slower than training"
    ),
    "slow_process.fix": (
        "Speed up the data pipeline: more workers, cheaper transforms, faster storage, data prepared beforehand."
    ),
    "slow_process.fix.mindspore": (
        "Raise num_parallel_workers of the slowest operator (laptime pipeline names it) and "
        "ds.config.set_prefetch_size."
    ),
    "slow_process.fix.pytorch": "Raise num_workers of the DataLoader, or make __getitem__ and collate_fn cheaper.",
    "slow_process.fix.megengine": "Raise num_workers of the DataLoader, or make transform and collator cheaper.",
    "slow_send.title": (
        "The device's queue runs empty while the host's is filled: sending is too slow ({time}, {share})"
    ),
    "slow_send.title.unknown": (
        "The device's queue runs empty while the host's is filled: sending data to the device is slow"
    ),
    "slow_send.fix": (
        "Send fewer bytes: smaller types (uint8 images, cast on the device), larger batches, pinned memory."
    ),
    "slow_send.fix.mindspore": (
        "Send fewer bytes (uint8 images, normalised on the device), and check dataset_sink_mode and the link to "
        "the device."
    ),
    "slow_send.fix.pytorch": "Set pin_memory=True and copy with non_blocking=True; send uint8 and cast on the device.",
    "pipeline_operator.title": "{operator} holds up the data pipeline, training waits {time} of each step ({share})",
    "pipeline_operator.title.unknown": "{operator} is the slowest operator of the data pipeline",
    "pipeline_operator.fix": "Speed it up: {remedy}.",
    "processor_load.title": "The processors are {load} loaded while training waits for data ({time}, {share})",
    "processor_load.title.unknown": "The processors are {load} loaded: loading data may have too few",
    "processor_load.fix": (
        "Leave the loader cores: fewer workers than cores, no other jobs on the machine, cheaper or native "
        "transforms, data prepared beforehand."
    ),
    # ---- host ----
    "host_sync.title": "The host waits for the device in {call}; the device idles {time} per step after it ({share})",
    "host_sync.fix": "Do not read values of the device in every step; where it must be, read them a step later.",
    "host_sync.fix.pytorch": (
        "Avoid .item(), .cpu(), .numpy(), print(tensor), boolean tests of tensors and nonzero() in the step; add "
        "up on the device and read every N steps, copy with non_blocking=True from pinned memory."
    ),
    "host_sync.fix.megengine": (
        "Avoid .numpy(), .item(), float(tensor), if tensor and .shape of results whose size depends on data "
        "(cond_take) in the step; add up on the device and read every N steps."
    ),
    "host_sync.fix.jax": (
        "Avoid block_until_ready(), float(loss) and np.asarray(...) in every step; read metrics every N steps, or "
        "those of the step before."
    ),
    "host_sync.fix.mindspore": (
        "Avoid .asnumpy() and print of tensors in the step; use dataset_sink_mode=True, read every N steps."
    ),
    "launch_bound.title": (
        "The device waits for launches: {time} of each step ({share}) in gaps between small pieces of work"
    ),
    "launch_bound.fix": (
        "Launch less often: fuse operators, make batches larger, or run the step as one compiled graph."
    ),
    "launch_bound.fix.pytorch": (
        "Use torch.compile(model, mode='reduce-overhead') or torch.cuda.make_graphed_callables (CUDA graphs), "
        "fused optimizers (fused=True or foreach=True), larger batches."
    ),
    "launch_bound.fix.megengine": (
        "Run the step as a graph with megengine.jit.trace(symbolic=True), use larger batches, and let it choose "
        "fast kernels (set_execution_strategy('PROFILE'), fast_run)."
    ),
    "launch_bound.fix.jax": "Put the whole step under jax.jit, several steps under jax.lax.scan; make batches larger.",
    "launch_bound.fix.mindspore": (
        "Use graph mode (set_context(mode=GRAPH_MODE) or @jit) with dataset_sink_mode=True; make batches larger."
    ),
    "host_busy.title": "The device waits {time} of each step ({share}) while the host does something else than launch",
    "host_busy.title.named": "The device waits {time} of each step ({share}), most of all while the host is in {name}",
    "host_busy.fix": (
        "Take that work out of the step: do it in another thread, less often, or on the device; record call stacks "
        "to see the lines."
    ),
    "host_busy.fix.pytorch": (
        "Take that work out of the step (another thread, every N steps, on the device), use torch.compile for slow "
        "Python; record with with_stack=True to see the lines."
    ),
    "host_busy.fix.megengine": (
        "Take that work out of the step (another thread, every N steps, on the device); record with "
        "with_backtrace=True to see the lines."
    ),
    "host_busy.fix.jax": (
        "Take that work out of the step, dispatch the next step before results are read, put Python loops under "
        "jax.jit."
    ),
    # ---- communication ----
    "serial_communication.title": (
        "Collectives run on the stream that computes ({stream}): {time} of each step ({share}) nothing else runs"
    ),
    "serial_communication.fix": "Run collectives on a stream of their own, while the backward pass still computes.",
    "serial_communication.fix.pytorch": (
        "Let DistributedDataParallel reduce gradients in buckets during backward (bucket_cap_mb), or call "
        "all_reduce with async_op=True and wait for it late."
    ),
    "serial_communication.fix.megengine": (
        "Attach parameters with GradManager().attach(params, callbacks=[dist.make_allreduce_cb('mean')]): then "
        "gradients are reduced on gpuN:1 during the backward pass."
    ),
    "serial_communication.fix.mindspore": (
        "Split the fused AllReduce (set_auto_parallel_context(all_reduce_fusion_config=[...])), so that it starts "
        "during the backward pass."
    ),
    "serial_communication.fix.jax": (
        "Let XLA overlap collectives: XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true; shard so that it can."
    ),
    "exposed_communication.title": "Communication that nothing hides takes {time} of each step ({share})",
    "exposed_communication.fix": (
        "Overlap collectives with computation, send fewer bytes, and check which rank comes late."
    ),
    "exposed_communication.fix.pytorch": (
        "Let gradients be reduced during backward (DistributedDataParallel, bucket_cap_mb, FSDP prefetching), "
        "accumulate over batches with no_sync(), send bf16 (bf16_compress_hook)."
    ),
    "exposed_communication.fix.megengine": (
        "Reduce gradients during the backward pass with dist.make_allreduce_cb, send fewer bytes, use larger batches."
    ),
    "exposed_communication.fix.mindspore": (
        "Tune the fusion of AllReduce (all_reduce_fusion_config), use gradient accumulation or a better sharding."
    ),
    "exposed_communication.fix.jax": (
        "Use XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true, larger batches per device, a sharding that "
        "moves fewer bytes."
    ),
    # ---- compilation ----
    "recompilation.title": "{compiling} of {steps} steps compile: {time} of each step ({share})",
    "recompilation.fix": (
        "Keep shapes, types and static arguments the same in all steps, so that what is compiled serves them all."
    ),
    "recompilation.fix.jax": (
        "Keep shapes and static arguments of jax.jit the same in all steps: pad batches, drop the last one, mark "
        "fewer static_argnums; jax.config.update('jax_log_compiles', True) names what changes."
    ),
    "recompilation.fix.pytorch": (
        "Keep shapes the same (drop_last=True, padding) or use torch.compile(dynamic=True), mark_dynamic; "
        "TORCH_LOGS=recompiles names the guard that fails."
    ),
    "recompilation.fix.mindspore": (
        "Keep shapes the same, or declare them dynamic with set_inputs; drop the last batch."
    ),
    # ---- operators, ranks, intervals ----
    "exposed_copies.title": "Copies that nothing hides take {time} of each step ({share}): {names}",
    "exposed_copies.fix": "Copy less and ahead of time, from pinned memory, beside computation.",
    "exposed_copies.fix.pytorch": (
        "Set pin_memory=True in the DataLoader and copy with .to(device, non_blocking=True) ahead of use; avoid "
        "needless .to(), .cpu(), .clone() and zeroing (zero_grad(set_to_none=True))."
    ),
    "exposed_copies.fix.jax": (
        "Put batches on the device ahead (jax.device_put in a prefetching iterator), donate buffers "
        "(donate_argnums) so that fewer are copied."
    ),
    "step_interval.title": "The device idles {time} between steps ({share} of the time from one step to the next)",
    "step_interval.title.data": "The device idles {time} between steps ({share}), mostly while training waits for data",
    "step_interval.fix": (
        "Look at what runs between the steps (logging, evaluation, checkpoints, metrics, loading data): do it less "
        "often, or beside training; put it into the step's marker to see its parts."
    ),
    "step_interval.fix.mindspore": (
        "Speed up the data pipeline (laptime pipeline), use dataset_sink_mode=True, and call callbacks less often."
    ),
    "useless_operators.title": (
        "{count} operators per step that compute nothing ({names}) run outside forward, backward and optimizer: "
        "{time} ({share})"
    ),
    "useless_operators.fix": "Remove them: nothing needs their results, or one of them would do.",
    "useless_operators.fix.pytorch": (
        "Remove chains of .to(), .clone(), .contiguous(), .view() after the step; compute what is logged under "
        "torch.no_grad() and every N steps."
    ),
    "useless_operators.fix.megengine": (
        "Remove chains of reshape, astype and copies after optimizer.step(); record with with_backtrace=True to "
        "see their lines."
    ),
    "ai_cpu_operators.title": "Operators on the AI CPU hold the AI Cores up: {time} of each step ({share}), {names}",
    "ai_cpu_operators.title.unknown": "Operators run on the AI CPU: {names}",
    "ai_cpu_operators.fix": (
        "Use types that the AI Cores support (int32, float16 in place of int64, float64), other operators, or do "
        "it on the host before."
    ),
    "slow_operator.title.unknown": "{name} takes {part} of the device's time",
    "slow_operator.title": "{name} takes {part} of the device's time",
    "slow_operator.fix": (
        "See whether it can be smaller, rarer or another operator: lower precision, other layout, fused or library "
        "kernels."
    ),
    "slow_operator.fix.megengine": (
        "See whether it runs a naive kernel (log level debug names the algorithm), and let MegEngine measure "
        "kernels: megengine.functional.debug_param.set_execution_strategy('PROFILE')."
    ),
    "not_tuned.title": "Kernels of {names} were chosen by rules of thumb (fast_run is off)",
    "not_tuned.title.unknown": "Kernels of {names} were chosen by rules of thumb (fast_run is off)",
    "not_tuned.fix": (
        "Let MegEngine measure and choose: megengine.functional.debug_param.set_execution_strategy('PROFILE') "
        "before training."
    ),
    "slow_rank.title": "Rank {rank} comes last to collectives, the others wait for it {time} of each step ({share})",
    "slow_rank.title.named": (
        "The others wait {time} of each step ({share}) for rank {rank}, which spends {more} more {part}"
    ),
    "slow_rank.fix": (
        "Make that rank as fast as the others: the same amount of work and data, a device and host of the same "
        "speed, nothing else running there."
    ),
    "stage_imbalance.title": (
        "Pipeline stage {stage} computes {longest} of each step, the others {others}: evened out, a step would be "
        "{time} shorter ({share})"
    ),
    "stage_imbalance.fix": (
        "Move layers from that stage to the others; use more micro-batches, so that stages wait less for each other."
    ),
    "slow_link.title.unknown": "Link {link} ({type}) carries {below} less than the mean of its type",
    "slow_link.title": "Link {link} ({type}) carries {below} less than the mean of its type",
    "slow_link.fix": "Check that link and what else uses it; place ranks that talk most on fast links.",
    "exposed_communication.title.compared": (
        "Communication that nothing hides takes {time} of each step ({share}) on the rank that waits least"
    ),
    "part.compute_ns": "computing",
    "part.copy_exposed_ns": "copying",
    "part.idle_data_wait_ns": "waiting for data",
    "part.idle_sync_ns": "idle after host syncs",
    "part.idle_launch_ns": "waiting for launches",
    "part.idle_other_ns": "idle or outside operators",
    "exposed_copies.fix.pytorch.within": (
        "Avoid copies that nothing needs: .clone(), .contiguous(), torch.cat of large tensors, zeroing "
        "(zero_grad(set_to_none=True), gradient_as_bucket_view=True); let torch.compile fuse what is left."
    ),
    "step_interval.title.told": (
        "The interval before each step takes {time} ({share} of the time from one step to the next)"
    ),
    "missing.other_ranks": "the other ranks",
    "missing.other_ranks.how": (
        "record all ranks into one folder, then open the folder: the one that others wait for may be among them"
    ),
    "missing.data_queues": "data queues",
    "missing.data_queues.how": (
        'with laptime.Profiler("runs/mine") as prof:\n'
        "    for batch in prof.watch(loader):  # its waits and queues\n"
        "        train(batch)\n"
        "        prof.step()"
    ),
    "missing.data_queues.how.mindspore": "mindspore.Profiler(data_process=True)",
    # ---- pages ----
    "page.title": "What to change in {path}",
    "page.nothing": "Nothing found that costs a step one per cent or more.",
    "page.nothing_without_steps": (
        "Nothing found. No step was marked in this recording: where none is known, what it loses cannot be said."
    ),
    "page.note": "Savings are what a step would be shorter by at most; those of one cause do not add up.",
    "page.not_recorded": "Not recorded, and what records it",
    "page.high": "high",
    "page.medium": "medium",
    "page.low": "low",
    "page.info": "info",
    # ---- names of evidence ----
    "evidence.recordings": "recordings that have it",
    "evidence.data_wait_per_step": "waiting for data per step",
    "evidence.wait_per_batch": "mean wait for a batch",
    "evidence.longest_data_wait": "longest wait for a batch",
    "evidence.host_queue_empty": "host queue found empty",
    "evidence.device_queue_empty": "device queue found empty",
    "evidence.input_queue_usage": "use of its input queue",
    "evidence.output_queue_usage": "use of its output queue",
    "evidence.work_per_batch": "work per batch",
    "evidence.workers": "workers",
    "evidence.processor_load": "load of the processors",
    "evidence.processors": "processors",
    "evidence.waits_per_step": "waits per step",
    "evidence.waited_per_step": "host waits per step",
    "evidence.idle_after_waits": "device idle after them",
    "evidence.gaps_per_step": "gaps per step that end with a late launch",
    "evidence.device_slices_per_step": "pieces of device work per step",
    "evidence.median_kernel": "median kernel",
    "evidence.kernels_below_10us": "kernels below 10 µs",
    "evidence.median_between_launches": "median time between launches",
    "evidence.pauses_per_step": "pauses per step",
    "evidence.longest_pause": "longest pause",
    "evidence.collectives_per_step": "collectives per step",
    "evidence.communication_per_step": "communication per step",
    "evidence.overlapped_by_compute": "overlapped by computation",
    "evidence.longest_collective": "longest collective",
    "evidence.compiling_steps": "steps that compile",
    "evidence.compile_per_step": "compiling per step",
    "evidence.compilations": "compilations",
    "evidence.copies_per_step": "copies per step",
    "evidence.copy_time_per_step": "copying per step",
    "evidence.interval_per_step": "idle between steps",
    "evidence.data_wait_between_steps": "of that waiting for data",
    "evidence.useless_per_step": "such operators per step",
    "evidence.useless_device_time": "their device time per step",
    "evidence.ai_cpu_executions": "executions",
    "evidence.ai_cpu_time": "their time",
    "evidence.executions": "executions",
    "evidence.share_of_device": "share of the device's time",
    "evidence.mean_execution": "mean execution",
    "evidence.untuned_per_step": "their time per step",
    "evidence.communication_of_late_rank": "exposed communication of the late rank",
    "evidence.communication_of_others": "of the others, mean",
    "evidence.more_before": "what it spends more before",
    "evidence.compute_of_stage": "computation of stage {stage}",
    "evidence.between_stages": "time between stages",
    "evidence.link_speed": "speed of the link",
    "evidence.mean_link_speed": "mean of its type",
}

ENGLISH: Mapping[str, str] = {
    **_TEXTS,
    **{
        f"pipeline_operator.remedy.{framework}.{kind or 'any'}": text
        for framework, remedies in REMEDIES.items()
        for kind, text in remedies.items()
    },
    "pipeline_operator.remedy": "give it more workers, or make its work cheaper",
}
"""All texts by key."""
