"""MindData: what MindSpore's dataset engine recorded of its queues, operators and waits.

Read here: `pipeline_profiling_{id}.json` (operator tree with queue sizes per sampling interval), its table
`minddata_pipeline_raw_{id}.csv`, `dataset_iterator_profiling_{id}.txt` and `device_queue_profiling_{id}.txt` (per
batch: times in ms and the host queue's size), `minddata_aicpu_{id}.txt` and `minddata_getnext_profiling_{id}.txt` (the
chip's queue when a batch is fetched), `minddata_cpu_utilization_{id}.json`. Each is optional.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa

from laptime.importers.decoders import Decoders
from laptime.importers.progress import Progress
from laptime.importers.sources import Source
from laptime.model.builder import TraceBuilder
from laptime.model.schema import SCHEMAS
from laptime.model.vocabulary import BETWEEN_OPERATORS

_FAULTS = (csv.Error, RecursionError)
_MS = 1_000_000
_QUEUE_ROW, _TIME_ROW = 1, 0
_WAIT, _PUSH, _TOTAL = 0, 1, 2
HOST_QUEUE, DEVICE_QUEUE = "host", "device"
"""The queue that data processing fills, and the chip's queue that sending fills."""


class MindData:
    """What laptime's recorder has the dataset engine write for a window, and nothing else."""

    name = "minddata"

    def matches(self, head: bytes, source: Source) -> bool:
        """Never: these are folders, which by themselves are read as MindInsight's."""
        return False

    def read(self, source: Source, builder: TraceBuilder, progress: Progress, decoders: Decoders) -> None:
        """Reads all files of the folder."""
        read_minddata(source.files, builder)
        progress(1, 1)


def read_minddata(files: Sequence[Path], builder: TraceBuilder) -> None:
    """Adds what the files hold to queue samples, pipeline operators and `meta["minddata"]`; names damaged files."""
    superseded = {lesser for better, lesser in _BETTER if any(better.match(file.name) for file in files)}
    for file in sorted(files):
        for pattern, read in _READERS:
            if not pattern.match(file.name) or pattern in superseded:
                continue
            samples, operators = len(builder.queue_samples), len(builder.pipeline_ops)
            try:
                read(file, builder)
                pa.Table.from_pylist(builder.queue_samples[samples:], SCHEMAS["queue_samples"])
                pa.Table.from_pylist(builder.pipeline_ops[operators:], SCHEMAS["pipeline_ops"])
            except (OSError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, *_FAULTS) as error:
                del builder.queue_samples[samples:], builder.pipeline_ops[operators:]
                builder.warnings.add("other", f"{file.name} cannot be read ({type(error).__name__}); left out")


def _facts(builder: TraceBuilder) -> dict[str, object]:
    facts = builder.meta.setdefault("minddata", {})
    assert isinstance(facts, dict)
    return facts


# ---- operator tree ----


def _read_pipeline(file: Path, builder: TraceBuilder) -> None:
    content = json.loads(file.read_text(encoding="utf-8", errors="replace"))
    parents = {child: op["op_id"] for op in content["op_info"] for child in op.get("children") or []}
    for op in sorted(content["op_info"], key=lambda each: each["op_id"]):
        queue = (op.get("metrics") or {}).get("output_queue")
        sizes = [int(size) for size in queue["size"]] if queue else None
        capacity = int(queue["length"]) if queue else None
        _add_operator(builder, op["op_id"], op["op_type"], op.get("num_workers"), parents.get(op["op_id"]))
        _add_queue(builder, op["op_id"], sizes, capacity, interval_ms=content.get("sampling_interval"))


def _read_pipeline_table(file: Path, builder: TraceBuilder) -> None:
    with file.open(encoding="utf-8", errors="replace", newline="") as handle:
        for row in csv.DictReader(handle):
            sizes = json.loads(row["output_queue_size"]) if row["output_queue_size"] else None
            capacity = int(row["output_queue_length"]) if row["output_queue_length"] else None
            parent = int(row["parent_id"]) if row["parent_id"] else None
            _add_operator(builder, int(row["op_id"]), row["op_type"], int(row["num_workers"]), parent)
            _add_queue(builder, int(row["op_id"]), sizes, capacity, interval_ms=row["sample_interval"] or None)


def _add_operator(builder: TraceBuilder, op_id: int, op_type: str, workers: object, parent: int | None) -> None:
    kind = op_type[:-2] if op_type.endswith("Op") else op_type
    builder.pipeline_ops.append(
        {
            "op_id": op_id,
            "op_type": kind,
            "name": f"{kind}(id={op_id})",
            "workers": workers if isinstance(workers, int) else None,
            "parent_id": parent,
            "queue_mean_size": None,
            "queue_capacity": None,
            "queue_usage_share": None,
            "queue_empty_share": None,
            "queue_samples": None,
            "queue": None,
        }
    )


