"""MegEngine's memory_flow.svg: a drawing recorded by us against a plain reading of its attributes; damage; bad XML."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from laptime.analyses.memory import memory
from laptime.analyses.report import report
from laptime.errors import LaptimeError
from laptime.importers.megengine_memory_flow import SOURCE_OP_ID, amount
from laptime.importers.opening import open_run
from laptime.model.trace import Trace
from laptime.model.workspace import Workspace
from tests.conftest import SAMPLES
from tests.fuzz.mutations import mutated
from tests.laws.report_checks import assert_consistent

SAMPLE = SAMPLES / "megengine_memory" / "train.memory_flow.svg.gz"
TEXT = gzip.decompress(SAMPLE.read_bytes())
MUTATIONS = 150
HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">\n'
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:tag="https://megengine.org.cn" width="1" height="1">\n'
)
_UNITS = {"ns": 1, "us": 1000, "ms": 1000**2, "s": 1000**3, "B": 1, "KB": 1024, "MB": 1024**2, "GB": 1024**3}


def plainly_read(text: bytes) -> list[dict[str, str]]:
    """Attributes of each tensor, by regular expressions."""
    rects = re.findall(r"<rect ([^>]*)>", text.decode())
    found = [dict(re.findall(r'tag:(\w+)="([^"]*)"', rect)) for rect in rects]
    return [attributes for attributes in found if attributes]


def number(text: str) -> int:
    return sum(int(count) * _UNITS[unit] for count, unit in re.findall(r"(\d+)([A-Za-z]+)", text))


def rect(
    name: str = "step.ADD:0", produced: str = "1us ", erased: str = "2us ", size: str = "4B ", more: str = ""
) -> str:
    return (
        f'<rect x="0" y="0" height="1" width="1" fill="#CCCCCC" tag:type="tensor" tag:name="{name}" '
        f'tag:address="0x10" tag:size="{size}" tag:layout="{{1(1) Int32}}" tag:produced="{produced}" '
        f'tag:erased="{erased}" tag:duration="1us " {more}>\n</rect>\n'
    )


def opened(text: str | bytes, folder: Path, workspace: Workspace) -> Trace:
    path = folder / "7.memory_flow.svg"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return open_run(path, workspace=workspace).traces[0]


def rows_of(trace: Trace) -> list[dict[str, Any]]:
    return trace.table("allocations").arrow().to_pylist()  # type: ignore[no-any-return]


def warnings_of(trace: Trace) -> dict[str, int]:
    listed = trace.meta["warnings"]
    assert isinstance(listed, list)
    return {row["code"]: row["count"] for row in listed}


def test_every_tensor_has_its_life(workspace: Workspace) -> None:
    trace = open_run(SAMPLE, workspace=workspace).traces[0]
    told = plainly_read(TEXT)
    assert len(told) > 300
    assert trace.meta["events"] == {"read": len(told), "kept": len(told), "dropped": {}}
    assert (trace.meta["format"], trace.meta["framework"]) == ("megengine_memory_flow", "megengine")
    ops = trace.ops.arrow().to_pylist()
    for row, tags in zip(rows_of(trace), told, strict=True):
        assert row["size_bytes"] == number(tags["size"])
        assert (row["start_ns"], row["end_ns"]) == (number(tags["produced"]), number(tags["erased"]))
        assert row["end_ns"] - row["start_ns"] == number(tags["duration"])
        assert (row["address"], row["name"] or "") == (int(tags["address"], 16), tags["name"])
        assert row["layout"] == tags["layout"]
        assert (row["op_id"] is None) == ("group" not in tags)
        if row["op_id"] is not None:
            op = ops[row["op_id"]]
            assert json.loads(op["info"]) == {SOURCE_OP_ID: int(tags["group"])}
            assert op["op_type"] == tags["name"].rpartition(".")[2].partition(":")[0]
    assert len(ops) == len({tags["group"] for tags in told if "group" in tags})


def test_outputs_of_one_operator_share_it(tmp_path: Path, workspace: Workspace) -> None:
    both = rect("a[1].bn.BatchNorm:0", more='tag:group="5"') + rect("a[1].bn.BatchNorm:1", more='tag:group="5"')
    trace = opened(HEAD + both + "</svg>", tmp_path, workspace)
    assert [row["op_id"] for row in rows_of(trace)] == [0, 0]
    (op,) = trace.ops.arrow().to_pylist()
    assert (op["name"], op["full_name"], op["module"]) == ("BatchNorm", "a[1].bn.BatchNorm", "a/bn")


@pytest.mark.parametrize("name", ["x.bin", "noname", "a.json.gz"])
def test_it_is_recognised_under_a_wrong_name(name: str, tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / name).write_bytes(gzip.compress(TEXT) if name.endswith("gz") else TEXT)
    found = open_run(tmp_path / name, workspace=workspace).traces[0]
    assert rows_of(found) == rows_of(open_run(SAMPLE, workspace=workspace).traces[0])


def test_other_drawings_are_no_recordings(tmp_path: Path, workspace: Workspace) -> None:
    with pytest.raises(LaptimeError, match="not a recording"):
        opened('<svg xmlns="http://www.w3.org/2000/svg"><rect/></svg>', tmp_path, workspace)


@pytest.mark.parametrize("wrapped", ["plain", "gzip"])
def test_cut_short_it_keeps_whole_tensors(wrapped: str, tmp_path: Path, workspace: Workspace) -> None:
    data = TEXT if wrapped == "plain" else gzip.compress(TEXT, mtime=0)
    in_all, before = len(plainly_read(TEXT)), 0
    places = sorted({len(data) * part // 15 for part in range(1, 15)} | {1, 30, 300, len(data) - 9, len(data) - 3})
    for length in places:
        try:
            trace = opened(data[:length], tmp_path, workspace)
        except LaptimeError as error:
            assert "\n" not in str(error)
            assert before == 0
            continue
        rows = len(rows_of(trace))
        assert before <= rows <= in_all
        assert "truncated" in warnings_of(trace)
        if wrapped == "plain":
            assert rows == len(plainly_read(data[:length]))
        before = rows
    assert before > in_all // 2


def test_tensors_after_damage_are_left_out_with_its_place(tmp_path: Path, workspace: Workspace) -> None:
    trace = opened(HEAD + rect() + "<rect </svg>" + rect() + "</svg>", tmp_path, workspace)
    assert len(rows_of(trace)) == 1
    (warning,) = trace.meta["warnings"]  # type: ignore[misc]
    assert (warning["code"], "byte" in warning["message"]) == ("truncated", True)


@pytest.mark.parametrize(
    "declared",
    [
        '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">',
        '<!ENTITY secret SYSTEM "file:///etc/passwd">',
        '<!ENTITY % outside SYSTEM "http://127.0.0.1/x.dtd"> %outside;',
    ],
    ids=["nested", "file", "parameter"],
)
def test_entities_are_refused(declared: str, tmp_path: Path, workspace: Workspace) -> None:
    text = HEAD.replace('"http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"', f'"x" [{declared}]')
    with pytest.raises(LaptimeError, match="entities") as caught:
        opened(text + rect("&a;&b;&secret;") + "</svg>", tmp_path, workspace)
    assert "\n" not in str(caught.value)


def test_references_to_unknown_entities_stay_text(tmp_path: Path, workspace: Workspace) -> None:
    trace = opened(HEAD + rect("&secret;") + "</svg>", tmp_path, workspace)
    assert [row["name"] for row in rows_of(trace)] == ["&secret;"]


def test_nesting_without_end_is_damage(tmp_path: Path, workspace: Workspace) -> None:
    trace = opened(HEAD + rect() + "<g>" * 100_000 + rect(), tmp_path, workspace)
    assert (len(rows_of(trace)), "truncated" in warnings_of(trace)) == (1, True)


def test_a_tag_without_end_is_damage(tmp_path: Path, workspace: Workspace) -> None:
    trace = opened(HEAD + rect() + '<rect tag:name="' + "x" * 4_000_000 + '"/></svg>', tmp_path, workspace)
    (warning,) = trace.meta["warnings"]  # type: ignore[misc]
    assert (len(rows_of(trace)), warning["code"]) == (1, "truncated")
    assert warning["message"].startswith("no end of a tag within 1 MiB")


def test_names_that_are_no_xml_are_read(tmp_path: Path, workspace: Workspace) -> None:
    """MegEngine writes the names of scopes as they are."""
    names = ['a<b & "c" é.ADD:0', "x && y.MUL:0", "x &amp; y.MUL:0"]
    trace = opened(HEAD + "".join(map(rect, names)) + "</svg>", tmp_path, workspace)
    assert [row["name"] for row in rows_of(trace)] == [*names[:2], "x & y.MUL:0"]
    assert warnings_of(trace) == {"other": 2}


@pytest.mark.parametrize(
    ("start", "end", "life"),
    [
        ("", "2us ", (0, 2000)),
        ("1us ", "", (1000, None)),
        ("1s 2ms 3us 4ns ", "5s ", (1_002_003_004, 5_000_000_000)),
        ("3us ", "3us ", (3000, 3000)),
        ("3us ", "2us 999ns ", (3000, 3000)),  # each rounded by itself
    ],
)
def test_lives(start: str, end: str, life: object, tmp_path: Path, workspace: Workspace) -> None:
    (row,) = rows_of(opened(HEAD + rect(produced=start, erased=end) + "</svg>", tmp_path, workspace))
    assert (row["start_ns"], row["end_ns"]) == life


@pytest.mark.parametrize(
    "broken",
    [
        {"size": "4 apples"},
        {"size": "9999999999GB "},
        {"produced": "3us "},
        {"produced": "3us ", "erased": "2us 998ns "},
        {"produced": "1 day"},
        {"erased": "soon"},
    ],
    ids=str,
)
def test_tensors_that_tell_no_life_are_counted(broken: dict[str, str], tmp_path: Path, workspace: Workspace) -> None:
    trace = opened(HEAD + rect(**broken) + rect() + "</svg>", tmp_path, workspace)
    assert len(rows_of(trace)) == 1
    assert trace.meta["events"] == {"read": 2, "kept": 1, "dropped": {"unreadable": 1}}
    assert warnings_of(trace) == {"other": 1}


@pytest.mark.parametrize(
    ("text", "units", "value"),
    [
        ("1GB 2MB 3KB 4B ", {"GB": 2**30, "MB": 2**20, "KB": 2**10, "B": 1}, 2**30 + 2 * 2**20 + 3 * 2**10 + 4),
        ("", {"B": 1}, 0),
        ("7", {"B": 1}, None),
        ("7XB", {"B": 1}, None),
        ("7B!", {"B": 1}, None),
    ],
)
def test_amounts(text: str, units: dict[str, int], value: int | None) -> None:
    assert amount(text, units) == value


def test_mutated_it_never_crashes(tmp_path: Path, workspace: Workspace) -> None:
    text = TEXT[:30_000]
    for seed in range(MUTATIONS):
        damaged = mutated(text, [TEXT[30_000:60_000]], Random(f"svg{seed}"))
        try:
            trace = opened(damaged, tmp_path, workspace)
        except LaptimeError as error:
            assert "\n" not in str(error)
            continue
        json.dumps(memory(trace).as_json, allow_nan=False)
        assert_consistent(report(open_run(tmp_path / "7.memory_flow.svg", workspace=workspace)))
