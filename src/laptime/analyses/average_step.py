"""The communication of one step, or of the average step, relative to where the step begins.

Definitions: docs/definitions.md, "Step trace".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from laptime.analyses.averages import mean

Step = dict[str, object]


@dataclass(frozen=True)
class Region:
    """A collective of a stream; `start_ns` counts from where the step begins, which is the end of the one before."""

    stream: str
    name: str
    start_ns: int
    dur_ns: int


def regions_of(step: Step) -> list[Region]:
    """Collectives of a step in order of time."""
    begins = _ns(step["start_ns"]) - _ns(step["gap_before_ns"])
    found = step["communication"]
    return [
        Region(str(each["stream"]), str(each["name"]), _ns(each["start_ns"]) - begins, _ns(each["dur_ns"]))
        for each in (found if isinstance(found, list) else [])
    ]


def average_regions(steps: Sequence[Step]) -> list[Region]:
    """The n-th collective of each stream, averaged over the steps of the average that hold one, in order of time."""
    places: dict[tuple[str, int], list[Region]] = defaultdict(list)
    for step in averaged_steps(steps):
        for stream, regions in by_stream(regions_of(step)).items():
            for place, region in enumerate(regions):
                places[stream, place].append(region)
    averages = [_average(regions) for regions in places.values()]
    return sorted(averages, key=lambda region: region.start_ns)


def averaged_steps(steps: Sequence[Step]) -> list[Step]:
    """The steps that the average is the mean of: complete ones whose parts are known.

    The first of each window, and those whose parts are unknown, count only where there are no others.
    """
    whole = [step for step in steps if step["complete"]]
    later = [step for step in whole if not step["first_of_window"]] or whole
    return [step for step in later if step["tail_ns"] is not None] or later


def by_stream(regions: Sequence[Region]) -> dict[str, list[Region]]:
    """Regions of each stream, in their order."""
    streams: dict[str, list[Region]] = defaultdict(list)
    for region in regions:
        streams[region.stream].append(region)
    return dict(streams)


def _average(regions: list[Region]) -> Region:
    starts, durations = [one.start_ns for one in regions], [one.dur_ns for one in regions]
    return Region(regions[0].stream, regions[0].name, mean(starts), mean(durations))


def _ns(value: object) -> int:
    return value if isinstance(value, int) else 0
