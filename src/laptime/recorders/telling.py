"""What the recorder says, on stderr."""

from __future__ import annotations

import contextlib
import sys


def tell(text: str) -> None:
    """Prints a line; where nobody is there to hear it, nothing happens."""
    with contextlib.suppress(Exception):
        if sys.stderr is not None:
            print(f"laptime: {text}", file=sys.stderr)
