"""XPlane profiles (`{host}.xplane.pb`) of JAX, TensorFlow and PyTorch/XLA: one file is one host, hence one rank.

Specified by xplane.proto of tsl (OpenXLA); see `xplane_space` for the messages. Read: planes, lines, events, stats,
HLO modules, allocations. Steps are the events with a stat `step_num`; launches are linked by `correlation_id`, those
of XLA:CPU by `run_id`. Times are picoseconds from the line's own start; both ends of an event are rounded to
nanoseconds. What XLA uses to draw arrows between its own threads (`_p`, `_c` and their types) is not kept.
"""

from __future__ import annotations

import re

from laptime.errors import LaptimeError
from laptime.importers.decoders import Decoders
from laptime.importers.progress import Progress
from laptime.importers.sources import Source
from laptime.importers.xplane_facts import facts_of
from laptime.importers.xplane_hlo import HloModules
from laptime.importers.xplane_lines import device_ids, device_name, device_place, host_place, is_device, is_host
from laptime.importers.xplane_plane import PlaneReader
from laptime.importers.xplane_space import Plane, Space, read_space
from laptime.importers.xplane_steps import Markers
from laptime.importers.xplane_wire import Buffer
from laptime.model.builder import TraceBuilder

_NAME = re.compile(r"\.xplane\.pb(?:\.gz)?$")
_START = re.compile(rb"^\x0a.{1,26}\x12.{1,3}(?:/host:|/device:|Task Environment|#Chip)", re.DOTALL)
"""A plane that opens with its id and name."""
_REPLACEMENT = b"\xef\xbf\xbd"
_READ_BYTES = 64 << 20


class XPlane:
    """Profiles of XLA."""

    name = "xplane"

    def matches(self, head: bytes, source: Source) -> bool:
        """Whether the file opens with a plane, or is named as one and is no text."""
        if _START.match(head):
            return True
        return bool(_NAME.search(source.base_name)) and head.lstrip()[:1] not in (b"{", b"[", b"<")

    def read(self, source: Source, builder: TraceBuilder, progress: Progress, decoders: Decoders) -> None:
        """Reads one host. Raises LaptimeError where the file is no profile, or was damaged throughout."""
        with source.open() as stream:
            data = b"".join(iter(lambda: stream.read(_READ_BYTES), b""))
            damage = stream.damage
        space = read_space(data)
        _refuse(space, data, source)
        feed = _Feed(space, Buffer(data), builder)
        feed.pour(progress)
        builder.meta.update(facts_of(space, source, builder))
        if feed.links_runs:
            builder.meta["records_launches"] = True
        _warn(space, damage, len(data), builder)


def _refuse(space: Space, data: bytes, source: Source) -> None:
    """What is no XSpace at all."""
    if space.damage and data.count(_REPLACEMENT, 0, 1 << 20) * 100 > min(len(data), 1 << 20):
        raise LaptimeError(
            "damaged by a text conversion (bytes that are no UTF-8 were replaced)",
            where=source.name,
            remedy="copy the file anew as binary, or open the trace.json.gz beside it",
        )
    if not space.planes and space.damage:
        raise LaptimeError(
            f"not an XPlane profile (no plane at byte {space.damage[0]:,})",
            where=source.name,
            remedy="record again, or open the trace.json.gz beside it",
        )


def _warn(space: Space, damage: str | None, size: int, builder: TraceBuilder) -> None:
    for text in space.told:
        builder.warnings.add("other", f"the profiler reports: {' '.join(text.split())[:200]}")
    if space.damage or damage:
        place = min(space.damage, default=size)
        why = damage or "a message is cut or damaged"
        builder.warnings.add("truncated", f"{why}; {builder.read:,} whole events are kept, damage from byte {place:,}")


class _Feed:
    """Pours the planes of a file into a builder."""

    def __init__(self, space: Space, buffer: Buffer, builder: TraceBuilder) -> None:
        self._space = space
        self._buffer = buffer
        self._builder = builder
        self._modules = HloModules(buffer.data, space)
        self._devices = device_ids([plane for plane in space.planes if is_device(plane)])
        self._markers = Markers()
        self.links_runs = False
        """Whether executions on XLA:CPU are linked to their calls."""

    def pour(self, progress: Progress) -> None:
        """All planes; those of devices first, whose names memory is told by."""
        names = {str(self._devices[plane.name]): device_name(plane) for plane in self._space.planes if is_device(plane)}
        self._builder.meta["device_names"] = names or {"0": "CPU"}
        for done, plane in enumerate(self._space.planes):
            progress(done, len(self._space.planes))
            if is_device(plane) or is_host(plane):
                self._pour_plane(plane)
            else:
                self._drop_plane(plane)
        self._builder.steps += self._markers.steps(cut=bool(self._space.damage))
        self._builder.main_track = self._markers.track
        progress(1, 1)

    def _drop_plane(self, plane: Plane) -> None:
        """Planes of no known meaning."""
        count = sum(len(line.events) for line in plane.lines)
        self._builder.read += count
        self._builder.drop("not_shown", count)
        if count:
            self._builder.warnings.add("unknown_events", f"events of the plane {plane.name!r}; not shown", count)

    def _pour_plane(self, plane: Plane) -> None:
        reader = PlaneReader(plane, self._buffer, self._modules, self._builder, host_is_device=not self._devices)
        for line in plane.lines:
            if is_device(plane):
                place = device_place(plane, line, self._devices[plane.name])
            else:
                place = host_place(line, executor_is_device=not self._devices)
            reader.pour_line(line, place, self._markers)
        self.links_runs |= reader.runs.link(self._builder)
