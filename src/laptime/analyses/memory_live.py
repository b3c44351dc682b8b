"""The blocks of memory that live at one instant, and who made them.

Definitions: docs/definitions.md, "Memory over time".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.analyses.memory import live_bytes_of
from laptime.analyses.memory_owners import Owners
from laptime.analyses.parts import WHOLE, Part
from laptime.model.trace import Trace

Json = dict[str, object]


@dataclass(frozen=True)
class LiveBlocks:
    """What lives at a time; `bytes` and `total_rows` count all, `owners` are the largest, up to the limit."""

    device: str | None
    at_ns: int | None
    bytes: int | None
    total_rows: int
    owners: list[Json]


def live_at(
    trace: Trace, at_ns: int | None = None, *, device: str | None = None, part: Part = WHOLE, limit: int = 100
) -> LiveBlocks:
    """What lives on a device at a time, by default at the peak of the part.

    Before the curve of the part begins lives what lives when it begins, behind its end what lives then. Raises
    LaptimeError for an unknown device, and for a part that the trace does not have.
    """
    live = live_bytes_of(trace, device, part)
    if live is None:
        return LiveBlocks(device, at_ns, None, 0, [])
    time = live.peak[1] if at_ns is None else live.nearest(at_ns)
    table = trace.table("allocations")
    alive = live.alive_at(time, table["start_ns"], table["end_ns"])
    size = table["size_bytes"][alive]
    alive = alive[np.lexsort((alive, -size))]
    return LiveBlocks(live.device, time, live.at(time), len(alive), Owners(trace).described(alive[:limit]))
