"""The hardware task scheduler's log as MindSpore printed it: `output_format_data_hwts_{id}.txt`.

A title, then `Type cnt Core_ID Block_ID Task_ID Cycle_counter Stream_ID` in columns; types are `Start of task`, `End of
task`, and blocks, which are not read. Task_ID is the task's number where that is unique in the job (from 25000 on),
else `stream_task`. `framework_raw` of MindSpore to 1.7 tells which operator a task is. Read where
`output_timeline_data`, which was made of both, is absent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from laptime.importers.ascend_job_graph import GLOBAL_TASKS
from laptime.importers.ascend_job_hwts import TaskRuns, pair_tasks
from laptime.importers.mindinsight_operators import OperatorBook
from laptime.importers.mindinsight_reading import Folder
from laptime.importers.mindinsight_timeline import Executions
from laptime.model.vocabulary import NULL

_ROW = re.compile(
    r"^(?:(Start|End) of task|[A-Za-z ]+?)\s+\d+\s+\d+\s+\d+\s+(?:\d{1,10}_)?(\d{1,5})\s+(\d{1,16})\s+(\d{1,9})\s*$"
)


@dataclass(frozen=True)
class HwtsText:
    """Runs of operators, and of tasks that are none."""

    operators: Executions
    others: Executions


def read_hwts_text(folder: Folder, book: OperatorBook) -> HwtsText | None:
    """None where the log is absent, or nothing tells which operators its tasks are: then a display may tell more."""
    names = _names_of_tasks(book)
    text = folder.text("hwts_text") if names else None
    if text is None:
        return None
    runs = _runs(text, folder)
    found = [names.get(_key(*pair)) for pair in zip(runs.task.tolist(), runs.stream.tolist(), strict=True)]
    named = np.array([name is not None for name in found], bool)
    texts = [name or f"task {task}" for name, task in zip(found, runs.task.tolist(), strict=True)]
    kinds = ["kernel" if name else "device_other" for name in found]
    lanes = [str(stream) for stream in runs.stream.tolist()]
    everything = Executions(texts, lanes, runs.start_ns, runs.end_ns - runs.start_ns, kinds, "ai_core")
    if not named.any():
        return None
    return HwtsText(everything.where(named), everything.where(~named))


def _runs(text: str, folder: Folder) -> TaskRuns:
    matches = [_ROW.match(line) for line in text.splitlines()[2:] if line.strip()]
    rows = [match.groups() for match in matches if match]
    folder.drop_rows("hwts_text", len(matches) - len(rows))
    tasks = [(kind == "End", int(task), int(time), int(stream)) for kind, task, time, stream in rows if kind]
    ends, task, time, stream = (np.array([row[place] for row in tasks], np.int64) for place in range(4))
    runs = pair_tasks(stream, task, time, ends.astype(bool), folder.builder)
    folder.builder.read += len(tasks) - 2 * len(runs.task)  # those without a partner, which are dropped
    return runs


def _names_of_tasks(book: OperatorBook) -> dict[tuple[int, int], str]:
    """Full name of the operator of each task."""
    table = book.framework
    names = None if table is None else table.texts("full_op_name", "full_kernel_name")
    if table is None or names is None:
        return {}
    tasks, streams = table.integers("task_id").tolist(), table.integers("stream_id").tolist()
    return {_key(task, stream): name for name, task, stream in zip(names, tasks, streams, strict=True) if task != NULL}


def _key(task: int, stream: int) -> tuple[int, int]:
    return (NULL if task >= GLOBAL_TASKS else stream, task)
