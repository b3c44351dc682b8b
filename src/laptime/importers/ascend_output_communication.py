"""What each collective did with its time: communication.json, or CommAnalyzerTime of analysis.db where that is absent.

    {"step50": {"collective": {"hcom_allReduce__586_0_1@17522688": {"Communication Time Info":
        {"Start Timestamp(us)": ..., "Elapse Time(ms)": ..., "Transit Time(ms)": ...}, ...}, "Total Op Info": ...}}}

`Total Op Info` is a sum, not a collective. Sizes are in 10**6 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import msgspec
import numpy as np

from laptime.importers.ascend_output_checks import Intervals
from laptime.importers.ascend_output_operators import Operators, collective_type
from laptime.importers.ascend_output_tables import bytes_of
from laptime.importers.events import FAULTS
from laptime.model.arrays import Column
from laptime.model.builder import BASE_KIND_CODE, Op, TraceBuilder, Warnings
from laptime.model.tracks import TrackKey
from laptime.model.vocabulary import NULL

_PARTS = ("elapse", "transit", "wait", "synchronization", "idle")
_US, _MILLION = 1000, 1_000_000
_LARGEST = 2**62
_NEAR_NS = 10_000
"""The file rounds starts to a tenth of a microsecond or worse."""


@dataclass(frozen=True)
class Collective:
    """One execution of a collective, and where its time went."""

    name: str
    group: str
    step: str
    start_ns: int
    info: dict[str, object]

    @property
    def elapse_ns(self) -> int:
        """Duration; NULL where the file does not say."""
        value = self.info.get("elapse_ns")
        return value if isinstance(value, int) else NULL

    def op(self, core: str) -> Op:
        """Its row of the operators."""
        return Op(
            name=self.name,
            op_type=collective_type(self.name),
            full_name=f"{self.name}@{self.group}" if self.group else self.name,
            device_kind=core,
            info=msgspec.json.encode(self.info).decode(),
        )


@dataclass
class Collectives:
    """All collectives of a rank; each becomes an operator when a slice asks for it."""

    builder: TraceBuilder
    entries: list[Collective]
    core: str = "HCCL"
    """What kernel_details.csv calls the core of collectives."""
    _by_name: dict[str, list[int]] = field(default_factory=dict)
    _ops: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.operators = Operators(self.builder)
        for place, entry in enumerate(self.entries):
            self._by_name.setdefault(entry.name, []).append(place)

    def op_of(self, name: str, start_ns: int) -> int | None:
        """Number of the operator of a collective that starts then; None where the file does not have it."""
        near = [(abs(self.entries[place].start_ns - start_ns), place) for place in self._by_name.get(name, [])]
        distance, place = min(near, default=(_NEAR_NS, -1))
        return self._op(place) if distance < _NEAR_NS else None

    def _op(self, place: int) -> int:
        if place not in self._ops:
            self._ops[place] = self.builder.add_op(self.entries[place].op(self.core))
        return self._ops[place]

    def by_step(self) -> dict[str, Intervals]:
        """Collectives of each step."""
        found: dict[str, Intervals] = {}
        for entry in self.entries:
            start, dur = (np.array([time], np.int64) for time in (entry.start_ns, entry.elapse_ns))
            found.setdefault(entry.step, Intervals()).add(start, dur, np.ones(1, bool))
        return found

    def add_slices(self, device: int | None) -> None:
        """Makes slices of the collectives, where no other file has them."""
        count = len(self.entries)
        self.builder.read += count
        track = self.builder.tracks.code(TrackKey("stream", "Communication", "", device, None, name="Communication"))
        self.builder.tracks.process_names["Communication"] = "Communication"
        columns: dict[str, Column] = {
            "track": np.full(count, track),
            "start": np.array([entry.start_ns for entry in self.entries], np.int64),
            "dur": np.array([entry.elapse_ns for entry in self.entries], np.int64),
            "name": self.builder.names.codes(entry.name for entry in self.entries),
            "category": np.full(count, self.builder.categories.code("collective_comm")),
            "kind": np.full(count, BASE_KIND_CODE["communication"]),
            "op": np.array([self._op(place) for place in range(count)], np.int64),
        }
        self.builder.add_slices(count, columns)


def scaled(value: object, factor: int) -> int:
    """A JSON number, or text, times a factor, as a whole number (us * 1000 = ns); NULL for what is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return NULL
    try:
        number = Decimal(value if isinstance(value, str) else repr(value)) * factor
    except ArithmeticError:
        return NULL
    if not number.is_finite() or abs(number) >= _LARGEST:
        return NULL
    return int(number.to_integral_value(ROUND_HALF_UP))


def collectives_in_json(path: Path, warnings: Warnings) -> list[Collective]:
    """Collectives of a communication.json."""
    try:
        steps = msgspec.json.decode(bytes_of(path, warnings), type=dict[str, object])
    except FAULTS as error:
        warnings.add("invalid_json", f"{path.name}: {error}; times of collectives are left out")
        return []
    return [
        _collective(step, name, info)
        for step, kinds in steps.items()
        for name, info in _entries(kinds)
        if isinstance(info.get("Communication Time Info"), dict)
    ]


def _entries(kinds: object) -> Iterator[tuple[str, dict[str, object]]]:
    for operators in kinds.values() if isinstance(kinds, dict) else ():
        for name, info in operators.items() if isinstance(operators, dict) else ():
            if name != "Total Op Info" and isinstance(info, dict):
                yield name, info


def _collective(step: str, title: str, entry: dict[str, object]) -> Collective:
    name, _, group = title.partition("@")
    times = entry["Communication Time Info"]
    assert isinstance(times, dict)
    info = _time_info(group, step, {part: times.get(f"{part.capitalize()} Time(ms)") for part in _PARTS})
    links = _links(entry.get("Communication Bandwidth Info"))
    if links:
        info["links"] = links
    return Collective(name, group, _step_text(step), scaled(times.get("Start Timestamp(us)"), _US), info)


def _time_info(group: str, step: str, milliseconds: dict[str, object]) -> dict[str, object]:
    times = {f"{part}_ns": scaled(value, _MILLION) for part, value in milliseconds.items()}
    return {"group": group, "step": _step_text(step), **{key: ns for key, ns in times.items() if ns != NULL}}


def _step_text(step: str) -> str:
    return step.removeprefix("step")


def _links(bandwidths: object) -> dict[str, dict[str, object]]:
    """Bytes and time per kind of link that carried any."""
    found: dict[str, dict[str, object]] = {}
    for link, entry in bandwidths.items() if isinstance(bandwidths, dict) else ():
        size = scaled(entry.get("Transit Size(MB)"), _MILLION) if isinstance(entry, dict) else NULL
        if size > 0:
            found[link] = {"bytes": size, "transit_ns": scaled(entry.get("Transit Time(ms)"), _MILLION)}
    return found


def collective_in_database(row: dict[str, object]) -> Collective:
    """A row of CommAnalyzerTime."""
    step, group, name = (str(row.get(key) or "") for key in ("step", "group_name", "hccl_op_name"))
    info = _time_info(group, step, {part: row.get(f"{part}_time") for part in _PARTS})
    return Collective(name.partition("@")[0], group, _step_text(step), scaled(row.get("start_timestamp"), _US), info)
