"""Reads stored bytes and undoes their compression, which is told from the first bytes, never from the name.

A stream that ends too early or is damaged gives what it holds and says what is wrong.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
from typing import IO, Protocol

import pyarrow as pa
from isal import isal_zlib

_READ_BYTES = 1 << 20
USUAL_RATIO = 15
"""How much longer the text of a trace is than its compressed form, about."""
_INFLATE_ERRORS: tuple[type[Exception], ...] = (
    isal_zlib.error,  # type: ignore[assignment]  # the stub takes the class for an instance
    EOFError,
    ValueError,
)


class _Inflater(Protocol):
    def inflate(self, data: bytes) -> bytes: ...
    @property
    def finished(self) -> bool: ...


class Closable(Protocol):
    """An archive that stays open while one of its members is read."""

    def close(self) -> None: ...


class _Plain:
    finished = True

    def inflate(self, data: bytes) -> bytes:
        return data


class _Gzip:
    """Gzip of any number of members; bytes after the last member are ignored."""

    def __init__(self) -> None:
        self._member = isal_zlib.decompressobj(wbits=31)
        self._started = False

    @property
    def finished(self) -> bool:
        return bool(self._member.eof) or not self._started

    def inflate(self, data: bytes) -> bytes:
        pieces = []
        while data:
            if self._member.eof:
                if not data.startswith(b"\x1f\x8b"):
                    break
                self._member = isal_zlib.decompressobj(wbits=31)
            self._started = True
            pieces.append(self._member.decompress(data))
            data = self._member.unused_data if self._member.eof else b""
        return b"".join(pieces)


class ByteStream:
    """Reads a source front to back; knows where it is and whether the stored bytes ended too early."""

    def __init__(self, handle: IO[bytes], *, size: int, path: str | None = None, owner: Closable | None = None) -> None:
        self._handle = self._stored = handle
        self._owner = owner
        self._inflater: _Inflater = _Plain()
        self._buffer = b""
        self._ended = False
        self.size = size
        """Stored bytes of the source."""
        self.inflated_size = size
        """About how many bytes there are decompressed."""
        self.plain_path = path
        """Path of the file, if it is stored uncompressed."""
        self.position = 0
        """Decompressed bytes read so far."""
        self.stored_position = 0
        """Stored bytes read so far."""
        self.damage: str | None = None
        """What is wrong with the stored bytes, once it is known."""
        self._start()

    def _start(self) -> None:
        magic = self._handle.read(4)
        if magic[:2] == b"\x1f\x8b":
            self._inflater = _Gzip()
            self.plain_path = None
            self.inflated_size *= USUAL_RATIO
        elif magic == b"\x28\xb5\x2f\xfd":
            rest = _Rejoined(magic, self._handle)
            self._handle = pa.CompressedInputStream(pa.PythonFile(rest, mode="r"), "zstd")
            self.inflated_size *= USUAL_RATIO
            self.plain_path = None
            return
        self._take(magic)

    def _take(self, stored: bytes) -> None:
        self.stored_position += len(stored)
        try:
            inflated = self._inflater.inflate(stored)
            self._buffer = self._buffer + inflated if self._buffer else inflated
        except _INFLATE_ERRORS as error:
            self._ended = True
            self.damage = f"damaged compression after {self.stored_position:,} bytes ({error})"

    def read(self, count: int) -> bytes:
        """Up to `count` bytes; fewer only at the end."""
        pieces, missing = [self._buffer], count - len(self._buffer)
        self._buffer = b""
        while missing > 0 and not self._ended:
            try:
                size = missing if type(self._inflater) is _Plain else min(_READ_BYTES, max(missing, 4096))
                stored = self._handle.read(size)
            except (OSError, EOFError, pa.ArrowException, zipfile.BadZipFile, tarfile.TarError) as error:
                self.damage, self._ended = f"damaged compression ({error})", True
                break
            if not stored:
                self._ended = True
                if not self._inflater.finished:
                    self.damage = "the compressed stream ends too early"
                break
            self._take(stored)
            pieces.append(self._buffer)
            missing -= len(self._buffer)
            self._buffer = b""
        data = pieces[1] if len(pieces) == 2 and not pieces[0] else b"".join(pieces)
        data, self._buffer = data[:count], data[count:]
        self.position += len(data)
        return data

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(self, *_: object) -> None:
        self._handle.close()
        self._stored.close()
        if self._owner is not None:
            self._owner.close()


class _Rejoined(io.RawIOBase):
    """A handle whose first bytes were already read."""

    def __init__(self, start: bytes, handle: IO[bytes]) -> None:
        self._start, self._handle_left = start, handle

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self._start:
            start, self._start = self._start, b""
            return start
        return self._handle_left.read(size)
