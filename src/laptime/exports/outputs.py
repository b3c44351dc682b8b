"""Files to write: compressed as the name's ending says, and never seen half-written."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol, cast

import pyarrow as pa
from isal import igzip

from laptime.errors import LaptimeError


class Output(Protocol):
    """Takes the bytes of a file."""

    def write(self, data: bytes | memoryview, /) -> object:
        """Appends bytes."""
        ...


@contextmanager
def open_output(target: Path) -> Iterator[Output]:
    """Opens a file for writing: gzip for `.gz`, zstd for `.zst`, else plain. It takes its name when all is written."""
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    try:
        with part.open("xb") as handle, _compressed(handle, target) as output:
            yield output
        part.replace(target)
    except OSError as error:
        remedy = "check the folder, its permissions and the space left"
        raise LaptimeError(error.strerror or "cannot be written", where=target, remedy=remedy) from error
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _compressed(handle: IO[bytes], target: Path) -> Iterator[Output]:
    if target.suffix == ".gz":
        with igzip.IGzipFile(filename="", fileobj=handle, mode="wb", mtime=0) as packed:
            yield cast(Output, packed)
    elif target.suffix == ".zst":
        with pa.CompressedOutputStream(pa.PythonFile(handle, mode="w"), "zstd") as packed:
            yield packed
    else:
        yield handle
