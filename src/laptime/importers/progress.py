"""How far a long read has come; the command line draws it, libraries stay silent."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called now and then with stored bytes read and in all."""

    def __call__(self, done: int, total: int) -> None: ...


def silent(done: int, total: int) -> None:
    """Draws nothing."""
