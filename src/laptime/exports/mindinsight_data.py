"""The data pipeline in MindInsight's processed folder.

`minddata_pipeline_raw_{id}.csv`: operators with their output queues. Those without a queue work inside the operator
that takes from them; all but the root are left out, and what they take from goes to that operator. Numbers that are
unknown are 0 where the format must have one. `minddata_aicpu_{id}.txt`: name, start and end (us) and size of the chip's
queue whenever a batch was fetched from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pyarrow.compute as pc

from laptime.exports.mindinsight_tables import csv_text
from laptime.model.trace import Trace

_PIPELINE = (
    "op_id,op_type,num_workers,output_queue_size,output_queue_average_size,output_queue_length,"
    "output_queue_usage_rate,sample_interval,parent_id,children_id"
)
_NS_PER_MS = 1_000_000
_Row = dict[str, object]


def data_pipeline_files(trace: Trace, device: int) -> Iterator[tuple[str, str]]:
    """Name and content of the files that the trace has something for."""
    rows = trace.table("pipeline_ops").arrow().to_pylist()
    if rows:
        yield f"minddata_pipeline_raw_{device}.csv", _pipeline_table(trace, rows)
    facts = trace.meta.get("minddata")
    fetched = facts if isinstance(facts, dict) else {}
    starts, waits = fetched.get("fetch_start_us"), fetched.get("fetch_wait_ns")
    if starts and waits:
        sizes = [row["size"] for row in _samples(trace, "device")]
        lines = [
            f"GetNext_dequeue_wait {start} {start + wait // 1000} {size}\n"
            for start, wait, size in zip(starts, waits, sizes, strict=True)
        ]
        yield f"minddata_aicpu_{device}.txt", "".join(lines)


def _pipeline_table(trace: Trace, rows: list[_Row]) -> str:
    samples = {row["op_id"]: _samples(trace, f"op {row['op_id']}") for row in rows}
    shown = [row for row in rows if row["parent_id"] is None or row["queue_capacity"] is not None]
    parents = _lifted_parents(rows, {row["op_id"] for row in shown})
    interval = next((step for each in samples.values() if (step := _interval_ms(each)) is not None), 0)
    lines = []
    for row in shown:
        sizes = [sample["size"] for sample in samples[row["op_id"]]]
        children = [other["op_id"] for other in shown if parents[other["op_id"]] == row["op_id"]]
        lines.append(
            [
                row["op_id"],
                row["op_type"],
                row["workers"] or 0,
                json.dumps(sizes) if sizes else None,
                row["queue_mean_size"],
                row["queue_capacity"],
                row["queue_usage_share"],
                interval,
                parents[row["op_id"]],
                json.dumps(children) if children else None,
            ]
        )
    return csv_text(_PIPELINE.split(","), lines)


def _lifted_parents(rows: list[_Row], shown: set[object]) -> dict[object, object]:
    """The nearest operator among those shown that takes from each."""
    direct = {row["op_id"]: row["parent_id"] for row in rows}
    lifted: dict[object, object] = {}
    for op_id in direct:
        parent, seen = direct[op_id], {op_id}
        while parent is not None and parent not in shown and parent not in seen:
            seen.add(parent)
            parent = direct.get(parent)
        lifted[op_id] = parent if parent in shown else None
    return lifted


def _interval_ms(samples: list[_Row]) -> int | None:
    times = [sample["ts_ns"] for sample in samples[:2]]
    first, second = times if len(times) == 2 else (None, None)
    return (second - first) // _NS_PER_MS if isinstance(first, int) and isinstance(second, int) else None


def _samples(trace: Trace, queue: str) -> list[_Row]:
    table = trace.table("queue_samples").arrow()
    return list(table.filter(pc.equal(table["queue"], queue)).to_pylist())
