"""TraceBuilder: importers pour rows in, the finished tables of one rank come out.

An importer hands over tracks, rows and counts; every rule that makes a trace of them (order, nesting, lanes, links,
kinds, steps, what is dropped or mended) lives in this package and is the same for all formats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from laptime.model.arrays import CodeArray, Column
from laptime.model.classify import CALL, MIRROR
from laptime.model.rows import Rows, TextSpool
from laptime.model.tracks import Tracks
from laptime.model.vocabulary import KINDS, NULL

BASE_KINDS = (*KINDS, CALL, MIRROR)
BASE_KIND_CODE = {name: code for code, name in enumerate(BASE_KINDS)}

_SLICE_COLUMNS: dict[str, tuple[type[np.generic], int]] = {
    "track": (np.int32, 0),
    "start": (np.int64, NULL),
    "dur": (np.int64, NULL),
    "name": (np.int32, 0),
    "category": (np.int32, 0),
    "kind": (np.int8, BASE_KIND_CODE["host_other"]),
    "correlation": (np.int64, NULL),
    "external_id": (np.int64, NULL),
    "bytes": (np.int64, NULL),
    "shapes": (np.int32, -1),
    "dtypes": (np.int32, -1),
    "call_stack": (np.int32, -1),
    "module": (np.int32, -1),
    "collective": (np.int32, -1),
    "op": (np.int32, -1),
    "phase": (np.int8, -1),
    "args_start": (np.int64, 0),
    "args_length": (np.int32, 0),
}
_POINT_COLUMNS: dict[str, tuple[type[np.generic], int]] = {
    **_SLICE_COLUMNS,
    "is_end": (np.bool_, 0),
    "place": (np.int32, 0),
    "id": (np.int64, NULL),
    "order": (np.int64, 0),
}
_INSTANT_COLUMNS: dict[str, tuple[type[np.generic], int]] = {
    "track": (np.int32, 0),
    "ts": (np.int64, NULL),
    "name": (np.int32, 0),
    "category": (np.int32, 0),
    "args_start": (np.int64, 0),
    "args_length": (np.int32, 0),
}
_FLOW_COLUMNS: dict[str, tuple[type[np.generic], int]] = {
    "track": (np.int32, 0),
    "ts": (np.int64, NULL),
    "id": (np.int64, NULL),
    "name": (np.int32, 0),
    "category": (np.int32, 0),
    "is_end": (np.bool_, 0),
}
_LINK_COLUMNS: dict[str, tuple[type[np.generic], int]] = {
    "from": (np.int64, -1),
    "to": (np.int64, -1),
    "kind": (np.int8, 0),
}
_MEMORY_COLUMNS: dict[str, tuple[type[np.generic], int]] = {
    "track": (np.int32, 0),
    "ts": (np.int64, NULL),
    "address": (np.int64, NULL),
    "bytes": (np.int64, NULL),
    "name": (np.int32, -1),
    "total_allocated": (np.int64, NULL),
    "total_reserved": (np.int64, NULL),
    "device_type": (np.int64, NULL),
    "device_id": (np.int64, NULL),
}
_ALLOCATION_COLUMNS: dict[str, tuple[type[np.generic], int]] = {
    "device": (np.int32, -1),
    "address": (np.int64, NULL),
    "size": (np.int64, 0),
    "start": (np.int64, NULL),
    "end": (np.int64, NULL),
    "name": (np.int32, -1),
    "op": (np.int32, -1),
    "layout": (np.int32, -1),
    "slice": (np.int64, -1),
}
_COUNTER_COLUMNS: dict[str, tuple[type[np.generic], int]] = {
    "track": (np.int32, 0),
    "ts": (np.int64, NULL),
    "value": (np.float64, 0),
}
TEXT_KEYS = ("shapes", "dtypes", "call_stack", "module", "collective")


class Names:
    """Distinct texts, numbered in order of appearance."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}

    def code(self, text: str) -> int:
        """Number of a text, given now if it is new."""
        return self._codes.setdefault(text, len(self._codes))

    def codes(self, texts: Iterable[str]) -> CodeArray:
        """Numbers of texts."""
        return np.fromiter((self.code(text) for text in texts), np.int32)

    @property
    def texts(self) -> list[str]:
        """Texts by number."""
        return list(self._codes)


@dataclass(frozen=True)
class Op:
    """A row of the `ops` table that a source gives."""

    name: str
    op_type: str | None = None
    full_name: str | None = None
    subgraph: str | None = None
    device_kind: str | None = None
    module: str | None = None
    input_shapes: str | None = None
    input_dtypes: str | None = None
    output_shapes: str | None = None
    info: str | None = None
    """JSON."""


OpTotal = tuple[int, int | None, int | None, int | None]
"""(op, count, total_ns, mean_ns)."""


@dataclass(frozen=True)
class GivenStep:
    """A step that a source gives, in ns on the source's clock."""

    step: int
    start_ns: int
    end_ns: int
    label: str
    complete: bool = True
    window: int = 1
    forward_start_ns: int | None = None
    backward_end_ns: int | None = None
    optimizer_start_ns: int | None = None
    source: str = "marked"
    """marked or inferred; all steps of a recording alike."""


