"""The JSON of Chrome trace events as typed structs: the fields that are read, and how missing ones show."""

from __future__ import annotations

import re

import msgspec

from laptime.model.vocabulary import NULL

Scalar = int | float | str | bool | None
NO_TEXT = msgspec.Raw(b"")


class Event(msgspec.Struct, gc=False):
    """One event; NULL stands for a missing number, so that a column of numbers needs no look at each value."""

    ph: str = "X"
    name: Scalar = None
    cat: str | None = None
    pid: Scalar = None
    tid: Scalar = None
    ts: Scalar = NULL
    dur: Scalar = NULL
    id: int | float | str | None = NULL
    args: msgspec.Raw = NO_TEXT


class BareEvent(msgspec.Struct, gc=False):
    """An event of a dialect that tells durations by begin and end, and links by arguments."""

    ph: str = "X"
    name: Scalar = None
    cat: str | None = None
    pid: Scalar = None
    tid: Scalar = None
    ts: Scalar = NULL
    args: msgspec.Raw = NO_TEXT


class RawTimeEvent(Event, gc=False):
    """For files whose times are decimals that a double cannot hold."""

    ts: msgspec.Raw = NO_TEXT  # type: ignore[assignment]  # the same field, kept as text


class SliceArgs(msgspec.Struct, gc=False):
    """The arguments of slices that become columns; all of them are also kept as text."""

    correlation: Scalar = NULL
    external_id: Scalar = msgspec.field(name="External id", default=NULL)
    external_id_2021: Scalar = msgspec.field(name="external id", default=NULL)
    device: Scalar = NULL
    stream: Scalar = NULL
    bytes: Scalar = NULL
    size: Scalar = NULL
    shapes: msgspec.Raw = msgspec.field(name="Input Dims", default=NO_TEXT)
    shapes_2021: msgspec.Raw = msgspec.field(name="Input dims", default=NO_TEXT)
    dtypes: msgspec.Raw = msgspec.field(name="Input type", default=NO_TEXT)
    call_stack: str | None = msgspec.field(name="Call stack", default=None)
    module: str | None = msgspec.field(name="Module Hierarchy", default=None)
    collective: str | None = msgspec.field(name="Collective name", default=None)


class MemoryArgs(msgspec.Struct, gc=False):
    """The arguments of memory events."""

    address: Scalar = msgspec.field(name="Addr", default=NULL)
    memory_bytes: Scalar = msgspec.field(name="Bytes", default=NULL)
    total_allocated: Scalar = msgspec.field(name="Total Allocated", default=NULL)
    total_reserved: Scalar = msgspec.field(name="Total Reserved", default=NULL)
    device_type: Scalar = msgspec.field(name="Device Type", default=NULL)
    device_id: Scalar = msgspec.field(name="Device Id", default=NULL)


decode_events = msgspec.json.Decoder(list[Event]).decode
decode_bare_events = msgspec.json.Decoder(list[BareEvent]).decode
decode_raw_times = msgspec.json.Decoder(list[RawTimeEvent]).decode
decode_event = msgspec.json.Decoder(Event).decode
decode_raw_time = msgspec.json.Decoder(RawTimeEvent).decode
decode_slice_args = msgspec.json.Decoder(list[SliceArgs]).decode
decode_one_slice_args = msgspec.json.Decoder(SliceArgs).decode
decode_memory_args = msgspec.json.Decoder(list[MemoryArgs]).decode
decode_one_memory_args = msgspec.json.Decoder(MemoryArgs).decode
FAULTS = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)
"""What decoding raises for text that is not what it should be."""

MEMORY_EVENT = "[memory]"
MEMORY_COLUMNS = ("address", "memory_bytes", "total_allocated", "total_reserved", "device_type", "device_id")

EVENT_BOUNDARY = re.compile(rb"\}\s*,\s*(?=\{\s*\")")
"""Between two events, or two objects inside one; the decoder tells."""
