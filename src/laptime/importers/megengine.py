"""MegEngine's profiler: `{pid}.chrome_timeline.json`.

Since MegEngine 1.6 an object with `traceEvents` and `metadata.localTime` (ns since the epoch when profiling started),
before a list. What the events mean is said in `megengine_events`, `megengine_spans`, `megengine_links` and
`megengine_scopes`; docs/formats.md holds the whole. The two ratios that the file itself holds are compared with what
its spans say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from laptime.importers.decoders import Decoders
from laptime.importers.event_lists import read_events
from laptime.importers.megengine_events import Events, add_counters
from laptime.importers.megengine_links import Links, backward_pairs, links_of
from laptime.importers.megengine_memory_flow import read_tensors
from laptime.importers.megengine_ops import add_operators, call_stacks, type_of
from laptime.importers.megengine_scopes import Scopes, scopes_of, step_spans, with_forward, with_points
from laptime.importers.megengine_spans import (
    COPY_TO_DEVICE,
    CUPTI,
    DEVICE,
    INTERPRETER,
    WORKER,
    Spans,
    Threads,
    in_microseconds,
    paired_spans,
    threads_of,
)
from laptime.importers.progress import Progress
from laptime.importers.sources import Source
from laptime.model.arrays import CodeArray, Column, IntArray, distinct_codes
from laptime.model.builder import BASE_KIND_CODE, TraceBuilder
from laptime.model.classify import CALL, MIRROR, kind_of
from laptime.model.vocabulary import FLOW_KINDS, PHASE_CODE

_OWN = re.compile(
    rb'"(?:gpu_usgae_ratio|nr_redunant_tensor|nr_op_pending|device_ahead_ms|nr_alive_tensor)"'
    rb'|"cat"\s*:\s*"(?:OpDispatch|TensorLink|KernelLaunch)"|"name"\s*:\s*"(?:OpDispatch|TensorWaitProp|StartProfile)"'
)
_OLD = re.compile(rb'"name"\s*:\s*"(?:CommandEnqueue|CommandExecute|TensorLifetime)"|"__id__"\s*:\s*"\[\d')
_EVENTS = re.compile(rb'"traceEvents"\s*:')
_LIST = re.compile(rb"^(?:\xef\xbb\xbf)?\s*\[")
_BACKWARD = "Backward"
_COPY, _COLLECTIVE = "Copy", "CollectiveComm"
_BUSY, _TRAINING = "gpu_usgae_ratio", "train_time_ratio"
_TOLERANCE = 0.5
"""Percent points."""


class MegEngineTimeline:
    """Timelines of MegEngine's profiler."""

    name = "megengine"

    def matches(self, head: bytes, source: Source) -> bool:
        """Whether the first MiB holds trace events with names that only MegEngine gives."""
        if _LIST.match(head):
            return bool(_OLD.search(head))
        return bool(_EVENTS.search(head) and _OWN.search(head))

    def read(self, source: Source, builder: TraceBuilder, progress: Progress, decoders: Decoders) -> None:
        """Reads all events of the source."""
        events = Events(builder)
        metadata = read_events(source, builder, progress, decoders, events.feed, bare=True).get("metadata")
        local = metadata.get("localTime") if isinstance(metadata, dict) else None
        builder.meta.update(
            {
                "format": self.name,
                "framework": "megengine",
                "framework_version": None,
                "rank": None,
                "world_size": None,
                "base_unix_ns": int(local) if isinstance(local, (str, int)) and str(local).isdigit() else None,
            }
        )
        makers = _build(events, builder)
        for drawing in source.files[1:]:
            read_tensors(Source(drawing), builder, progress, makers.by_number())


@dataclass(frozen=True)
class _Makers:
    """Executions of operators."""

    number: IntArray
    operator: IntArray
    row: IntArray

    def by_number(self) -> dict[int, tuple[int, int]]:
        """The operator and the slice of each operator's first execution, by its number."""
        columns = (column[::-1].tolist() for column in (self.number, self.operator, self.row))
        return {number: (op, row) for number, op, row in zip(*columns, strict=True)}


