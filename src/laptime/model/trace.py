"""What an analysis gets: a Trace (one rank, tables read lazily by column) and a Run (the ranks of one job)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from laptime.errors import NotThere
from laptime.model.arrays import Column, IntArray
from laptime.model.schema import SCHEMAS
from laptime.model.vocabulary import FLOW_KINDS, KINDS, NULL, PHASES, TRACK_KINDS

_CLOSED_LISTS = {"kind": KINDS, "phase": PHASES}


class Table:
    """Columns of one stored table as numpy arrays, read when asked for.

    Null integers are NULL (-2**63), null texts None; dictionary columns come as codes.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self._name = name
        self._columns: dict[str, Column] = {}
        self._texts: dict[str, list[str]] = {}

    def arrow(self, columns: list[str] | None = None) -> pa.Table:
        """The table, or some of its columns."""
        return pq.ParquetFile(self._path).read(columns=columns)

    def row(self, place: int) -> dict[str, object]:
        """One row as Python values; reads no more than the group of rows around it."""
        with pq.ParquetFile(self._path) as stored:
            for group in range(stored.metadata.num_row_groups):
                count = stored.metadata.row_group(group).num_rows
                if place < count:
                    (found,) = stored.read_row_group(group).slice(place, 1).to_pylist()
                    return dict(found)
                place -= count
        raise IndexError(place)

    @cached_property
    def row_count(self) -> int:
        """Number of rows."""
        return int(pq.ParquetFile(self._path).metadata.num_rows)

    def load(self, *columns: str) -> None:
        """Reads several columns at once."""
        missing = [name for name in columns if name not in self._columns]
        if missing:
            table = self.arrow(missing)
            for name in missing:
                self._keep(name, table[name])

    def __getitem__(self, name: str) -> IntArray:
        """A column; dictionary columns as codes into `texts(name)` (kinds, phases: into KINDS, PHASES), -1 null."""
        self.load(name)
        return self._columns[name]

    def texts(self, name: str) -> list[str]:
        """What the codes of a dictionary column mean."""
        self.load(name)
        return self._texts[name]

    def objects(self, name: str) -> list[object]:
        """A column as Python values."""
        return list(self.arrow([name])[name].to_pylist())

    def _keep(self, name: str, column: pa.ChunkedArray) -> None:
        if pa.types.is_dictionary(column.type):
            self._keep_codes(name, column)
        elif pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            self._columns[name] = np.array(column.to_pylist(), dtype=object)
        else:
            if column.null_count:
                column = column.cast(pa.int64()).fill_null(NULL)
            self._columns[name] = column.to_numpy()

    def _keep_codes(self, name: str, column: pa.ChunkedArray) -> None:
        unified = column.unify_dictionaries().combine_chunks()
        if isinstance(unified, pa.ChunkedArray):
            unified = unified.chunk(0) if unified.num_chunks else pa.array([], column.type)
        texts = unified.dictionary.to_pylist()
        codes = unified.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
        closed = _CLOSED_LISTS.get(name) if self._name in ("slices",) else FLOW_KINDS if name == "kind" else None
        if closed is not None:
            own = np.array([closed.index(text) for text in texts] + [-1], np.int32)
            codes, texts = own[codes], list(closed)
        self._columns[name], self._texts[name] = codes, texts


@dataclass
class Trace:
    """One rank of a run."""

    folder: Path
    meta: dict[str, object] = field(repr=False)
    _tables: dict[str, Table] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def slices(self) -> Table:
        return self.table("slices")

    @cached_property
    def tracks(self) -> Table:
        return self.table("tracks")

    @cached_property
    def flows(self) -> Table:
        return self.table("flows")

    @cached_property
    def steps(self) -> Table:
        return self.table("steps")

    @cached_property
    def ops(self) -> Table:
        return self.table("ops")

    def table(self, name: str) -> Table:
        """A stored table by name; what has been read of it stays with the trace."""
        if name not in SCHEMAS:
            raise KeyError(name)
        return self._tables.setdefault(name, Table(self.folder / f"{name}.parquet", name))

    @cached_property
    def end_ns(self) -> IntArray:
        """End of each slice; the start of an untimed one."""
        self.slices.load("start_ns", "dur_ns")
        start, dur = self.slices["start_ns"], self.slices["dur_ns"]
        return np.where(dur == NULL, start, start + dur)

    @cached_property
    def track_kind(self) -> npt.NDArray[np.int8]:
        """Kind of each slice's track, as a code of TRACK_KINDS."""
        kinds = np.array([TRACK_KINDS.index(str(kind)) for kind in self.tracks.objects("kind")] or [0], np.int8)
        return kinds[self.slices["track_id"]]

    @property
    def main_thread(self) -> int | None:
        """Track of the main training thread."""
        thread = self.meta["main_thread"]
        return thread if isinstance(thread, int) else None

    @property
    def executor_threads(self) -> list[int]:
        """Tracks of threads that execute what the main thread calls, and launch for it."""
        tracks = self.meta.get("executor_tracks")
        return tracks if isinstance(tracks, list) else []

    @property
    def rank(self) -> int | None:
        """Rank in its job; None where neither the source nor its name tells it."""
        rank = self.meta.get("rank")
        return rank if isinstance(rank, int) else None

    @property
    def source(self) -> str:
        """Name of the recording."""
        return str(self.meta["source"])


@dataclass
class Run:
    """What one job recorded: its traces in order of rank, then name."""

    path: str
    traces: list[Trace]
    folder: Path | None = None
    """Where results about the run are kept."""
    notes: list[dict[str, object]] = field(default_factory=list)
    """Warnings about the run itself, as `{code, message, count}`."""

    @property
    def offsets_ns(self) -> list[int | None]:
        """How much later than that of the earliest rank each trace's time 0 is, by wall clock; None where unknown."""
        zeros = []
        for trace in self.traces:
            base, origin = trace.meta.get("base_unix_ns"), trace.meta.get("origin_ns")
            zeros.append(base + origin if isinstance(base, int) and isinstance(origin, int) else None)
        first = min((zero for zero in zeros if zero is not None), default=0)
        return [None if zero is None else zero - first for zero in zeros]

    def sql(self, query: str, *, rank: int | None = None) -> pa.Table:
        """One SELECT over the tables of all ranks (or one), by DuckDB; `.to_pandas()` makes it a data frame."""
        from laptime.model.query import run_query

        return run_query(self, query, rank=rank)

    def trace_of(self, rank: int | None) -> Trace:
        """The first trace of a rank; without a rank the first of all."""
        for trace in self.traces:
            if rank is None or trace.rank == rank:
                return trace
        known = sorted({trace.rank for trace in self.traces if trace.rank is not None})
        raise NotThere(f"no rank {rank}", where=self.path, remedy=f"ranks here: {known or 'none is named'}")
