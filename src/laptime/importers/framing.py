"""Cuts the text of a trace file into blocks of whole events, without decoding it.

Three forms hold Chrome trace events: an object with a `traceEvents` list, a bare list (whose closing bracket may be
missing, by the format's own rule), and one event object per line. A cut is made after `}` `,` before `{"`. Should that
place lie inside an event, the block does not decode and the decoder finds the true borders.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from laptime.errors import LaptimeError
from laptime.importers.decoding import Decoded, decode_text
from laptime.importers.events import EVENT_BOUNDARY
from laptime.importers.streams import ByteStream

BLOCK_BYTES = 4 << 20
_BARE_PARTS = 4
"""Blocks whose arguments are kept as text alone are smaller: they are gone through many times, best within a cache."""
_SEARCH_BYTES = 1 << 18
_LONGEST_EVENT = 256 << 20
_HEAD_LIMIT = 64 << 20
_EVENT_LIST = re.compile(rb'"traceEvents"\s*:\s*\[')
_LINE_BOUNDARY = re.compile(rb"\}\s*?\n\s*(?=\{)")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Block:
    """Text of whole events and where it begins in the decompressed file."""

    data: bytes
    offset: int
    last: bool
    bare: bool = False
    """Whether arguments are kept as text alone."""

    def decode(self) -> Decoded:
        """Columns of the events."""
        return decode_text(self.data, last=self.last, bare=self.bare)


class EventFile:
    """A trace file on its way through: what stands before the events, then the blocks."""

    def __init__(self, stream: ByteStream, *, name: str, bare: bool = False) -> None:
        self._stream = stream
        self.bare = bare
        self.name = name
        self._buffer = b""
        self._offset = 0
        self.plain_path: str | None = None
        """Where the same bytes at the same offsets can be read again; None for compressed files and lines."""
        self.form = self._enter()
        if stream.plain_path and self.form != "lines":
            self.plain_path = stream.plain_path
        """object, list or lines"""

    def _enter(self) -> str:
        self._fill(BLOCK_BYTES)
        if self._buffer.startswith(_BOM):
            self._drop(len(_BOM))
        self._drop(len(self._buffer) - len(self._buffer.lstrip()))
        if self._buffer.startswith(b"["):
            self.head: bytes = b""
            self._drop(1)
            return "list"
        size = BLOCK_BYTES
        while True:
            match = _EVENT_LIST.search(self._buffer)
            if match:
                self.head = self._buffer[: match.start()]
                self._drop(match.end())
                return "object"
            size *= 4
            if size > _HEAD_LIMIT or not self._fill(size):
                break
        self.head = b""
        return "lines"

    def _fill(self, count: int) -> bool:
        """Reads until the buffer holds `count` bytes; False where nothing is left to read."""
        missing = count - len(self._buffer)
        more = self._stream.read(missing) if missing > 0 else b""
        self._buffer += more
        return bool(more)

    def _drop(self, count: int) -> None:
        self._buffer = self._buffer[count:]
        self._offset += count

    def blocks(self) -> Iterator[Block]:
        """All blocks in file order; the last one also holds what follows the events."""
        boundary = _LINE_BOUNDARY if self.form == "lines" else EVENT_BOUNDARY
        while True:
            cut = self._next_cut(boundary)
            data = self._buffer[:cut] if cut else self._buffer
            offset = self._offset
            self._drop(len(data))
            if self.form == "lines":
                data = _LINE_BOUNDARY.sub(b"},", data)
            yield Block(data, offset, last=cut is None, bare=self.bare)
            if cut is None:
                return

    def _next_cut(self, boundary: re.Pattern[bytes]) -> int | None:
        size = BLOCK_BYTES // _BARE_PARTS if self.bare else BLOCK_BYTES
        wanted = size + _SEARCH_BYTES
        while True:
            grown = self._fill(wanted)
            match = boundary.search(self._buffer, size)
            if match:
                return match.end()
            if not grown and len(self._buffer) < wanted:
                return None
            if wanted > _LONGEST_EVENT:
                raise LaptimeError(
                    f"an event longer than {_LONGEST_EVENT >> 20} MiB at byte {self._offset:,}",
                    where=self.name,
                    remedy="check that the file is a trace",
                )
            wanted *= 2


def header_fields(head: bytes, rest: bytes) -> dict[str, object]:
    """Keys of a trace object that stand before and after its events; what cannot be read is left out."""
    fields: dict[str, object] = {}
    before = head.strip().rstrip(b",") + b"}"
    after = b"{" + rest.strip().lstrip(b",")
    for text in (before, after if rest.strip() not in (b"", b"}") else b"{}"):
        for candidate in (text, text.rstrip() + b"}"):
            try:
                fields.update(msgspec.json.decode(candidate, type=dict[str, object]))
                break
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                continue
    return fields