def _build(events: Events, builder: TraceBuilder) -> _Makers:
    """Adds everything; returns the executions."""
    spans = paired_spans(events, builder)
    in_microseconds(spans, events, builder)
    threads = threads_of(events, spans, builder)
    instants = events.instants.take_all()
    last_values = add_counters(events, builder)
    if len(instants["place"]):
        builder.instants.append(
            len(instants["place"]),
            {"track": threads.track[instants["place"]], "ts": instants["start"], **_labels(instants)},
        )
    if not len(spans):
        empty = np.empty(0, np.int64)
        return _Makers(empty, empty, empty)
    links = links_of(events, spans, threads, builder)
    scopes = scopes_of(spans, threads, links.executed, builder)
    if len(links.executed) and not len(links.kernels):
        builder.meta["device_kernels_recorded"] = False
    operators = add_operators(events, spans, links, scopes, builder)
    forward_backward = _forward_backward(spans, links, scopes, builder)
    stacks = call_stacks(events, spans, links, forward_backward, builder)
    steps = step_spans(spans, threads, scopes, _stops(instants, threads, builder), builder)
    phase = with_forward(spans, threads, scopes, steps, builder)
    builder.steps = with_points(steps, spans, threads, scopes, phase, builder)
    _name_points(spans, links, phase, builder)
    for role in (WORKER, INTERPRETER):
        if role in threads.role:
            builder.main_track = int(threads.track[threads.role.index(role)])
    if INTERPRETER in threads.role:
        builder.executor_tracks = [
            int(track) for role, track in zip(threads.role, threads.track, strict=True) if role == WORKER
        ]
    _add_slices(spans, threads, scopes, links, {"op": operators, "call_stack": stacks, "phase": phase}, builder)
    _add_links(links, forward_backward, builder)
    _compare_ratios(last_values, _busy_percent(spans, links.kernels), builder)
    return _Makers(spans.op[links.executed], operators[links.executed].astype(np.int64), links.executed)


def _labels(columns: dict[str, Column]) -> dict[str, Column]:
    return {key: columns[key] for key in ("name", "args_start", "args_length")}


def _stops(instants: dict[str, Column], threads: Threads, builder: TraceBuilder) -> IntArray:
    """Times of `profiler.step()` on the interpreter."""
    wanted = np.array([role == INTERPRETER for role in threads.role] or [False], bool)[instants["place"]]
    wanted &= instants["name"] == builder.names.code("StopStep")
    return np.asarray(np.sort(instants["start"][wanted]))


def _name_points(spans: Spans, links: Links, phase: CodeArray, builder: TraceBuilder) -> None:
    """The operators with which forward passes begin and backward passes end, of the first step that has both."""
    rows = links.dispatched[spans.op_name[links.dispatched] >= 0]
    step = next((each for each in builder.steps if each.forward_start_ns is not None), None)
    if step is None:
        return
    names = builder.names.texts
    inside = rows[(spans.start[rows] >= step.start_ns) & (spans.start[rows] < step.end_ns)]
    forward = inside[spans.start[inside] == step.forward_start_ns]
    backward = inside[phase[inside] == PHASE_CODE["backward"]]
    for key, found in (("forward_start_op", forward[:1]), ("backward_end_op", backward[-1:])):
        builder.meta[key] = names[spans.op_name[found[0]]] if len(found) else None


# ---- slices ----


def _add_slices(
    spans: Spans,
    threads: Threads,
    scopes: Scopes,
    links: Links,
    known: dict[str, CodeArray],
    builder: TraceBuilder,
) -> None:
    """`known`: operator, call stack and phase of each span."""
    name = spans.name.copy()
    named = links.dispatched[spans.op_name[links.dispatched] >= 0]
    name[named] = spans.op_name[named]
    kinds = _kinds(spans, threads, scopes, links, builder)
    has_phase = np.isin(kinds, [BASE_KIND_CODE[kind] for kind in ("scope", "op", "launch", MIRROR)])
    loads = np.array([kind_of("scope", text) == "data" for text in builder.names.texts] or [False], bool)
    has_phase &= ~(scopes.is_scope & loads[spans.name])
    builder.add_slices(
        len(spans),
        {
            "track": threads.track[spans.place],
            "start": spans.start,
            "dur": spans.end - spans.start,
            "name": name,
            "category": spans.category,
            "kind": kinds,
            "external_id": spans.op,
            "bytes": spans.bytes,
            **known,
            "phase": np.where(has_phase, known["phase"], -1),
            "args_start": spans.args_start,
            "args_length": spans.args_length,
        },
    )


