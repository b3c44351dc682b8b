"""Rows of Ascend's CSV tables as arguments of slices: one JSON object each, of what the row knows."""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from laptime.importers.ascend_output_tables import TextTable
from laptime.model.arrays import IntArray
from laptime.model.builder import TraceBuilder

_NOT_KNOWN = ("", "N/A")
_CHUNK_ROWS = 1 << 14
"""Bounds the memory that the texts take."""
_FEW = 4
"""A column has few distinct texts where they are fewer than its rows divided by this."""
_BLANK = ord(" ")


def spooled_args(table: TextTable, builder: TraceBuilder) -> tuple[IntArray, IntArray]:
    """Spools the rows; returns where each begins and its length."""
    starts, lengths = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for first in range(0, len(table), _CHUNK_ROWS):
        texts = _objects({name: column.slice(first, _CHUNK_ROWS) for name, column in table.columns.items()})
        own = np.asarray(pc.binary_length(texts)).astype(np.int64)
        base = builder.spool.add(_content(texts).tobytes())
        starts.append(base + np.cumsum(own) - own)
        lengths.append(own)
    return np.concatenate(starts), np.concatenate(lengths)


def _objects(columns: dict[str, pa.StringArray]) -> pa.StringArray:
    """JSON objects; what is not known has no key."""
    members = [_members(name, column) for name, column in columns.items()]
    joined = pc.binary_replace_slice(pc.binary_join_element_wise(*members, ""), 0, 1, "{")
    return pc.binary_join_element_wise(joined, pa.scalar("}"), "")


def _members(name: str, column: pa.StringArray) -> pa.StringArray:
    """`,"name":"text"` of each row; nothing where the text says nothing."""
    key = "," + msgspec.json.encode(name).decode() + ":"
    encoded = column.dictionary_encode()
    if len(encoded.dictionary) * _FEW > len(column) and not _needs_escapes(column):
        known = pc.binary_join_element_wise(pa.scalar(f'{key}"'), column, pa.scalar('"'), "")
        return pc.if_else(pc.is_in(column, pa.array(_NOT_KNOWN)), "", known)
    texts = encoded.dictionary.to_pylist()
    known = ["" if text in _NOT_KNOWN else key + msgspec.json.encode(text).decode() for text in texts]
    return pa.array(known, pa.string()).take(encoded.indices)


def _needs_escapes(column: pa.StringArray) -> bool:
    content = _content(column)
    return bool(((content == ord('"')) | (content == ord("\\")) | (content < _BLANK)).any())


def _content(column: pa.StringArray) -> npt.NDArray[np.uint8]:
    """The bytes of all texts of a column, one after the other."""
    _, places, content = column.buffers()
    ends = np.frombuffer(places, np.int32)[column.offset : column.offset + len(column) + 1]
    return np.frombuffer(content or b"", np.uint8)[ends[0] : ends[-1]]
