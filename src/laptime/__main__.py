"""The command line's entry."""

from __future__ import annotations

import gc
import io
import sys

from laptime.errors import LaptimeError

_NEW_OBJECTS = 50_000
"""After so many the collector looks for garbage in cycles. Loading modules makes more, and hardly any of that kind."""


def main() -> None:
    """Runs the command line; errors worded for the user become one line and exit code 1."""
    gc.set_threshold(_NEW_OBJECTS)
    try:
        from laptime.cli.app import run
        from laptime.cli.options import say
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("laptime"):
            raise
        sys.exit(
            f"laptime: {error.name} is not installed: `pip install laptime` installs all that its pages need;\n"
            "`python -m laptime.recorders` records without it"
        )

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what the terminal cannot show must not end the program
            stream.reconfigure(errors="replace")
    try:
        run(sys.argv[1:])
    except LaptimeError as error:
        say(str(error))
        sys.exit(1)


def profiler_cli() -> None:
    """`profiler_cli ...` is `laptime shell ...`, under the name that users of MindInsight know."""
    sys.argv[1:1] = ["shell"]
    main()


if __name__ == "__main__":
    main()
