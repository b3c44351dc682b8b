"""Findings on real recordings: known faults with figures computed by other means, and runs that have none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from laptime.advice.advising import advise, report
from laptime.analyses.parts import Part
from laptime.analyses.step_trace import step_trace
from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace

pytestmark = pytest.mark.corpus

Json = dict[str, Any]
Advise = Callable[[str], list[Json]]


@pytest.fixture
def advised(corpus: Path, workspace: Workspace) -> Advise:
    """Findings on a case of the corpus."""

    def findings(case: str) -> list[Json]:
        found = advise(open_run(corpus / case, workspace=workspace))["findings"]
        assert isinstance(found, list)
        return found

    return findings


def _one(findings: list[Json], rule: str) -> Json:
    (found,) = [finding for finding in findings if finding["rule"] == rule]
    return found


def _facts(corpus: Path, family: str, case: str) -> Json:
    if family == "pytorch":
        return dict(json.loads((corpus / family / case / "facts.json").read_text()))
    return dict(json.loads((corpus / family / "facts.json").read_text())[case])


def _jax_steps(corpus: Path, case: str) -> list[Json]:
    return list(_facts(corpus, "jax_xplane", case)["vm.xplane.pb"]["planes"][1]["steps"])


# ---- known faults ----


def test_loader_of_the_users_own_in_jax(corpus: Path, advised: Advise) -> None:
    steps = _jax_steps(corpus, "jax_cpu_inputbound")
    found = _one(advised("jax_xplane/jax_cpu_inputbound"), "data_wait")
    waited, total = (sum(step[key] for step in steps) for key in ("load_batch_ms", "ms"))
    assert found["saving_ns_per_step"] == pytest.approx(waited / len(steps) * 1e6, abs=1)
    assert found["saving_share"] == pytest.approx(waited / total, abs=1e-6)
    assert round(found["saving_share"], 3) == 0.485
    assert found["severity"] == "high"


def test_recompilation_in_jax(corpus: Path, advised: Advise) -> None:
    """README: backend_compile_and_load 8 events 5 015.5 ms of 6 524.4 ms step time = 76.9 %."""
    first, *others = advised("jax_xplane/jax_cpu_recompile")
    assert (first["rule"], first["cause"], first["severity"]) == ("recompilation", "recompilation", "high")
    assert first["saving_ns_per_step"] == pytest.approx(5015.5e6 / 8, abs=1e4)
    assert round(first["saving_share"], 3) == 0.769
    assert {other["severity"] for other in others} <= {"info"}


@pytest.mark.parametrize("case", ["own-cpu-dataloader-workers0", "own-cpu-dataloader-workers2"])
def test_data_loader_of_torch(corpus: Path, advised: Advise, case: str) -> None:
    waits = _facts(corpus, "pytorch", case)["extra"]["dataloader_next_us"]
    found = advised(f"pytorch/{case}")[0]
    assert (found["rule"], found["cause"], found["severity"]) == ("data_wait", "data_loading", "high")
    assert found["saving_ns_per_step"] == pytest.approx(sum(waits) / len(waits) * 1000, abs=1)
    assert ("with 0 the training loop" in found["fix"]) == case.endswith("workers0")


@pytest.mark.parametrize(("case", "ms"), [("loader_starved_workers0", 128.0), ("loader_starved_workers1", 128.0)])
def test_starving_loader_of_megengine(advised: Advise, case: str, ms: float) -> None:
    """README: fetch takes at least 128 ms of each step, 92-99 % of it."""
    found = _one(advised(f"megengine/{case}"), "data_wait")
    assert found["saving_ns_per_step"] >= ms * 1e6
    assert found["saving_share"] > 0.9
    assert found["severity"] == "high"
    assert "megengine.data.DataLoader" in found["fix"]


def test_slow_map_of_mindspore(advised: Advise) -> None:
    """README: Map(id=3) is the bottleneck, its input queue 85 % full, its output queue always empty."""
    findings = advised("mindspore/ms200-graph-slow-map")
    found = findings[0]
    assert (found["rule"], found["severity"]) == ("pipeline_operator", "high")
    assert found["title"].startswith("Map(id=3) ")
    assert "num_parallel_workers of map" in found["fix"]
    evidence = {each["name"]: each["value"] for each in found["evidence"]}
    assert evidence["use of its input queue"] == pytest.approx(0.8491, abs=1e-4)
    assert evidence["use of its output queue"] == 0
    empty = {each["name"]: each["value"] for each in _one(findings, "slow_process")["evidence"]}
    assert empty["host queue found empty"] == pytest.approx(43 / 60)


def test_serial_collectives_of_megengine(advised: Advise) -> None:
    """README: in three steps 6000 us of communication on gpu0:0, nothing overlapped."""
    (found,) = [
        finding for finding in advised("megengine/synthetic_gpu_allreduce_serial") if finding["severity"] != "info"
    ]
    assert (found["rule"], found["cause"]) == ("serial_communication", "serial_communication")
    assert found["saving_ns_per_step"] == 6_000_000 // 3
    assert "gpu0:0" in found["title"]
    assert "make_allreduce_cb" in found["fix"]


def test_overlapped_collectives_of_megengine(advised: Advise) -> None:
    """README: of 6000 us in three steps 450 us are exposed."""
    found = _one(advised("megengine/synthetic_gpu_allreduce_overlap"), "exposed_communication")
    assert (found["saving_ns_per_step"], found["severity"]) == (450_000 // 3, "info")
    evidence = {each["name"]: each["value"] for each in found["evidence"]}
    assert evidence["overlapped by computation"] == pytest.approx(5550 / 6000)


def test_waits_with_their_lines(corpus: Path, advised: Advise) -> None:
    """README: five waits in each of three steps, the first of them for the shape of a cond_take in get_ground_truth."""
    found = _one(advised("megengine/sync_shape_value_backtrace"), "host_sync")
    assert found["where"]["file"] == "/workspace/train/sync.py"
    assert found["where"]["line"] == 6
    assert "get_ground_truth" in found["where"]["module"]
    assert ".numpy()" in found["fix"]


def test_waits_of_a_faulty_optimizer(corpus: Path, advised: Advise) -> None:
    """README: six gradient norms are read on the host in each of three steps."""
    facts = _facts(corpus, "megengine", "fault_reshape_sync_backtrace")["sync_waits"]
    found = _one(advised("megengine/fault_reshape_sync_backtrace"), "host_sync")
    assert (found["where"]["file"], found["where"]["line"]) == ("/workspace/train/models.py", 82)
    assert 0 < found["saving_ns_per_step"] <= facts["sum_us"] * 1000 / 3
    assert found["severity"] == "low"


def test_straggler(advised: Advise) -> None:
    """By construction rank 2 loads its data 30 ms longer than the others."""
    found = advised("pytorch/own-cpu-ddp4-straggler")
    data = _one(found, "data_wait")
    assert (data["rank"], data["severity"]) == (2, "high")
    assert data["saving_ns_per_step"] == pytest.approx(30e6, rel=0.05)

    late = _one(found, "slow_rank")
    assert (late["rank"], late["cause"], late["severity"]) == (2, "unbalanced_ranks", "high")
    assert "rank 2, which spends 30.3 ms more waiting for data" in late["title"]


@pytest.mark.parametrize("case", ["fault_reshape_sync_default", "fault_reshape_sync_backtrace"])
def test_reshapes_after_the_step(corpus: Path, advised: Advise, case: str) -> None:
    """README: per step 102 Reshape of 307 dispatches, planted after the optimizer."""
    reshapes = _facts(corpus, "megengine", case)["dispatch_by_name"]["Reshape"]
    first = advised(f"megengine/{case}")[0]
    assert (first["rule"], first["cause"]) == ("useless_operators", "useless_ops")
    evidence = {each["name"]: each["value"] for each in first["evidence"]}
    assert evidence["such operators per step"] == reshapes / 3 == 102
    kernels = _facts(corpus, "megengine", case)["kernels"]["cpux:0"]["by_name"]["Reshape"]
    assert evidence["their device time per step"] == pytest.approx(kernels[1] * 1000 / 3, abs=1)
    assert first["severity"] in ("medium", "high")
    if case.endswith("backtrace"):
        assert (first["where"]["file"], first["where"]["function"]) == ("/workspace/train/models.py", "step")


def test_a_host_that_launches_too_slowly(corpus: Path, advised: Advise) -> None:
    """The device waits for launches in two fifths of each step, between 22290 small pieces of work in five steps."""
    facts = _facts(corpus, "pytorch", "hta-v100-216k-events")["df_index_resolver.json.gz"]
    first = advised("pytorch/hta-v100-216k-events")[0]
    assert (first["rule"], first["severity"]) == ("launch_bound", "high")
    evidence = {each["name"]: each["value"] for each in first["evidence"]}
    assert evidence["pieces of device work per step"] == facts["device_ops"] / 5
    assert first["saving_ns_per_step"] * 5 < facts["gpu_us"]["idle"] * 1000
    assert "CUDA graphs" in first["fix"]


def test_exposed_communication_of_a_raw_job(advised: Advise) -> None:
    """README: of 205.38 ms per step 77.43 ms are communication that nothing hides."""
    found = _one(advised("mindinsight/job3_widedeep_raw"), "exposed_communication")
    assert found["saving_ns_per_step"] == pytest.approx(77.43e6, abs=1e4)
    assert round(found["saving_share"], 3) == 0.377
    assert "all_reduce_fusion_config" in found["fix"]


def test_interval_of_a_raw_job(advised: Advise) -> None:
    """README: average interval 90.3536 of 130.4561 ms; the rule of MindInsight must fire."""
    found = _one(advised("mindinsight/job1_raw"), "step_interval")
    assert found["saving_ns_per_step"] == pytest.approx(90.3536e6, abs=100)
    assert found["saving_share"] == pytest.approx(0.6926, abs=1e-4)


def test_interval_of_one_step_of_a_raw_job(corpus: Path, workspace: Workspace) -> None:
    run = open_run(corpus / "mindinsight/job1_raw", workspace=workspace)
    of_step = [step for step in step_trace(run.traces[0]).steps if step["step"] == 3]
    findings = report(run, Part(steps=((3, 3),)))["findings"]
    assert isinstance(findings, list)
    assert _one(findings, "step_interval")["saving_ns_per_step"] == of_step[0]["interval_ns"]


def test_gaps_between_iterations(advised: Advise) -> None:
    """README: rank 0 idles 32.1, 23.3, 17.8, 15.6 and 16.2 ms before its iterations 2 to 6."""
    found = _one(advised("mindinsight/prof_2023_8p_rank0_1_iter1-6"), "step_interval")
    assert found["rank"] == 0
    assert found["saving_ns_per_step"] == pytest.approx((32.1 + 23.3 + 17.8 + 15.6 + 16.2) / 5 * 1e6, abs=1e5)


def test_unequal_pipeline_stages_of_a_language_model(advised: Advise) -> None:
    """README: stage 0 computes 231 ms, stage 1 400 ms; within a stage no rank is slow."""
    findings = advised("ascend/st-level2-4ranks")
    found = _one(findings, "stage_imbalance")
    assert found["saving_ns_per_step"] == pytest.approx((400_448_260 - 231_290_100) / 2, abs=1)
    assert (found["rank"], found["cause"]) == (2, "unbalanced_ranks")
    assert "slow_rank" not in {finding["rule"] for finding in findings}


def test_unequal_pipeline_stages_of_mindspore(advised: Advise) -> None:
    """README, means of the steps that are there: 14.7765 and 14.7294 ms in the first stage, 123.2287 and 122.9743 in
    the second; 16.55 % of the time between stages; the link from 0 to 1 is the slow one of its type."""
    findings = advised("mindinsight/cluster_pp2x2_parsed")
    found = _one(findings, "stage_imbalance")
    first, second = (14.7765 + 14.7294) / 2, (123.2287 + 122.9743) / 2
    assert found["saving_ns_per_step"] == pytest.approx((second - first) / 2 * 1e6, abs=2e3)
    evidence = {each["name"]: each["value"] for each in found["evidence"]}
    assert evidence["time between stages"] == pytest.approx(0.1655, abs=1e-4)
    link = _one(findings, "slow_link")
    assert link["title"].startswith("Link 0-1 (SDMA) ")
    assert link["severity"] == "info"


def test_operators_on_the_ai_cpu(advised: Advise) -> None:
    found = _one(advised("mindinsight/job_aicpu"), "ai_cpu_operators")
    assert (found["cause"], found["severity"], found["saving_ns_per_step"]) == ("slow_operator", "info", None)


def test_megengine_without_fast_run(advised: Advise) -> None:
    found = _one(advised("megengine/resnet_default"), "not_tuned")
    assert (found["cause"], found["severity"]) == ("not_tuned", "info")
    assert "set_execution_strategy('PROFILE')" in found["fix"]


def test_processors_without_time_to_load(advised: Advise) -> None:
    """README: 90 % of the processors' time is used."""
    found = _one(advised("mindinsight/profiler_small_master"), "processor_load")
    assert found["evidence"][0]["value"] == 90


