"""What arguments of MegEngine's events tell of an operator, a tensor or a counter."""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from laptime.importers.decoding import Decoded
from laptime.importers.events import FAULTS, Scalar
from laptime.model.arrays import IntArray
from laptime.model.vocabulary import NULL


class Args(msgspec.Struct, gc=False):
    """Arguments of a span."""

    op: Scalar = msgspec.field(name="__id__", default=NULL)
    op_name: str | None = msgspec.field(name="__name__", default=None)
    tensor: Scalar = msgspec.field(name="id", default=NULL)
    shape: str | None = None
    dtype: str | None = None
    device: str | None = None
    backtrace: str | None = msgspec.field(name="python_backtrace", default=None)
    bytes: Scalar = NULL
    value: Scalar = None
    name: str | None = None
    inputs: str | None = None
    outputs: str | None = None


_decode_all = msgspec.json.Decoder(list[Args]).decode
_decode_one = msgspec.json.Decoder(Args).decode
_decode_values = msgspec.json.Decoder(list[float]).decode
_NO_ARGS = Args()


def args_of(block: Decoded, rows: IntArray) -> list[Args]:
    """Arguments of rows that have some; of odd ones what is sound."""
    try:
        return _decode_all(b"".join((b"[", _joined(block, rows), b"]")))
    except FAULTS:
        return [_one(block.args_text(row)) for row in rows.tolist()]


def _joined(block: Decoded, rows: IntArray) -> bytes | memoryview:
    """Arguments of rows with commas between; where they stand side by side, as they are."""
    start, length = block.args_start[rows], block.args_length[rows]
    if len(rows) and np.array_equal(start[1:], start[:-1] + length[:-1] + 1):
        return memoryview(block.args)[int(start[0]) : int(start[-1] + length[-1])]
    ends = (start + length).tolist()
    return b",".join([block.args[first:last] for first, last in zip(start.tolist(), ends, strict=True)])


def _one(text: bytes) -> Args:
    try:
        return _decode_one(text)
    except FAULTS:
        return _NO_ARGS


def counter_values(block: Decoded, rows: IntArray) -> npt.NDArray[np.float64]:
    """Values of counters; NaN where there is no number."""
    plain = _plain_values(block, rows)
    if plain is not None:
        return plain
    told = rows[block.args_length[rows] > 0]
    values = np.full(len(rows), np.nan)
    found = [each.value for each in args_of(block, told)]
    values[block.args_length[rows] > 0] = [value if isinstance(value, (int, float)) else np.nan for value in found]
    return values


def _plain_values(block: Decoded, rows: IntArray) -> npt.NDArray[np.float64] | None:
    """Where all counters have a value and nothing else; None where some have not."""
    text = bytes(_joined(block, rows))
    if not (text.startswith(_VALUE) and text.endswith(b"}")):
        return None
    numbers = text[len(_VALUE) : -1].replace(b"}," + _VALUE, b",")
    try:
        values = _decode_values(b"".join((b"[", numbers, b"]")))
    except FAULTS:
        return None
    return np.array(values, np.float64) if len(values) == len(rows) else None


_VALUE = b'{"value":'
