"""A twin of the analyses: the report's numbers from the events of a trace file, written from the JSON contract alone.

It is slow and plain on purpose: times are read as decimals, every loop is a loop over slices, and of laptime it uses
nothing but the rules that tell a slice's kind from its name.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from laptime.model.classify import (
    is_autograd_node,
    is_optimizer_step,
    is_profiler_step,
    kind_of,
    phase_root,
    step_number,
)

HOST_BASES = {
    "cpu_op": "op",
    "user_annotation": "scope",
    "python_function": "python",
    "cuda_runtime": "call",
    "cuda_driver": "call",
}
DEVICE_BASES = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "memset"}
PART_OF_KIND = {"kernel": "compute", "communication": "communication", "copy": "copy", "memset": "copy"}
SWALLOWED = 8

Span = tuple[int, int]
Lane = tuple[int, int]
Numbers = dict[str, Any]


@dataclass(eq=False)
class Slice:
    """A slice of a host thread (lane = pid, tid) or of a device's stream (lane = device, stream)."""

    lane: Lane
    start: int
    dur: int | None
    name: str
    kind: str
    is_call: bool
    correlation: int | None
    external: int | None
    order: int
    parent: Slice | None = None
    launch: Slice | None = None
    launched: list[Slice] = field(default_factory=list)

    @property
    def end(self) -> int:
        return self.start + (self.dur or 0)

    @property
    def outer_op(self) -> Slice | None:
        """Nearest operator around it."""
        around = self.parent
        while around is not None and around.kind != "op":
            around = around.parent
        return around


# ---- spans of time ----


def covered(slices: Iterable[Slice], first: int, last: int) -> int:
    """Nanoseconds of [first, last) that lie in at least one of the slices."""
    total, reached = 0, first
    for start, end in sorted((s.start, s.end) for s in slices):
        start, end = max(start, reached), min(end, last)
        if end > start:
            total += end - start
            reached = end
    return total


def pieces(labelled: Iterable[tuple[int, int, str]], first: int, last: int) -> Iterator[tuple[int, int, set[str]]]:
    """[first, last) cut wherever a labelled span begins or ends, each piece with the labels that hold there."""
    edges: dict[int, Counter[str]] = defaultdict(Counter)
    for start, end, label in labelled:
        start, end = max(start, first), min(end, last)
        if end > start:
            edges[start][label] += 1
            edges[end][label] -= 1
    open_now: Counter[str] = Counter()
    times = sorted({first, last, *edges})
    for begin, finish in pairwise(times):
        open_now.update(edges.get(begin, Counter()))
        yield begin, finish, {label for label, count in open_now.items() if count}


# ---- statistics ----