def test_percentages_that_cannot_be_are_not_believed(advised: Advise) -> None:
    """README: sampled every 10 ms, nearly every percentage is 0."""
    assert "processor_load" not in {finding["rule"] for finding in advised("mindspore/ms200-graph-slow-map")}


# ---- runs without a fault ----

CLEAN = (
    "megengine/synthetic_gpu_allreduce_overlap",  # communication is hidden but for 3.2 %
    "megengine/synthetic_gpu_cupti",  # busy for 99.4 % of the step
    "megengine/mlp_default",  # no fault planted; on the CPU
    "megengine/mlp_scopes",
    "megengine/mlp_backtrace",
    "megengine/mlp_step5",
    "megengine/resnet_default",
    "megengine/resnet_scopes",
    "megengine/transformer_default",
    "megengine/transformer_scopes_step_sample5",
    "megengine/loader_default",  # computation takes longer than loading
    "megengine/loader_backtrace",
    "jax_xplane/jax_cpu_plain",  # loads for 2.0 % of the step
    "jax_xplane/jax_cpu_python",
    "mindspore/ms200-graph-sink",  # one empty batch of 60
    "mindspore/ms210-graph-minddata-slow-map",  # the pipeline is slow, training slower
    "mindspore/ms210-graph-model",
    "mindspore/ms210-graph-schedule",
    "mindspore/ms210-pynative-model",
    "pytorch/hta-ns-resolution-v100",  # computes for 96.5 % of the step
    "pytorch/tl-h100-qwen05b",  # computes for 91 % of the step
)


