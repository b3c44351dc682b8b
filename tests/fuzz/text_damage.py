"""Damages the files that folder recordings hold: tables, lines, records of equal length, encodings."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

_WORD = re.compile(rb'[^,;:\s"{}\[\]()=\0]+')
_BREAK = re.compile(rb"\r\n|\n|\r|\0")
_WORDS = (
    b"",
    b" ",
    b"-",
    b"N/A",
    b"nan",
    b"NaN",
    b"inf",
    b"-inf",
    b"Infinity",
    b"null",
    b"None",
    b"True",
    b"0",
    b"-0",
    b"-1",
    b"00",
    b"1e400",
    b"-1e400",
    b"1e308",
    b"1e-400",
    b"1e19",
    b"1e9",
    b"0x10",
    b"1_000",
    b"1,000",
    b"12.",
    b".5",
    b"1.5",
    b"+7",
    b"2147483648",
    b"4294967295",
    b"9007199254740993",
    b"9223372036854775807",
    b"9223372036854775808",
    b"-9223372036854775808",
    b"18446744073709551615",
    b"4611686018427387904",
    b"999999999999999999999999999999",
    b"9" * 5000,
    b"9223372036854775.807",
    b"\xd9\xa3\xd9\xa4",  # Arabic-Indic digits: decimal to Python, no number of any profiler
    b"\xc2\xb2",  # a superscript two: a digit to str.isdigit, nothing to int
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\0",
    b'"',
    b'""',
    b"{}",
    b"[]",
    b"[1",
    b'"{""a"": 1}"',
    b"Default/",
    b"/",
    b"GetNext",
    b"total",
    b"step_num",
    b"=cmd()",
)
_INTEGERS = (0, 1, 255, 65535, (1 << 31) - 1, 1 << 32, 1 << 53, 1 << 54, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
_RECORDS = (20, 64, 20, 64, 8)
_MANY_LINES = 3000

Damage = Callable[[bytes, Random], bytes]


def _words(data: bytes, rng: Random) -> bytes:
    """One word, a handful, one in twenty or one in three becomes an odd one."""
    places = [match.span() for match in _WORD.finditer(data)]
    if not places:
        return data
    count = rng.choice((1, 1, 3, 10, 1 + len(places) // 20, 1 + len(places) // 3))
    value = rng.choice(_WORDS)
    for start, end in sorted(rng.sample(places, min(count, len(places), 200)), reverse=True):
        data = data[:start] + (value if rng.random() < 0.5 else rng.choice(_WORDS)) + data[end:]
    return data


def _lines(data: bytes, rng: Random) -> bytes:
    """Lines shuffled, left out, repeated, moved or joined."""
    mark = b"\0" if data.count(b"\0") > data.count(b"\n") else b"\n"
    lines = data.split(mark)
    first = rng.randrange(len(lines))
    last = min(len(lines), first + rng.choice((1, 1, 3, 30, len(lines))))
    draw = rng.randrange(6)
    if draw == 0:
        kept = lines[: rng.randrange(2)]
        rest = lines[len(kept) :]
        rng.shuffle(rest)
        lines = kept + rest
    elif draw == 1:
        del lines[first:last]
    elif draw == 2:
        lines[first:first] = lines[first:last] * rng.choice((1, 1, 40))
    elif draw == 3:
        place = rng.randrange(len(lines))
        lines[place:place] = lines[first:last]
    elif draw == 4:
        lines[first:last] = [b"".join(lines[first:last])]
    else:
        lines = [lines[0], *lines[-1:]]
    return mark.join(lines[:_MANY_LINES])


def _columns(data: bytes, rng: Random) -> bytes:
    """A column of a table is dropped, doubled, renamed, moved or filled with one odd word."""
    mark = rng.choice((b",", b",", b",", b";", b" "))
    rows = [line.split(mark) for line in data.split(b"\n")]
    width = len(rows[0])
    place, other = rng.randrange(width), rng.randrange(width)
    draw = rng.randrange(7)
    for number, row in enumerate(rows):
        if len(row) <= max(place, other):
            continue
        if draw == 0:
            del row[place]
        elif draw == 1:
            row.insert(other, row[place])
        elif draw == 2:
            row[place], row[other] = row[other], row[place]
        elif draw == 3 and number == 0:
            row[place] = rng.choice((row[place].upper(), row[place] + b" ", b"", row[other], *_WORDS[:8]))
        elif draw == 4 and number:
            row[place] = row[other]
        elif draw == 5 and number:
            row[place] = _WORDS[(place * 7 + other) % len(_WORDS)]
        elif draw == 6:
            row.reverse()
    return b"\n".join(mark.join(row) for row in rows)


def _records(data: bytes, rng: Random) -> bytes:
    """Records of equal length shuffled, repeated, left out, or a number in them replaced."""
    size = rng.choice(_RECORDS)
    records = [data[place : place + size] for place in range(0, len(data), size)]
    if len(records) < 2:
        return data
    first = rng.randrange(len(records))
    last = min(len(records), first + rng.choice((1, 2, 20, 500)))
    draw = rng.randrange(5)
    if draw == 0:
        del records[first:last]
    elif draw == 1:
        records[first:first] = records[first:last]
    elif draw == 2:
        part = records[first:last]
        rng.shuffle(part)
        records[first:last] = part
    elif draw == 3:
        records[first:last] = [bytes(len(record)) for record in records[first:last]]
    else:
        _write_number(records, first, last, rng)
    return b"".join(records)


def _write_number(records: list[bytes], first: int, last: int, rng: Random) -> None:
    """The same field of some records."""
    length = rng.choice((1, 2, 4, 8))
    start = rng.randrange(0, max(len(records[first]) - length, 0) + 1)
    value = rng.choice((*_INTEGERS, rng.getrandbits(64))) % (1 << (8 * length))
    for place in range(first, last):
        record = records[place]
        records[place] = (record[:start] + value.to_bytes(length, "little") + record[start + length :])[: len(record)]


def _encoding(data: bytes, rng: Random) -> bytes:
    """Another encoding, other line ends, NULs."""
    text = data[:200_000].decode("utf-8", "replace")
    draw = rng.randrange(8)
    if draw == 0:
        return b"\xef\xbb\xbf" + data
    if draw == 1:
        return text.encode(rng.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp037")), "replace")
    if draw == 2:
        return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b"\0", b"\xe2\x80\xa8", b"\x0b", b"")))
    if draw == 3:
        place = rng.randrange(len(data) + 1)
        return data[:place] + bytes(rng.choice((1, 8, 4096))) + data[place:]
    if draw == 4:
        return data.translate(bytes.maketrans(b"0123456789", b"9876543210"))
    if draw == 5:
        return data.replace(b'"', rng.choice((b"", b"'", b'""')))
    if draw == 6:
        return data.replace(b",", rng.choice((b";", b"\t", b",,")))
    return bytes(min(len(data), 100_000))


DAMAGES: tuple[Damage, ...] = (_words, _words, _words, _lines, _columns, _columns, _records, _encoding)
