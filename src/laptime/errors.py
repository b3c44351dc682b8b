"""The one exception of laptime, worded for the person who reads it."""

from __future__ import annotations


class LaptimeError(Exception):
    """A failure to tell the user about: what went wrong, where, and what to do.

    The command line prints it as the one line `laptime: <what>: <where>: <remedy>` and exits with 1.
    """

    def __init__(self, what: str, *, where: object, remedy: str) -> None:
        self.what = what
        self.where = str(where)
        self.remedy = remedy
        super().__init__(f"{what}: {self.where}: {remedy}")

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuilt, (self.what, self.where, self.remedy))


class NotThere(LaptimeError):
    """What was asked for by its name or number is not in the recording."""


class WorkspaceError(LaptimeError):
    """A failure of the workspace, whatever was to be read."""


def _rebuilt(what: str, where: str, remedy: str) -> LaptimeError:
    """An error that came from another process."""
    return LaptimeError(what, where=where, remedy=remedy)
