"""Names of the files in a processed MindSpore `profiler/` folder: what each is, and which device it belongs to.

Nothing heavy is imported here: finding a cached result starts with looking at names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from laptime.importers.folders import FolderRecording

FORMAT = "mindinsight"

_NAMED: tuple[tuple[str, str], ...] = (
    ("framework", r"framework_raw_{id}\.csv"),
    ("timeline", r"output_timeline_data_{id}\.txt"),
    ("cycle_counter", r"min_cycle_counter_{id}\.txt"),
    ("hwts_text", r"output_format_data_hwts_{id}\.txt"),
    ("compute_time", r"output_op_compute_time_{id}\.txt"),
    ("compute_report", r"output_op_compute_time_detail_{id}\.txt"),
    ("aicore_detail", r"aicore_intermediate_{id}_detail\.csv"),
    ("aicore_type", r"aicore_intermediate_{id}_type\.csv"),
    ("pynative_detail", r"pynative_op_intermediate_{id}_detail\.csv"),
    ("pynative_type", r"pynative_op_intermediate_{id}_type\.csv"),
    ("aicpu", r"aicpu_intermediate_{id}\.csv"),
    ("aicpu_text", r"output_data_preprocess_aicpu_{id}\.txt"),
    ("step_trace", r"step_trace_raw_{id}_detail_time\.csv"),
    ("gpu_step_trace", r"step_trace_profiling_{id}\.txt"),
    ("points", r"step_trace_point_info_{id}\.json"),
    ("ascend_display", r"(?:ascend_)?timeline_display_{id}\.json(?:\.gz)?"),
    ("gpu_display", r"gpu_timeline_display_{id}\.json(?:\.gz)?"),
    ("ascend_summary", r"(?:ascend_)?timeline_summary_{id}\.json"),
    ("gpu_summary", r"gpu_timeline_summary_{id}\.json"),
    ("gpu_type", r"gpu_op_type_info_{id}\.csv"),
    ("gpu_detail", r"gpu_op_detail_info_{id}\.csv"),
    ("gpu_activity", r"gpu_activity_data_{id}\.csv"),
    ("gpu_host_times", r"gpu_op_execute_timestamp_{id}\.txt"),
    ("dynamic_shape", r"dynamic_shape_info_{id}\.json"),
    ("flops", r"flops_{id}\.txt"),
    ("flops_summary", r"flops_summary_{id}\.json"),
    ("flops_scope", r"flops_scope_{id}\.json"),
    ("hccl", r"hccl_raw_{id}\.csv"),
    ("cluster", r"(?:ascend|gpu)_cluster_analyse_[a-z]+-parallel_\d{1,6}_\d{1,6}_{id}\.csv"),
    ("memory", r"memory_usage_summary_{id}\.json"),
    ("memory_details", r"memory_usage_details_{id}\.json"),
    ("memory_proto", r"memory_usage_{id}\.pb"),
    ("strategy", r"parallel_strategy_{id}\.json"),
    ("pipeline", r"pipeline_profiling_{id}\.json"),
    ("minddata", r"(?:dataset_iterator|device_queue|minddata_getnext)_profiling_{id}\.txt"),
    ("minddata_aicpu", r"minddata_aicpu_{id}\.txt"),
    ("minddata_cpu", r"minddata_cpu_utilization_{id}\.json"),
    ("minddata_table", r"minddata_pipeline_(?:raw|summary)_{id}\.(?:csv|json)"),
)
_PATTERNS = tuple((kind, re.compile(text.replace("{id}", r"(\d{1,6})") + r"\Z")) for kind, text in _NAMED)
_COMPANIONS = (("profiler_info", re.compile(r"profiler_info_(\d{1,6})\.json\Z")),)
"""Files that other formats have too: they belong to a recording, but do not make one."""
_SHARED = (("points", re.compile(r"step_trace_point_info\.json\Z")),)
"""Files of no device: each device of the folder has them."""


def mindinsight_recordings(folder: Path) -> list[FolderRecording]:
    """One recording for each device id that the names of a folder's files have."""
    from laptime.importers.folders import FolderRecording

    names = files_by_device(entry.name for entry in folder.iterdir() if entry.is_file())
    return [FolderRecording(FORMAT, tuple(folder / name for name in own), device) for device, own in names.items()]


def kind_of_file(name: str) -> tuple[str, int | None] | None:
    """What a file is and its device id; None for a name that no such folder has."""
    for kind, pattern in (*_PATTERNS, *_COMPANIONS):
        match = pattern.match(name)
        if match:
            return kind, int(match[1])
    for kind, pattern in _SHARED:
        if pattern.match(name):
            return kind, None
    return None


def files_by_device(names: Iterable[str]) -> dict[int, list[str]]:
    """Names of the files of each device id, in order of name; empty where they make no recording."""
    found: dict[int, list[str]] = {}
    made: set[int] = set()
    shared = []
    for name in sorted(names):
        known = kind_of_file(name)
        if known is None:
            continue
        kind, device = known
        if device is None:
            shared.append(name)
            continue
        found.setdefault(device, []).append(name)
        if all(kind != companion for companion, _ in _COMPANIONS):
            made.add(device)
    return {device: sorted([*found[device], *shared]) for device in sorted(made)}


def names_by_kind(names: Iterable[str]) -> Mapping[str, str]:
    """One file name for each kind of file; the first in order of name where a kind has several."""
    kinds: dict[str, str] = {}
    for name in sorted(names):
        known = kind_of_file(name)
        if known is not None:
            kinds.setdefault(known[0], name)
    return kinds
