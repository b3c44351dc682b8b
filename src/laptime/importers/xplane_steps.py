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

    def steps(self, *, cut: bool) -> list[GivenStep]:
        """Steps of the track with most markers, the outermost where they nest; the last is not whole in a cut file."""
        if not self.by_track:
            return []
        track, markers = max(self.by_track.items(), key=lambda item: len(item[1]))
        chosen: list[_Marker] = []
        for marker in sorted(markers, key=lambda each: (each.start, -each.end)):
            if not chosen or marker.start >= chosen[-1].end:
                chosen.append(marker)
        return [
            GivenStep(
                each.step, each.start, each.end, each.label, complete=not cut or each is not chosen[-1], track=track
            )
            for each in chosen
        ]
