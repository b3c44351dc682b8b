"""Which part of a recording counts. Imports nothing heavy, since every command takes it.

Definitions: docs/definitions.md, "Ranges".
"""

from __future__ import annotations

from dataclasses import dataclass

from laptime.model.vocabulary import NULL

Bounds = tuple[int | None, int | None]


@dataclass(frozen=True)
class Part:
    """What of a recording counts: all that fits every condition given. Times are on the rank's own clock."""

    from_ns: int | None = None
    to_ns: int | None = None
    steps: tuple[Bounds, ...] | None = None
    """Numbers of steps as first and last, both included; None leaves an end open."""
    subgraph: str | None = None
    device: int | None = None
    """Of work on devices only that of this one; what threads do is not told apart."""

    @property
    def is_whole(self) -> bool:
        """Whether neither time nor steps are bounded."""
        return self.from_ns is None and self.to_ns is None and self.steps is None

    @property
    def steps_text(self) -> str:
        """Its steps as they are typed: `3-7,9`."""
        known = [["" if end is None else str(end) for end in bounds] for bounds in self.steps or ()]
        return ",".join(first if first == last else f"{first}-{last}" for first, last in known)

    @property
    def first_ns(self) -> int:
        """Begin of the time that counts."""
        return NULL if self.from_ns is None else self.from_ns

    @property
    def last_ns(self) -> int:
        """End of the time that counts, itself not in it."""
        return -NULL - 1 if self.to_ns is None else self.to_ns


WHOLE = Part()
