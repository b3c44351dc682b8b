"""What a raw Ascend job lacks where one of its files is absent or empty, and how it would be recorded."""

from __future__ import annotations

from collections.abc import Iterable

_OPTIONS = "PROFILING_OPTIONS=training_trace:task_trace (the Profiler sets it; create it before the network is built)"
_FRAMEWORK = (
    "copy the Framework.* files too; older installations keep them in container/DEVICE/data beside the JOB folder"
)
_DATA = "AICPU_PROFILING_MODE=true (the Profiler sets it; create it before the network is built)"
_PARTS = (
    ("hwts.log.data", "times of operators on the device, and with them the steps' budgets (hwts log)", _OPTIONS),
    ("training_trace", "steps and their communication (training_trace)", _OPTIONS),
    ("task_desc_info", "which operator a task belongs to, and with it the steps' budgets (task_desc_info)", _FRAMEWORK),
    ("graph_desc_info", "shapes, formats and data types of operators (graph_desc_info)", _FRAMEWORK),
    ("point", "names of the step points and of communication (point)", _FRAMEWORK),
    ("AICPU", "kernels of the AI CPU (DATA_PREPROCESS AICPU)", _DATA),
    ("AICPUMI", "the chip's queue when batches are fetched (DATA_PREPROCESS AICPUMI)", _DATA),
    ("TDT", "batches that wait to be sent (DATA_PREPROCESS TDT)", _DATA),
)


def missing_parts(kinds: Iterable[str]) -> list[dict[str, str]]:
    """`{what, how_to_record}` for every kind of file that is not among those that hold something."""
    present = set(kinds)
    return [{"what": what, "how_to_record": how} for kind, what, how in _PARTS if kind not in present]
