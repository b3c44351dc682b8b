"""What an exported timeline tells laptime beyond what Chrome trace events hold, so that any format comes back equal.

The events of PyTorch's profiler and of other writers of Chrome traces mean again what they did when they are read a
second time. Timelines of other formats do not: their kinds, operators, links and steps were found by importers that
read something else. For these the export holds metadata events, which viewers ignore, before what they are about:

    {"ph": "M", "name": "laptime_meta", "args": {...}}                    facts of the trace
    {"ph": "M", "name": "laptime_table", "args": {"table": "ops", "columns": {...}}}   rows of a table, in parts
    {"ph": "M", "name": "laptime_facts", "args": {"first": 0, "columns": {...}}}       of the slices that follow

Arguments of slices with a call stack get `source` and `python stack`, which a viewer shows on a click; `args_length`
tells the importer where the source's own end.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from laptime.analyses.call_sites import sources_of
from laptime.exports.chrome_part import Kept
from laptime.exports.chrome_rows import Track, json_text
from laptime.model.arrays import IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import KIND_CODE, NULL

READ_AGAIN = ("pytorch_kineto", "chrome_trace")
"""Formats whose events tell all by themselves."""
_TABLES = ("ops", "stacks", "steps", "flows", "op_totals", "queue_samples", "pipeline_ops", "allocations")
_FACTS = ("kind", "phase", "correlation", "external_id", "bytes", "op_id", "stack_id")
_OF_THIS_IMPORT = ("events", "warnings", "source", "main_thread", "executor_tracks")
_PART_ROWS = 16 << 10
_TEXT = pa.large_string()
_OWN_STACK = '"python_backtrace"'
"""Argument in which MegEngine tells the call stack itself."""


class Facts:
    """What has to be told of one trace, besides its events."""

    def __init__(self, trace: Trace, tracks: list[Track], kept: Kept | None = None) -> None:
        self._trace = trace
        self._tracks = tracks
        is_async = np.array([track.kind == "async" for track in tracks] or [False], bool)
        self._kept = kept
        self._written = ~is_async[trace.slices["track_id"]]
        if kept is not None:
            self._written &= kept.slices
        self._columns = trace.slices.arrow(list(_FACTS)) if trace.slices.row_count else None
        self._places, self._stacks = _stack_texts(trace)

    def head(self) -> Iterator[str]:
        """Facts of the trace, and its tables."""
        trace = self._trace
        meta = {key: value for key, value in sorted(trace.meta.items()) if key not in _OF_THIS_IMPORT}
        threads = [self._thread(track) for track in trace.executor_threads]
        main = None if trace.main_thread is None else self._thread(trace.main_thread)
        units = [[track.pid, track.name, track.unit] for track in self._tracks if track.unit]
        yield _metadata("laptime_meta", {"meta": meta, "main": main, "executors": threads, "units": units})
        for name in _TABLES:
            table = self._flows() if name == "flows" else self._rows(name)
            for first in range(0, len(table), _PART_ROWS):
                columns = table.slice(first, _PART_ROWS).to_pydict()
                yield _metadata("laptime_table", {"table": name, "columns": columns})

    def _rows(self, name: str) -> pa.Table:
        return self._trace.table(name).arrow() if self._kept is None else self._kept.rows(self._trace, name)

    def block(self, first: int, args: pa.Array) -> tuple[str, pa.Array]:
        """Facts of the slices whose arguments these are, and the arguments as they are written."""
        assert self._columns is not None
        rows = slice(first, first + len(args))
        written = self._written[rows]
        table = self._columns.slice(first, len(args))
        columns = {name: table[name].filter(pa.array(written)).to_pylist() for name in _FACTS}
        columns["args_length"] = pc.binary_length(args).filter(pa.array(written)).to_pylist()
        columns["start_ns"] = self._trace.slices["start_ns"][rows][written].tolist()
        slice_ids = (first + np.flatnonzero(written)).tolist()
        text = _metadata("laptime_facts", {"columns": {"slice_id": slice_ids, **columns}})
        return text, self._with_stacks(table["stack_id"].combine_chunks(), args)

    def _thread(self, track: int) -> list[str]:
        return [self._tracks[track].pid, self._tracks[track].tid]

    def _flows(self) -> pa.Table:
        """Links between slices that are written as one event each."""
        flows = self._trace.flows
        kept = self._written[flows["from_id"]] & self._written[flows["to_id"]] if len(flows["kind"]) else []
        return flows.arrow().filter(pa.array(np.asarray(kept, bool)))

    def _with_stacks(self, stack_ids: pa.Array, args: pa.Array) -> pa.Array:
        if not len(self._places):
            return args
        told = pc.fill_null(pc.match_substring(args, _OWN_STACK), False)
        added = pc.if_else(told, self._places.take(stack_ids), self._stacks.take(stack_ids))
        head = pc.if_else(args.is_null(), pa.scalar("{", _TEXT), pc.utf8_slice_codeunits(args, 0, -1))
        comma = pc.if_else(pc.match_substring_regex(head, r"^\{\s*$"), pa.scalar("", _TEXT), pa.scalar(",", _TEXT))
        longer = pc.binary_join_element_wise(head, comma, added, pa.scalar("}", _TEXT), pa.scalar("", _TEXT))
        fits = pc.and_(pc.starts_with(head, "{"), pc.fill_null(pc.ends_with(args, "}"), True))
        return pc.if_else(pc.and_(fits, added.is_valid()), longer, args)


def all_tell_themselves(trace: Trace) -> bool:
    """Whether the events of a trace tell all that laptime knows of it."""
    return trace.meta["format"] in READ_AGAIN


def _stack_texts(trace: Trace) -> tuple[pa.Array, pa.Array]:
    """By stack: `"source":…`, and that with the frames. Empty where Python functions are slices, which show them."""
    empty = pa.array([], _TEXT)
    if np.any(trace.slices["kind"] == KIND_CODE["python"]):
        return empty, empty
    frames: dict[int, list[str]] = {}
    for row in trace.table("stacks").arrow().to_pylist():
        line = "" if row["line"] is None else f":{row['line']}"
        where = f"{row['file']}{line} " if row["file"] else ""
        frames.setdefault(row["stack_id"], []).append(f"{where}{row['function'] or ''}".strip())
    if not frames:
        return empty, empty
    users = _first_users(trace, max(frames) + 1)
    sources = sources_of(trace, np.maximum(users, 0))
    places = [f'"source":{json_text(source)}' if source else None for source in sources]
    stacks = [
        ",".join([*([place] if place else []), f'"python stack":{json_text(chr(10).join(frames.get(code, [])))}'])
        for code, place in enumerate(places)
    ]
    return pa.array(places, _TEXT), pa.array(stacks, _TEXT)


def _first_users(trace: Trace, count: int) -> IntArray:
    """A slice of each stack."""
    users = np.zeros(count, np.int64)
    rows = np.flatnonzero(trace.slices["stack_id"] != NULL)[::-1]
    users[trace.slices["stack_id"][rows]] = rows
    return users


def _metadata(name: str, args: dict[str, object]) -> str:
    return f'{{"ph":"M","name":"{name}","args":{json_text(args)}}}'
