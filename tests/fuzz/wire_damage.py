"""Damages protobuf bytes: lengths, tags, numbers and whole pieces; the same seed gives the same damage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

_LONGEST_PIECE = 400
_VARINTS = (
    b"\x00",
    b"\x7f",
    b"\x80\x01",
    b"\xff\xff\x03",
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
)
"""Small, large, the largest, the least signed, one that is too long."""
_TAGS = bytes(number << 3 | wire for number in range(1, 12) for wire in (0, 1, 2, 5)) + b"\x00\x07\x23\x80\xff"


def damaged_wire(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """One to four kinds of damage, one after another."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(_DAMAGES)(data, others, rng)
    return data


def _place(data: bytes, rng: Random) -> int:
    return rng.randrange(len(data)) if data else 0


def _cut(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    return data[: _place(data, rng)]


def _flip(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    place = _place(data, rng)
    return data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :]


def _tag(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    place = _place(data, rng)
    return data[:place] + bytes([rng.choice(_TAGS)]) + data[place + 1 :]


def _number(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    place = _place(data, rng)
    return data[:place] + rng.choice(_VARINTS) + data[place + rng.randrange(6) :]


def _number_in_place(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """The lengths around it stay right."""
    place, varint = _place(data, rng), rng.choice(_VARINTS)
    return data[:place] + varint + data[place + len(varint) :]


def _without(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    place = _place(data, rng)
    return data[:place] + data[place + rng.randrange(_LONGEST_PIECE) :]


def _twice(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    place = _place(data, rng)
    piece = data[place : place + rng.randrange(_LONGEST_PIECE)]
    return data[:place] + piece + data[place:]


def _zeros(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    place, size = _place(data, rng), rng.randrange(_LONGEST_PIECE)
    return data[:place] + bytes(size) + data[place + size :]


def _spliced(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    other = rng.choice(others) if others else data
    return data[: _place(data, rng)] + other[_place(other, rng) :]


def _text_conversion(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    return data.decode("utf-8", "replace").encode()


Damage = Callable[[bytes, Sequence[bytes], Random], bytes]
_DAMAGES: tuple[Damage, ...] = (
    *(_cut, _flip, _flip, _tag, _tag, _number, _number_in_place, _number_in_place),
    *(_without, _twice, _zeros, _spliced, _text_conversion),
)
