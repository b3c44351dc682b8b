"""Binary logs of an Ascend job: slices of a file of equal records, joined again before they are cut into records.

A record may begin in one slice and end in the next. Where a slice is missing or was cut short, the records after it are
found again by what every record must hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from laptime.importers.ascend_job_files import JobFile, in_order
from laptime.model.builder import Warnings

LARGEST_COUNT = 1 << 54
"""Counts of 10 ns beyond this (5.7 years) are no times."""
NS_PER_COUNT = 10
_PROBED = 8
"""Records at the start of a slice that tell whether it is aligned."""

Fits = Callable[[bytes], bool]
"""Whether some bytes can be a record."""


@dataclass(frozen=True)
class Joined:
    """Whole records, one after the other."""

    data: bytes
    torn: int
    """Places where bytes are missing between two slices."""
    rest: int
    """Bytes of a last record that is not whole."""


def read_slices(files: Sequence[JobFile], warnings: Warnings) -> list[bytes]:
    """Contents of the slices in order of number; what cannot be read or is missing is named."""
    ordered = in_order(files)
    contents = []
    for file in ordered:
        try:
            contents.append(file.path.read_bytes())
        except OSError as error:
            warnings.add("other", f"{file.path.name} cannot be read: {error.strerror}")
    if ordered:
        first, last = ordered[0].slice, ordered[-1].slice
        missing = last + 1 - len(ordered) if first == 0 else last - first + 1 - len(ordered)
        warnings.add("truncated", f"slices of {ordered[0].kind} between the first and the last are missing", missing)
        empty = sum(1 for content in contents if not content)
        warnings.add("other", f"files of {ordered[0].kind} are empty", empty)
    return contents


def join(slices: Sequence[bytes], size: int, fits: Fits) -> Joined:
    """Slices as one run of records of `size` bytes."""
    parts: list[bytes] = []
    length = torn = 0
    for content in slices:
        offset = -length % size
        aligned = _aligned_offset(content, offset, size, fits)
        if aligned != offset:
            torn += 1
            _cut(parts, length % size)
            length -= length % size
            content = content[aligned:]
        parts.append(content)
        length += len(content)
    rest = length % size
    _cut(parts, rest)
    return Joined(b"".join(parts), torn, rest)


def _cut(parts: list[bytes], count: int) -> None:
    """Takes bytes off the end."""
    while count and parts:
        last = parts.pop()
        if len(last) > count:
            parts.append(last[: len(last) - count])
        count -= min(count, len(last))


def _aligned_offset(content: bytes, expected: int, size: int, fits: Fits) -> int:
    """Where the first whole record of a slice begins: where it should, unless only another place fits."""
    probed = min(_PROBED, (len(content) - expected) // size)
    if probed <= 0 or 2 * _score(content, expected, size, fits) >= probed:
        return expected
    scores = [_score(content, offset, size, fits) for offset in range(min(size, len(content)))]
    best = max(range(len(scores)), key=scores.__getitem__)
    return best if 2 * scores[best] > probed else expected


def _score(content: bytes, offset: int, size: int, fits: Fits) -> int:
    whole = min(_PROBED, (len(content) - offset) // size)
    return sum(fits(content[offset + place * size : offset + (place + 1) * size]) for place in range(whole))
