"""Names of the tables of a trace, for those who need no more than the names. Imports nothing heavy."""

from __future__ import annotations

TABLES = (
    "tracks",
    "ops",
    "slices",
    "args",
    "instants",
    "flows",
    "counters",
    "allocations",
    "steps",
    "stacks",
)
"""Tables written today; `laptime.model.schema.SCHEMAS` has their columns."""
