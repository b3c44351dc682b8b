"""Events of a dialect that tells durations by begin and end and links by arguments (MegEngine's): what it needs alone.

MegEngine writes the keys of each event in one order, `{"args":{},"cat":"","name":"","ph":"","pid":0,"tid":0,"ts":0}`. A
block of such events becomes columns straight from its text, see `fixed_form`; any other goes the way of all events.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from laptime.importers.decoding import Decoded, as_list, decode_block
from laptime.importers.fixed_form import FixedForm, located
from laptime.importers.recovery import split_at_list_end
from laptime.model.arrays import CodeArray, Column, IntArray, distinct_rows
from laptime.model.clock import EXACT_DOUBLE_US, ns_from_doubles
from laptime.model.vocabulary import NULL

COUNTED_ONLY = frozenset("stfNOD")
"""Phases of flow events and objects."""
NUMBERED = frozenset({"Input", "Output", "Put", "Del", "Drop", "RecFree", "ReGen", "SwapIn", "SwapOut"})
"""Names behind which a tensor's number stands."""
_PHASES = ["E", "X", "B", "i", "I", "R", "M", "C"]
"""Those that become rows, in the order in which their arguments are kept."""
_UNKNOWN, _COUNTED = -2, -1
_PHASE_OF_LETTER = np.full(256, _UNKNOWN, np.int32)
_PHASE_OF_LETTER[[ord(letter) for letter in _PHASES]] = np.arange(len(_PHASES))
_PHASE_OF_LETTER[[ord(letter) for letter in COUNTED_ONLY]] = _COUNTED
_GROUP_OF_PHASE = np.array([0, 0, 1, 2, 2, 2, 2, 3], np.int8)
_MOST_DIGITS = 18


def decode_bare(block: bytes, *, last: bool = False) -> Decoded:
    """Decodes the events of a block; `last` as for `decode_block`.

    In a block of the fixed form flow events and objects have no row, and the arguments of ends and complete events
    stand first, then those of begins, of others, of counters.
    """
    body, rest, closed = split_at_list_end(block) if last else (block, b"", False)
    found = located(as_list(body))
    decoded = None if found is None else _columns(found)
    if decoded is None:
        return decode_block(block, last=last, bare=True)
    decoded.rest, decoded.closed = rest, closed
    return decoded


def _columns(found: FixedForm) -> Decoded | None:
    """Columns of events; None where a value has another form than usual."""
    phase = _PHASE_OF_LETTER[found.phase]
    ts_ns, tracks = _times(found), _tracks(found)
    names, categories = _names(found), _texts(found, *found.category)
    if phase.min() == _UNKNOWN or ts_ns is None or tracks is None or names is None or categories is None:
        return None
    rows = np.flatnonzero(phase != _COUNTED)
    phase = phase[rows]
    args, args_start, args_length = _args(found, rows, _GROUP_OF_PHASE[phase])
    return Decoded(
        phase=phase,
        name=names[0][rows],
        category=categories[0][rows] + 1,
        track=tracks[0][rows],
        ts_ns=ts_ns[rows],
        dur_ns=np.full(len(rows), NULL, np.int64),
        id=np.full(len(rows), NULL, np.int64),
        numbers={},
        texts={},
        args=args,
        args_start=args_start,
        args_length=args_length,
        phases=_PHASES,
        names=names[1],
        categories=[None, *categories[1]],
        tracks=tracks[1],
        text_values={},
        memory={},
        skipped=len(found) - len(rows),
    )


def _times(found: FixedForm) -> IntArray | None:
    try:
        doubles = found.texts(*found.ts).cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid:
        return None
    return ns_from_doubles(doubles) if np.all(np.abs(doubles) < EXACT_DOUBLE_US) else None


def _tracks(found: FixedForm) -> tuple[CodeArray, list[tuple[object, object]]] | None:
    """Threads of all events, also of those that are only counted."""
    pid, tid = (_integers(found, *bounds) for bounds in (found.pid, found.tid))
    if pid is None or tid is None:
        return None
    if np.all(pid == pid[0]):
        first, track = _by_appearance(tid)
    else:
        first, track = distinct_rows([_by_appearance(pid)[1], _by_appearance(tid)[1]])
    return track.astype(np.int32), [(int(pid[row]), int(tid[row])) for row in first.tolist()]


