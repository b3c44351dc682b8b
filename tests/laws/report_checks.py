"""What is true of every report, whatever the recording: parts sum to their whole, and every number is a number."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]

_PARTS = ("compute_ns", "communication_exposed_ns", "copy_exposed_ns", "idle_ns")
_IDLE_PARTS = ("idle_data_wait_ns", "idle_sync_ns", "idle_launch_ns", "idle_other_ns")


def assert_consistent(report: Json) -> None:
    """All sums of a report, and that it can be written as strict JSON."""
    json.dumps(report, allow_nan=False).encode()
    for rank in report["ranks"]:
        _check_events(rank["events"])
        for budget in _budgets(rank):
            _check_budget(budget)
        for step in rank["steps"]:
            assert step["budget"] is None or step["budget"]["total_ns"] == step["dur_ns"]
        for device in [*rank["devices"], *([rank["device_total"]] if rank["device_total"] else [])]:
            _check_device(device)
    for warning in report["warnings"]:
        assert warning["count"] > 0, warning
    _check_findings(report)


def _check_findings(report: Json) -> None:
    """Savings are of the step and no more than their parts of some rank's budget; the largest comes first."""
    budgets = [rank["step_summary"]["budget"] for rank in report["ranks"] if rank["step_summary"]]
    for finding in report["findings"]:
        saving, share, parts = (finding[key] for key in ("saving_ns_per_step", "saving_share", "budget_parts"))
        assert (saving is None) == (share is None), finding
        assert share is None or 0 < share <= 1, finding
        if set(parts) & set(budgets[0] if budgets else ()):
            assert any(0 < saving <= sum(budget[part] or 0 for part in parts) for budget in budgets), finding
        for place in finding["slices"]:
            assert 0 <= place["rank_index"] < len(report["ranks"]), finding
    savings = [finding["saving_ns_per_step"] for finding in report["findings"]]
    known = [saving for saving in savings if saving is not None]
    assert savings == sorted(known, reverse=True) + [None] * (len(savings) - len(known)), savings


def assert_sound_pipeline(pipeline: Json) -> None:
    """Shares are shares, and nothing waits for less than no time."""
    queues = [*pipeline["queues"], *(op["output_queue"] for op in pipeline["operators"] if op["output_queue"])]
    bound = pipeline["data_bound"] or {}
    shares = [each.get(key) for each in (*queues, bound) for key in ("usage_share", "empty_share", "share_of_step")]
    assert all(share is None or 0 <= share <= 1 for share in shares), pipeline
    counts = [bound.get(key) for key in ("waits", "batches", "wait_ns", "mean_wait_ns", "first_wait_ns")]
    counts += [queue[key] for queue in queues for key in ("samples", "capacity", "mean_size")]
    assert all(count is None or count >= 0 for count in counts), pipeline


def _check_events(events: Json) -> None:
    assert events["read"] == events["kept"] + sum(events["dropped"].values()), events
    assert events["kept"] >= 0, events
    assert all(count > 0 for count in events["dropped"].values()), events


def _budgets(rank: Json) -> Iterable[Json]:
    yield from (step["budget"] for step in rank["steps"] if step["budget"])
    if rank["step_summary"]:
        yield rank["step_summary"]["budget"]


def _check_budget(budget: Json) -> None:
    assert sum(budget[part] for part in _PARTS) == budget["total_ns"], budget
    assert sum(budget[part] or 0 for part in _IDLE_PARTS) == budget["idle_ns"], budget
    assert all((budget[part] or 0) >= 0 for part in (*_PARTS, *_IDLE_PARTS, "compile_ns")), budget
    assert (budget["idle_launch_ns"] is None) == (budget["basis"] == "host"), budget


_UNKNOWN_WITHOUT_KERNELS = (
    "busy_ns",
    "idle_ns",
    "compute_ns",
    "communication_overlapped_ns",
    "communication_exposed_ns",
    "copy_ns",
    "copy_exposed_ns",
    "kernel_busy_share",
)


def _check_device(device: Json) -> None:
    assert 0 <= device["linked_ops"] <= device["ops"], device
    if device["compute_ns"] is None:
        assert all(device[key] is None for key in _UNKNOWN_WITHOUT_KERNELS), device
        return
    assert device["idle_ns"] == device["span_ns"] - device["busy_ns"], device
    shown = device["communication_overlapped_ns"] + device["communication_exposed_ns"]
    assert device["communication_ns"] == shown, device
    parts = [device["compute_ns"], device["communication_exposed_ns"], device["copy_exposed_ns"]]
    assert sum(parts) == device["busy_ns"], device
    assert min(device["idle_ns"], *parts) >= 0, device
    share = device["kernel_busy_share"]
    assert share is None or 0 <= share <= 1, device
