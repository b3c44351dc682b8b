"""Which call started which execution of a program on XLA:CPU, where no event names it.

The events of an execution's instructions carry the program's name and a `run_id` that counts the program's executions.
A call lies inside `PjitFunction(NAME)` and runs the program `jit_NAME`. So of each name the executions in order of time
are the calls in order of time; the last one recorded is that of the last call that can have started it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from laptime.model.arrays import IntArray, distinct_rows
from laptime.model.builder import TraceBuilder
from laptime.model.vocabulary import FLOW_KINDS, NULL

CALLS = re.compile(r"^\w*Executable::ExecuteHelper(?:OnSingleDevice)?$")
"""Names of the calls; each runs the program on one device."""
FUNCTIONS = re.compile(r"^PjitFunction\((.*)\)$", re.DOTALL)
_LAUNCH = FLOW_KINDS.index("launch")
_DEEPEST = 64


@dataclass(frozen=True)
class Span:
    """Of a call or a function; `name` is the function's."""

    start: int
    end: int
    name: str


@dataclass(frozen=True)
class Work:
    """Instructions, by the numbers of their slices; `programs` are codes of `names`."""

    slices: IntArray
    starts: IntArray
    programs: IntArray
    run_ids: IntArray
    names: dict[int, str]


class Runs:
    """Collects calls and instructions, and links them."""

    def __init__(self) -> None:
        self._calls: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._runs: dict[tuple[str, int], list[tuple[int, IntArray]]] = defaultdict(list)
        self._devices: set[int] = set()

    def add_calls(self, slices: IntArray, calls: Sequence[Span], functions: Sequence[Span]) -> None:
        """Calls of executables on one thread, by the numbers of their slices, and the functions around them."""
        ordered = sorted(functions, key=lambda each: (each.start, -each.end))
        starts = [each.start for each in ordered]
        for number, call in zip(slices.tolist(), calls, strict=True):
            place = bisect_right(starts, call.start)
            around = (each for each in reversed(ordered[max(place - _DEEPEST, 0) : place]) if each.end >= call.end)
            function = next(around, None)
            self._calls[_plain(function.name) if function else ""].append((call.start, number))

    def add_work(self, work: Work, devices: IntArray) -> None:
        """Instructions of executions on one thread; those without a number are left out."""
        known = np.flatnonzero((work.run_ids != NULL) & (work.programs != NULL) & (work.starts != NULL))
        if not len(known):
            return
        self._devices.update(np.unique(devices[known]).tolist())
        first, place = distinct_rows([work.programs[known], work.run_ids[known]])
        for group, row in enumerate(known[first].tolist()):
            own = known[place == group]
            name = _plain(work.names.get(int(work.programs[row]), "").removeprefix("jit_"))
            self._runs[name, int(work.run_ids[row])].append((int(work.starts[own].min()), work.slices[own]))

    def link(self, builder: TraceBuilder) -> bool:
        """Adds a launch for every instruction whose call is known; says whether there is any.

        None where programs run on several devices: their calls do not tell which is whose.
        """
        if len(self._devices) != 1:
            return False
        found = False
        for call, slices in self._pairs():
            count = len(slices)
            kind = np.full(count, _LAUNCH, np.int8)
            builder.links.append(count, {"from": np.full(count, call, np.int64), "to": slices, "kind": kind})
            found = True
        return found

    def _pairs(self) -> list[tuple[int, IntArray]]:
        by_name: dict[str, list[tuple[int, IntArray]]] = defaultdict(list)
        for (name, _), parts in self._runs.items():
            start = min(start for start, _ in parts)
            by_name[name].append((start, np.concatenate([slices for _, slices in parts])))
        pairs = []
        for name, runs in by_name.items():
            runs.sort(key=lambda run: run[0])
            calls = sorted(self._calls.get(name, []))
            for place, call in enumerate(_calls_of([start for start, _ in runs], [start for start, _ in calls])):
                if call >= 0:
                    pairs.append((calls[call][1], runs[place][1]))
        return pairs


def _calls_of(runs: list[int], calls: list[int]) -> list[int]:
    """Place of each run's call, -1 where it was not recorded; both by their starts, in order."""
    for shift in range(len(calls) - len(runs), -len(runs), -1):
        found = [place + shift if place + shift >= 0 else -1 for place in range(len(runs))]
        if all(call < 0 or calls[call] <= start for call, start in zip(found, runs, strict=True)):
            return found
    return [-1] * len(runs)


def _plain(name: str) -> str:
    """XLA replaces what is no letter in names of programs."""
    return re.sub(r"\W+", "_", name).strip("_")
