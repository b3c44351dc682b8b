"""`laptime shell`, also installed as `profiler_cli`: the interactive prompt of the MindInsight Profiler."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from laptime.cli.choices import one_of_these
from laptime.cli.options import WorkspaceOption

if TYPE_CHECKING:
    from laptime.cli.shell_session import Session

OP_TYPES = ("aicore_detail", "aicore_type", "aicpu")
_MISPRINTED = {"aicore_cpu": "aicore_type"}
"""The guide of MindInsight prints one type wrong."""
_USUAL_FOLDERS = ("data/profiler", "data")


def command(
    op_type: Annotated[
        str, typer.Option("--op-type", help="What `op` lists: aicore_detail, aicore_type or aicpu.")
    ] = OP_TYPES[0],
    op_path: Annotated[
        str | None,
        typer.Option(
            "--op-path",
            metavar="PATH",
            help="profiler/ folder, one around it, JOB folder or imported run; default: data/profiler, data.",
            show_default=False,
        ),
    ] = None,
    device_id: Annotated[
        int | None,
        typer.Option("--device-id", min=0, help="Device to look at; default: 0, or the only one.", show_default=False),
    ] = None,
    workspace: WorkspaceOption = None,
) -> None:
    """Ask a profile at a prompt, as with MindInsight's profiler_cli: operators, steps, jobs to parse.

    Commands are read from the terminal, or a line each from a pipe. At the prompt `help` lists them.

    \b
    Examples:
      laptime shell --op-path data/profiler --device-id 4
      echo "step --step_id 1" | laptime shell --op-path DIR
    """
    from laptime.cli.shell_session import Session

    session = Session(known_op_type(op_type), workspace)
    path = op_path or next((folder for folder in _USUAL_FOLDERS if Path(folder).is_dir()), None)
    if path is not None:
        session.open(path, device_id)
    if sys.stdin.isatty():
        from laptime.cli.shell_prompt import converse

        converse(session)
    elif not _read_lines(session):
        raise typer.Exit(1)


def known_op_type(text: str) -> str:
    """The operator type that a text names, with `-` or `_`."""
    name = text.replace("-", "_")
    name = _MISPRINTED.get(name, name)
    one_of_these(name, OP_TYPES, "--op-type")
    return name


def _read_lines(session: Session) -> bool:
    """Runs each line; tells whether all went well."""
    from laptime.cli.shell_verbs import run_line

    well = True
    for line in sys.stdin:
        well = run_line(line, session) and well
        sys.stdout.flush()  # so that errors stand where they belong
        if session.done:
            break
    return well
