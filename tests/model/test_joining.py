"""Parts joined to a whole hold what the parts hold alone, whatever numbers each gives its threads, names and ids."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laptime.model.builder import BASE_KIND_CODE, GivenStep, Op, TraceBuilder
from laptime.model.joining import Joiner, first_time
from laptime.model.tracks import TrackKey
from laptime.model.vocabulary import FLOW_KINDS, NULL

PID = "77"
KINDS = ("op", "launch", "sync", "scope")


@dataclass(frozen=True)
class Slice:
    """A slice in words; `thread` is a name."""

    thread: str
    name: str
    start: int
    dur: int
    kind: str
    op: str | None = None
    stack: str | None = None
    args: str | None = None
    correlation: int | None = None


@dataclass(frozen=True)
class Part:
    """What a window recorded; `numbers` are its own for threads. Links are pairs of places in `slices`."""

    numbers: dict[str, str]
    slices: tuple[Slice, ...]
    links: tuple[tuple[int, int], ...] = ()
    flows: tuple[tuple[str, int, int], ...] = ()
    counters: tuple[tuple[str, int, float], ...] = ()
    blocks: tuple[tuple[int, int, int], ...] = ()
    """(place of the slice that made it, begin, size)."""


_made: list[TraceBuilder] = []


@pytest.fixture(autouse=True, scope="module")
def _closed() -> Iterator[None]:
    """Closes the files of all builders in the end."""
    yield
    for builder in _made:
        builder.spool.discard()


def empty(folder: Path) -> TraceBuilder:
    """A builder that holds nothing yet."""
    folder.mkdir(exist_ok=True)
    _made.append(TraceBuilder(folder))
    return _made[-1]


def build(part: Part, folder: Path) -> TraceBuilder:
    """The part as an importer would hand it over."""
    builder = empty(folder)
    for name, number in part.numbers.items():
        builder.tracks.thread_names[PID, number] = name
    ops: dict[str, int] = {}
    for row in part.slices:
        args = (row.args or "").encode()
        op = -1 if row.op is None else ops.get(row.op, -1)
        if row.op is not None and op < 0:
            op = ops[row.op] = builder.add_op(Op(row.op, row.op.upper()))
        values = {
            "track": builder.tracks.code(TrackKey("thread", PID, part.numbers[row.thread])),
            "start": row.start,
            "dur": row.dur,
            "name": builder.names.code(row.name),
            "category": builder.categories.code(row.kind),
            "kind": BASE_KIND_CODE[row.kind],
            "op": op,
            "call_stack": -1 if row.stack is None else builder.texts["call_stack"].code(row.stack),
            "args_start": builder.spool.add(args) if args else 0,
            "args_length": len(args),
            "correlation": NULL if row.correlation is None else row.correlation,
        }
        builder.add_slices(1, {key: np.array([value], np.int64) for key, value in values.items()})
    for before, after in part.links:
        add(builder.links, {"from": before, "to": after, "kind": FLOW_KINDS.index("launch")})
    for thread, time, identity in part.flows:
        place = builder.place(PID, part.numbers[thread])
        add(builder.flow_points, {"track": place, "ts": time, "id": identity, "name": builder.names.code("flow")})
    for name, time, value in part.counters:
        track = builder.tracks.code(TrackKey("counter", PID, "", name=name, unit="bytes"))
        add(builder.counters, {"track": track, "ts": time, "value": value})
    for maker, start, size in part.blocks:
        name = builder.names.code(f"block of {size}")
        add(builder.allocations, {"slice": maker, "start": start, "size": size, "name": name, "address": 4096})
    builder.read = len(part.slices)
    return builder


def add(rows: object, values: dict[str, float]) -> None:
    """One row."""
    rows.append(1, {key: np.array([value]) for key, value in values.items()})  # type: ignore[attr-defined]  # Rows


def in_words(builder: TraceBuilder, shift: int = 0) -> dict[str, list[tuple[object, ...]]]:
    """The rows of a builder without its numbers: tracks, names and operators in words; times later by `shift`."""
    threads = [
        builder.tracks.thread_names.get((key.pid, key.tid), "") or f"{key.kind} {key.name} {key.unit}"
        for key in builder.tracks.keys
    ]
    columns = {key: builder.slices.joined(key) for key in ("track", "start", "dur", "name", "category", "kind", "op")}
    columns |= {key: builder.slices.joined(key) for key in ("call_stack", "args_start", "args_length")}
    args = builder.spool.reader().gather(columns["args_start"], columns["args_length"]).to_pylist()
    names, stacks = builder.names.texts, builder.texts["call_stack"].texts
    slices = [
        (
            threads[row["track"]],
            names[row["name"]],
            row["start"] + shift,
            row["dur"],
            builder.categories.texts[row["category"]],
            row["kind"],
            None if row["op"] < 0 else builder.ops[row["op"]],
            None if row["call_stack"] < 0 else stacks[row["call_stack"]],
            text,
        )
        for row, text in zip(as_rows(columns), args, strict=True)
    ]
    pairs = builder.place_pairs
    return {
        "slices": slices,
        "links": [
            (slices[row["from"]], slices[row["to"]], row["kind"]) for row in of(builder.links, "from", "to", "kind")
        ],
        "flows": [
            (builder.tracks.thread_names[pairs[row["track"]]], row["ts"] + shift, names[row["name"]])
            for row in of(builder.flow_points, "track", "ts", "name")
        ],
        "counters": [
            (threads[row["track"]], row["ts"] + shift, row["value"])
            for row in of(builder.counters, "track", "ts", "value")
        ],
        "blocks": [
            (slices[row["slice"]], row["start"] + shift, row["size"], names[row["name"]], row["address"])
            for row in of(builder.allocations, "slice", "start", "size", "name", "address")
        ],
    }


def of(rows: object, *keys: str) -> list[dict[str, int]]:
    """Some columns of rows, which keep them."""
    return as_rows({key: rows.joined(key) for key in keys})  # type: ignore[attr-defined]  # Rows


def as_rows(columns: dict[str, np.ndarray]) -> list[dict[str, int]]:
    """Columns as dictionaries."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*(c.tolist() for c in columns.values()), strict=True)]


