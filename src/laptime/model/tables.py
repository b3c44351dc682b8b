"""The last stage of an import: everything a builder collected becomes the Arrow tables of one trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from laptime.model.arrays import CodeArray, Column
from laptime.model.arrow import coded, nullable
from laptime.model.assembly import Assembled, assemble
from laptime.model.builder import TraceBuilder
from laptime.model.links import Flows, link
from laptime.model.memory import add_memory_counters, allocations_table
from laptime.model.operators import Operators, find_operators
from laptime.model.overruns import overrunning
from laptime.model.rows import SpoolReader
from laptime.model.schema import SCHEMAS
from laptime.model.steps import Steps, find_steps, given_steps, main_thread, slice_phases, slice_steps, warn_of_partial
from laptime.model.tracks import TrackKey
from laptime.model.vocabulary import BETWEEN_OPERATORS, KINDS, NULL, PHASES

ARGS_ROWS = 16 << 10
"""Rows per group of the args table."""
_BYTES_A_ROW = 4
"""Where texts take less than this they are read at once, and each once."""


@dataclass
class BuiltTables:
    """Tables of one rank; `args` come in batches, since they are the largest by far."""

    tables: dict[str, pa.Table]
    args: Iterator[pa.RecordBatch]
    meta: dict[str, object]


def build_tables(builder: TraceBuilder) -> BuiltTables:
    """Applies all rules of the trace model to what an importer collected."""
    memory_events = builder.memory_events.take_all()
    add_memory_counters(builder, memory_events)
    slices = assemble(builder)
    place = np.empty(max(len(slices.track_order), 1), np.int32)
    place[slices.track_order] = np.arange(len(slices.track_order), dtype=np.int32)
    names = builder.names.texts
    flow_points = _on_clock(builder.bound_flow_points(), place, slices.origin_ns)
    flows = link(slices, flow_points, builder.categories.texts, builder.links.take_all())
    truncated = any(code == "truncated" for code, _ in builder.warnings.counts)
    told = None if builder.main_track is None else int(place[builder.main_track])
    if builder.steps:
        steps = given_steps(builder.steps, slices.origin_ns, told)
        warn_of_partial(steps, builder.warnings)
    else:
        steps = find_steps(slices, names, builder.warnings, truncated=truncated)
    thread = main_thread(slices, steps, told)
    if builder.phases_told:
        phases = slices.columns["phase"].astype(np.int8)
    else:
        phases = slice_phases(slices, flows, names, steps)
    step_of_slice = slice_steps(slices, flows, steps)
    operators = find_operators(slices, builder)
    memory = _on_clock(memory_events, place, slices.origin_ns)
    spool = builder.spool.reader()
    columns = slices.columns
    args = _args_batches(spool, columns.pop("args_start"), columns.pop("args_length"))
    tables = {
        "tracks": _tracks(builder, slices),
        "ops": pa.table(operators.ops, SCHEMAS["ops"]),
        "slices": _slices(builder, slices, phases, step_of_slice, operators),
        "instants": _instants(builder, spool, place, slices.origin_ns),
        "flows": _flows(flows),
        "counters": _counters(builder, place, slices.origin_ns),
        "allocations": _allocations(builder, memory, slices, operators),
        "steps": _steps(steps, thread),
        "op_totals": _op_totals(builder, operators),
        "queue_samples": pa.Table.from_pylist(_queue_samples(builder, slices.origin_ns), SCHEMAS["queue_samples"]),
        "pipeline_ops": pa.Table.from_pylist(builder.pipeline_ops, SCHEMAS["pipeline_ops"]),
        "stacks": pa.table(operators.stacks, SCHEMAS["stacks"]),
    }
    _warn_of_links(builder, slices, flows)
    meta = _meta(builder, slices, thread)
    return BuiltTables(
        tables, args, {**meta, "executor_tracks": [int(place[code]) for code in builder.executor_tracks]}
    )


def _on_clock(rows: dict[str, Column], place: CodeArray, origin_ns: int) -> dict[str, Column]:
    """Rows with final track ids, on the rank's own clock; rows without a time are left out."""
    known = (rows["ts"] != NULL) & (rows["track"] >= 0)
    rows = {name: column[known] for name, column in rows.items()}
    rows["track"] = place[rows["track"]]
    rows["ts"] = rows["ts"] - origin_ns
    return rows


def _text_array(texts: pa.LargeBinaryArray) -> pa.LargeStringArray:
    try:
        return texts.cast(pa.large_string())
    except pa.ArrowInvalid:  # a recorder wrote bytes that are no UTF-8
        readable = [None if text is None else text.decode("utf-8", "replace") for text in texts.to_pylist()]
        return pa.array(readable, pa.large_string())


