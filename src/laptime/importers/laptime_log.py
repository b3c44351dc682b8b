"""The log of laptime's own recorder, `{stem}.laptime.jsonl`: its rows as typed structs.

The first line is an object of facts, each later one a list of rows; written by `laptime.recorders.event_log`, described
in docs/formats.md. A line that is cut or damaged is left out as a whole, unless its rows can be told apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, TypeVar

import msgspec

if TYPE_CHECKING:
    from laptime.importers.sources import Source
    from laptime.importers.streams import ByteStream

_BLOCK_BYTES = 1 << 22
_LONGEST_LINE = 1 << 28
"""The recorder writes a few thousand rows at once; what goes on beyond that is no line of it."""
_FAULTS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_Time = Annotated[int, msgspec.Meta(ge=0, le=1 << 61)]
_Ahead = Annotated[int, msgspec.Meta(ge=-(1 << 61), le=1 << 62)]
_Number = Annotated[int, msgspec.Meta(ge=0, le=(1 << 31) - 1)]
_Size = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]


class Begin(msgspec.Struct, array_like=True, tag="begin"):
    """A window begins; `ahead_ns` is what the wall clock is ahead of the log's."""

    window: _Number
    time_ns: _Time
    ahead_ns: _Ahead


class End(msgspec.Struct, array_like=True, tag="end"):
    """A window ends; `state` is whole, cut or failed."""

    window: _Number
    time_ns: _Time
    state: str


class Step(msgspec.Struct, array_like=True, tag="step"):
    """A training step."""

    number: _Number
    start_ns: _Time
    end_ns: _Time
    complete: bool
    window: _Number


class Block(msgspec.Struct, array_like=True, tag="block"):
    """What was recorded of a window in which training marked no step, without the start of the framework's profiler."""

    number: _Number
    start_ns: _Time
    end_ns: _Time
    window: _Number


class Slice(msgspec.Struct, array_like=True, tag="slice"):
    """Something that a thread did."""

    thread: int
    name: str
    kind: str
    start_ns: _Time
    end_ns: _Time
    stack: _Number | None = None


class Call(msgspec.Struct, array_like=True, tag="call"):
    """A call whose stack is known, of a slice that the framework records without: a scope, or a wait of any name."""

    thread: int
    name: str | None
    start_ns: _Time
    end_ns: _Time
    stack: _Number


class Stack(msgspec.Struct, array_like=True, tag="stack"):
    """A call stack: `file(line): function` frames, innermost first, separated by `;`."""

    number: _Number
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
    time_ns: _Time
    value: float


class Queue(msgspec.Struct, array_like=True, tag="queue"):
    """Size of a queue of the data pipeline."""

    queue: str
    stage: str
    time_ns: _Time
    size: _Size
    capacity: _Size | None = None


class PipelineOp(msgspec.Struct, array_like=True, tag="pipeline_op"):
    """A stage of the data pipeline; `queue` is the one it fills."""

    op_id: _Number
    op_type: str
    name: str
    workers: _Number | None = None
    parent_id: _Number | None = None
    queue: str | None = None


class StartUp(msgspec.Struct, array_like=True, tag="start_up"):
    """The wait for the first batch of a fresh iterator."""

    start_ns: _Time
    end_ns: _Time


class File(msgspec.Struct, array_like=True, tag="file"):
    """A file or folder that the framework wrote of a window, and the importer that reads it."""

    window: _Number
    name: str
    importer: str


class Fact(msgspec.Struct, array_like=True, tag="fact"):
    """A fact that was not known when the log began."""

    name: str
    value: object


class Note(msgspec.Struct, array_like=True, tag="note"):
    """Something the user should know of the recording."""

    message: str


Row = (
    Begin
    | End
    | Step
    | Block
    | Slice
    | Call
    | Stack
    | Thread
    | Counter
    | Queue
    | PipelineOp
    | StartUp
    | File
    | Fact
    | Note
)
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
    damage: str | None = None
    """What is wrong with the compression of the file."""
    cut_at: int | None = None
    """Byte from which a last line is not whole."""

    def of(self, kind: type[_Kind]) -> list[_Kind]:
        """Rows of one kind."""
        return [row for row in self.rows if isinstance(row, kind)]


def read_log(source: Source) -> Log:
    """All that is whole of a log. Raises OSError where it cannot be read."""
    log = Log()
    place = 0
    with source.open() as stream:
        for line in _lines(stream):
            if place:
                _add_line(line, place, log)
            else:
                _add_facts(line, log)
            place += len(line)
        log.damage = stream.damage
    return log


def _lines(stream: ByteStream) -> Iterator[bytes]:
    """Lines with their ends; the last one may have none."""
    rest = b""
    while data := stream.read(_BLOCK_BYTES):
        *whole, rest = (rest + data).split(b"\n")
        yield from (line + b"\n" for line in whole)
        if len(rest) > _LONGEST_LINE:
            break
    if rest:
        yield rest


def _add_line(line: bytes, place: int, log: Log) -> None:
    try:
        log.rows += _ROWS.decode(line)
    except _FAULTS:
        log.rows += list(_one_by_one(line, log))
        if not line.endswith(b"\n"):
            log.cut_at = place


def _add_facts(line: bytes, log: Log) -> None:
    try:
        log.facts = _FACTS.decode(line)
    except _FAULTS:
        log.bad += line.endswith(b"\n")
        log.cut_at = None if line.endswith(b"\n") else 0


def _one_by_one(line: bytes, log: Log) -> Iterator[Row]:
    """The good rows of a line; of one that is no list nothing."""
    try:
        raws = _ANY.decode(line)
    except _FAULTS:
        log.bad += line.endswith(b"\n")
        return
    for raw in raws:
        try:
            yield _ONE.decode(raw)
        except _FAULTS:
            log.bad += 1