def _by_appearance(values: Column) -> tuple[IntArray, IntArray]:
    """First row of each value, in the order in which they appear, and each row's place among them."""
    first, place = distinct_rows([values])
    order = np.argsort(first)
    rank = np.empty(len(first), np.int64)
    rank[order] = np.arange(len(first))
    return first[order], rank[place]


def _integers(found: FixedForm, start: IntArray, end: IntArray) -> IntArray | None:
    """Numbers of digits alone; None where one has a sign, a decimal or too many."""
    length = end - start
    shortest, longest = int(length.min()), int(length.max())
    if not 0 < shortest <= longest <= _MOST_DIGITS:
        return None
    first = found.text[start[0] : end[0]]
    if shortest == longest and first.isdigit() and found.all_start(start, first):  # of a process, mostly
        return np.full(len(start), int(first))
    values = np.zeros(len(start), np.int64)
    for place in range(longest):
        inside = length > place if place >= shortest else True
        digit = found.letters[start + place] - np.uint8(ord("0"))
        if np.any((digit > 9) & inside):
            return None
        values = np.where(inside, values * 10 + digit, values)
    return values


def _names(found: FixedForm) -> tuple[CodeArray, list[str]] | None:
    """Codes of names, and the names as they appear; those of tensors that differ in their number alone share the first.

    None where one has escapes.
    """
    start, end = found.name
    rows, word = _numbered(found)
    others = start.copy()
    others[rows] = 0
    texts = _texts(found, others, end)
    if texts is None:
        return None
    codes, names = texts
    codes[rows] = len(names) + word
    first, place = _by_appearance(codes)
    return place.astype(np.int32), [found.text[start[row] : end[row]].decode() for row in first.tolist()]


def _numbered(found: FixedForm) -> tuple[IntArray, CodeArray]:
    """Rows whose name is a word for what is done with a tensor, and its number; and codes of these words."""
    start, end = found.name
    rows = np.flatnonzero(found.letters[end - 1] <= ord("9"))
    digits = found.digits_before(end[rows])
    space = end[rows] - digits - 1
    known = (digits > 0) & (found.letters[space] == ord(" ")) & (space > start[rows])
    rows, space = rows[known], space[known]
    words = found.texts(start[rows], space).dictionary_encode()
    word = words.indices.to_numpy()
    of_tensor = np.array([text in NUMBERED for text in words.dictionary.to_pylist()] or [False], bool)[word]
    return rows[of_tensor], word[of_tensor]


def _texts(found: FixedForm, start: IntArray, end: IntArray) -> tuple[CodeArray, list[str]] | None:
    """Codes of texts, -1 where they start at 0: there is none; None where one has escapes."""
    told = np.flatnonzero(start)
    codes = np.full(len(start), -1, np.int32)
    encoded = found.texts(start[told], end[told]).dictionary_encode()
    codes[told] = encoded.indices.to_numpy()
    values = encoded.dictionary.to_pylist()
    return None if any("\\" in value for value in values) else (codes, values)


def _args(found: FixedForm, rows: IntArray, group: Column) -> tuple[bytes, IntArray, CodeArray]:
    """All arguments of rows in the order of their groups, and where each stands."""
    start, end = (bound[rows] for bound in found.args)
    length = end - start
    told = np.flatnonzero(length)
    order = np.argsort(group[told], kind="stable")
    pieces = found.texts(start[told], end[told] + 1).take(pa.array(order))  # each with the comma behind it
    joined = pieces.buffers()[2]
    sizes = length[told][order] + 1
    begin = np.zeros(len(rows), np.int64)
    begin[told[order]] = np.cumsum(sizes) - sizes
    text = b"" if joined is None else joined.slice(0, max(int(sizes.sum()) - 1, 0)).to_pybytes()
    return text, begin, length.astype(np.int32)
