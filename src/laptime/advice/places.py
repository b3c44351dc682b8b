"""Where in the user's program a slice comes from, as far as call stacks and modules tell."""

from __future__ import annotations

import numpy as np

from laptime.advice.finding import Place
from laptime.analyses.call_sites import user_frames
from laptime.analyses.device import caller_of, cause_of, launch_of
from laptime.model.trace import Trace
from laptime.model.vocabulary import NULL


def place_of(trace: Trace, row: int) -> Place | None:
    """Line and module of a slice, else of what it lies in, of what launched or called it, or made what it waits for."""
    candidates = _candidates(trace, row)
    frames = user_frames(trace, np.array(candidates))
    frame = next((frame for frame in frames if frame is not None), None)
    module = next((name for name in (_module_of(trace, each) for each in candidates) if name), None)
    if frame is None:
        return Place(module, None, None, None) if module else None
    return Place(module, frame.file, frame.line, frame.function)


def _candidates(trace: Trace, row: int) -> list[int]:
    found = _with_parents(trace, row)
    here = np.array([row])
    launch = int(launch_of(trace, here)[0])
    for other in (launch, int(caller_of(trace, np.array([launch if launch >= 0 else row]))[0])):
        if other >= 0 and other not in found:
            found += _with_parents(trace, other)
    maker = int(cause_of(trace, here, "data")[0])
    return [*found, maker] if maker >= 0 else found


def _with_parents(trace: Trace, row: int) -> list[int]:
    parents, found = trace.slices["parent_id"], [row]
    while (row := int(parents[row])) != NULL:
        found.append(row)
    return found


def _module_of(trace: Trace, row: int) -> str | None:
    op_id = int(trace.slices["op_id"][row])
    if op_id == NULL:
        return None
    module = trace.ops.row(op_id)["module"]
    return str(module) if module else None