@dataclass
class Warnings:
    """What the user should know about the data, by code of the JSON contract and message, with counts."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, code: str, message: str, count: int = 1) -> None:
        """Adds `count` cases of a warning."""
        if count:
            self.counts[code, message] += count

    def forget(self, code: str) -> None:
        """Takes back all warnings of a code."""
        for key in [key for key in self.counts if key[0] == code]:
            del self.counts[key]

    def as_rows(self) -> list[dict[str, object]]:
        """`{code, message, count}` each, in order of code."""
        return [
            {"code": code, "message": message, "count": count} for (code, message), count in sorted(self.counts.items())
        ]


class TraceBuilder:
    """Collects the rows of one rank. Times are nanoseconds on the source's clock, NULL where there is none."""

    def __init__(self, work_dir: Path) -> None:
        self.names = Names()
        self.categories = Names()
        self.texts = {key: Names() for key in TEXT_KEYS}
        self.tracks = Tracks()
        self.warnings = Warnings()
        self.read = 0
        """Elements of the source's list, whatever they are."""
        self.dropped: Counter[str] = Counter()
        self.meta: dict[str, object] = {}
        """Facts about the source: format, framework, rank, world size, devices, origin, ...

        `device_covered_ns` is the time in which budgets can be known, `device_log_ns` that of a device log which covers
        a part of the recording only (both on the source's clock). `records_launches` False says that the format has no
        launches, so that none is missing. `start_ups` are the waits for the first batch of a loader, on the source's
        clock, on which the times of `queue_samples` are as well then, but those of the stage BETWEEN_OPERATORS.
        """
        self.spool = TextSpool(work_dir / "args.spool")
        self.slices = Rows(_SLICE_COLUMNS)
        self.points = Rows(_POINT_COLUMNS)
        self.async_points = Rows(_POINT_COLUMNS)
        self.instants = Rows(_INSTANT_COLUMNS)
        self.flow_points = Rows(_FLOW_COLUMNS)
        self.links = Rows(_LINK_COLUMNS)
        """Cause and effect that the source tells: slices by their number in order of adding, code of FLOW_KINDS."""
        self.main_track: int | None = None
        """Track of the main training thread, where the source tells it."""
        self.executor_tracks: list[int] = []
        """Tracks of threads that execute what the main thread calls, and launch for it."""
        self.memory_events = Rows(_MEMORY_COLUMNS)
        self.allocations = Rows(_ALLOCATION_COLUMNS)
        """Lives of memory blocks that the source itself tells.

        `device`, `name` and `layout` are codes of `names`; `slice` is the number in order of adding of the slice that
        allocated the block.
        """
        self.counters = Rows(_COUNTER_COLUMNS)
        self._places: dict[tuple[str, str], int] = {}
        self.ops: list[Op] = []
        """Operators that the source itself tells apart; the slices' column `op` counts into them."""
        self.steps: list[GivenStep] = []
        """Steps that the source itself tells; empty where markers or repetition tell them."""
        self.op_totals: dict[str, list[OpTotal]] = {"device": [], "host": []}
        """Where the source has only sums of an operator's time, by the side that spent it."""
        self.queue_samples: list[dict[str, object]] = []
        self.pipeline_ops: list[dict[str, object]] = []
        self.allocations_read_back: list[dict[str, object]] = []
        """Rows of the tables of these names, on the rank's own clock."""
        self.phases_told = False
        """Whether the source tells the phase of every slice that has one."""

    def add_op(self, op: Op) -> int:
        """Number of a new operator."""
        self.ops.append(op)
        return len(self.ops) - 1

    def drop(self, reason: str, count: int = 1) -> None:
        """Counts source elements that do not become rows."""
        if count:
            self.dropped[reason] += count

    def add_slices(self, count: int, values: Mapping[str, Column]) -> None:
        """Adds complete slices."""
        self.slices.append(count, values)

    def place(self, pid: str, tid: str) -> int:
        """Number of a (process, thread) pair, for the `track` of flow points: their track is known only at the end."""
        return self._places.setdefault((pid, tid), len(self._places))

    @property
    def place_pairs(self) -> list[tuple[str, str]]:
        """(process, thread) by number of the place."""
        return list(self._places)

    def bound_flow_points(self) -> dict[str, Column]:
        """Flow points whose `track` is the track code of their place; -1 where no slice lies there."""
        by_place: dict[tuple[str, str], tuple[int, int]] = {}
        for code, key in enumerate(self.tracks.keys):
            rank = _FLOW_TRACKS.get(key.kind)
            if rank is not None:
                by_place[key.pid, key.tid] = min((rank, code), by_place.get((key.pid, key.tid), (len(_FLOW_TRACKS), 0)))
        codes = [by_place.get(place, (0, -1))[1] for place in self._places]
        points = self.flow_points.take_all()
        points["track"] = np.array(codes or [-1], np.int32)[points["track"]]
        return points

    def first_point_times(self) -> list[int]:
        """Times of given steps, of the earliest instant and counter sample, where there are any."""
        given = [step.start_ns for step in self.steps]
        return given + [
            first for rows in (self.instants, self.counters) if (first := rows.least("ts", missing=NULL)) is not None
        ]


_FLOW_TRACKS = {"stream": 0, "thread": 1}
"""Tracks that flow events bind to, preferred first."""
