"""The drawing of memory: whole in a browser, sound XML, exact when it is read again."""

from __future__ import annotations

import gzip
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import laptime.exports.memory_flow as drawing
from laptime.analyses.memory import memory
from laptime.errors import LaptimeError
from laptime.exports.memory_flow import write_memory_flow
from laptime.exports.memory_flow_layout import by_address, has_addresses, packed
from laptime.exports.svg import escaped, size_ticks, time_ticks
from laptime.importers.opening import open_run
from laptime.model.trace import Trace
from laptime.model.vocabulary import NULL
from laptime.model.workspace import Workspace
from tests.cli.recordings import MEMORY_DRAWING, TINY, TORCH, slice_of, written

SVG = "{http://www.w3.org/2000/svg}"
TAG = "{https://megengine.org.cn}"
SAMPLES = [MEMORY_DRAWING, TORCH / "memory.pt.trace.json.gz"]
_KEPT = ("device", "address", "size_bytes", "start_ns", "end_ns", "name", "layout")


def opened(path: Path, workspace: Workspace) -> Trace:
    return open_run(path, workspace=workspace).traces[0]


def drawn(trace: Trace, folder: Path) -> ElementTree.Element:
    write_memory_flow(trace, folder / "drawn.svg")
    return ElementTree.parse(folder / "drawn.svg").getroot()


def blocks_of(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [each for each in root.iter(f"{SVG}rect") if f"{TAG}size" in each.attrib]


def texts_of(root: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in root.iter(f"{SVG}text")]


def lives_of(trace: Trace) -> list[tuple[object, ...]]:
    return [tuple(row[key] for key in _KEPT) for row in trace.table("allocations").arrow().to_pylist()]


def changes(*rows: tuple[int, int, int], device: int = 0) -> list[dict[str, Any]]:
    """`[memory]` events: time in us, address, bytes."""
    return [
        {
            "ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": time,
            "args": {"Addr": address, "Bytes": size, "Device Type": 1, "Device Id": device},
        }
        for time, address, size in rows
    ]  # fmt: skip


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name.split(".")[0])
@pytest.mark.parametrize("name", ["again.svg", "again.svg.gz", "again.svg.zst"])
def test_drawn_and_read_again_lives_are_equal(path: Path, name: str, tmp_path: Path, workspace: Workspace) -> None:
    trace = opened(path, workspace)
    write_memory_flow(trace, tmp_path / name)
    again = opened(tmp_path / name, workspace)
    assert lives_of(again) == lives_of(trace)
    first, second = (memory(each).as_json["devices"] for each in (trace, again))
    for before, after in zip(first, second, strict=True):  # type: ignore[call-overload]
        assert {**after, "live_at_peak": None} == {**before, "live_at_peak": None}
    assert again.meta["warnings"] == []


def test_operators_come_back_too(tmp_path: Path, workspace: Workspace) -> None:
    trace = opened(MEMORY_DRAWING, workspace)
    write_memory_flow(trace, tmp_path / "again.svg")
    keys = ("name", "op_type", "full_name", "module", "info")
    first, second = (
        [[row[key] for key in keys] for row in each.ops.arrow().to_pylist()]
        for each in (trace, opened(tmp_path / "again.svg", workspace))
    )
    assert first == second


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name.split(".")[0])
def test_everything_lies_inside_a_drawing_of_bounded_size(path: Path, tmp_path: Path, workspace: Workspace) -> None:
    root = drawn(opened(path, workspace), tmp_path)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert width <= 1200 and height <= 700
    assert root.attrib["viewBox"] == f"0 0 {width:.0f} {height:.0f}"
    blocks = blocks_of(root)
    assert len(blocks) > 100
    for each in [*blocks, *root.iter(f"{SVG}text")]:
        x, y = float(each.attrib["x"]), float(each.attrib["y"])
        assert 0 <= x <= width and 0 <= y <= height
    for each in blocks:
        wide, high = float(each.attrib["width"]), float(each.attrib["height"])
        assert wide >= 0.6 and high >= 0.6
        assert float(each.attrib["x"]) + wide <= width and float(each.attrib["y"]) + high <= height
        (title,) = each.iter(f"{SVG}title")
        assert title.text and "from " in title.text