def joined(parts: list[Part], shifts: list[int], folder: Path) -> TraceBuilder:
    """All parts in one builder."""
    whole = empty(folder)
    joiner = Joiner(whole)
    for number, (part, shift) in enumerate(zip(parts, shifts, strict=True)):
        joiner.join(build(part, folder / f"part{number}"), shift_ns=shift)
    return whole


def assert_holds_all(parts: list[Part], shifts: list[int], folder: Path) -> TraceBuilder:
    """The whole is the parts one after the other."""
    whole = joined(parts, shifts, folder)
    wanted: dict[str, list[tuple[object, ...]]] = {
        key: [] for key in ("slices", "links", "flows", "counters", "blocks")
    }
    for number, (part, shift) in enumerate(zip(parts, shifts, strict=True)):
        for key, rows in in_words(build(part, folder / f"alone{number}"), shift).items():
            wanted[key] += rows
    assert in_words(whole) == wanted
    assert whole.read == sum(len(part.slices) for part in parts)
    return whole


# ---- by hand ----

FIRST = Part(
    numbers={"interpreter": "0", "worker": "1"},
    slices=(
        Slice("interpreter", "call", 10, 5, "launch", op="conv", stack="a.py(1): f", args='{"x": 1}', correlation=1),
        Slice("worker", "run", 12, 6, "op", op="conv", correlation=1),
        Slice("worker", "rest", 30, 2, "scope"),
    ),
    links=((0, 1),),
    flows=(("interpreter", 10, 5), ("worker", 12, 5)),
    counters=(("memory", 11, 2.5),),
    blocks=((1, 13, 64),),
)
SECOND = Part(
    numbers={"worker": "0", "interpreter": "1", "loader": "2"},
    slices=(
        Slice("loader", "fetch", 1, 1, "scope", args='{"y": 22}'),
        Slice("worker", "run", 3, 4, "op", op="pool", stack="b.py(2): g", correlation=1),
        Slice("interpreter", "call", 2, 1, "launch", op="conv", stack="a.py(1): f", args='{"x": 1}', correlation=1),
    ),
    links=((2, 1),),
    flows=(("worker", 3, 5),),
    counters=(("memory", 4, 1.5), ("other", 5, 0.0)),
    blocks=((1, 3, 128),),
)


def test_threads_with_other_numbers_in_each_window_are_one(tmp_path: Path) -> None:
    whole = assert_holds_all([FIRST, SECOND], [1000, 2000], tmp_path)
    threads = [key.tid for key in whole.tracks.keys if key.kind == "thread"]
    assert len(threads) == 3
    assert sorted(whole.tracks.thread_names.values()) == ["interpreter", "loader", "worker"]


def test_operators_of_the_same_words_become_one(tmp_path: Path) -> None:
    whole = joined([FIRST, SECOND], [0, 100], tmp_path)
    assert [op.name for op in whole.ops] == ["conv", "pool"]


def test_ids_of_one_part_meet_none_of_another(tmp_path: Path) -> None:
    whole = joined([FIRST, SECOND], [0, 100], tmp_path)
    first, second = np.split(whole.slices.joined("correlation"), [len(FIRST.slices)])
    assert first[0] == first[1] != NULL and first[2] == NULL
    assert second[1] == second[2] != NULL and second[0] == NULL
    assert not set(first[:2].tolist()) & set(second[1:].tolist())
    flows = whole.flow_points.joined("id").tolist()
    assert flows[0] == flows[1] != flows[2]


