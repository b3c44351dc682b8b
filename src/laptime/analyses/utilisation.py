"""How busy each device and each of its streams was, step by step, and how much communication computing hides.

Definitions: docs/definitions.md, "Utilisation and overlap".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np

from laptime.analyses.budget import StepSpans
from laptime.analyses.collectives import Collective, collectives
from laptime.analyses.device import (
    DeviceTimes,
    covered_span,
    device_rows,
    device_times,
    devices_of,
    kernels_recorded,
    work_of,
)
from laptime.analyses.intervals import Intervals, intersect
from laptime.analyses.parts import WHOLE, Part
from laptime.analyses.ranges import chosen_steps, must_hold, time_of
from laptime.model.arrays import IntArray
from laptime.model.trace import Trace
from laptime.model.vocabulary import NULL


@dataclass(frozen=True)
class StreamUse:
    """One stream: its share is of the span of its device. Unknown where kernels were not recorded."""

    stream: int | None
    name: str | None
    track_id: int
    slices: int
    busy_ns: int | None
    busy_share: float | None
    kinds: StreamKinds


@dataclass(frozen=True)
class StreamKinds:
    """Busy time of a stream by kind: kernels that are no collectives, collectives, copies and memsets."""

    kernel_ns: int | None
    communication_ns: int | None
    copy_ns: int | None


@dataclass(frozen=True)
class DeviceUse:
    """One device and its streams, in order of their tracks."""

    times: DeviceTimes
    streams: list[StreamUse]

    def as_json(self) -> dict[str, object]:
        """DEVICE with its streams instead of their number."""
        return {**self.times.as_json(), "streams": [asdict(stream) for stream in self.streams]}


@dataclass(frozen=True)
class StepUse:
    """One step on one device, or on all together (`device` None); unknown where the device's record is not whole."""

    step: int
    index: int
    start_ns: int
    dur_ns: int
    device: int | None
    busy_ns: int | None
    busy_share: float | None
    communication_ns: int | None
    overlapped_ns: int | None
    exposed_ns: int | None


@dataclass(frozen=True)
class Utilisation:
    """Of a part of the recording; `steps` holds each device of each step, `together` all devices of each step."""

    devices: list[DeviceUse]
    device_total: DeviceTimes | None
    steps: list[StepUse]
    together: list[StepUse]
    collectives: list[Collective]

    def as_json(self) -> dict[str, object]:
        """The JSON, but for rank and source."""
        return {**asdict(self), "devices": [device.as_json() for device in self.devices]}


def utilisation(trace: Trace, part: Part = WHOLE) -> Utilisation:
    """Use of devices, streams and steps. Raises LaptimeError for a part that the recording does not have."""
    must_hold(trace, part)
    time = None if part.is_whole else time_of(trace, part)
    each, total = device_times(trace, time)
    rows = device_rows(trace)
    device = devices_of(trace, rows)
    own_rows = [(times, rows[device == (NULL if times.device is None else times.device)]) for times in each]
    steps = chosen_steps(trace, part)
    return Utilisation(
        devices=[DeviceUse(times, list(_streams(trace, own, times, time))) for times, own in own_rows],
        device_total=total,
        steps=_by_step([_steps(trace, own, times.device, steps) for times, own in own_rows]),
        together=_steps(trace, rows, None, steps) if len(rows) else [],
        collectives=collectives(trace, time),
    )


# ---- streams ----


def _streams(trace: Trace, rows: IntArray, times: DeviceTimes, time: Intervals | None) -> Iterator[StreamUse]:
    tracks = trace.tracks.arrow(["stream", "name"]).to_pylist()
    track_of = trace.slices["track_id"][rows]
    for track in np.unique(track_of).tolist():
        own = rows[track_of == track]
        if time is not None:
            own = own[time.meets(trace.slices["start_ns"][own], trace.end_ns[own])]
        yield _stream(trace, own, track, times, time, tracks[track])


def _stream(
    trace: Trace,
    rows: IntArray,
    track: int,
    times: DeviceTimes,
    time: Intervals | None,
    told: dict[str, object],
) -> StreamUse:
    work = work_of(trace, rows[trace.slices["dur_ns"][rows] != NULL]).inside(time)
    known = kernels_recorded(trace)
    busy = work.busy.total_ns if known else None
    return StreamUse(
        stream=told["stream"] if isinstance(told["stream"], int) else None,
        name=None if told["name"] is None else str(told["name"]),
        track_id=track,
        slices=len(rows),
        busy_ns=busy,
        busy_share=_share(busy, times.span_ns),
        kinds=StreamKinds(
            kernel_ns=work.compute.total_ns if known else None,
            communication_ns=work.communication.total_ns if known else work.communication.total_ns or None,
            copy_ns=work.copy.total_ns if known else None,
        ),
    )


def _share(part: int | None, whole: int) -> float | None:
    return None if part is None or not whole else part / whole


# ---- steps ----


def _steps(trace: Trace, rows: IntArray, device: int | None, steps: IntArray) -> list[StepUse]:
    """The chosen steps on a device; what was recorded in part is unknown."""
    spans = StepSpans.of(trace)
    work = work_of(trace, rows[trace.slices["dur_ns"][rows] != NULL])
    overlapped = intersect(work.communication, work.compute)
    parts = [part.within(spans.start, spans.end) for part in (work.busy, work.communication, overlapped)]
    first, last = covered_span(trace)
    covered = (spans.start >= first) & (spans.end <= last) & kernels_recorded(trace)
    numbers, indices = trace.steps["step"].tolist(), trace.steps["index"].tolist()
    found = []
    for place in steps.tolist():
        start, dur = int(spans.start[place]), int(spans.end[place] - spans.start[place])
        busy, communication, hidden = (int(part[place]) for part in parts)
        known = (busy, _share(busy, dur), communication, hidden, communication - hidden)
        times = known if covered[place] else (None,) * len(known)
        found.append(StepUse(numbers[place], indices[place], start, dur, device, *times))
    return found


def _by_step(by_device: list[list[StepUse]]) -> list[StepUse]:
    """All devices of a step together."""
    return [use for uses in zip(*by_device, strict=True) for use in uses]
