"""The closed lists of the trace model and its mark for null. Imports nothing heavy: every process needs these."""

from __future__ import annotations

KINDS = (
    "step",
    "scope",
    "op",
    "launch",
    "sync",
    "python",
    "data",
    "compile",
    "kernel",
    "copy",
    "memset",
    "communication",
    "host_other",
    "device_other",
)
"""Closed list of what a slice can be; the same meaning for every framework. A code is the position in this tuple."""

KIND_CODE = {name: code for code, name in enumerate(KINDS)}
DEVICE_WORK = ("kernel", "communication", "copy", "memset")
"""Kinds that are work of a device when they lie on a stream track."""

PHASES = ("forward", "backward", "optimizer")
PHASE_CODE = {name: code for code, name in enumerate(PHASES)}

TRACK_KINDS = ("thread", "stream", "annotation", "sync", "span", "async", "counter")
"""thread: host thread; stream: device queue; annotation: user ranges as the device saw them; sync: waits seen on a
device queue; span: the recorder's own spans; async: slices that began and ended on different threads; counter."""

FLOW_KINDS = ("launch", "data", "forward_backward", "async")

BETWEEN_OPERATORS = "pipeline"
"""Stage of the queues between operators that MindData looks at in intervals of time, counted from its first look."""

NULL = -(2**63)
"""Stands for null in int64 columns held as numpy arrays; tables on disk hold real nulls."""

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
    "op_totals",
    "queue_samples",
    "pipeline_ops",
    "stacks",
)
"""Tables written today; `laptime.model.schema.SCHEMAS` has their columns."""
