"""Work that takes much time or memory: a few at once, while more wait without taking threads from other requests."""

from __future__ import annotations

import anyio
from fastapi import Request

_AT_ONCE = {"queries": 2, "timelines": 2}


def few_at_once(request: Request, work: str) -> anyio.CapacityLimiter:
    """The application's limiter of one kind of work."""
    limiters: dict[str, anyio.CapacityLimiter] = request.app.state.limiters
    return limiters.setdefault(work, anyio.CapacityLimiter(_AT_ONCE[work]))
