"""A trace as Chrome trace events, for Perfetto, chrome://tracing and laptime itself.

Format: the Trace Event Format of Chromium's tracing, in its object form with the header keys of PyTorch's profiler.
Slices are `X` events (`b`/`e` pairs where they began and ended on different threads), points `i`, samples `C`, links
`s`/`f`. Times are decimal microseconds made of int64 nanoseconds, never of doubles. Arguments are the source's text.
Slices of one (pid, tid) only nest or follow each other; see `chrome_rows` for how.

Imported again, tracks, slices, args, instants, counters, flows, steps and allocations are equal. What may differ:

- `op_id` and `stack_id` number the same ops and stacks in another order: that of names in the file.
- Memory events of one nanosecond on several threads may change places, and with them the samples of their counters.
- `meta` counts the events of the new file, which has other metadata and flow events, and warns of nothing that was
  mended or left out at the first import. A step that only the end of a truncated file cut short counts as complete.
- Counters and asynchronous rows on which nothing lies are left out.
- Of a part of the recording only what lies in it comes back.

Samples of memory that the importer takes from `[memory]` instants are not written a second time. Timelines of formats
that are no Chrome trace events hold what such events cannot tell besides; see `chrome_facts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from laptime.analyses.parts import WHOLE, Part
from laptime.exports.chrome_arrows import find_arrows
from laptime.exports.chrome_facts import Facts, all_tell_themselves
from laptime.exports.chrome_part import Kept, kept_of
from laptime.exports.chrome_rows import Rows, Track, json_text, lay_out, metadata_events, place_text, read_tracks
from laptime.exports.outputs import Output, open_output
from laptime.model.trace import Trace
from laptime.model.vocabulary import FLOW_KINDS

IntArray = npt.NDArray[np.int64]

_BLOCK_ROWS = 16 << 10
_TEXT = pa.large_string()
_FLOW_NAMES = {"launch": "ac2g", "forward_backward": "fwdbwd"}
"""PyTorch's names of links, by kind; other kinds go by their own."""


def write_chrome(trace: Trace, target: Path, part: Part = WHOLE) -> None:
    """Writes one rank, or a part of it, as `.json`, `.json.gz` or `.json.zst`. Raises LaptimeError for no such part."""
    kept = kept_of(trace, part)
    tracks = read_tracks(trace)
    rows = lay_out(tracks, _lane_counts(trace, len(tracks)))
    origin_ns = trace.meta["origin_ns"]
    clock = _Clock(origin_ns if isinstance(origin_ns, int) else 0)
    with open_output(target) as output:
        output.write(_header(trace).encode())
        events = _EventList(output)
        events.add_texts(metadata_events(rows))
        facts = None if all_tell_themselves(trace) else Facts(trace, tracks, kept)
        events.add_texts(facts.head() if facts else [])
        for lines in _slices(trace, rows, clock, facts, kept):
            events.add(lines)
        for lines in _instants(trace, rows, clock, kept):
            events.add(lines)
        for lines in _counters(trace, tracks, clock, facts, kept):
            events.add(lines)
        for lines in _flows(trace, rows, clock, facts, kept):
            events.add(lines)
        output.write(b"\n]}\n")


def _lane_counts(trace: Trace, track_count: int) -> IntArray:
    trace.slices.load("track_id", "lane")
    counts = np.zeros(track_count, np.int64)
    np.maximum.at(counts, trace.slices["track_id"], trace.slices["lane"] + 1)
    return counts


# ---- the file ----


def _header(trace: Trace) -> str:
    """Start of the object, up to the events; what is unknown is left out."""
    meta = trace.meta
    names, switches = meta.get("device_names"), meta.get("switches")
    job = {name: meta.get(name) for name in ("backend", "rank", "world_size")}
    known_job = {name: value for name, value in job.items() if value is not None}
    fields: dict[str, object] = {"laptimeFormat": meta["format"]}
    if meta["format"] == "pytorch_kineto":
        fields["schemaVersion"] = 1
    if isinstance(names, dict) and names:
        fields["deviceProperties"] = [_device(meta, number, name) for number, name in names.items()]
    if known_job:
        fields["distributedInfo"] = known_job
    if meta.get("base_unix_ns") is not None:
        fields["baseTimeNanoseconds"] = meta["base_unix_ns"]
    fields.update(switches if isinstance(switches, dict) else {})
    return json_text(fields).removesuffix("}") + ',\n"traceEvents":[\n'


