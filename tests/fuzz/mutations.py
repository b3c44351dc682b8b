"""Damages a recording, byte by byte and number by number; the same seed gives the same damage."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Sequence
from random import Random

_LONGEST_CHUNK = 2000
_NUMBER = re.compile(rb"(?<=[:\[,\s])-?\d+(?:\.\d+)?")
_ATTRIBUTE = re.compile(rb'(?<==")-?\d+(?:\.\d+)?(?=")')
_TEXT = re.compile(rb'"[^"\\\n]{0,200}"')
_EVENT_END = re.compile(rb"\}\s*,\s*\{")
_NUMBERS = (
    b"1e400",
    b"-1e400",
    b"1e308",
    b"1e-400",
    b"-1",
    b"0",
    b"-0.0",
    b"NaN",
    b"-Infinity",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"9223372036854775.807",
    b"9223372036854776",
    b"18446744073709551616",
    b"4611686018427387.904",
    b"99999999999999999999999999999999",
    b"0.0000000000000000000001",
    b"1.0005",
    b"123456789012345.6789",
    b"2147483648",
    b"4294967296",
    b"1e5",
    b'"12.5"',
    b'""',
    b'"nan"',
    b'"0x10"',
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"[1,2]",
    b'{"a":[1]}',
    b"00012",
    b"+5",
    b".5",
    b"5.",
    b"1e",
)
_TEXTS = (
    b'""',
    b'"X"',
    b'"B"',
    b'"E"',
    b'"b"',
    b'"e"',
    b'"n"',
    b'"C"',
    b'"i"',
    b'"s"',
    b'"t"',
    b'"f"',
    b'"M"',
    b'"N"',
    b'"O"',
    b'"D"',
    b'"P"',
    b'"kernel"',
    b'"gpu_memcpy"',
    b'"cuda_runtime"',
    b'"gpu_user_annotation"',
    b'"user_annotation"',
    b'"cpu_op"',
    b'"python_function"',
    b'"ac2g"',
    b'"fwdbwd"',
    b'"[memory]"',
    b'"ProfilerStep#7"',
    b'"ProfilerStep#99999999999999999999"',
    b'"ncclDevKernel_AllReduce"',
    b'"ts"',
    b'"dur"',
    b'"args"',
    b'"ph"',
    b'"stream"',
    b'"correlation"',
    b'"External id"',
    b'"Addr"',
    b'"Bytes"',
    b'"traceEvents"',
    b'"distributedInfo"',
    b'"baseTimeNanoseconds"',
    b'"\\ud800"',
    b'"\\udc00\\ud800"',
    b'"\\u0000"',
    b'"\xff\xfe"',
    b'"\xed\xa0\x80"',
    b'"C:\\Users\\x"',
    b'"line\nbreak"',
    b"null",
    b"7",
    b"{}",
    b'["a"]',
)


_KEYS = [
    *b"ts dur pid tid id correlation stream device Bytes __id__ __name__ shape value localTime".split(),
    b"External id",
]


def mutated(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """One to six damages on top of each other, now and then wrapped in a (damaged) gzip stream."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        data = rng.choice(_OF_DRAWINGS if b"<svg" in data[:400] else _MUTATIONS)(data, others, rng)
    if rng.random() < 0.06:
        data = gzip.compress(data, 1, mtime=0)
        if rng.random() < 0.7:
            data = rng.choice((_flip, _delete, _insert, _truncate, _repeat))(data, others, rng)
    return data


def _place(data: bytes, rng: Random) -> int:
    """Anywhere; often near the beginning or the end, where the object's own keys are."""
    length = len(data)
    draw = rng.random()
    if draw < 0.15:
        return rng.randrange(min(length, 600) + 1)
    if draw < 0.25:
        return length - rng.randrange(min(length, 300) + 1)
    return rng.randrange(length + 1)


def _chunk(data: bytes, rng: Random) -> tuple[int, int]:
    start = _place(data, rng)
    return start, min(len(data), start + rng.choice((1, 2, 5, 20, 100, _LONGEST_CHUNK)))


def _flip(data: bytes, _: Sequence[bytes], rng: Random) -> bytes:
    changed = bytearray(data)
    for _each in range(rng.choice((1, 1, 3, 20)) if data else 0):
        place = min(_place(data, rng), len(data) - 1)
        changed[place] = rng.choice((changed[place] ^ (1 << rng.randrange(8)), rng.randrange(256)))
    return bytes(changed)


