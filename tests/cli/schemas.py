"""The keys and types of CONTRACT.md, and a checker for them. More keys than these may be there, never fewer."""

from __future__ import annotations

from typing import Any

Spec = Any
"""A type, None, a tuple of alternatives, [spec] for a list, {key: spec} for an object, Each(spec), OneOf(values)."""


class Each:
    """An object with any keys, whose values are all of one kind."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec


class OneOf:
    """One of some words."""

    def __init__(self, *values: object) -> None:
        self.values = values


def check(value: Any, spec: Spec, at: str = "$") -> None:
    """Fails where a value has not the shape of a spec; `at` is the way to it."""
    fault = _fault(value, spec, at)
    assert fault is None, fault


def _fault(value: Any, spec: Spec, at: str) -> str | None:
    if isinstance(spec, tuple):
        faults = [_fault(value, alternative, at) for alternative in spec]
        return None if None in faults else "; or ".join(str(fault) for fault in faults)
    if isinstance(spec, list):
        pairs = (
            [(f"{at}[{place}]", entry, spec[0]) for place, entry in enumerate(value)] if type(value) is list else None
        )
    elif isinstance(spec, dict):
        if type(value) is dict and spec.keys() - value.keys():
            return f"{at} lacks {sorted(spec.keys() - value.keys())}"
        pairs = [(f"{at}.{key}", value[key], spec[key]) for key in spec] if type(value) is dict else None
    elif isinstance(spec, Each):
        pairs = [(f"{at}.{key}", entry, spec.spec) for key, entry in value.items()] if type(value) is dict else None
    else:
        return None if _is(value, spec) else f"{at} is {value!r}, expected {spec}"
    if pairs is None:
        return f"{at} is {value!r}"
    return next((fault for where, entry, part in pairs if (fault := _fault(entry, part, where))), None)


def _is(value: Any, spec: Spec) -> bool:
    if isinstance(spec, OneOf):
        return value in spec.values
    return value is None if spec is None else type(value) is spec


NS = int
MAYBE_NS = (int, None)
COUNT = int
TEXT = (str, None)

BUDGET = {
    "basis": OneOf("device", "host"),
    "total_ns": NS,
    "compute_ns": NS,
    "communication_exposed_ns": NS,
    "copy_exposed_ns": NS,
    "idle_ns": NS,
    "idle_data_wait_ns": NS,
    "idle_sync_ns": NS,
    "idle_launch_ns": MAYBE_NS,
    "idle_other_ns": NS,
    "compile_ns": MAYBE_NS,
}
DEVICE = {
    "device": (int, None),
    "name": TEXT,
    "ops": COUNT,
    "linked_ops": COUNT,
    "span_ns": NS,
    "busy_ns": MAYBE_NS,
    "idle_ns": MAYBE_NS,
    "compute_ns": MAYBE_NS,
    "communication_ns": MAYBE_NS,
    "communication_overlapped_ns": MAYBE_NS,
    "communication_exposed_ns": MAYBE_NS,
    "copy_ns": MAYBE_NS,
    "copy_exposed_ns": MAYBE_NS,
    "streams": COUNT,
    "kernel_busy_share": (float, None),
}
WARNING_CODES = OneOf(
    "truncated",
    "invalid_json",
    "clock_disorder",
    "unlinked_device_ops",
    "untimed",
    "overrunning",
    "unbalanced",
    "lost_records",
    "duplicate",
    "unknown_events",
    "partial_step",
    "cut_by_recorder",
    "mismatch",
    "other",
)
REPORT_STEP = {
    "step": int,
    "index": int,
    "window": int,
    "start_ns": NS,
    "dur_ns": NS,
    "source": OneOf("marked", "inferred"),
    "complete": bool,
    "budget": (BUDGET, None),
    "devices": [{"device": (int, None), "busy_ns": NS}],
}
REPORT_RANK = {
    "rank": (int, None),
    "source": str,
    "format": str,
    "framework": TEXT,
    "events": {"read": COUNT, "kept": COUNT, "dropped": Each(int)},
    "devices": [DEVICE],
    "device_total": (DEVICE, None),
    "host": {"tracks": COUNT, "slices": COUNT, "ops": COUNT, "syncs": COUNT, "sync_ns": NS, "launches": COUNT},
    "step_summary": (
        {"steps_used": COUNT, "mean_ns": NS, "median_ns": NS, "p90_ns": NS, "budget": BUDGET},
        None,
    ),
    "steps": [REPORT_STEP],
}
FINDING = {
    "rule": str,
    "cause": OneOf(
        "data_loading",
        "data_transfer",
        "host_sync",
        "launch_bound",
        "host_busy",
        "serial_communication",
        "exposed_communication",
        "unbalanced_ranks",
        "useless_ops",
        "slow_operator",
        "small_kernels",
        "recompilation",
        "recomputation",
        "memory_pressure",
        "step_variation",
        "not_tuned",
        "other",
    ),
    "severity": OneOf("high", "medium", "low", "info"),
    "title": str,
    "saving_ns_per_step": MAYBE_NS,
    "saving_share": (float, None),
    "confidence": OneOf("high", "medium", "low"),
    "evidence": [{"name": str, "value": (int, float, str, None), "unit": str}],
    "slices": [{"rank_index": int, "slice_id": int}],
    "where": ({"module": TEXT, "file": TEXT, "line": (int, None), "function": TEXT}, None),
    "fix": str,
    "rank": (int, None),
    "budget_parts": [str],
}
REPORT = {
    "schema_version": int,
    "run": {
        "path": str,
        "format": str,
        "framework": TEXT,
        "framework_version": TEXT,
        "world_size": (int, None),
        "ranks": [(int, None)],
        "pipeline_stages": (dict, None),
    },
    "ranks": [REPORT_RANK],
    "findings": [FINDING],
    "not_recorded": [{"what": str, "how_to_record": str}],
    "warnings": [{"code": WARNING_CODES, "message": str, "count": COUNT}],
}

STEP_PARTS = {
    "interval_ns": MAYBE_NS,
    "forward_backward_ns": MAYBE_NS,
    "tail_ns": MAYBE_NS,
    "total_ns": MAYBE_NS,
}
STEP = {
    "schema_version": int,
    "rank": (int, None),
    "source": str,
    "unit": OneOf("ns"),
    "steps": [
        {
            "step": int,
            "index": int,
            "start_ns": NS,
            "gap_before_ns": MAYBE_NS,
            **STEP_PARTS,
            "complete": bool,
            "communication": [{"name": str, "stream": (str, int, None), "start_ns": NS, "dur_ns": NS}],
        }
    ],
    "average": ({"steps_used": COUNT, "first_step_included": bool, **STEP_PARTS}, None),
    "median": (STEP_PARTS, None),
    "p90": (STEP_PARTS, None),
    "forward_start_op": TEXT,
    "backward_end_op": TEXT,
    "skipped": [{"step": int, "reason": str}],
}

OP = {
    "schema_version": int,
    "rank": (int, None),
    "source": str,
    "by": str,
    "on": OneOf("host", "device"),
    "total_rows": COUNT,
    "rows": [
        {
            "name": str,
            "op_type": TEXT,
            "device_kind": TEXT,
            "count": COUNT,
            "total_ns": MAYBE_NS,
            "self_ns": MAYBE_NS,
            "mean_ns": MAYBE_NS,
            "min_ns": MAYBE_NS,
            "max_ns": MAYBE_NS,
            "p50_ns": MAYBE_NS,
            "p90_ns": MAYBE_NS,
            "share": (float, None),
            "info": (dict, None),
        }
    ],
}
MEMORY = {
    "schema_version": int,
    "rank": (int, None),
    "source": str,
    "devices": [
        {
            "device": TEXT,
            "allocations": COUNT,
            "peak_bytes": int,
            "peak_at_ns": NS,
            "end_bytes": int,
            "live_at_peak": [{"name": TEXT, "op": TEXT, "size_bytes": int, "start_ns": MAYBE_NS, "end_ns": MAYBE_NS}],
        }
    ],
    "counters": [
        {
            "name": str,
            "device": TEXT,
            "max_value": (int, float),
            "mean_value": (float, None),
            "samples": COUNT,
        }
    ],
}
SQL = {"schema_version": int, "columns": [str], "rows": [list]}
RUNS = {
    "schema_version": int,
    "workspace": str,
    "runs": [{"key": str, "path": str, "name": str, "format": str, "framework": TEXT, "size_bytes": int}],
}
ADVISE = {"schema_version": int, "findings": [FINDING], "not_recorded": [{"what": str, "how_to_record": str}]}
