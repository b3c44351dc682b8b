"""Writes a Kineto trace compressed, without the mark of a step that never ended."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

_LEVEL = 1
"""Training waits while the trace is written; the usual level takes four times as long for a tenth less."""


class _Exports(Protocol):
    def export_chrome_trace(self, path: str) -> None: ...


def write_trace(profile: _Exports, path: Path, *, without: str | None = None) -> None:
    """Writes `path` whole or not at all; events named `without` are left out."""
    plain, partial = path.with_name(f"{path.name}.part.json"), path.with_name(f"{path.name}.part")
    try:
        profile.export_chrome_trace(str(plain))
        with plain.open("rb") as source, gzip.open(partial, "wb", compresslevel=_LEVEL) as target:
            if without is None:
                while block := source.read(1 << 20):
                    target.write(block)
            else:
                target.writelines(_without(source, without))
        os.replace(partial, path)
    finally:
        plain.unlink(missing_ok=True)
        partial.unlink(missing_ok=True)


def _without(lines: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The lines of a trace as Kineto writes them, each event from `  {` to `  },`, without the events of a name."""
    named = f'"name": "{name}",'.encode()
    event: list[bytes] = []
    for line in lines:
        if line.rstrip() == b"  {":
            event = [line]
        elif not event:
            yield line
        else:
            event.append(line)
            if line.startswith(b"  }"):
                if not any(named in each for each in event):
                    yield from event
                event = []
    yield from event