def _delete(data: bytes, _: Sequence[bytes], rng: Random) -> bytes:
    start, end = _chunk(data, rng)
    return data[:start] + data[end:]


def _insert(data: bytes, _: Sequence[bytes], rng: Random) -> bytes:
    place = _place(data, rng)
    text = rng.choice(
        (
            rng.randbytes(rng.choice((1, 4, 40))),
            rng.choice((b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\0", b"\n", b"\xef\xbb\xbf", b"{}", b"[]")),
            b"[" * rng.choice((10, 3000)),
            b'{"a":' * rng.choice((10, 3000)),
            rng.choice(_NUMBERS) + b",",
            rng.choice(_TEXTS) + b":",
        )
    )
    return data[:place] + text + data[place:]


def _repeat(data: bytes, _: Sequence[bytes], rng: Random) -> bytes:
    start, end = _chunk(data, rng)
    place = rng.choice((end, _place(data, rng)))
    return data[:place] + data[start:end] + data[place:]


def _truncate(data: bytes, _: Sequence[bytes], rng: Random) -> bytes:
    place = _place(data, rng)
    return data[place:] if rng.random() < 0.1 else data[:place]


def _swap(data: bytes, _: Sequence[bytes], rng: Random) -> bytes:
    first, second = sorted((_chunk(data, rng), _chunk(data, rng)))
    if first[1] > second[0]:
        return data
    left, right = data[first[0] : first[1]], data[second[0] : second[1]]
    return data[: first[0]] + right + data[first[1] : second[0]] + left + data[second[1] :]


def _splice(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    other = rng.choice(others)
    start, end = _chunk(other, rng)
    place = _place(data, rng)
    return data[:place] + (other[start:] if rng.random() < 0.1 else other[start:end]) + data[place:]


def _splice_events(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """Whole events of another recording between two events of this one."""
    other = rng.choice(others)
    borders = _borders(other)
    here = _borders(data)
    if len(borders) < 2 or not here:
        return data
    first = rng.randrange(len(borders) - 1)
    last = min(len(borders) - 1, first + rng.choice((1, 3, 20)))
    place = rng.choice(here)
    return data[:place] + other[borders[first] : borders[last]] + data[place:]


def _borders(data: bytes) -> list[int]:
    return [match.end() - 1 for match in _EVENT_END.finditer(data)]


def _digits(data: bytes, _: Sequence[bytes], rng: Random) -> bytes:
    def other(match: re.Match[bytes]) -> bytes:
        return b"%d" % rng.randrange(10)

    start, end = _chunk(data, rng)
    return data[:start] + re.sub(rb"\d", other, data[start:end]) + data[end:]


def _replacing(
    pattern: re.Pattern[bytes], values: tuple[bytes, ...]
) -> Callable[[bytes, Sequence[bytes], Random], bytes]:
    def replace(data: bytes, _: Sequence[bytes], rng: Random) -> bytes:
        """One value, or one in a hundred."""
        value = rng.choice(values)
        many = rng.random() < 0.2
        start = 0 if many else _place(data, rng)

        def other(match: re.Match[bytes]) -> bytes:
            if not many:
                return value
            return rng.choice(values) if rng.random() < 0.01 else match[0]

        return data[:start] + pattern.sub(other, data[start:], 0 if many else 1)

    return replace


def _keyed_number(data: bytes, _: Sequence[bytes], rng: Random) -> bytes:
    """The value of a key that the importer looks at, in one event or in all."""
    key = rng.choice(_KEYS)
    pattern = re.compile(b'("' + key + rb'"\s*:\s*)("[^"]*"|[-\w.]+)')
    value = rng.choice(_NUMBERS)
    start = _place(data, rng)
    return data[:start] + pattern.sub(lambda match: match[1] + value, data[start:], rng.choice((0, 1, 1, 1)))


_MUTATIONS: tuple[Callable[[bytes, Sequence[bytes], Random], bytes], ...] = (
    _flip,
    _delete,
    _insert,
    _repeat,
    _truncate,
    _swap,
    _splice,
    _splice_events,
    _digits,
    _replacing(_NUMBER, _NUMBERS),
    _replacing(_TEXT, _TEXTS),
    _keyed_number,
)
_OF_DRAWINGS = (*_MUTATIONS, *(_replacing(_ATTRIBUTE, tuple(number.strip(b'"') for number in _NUMBERS)),) * 3)
"""Of drawings, whose numbers are attributes."""