def test_a_thread_without_a_name_keeps_its_number(tmp_path: Path) -> None:
    part = empty(tmp_path / "unnamed")
    track = part.tracks.code(TrackKey("thread", PID, "9"))
    part.add_slices(1, {"track": np.array([track]), "start": np.array([1]), "dur": np.array([1])})
    whole = joined([FIRST], [0], tmp_path)
    code = Joiner(whole).join(part, shift_ns=5).tracks[track]
    assert whole.tracks.keys[code] == TrackKey("thread", PID, "9")


def test_the_place_of_a_track_is_told(tmp_path: Path) -> None:
    whole = empty(tmp_path)
    joiner = Joiner(whole)
    joiner.join(build(FIRST, tmp_path / "a"), shift_ns=0)
    second = joiner.join(build(SECOND, tmp_path / "b"), shift_ns=0)
    assert second.first_slice == len(FIRST.slices)
    assert [whole.tracks.thread_names[PID, whole.tracks.keys[code].tid] for code in second.tracks[:3]] == [
        "loader",
        "worker",
        "interpreter",
    ]


def test_sums_and_warnings_add_up(tmp_path: Path) -> None:
    whole = empty(tmp_path)
    joiner = Joiner(whole)
    for number, part in enumerate((FIRST, SECOND)):
        built = build(part, tmp_path / str(number))
        built.warnings.add("other", "odd", 2)
        built.drop("untimed")
        built.op_totals["device"].append((0, 1, 10 * (number + 1), None))
        joiner.join(built, shift_ns=0)
    assert whole.warnings.counts == {("other", "odd"): 4}
    assert whole.dropped == {"untimed": 2}
    assert [(whole.ops[op].name, *rest) for op, *rest in whole.op_totals["device"]] == [
        ("conv", 1, 10, None),
        ("pool", 1, 20, None),
    ]


@pytest.mark.parametrize(("steps", "earliest"), [([], 10), ([GivenStep(1, 4, 40, "step 1")], 4)])
def test_the_earliest_time_of_a_part(steps: list[GivenStep], earliest: int, tmp_path: Path) -> None:
    part = build(FIRST, tmp_path / "part")
    part.steps = steps
    assert first_time(part) == earliest


# ---- by chance ----

_NAMES = ("interpreter", "worker", "cpux:0", "loader")
_WORDS = st.sampled_from(["add", "mul", "conv", "übung"])


@st.composite
def parts(draw: st.DrawFn) -> Part:
    """A window with some of the threads, numbered anyhow."""
    names = draw(st.lists(st.sampled_from(_NAMES), min_size=1, unique=True))
    numbers = draw(st.permutations(range(len(names))))
    slices = draw(
        st.lists(
            st.builds(
                Slice,
                thread=st.sampled_from(names),
                name=_WORDS,
                start=st.integers(0, 1000),
                dur=st.integers(0, 100),
                kind=st.sampled_from(KINDS),
                op=st.none() | _WORDS,
                stack=st.none() | _WORDS,
                args=st.none() | _WORDS,
                correlation=st.none() | st.integers(0, 9),
            ),
            min_size=1,
            max_size=6,
        )
    )
    places = st.integers(0, len(slices) - 1)
    return Part(
        numbers=dict(zip(names, map(str, numbers), strict=True)),
        slices=tuple(slices),
        links=tuple(draw(st.lists(st.tuples(places, places), max_size=3))),
        flows=tuple(
            draw(st.lists(st.tuples(st.sampled_from(names), st.integers(0, 99), st.integers(0, 9)), max_size=3))
        ),
        counters=tuple(draw(st.lists(st.tuples(_WORDS, st.integers(0, 99), st.floats(0, 9)), max_size=3))),
        blocks=tuple(draw(st.lists(st.tuples(places, st.integers(0, 99), st.integers(1, 9)), max_size=3))),
    )


@settings(max_examples=60)
@given(windows=st.lists(st.tuples(parts(), st.integers(0, 10**6)), min_size=1, max_size=4))
def test_a_whole_holds_what_its_parts_hold(windows: list[tuple[Part, int]]) -> None:
    chosen, shifts = [part for part, _ in windows], [shift for _, shift in windows]
    with tempfile.TemporaryDirectory() as folder:
        whole = assert_holds_all(chosen, shifts, Path(folder))
    names = {name for part in chosen for name in part.numbers}
    assert sorted(whole.tracks.thread_names.values()) == sorted(names)
    seen: set[int] = set()
    for own in np.split(whole.slices.joined("correlation"), np.cumsum([len(part.slices) for part in chosen])[:-1]):
        ids = set(own[own != NULL].tolist())
        assert not ids & seen
        seen |= ids
