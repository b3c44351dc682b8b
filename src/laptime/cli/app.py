"""The commands of laptime and how a command line finds its command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from laptime.cli import export, importing, op, report, runs, sql, step

_HELP = """Tells where each training step's time goes.

\b
  laptime trace.json.gz           the report of a recording, as `laptime report`
  laptime step DIR                forward+backward, tail and gaps of each step
  laptime op DIR --by kernel      where device time goes, by kernel
  laptime report DIR --json       the same numbers for scripts
"""

COMMANDS: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("report", report.command),
    ("step", step.command),
    ("op", op.command),
    ("runs", runs.command),
    ("import", importing.command),
    ("export", export.command),
    ("sql", sql.command),
)


def _dashed(option: str) -> str:
    return option.replace("_", "-") if option.startswith("--") else option


def build() -> typer.Typer:
    """The whole command line."""
    app = typer.Typer(
        help=_HELP,
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"token_normalize_func": _dashed, "help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for name, command in COMMANDS:
        app.command(name)(command)
    return app


def _root(
    ctx: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and exit.", is_eager=True),
) -> None:
    if version:
        from laptime._version import __version__

        print(f"laptime {__version__}")
        raise typer.Exit


def run(arguments: list[str]) -> None:
    """Runs a command line and exits with its code. `laptime PATH` is `laptime report PATH`."""
    build()(args=with_default_command(arguments), prog_name="laptime")


def with_default_command(arguments: list[str]) -> list[str]:
    """Puts `report` before a path that stands where a command would."""
    names = {name for name, _ in COMMANDS}
    if arguments and not arguments[0].startswith("-") and arguments[0] not in names:
        return ["report", *arguments]
    return arguments