def half_up(value: Fraction) -> int:
    return int((value + Fraction(1, 2)) // 1)


def mean(values: list[int]) -> int:
    return half_up(Fraction(sum(values), len(values)))


def quantile(values: list[int], share: Fraction) -> int:
    """By linear interpolation between the two neighbours."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * share
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return half_up(ordered[low] + (place - low) * (ordered[high] - ordered[low]))


P50, P90 = Fraction(1, 2), Fraction(9, 10)


class Twin:
    """One trace file."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        events = json.loads(text, parse_float=Decimal)["traceEvents"]
        origin = min(_ns(e["ts"]) for e in events if e["ph"] in "XiC" and not _is_untimed_at_zero(e))
        self.threads: dict[Lane, list[Slice]] = defaultdict(list)
        self.work: list[Slice] = []
        """Device slices in order of device, stream, start, longest first."""
        for order, event in enumerate(events):
            if event["ph"] == "X":
                self._take(event, origin, order)
        self._drop_duplicates()
        self._link()
        for slices in self.threads.values():
            _nest(slices)

    def _take(self, event: dict[str, Any], origin: int, order: int) -> None:
        args, category = event.get("args") or {}, event.get("cat")
        dur = _ns(event["dur"]) if event.get("dur") is not None else -1
        collective = bool(args.get("Collective name"))
        on_device = category in DEVICE_BASES
        base = DEVICE_BASES[category] if on_device else HOST_BASES.get(category)
        if base is None:
            return
        lane = (args["device"], args["stream"]) if on_device else (int(event["pid"]), int(event["tid"]))
        made = Slice(
            lane=lane,
            start=_ns(event["ts"]) - origin,
            dur=None if dur < 0 else dur,
            name=event["name"],
            kind=kind_of(base, event["name"], has_collective_args=collective),
            is_call=base == "call",
            correlation=args.get("correlation"),
            external=args.get("External id"),
            order=order,
        )
        if not on_device:
            self.threads[lane].append(made)
        elif made.kind in PART_OF_KIND:
            self.work.append(made)

    def _drop_duplicates(self) -> None:
        seen = set()
        kept = []
        for s in self.work:
            key = (s.lane, s.name, s.start, s.dur, s.correlation, s.external)
            if s.dur and key in seen:
                continue
            seen.add(key)
            kept.append(s)
        self.work = sorted(kept, key=lambda s: (s.lane, s.start, -(s.dur or 0), s.order))

    def _link(self) -> None:
        calls: dict[int, list[Slice]] = defaultdict(list)
        for lane in sorted(self.threads):
            for s in sorted(self.threads[lane], key=lambda s: s.start):
                if s.is_call and s.correlation is not None:
                    calls[s.correlation].append(s)
        for s in self.work:
            found = calls.get(s.correlation, []) if s.correlation is not None else []
            if found:
                s.launch = next((call for call in found if call.kind == "launch"), found[0])
                s.launch.launched.append(s)
        for call in (call for group in calls.values() for call in group):
            if call.launched and call.kind == "host_other":
                call.kind = "launch"

    # ---- what is where ----

    @cached_property
    def timed_work(self) -> list[Slice]:
        return [s for s in self.work if s.dur is not None]

    @cached_property
    def _of_some_length(self) -> list[Slice]:
        """Device slices that can end a gap."""
        return [s for s in self.timed_work if s.dur]

    @cached_property
    def has_links(self) -> bool:
        return any(s.launch for s in self.timed_work)

    @cached_property
    def _by_kind(self) -> dict[tuple[Lane, str], list[Slice]]:
        found: dict[tuple[Lane, str], list[Slice]] = defaultdict(list)
        for lane, slices in self.threads.items():
            for s in slices:
                found[lane, s.kind].append(s)
        return found

    @cached_property
    def _by_stream(self) -> dict[Lane, list[Slice]]:
        found: dict[Lane, list[Slice]] = defaultdict(list)
        for s in self.timed_work:
            found[s.lane].append(s)
        return found

    def on_thread(self, lane: Lane | None, kind: str) -> list[Slice]:
        return [] if lane is None else self._by_kind.get((lane, kind), [])

    def of_kind(self, kind: str) -> list[Slice]:
        """Host slices of a kind on all threads."""
        return [s for lane in sorted(self.threads) for s in self.on_thread(lane, kind)]

    def markers(self) -> list[Slice]:
        """Step markers of the thread with most of them; PyTorch's own where there are any."""
        found = [s for s in self.of_kind("step") if s.dur is not None]
        own = [s for s in found if is_profiler_step(s.name)] or found
        counts = Counter(s.lane for s in own)
        best = max(sorted(counts), key=lambda lane: counts[lane], default=None)
        return sorted((s for s in own if s.lane == best), key=lambda s: s.start)

    @cached_property
    def main_thread(self) -> Lane | None:
        """The thread with the most step markers, else with the most op time."""
        markers = self.markers()
        if markers:
            return markers[0].lane
        ops = {lane: covered(self.on_thread(lane, "op"), -(2**63), 2**63) for lane in sorted(self.threads)}
        return max((lane for lane in ops if self.on_thread(lane, "op")), key=lambda lane: ops[lane], default=None)

    # ---- DEVICE ----

    def device_total(self) -> Numbers | None:
        return _device_times(self.work) if self.work else None

    def devices(self) -> list[Numbers]:
        ids = sorted({s.lane[0] for s in self.work})
        return [{"device": key, **_device_times([s for s in self.work if s.lane[0] == key])} for key in ids]

    def busy_in(self, span: Span) -> list[Numbers]:
        ids = sorted({s.lane[0] for s in self.timed_work})
        busy = [covered((s for s in self.timed_work if s.lane[0] == key), *span) for key in ids]
        length = span[1] - span[0]
        return [
            {"device": key, "busy_ns": ns, "busy_share": ns / length if length else None}
            for key, ns in zip(ids, busy, strict=True)
        ]

    def delays_in(self, span: Span) -> list[int]:
        """Time from the end of each launch that begins in the span to its device slice."""
        first, last = span
        return [s.start - s.launch.end for s in self.work if s.launch and first <= s.launch.start < last]

    def gaps_in(self, span: Span) -> Counter[str]:
        """Gaps of the span by the cause of most of each."""
        found: Counter[str] = Counter()
        for a, b in self._gaps(span):
            causes = self.why_idle(a, b)
            found[max(("data_wait", "sync", "launch", "other"), key=lambda cause: causes.get(cause, 0))] += 1
        return found

    def _gaps(self, span: Span) -> list[list[int]]:
        gaps: list[list[int]] = []
        for begin, finish, parts in pieces(_labelled(self.timed_work), *span):
            if not parts and gaps and gaps[-1][1] == begin:
                gaps[-1][1] = finish
            elif not parts:
                gaps.append([begin, finish])
        return gaps

    # ---- BUDGET ----

    def budget(self, span: Span) -> Numbers:
        """BUDGET of a step's span."""
        first, last = span
        main = self.main_thread
        compiling = self.on_thread(main, "compile")
        parts = self._device_budget(span) if self.timed_work else self._host_budget(span)
        return {
            **parts,
            "total_ns": last - first,
            "compile_ns": covered(compiling, first, last) if any(s.dur for s in compiling) else None,
        }

    def _device_budget(self, span: Span) -> Numbers:
        spent: Counter[str] = Counter()
        for begin, finish, parts in pieces(_labelled(self.timed_work), *span):
            part = next((p for p in ("compute", "communication", "copy") if p in parts), "idle")
            spent[part] += finish - begin
        causes: Counter[str] = Counter()
        for a, b in self._gaps(span):
            causes.update(self.why_idle(a, b))
        return {
            "basis": "device",
            "compute_ns": spent["compute"],
            "communication_exposed_ns": spent["communication"],
            "copy_exposed_ns": spent["copy"],
            "idle_ns": spent["idle"],
            **{f"idle_{cause}_ns": causes[cause] for cause in ("data_wait", "sync", "launch", "other")},
        }

    def why_idle(self, a: int, b: int) -> dict[str, int]:
        """The gap [a, b) by cause, as the contract words it."""
        real, main = self._of_some_length, self.main_thread
        next_start = min((s.start for s in real if s.start >= b), default=None)
        if next_start is None:
            data = covered(self.on_thread(main, "data"), a, b)
            return {"data_wait": data, "other": b - a - data}
        n = next(s for s in self.timed_work if s.start == next_start)
        if self.has_links:
            if n.launch is None or n.launch.start < a:
                return {"other": b - a}
            launched_at, thread = n.launch.start, n.launch.lane
        elif main is not None:
            launched_at, thread = b, main
        else:
            return {"other": b - a}
        data = covered(self.on_thread(thread, "data"), a, min(launched_at, b))
        last_end = max((s.end for s in real if s.end <= a), default=None)
        late_for_sync = self._comes_from_sync(thread, a, last_end, launched_at)
        return {"data_wait": data, "sync" if late_for_sync else "launch": b - a - data}

    def _comes_from_sync(self, thread: Lane, a: int, last_end: int | None, launched_at: int) -> bool:
        launches = self.on_thread(thread, "launch")
        for sync in self.on_thread(thread, "sync"):
            if sync.start <= a < sync.end:
                return True
            ended_between = (last_end is None or last_end <= sync.end) and sync.end <= launched_at
            if ended_between and not any(sync.end <= call.start < launched_at for call in launches):
                return True
        return False

    def _host_budget(self, span: Span) -> Numbers:
        main = self.main_thread
        labelled = [(s.start, s.end, kind) for kind in ("data", "sync", "op") for s in self.on_thread(main, kind)]
        labelled += [(s.start, s.end, "communication") for s in self.of_kind("communication")]
        spent: Counter[str] = Counter()
        for begin, finish, kinds in pieces(labelled, *span):
            holds = next((kind for kind in ("data", "communication", "sync", "op") if kind in kinds), "none")
            spent[holds] += finish - begin
        return {
            "basis": "host",
            "compute_ns": spent["op"],
            "communication_exposed_ns": spent["communication"],
            "copy_exposed_ns": 0,
            "idle_ns": spent["data"] + spent["sync"] + spent["none"],
            "idle_data_wait_ns": spent["data"],
            "idle_sync_ns": spent["sync"],
            "idle_launch_ns": None,
            "idle_other_ns": spent["none"],
        }

    # ---- step trace ----

    def phase_points(self, span: Span) -> tuple[int | None, int | None]:
        """Start of the first forward op after the last data slice, and end of the last autograd node."""
        first, last = span
        main = self.main_thread
        nodes = [s for s in self.of_kind("op") if first <= s.start < last and is_autograd_node(s.name)]
        data_end = max((s.end for s in self.on_thread(main, "data") if first <= s.start < last), default=first)
        forward = [
            s.start
            for s in self.on_thread(main, "op")
            if first <= s.start < last and s.start >= data_end and _is_forward(s, nodes)
        ]
        return min(forward, default=None), max((s.end for s in nodes), default=None)

    def accumulates(self, span: Span) -> bool:
        """Whether backward runs in a step before its last batch is there."""
        forward, _ = self.phase_points(span)
        nodes = [s for s in self.of_kind("op") if is_autograd_node(s.name) and s.start < span[1] and s.end > span[0]]
        return forward is not None and any(s.start <= forward for s in nodes)

    def step_parts(self, begins: int, span: Span) -> Numbers:
        """Interval, forward+backward, tail and total of a step whose predecessor ended at `begins`."""
        forward, backward = self.phase_points(span)
        total = {"total_ns": span[1] - begins}
        if forward is None or backward is None or not begins <= forward <= backward <= span[1]:
            return {"interval_ns": None, "forward_backward_ns": None, "tail_ns": None, **total}
        parts = {"interval_ns": forward - begins, "forward_backward_ns": backward - forward}
        return {**parts, "tail_ns": span[1] - backward, **total}

    def communication(self, span: Span) -> list[Numbers]:
        """Collectives that start in a step."""
        host = [s for s in self.of_kind("communication") if s.dur is not None]
        device = [s for s in self.timed_work if s.kind == "communication"]
        found = [s for s in (*host, *device) if span[0] <= s.start < span[1]]
        return [{"name": s.name, "start_ns": s.start, "dur_ns": s.dur} for s in found]

    # ---- operators ----

    def host_ops(self) -> dict[str, Numbers]:
        """Host time by name: total counts a nested op of the same name once, self leaves out the ops inside."""
        inside: dict[Slice, list[Slice]] = defaultdict(list)
        ops = self.of_kind("op")
        for op in ops:
            if op.outer_op is not None:
                inside[op.outer_op].append(op)
        executions = [
            (op.name, op.dur or 0, (op.dur or 0) - covered(inside[op], op.start, op.end), _is_outermost(op))
            for op in ops
        ]
        return _table(executions)

    def device_ops(self) -> dict[str, Numbers]:
        """Device time by operator; device slices that no operator launched under their kind."""
        clipped = self.clipped
        own: Counter[Slice] = Counter()
        total: Counter[Slice] = Counter()
        active: dict[Slice, None] = {}
        executions = []
        for s in self.timed_work:
            op = s.launch.outer_op if s.launch else None
            if op is None:
                executions.append((f"[{s.kind} without operator]", clipped[s], clipped[s], True))
                continue
            own[op] += clipped[s]
            while op is not None:
                total[op] += clipped[s]
                active[op] = None
                op = op.outer_op
        executions += [(op.name, total[op], own[op], _is_outermost(op)) for op in active]
        return _table(executions)

    def kernels(self) -> dict[str, Numbers]:
        """Device slices by name."""
        return _table([(s.name, dur, dur, True) for s, dur in self.clipped.items()])

    @cached_property
    def clipped(self) -> dict[Slice, int]:
        """Durations for sums by name: an overrunning slice ends where the next later one of its stream starts."""
        durations: dict[Slice, int] = {}
        for s in self.timed_work:
            durations[s] = s.end - s.start
            stream = self._by_stream[s.lane]
            swallowed = [
                o
                for o in stream
                if s.start < o.start < s.end and o.end <= s.end and _has_own_correlation(o, s.correlation)
            ]
            if len(swallowed) >= SWALLOWED:
                durations[s] = min(o.start for o in stream if o.start > s.start) - s.start
        return durations


def _ns(microseconds: Any) -> int:
    value = Decimal(microseconds) * 1000
    assert value == value.to_integral_value(), f"{microseconds} us is no whole number of ns"
    return int(value)


def _is_untimed_at_zero(event: dict[str, Any]) -> bool:
    return event["ph"] == "X" and event.get("dur") is None and not event["ts"]


def _nest(slices: list[Slice]) -> None:
    """The parent is the innermost earlier slice of the thread that contains a slice; one of no length holds none."""
    slices.sort(key=lambda s: (s.start, -(s.dur or 0), s.order))
    around: list[Slice] = []
    for s in slices:
        while around and (around[-1].end < s.end or not around[-1].dur):
            around.pop()
        s.parent = around[-1] if around else None
        around.append(s)


def _labelled(work: Iterable[Slice]) -> list[tuple[int, int, str]]:
    return [(s.start, s.end, PART_OF_KIND[s.kind]) for s in work]


def _device_times(work: list[Slice]) -> Numbers:
    timed = [s for s in work if s.dur is not None]
    first, last = min((s.start for s in timed), default=0), max((s.end for s in timed), default=0)
    spent: Counter[str] = Counter()
    for begin, finish, parts in pieces(_labelled(timed), first, last):
        for name in parts:
            spent[name] += finish - begin
        spent["busy"] += (finish - begin) * bool(parts)
        spent["overlapped"] += (finish - begin) * ({"compute", "communication"} <= parts)
        spent["kernels"] += (finish - begin) * bool({"compute", "communication"} & parts)
        spent["copy_exposed"] += (finish - begin) * (parts == {"copy"})
    kernels = [s for s in timed if s.kind in ("kernel", "communication")]
    window = max((s.end for s in kernels), default=0) - min((s.start for s in kernels), default=0)
    return {
        "ops": len(work),
        "linked_ops": sum(s.launch is not None for s in work),
        "span_ns": last - first,
        "busy_ns": spent["busy"],
        "idle_ns": last - first - spent["busy"],
        "compute_ns": spent["compute"],
        "communication_ns": spent["communication"],
        "communication_overlapped_ns": spent["overlapped"],
        "communication_exposed_ns": spent["communication"] - spent["overlapped"],
        "copy_ns": spent["copy"],
        "copy_exposed_ns": spent["copy_exposed"],
        "streams": len({s.lane for s in work}),
        "kernel_busy_share": spent["kernels"] / window if window else None,
    }


def _has_own_correlation(s: Slice, other: int | None) -> bool:
    return other is None or s.correlation != other


def _is_forward(op: Slice, nodes: list[Slice]) -> bool:
    """Whether an op is neither of the data loader nor of the optimizer nor of backward, and backward is still to come.

    A range that says `forward` decides by itself.
    """
    if is_autograd_node(op.name):
        return False
    around = op.parent
    while around is not None:
        if around.kind == "data" or (around.kind == "op" and is_autograd_node(around.name)):
            return False
        phase = phase_root(around.kind, around.name)
        if phase is not None or is_optimizer_step(around.name):
            return phase == "forward"
        around = around.parent
    return any(node.start > op.start for node in nodes)


def _is_outermost(op: Slice) -> bool:
    """Whether no operator around it has the same name."""
    around = op.outer_op
    while around is not None:
        if around.name == op.name:
            return False
        around = around.outer_op
    return True


def _table(executions: list[tuple[str, int, int, bool]]) -> dict[str, Numbers]:
    """Rows by name out of (name, total, self, whether no namesake is around it)."""
    by_name: dict[str, list[tuple[int, int, bool]]] = defaultdict(list)
    for name, total, own, outermost in executions:
        by_name[name].append((total, own, outermost))
    everything = sum(own for _, _, own, _ in executions)
    rows = {}
    for name, group in by_name.items():
        totals = [total for total, _, _ in group]
        own = sum(own for _, own, _ in group)
        rows[name] = {
            "count": len(group),
            "total_ns": sum(total for total, _, outermost in group if outermost),
            "self_ns": own,
            "mean_ns": mean(totals),
            "min_ns": min(totals),
            "max_ns": max(totals),
            "p50_ns": quantile(totals, P50),
            "p90_ns": quantile(totals, P90),
            "share": own / everything if everything else None,
        }
    return rows


def step_id(marker: Slice) -> int | None:
    """The source's number of a step."""
    return step_number(marker.name)
