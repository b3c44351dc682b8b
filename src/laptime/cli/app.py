"""The commands of laptime and how a command line finds its command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from laptime.cli import (
    advise,
    doctor,
    export,
    importing,
    memory,
    op,
    openapi,
    opening,
    pipeline,
    prof,
    record,
    report,
    runs,
    shell,
    slices,
    sql,
    starting,
    status,
    step,
    stopping,
)

_HELP = """Tells where each training step's time goes.

\b
  laptime trace.json.gz           the report of a recording, as `laptime report`
  laptime step DIR                forward+backward, tail and gaps of each step
  laptime op DIR --by kernel      where device time goes, by kernel
  laptime advise DIR              what to change, and what it would save
  laptime report DIR --json       the same numbers for scripts
"""


def _print_version(wanted: bool) -> None:
    if wanted:
        from laptime._version import __version__

        print(f"laptime {__version__}")
        raise typer.Exit


COMMANDS: tuple[tuple[str, Callable[..., None], str], ...] = (
    ("open", opening.command, "Show recordings in the browser."),
    ("start", starting.command, "Serve recordings in the background."),
    ("stop", stopping.command, "End a server."),
    ("status", status.command, "Say which servers run."),
    ("record", record.command, "Record a training program as it is."),
    ("report", report.command, "Where each training step's time goes."),
    ("step", step.command, "Interval, forward+backward and tail of each step."),
    ("op", op.command, "Time by operator, kernel, module, shape or source line."),
    ("slice", slices.command, "One slice, what it waited for and what waited for it."),
    ("pipeline", pipeline.command, "Whether training waits for data, and why."),
    ("memory", memory.command, "Memory over time, its peak and what lives then."),
    ("advise", advise.command, "What to change, and what it would save."),
    ("runs", runs.command, "List or forget imported runs."),
    ("import", importing.command, "Read a recording, so that later commands open it at once."),
    ("export", export.command, "Write Chrome JSON for Perfetto, or a table as CSV."),
    ("prof", prof.command, "Parse a raw Ascend job for the MindInsight Profiler."),
    ("doctor", doctor.command, "What keeps this machine from recording, and what to do."),
    ("shell", shell.command, "Ask a profile at a prompt, as with profiler_cli."),
    ("openapi", openapi.command, "Print the description of the REST interface."),
    ("sql", sql.command, "Ask the tables of a run by SQL."),
)
"""Name, function and line in the list of commands."""
_SETTINGS: dict[str, dict[str, object]] = {
    "record": {"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": []}
}
"""`record` hands all of its words on."""


def build() -> typer.Typer:
    """The whole command line."""
    app = typer.Typer(
        help=_HELP,
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={
            "token_normalize_func": lambda token: token.replace("_", "-"),  # --op_type is --op-type
            "help_option_names": ["-h", "--help"],
        },
    )
    app.callback()(_root)
    for name, command, summary in COMMANDS:
        app.command(name, short_help=summary, context_settings=_SETTINGS.get(name))(command)
    return app


def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    pass


def run(arguments: list[str]) -> None:
    """Runs a command line and exits with its code. `laptime PATH` is `laptime report PATH`."""
    build()(args=with_default_command(arguments), prog_name="laptime")


def with_default_command(arguments: list[str]) -> list[str]:
    """Puts `report` before a path that stands where a command would."""
    names = {name for name, _, _ in COMMANDS}
    if arguments and not arguments[0].startswith("-") and arguments[0] not in names:
        return ["report", *arguments]
    return arguments
