"""Kinds told from names that recorders of many vendors really write."""

from __future__ import annotations

import pytest

from laptime.model.classify import is_autograd_node, is_collective, kind_of, phase_root, step_number

COLLECTIVES = [
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
    "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
    "ncclDevKernel_AllGather_RING_LL",
    "void ncclSymkDevKernel_AllReduce_AGxLLMC_R_sum_bf16",
    "rcclGenericKernel_1(ncclDevKernelArgsStorage<4096ul>)",
    "mscclKernel_Sum_half_Simple_false(ncclDevComm*, mscclAlgo*)",
    "hcom_allReduce__123_0",
    "HcclAllreduce",
    "hcom_broadcast_",
    "oneccl_allreduce_large_kernel",
    "oneCCL::reduce_scatter",
    "gloo:all_reduce",
    "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*, vllm::RankSignals)",
    "void sglang::cross_device_reduce_2stage<half, 4>",
    "void multimem_all_reduce_kernel<c10::BFloat16>(c10::BFloat16*)",
    "multimem_one_shot_all_reduce_kernel",
    "void quickreduce::allreduce_prototype_twoshot<quickreduce::AllReduceTwoshot>",
    "void mscclpp::allreduce7<float>(mscclpp::DeviceHandle)",
    "nvshmemi_proxy_quiet_entrypoint",
    "nvshmem_barrier_all_on_stream",
    "void deep_ep::intranode::dispatch<8, 768>(int4*)",
    "deep_ep::internode_ll::combine",
    "one_shot_all_reduce_kernel",
    "all_to_all_single_kernel",
    "reduce_scatter_bf16",
]

KERNELS = [
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t>>",
    "void at::native::batch_norm_collect_statistics_kernel<at::native::InvStd, float>",
    "batch_norm_reduce_statistics_kernel",
    "SyncBatchNorm",
    "sync_batch_norm_backward_elemt_kernel",
    "void cub::DeviceReduceKernel<cub::Policy>",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
    "ampere_sgemm_128x64_nn",
    "triton_poi_fused_add_0",
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>",
    "void at::native::vectorized_elementwise_kernel<4, nccl_like_name>",
    "scatter_gather_elementwise_kernel",
    "void gatherTopK<float>",
    "flash_fwd_kernel",
    "",
]


@pytest.mark.parametrize("name", COLLECTIVES)
def test_kernels_of_collectives_are_communication(name):
    assert kind_of("kernel", name) == "communication"


@pytest.mark.parametrize("name", KERNELS)
def test_other_kernels_stay_kernels(name):
    assert kind_of("kernel", name) == "kernel"


def test_arguments_of_a_collective_count_before_the_name():
    assert kind_of("kernel", "some_vendor_kernel", has_collective_args=True) == "communication"
    assert kind_of("op", "aten::add", has_collective_args=True) == "op"


@pytest.mark.parametrize("name", ["gloo:all_reduce", "mpi:allreduce", "ucc:all_gather"])
@pytest.mark.parametrize("base", ["op", "scope"])
def test_collectives_that_the_host_runs_are_communication(base, name):
    assert kind_of(base, name) == "communication"


@pytest.mark.parametrize("name", ["c10d::allreduce_", "nccl:all_reduce", "record_param_comms"])
def test_ops_that_only_enqueue_a_collective_are_no_communication(name):
    assert kind_of("op", name) == "op"
    assert kind_of("scope", name) == "scope"


@pytest.mark.parametrize(
    "name",
    [
        "cudaStreamSynchronize",
        "cudaDeviceSynchronize",
        "cudaEventSynchronize",
        "cuStreamSynchronize",
        "cuCtxSynchronize",
        "cudaMemcpy",
        "cudaMemcpy2D",
        "cudaMemcpyFromSymbol",
        "cuMemcpyDtoH_v2",
        "cuMemcpyHtoD_v2",
        "hipStreamSynchronize",
        "hipDeviceSynchronize",
        "hipEventSynchronize",
        "hipMemcpy",
        "hipMemcpyWithStream",
        "hipMemcpyDtoH",
        "urEventWait",
        "urQueueFinish",
        "piEventsWait",
        "zeCommandQueueSynchronize",
        "zeEventHostSynchronize",
        "aclrtSynchronizeStream",
    ],
)
def test_calls_that_block_the_host_are_sync(name):
    assert kind_of("call", name) == "sync"


@pytest.mark.parametrize(
    "name",
    [
        "cudaLaunchKernel",
        "cudaLaunchKernelExC",
        "cuLaunchKernel",
        "cuLaunchKernelEx",
        "cudaGraphLaunch",
        "cudaLaunchCooperativeKernel",
        "cudaMemcpyAsync",
        "cudaMemcpyPeerAsync",
        "cudaMemcpy2DAsync",
        "cuMemcpyHtoDAsync_v2",
        "cudaMemset",
        "cudaMemsetAsync",
        "hipLaunchKernel",
        "hipExtModuleLaunchKernel",
        "hipModuleLaunchKernel",
        "hipGraphLaunch",
        "hipMemcpyAsync",
        "hipMemsetAsync",
        "urEnqueueKernelLaunch",
        "urEnqueueUSMMemcpy",
        "urEnqueueUSMFill",
        "zeCommandListAppendLaunchKernel",
        "zeCommandListAppendMemoryCopy",
        "runFunction",
        "runFunction - job_prep_and_submit_for_execution",
        "aclnnMatmul",
    ],
)
def test_calls_that_enqueue_work_are_launches(name):
    assert kind_of("call", name) == "launch"