@pytest.mark.parametrize("case", CLEAN)
def test_no_fault_is_found_where_there_is_none(advised: Advise, case: str) -> None:
    assert [finding["title"] for finding in advised(case) if finding["severity"] != "info"] == []


# ---- all cases ----

CASES = (
    "pytorch/hta-dlrm-a100-8rank-r3",
    "pytorch/hta-v100-216k-events",
    "pytorch/own-cpu-ddp4-straggler",
    "pytorch/tb-resnet50-workers4",
    "pytorch/tl-h100-owlv2-132k-events",
    "megengine/fault_reshape_sync_backtrace",
    "megengine/ranks2",
    "pytorch/hta-dlrm-v100-2rank-r1",
    "jax_xplane/jax_cpu_dp4",
    "ascend/pt-text-level1",
    "ascend/st-level2-4ranks",
    "mindinsight/job3_widedeep_raw",
    "mindinsight/prof_2023_8p_rank0_1_iter1-6",
)


@pytest.mark.parametrize("case", CASES)
def test_savings_lie_in_the_budget_and_slices_open(corpus: Path, workspace: Workspace, case: str) -> None:
    from laptime.analyses.slice_details import slice_details

    run = open_run(corpus / case, workspace=workspace)
    result: Json = report(run)
    assert result["findings"]
    for finding in result["findings"]:
        budgets = [entry["step_summary"]["budget"] for entry in result["ranks"] if entry["step_summary"]]
        if finding["budget_parts"] and "gap_before_ns" not in finding["budget_parts"]:
            assert any(
                0 < finding["saving_ns_per_step"] <= sum(budget[part] or 0 for part in finding["budget_parts"])
                and finding["saving_share"]
                == pytest.approx(finding["saving_ns_per_step"] / budget["total_ns"], abs=1e-6)
                for budget in budgets
            ), finding["title"]
        for place in finding["slices"]:
            details = slice_details(run.traces[place["rank_index"]], place["slice_id"])
            assert details.slice["slice_id"] == place["slice_id"]
    savings = [finding["saving_ns_per_step"] for finding in result["findings"]]
    known = [saving for saving in savings if saving is not None]
    assert savings == sorted(known, reverse=True) + [None] * (len(savings) - len(known))
