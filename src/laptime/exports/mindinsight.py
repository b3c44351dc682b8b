"""The folder that the MindInsight Profiler opens (its dialect of MindSpore 2.0 to 2.3), written from a trace.

MindInsight 2.3.1 is what it was checked with. What the trace lacks has no file. Deliberate differences from what
MindSpore itself wrote are listed in docs/mindinsight.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from laptime.errors import LaptimeError
from laptime.exports import mindinsight_tables as tables
from laptime.exports.mindinsight_data import data_pipeline_files
from laptime.exports.mindinsight_executions import Executions, Operator, executions, operator_times, operators
from laptime.exports.mindinsight_steps import StepTable, communication, region_names, step_table
from laptime.exports.mindinsight_timeline import display, summary
from laptime.exports.outputs import open_output
from laptime.model.trace import Trace


@dataclass(frozen=True)
class Written:
    """What was written."""

    files: list[str]
    operators: int
    executions: int
    steps: StepTable | None


def write_processed(trace: Trace, folder: Path, device: int) -> Written:
    """Writes the files of one device, named by its number, over those that are there. Makes the folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LaptimeError(
            error.strerror or "cannot be made", where=folder, remedy="choose another --output-path"
        ) from error
    known = operators(trace)
    found = executions(trace, known)
    steps = step_table(trace, communication(trace))
    files = []
    for name, content in _files(trace, device, known, found, steps):
        with open_output(folder / name) as output:
            output.write(content if isinstance(content, bytes) else content.encode())
        files.append(name)
    return Written(files, len(known), len(found), steps)


def _files(
    trace: Trace, device: int, known: dict[int, Operator], found: Executions, steps: StepTable | None
) -> Iterator[tuple[str, str | bytes]]:
    yield f"profiler_info_{device}.json", _profiler_info(trace, device)
    if known:
        yield f"framework_raw_{device}.csv", tables.framework_raw(known.values())
    if len(found):
        times = operator_times(found)
        yield f"aicore_intermediate_{device}_detail.csv", tables.aicore_detail(known, times)
        yield f"aicore_intermediate_{device}_type.csv", tables.aicore_type(known, times)
        yield f"output_op_compute_time_{device}.txt", tables.compute_time(known, times)
        yield f"output_op_compute_time_detail_{device}.txt", tables.compute_report(known, times)
        yield f"output_timeline_data_{device}.txt", tables.timeline_data(known, found)
        yield f"min_cycle_counter_{device}.txt", f"{float(found.start.min())}"
    kernels = tables.aicpu(trace)
    if kernels is not None:
        yield f"aicpu_intermediate_{device}.csv", kernels
    regions = communication(trace)
    if steps is not None:
        yield f"step_trace_raw_{device}_detail_time.csv", steps.text
        yield f"step_trace_point_info_{device}.json", _points(trace)
    if len(found) or kernels is not None or len(regions.start):
        names = region_names(regions, [] if steps is None else steps.spans)
        yield f"ascend_timeline_display_{device}.json", display(trace, device, known, found, regions, names)
        yield f"ascend_timeline_summary_{device}.json", summary(known, found)
    yield from data_pipeline_files(trace, device)


def _profiler_info(trace: Trace, device: int) -> str:
    rank = device if trace.rank is None else trace.rank
    return json.dumps({"context_mode": "graph", "rank_id": rank})


def _points(trace: Trace) -> str:
    """Operators at the two points inside steps."""
    names = (trace.meta.get("forward_start_op"), trace.meta.get("backward_end_op"))
    return json.dumps(
        dict(zip(("fp_start", "bp_end"), ("" if name is None else str(name) for name in names), strict=True))
    )
