"""Steps of XPlane profiles: events with a stat `step_num`, whose name is that of the user's annotation."""

from __future__ import annotations

from dataclasses import dataclass, field

from laptime.model.arrays import IntArray
from laptime.model.builder import GivenStep


@dataclass(frozen=True)
class _Marker:
    step: int
    start: int
    end: int
    label: str


@dataclass
class Markers:
    """Step markers by the track they lie on."""

    by_track: dict[int, list[_Marker]] = field(default_factory=dict)

    def add(self, track: int, numbers: IntArray, starts: IntArray, ends: IntArray, labels: list[str]) -> None:
        """Adds markers of one track."""
        rows = zip(numbers.tolist(), starts.tolist(), ends.tolist(), labels, strict=True)
        self.by_track.setdefault(track, []).extend(_Marker(*row) for row in rows)

    @property
    def track(self) -> int | None:
        """The track with most markers."""
        return max(self.by_track, key=lambda track: len(self.by_track[track]), default=None)

    def steps(self, *, cut: bool) -> list[GivenStep]:
        """Steps of the track with most markers, the outermost where they nest; the last is not whole in a cut file."""
        chosen: list[_Marker] = []
        markers = [] if self.track is None else self.by_track[self.track]
        for marker in sorted(markers, key=lambda each: (each.start, -each.end)):
            if not chosen or marker.start >= chosen[-1].end:
                chosen.append(marker)
        return [
            GivenStep(each.step, each.start, each.end, each.label, complete=not cut or each is not chosen[-1])
            for each in chosen
        ]
