"""What the devices of a rank did: busy, compute, communication and copy time over the whole recording.

Definitions: docs/definitions.md, "Device times".
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np

from laptime.analyses.intervals import Intervals, intersect, join, subtract, union
from laptime.model.arrays import BoolArray, IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import DEVICE_WORK, FLOW_KINDS, KIND_CODE, NULL, TRACK_KINDS

_STREAM = TRACK_KINDS.index("stream")


@dataclass(frozen=True)
class DeviceWork:
    """Unions of a device's work (or of all devices of a rank), by what it is."""

    compute: Intervals
    communication: Intervals
    copy: Intervals

    @property
    def busy(self) -> Intervals:
        """Union of all work."""
        return join(self.compute, self.communication, self.copy)

    @property
    def communication_exposed(self) -> Intervals:
        """Collectives with no compute beside them."""
        return subtract(self.communication, self.compute)

    @property
    def copy_exposed(self) -> Intervals:
        """Copies outside compute and communication."""
        return subtract(self.copy, join(self.compute, self.communication))

    def inside(self, time: Intervals | None) -> DeviceWork:
        """The work cut at the ends of some time; None cuts nothing."""
        if time is None:
            return self
        return DeviceWork(*(intersect(part, time) for part in (self.compute, self.communication, self.copy)))


@dataclass(frozen=True)
class DeviceTimes:
    """Times of one device, or of all together (`device` None), over its whole span.

    Where kernels were not recorded, all that they would change is None.
    """

    device: int | None
    name: str | None
    ops: int
    linked_ops: int
    span_ns: int
    busy_ns: int | None
    idle_ns: int | None
    compute_ns: int | None
    communication_ns: int | None
    communication_overlapped_ns: int | None
    communication_exposed_ns: int | None
    copy_ns: int | None
    copy_exposed_ns: int | None
    streams: int
    kernel_busy_share: float | None

    def as_json(self) -> dict[str, object]:
        """DEVICE of the JSON contract."""
        return asdict(self)


def device_rows(trace: Trace) -> IntArray:
    """Slices that are device work, in slice order.

    Where the device's record covers a part of the recording only, work outside it (which other records hold in part) is
    left out, so that no sum mixes what was recorded whole with what was not.
    """
    codes = [KIND_CODE[kind] for kind in DEVICE_WORK]
    rows = np.flatnonzero((trace.track_kind == _STREAM) & np.isin(trace.slices["kind"], codes))
    first, last = _told_span(trace, "device_log_ns")
    return rows[(trace.slices["start_ns"][rows] >= first) & (trace.end_ns[rows] <= last)]


def kernels_recorded(trace: Trace) -> bool:
    """Whether the recording holds what ran on devices; False where its recorder was told to leave kernels out."""
    return trace.meta.get("device_kernels_recorded") is not False


def covered_span(trace: Trace) -> tuple[int, int]:
    """Time in which budgets can be known, where the source tells it; else all time."""
    return _told_span(trace, "device_covered_ns")


def _told_span(trace: Trace, key: str) -> tuple[int, int]:
    span = trace.meta.get(key)
    return (int(span[0]), int(span[1])) if isinstance(span, list) else (NULL, -NULL - 1)


def devices_of(trace: Trace, rows: IntArray) -> IntArray:
    """Device id of each of the rows; NULL where the source names none."""
    return trace.tracks["device"][trace.slices["track_id"][rows]]


def linked(trace: Trace, rows: IntArray) -> BoolArray:
    """Whether the launch of each of the rows was recorded."""
    return launch_of(trace, rows) >= 0


def launch_of(trace: Trace, rows: IntArray) -> IntArray:
    """Launching call of each of the rows; -1 where it was not recorded."""
    return cause_of(trace, rows, "launch")


def caller_of(trace: Trace, rows: IntArray) -> IntArray:
    """What another thread called each of the rows for; the row itself where nothing did."""
    found = cause_of(trace, rows, "async")
    return np.where(found >= 0, found, rows)


def cause_of(trace: Trace, rows: IntArray, kind: str) -> IntArray:
    """Where the link of that kind to each of the rows begins; -1 without one."""
    links = np.flatnonzero(trace.flows["kind"] == FLOW_KINDS.index(kind))
    to_id, from_id = trace.flows["to_id"][links], trace.flows["from_id"][links]
    order = np.argsort(to_id, kind="stable")
    to_id, from_id = to_id[order], from_id[order]
    if not len(to_id):
        return np.full(len(rows), -1, np.int64)
    place = np.minimum(np.searchsorted(to_id, rows), len(to_id) - 1)
    return np.where(to_id[place] == rows, from_id[place], -1)