def _device(meta: dict[str, object], number: str, name: object) -> dict[str, object]:
    sizes = meta.get("device_memory_bytes")
    size = sizes.get(number) if isinstance(sizes, dict) else None
    return {"id": int(number), "name": name, **({} if size is None else {"totalGlobalMem": size})}


class _EventList:
    """Puts the commas between events."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._begun = False

    def add(self, lines: pa.Array) -> None:
        """Adds events, each a text that begins with a comma and a line end."""
        if not len(lines):
            return
        offsets = np.frombuffer(lines.buffers()[1], np.int64)
        first, last = offsets[lines.offset], offsets[lines.offset + len(lines)]
        text = memoryview(lines.buffers()[2])[first:last]
        self._output.write(text if self._begun else text[2:])
        self._begun = True

    def add_texts(self, texts: Iterable[str]) -> None:
        """Adds events given as plain texts."""
        self.add(pa.array([f",\n{text}" for text in texts], _TEXT))


class _Clock:
    """Writes times of the trace as the source's own."""

    def __init__(self, origin_ns: int) -> None:
        self._origin_ns = origin_ns

    def texts(self, times_ns: IntArray) -> pa.Array:
        """Points in time."""
        return microseconds(times_ns + self._origin_ns)


def microseconds(ns: IntArray, *, missing: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    """Nanoseconds as decimal microseconds with three digits; null where missing."""
    whole = pa.array(ns, pa.int64(), mask=missing).cast(pa.decimal128(19, 0))
    scaled = pa.Array.from_buffers(pa.decimal128(22, 3), len(whole), whole.buffers())
    return scaled.cast(pa.string()).cast(_TEXT)


def _joined(*parts: str | pa.Array, nulls: str = "replace") -> pa.Array:
    """Texts row by row; a null part counts as empty, or with `emit_null` makes the row null."""
    columns = [pa.scalar(part, _TEXT) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*columns, pa.scalar("", _TEXT), null_handling=nulls, null_replacement="")


def _places(rows: Rows) -> pa.Array:
    return pa.array([row.place for row in rows.rows], _TEXT)


# ---- slices ----


def _slices(trace: Trace, rows: Rows, clock: _Clock, facts: Facts | None, kept: Kept | None) -> Iterator[pa.Array]:
    """Events of all slices, in order of their ids, so that equal ones keep their order."""
    wanted = ["track_id", "start_ns", "dur_ns", "lane", "name", "category"]
    table = trace.slices.arrow(wanted).unify_dictionaries()
    is_async = np.array([track.kind == "async" for track in rows.tracks], bool)
    thread = {row.pid: row.tid for row in reversed(rows.rows) if row.track.kind == "thread"}
    processes = pa.array([place_text(track.pid, thread.get(track.pid, "")) for track in rows.tracks], _TEXT)
    places = _places(rows)
    for first, args in _args_blocks(trace, kept):
        if facts is not None:
            text, args = facts.block(first, args)
            yield pa.array([f",\n{text}"], _TEXT)
        block = table.slice(first, len(args)).combine_chunks()
        track, start = block["track_id"].to_numpy(), block["start_ns"].to_numpy()
        labels = _labels(block)
        ts = clock.texts(start)
        dur = _duration_texts(block["dur_ns"])
        args = _joined(',"args":', args, nulls="emit_null")
        apart = is_async[track]
        row = rows.first_row[track] + block["lane"].to_numpy()
        place = places.take(pa.array(row, mask=apart))
        lines = _joined(',\n{"ph":"X"', labels, place, ',"ts":', ts, dur, args, "}")
        shown = np.ones(len(args), bool) if kept is None else kept.slices[first : first + len(args)]
        yield lines.filter(pa.array(~apart & shown)) if kept or apart.any() else lines
        chosen = np.flatnonzero(apart & shown)
        if len(chosen):
            ids = pa.array(chosen + first).cast(_TEXT)
            ended = clock.texts(trace.end_ns[chosen + first])
            shared = _joined(labels.take(chosen), ',"id":', ids, processes.take(track[chosen]), ',"ts":')
            yield _joined(',\n{"ph":"b"', shared, ts.take(chosen), args.take(chosen), "}")
            yield _joined(',\n{"ph":"e"', shared, ended, "}")


def _args_blocks(trace: Trace, kept: Kept | None) -> Iterator[tuple[int, pa.Array]]:
    """Argument texts with the id of their first slice; stored blocks of which nothing is kept are left out."""
    first = 0
    with pq.ParquetFile(trace.folder / "args.parquet") as stored:
        for group in range(stored.num_row_groups):
            count = stored.metadata.row_group(group).num_rows
            if kept is None or kept.slices[first : first + count].any():
                place = first
                for batch in stored.iter_batches(batch_size=_BLOCK_ROWS, row_groups=[group]):
                    yield place, batch["args"]
                    place += len(batch)
            first += count


def _labels(block: pa.Table) -> pa.Array:
    """`,"name":…,"cat":…` of each row; each distinct text is written as JSON once."""
    return _joined(*(_label(block[column], key) for column, key in (("name", "name"), ("category", "cat"))))


def _label(column: pa.ChunkedArray, key: str) -> pa.Array:
    codes = column.chunk(0) if column.num_chunks else pa.array([], column.type)
    texts = pa.array([f',"{key}":{json_text(text)}' for text in codes.dictionary.to_pylist()], _TEXT)
    return texts.take(codes.indices)


def _duration_texts(column: pa.ChunkedArray) -> pa.Array:
    untimed = column.is_null().to_numpy()
    return _joined(',"dur":', microseconds(column.fill_null(0).to_numpy(), missing=untimed), nulls="emit_null")


# ---- points and links ----


def _instants(trace: Trace, rows: Rows, clock: _Clock, kept: Kept | None) -> Iterator[pa.Array]:
    table = trace.table("instants").arrow().unify_dictionaries()
    if kept is not None:
        table = table.filter(pa.array(kept.time.holds(table["ts_ns"].to_numpy())))
    places = _places(rows)
    for first in range(0, len(table), _BLOCK_ROWS):
        block = table.slice(first, _BLOCK_ROWS).combine_chunks()
        place = places.take(pa.array(rows.first_row[block["track_id"].to_numpy()]))
        args = _joined(',"args":', block["args"].chunk(0), nulls="emit_null")
        ts = clock.texts(block["ts_ns"].to_numpy())
        yield _joined(',\n{"ph":"i","s":"t"', _labels(block), place, ',"ts":', ts, args, "}")


def _counters(
    trace: Trace, tracks: list[Track], clock: _Clock, facts: Facts | None, kept: Kept | None
) -> Iterator[pa.Array]:
    """Samples of the recorder's counters; those of memory come back from the memory events, where there are such."""
    counters = trace.table("counters")
    own = np.array([track.kind == "counter" and (facts or track.unit is None) for track in tracks], bool)
    chosen = np.flatnonzero(own[counters["track_id"]]) if len(tracks) else np.empty(0, np.int64)
    chosen = chosen if kept is None else chosen[kept.time.holds(counters["ts_ns"][chosen])]
    heads = pa.array([f',"name":{json_text(track.name)}{place_text(track.pid, "")}' for track in tracks], _TEXT)
    for first in range(0, len(chosen), _BLOCK_ROWS):
        block = chosen[first : first + _BLOCK_ROWS]
        values = counters["value"][block]
        texts = pa.array(values).cast(pa.string()).cast(_TEXT)
        texts = pc.if_else(pa.array(np.isfinite(values)), texts, _joined('"', texts, '"'))
        ts = clock.texts(counters["ts_ns"][block])
        head = heads.take(pa.array(counters["track_id"][block]))
        yield _joined(',\n{"ph":"C"', head, ',"ts":', ts, ',"args":{"value":', texts, "}}")


def _flows(trace: Trace, rows: Rows, clock: _Clock, facts: Facts | None, kept: Kept | None) -> Iterator[pa.Array]:
    drawn = None if kept is None else kept.flows(trace)
    arrows = find_arrows(trace, rows, for_viewers=facts is not None, drawn=drawn)
    places = _places(rows)
    names = [_FLOW_NAMES.get(kind, kind) for kind in FLOW_KINDS]
    labels = pa.array([f',"cat":"{name}","name":"{name}"' for name in names], _TEXT)
    for first in range(0, len(arrows.kind), _BLOCK_ROWS):
        block = slice(first, first + _BLOCK_ROWS)
        ids = pa.array(np.arange(first, first + len(arrows.kind[block]))).cast(_TEXT)
        label = _joined(labels.take(pa.array(arrows.kind[block])), ',"id":', ids)
        for letter, row, times in (
            ('"s"', arrows.from_row, arrows.from_ns),
            ('"f","bp":"e"', arrows.to_row, arrows.to_ns),
        ):
            place = places.take(pa.array(row[block]))
            yield _joined(f',\n{{"ph":{letter}', label, place, ',"ts":', clock.texts(times[block]), "}")
