"""Memory of a part of a recording, worked out instant by instant and block by block from the tables' rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
Span = tuple[int, int]
"""[first, last)."""


@dataclass(frozen=True)
class MemoryTwin:
    """Blocks of one device (`size_bytes`, `start_ns`, `end_ns`; None: before, after), and the spans that count."""

    blocks: Sequence[Row]
    spans: Sequence[Span]

    def alive(self, time: int) -> list[Row]:
        """Blocks that live at a time."""
        return [
            row
            for row in self.blocks
            if (row["start_ns"] is None or row["start_ns"] <= time) and (row["end_ns"] is None or time < row["end_ns"])
        ]

    def bytes_at(self, time: int) -> int:
        """Bytes that live at a time."""
        return sum(row["size_bytes"] for row in self.alive(time))

    def instants(self) -> list[int]:
        """Begins of the spans, and the instants inside at which something changes."""
        changes = {time for row in self.blocks for time in (row["start_ns"], row["end_ns"]) if time is not None}
        return sorted({first for first, _ in self.spans} | {time for time in changes if self.holds(time)})

    def holds(self, time: int) -> bool:
        """Whether a time counts."""
        return any(first <= time < last for first, last in self.spans)

    def peak(self) -> tuple[int, int]:
        """Most bytes, and when first."""
        levels = [(self.bytes_at(time), -time) for time in self.instants()]
        most, negated = max(levels)
        return most, -negated

    def living(self) -> list[Row]:
        """Blocks that live at some instant that counts; one that takes no time, where its instant counts."""
        return [row for row in self.blocks if self._lives(row)]

    def _lives(self, row: Row) -> bool:
        start, end = row["start_ns"], row["end_ns"]
        if start is not None and start == end:
            return self.holds(start)
        return any((start is None or start < last) and (end is None or first < end) for first, last in self.spans)

    def before(self) -> int:
        """Bytes in the last nanosecond before."""
        return self.bytes_at(min(first for first, _ in self.spans) - 1)

    def end(self) -> int:
        """Bytes in the last nanosecond."""
        return self.bytes_at(max(last for _, last in self.spans) - 1)


def merged(spans: Iterable[Span]) -> list[Span]:
    """Spans that share no instant, in order; empty ones are left out."""
    found: list[Span] = []
    for first, last in sorted(spans):
        if first >= last:
            continue
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return found
