"""Options that choose a part of a recording: --from, --to and --steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from laptime.analyses import options
from laptime.cli.choices import usage
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


def part_of(from_time: str | None, to_time: str | None, steps: str | None) -> Part:
    """The part that the options name."""
    with usage():
        return options.part_of(from_time, to_time, steps)


def nanoseconds(text: str | None, option: str) -> int | None:
    """`12.5ms` as nanoseconds; a number without a unit is nanoseconds."""
    with usage():
        return options.nanoseconds(text, option)


def step_bounds(text: str) -> tuple[Bounds, ...]:
    """`3-7,9` as first and last numbers."""
    with usage():
        return options.step_bounds(text)


def part_text(part: Part) -> str:
    """Which part a page is about; nothing where it is all."""
    texts = [] if part.device is None else [f"device {part.device}"]
    if part.steps is not None:
        texts.append(f"step{'' if part.steps_text.isdigit() else 's'} {part.steps_text}")
    if part.from_ns is not None:
        texts.append(f"from {time_text(part.from_ns)}")
    if part.to_ns is not None:
        texts.append(f"to {time_text(part.to_ns)}")
    return f", {' '.join(texts)}" if texts else ""