def test_axes_legend_and_peak_are_told(tmp_path: Path, workspace: Workspace) -> None:
    texts = texts_of(drawn(opened(MEMORY_DRAWING, workspace), tmp_path))
    assert "Memory of train.memory_flow.svg.gz" in texts
    assert {"under 1 ms", "longer", "time", "20 ms", "100 KiB"} <= set(texts)
    assert any(text.startswith("live bytes; most ") and "335 blocks" in text for text in texts)


def test_a_panel_for_each_device(tmp_path: Path, workspace: Workspace) -> None:
    events = [
        slice_of("cpu_op", "aten::mm", 0, 9),
        *changes((1, 1 << 20, 100), (5, 1 << 20, -100)),
        *changes((2, 1 << 20, 100), (5, 1 << 30, -100), device=1),
    ]
    trace = opened(written(tmp_path / "two.json", events), workspace)
    root = drawn(trace, tmp_path)
    assert [text.split(":0")[0].split(":1")[0] for text in texts_of(root) if "live bytes" in text] == ["cuda", "cuda"]
    tops = {each.attrib[f"{TAG}device"]: float(each.attrib["y"]) for each in blocks_of(root)}
    assert tops["cuda:1"] - tops["cuda:0"] > 400
    write_memory_flow(trace, tmp_path / "again.svg")
    assert lives_of(opened(tmp_path / "again.svg", workspace)) == lives_of(trace)


def test_lives_without_a_beginning_or_an_end_reach_the_border(tmp_path: Path, workspace: Workspace) -> None:
    events = [
        slice_of("cpu_op", "aten::mm", 0, 9),
        *changes((2, 1 << 20, -100), (6, 1 << 21, 100), (8, 1 << 22, 50), (9, 1 << 22, -50)),
    ]
    root = drawn(opened(written(tmp_path / "open.json", events), workspace), tmp_path)
    blocks = {each.attrib[f"{TAG}address"]: each for each in blocks_of(root)}
    before, after = blocks[hex(1 << 20)], blocks[hex(1 << 21)]
    assert f"{TAG}produced" not in before.attrib and f"{TAG}erased" not in after.attrib
    assert float(before.attrib["x"]) == 90
    assert float(after.attrib["x"]) + float(after.attrib["width"]) == pytest.approx(1090, abs=0.02)


def test_odd_names_make_sound_xml(tmp_path: Path, workspace: Workspace) -> None:
    name = 'a<b>&"c"\x01 \x1b[31m\n漢字 &amp; \ud800'
    events = [slice_of("cpu_op", name, 0, 9), *changes((2, 1 << 20, 100))]
    trace = opened(written(tmp_path / "odd.json", events), workspace)
    (block,) = blocks_of(drawn(trace, tmp_path))
    shown = block.attrib[f"{TAG}name"]
    assert shown.startswith('a<b>&"c"\ufffd \ufffd[31m\n漢字 &amp; ')
    write_memory_flow(trace, tmp_path / "again.svg")
    (row,) = opened(tmp_path / "again.svg", workspace).table("allocations").objects("name")
    assert row == shown


