"""Chrome trace events whose keys stand in one order, without spaces: where each value stands, without a loop per event.

The keys are those that MegEngine writes, by the alphabet: args, bp, cat, dur, id, name, ph, pid, scope, tid, ts. Only
name, ph, pid, tid and ts must be there. From the end of each event its keys are followed backwards, over marks: quotes
and closing braces. Arguments are skipped whole: they begin where the event does, and a brace ends them before its next
key. An event that cannot be followed to its begin is of another form, and so is its text then. Nothing is taken on
trust: the decoder tells that the text is sound JSON and how many events it holds, so that none of those found here lies
within another; and no braces but those of events and arguments may end objects, so arguments end where they seem to.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from laptime.importers.events import FAULTS
from laptime.model.arrays import BoolArray, IntArray

Bounds = tuple[IntArray, IntArray]
"""Where texts begin and end."""


class _Nothing(msgspec.Struct, gc=False):
    """Of an event, that it is one."""


_decode_nothing = msgspec.json.Decoder(list[_Nothing]).decode
_QUOTE, _BRACE = ord('"'), ord("}")
_AFTER_OBJECT = np.zeros(256, bool)
_AFTER_OBJECT[list(b",]} \t\r\n")] = True
_WIDEST = 8
"""Letters that are compared at once."""
_PADDING = 24
"""Spaces after the text, so that numbers and words near its end can be compared like all others."""
_FEWEST_MARKS = 40
"""More than all keys of one event have: what is looked for before the first mark is found among the last ones, where no
key begins."""


@dataclass(frozen=True)
class FixedForm:
    """Events and their values by place in the text; optional ones begin at 0 where they are not there."""

    text: bytes
    letters: npt.NDArray[np.uint8]
    words: npt.NDArray[np.uint64]
    """Eight letters from each place."""
    phase: npt.NDArray[np.uint8]
    """Letters."""
    name: Bounds
    category: Bounds
    pid: Bounds
    tid: Bounds
    ts: Bounds
    args: Bounds

    def __len__(self) -> int:
        return len(self.phase)

    def texts(self, start: IntArray, end: IntArray) -> pa.LargeStringArray:
        """Pieces of the text, given in its order."""
        bounds = np.stack([start, end], axis=1).reshape(-1)
        buffers = [None, pa.py_buffer(bounds), pa.py_buffer(self.text)]
        pieces = pa.Array.from_buffers(pa.large_string(), max(len(bounds) - 1, 0), buffers)
        return pieces.take(pa.array(np.arange(0, len(bounds), 2)))

    def all_start(self, places: IntArray, text: bytes) -> bool:
        """Whether the text, of up to eight letters, stands at all places."""
        return len(text) <= _WIDEST and bool(starting(self.words, places, text).all())

    def digits_before(self, places: IntArray) -> IntArray:
        """How many digits stand right before each place; 0 for eight and more."""
        letters = self.words[places - _WIDEST].view(np.uint8).reshape(-1, _WIDEST)
        is_digit = letters - np.uint8(ord("0")) <= 9
        return np.asarray(np.argmin(is_digit[:, ::-1], axis=1))  # 0 where all are


def starting(words: npt.NDArray[np.uint64], places: IntArray, text: bytes) -> BoolArray:
    """Whether a text of up to eight letters stands at each place."""
    found = words[places]
    if len(text) < _WIDEST:
        found &= np.uint64((1 << 8 * len(text)) - 1)
    return np.asarray(found == np.uint64(int.from_bytes(text, "little")))


class _Marks:
    """Quotes and closing braces of a text that ends with spaces, and what stands at them."""

    def __init__(self, text: bytes) -> None:
        self.letters = np.frombuffer(text, np.uint8)
        self.places = np.flatnonzero((self.letters == _QUOTE) | (self.letters == _BRACE))
        self.words = np.ndarray(len(text) - _WIDEST + 1, "<u8", text, strides=(1,))

    def ends(self) -> tuple[IntArray, int]:
        """Marks that end events, and how many braces may end an object by what follows them."""
        braces = np.flatnonzero(self.letters[self.places] == _BRACE)
        places = self.places[braces]
        ending = np.count_nonzero(_AFTER_OBJECT[self.letters[places + 1]])
        return np.append(braces[starting(self.words, places, b'},{"')], len(self.places) - 1), int(ending)


def located(text: bytes) -> FixedForm | None:
    """The events of a JSON list; None where one has another form."""
    if not _is_unicode(text):
        return None
    try:
        count = len(_decode_nothing(text))
    except FAULTS:
        return None
    padded = text + b" " * _PADDING
    marks = _Marks(padded)
    if len(marks.places) < _FEWEST_MARKS or marks.places[-1] != len(text) - 2:
        return None
    end, objects = marks.ends()
    found = _Walk(marks, end).followed(padded) if len(end) == count else None
    if found is None or objects != count + np.count_nonzero(found.args[0]):
        return None
    return found


def _is_unicode(text: bytes) -> bool:
    if text.isascii():
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


class _Walk:
    """Follows the keys of all events backwards at once; `at` is the mark before which the next key's value ends."""

    def __init__(self, marks: _Marks, end: IntArray) -> None:
        self._marks = marks
        self._places = marks.places
        self._end = self._places[end]
        self.at = end
        self.is_sound = True

    def followed(self, text: bytes) -> FixedForm | None:
        """All values, where all events are followed to their begin."""
        ts = self._number(b'"ts":', self._end)
        tid = self._number(b'"tid":', self._places[self.at] - 1)
        linking = self._skip(b'"scope":', 4, None)
        pid = self._number(b'"pid":', self._places[self.at] - 1)
        phase, phase_end = self._string(b'"ph":"')
        name = self._string(b'"name":"')
        letters = self._marks.letters
        self._skip(b'"id":', 2, linking)
        self._skip(b'"dur":', 2, np.flatnonzero(letters[phase] == ord("X")))
        category = self._optional_string(b'"cat":"')
        self._skip(b'"bp":"', 4, linking)
        args = self._args()
        if not self.is_sound or self.at.min() < 0 or np.any(phase_end != phase + 1):
            return None
        return FixedForm(text, letters, self._marks.words, letters[phase], name, category, pid, tid, ts, args)

    def _key(self, key: bytes, marks: int) -> tuple[IntArray, BoolArray]:
        """Where the key begins if it does so that many marks before, and whether it does."""
        place = self._places[self.at - marks]  # before the first mark: at the last ones, where no key begins
        return place, starting(self._marks.words, place, key)

    def _number(self, key: bytes, end: IntArray) -> Bounds:
        place, found = self._key(key, 2)
        self.is_sound &= bool(found.all())
        self.at = self.at - 2
        return place + len(key), end

    def _string(self, key: bytes) -> Bounds:
        place, found = self._key(key, 4)
        end = self._places[self.at - 1]
        self.is_sound &= bool(found.all()) and bool((self._marks.letters[end] == _QUOTE).all())
        self.at = self.at - 4
        return place + len(key), end

    def _optional_string(self, key: bytes) -> Bounds:
        place, found = self._key(key, 4)
        end = self._places[self.at - 1]
        self.at = self.at - 4 * found
        return (place + len(key)) * found, end * found

    def _skip(self, key: bytes, marks: int, rows: IntArray | None) -> IntArray:
        """Skips a key and its value, among some rows or all, where they are there; returns these rows."""
        at = self.at if rows is None else self.at[rows]
        found = np.flatnonzero(starting(self._marks.words, self._places[at - marks], key))
        rows = found if rows is None else rows[found]
        self.at = self.at.copy()
        self.at[rows] -= marks
        return rows

    def _args(self) -> Bounds:
        """Arguments from the begin of the event to the brace before the first other key."""
        begin = np.append(1, self._end[:-1] + 2)
        first_key, brace = self._places[self.at], self._places[self.at - 1]
        told = first_key != begin + 1
        rows = np.flatnonzero(told)
        ends_before = (brace[rows] + 2 == first_key[rows]) & (brace[rows] > begin[rows])
        ends_before &= self._marks.letters[brace[rows]] == _BRACE
        self.is_sound &= bool((ends_before & starting(self._marks.words, begin[rows] + 1, b'"args":{')).all())
        return (begin + len(b'{"args":')) * told, (brace + 1) * told
