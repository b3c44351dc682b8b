"""Options that choose a part of a recording: --from, --to and --steps."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated

import typer

from laptime.cli.units import time_text

if TYPE_CHECKING:
    from laptime.analyses.parts import Bounds, Part

FromOption = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="TIME", help="Count from this time on: 12.5ms, 3s, 800us, 120ns.", show_default=False
    ),
]
ToOption = Annotated[
    str | None, typer.Option("--to", metavar="TIME", help="Count up to this time.", show_default=False)
]
StepsOption = Annotated[
    str | None,
    typer.Option("--steps", metavar="STEPS", help="Count these steps: 3, 3-7, 3-, -7 or 3,5.", show_default=False),
]
_UNITS = {"": 1, "ns": 1, "us": 1_000, "µs": 1_000, "μs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_TIME = re.compile(r"(?P<number>\d{1,18}(?:\.\d{1,9})?)\s*(?P<unit>[a-zµμ]*)\Z")
_STEPS = re.compile(r"(?P<first>\d{1,18})?\s*(?P<dash>-)?\s*(?P<last>\d{1,18})?\Z")


def part_of(from_time: str | None, to_time: str | None, steps: str | None) -> Part:
    """The part that the options name."""
    from laptime.analyses.parts import Part

    begin, end = nanoseconds(from_time, "--from"), nanoseconds(to_time, "--to")
    if end is not None and end <= (begin or 0):
        raise typer.BadParameter(f"{to_time!r} is not after {from_time or 0!r}", param_hint="--to")
    return Part(begin, end, None if steps is None else step_bounds(steps))


def nanoseconds(text: str | None, option: str) -> int | None:
    """`12.5ms` as nanoseconds; a number without a unit is nanoseconds."""
    if text is None:
        return None
    match = _TIME.match(text.strip())
    if match is None or match["unit"] not in _UNITS:
        raise typer.BadParameter(f"{text!r} is no time such as 12.5ms, 3s, 800us or 120ns", param_hint=option)
    exact = Decimal(match["number"]) * _UNITS[match["unit"]]
    if exact != int(exact):
        raise typer.BadParameter(f"{text!r} is no whole number of nanoseconds", param_hint=option)
    if exact >= 1 << 62:
        raise typer.BadParameter(f"{text!r} is longer than any recording", param_hint=option)
    return int(exact)


def step_bounds(text: str) -> tuple[Bounds, ...]:
    """`3-7,9` as first and last numbers."""
    found: list[Bounds] = []
    for part in text.split(","):
        match = _STEPS.match(part.strip())
        if match is None or (match["first"] is None and match["last"] is None):
            raise typer.BadParameter(f"{text!r} is not like 3, 3-7, 3-, -7 or 3,5", param_hint="--steps")
        first, last = (None if match[end] is None else int(match[end]) for end in ("first", "last"))
        if match["dash"] is None:
            last = first
        if first is not None and last is not None and last < first:
            raise typer.BadParameter(f"{part.strip()!r} ends before it begins", param_hint="--steps")
        found.append((first, last))
    return tuple(found)


def part_text(part: Part) -> str:
    """Which part a page is about; nothing where it is all."""
    texts = []
    if part.steps is not None:
        texts.append(f"step{'' if part.steps_text.isdigit() else 's'} {part.steps_text}")
    if part.from_ns is not None:
        texts.append(f"from {time_text(part.from_ns)}")
    if part.to_ns is not None:
        texts.append(f"to {time_text(part.to_ns)}")
    return f", {' '.join(texts)}" if texts else ""
