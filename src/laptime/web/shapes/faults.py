"""Errors: what went wrong, where, and what to do."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict


class Fault(TypedDict):
    """An error, worded for the user."""

    error: str
    where: str | None
    remedy: str | None


_OF_STATUS = {
    400: "An option that cannot be as it was given, or that this run has no answer to.",
    403: "Not from this address, or without the token.",
    404: "No such run, or no such part of it.",
    409: "The run is not imported yet.",
    413: "The body is too large.",
    422: "A parameter of the wrong type or out of bounds.",
}


def faults(*statuses: int) -> dict[int | str, dict[str, Any]]:  # Any: as FastAPI types it
    """The errors of a route, for its documentation."""
    return {status: {"model": Fault, "description": _OF_STATUS[status]} for status in (403, *statuses, 422)}


OF_RUN = faults(400, 404, 409)
"""Errors of what is asked of an imported run."""
