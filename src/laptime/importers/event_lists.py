"""Reads the list of events of a trace file, whatever its dialect: block by block, with what is damaged named."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from laptime.importers.decoders import Decoders
from laptime.importers.decoding import Decoded
from laptime.importers.framing import EventFile, header_fields
from laptime.importers.progress import Progress
from laptime.importers.sources import Source
from laptime.importers.streams import ByteStream
from laptime.model.builder import TraceBuilder

_REST_BLOCKS = 16
"""Blocks after the event list in which its object's other keys are looked for."""


def read_events(
    source: Source,
    builder: TraceBuilder,
    progress: Progress,
    decoders: Decoders,
    feed: Callable[[Decoded], None],
    *,
    bare: bool = False,
) -> dict[str, object]:
    """Hands all events to `feed`, in order of the file; returns the other keys of the object that they stand in.

    `bare`: arguments are handed on as text alone.
    """
    with source.open() as stream:
        file = EventFile(stream, name=source.name, bare=bare)
        blocks = decoders.decode(file, inflated_bytes=stream.inflated_size)
        repaired = bad = 0
        rest, closed, partial_at = b"", False, None
        for block, decoded in blocks:
            feed(decoded)
            repaired, bad = repaired + decoded.repaired, bad + decoded.bad
            rest, closed = decoded.rest, decoded.closed
            partial_at = None if decoded.partial_at is None else block.offset + decoded.partial_at
            progress(stream.stored_position, stream.size)
            if closed:
                rest += b"" if block.last else b"".join(later.data for later, _ in islice(blocks, _REST_BLOCKS))
                break
        add = builder.warnings.add
        add("invalid_json", "events with bad escapes, bare words or broken text; repaired", repaired)
        add("invalid_json", "list elements that are no events; dropped", bad)
        if stream.damage is not None or partial_at is not None or not (closed or file.form != "object"):
            _warn_of_cut(stream, builder, cut_at=partial_at)
        return header_fields(file.head, rest)


def _warn_of_cut(stream: ByteStream, builder: TraceBuilder, *, cut_at: int | None) -> None:
    why = stream.damage or "the file ends inside the event list"
    place = stream.position if cut_at is None else cut_at
    builder.warnings.add("truncated", f"{why}; {builder.read:,} whole events up to byte {place:,} are kept")