def _slices(
    builder: TraceBuilder, slices: Assembled, phases: npt.NDArray[np.int8], step: Column, operators: Operators
) -> pa.Table:
    columns = slices.columns
    categories = builder.categories.texts
    fields = {
        "track_id": pa.array(columns["track"]),
        "start_ns": pa.array(columns["start"]),
        "dur_ns": nullable(columns["dur"], pa.int64()),
        "depth": pa.array(slices.depth),
        "lane": pa.array(slices.lane),
        "parent_id": nullable(slices.parent, pa.int64(), -1),
        "name": coded(columns["name"], builder.names.texts),
        "kind": coded(columns["kind"], KINDS),
        "category": coded(_null_where(columns["category"], categories, ""), categories),
        "phase": coded(phases, PHASES),
        "step": nullable(step, pa.int64()),
        "correlation": nullable(columns["correlation"], pa.int64()),
        "external_id": nullable(columns["external_id"], pa.int64()),
        "bytes": nullable(columns["bytes"], pa.int64()),
        "op_id": nullable(operators.op_of_slice, pa.int32(), -1),
        "stack_id": nullable(operators.stack_of_slice, pa.int32(), -1),
    }
    return pa.table(fields, SCHEMAS["slices"])


def _null_where(codes: Column, texts: list[str], absent: str) -> Column:
    if absent not in texts:
        return codes
    return np.where(codes == texts.index(absent), -1, codes)


def _args_batches(spool: SpoolReader, starts: Column, lengths: Column) -> Iterator[pa.RecordBatch]:
    if not lengths.any():
        pool, place_of = pa.nulls(0, pa.large_string()), np.full(len(starts), -1)
    elif int(starts.max()) < _BYTES_A_ROW * len(starts):  # many slices share their text
        texts, place_of = spool.pool(starts, lengths)
        pool = _text_array(texts)
    else:
        pool = None
    for first in range(0, len(starts), ARGS_ROWS):
        rows = slice(first, first + ARGS_ROWS)
        if pool is None:
            texts = _text_array(spool.gather(starts[rows], lengths[rows]))
        else:
            texts = pool.take(pa.array(place_of[rows], mask=place_of[rows] < 0))
        yield pa.record_batch([texts], schema=SCHEMAS["args"])


def _tracks(builder: TraceBuilder, slices: Assembled) -> pa.Table:
    keys = [builder.tracks.keys[code] for code in slices.track_order]
    ids = np.arange(len(keys), dtype=np.int32)
    first = np.searchsorted(slices.columns["track"], ids)
    last = np.searchsorted(slices.columns["track"], ids, side="right")
    tracks = builder.tracks
    by_stream = {(key.pid, key.tid): row for row, key in enumerate(keys) if key.kind == "stream"}

    def parent(key: TrackKey) -> int | None:
        return by_stream.get((key.pid, key.tid)) if key.kind in ("annotation", "sync") else None

    fields = {
        "track_id": ids,
        "kind": [key.kind for key in keys],
        "name": [tracks.display_name(key) for key in keys],
        "process": [tracks.process_names.get(key.pid) for key in keys],
        "pid": [key.pid for key in keys],
        "tid": [key.tid for key in keys],
        "device": [key.device for key in keys],
        "stream": [key.stream for key in keys],
        "unit": [key.unit or None for key in keys],
        "parent_track": [parent(key) for key in keys],
        "first_slice": first,
        "slice_count": last - first,
        "sort": ids,
    }
    return pa.table(fields, SCHEMAS["tracks"])


def _instants(builder: TraceBuilder, spool: SpoolReader, place: CodeArray, origin_ns: int) -> pa.Table:
    rows = _on_clock(builder.instants.take_all(), place, origin_ns)
    order = np.lexsort((rows["ts"], rows["track"]))
    rows = {name: column[order] for name, column in rows.items()}
    texts = spool.gather(rows["args_start"], rows["args_length"])
    categories = builder.categories.texts
    fields = {
        "track_id": pa.array(rows["track"], pa.int32()),
        "ts_ns": pa.array(rows["ts"], pa.int64()),
        "name": coded(rows["name"], builder.names.texts),
        "category": coded(_null_where(rows["category"], categories, ""), categories),
        "args": _text_array(texts),
    }
    return pa.table(fields, SCHEMAS["instants"])


def _flows(flows: Flows) -> pa.Table:
    fields = {
        "from_id": pa.array(flows.from_id, pa.int64()),
        "to_id": pa.array(flows.to_id, pa.int64()),
        "kind": pa.array(flows.kind.tolist(), pa.string()).dictionary_encode(),
    }
    return pa.table(fields, SCHEMAS["flows"])


