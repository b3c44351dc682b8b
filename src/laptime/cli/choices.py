"""Values of options that are one of some words, and conditions on columns."""

from __future__ import annotations

import typer


def one_of_these(value: str | None, known: tuple[str | None, ...], option: str, also: tuple[str, ...] = ()) -> None:
    """Refuses a value that is none of the known ones, naming them."""
    if value not in known:
        names = ", ".join(str(name) for name in (*known, *also) if name)
        raise typer.BadParameter(f"{value!r} is none of: {names}", param_hint=option)


def conditions(texts: list[str] | None, option: str, columns: tuple[str, ...]) -> dict[str, list[str]]:
    """`COL=TEXT` options by column: of `--in` and `--not-in` the texts between commas, of `--filter` the text whole."""
    wanted: dict[str, list[str]] = {}
    for text in texts or []:
        column, equals, part = text.partition("=")
        if not equals:
            raise typer.BadParameter(f"{text!r} is not COL=TEXT", param_hint=option)
        column = column.strip().replace("-", "_")
        one_of_these(column, columns, option)
        parts = [part] if option == "--filter" else part.split(",")
        wanted.setdefault(column, []).extend(each.strip() for each in parts)
    return wanted
