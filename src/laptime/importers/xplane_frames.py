"""Stack frames of an HLO module: the lines of the model that its instructions come from.

StackFrameIndexProto{1 file_names*, 2 function_names*, 3 file_locations*{1 file_name_id, 2 function_name_id, 3 line},
4 stack_frames*{1 file_location_id, 2 parent_frame_id}}; ids count from 1, 0 is none. Specified by hlo.proto of OpenXLA.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from laptime.importers.xplane_wire import LENGTH, VARINT, Field, fields

_DEEPEST = 200


@dataclass
class Frames:
    """Frames by id - 1: the text of each, and its caller's id."""

    texts: list[str] = field(default_factory=list)
    callers: list[int] = field(default_factory=list)

    def stack(self, frame: int) -> tuple[str, ...]:
        """Frames from one outwards."""
        found: list[str] = []
        while 0 < frame <= len(self.texts) and len(found) < _DEEPEST:
            found.append(self.texts[frame - 1])
            frame = self.callers[frame - 1]
        return tuple(found)


def read_frames(data: bytes, module: Field) -> Frames:
    """Frames of a module; none in older profiles. Raises Damage."""
    frames = Frames()
    for part in fields(data, module.start, module.end):
        if part.number == 17 and part.wire == LENGTH:
            _add(data, part, frames)
    return frames


def _add(data: bytes, index: Field, frames: Frames) -> None:
    names: dict[int, list[str]] = {1: [], 2: []}
    places: list[str] = []
    for part in fields(data, index.start, index.end):
        if part.wire != LENGTH:
            continue
        if part.number in names:
            names[part.number].append(data[part.start : part.end].decode("utf-8", "replace"))
        elif part.number == 3:
            file, function, line = _numbers(data, part, 3)
            places.append(f"{_of(names[1], file)}({line}): {_of(names[2], function)}".replace(";", ","))
        elif part.number == 4:
            place, caller = _numbers(data, part, 2)
            frames.texts.append(_of(places, place))
            frames.callers.append(caller)


def _numbers(data: bytes, outer: Field, count: int) -> list[int]:
    """The first varint fields of a message, 0 where they are absent."""
    numbers = [0] * count
    for part in fields(data, outer.start, outer.end):
        if part.wire == VARINT and part.number <= count:
            numbers[part.number - 1] = part.value
    return numbers


def _of(texts: list[str], number: int) -> str:
    return texts[number - 1] if 0 < number <= len(texts) else "?"