@pytest.mark.parametrize(
    "name",
    [
        "cudaMalloc",
        "cudaEventRecord",
        "cudaEventQuery",
        "cudaStreamWaitEvent",
        "cudaStreamIsCapturing",
        "cudaGetDeviceProperties",
        "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
        "hipEventRecord",
        "hipGetDevice",
        "urEnqueueEventsWait",
        "urEnqueueEventsWaitWithBarrier",
        "zeCommandListAppendBarrier",
        "zeCommandListAppendWaitOnEvents",
        "zeCommandListAppendSignalEvent",
        "urUSMDeviceAlloc",
    ],
)
def test_other_calls_are_other_host_work(name):
    assert kind_of("call", name) == "host_other"


@pytest.mark.parametrize("name", ["Stream Wait Event", "Event Sync", "Event Record", "event_wait"])
def test_waits_on_a_device_are_no_work(name):
    assert kind_of("kernel", name) == "device_other"


def test_a_transfer_of_mtia_is_a_copy():
    assert kind_of("kernel", "dma_request") == "copy"


@pytest.mark.parametrize("base", ["copy", "memset"])
def test_copies_stay_copies_whatever_their_name(base):
    assert kind_of(base, "Memcpy HtoD (nccl)", has_collective_args=True) == base


@pytest.mark.parametrize(
    "name",
    [
        "data",
        "load_data",
        "## data loading ##",
        "fetch batch",
        "Next-Batch",
        "dataloader",
        "input_pipeline",
        "train.data.next()",
    ],
)
def test_ranges_that_name_data_as_a_whole_word_are_data(name):
    assert kind_of("scope", name) == "data"


@pytest.mark.parametrize(
    "name",
    [
        *(
            "metadata",
            "DataParallel.forward",
            "batchnorm",
            "update",
            "inputs",
            "loading",
            "nextafter",
            "forward",
            "payload",
        ),
        *("batch_norm", "sync_batch_norm", "BatchNorm2d", "batch_matmul_activation", "batched_matmul"),
    ],
)
def test_other_ranges_are_scopes(name):
    assert kind_of("scope", name) == "scope"


def test_a_collective_over_batches_is_no_data():
    assert kind_of("scope", "all_reduce batch") == "scope"


def test_an_op_is_no_data_by_its_words():
    assert kind_of("op", "aten::data") == "op"


@pytest.mark.parametrize("base", ["op", "scope"])
def test_the_loader_is_data_wherever_it_is_recorded(base):
    assert kind_of(base, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__") == "data"


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("ProfilerStep#0", 0),
        ("ProfilerStep#12", 12),
        ("step 3", 3),
        ("Step#4", 4),
        ("train_step_5", 5),
        ("training step: 6", 6),
        ("iteration 7", 7),
        ("iter8", 8),
        ("ProfilerStep#123456789012345678901234567890", None),
        ("ProfilerStep#", None),
        ("ProfilerStep#1 x", None),
        ("Optimizer.step#SGD.step", None),
        ("step", None),
        ("substep 3", None),
        ("step 3.5", None),
        ("", None),
    ],
)
def test_step_markers(name, number):
    assert step_number(name) == number
    assert (kind_of("scope", name) == "step") == (number is not None)


@pytest.mark.parametrize(
    ("base", "name", "kind"),
    [
        ("python", "torch/_dynamo/convert_frame.py(1213): _compile", "compile"),
        ("python", "torch/_dynamo/convert_frame.py(653): compile_inner", "compile"),
        ("python", "re.py(250): compile", "python"),
        ("scope", "_compile.compile_inner (dynamo_timed)", "compile"),
        ("op", "Optimizer.step#SGD.step", "scope"),
        ("op", "Optimizer.zero_grad#Adam.zero_grad", "scope"),
        ("host_other", "anything", "host_other"),
    ],
)
def test_other_kinds(base, name, kind):
    assert kind_of(base, name) == kind


@pytest.mark.parametrize(
    ("kind", "name", "phase"),
    [
        ("op", "autograd::engine::evaluate_function: AddmmBackward0", "backward"),
        ("op", "AddmmBackward0", "backward"),
        ("op", "aten::convolution_backward", None),
        ("scope", "## forward ##", "forward"),
        ("scope", "Net.forward", "forward"),
        ("scope", "backward", "backward"),
        ("scope", "Optimizer.step#SGD.step", "optimizer"),
        ("scope", "Optimizer.zero_grad#SGD.zero_grad", "optimizer"),
        ("scope", "forward_hook", None),
        ("kernel", "backward", None),
    ],
)
def test_phases(kind, name, phase):
    assert phase_root(kind, name) == phase


def test_nodes_of_the_backward_pass():
    assert is_autograd_node("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad")
    assert not is_autograd_node("aten::mm")


def test_collectives_are_found_whatever_the_case():
    assert is_collective("NCCL AllReduce") and is_collective("void ALL_GATHER_kernel")