def test_of_very_many_blocks_the_largest_are_drawn(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = opened(MEMORY_DRAWING, workspace)
    monkeypatch.setattr(drawing, "MOST_DRAWN", 20)
    root = drawn(trace, tmp_path)
    assert len(blocks_of(root)) == 20
    assert any("315 smaller or shorter blocks are not drawn" in text for text in texts_of(root))
    areas = [size * (end - start) for _, _, size, start, end, *_ in lives_of(trace)]  # type: ignore[operator]
    shown = [int(each.attrib[f"{TAG}size"][:-1]) * int(each.attrib[f"{TAG}duration"][:-2]) for each in blocks_of(root)]
    assert sum(shown) == pytest.approx(sum(sorted(areas)[-20:]), rel=0.01)


def test_without_blocks_there_is_no_drawing(tmp_path: Path, workspace: Workspace) -> None:
    with pytest.raises(LaptimeError, match="no blocks of memory"):
        write_memory_flow(opened(TINY, workspace), tmp_path / "none.svg")
    assert not list(tmp_path.glob("*.svg*"))


def test_the_same_trace_gives_the_same_bytes(tmp_path: Path, workspace: Workspace) -> None:
    trace = opened(MEMORY_DRAWING, workspace)
    for name in ("a.svg.gz", "b.svg.gz"):
        write_memory_flow(trace, tmp_path / name)
    first, second = ((tmp_path / name).read_bytes() for name in ("a.svg.gz", "b.svg.gz"))
    assert first == second and gzip.decompress(first).startswith(b"<?xml")


# ---- layout ----


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5)), min_size=1, max_size=20))
def test_addresses_without_gaps_count_used_bytes_below(listed: list[tuple[int, int]]) -> None:
    address, size = np.array([(4096 + begin, length) for begin, length in listed], np.int64).T
    offsets, total = by_address(address, size)
    used = {byte for begin, length in listed for byte in range(begin, begin + length)}
    assert total == len(used)
    for (begin, _), offset in zip(listed, offsets.tolist(), strict=True):
        assert offset == sum(byte < begin for byte in used)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.none() | st.integers(0, 12), st.none() | st.integers(0, 12)), max_size=14)
)
def test_packed_blocks_never_overlap(listed: list[tuple[int, int | None, int | None]]) -> None:
    lives = [(size, s, e) if None in (s, e) or s <= e else (size, e, s) for size, s, e in listed]  # type: ignore[operator]
    columns = [[NULL if value is None else value for value in column] for column in zip(*lives, strict=True)]
    size, start, end = (np.array(column, np.int64) for column in columns or [[], [], []])
    offsets, total = packed(size, start, end)
    ranges = [
        (offset, offset + length, -1 if s is None else s, 99 if e is None else e)
        for offset, (length, s, e) in zip(offsets.tolist(), lives, strict=True)
    ]
    assert total == max([0.0, *(high for _, high, _, _ in ranges)])
    for (low, high, s, e), (other_low, other_high, other_s, other_e) in combinations(ranges, 2):
        together = max(s, other_s) < min(e, other_e)
        assert not together or max(low, other_low) >= min(high, other_high)


def test_numbers_that_are_no_addresses() -> None:
    assert has_addresses(np.array([1 << 20, 1 << 40]))
    assert not has_addresses(np.array([1, 2, 1 << 40]))
    assert not has_addresses(np.array([NULL, 1 << 40]))


@pytest.mark.parametrize(
    ("ticks", "texts"),
    [
        (time_ticks(0, 116_484_903, at_most=10), ["0 ms", "20 ms", "40 ms", "60 ms", "80 ms", "100 ms"]),
        (time_ticks(-3, 7, at_most=6), ["-2 ns", "0 ns", "2 ns", "4 ns", "6 ns"]),
        (time_ticks(0, 0, at_most=6), ["0 ns"]),
        (size_ticks(0, 9_842_056, at_most=7), ["0 MiB", "2 MiB", "4 MiB", "6 MiB", "8 MiB"]),
        (size_ticks(0, 1, at_most=7), ["0 B", "1 B"]),
    ],
)
def test_ticks_are_round(ticks: list[tuple[int, str]], texts: list[str]) -> None:
    assert [text for _, text in ticks] == texts


def test_escaping() -> None:
    assert escaped('<a&"b">\0') == "&lt;a&amp;&quot;b&quot;&gt;\ufffd"
