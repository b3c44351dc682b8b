"""Profile of a compiled graph of MegEngine: `trace(profiling=True).get_profile()`, `load_and_run --profile`.

One JSON object, of the last run: `profiler` with `device` and `host` (operator -> device or thread -> `start`, `kern`,
`end` in seconds) and `opr_footprint` (`in_shapes`, `out_shapes`, `computation` in FLO, `memory` in bytes, `param`);
`graph_exec` with `operator` (`name`, `type`, variables in and out), `var` and `comp_seq`, the order of execution.

The two sides have clocks of their own and nothing is repeated, so operators become sums of one execution, not slices.
Where an operator runs on several devices its time is the longest of them, as MegEngine's own tool has it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

import msgspec

from laptime.errors import LaptimeError
from laptime.importers.decoders import Decoders
from laptime.importers.megengine_static_mending import closed_json
from laptime.importers.progress import Progress
from laptime.importers.sources import Source
from laptime.model.builder import Op, TraceBuilder

Json = Mapping[str, object]

HOST_HANDOVERS = frozenset({"InputCallback", "OutputCallback"})
"""Operators in which the graph waits for the host to hand values in or take them out: no computing."""
_KEYS = re.compile(rb'"(?:opr_footprint|opr_internal_pf|graph_exec|comp_seq|mem_chunk)"\s*:')
_LARGEST_BYTES = 1 << 29
_DEVICE = re.compile(r'CompNode\("([^"]*)"')
_DEVICE_TYPE = re.compile(r"[a-z]+")
_NUMBERED = re.compile(r"\[\d+\]\Z")
_MOST_SECONDS = 2e9


class MegEngineStatic:
    """The profile of a compiled graph."""

    name = "megengine_static"

    def matches(self, head: bytes, source: Source) -> bool:
        """Whether the first MiB is an object with MegEngine's keys."""
        return head.lstrip()[:1] == b"{" and bool(_KEYS.search(head)) and b'"traceEvents"' not in head

    def read(self, source: Source, builder: TraceBuilder, progress: Progress, decoders: Decoders) -> None:
        """Reads all operators that ran."""
        content = _content(source, builder)
        profiler, graph = _object(content.get("profiler")), _object(content.get("graph_exec"))
        operators, footprints = _object(graph.get("operator")), _object(profiler.get("opr_footprint"))
        device, host = _object(profiler.get("device")), _object(profiler.get("host"))
        variables = _object(graph.get("var"))
        for number in _in_order(graph.get("comp_seq"), [*operators, *device, *host]):
            ran_on, ran_by = _object(device.get(number)), _object(host.get(number))
            builder.read += 1
            if not ran_on and not ran_by:
                builder.drop("not_shown")  # an input or the like: part of the graph, nothing that runs
                continue
            described = _object(operators.get(number))
            op = builder.add_op(_op(number, described, _object(footprints.get(number)), ran_on, variables))
            for times, side in ((ran_on, "device"), (ran_by, "host")):
                spent = _longest(times, number, builder) if times else None
                if spent is not None:
                    builder.op_totals[side].append((op, 1, spent, spent))
        builder.meta.update({"format": self.name, "framework": "megengine", "framework_version": None})
        progress(1, 1)


def _content(source: Source, builder: TraceBuilder) -> Json:
    """The profile; of a damaged one what stands before the damage."""
    with source.open() as stream:
        data = stream.read(_LARGEST_BYTES)
        why = stream.damage or "the file ends inside the profile"
    try:
        return _object(msgspec.json.decode(data))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        whole, place = closed_json(data)
    try:
        content = _object(msgspec.json.decode(whole))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise LaptimeError("no sound JSON", where=source.name, remedy="write the profile again") from error
    builder.warnings.add("truncated", f"{why}; what stands before byte {place:,} is kept")
    return content


def _in_order(sequence: object, numbers: list[str]) -> Iterator[str]:
    """Operators in order of execution, then all others."""
    first = [str(number) for number in sequence] if isinstance(sequence, list) else []
    known = set(numbers)
    yield from dict.fromkeys(number for number in [*first, *numbers] if number in known)


def _op(number: str, described: Json, footprint: Json, ran_on: Json, variables: Json) -> Op:
    op_type, name = _text(described.get("type")), _text(described.get("name")) or f"operator[{number}]"
    places = [match[1] for key in ran_on if (match := _DEVICE.search(key))]
    kind = _DEVICE_TYPE.match(places[0]) if places else None
    return Op(
        name=name,
        op_type=op_type,
        full_name=name if _NUMBERED.search(name) else f"{name}[{number}]",
        device_kind=kind[0] if kind else None,
        module=None if "(" in name else name.rpartition(".")[0].replace(".", "/") or None,
        input_shapes=_json(footprint.get("in_shapes")),
        input_dtypes=_json(_dtypes(described.get("input"), variables)),
        output_shapes=_json(footprint.get("out_shapes")),
        info=json.dumps(_info(op_type, footprint, places), allow_nan=False),
    )


def _info(op_type: str | None, footprint: Json, places: list[str]) -> dict[str, object]:
    """What has no column: device, work, parameters; `host_handover` where the host is waited for."""
    info: dict[str, object] = {"computation_flo": _count(footprint.get("computation"))}
    info["memory_bytes"] = _count(footprint.get("memory"))
    if places:
        info["device"] = ", ".join(places)
    if op_type in HOST_HANDOVERS:
        info["host_handover"] = True
    if footprint.get("param"):
        info["param"] = footprint["param"]
    return info


def _longest(times: Json, number: str, builder: TraceBuilder) -> int | None:
    """The longest time of an operator over its devices or threads, in ns; None where none can be read."""
    spent = [_span(entry) for entry in times.values()]
    known = [span for span in spent if span is not None]
    message = "times of operators that are absent, no numbers or negative; left out"
    builder.warnings.add("untimed", message, len(spent) - len(known))
    return max(known, default=None)


def _span(entry: object) -> int | None:
    start, end = (_object(entry).get(key) for key in ("start", "end"))
    if not _is_time(start) or not _is_time(end):
        return None
    span = round(float(str(end)) * 1e9) - round(float(str(start)) * 1e9)
    return span if span >= 0 else None


def _is_time(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _MOST_SECONDS


def _dtypes(inputs: object, variables: Json) -> list[str | None] | None:
    """Types of an operator's inputs; None where no memory plan tells any."""
    numbers = inputs if isinstance(inputs, list) else []
    layouts = [
        _object(_object(_object(variables.get(str(number))).get("mem_plan")).get("layout")) for number in numbers
    ]
    found = [_text(layout.get("dtype")) for layout in layouts]
    return found if any(found) else None


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _json(value: object) -> str | None:
    return json.dumps(value, allow_nan=False) if isinstance(value, list) else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63 else None