def _kinds(spans: Spans, threads: Threads, scopes: Scopes, links: Links, builder: TraceBuilder) -> Column:
    """Base kinds. An operator's dispatch launches it; a dispatch that the host computes at once is the operator."""
    names = {text: code for code, text in enumerate(builder.names.texts)}
    kinds = np.full(len(spans), BASE_KIND_CODE["host_other"], np.int8)
    kinds[scopes.is_scope] = BASE_KIND_CODE["scope"]
    kinds[scopes.is_scope & threads.of(spans, WORKER)] = BASE_KIND_CODE[MIRROR]
    calls = np.array([text.startswith("cu") and not scopes_named(text) for text in names] or [False], bool)
    kinds[calls[spans.name] & ~threads.of(spans, DEVICE, CUPTI)] = BASE_KIND_CODE[CALL]
    kinds[spans.name == names.get("TensorWaitProp", -1)] = BASE_KIND_CODE["sync"]
    kinds[links.dispatched] = np.where(links.inline, BASE_KIND_CODE["op"], BASE_KIND_CODE["launch"])
    kinds[links.executed] = BASE_KIND_CODE["op"]
    kinds[threads.of(spans, DEVICE, CUPTI)] = BASE_KIND_CODE["device_other"]
    kinds[links.kernels] = _kernel_kinds(spans, links.kernels, names)
    kinds[threads.of(spans, DEVICE) & (spans.name == names.get(COPY_TO_DEVICE, -1))] = BASE_KIND_CODE["copy"]
    return kinds


def scopes_named(text: str) -> bool:
    """Whether a name that begins like a call of CUDA is a scope's."""
    return re.match(r"(?:cuda|cu)[A-Z]\w*\Z", text) is None


def _kernel_kinds(spans: Spans, kernels: IntArray, names: dict[str, int]) -> Column:
    """A copy between devices has a span on both; the later one shows the same work and counts nowhere."""
    kinds = np.full(len(kernels), BASE_KIND_CODE["kernel"], np.int8)
    kinds[spans.name[kernels] == names.get(_COLLECTIVE, -1)] = BASE_KIND_CODE["communication"]
    copies = np.flatnonzero(spans.name[kernels] == names.get(_COPY, -1))
    rows = kernels[copies]
    order = np.lexsort((rows, spans.start[rows], spans.op[rows]))
    again = np.zeros(len(order), bool)
    again[1:] = (spans.op[rows][order][1:] == spans.op[rows][order][:-1]) & (
        spans.place[rows][order][1:] != spans.place[rows][order][:-1]
    )
    kinds[copies[order[again]]] = BASE_KIND_CODE["device_other"]
    return kinds


# ---- links ----


def _add_links(links: Links, forward_backward: tuple[IntArray, IntArray], builder: TraceBuilder) -> None:
    pairs = {
        "async": links.calls,
        "launch": links.launches,
        "data": links.data,
        "forward_backward": forward_backward,
    }
    for kind, (before, after) in pairs.items():
        code = np.full(len(before), FLOW_KINDS.index(kind), np.int8)
        builder.links.append(len(before), {"from": before, "to": after, "kind": code})


def _forward_backward(spans: Spans, links: Links, scopes: Scopes, builder: TraceBuilder) -> tuple[IntArray, IntArray]:
    names = builder.names.texts
    caller = np.full(len(spans), -1, np.int64)
    caller[links.calls[1]] = links.calls[0]
    called = caller[links.executed]
    around = np.where(called >= 0, scopes.around[called], -1)
    is_backward = np.array([name.endswith(_BACKWARD) and name != _BACKWARD for name in names] or [False], bool)
    scope_of = np.where((around >= 0) & is_backward[spans.name[around]], around, -1)
    found = np.unique(scope_of[scope_of >= 0])
    scope_type = [names[code].rsplit(".", 1)[-1].removesuffix(_BACKWARD) for code in spans.name[found].tolist()]
    used = distinct_codes(spans.name[links.executed])[0].tolist()
    return backward_pairs(spans, links, scope_of, scope_type, {code: type_of(names[code]) for code in used})


# ---- what the file says of itself ----


def _compare_ratios(stored: dict[str, float], own: float | None, builder: TraceBuilder) -> None:
    """The stored busy ratio leaves out operators that start right when another ends; the other one is often absurd."""
    busy, training = stored.get(_BUSY), stored.get(_TRAINING)
    if busy is not None and own is not None and abs(busy - own) > _TOLERANCE:
        builder.warnings.add(
            "mismatch",
            f"the file says that devices are busy {busy:.2f} % ({_BUSY}); its operators take {own:.2f} % of the time "
            "between the first and the last",
        )
    if training is not None and not 0 <= training <= 100:
        builder.warnings.add("mismatch", f"the file says that training takes {training:.4g} % ({_TRAINING}); ignored")


def _busy_percent(spans: Spans, kernels: IntArray) -> float | None:
    """Union of operators on all devices over the time from the first start to the last end."""
    if not len(kernels):
        return None
    order = np.argsort(spans.start[kernels], kind="stable")
    start, end = spans.start[kernels][order], np.maximum.accumulate(spans.end[kernels][order])
    window = int(end[-1] - start[0])
    gaps = np.maximum(start[1:] - end[:-1], 0).sum()
    return 100 * (window - int(gaps)) / window if window else None
