"""Rows of the timeline: threads, device streams, annotation rows, counters."""

from __future__ import annotations

import re
from dataclasses import dataclass

from laptime.model.vocabulary import NULL, TRACK_KINDS


@dataclass(frozen=True)
class TrackKey:
    """What makes two slices share a row. Streams are keyed (device, stream), all else by (pid, tid) and name."""

    kind: str
    pid: str
    tid: str
    device: int | None = None
    stream: int | None = None
    name: str = ""
    unit: str = ""


def plain_id(value: object) -> str:
    """Process or thread id as text; `25738`, `"25738"` and `25738.0` are the same."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


class Tracks:
    """Gives tracks their ids in order of appearance and, at the end, their place in the timeline."""

    def __init__(self) -> None:
        self._codes: dict[TrackKey, int] = {}
        self.process_names: dict[str, str] = {}
        self.process_labels: dict[str, str] = {}
        self.thread_names: dict[tuple[str, str], str] = {}
        self.process_sort: dict[str, int] = {}
        self.thread_sort: dict[tuple[str, str], int] = {}

    def code(self, key: TrackKey) -> int:
        """Temporary id of a track."""
        return self._codes.setdefault(key, len(self._codes))

    @property
    def keys(self) -> list[TrackKey]:
        """Keys by temporary id."""
        return list(self._codes)

    def in_order(self) -> list[int]:
        """Temporary ids in timeline order: threads, then each device's streams with their rows, then others."""
        keys = self.keys
        return sorted(range(len(keys)), key=lambda code: self._order(keys[code]))

    def _order(self, key: TrackKey) -> tuple[object, ...]:
        place = {"thread": 0, "async": 1, "stream": 2, "annotation": 2, "sync": 2, "counter": 3, "span": 4}[key.kind]
        sort = self.thread_sort.get((key.pid, key.tid), 0)
        device = NULL if key.device is None else key.device
        stream = NULL if key.stream is None else key.stream
        if place == 2:
            return (place, device, stream, _natural(key.tid), TRACK_KINDS.index(key.kind), key.name)
        return (place, self.process_sort.get(key.pid, 0), _natural(key.pid), sort, _natural(key.tid), key.name)

    def display_name(self, key: TrackKey) -> str:
        """Name for people: the recorder's own where it gave one."""
        own = self.thread_names.get((key.pid, key.tid), "").strip()
        if key.name:
            return key.name
        if key.kind == "stream":
            return own or f"stream {key.tid if key.stream is None else key.stream}"
        if key.kind == "annotation":
            return f"annotations of {own or f'stream {key.tid}'}"
        if key.kind == "sync":
            return f"waits of {own or f'stream {key.tid}'}"
        if key.kind == "span":
            return own or key.tid or key.pid or "recorder"
        return own or (f"thread {key.tid}" if key.tid else key.pid)


def _natural(text: str) -> tuple[tuple[int, int, str], ...]:
    return tuple(
        (0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.findall(r"\d{1,18}|\D+|\d+", text)
    )
