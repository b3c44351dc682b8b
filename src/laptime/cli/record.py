"""`laptime record`: hands over to `python -m laptime.recorders`, which loads nothing heavy beside the program."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Annotated

import typer


def command(
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[options] SCRIPT [args...]", show_default=False)
    ] = None,
) -> None:
    """Record a training program as it is: no line of it changes."""
    from laptime.recorders.command_options import parse

    words = arguments or []
    parse(words, prog="laptime record")
    command_line = [sys.executable, "-m", "laptime.recorders", *words]
    if os.name == "posix":
        sys.stdout.flush()
        os.execv(sys.executable, command_line)
    raise typer.Exit(subprocess.call(command_line))