def _allocations(builder: TraceBuilder, events: dict[str, Column], slices: Assembled, operators: Operators) -> pa.Table:
    """Lives made of allocations and frees, then those that the source told, then those read back from an export."""
    names = builder.names.texts
    paired = allocations_table(events, slices, names)
    rows = builder.allocations.take_all()
    told = {
        "device": coded(rows["device"], names),
        "address": nullable(rows["address"], pa.int64()),
        "size_bytes": rows["size"],
        **{
            f"{end}_ns": nullable(np.where(rows[end] == NULL, NULL, rows[end] - slices.origin_ns), pa.int64())
            for end in ("start", "end")
        },
        "name": coded(rows["name"], names),
        "layout": coded(rows["layout"], names),
        "slice_id": nullable(slices.added(rows["slice"]), pa.int64(), -1),
        "op_id": nullable(np.where(rows["op"] < 0, -1, rows["op"] + operators.first_given), pa.int32(), -1),
    }
    count = len(rows["size"])
    columns = [
        pa.array(told[field.name]).cast(field.type) if field.name in told else pa.nulls(count, field.type)
        for field in SCHEMAS["allocations"]
    ]
    read_back = pa.Table.from_pylist(builder.allocations_read_back, SCHEMAS["allocations"])
    return pa.concat_tables([paired, pa.table(columns, schema=SCHEMAS["allocations"]), read_back])


def _counters(builder: TraceBuilder, place: CodeArray, origin_ns: int) -> pa.Table:
    rows = _on_clock(builder.counters.take_all(), place, origin_ns)
    order = np.lexsort((rows["ts"], rows["track"]))
    fields = {"track_id": rows["track"][order], "ts_ns": rows["ts"][order], "value": rows["value"][order]}
    return pa.table(fields, SCHEMAS["counters"])


def _op_totals(builder: TraceBuilder, operators: Operators) -> pa.Table:
    rows = [(*row, side) for side, totals in builder.op_totals.items() for row in totals]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], [], [], []]
    columns[0] = [operators.first_given + op for op in columns[0]]
    return pa.table(columns, schema=SCHEMAS["op_totals"])


def _steps(steps: Steps, thread: int | None) -> pa.Table:
    count = len(steps)
    fields = {
        "step": steps.step,
        "index": np.arange(1, count + 1, dtype=np.int64),
        "window": steps.window,
        "label": steps.label,
        "thread_track_id": pa.array([thread] * count, pa.int32()),
        "start_ns": steps.start,
        "end_ns": steps.end,
        "forward_start_ns": nullable(steps.forward_start, pa.int64()),
        "backward_end_ns": nullable(steps.backward_end, pa.int64()),
        "optimizer_start_ns": nullable(steps.optimizer_start, pa.int64()),
        "source": [steps.source] * count,
        "complete": steps.complete,
    }
    return pa.table(fields, SCHEMAS["steps"])


def _warn_of_links(builder: TraceBuilder, slices: Assembled, flows: Flows) -> None:
    launch = flows.kind == "launch"
    from_id, to_id = flows.from_id[launch], flows.to_id[launch]
    work, start = slices.device_work, slices.columns["start"]
    linked = np.zeros(len(work), bool)
    linked[to_id] = True
    timed = slices.columns["dur"] != NULL
    early = (work & timed)[to_id] & (start[to_id] < start[from_id])
    unlinked = work & ~linked & bool(builder.meta.get("records_launches", True))
    rows = np.flatnonzero(work)
    long, _ = overrunning(
        slices.columns["track"][rows], start[rows], slices.end[rows], slices.columns["correlation"][rows]
    )
    for code, message, count in (
        ("unlinked_device_ops", "device slices whose launch was not recorded; counted all the same", unlinked),
        ("clock_disorder", "device slices that start before their launch call", early),
        ("overrunning", "device slices that swallow many later ones; clipped in sums by name", long >= 0),
    ):
        builder.warnings.add(code, message, int(np.count_nonzero(count)))


def _queue_samples(builder: TraceBuilder, origin_ns: int) -> list[dict[str, object]]:
    if not isinstance(builder.meta.get("start_ups"), list):
        return builder.queue_samples
    return [
        row if row["ts_ns"] is None or row["stage"] == BETWEEN_OPERATORS else _moved(row, origin_ns)
        for row in builder.queue_samples
    ]


def _moved(sample: dict[str, object], origin_ns: int) -> dict[str, object]:
    return {**sample, "ts_ns": int(str(sample["ts_ns"])) - origin_ns}


def _on_own_clock(span: object, origin_ns: int) -> list[int] | None:
    """A pair of times of the source's clock on the rank's own."""
    return [int(time) - origin_ns for time in span] if isinstance(span, (list, tuple)) else None


def _start_ups(builder: TraceBuilder, origin_ns: int) -> dict[str, object]:
    told = builder.meta.get("start_ups")
    return {"start_ups": [_on_own_clock(span, origin_ns) for span in told]} if isinstance(told, list) else {}


def _meta(builder: TraceBuilder, slices: Assembled, thread: int | None) -> dict[str, object]:
    dropped = dict(sorted(builder.dropped.items()))
    return {
        **builder.meta,
        "origin_ns": slices.origin_ns,
        **{
            key: _on_own_clock(builder.meta.get(key), slices.origin_ns)
            for key in ("device_covered_ns", "device_log_ns")
        },
        **_start_ups(builder, slices.origin_ns),
        "main_thread": thread,
        "events": {"read": builder.read, "kept": builder.read - sum(dropped.values()), "dropped": dropped},
        "warnings": builder.warnings.as_rows(),
    }