def _add_queue(
    builder: TraceBuilder, op_id: int, sizes: list[int] | None, capacity: int | None, *, interval_ms: object
) -> None:
    """Queue figures of the operator added last, and its samples; times count from the first sample."""
    if not sizes or not capacity:
        return
    if not all(0 <= size <= capacity for size in sizes):
        builder.warnings.add("other", f"queue of operator {op_id}: sizes that no queue of its capacity has; left out")
        return
    mean = sum(sizes) / len(sizes)
    builder.pipeline_ops[-1].update(
        queue_mean_size=mean,
        queue_capacity=capacity,
        queue_usage_share=mean / capacity,
        queue_empty_share=sizes.count(0) / len(sizes),
        queue_samples=len(sizes),
        queue=f"op {op_id}",
    )
    step = None if interval_ms is None else round(float(str(interval_ms)) * _MS)
    builder.queue_samples += [
        {
            "queue": f"op {op_id}",
            "stage": BETWEEN_OPERATORS,
            "step": None,
            "ts_ns": None if step is None else place * step,
            "size": size,
            "capacity": capacity,
        }
        for place, size in enumerate(sizes)
    ]


# ---- waits per batch ----


def _read_batches(file: Path, builder: TraceBuilder) -> None:
    """Rows `type, extra, batch, value[, time]`: type 0 are times in ms, type 1 the queue with its capacity."""
    waits: dict[int, int] = {}
    times: dict[int, dict[int, int]] = {_PUSH: {}, _TOTAL: {}}
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        fields = [int(field) for field in line.split()]
        if len(fields) < 4:
            continue
        kind, extra, batch, value = fields[:4]
        if min(extra, value) < 0 or (kind == _QUEUE_ROW and value > extra):
            builder.warnings.add("other", f"{file.name}: rows with impossible times or queue sizes; left out")
        elif kind == _QUEUE_ROW:
            _add_sample(builder, HOST_QUEUE, "process", batch, value, capacity=extra)
        elif kind == _TIME_ROW and extra == _WAIT:
            waits[batch] = value * _MS
        elif kind == _TIME_ROW and extra in times:
            times[extra][batch] = value * _MS
    _facts(builder)["batches"] = {
        "source": "iterator" if file.name.startswith("dataset_iterator") else "sender",
        "wait_ns": [waits[batch] for batch in sorted(waits)],
        "push_ns": [times[_PUSH][batch] for batch in sorted(times[_PUSH])],
        "total_ns": [times[_TOTAL][batch] for batch in sorted(times[_TOTAL])],
    }


def _read_fetches(unit_ns: int) -> Callable[[Path, TraceBuilder], None]:
    def read(file: Path, builder: TraceBuilder) -> None:
        """Rows `name start end queue_size`; those of GetNext are fetches from the chip's queue."""
        waits = []
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            fields = line.split()
            if len(fields) < 4 or not fields[0].startswith("GetNext"):
                continue
            start, end, size = (int(field) for field in fields[1:4])
            if end < start or size < 0:
                builder.warnings.add("other", f"{file.name}: rows with impossible times or queue sizes; left out")
                continue
            waits.append((end - start) * unit_ns)
            _add_sample(builder, DEVICE_QUEUE, "send", len(waits), size, capacity=None)
        _facts(builder)["fetch_wait_ns"] = waits

    return read


def _add_sample(builder: TraceBuilder, queue: str, stage: str, step: int, size: int, *, capacity: int | None) -> None:
    row = {"queue": queue, "stage": stage, "step": step, "ts_ns": None, "size": size, "capacity": capacity}
    builder.queue_samples.append(row)


def _read_cpu(file: Path, builder: TraceBuilder) -> None:
    content = json.loads(file.read_text(encoding="utf-8", errors="replace"))
    device = content.get("device_info") or {}
    _facts(builder)["cpu"] = {
        "processors": content.get("cpu_processor_num"),
        "sampling_interval_ms": content.get("sampling_interval"),
        **{f"{part}_percent": _mean(device.get(f"{part}_utilization")) for part in ("user", "sys", "io", "idle")},
        "operators": [
            {"op_id": op["op_id"], "user_percent": _mean((op.get("metrics") or {}).get("user_utilization"))}
            for op in content.get("op_info") or []
            if op["op_id"] >= 0
        ],
    }


def _mean(values: object) -> float | None:
    return sum(values) / len(values) if isinstance(values, list) and values else None


_PIPELINE = re.compile(r"^pipeline_profiling_\d+\.json$")
_PIPELINE_TABLE = re.compile(r"^minddata_pipeline_raw_\d+\.csv$")
_SENDER = re.compile(r"^device_queue_profiling_\d+\.txt$")
_ITERATOR = re.compile(r"^dataset_iterator_profiling_\d+\.txt$")
_BETTER = ((_PIPELINE, _PIPELINE_TABLE), (_SENDER, _ITERATOR))
"""Where the first is there, the second says the same or nothing of use: with data sink nobody asks the iterator."""
_READERS: tuple[tuple[re.Pattern[str], Callable[[Path, TraceBuilder], None]], ...] = (
    (_PIPELINE, _read_pipeline),
    (_PIPELINE_TABLE, _read_pipeline_table),
    (_SENDER, _read_batches),
    (_ITERATOR, _read_batches),
    (re.compile(r"^minddata_aicpu_\d+\.txt$"), _read_fetches(1_000)),
    (re.compile(r"^minddata_getnext_profiling_\d+\.txt$"), _read_fetches(1)),
    (re.compile(r"^minddata_cpu_utilization_\d+\.json$"), _read_cpu),
)
