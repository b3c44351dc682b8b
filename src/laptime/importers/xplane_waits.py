"""Waits for a value (`...Buffer::Await`): XLA marks where a thread begins to wait and where it goes on, not the time
between. The second mark carries the stat `_c`; without a wait there is none of both."""

from __future__ import annotations

import re

import numpy as np

from laptime.model.arrays import BoolArray, IntArray
from laptime.model.vocabulary import NULL

MARKS = re.compile(r"::Await$")
CONSUMER = "_c"


def with_waits(start: IntArray, dur: IntArray, *, marks: BoolArray, ends: BoolArray) -> tuple[IntArray, IntArray]:
    """Durations of a thread's events, of which `marks` are marks and `ends` those that end a wait; and such ends.

    A first mark lasts until the end of the one that follows it, if that ends a wait.
    """
    chosen = np.flatnonzero(marks & (start != NULL) & (dur != NULL))
    chosen = chosen[np.lexsort((chosen, start[chosen]))]
    pairs = np.flatnonzero(~ends[chosen[:-1]] & ends[chosen[1:]])
    first, second = chosen[pairs], chosen[pairs + 1]
    result = dur.copy()
    result[first] = start[second] + dur[second] - start[first]
    return result, second