def work_of(trace: Trace, rows: IntArray) -> DeviceWork:
    """Unions over the rows; untimed slices are in none."""
    start, end, kind = trace.slices["start_ns"][rows], trace.end_ns[rows], trace.slices["kind"][rows]

    def of(*kinds: str) -> Intervals:
        chosen = np.isin(kind, [KIND_CODE[name] for name in kinds])
        return union(start[chosen], end[chosen])

    return DeviceWork(of("kernel"), of("communication"), of("copy", "memset"))


def device_times(trace: Trace, within: Intervals | None = None) -> tuple[list[DeviceTimes], DeviceTimes | None]:
    """Times of each device in order of id, and of all devices together; None where no device slice was recorded.

    Only what lies `within` some time counts, where that is given.
    """
    rows = device_rows(trace)
    if not len(rows):
        return [], None
    device = devices_of(trace, rows)
    ids = np.unique(device).tolist()
    if within is not None:
        inside = within.meets(trace.slices["start_ns"][rows], trace.end_ns[rows])
        rows, device = rows[inside], device[inside]
    each = [
        replace(
            _times(trace, rows[device == key], within), device=None if key == NULL else key, name=_name_of(trace, key)
        )
        for key in ids
    ]
    together = _times(trace, rows, within)
    if not kernels_recorded(trace):
        return [_without_kernels(one) for one in each], _without_kernels(together)
    return each, together


def _without_kernels(times: DeviceTimes) -> DeviceTimes:
    """What is known of a device of which collectives were recorded, or kernels of the AI CPU, but no others."""
    return replace(
        times,
        busy_ns=None,
        idle_ns=None,
        compute_ns=None,
        communication_ns=times.communication_ns or None,
        communication_overlapped_ns=None,
        communication_exposed_ns=None,
        copy_ns=None,
        copy_exposed_ns=None,
        kernel_busy_share=None,
    )


def _name_of(trace: Trace, device: int) -> str | None:
    """Name the source gives a device; where ids do not match (hidden devices) the name all devices share."""
    names = trace.meta.get("device_names")
    names = names if isinstance(names, dict) else {}
    shared = set(names.values())
    return names.get(str(device)) or (shared.pop() if len(shared) == 1 else None) or None


def _times(trace: Trace, rows: IntArray, within: Intervals | None) -> DeviceTimes:
    timed = rows[trace.slices["dur_ns"][rows] != NULL]
    work = work_of(trace, timed).inside(within)
    span = _span_ns(trace, timed, within)
    busy = work.busy.total_ns
    communication = work.communication.total_ns
    overlapped = intersect(work.communication, work.compute).total_ns
    return DeviceTimes(
        device=None,
        name=None,
        ops=len(rows),
        linked_ops=int(np.count_nonzero(linked(trace, rows))),
        span_ns=span,
        busy_ns=busy,
        idle_ns=span - busy,
        compute_ns=work.compute.total_ns,
        communication_ns=communication,
        communication_overlapped_ns=overlapped,
        communication_exposed_ns=communication - overlapped,
        copy_ns=work.copy.total_ns,
        copy_exposed_ns=work.copy_exposed.total_ns,
        streams=len(np.unique(trace.slices["track_id"][rows])),
        kernel_busy_share=_kernel_busy_share(trace, timed, within),
    )


def _span_ns(trace: Trace, rows: IntArray, within: Intervals | None) -> int:
    """Time from the first start to the last end of the rows, of `within` where that is given."""
    if not len(rows):
        return 0
    ends = np.array([trace.slices["start_ns"][rows].min(), trace.end_ns[rows].max()])
    first, last = (ends if within is None else within.passed(ends)).tolist()
    return int(last - first)


def _kernel_busy_share(trace: Trace, timed: IntArray, within: Intervals | None) -> float | None:
    """Union of kernels and collectives over the window from the first start to the last end of them."""
    kinds = [KIND_CODE["kernel"], KIND_CODE["communication"]]
    rows = timed[np.isin(trace.slices["kind"][timed], kinds)]
    window = _span_ns(trace, rows, within)
    return work_of(trace, rows).inside(within).busy.total_ns / window if window else None
