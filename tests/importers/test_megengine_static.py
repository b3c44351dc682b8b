"""Profiles of MegEngine's compiled graphs: one recorded by us against its JSON and MegEngine's own tool; damage."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pytest

from laptime.analyses.operators import GROUPINGS, operator_table
from laptime.analyses.report import report
from laptime.analyses.selection import Selection
from laptime.errors import LaptimeError
from laptime.importers.megengine_static_mending import closed_json
from laptime.importers.opening import open_run
from laptime.model.trace import Run, Trace
from laptime.model.workspace import Workspace
from tests.conftest import SAMPLES
from tests.fuzz.mutations import mutated
from tests.laws.report_checks import assert_consistent

SAMPLE = SAMPLES / "megengine_memory" / "train.static_profile.gz"
TEXT = gzip.decompress(SAMPLE.read_bytes())
PROFILE: dict[str, Any] = json.loads(TEXT)
MUTATIONS = 150

# What `python -m megengine.tools.profile_analyze` 1.13.0 prints of the sample, in seconds:
TOOL_DEVICE_S, TOOL_HOST_S = 0.001317, 0.001433
TOOL_BY_TYPE = {  # --aggregate-by type --aggregate sum: time, operators, kFLO, MFLOPS, KiB, as printed
    "InputCallback": (0.000457, 17, None, None, 0),
    "Elemwise": (0.000244, 38, 40.19, 164.72, 392.62),
    "ConvolutionBackwardFilter": (0.000238, 1, 112.90, 474.35, 30.77),
    "MatrixMul": (0.000089, 6, 316.42, 3560, 102.56),
}


@pytest.fixture
def trace(workspace: Workspace) -> Trace:
    return open_run(SAMPLE, workspace=workspace).traces[0]


def opened(content: object, folder: Path, workspace: Workspace) -> Trace:
    path = folder / "profile.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return open_run(path, workspace=workspace).traces[0]


def rows_by_name(trace: Trace, **options: Any) -> dict[str, dict[str, Any]]:
    rows: list[dict[str, Any]] = operator_table(trace, **options).rows
    return {row["name"]: row for row in rows}


def warning_codes(trace: Trace) -> list[str]:
    listed = trace.meta["warnings"]
    assert isinstance(listed, list)
    return [row["code"] for row in listed]


def one_operator(**changes: Any) -> dict[str, Any]:
    """A graph of one multiplication that took 3 us on the device and 1 us on the host."""
    times = {"start": 0.000001, "kern": 0.000002, "end": 0.000004, **changes}
    return {
        "graph_exec": {
            "operator": {"4": {"id": "4", "name": "fc.MatrixMul", "type": "MatrixMul", "input": ["2", "3"]}},
            "var": {"2": {"mem_plan": {"layout": {"dtype": "Float32"}}}, "3": {"mem_plan": None}},
        },
        "profiler": {
            "device": {"4": {'CompNode("gpu0:0" from "gpux:0")': times}},
            "host": {"4": {"worker": {"start": 0, "kern": 0, "end": 0.000001}}},
            "opr_footprint": {"4": {"in_shapes": [[2, 3], [3, 4]], "out_shapes": [[2, 4]], "computation": 24}},
        },
    }


def _us(times: dict[str, dict[str, float]]) -> int:
    return max(round((entry["end"] - entry["start"]) * 1e6) for entry in times.values())


@pytest.mark.parametrize("on", ["device", "host"])
def test_sums_by_type_are_those_of_the_file(trace: Trace, on: str) -> None:
    spent: dict[str, list[int]] = defaultdict(list)
    for number, times in PROFILE["profiler"][on].items():
        spent[PROFILE["graph_exec"]["operator"][number]["type"]].append(_us(times))
    table = operator_table(trace, by="op-type", on=on)
    assert table.on == on
    assert {str(row["name"]): (row["count"], row["total_ns"]) for row in table.rows} == {
        name: (len(each), 1000 * sum(each)) for name, each in spent.items()
    }
    for row in table.rows:
        each = spent[str(row["name"])]
        assert (row["min_ns"], row["max_ns"]) == (1000 * min(each), 1000 * max(each))


def test_it_agrees_with_the_tool_of_megengine(trace: Trace) -> None:
    for on, seconds in (("device", TOOL_DEVICE_S), ("host", TOOL_HOST_S)):
        rows = operator_table(trace, by="op-type", on=on).rows
        assert sum(int(str(row["total_ns"])) for row in rows) == round(seconds * 1e9)
    found = rows_by_name(trace)
    for name, (seconds, count, computation, per_second, moved) in TOOL_BY_TYPE.items():
        row, info = found[name], found[name]["info"]
        assert (row["total_ns"], row["count"]) == (round(seconds * 1e9), count)
        assert round(info["memory_bytes"] / 1024, 2) == moved
        if computation is None:
            assert (info["computation_flo"], info["flo_per_s"]) == (None, None)
        else:
            assert info["computation_flo"] / 1000 == pytest.approx(computation, abs=0.005)
            assert info["flo_per_s"] / 1e6 == pytest.approx(per_second, rel=0.002)


def test_each_operator_has_its_shapes_and_work(trace: Trace) -> None:
    rows = rows_by_name(trace, by="full-name")
    ran, operators = PROFILE["profiler"]["device"], PROFILE["graph_exec"]["operator"]
    assert len(rows) == len(ran)
    for number, footprint in PROFILE["profiler"]["opr_footprint"].items():
        name = operators[number]["name"]
        row = rows[name if name.endswith(f"[{number}]") else f"{name}[{number}]"]
        assert row["total_ns"] == 1000 * _us(ran[number])
        info = row["info"]
        assert (info["input_shapes"], info["output_shapes"]) == (footprint["in_shapes"], footprint["out_shapes"])
        assert (info["computation_flo"], info["memory_bytes"]) == (footprint["computation"], footprint["memory"])
        assert info["device"] == "cpu0:0"
    assert trace.meta["events"] == {
        "read": len(operators),
        "kept": len(ran),
        "dropped": {"not_shown": len(operators) - len(ran)},
    }


def test_handovers_are_told_from_compute(trace: Trace) -> None:
    marked = {name for name, row in rows_by_name(trace).items() if row["info"].get("host_handover")}
    assert marked == {"InputCallback", "OutputCallback"}
    (entry,) = report_of(trace)["ranks"]
    assert (entry["devices"], entry["device_total"], entry["top_ops_on"]) == ([], None, "device")


def report_of(trace: Trace) -> dict[str, Any]:
    result: dict[str, Any] = report(Run("profile", [trace]))
    assert_consistent(result)
    return result


@pytest.mark.parametrize("column", ["computation_flo", "flo_per_s", "memory_bytes", "bytes_per_s"])
@pytest.mark.parametrize("by", ["op-type", "full-name"])
def test_any_column_orders(trace: Trace, by: str, column: str) -> None:
    rows: list[dict[str, Any]] = operator_table(trace, by=by, selection=Selection(sort=column)).rows
    values = [row["info"][column] for row in rows]
    known = [value for value in values if value is not None]
    assert len(known) > 3 and known == sorted(known, reverse=True)
    assert values[len(known) :] == [None] * (len(values) - len(known))


def test_a_type_without_operators_gives_no_rows(trace: Trace) -> None:
    """The original tool fails here."""
    table = operator_table(trace, selection=Selection(one_of={"op_type": ["Copy"]}))
    assert (table.total_rows, table.rows) == (0, [])


def test_bounds_of_time(trace: Trace) -> None:
    longer = Selection(at_least={"self_ns": 50_000}, at_most={"self_ns": 250_000})
    found: list[dict[str, Any]] = operator_table(trace, by="full-name", selection=longer).rows
    everything: list[dict[str, Any]] = operator_table(trace, by="full-name").rows
    assert 0 < len(found) == sum(50_000 <= row["self_ns"] <= 250_000 for row in everything)


def test_types_of_inputs(tmp_path: Path, workspace: Workspace) -> None:
    trace = opened(one_operator(), tmp_path, workspace)
    (row,) = trace.ops.arrow().to_pylist()
    assert (row["input_dtypes"], row["device_kind"], row["module"]) == ('["Float32", null]', "gpu", "fc")
    for wanted, count in (("float32", 1), ("Int8", 0)):
        selection = Selection(contains={"input_dtypes": [wanted]})
        assert operator_table(trace, by="full-name", selection=selection).total_rows == count


def test_the_longest_of_several_devices_counts(tmp_path: Path, workspace: Workspace) -> None:
    profile = one_operator()
    profile["profiler"]["device"]["4"]['CompNode("gpu1:0" from "gpux:1")'] = {"start": 0, "kern": 0, "end": 0.000009}
    (row,) = operator_table(opened(profile, tmp_path, workspace), by="full-name").rows
    assert (row["count"], row["total_ns"]) == (1, 9000)
    assert row["info"]["device"] == "gpu0:0, gpu1:0"  # type: ignore[index]


@pytest.mark.parametrize("start", [None, "soon", True, -1e300, 1.0, []])
def test_times_that_are_none_are_left_out(start: object, tmp_path: Path, workspace: Workspace) -> None:
    trace = opened(one_operator(start=start), tmp_path, workspace)
    assert operator_table(trace, on="device").rows == []
    assert [row["total_ns"] for row in operator_table(trace, on="host").rows] == [1000]
    assert warning_codes(trace) == ["untimed"]


def test_kernels_of_sums_are_unknown(trace: Trace) -> None:
    assert operator_table(trace, by="kernel", on="device").rows == []


@pytest.mark.parametrize("content", [{"graph_exec": {}}, {"graph_exec": None, "profiler": []}, {"comp_seq": 1}])
def test_an_empty_profile_is_an_empty_trace(content: object, tmp_path: Path, workspace: Workspace) -> None:
    assert report_of(opened(content, tmp_path, workspace))["ranks"][0]["events"]["read"] == 0


@pytest.mark.parametrize("wrapped", ["plain", "gzip"])
def test_cut_short_it_keeps_what_is_whole(wrapped: str, tmp_path: Path, workspace: Workspace) -> None:
    data = TEXT if wrapped == "plain" else gzip.compress(TEXT, mtime=0)
    before = 0
    for part in range(1, 15):
        try:
            trace = opened(data[: len(data) * part // 15], tmp_path, workspace)
        except LaptimeError as error:
            assert "\n" not in str(error) and before == 0
            continue
        assert "truncated" in warning_codes(trace)
        rows = trace.table("op_totals").row_count
        assert rows >= before
        before = rows
    assert before == len(PROFILE["profiler"]["device"]) + len(PROFILE["profiler"]["host"])


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ('{"a": 1, "b', '{"a": 1}'),
        ('{"a": [1, {"b": 2', '{"a": [1]}'),
        ('{"a": [1, {"b": 2}', '{"a": [1, {"b": 2}]}'),
        ('{"a": "x,y", "b": "},', '{"a": "x,y"}'),
        ('{"a": {"b": 1}}', '{"a": {"b": 1}}'),
        ('{"a": 1]', ""),
        ("{", ""),
    ],
)
def test_text_is_closed_after_its_last_whole_value(text: str, closed: str) -> None:
    assert closed_json(text.encode())[0].decode() == closed


def test_mutated_it_never_crashes(tmp_path: Path, workspace: Workspace) -> None:
    small = json.loads(TEXT)
    chosen = small["graph_exec"]["comp_seq"][:25]
    small["graph_exec"] = {"operator": {n: small["graph_exec"]["operator"][n] for n in chosen}, "comp_seq": chosen}
    for part in ("device", "host", "opr_footprint"):
        small["profiler"][part] = {number: small["profiler"][part][number] for number in chosen}
    text = json.dumps(small).encode()
    for seed in range(MUTATIONS):
        try:
            trace = opened(mutated(text, [TEXT[:20_000]], Random(f"static{seed}")), tmp_path, workspace)
        except LaptimeError as error:
            assert "\n" not in str(error)
            continue
        report_of(trace)
        for by in GROUPINGS:
            for on in ("device",) if by == "kernel" else ("device", "host"):
                json.dumps(operator_table(trace, by=by, on=on).rows, allow_nan=False)
