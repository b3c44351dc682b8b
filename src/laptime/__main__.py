"""The command line's entry."""

from __future__ import annotations

import sys

from laptime.errors import LaptimeError


def main() -> None:
    """Runs the command line; errors worded for the user become one line and exit code 1."""
    from laptime.cli.app import run

    try:
        run(sys.argv[1:])
    except LaptimeError as error:
        print(f"laptime: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
