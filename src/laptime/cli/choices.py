"""Options that cannot be as they were typed: bad usage, told with the option's name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from laptime.analyses import options


@contextmanager
def usage() -> Iterator[None]:
    """Makes bad usage of what an option cannot be."""
    try:
        yield
    except options.BadOption as error:
        raise typer.BadParameter(str(error), param_hint=error.option) from error


def one_of_these(value: str | None, known: tuple[str | None, ...], option: str, also: tuple[str, ...] = ()) -> None:
    """Refuses a value that is none of the known ones, naming them."""
    with usage():
        options.one_of_these(value, known, option, also)


def conditions(texts: list[str] | None, option: str, columns: tuple[str, ...]) -> dict[str, list[str]]:
    """`COL=TEXT` options by column."""
    with usage():
        return options.conditions(texts, option, columns)
