"""Work of operators, where a source tells it: arithmetic and bytes moved, and what that is per second.

`ops.info` holds `computation_flo` and `memory_bytes` of one execution. Sums leave out operators of which nothing is
known (callbacks compute nothing), and the rates leave out the time of those too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

FOOTPRINT = ("computation_flo", "flo_per_s", "memory_bytes", "bytes_per_s")
"""Keys of the work of a row, in `info`."""
HANDOVER = "host_handover"
"""Key in `info` of operators that wait for the host to take or give values; they compute nothing."""
_NS = 1_000_000_000


@dataclass(frozen=True)
class Footprint:
    """Work of one execution of an operator; None where it is unknown."""

    computation: int | None
    memory: int | None
    is_handover: bool


def footprint_of(info: object) -> Footprint | None:
    """Work that an operator's `info` tells; None where it tells of none."""
    details = json.loads(info) if isinstance(info, str) and info.startswith("{") else {}
    if "computation_flo" not in details and "memory_bytes" not in details:
        return None
    return Footprint(details.get("computation_flo"), details.get("memory_bytes"), bool(details.get(HANDOVER)))


def together(parts: Sequence[tuple[Footprint, int | None]], *, with_rates: bool) -> dict[str, object]:
    """`info` of operators that ran once each, with their times in ns."""
    computation, compute_ns = _sum([(part.computation, spent) for part, spent in parts])
    memory, memory_ns = _sum([(part.memory, spent) for part, spent in parts])
    rates = (_rate(computation, compute_ns), _rate(memory, memory_ns)) if with_rates else (None, None)
    values = (computation, rates[0], memory, rates[1])
    handover = {HANDOVER: True} if all(part.is_handover for part, _ in parts) else {}
    return {**dict(zip(FOOTPRINT, values, strict=True)), **handover}


def _sum(pairs: list[tuple[int | None, int | None]]) -> tuple[int | None, int | None]:
    """Sum of the known amounts, and of the times they took (None if one of those is unknown)."""
    known = [(amount, spent) for amount, spent in pairs if amount is not None]
    times = [spent for _, spent in known if spent is not None]
    return (
        sum(amount for amount, _ in known) if known else None,
        sum(times) if known and len(times) == len(known) else None,
    )


def _rate(amount: int | None, spent_ns: int | None) -> float | None:
    return None if amount is None or not spent_ns else amount * _NS / spent_ns
