"""The tables of a trace: their columns, types and meaning.

Times are int64 nanoseconds on the rank's own clock: 0 is the start of its first kept slice, instant or counter.
Sizes are bytes. Unknown is null. `slices` is sorted by (track_id, start_ns, longest first, source order) and a slice's
id is its row number; `parent_id`, `from_id` and `to_id` are such row numbers of the same rank.
"""

from __future__ import annotations

import pyarrow as pa

_STRING = pa.string()
_CODED = pa.dictionary(pa.int32(), pa.string())

SCHEMAS: dict[str, pa.Schema] = {
    "tracks": pa.schema(
        [
            ("track_id", pa.int32()),
            ("kind", _STRING),
            ("name", _STRING),
            ("process", _STRING),
            ("pid", _STRING),
            ("tid", _STRING),
            ("device", pa.int64()),
            ("stream", pa.int64()),
            ("unit", _STRING),
            ("parent_track", pa.int32()),
            ("first_slice", pa.int64()),
            ("slice_count", pa.int64()),
            ("sort", pa.int64()),
        ]
    ),
    "ops": pa.schema(
        [
            ("op_id", pa.int32()),
            ("name", _STRING),
            ("op_type", _STRING),
            ("full_name", _STRING),
            ("subgraph", _STRING),
            ("device_kind", _STRING),
            ("module", _STRING),
            ("input_shapes", _STRING),
            ("input_dtypes", _STRING),
            ("output_shapes", _STRING),
            ("info", _STRING),
        ]
    ),
    "slices": pa.schema(
        [
            pa.field("track_id", pa.int32(), nullable=False),
            pa.field("start_ns", pa.int64(), nullable=False),
            ("dur_ns", pa.int64()),
            pa.field("depth", pa.int32(), nullable=False),
            pa.field("lane", pa.int32(), nullable=False),
            ("parent_id", pa.int64()),
            pa.field("name", _CODED, nullable=False),
            pa.field("kind", _CODED, nullable=False),
            ("category", _CODED),
            ("phase", _CODED),
            ("step", pa.int64()),
            ("correlation", pa.int64()),
            ("external_id", pa.int64()),
            ("bytes", pa.int64()),
            ("op_id", pa.int32()),
            ("stack_id", pa.int32()),
        ]
    ),
    "args": pa.schema([("args", pa.large_string())]),
    "instants": pa.schema(
        [
            ("track_id", pa.int32()),
            ("ts_ns", pa.int64()),
            ("name", _CODED),
            ("category", _CODED),
            ("args", pa.large_string()),
        ]
    ),
    "flows": pa.schema([("from_id", pa.int64()), ("to_id", pa.int64()), ("kind", _CODED)]),
    "counters": pa.schema([("track_id", pa.int32()), ("ts_ns", pa.int64()), ("value", pa.float64())]),
    "allocations": pa.schema(
        [
            ("device", _STRING),
            ("pool", _STRING),
            ("stream", pa.int64()),
            ("address", pa.int64()),
            ("size_bytes", pa.int64()),
            ("start_ns", pa.int64()),
            ("end_ns", pa.int64()),
            ("slice_id", pa.int64()),
            ("free_slice_id", pa.int64()),
            ("name", _STRING),
            ("op_id", pa.int32()),
            ("layout", _STRING),
        ]
    ),
    "steps": pa.schema(
        [
            ("step", pa.int64()),
            ("index", pa.int64()),
            ("window", pa.int64()),
            ("label", _STRING),
            ("thread_track_id", pa.int32()),
            ("start_ns", pa.int64()),
            ("end_ns", pa.int64()),
            ("forward_start_ns", pa.int64()),
            ("backward_end_ns", pa.int64()),
            ("optimizer_start_ns", pa.int64()),
            ("source", _STRING),
            ("complete", pa.bool_()),
        ]
    ),
    "op_totals": pa.schema(
        [
            ("op_id", pa.int32()),
            ("count", pa.int64()),
            ("total_ns", pa.int64()),
            ("mean_ns", pa.int64()),
            ("side", _STRING),
        ]
    ),
    "queue_samples": pa.schema(
        [
            ("queue", _STRING),
            ("stage", _STRING),
            ("step", pa.int64()),
            ("ts_ns", pa.int64()),
            ("size", pa.int64()),
            ("capacity", pa.int64()),
        ]
    ),
    "pipeline_ops": pa.schema(
        [
            ("op_id", pa.int64()),
            ("op_type", _STRING),
            ("name", _STRING),
            ("workers", pa.int64()),
            ("parent_id", pa.int64()),
            ("queue_mean_size", pa.float64()),
            ("queue_capacity", pa.int64()),
            ("queue_usage_share", pa.float64()),
            ("queue_empty_share", pa.float64()),
            ("queue_samples", pa.int64()),
            ("queue", _STRING),
        ]
    ),
    "stacks": pa.schema(
        [
            ("stack_id", pa.int32()),
            ("depth", pa.int32()),
            ("function", _STRING),
            ("file", _STRING),
            ("line", pa.int32()),
        ]
    ),
}
"""Column names and types of every table that part of laptime writes today, by table name."""
