"""The log of laptime's own recorder, `{stem}.laptime.jsonl`: its rows as typed structs.

The first line is an object of facts, each later one a list of rows; written by `laptime.recorders.event_log`, described
in docs/formats.md. A line that is cut or damaged is left out as a whole, unless its rows can be told apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec

SUFFIX = ".laptime.jsonl"


class Begin(msgspec.Struct, array_like=True, tag="begin"):
    """A window begins; `ahead_ns` is what the wall clock is ahead of the log's."""

    window: int
    time_ns: int
    ahead_ns: int


class End(msgspec.Struct, array_like=True, tag="end"):
    """A window ends; `state` is whole or cut."""

    window: int
    time_ns: int
    state: str


class Step(msgspec.Struct, array_like=True, tag="step"):
    """A training step."""

    number: int
    start_ns: int
    end_ns: int
    complete: bool
    window: int


class Slice(msgspec.Struct, array_like=True, tag="slice"):
    """Something that a thread did."""

    thread: int
    name: str
    kind: str
    start_ns: int
    end_ns: int
    stack: int | None = None


class Call(msgspec.Struct, array_like=True, tag="call"):
    """A call whose stack is known, of a slice that the framework records without: a scope, or a wait of any name."""

    thread: int
    name: str | None
    start_ns: int
    end_ns: int
    stack: int


class Stack(msgspec.Struct, array_like=True, tag="stack"):
    """A call stack: `file(line): function` frames, innermost first, separated by `;`."""

    number: int
    frames: str


class Thread(msgspec.Struct, array_like=True, tag="thread"):
    """The name of a thread and its process."""

    thread: int
    name: str
    pid: int


class Counter(msgspec.Struct, array_like=True, tag="counter"):
    """A sample."""

    name: str
    unit: str
    time_ns: int
    value: float


class Queue(msgspec.Struct, array_like=True, tag="queue"):
    """Size of a queue of the data pipeline."""

    queue: str
    stage: str
    time_ns: int
    size: int
    capacity: int | None = None


class PipelineOp(msgspec.Struct, array_like=True, tag="pipeline_op"):
    """A stage of the data pipeline; `queue` is the one it fills."""

    op_id: int
    op_type: str
    name: str
    workers: int | None = None
    parent_id: int | None = None
    queue: str | None = None


class StartUp(msgspec.Struct, array_like=True, tag="start_up"):
    """The wait for the first batch of a fresh iterator."""

    start_ns: int
    end_ns: int


class File(msgspec.Struct, array_like=True, tag="file"):
    """A file or folder that the framework wrote of a window, and the importer that reads it."""

    window: int
    name: str
    importer: str


class Fact(msgspec.Struct, array_like=True, tag="fact"):
    """A fact that was not known when the log began."""

    name: str
    value: object


class Note(msgspec.Struct, array_like=True, tag="note"):
    """Something the user should know of the recording."""

    message: str


Row = Begin | End | Step | Slice | Call | Stack | Thread | Counter | Queue | PipelineOp | StartUp | File | Fact | Note
_ROWS = msgspec.json.Decoder(list[Row])
_ANY = msgspec.json.Decoder(list[msgspec.Raw])
_ONE = msgspec.json.Decoder(Row)
_FACTS = msgspec.json.Decoder(dict[str, object])
_Kind = TypeVar("_Kind")


@dataclass
class Log:
    """All rows of a log, in order."""

    facts: dict[str, object] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    bad: int = 0
    """Rows that are none."""
    cut_at: int | None = None
    """Byte from which a last line is not whole."""

    def of(self, kind: type[_Kind]) -> list[_Kind]:
        """Rows of one kind."""
        return [row for row in self.rows if isinstance(row, kind)]


def read_log(path: Path) -> Log:
    """All that is whole of a log. Raises OSError where it cannot be read."""
    log = Log()
    with path.open("rb") as file:
        first = file.readline()
        log.facts = _facts(first)
        place = len(first)
        for line in file:
            _add_line(line, place, log)
            place += len(line)
    return log


def _add_line(line: bytes, place: int, log: Log) -> None:
    try:
        log.rows += _ROWS.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        log.rows += list(_one_by_one(line, log))
        if not line.endswith(b"\n"):
            log.cut_at = place


def _facts(line: bytes) -> dict[str, object]:
    try:
        return _FACTS.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {}


def _one_by_one(line: bytes, log: Log) -> Iterator[Row]:
    """The good rows of a line; of one that is no list nothing."""
    try:
        raws = _ANY.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        log.bad += line.endswith(b"\n")
        return
    for raw in raws:
        try:
            yield _ONE.decode(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            log.bad += 1
