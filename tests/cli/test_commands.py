"""What the options do: groupings, points, steps by number, exports, the workspace."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.options import MEGENGINE_SORTS, TORCH_SORTS
from laptime.model.schema import SCHEMAS
from laptime.model.workspace import Workspace
from tests.cli.conftest import Cli
from tests.cli.recordings import DDP2, GRAPH_PROFILE, LOADER, MEMORY_DRAWING, THREADS, TINY, device_events, written
from tests.conftest import EXAMPLE
from tests.exports.chrome_checks import assert_equal_traces, import_alone

# ---- step ----


def test_steps_by_number(cli: Cli) -> None:
    everything = cli("step", TINY, "--json")
    assert [step["step"] for step in everything.json["steps"]] == [2, 3, 4]
    assert [step["index"] for step in everything.json["steps"]] == [1, 2, 3]
    for average in ("0", "average"):
        assert cli("step", TINY, "--step-id", average, "--json") == everything
    for option, value in (("--step-id", 3), ("--step_id", 3), ("--step-index", 2), ("--step_index", 2)):
        one = cli("step", TINY, option, value, "--json").json
        assert [step["step"] for step in one["steps"]] == [3]
        assert one["average"] == everything.json["average"]
    assert cli("step", TINY, "--step-index", 1, "--json").json["steps"][0]["step"] == 2


def test_a_step_of_number_0_is_reached_by_its_index(tmp_path: Path, cli: Cli) -> None:
    text = (
        json.dumps(device_events())
        .replace("ProfilerStep#1", "ProfilerStep#0")
        .replace("ProfilerStep#2", "ProfilerStep#1")
    )
    path = written(tmp_path / "zero.json", json.loads(text))
    assert [step["step"] for step in cli("step", path, "--step-id", 0, "--json").json["steps"]] == [0, 1]
    assert [step["step"] for step in cli("step", path, "--step-index", 1, "--json").json["steps"]] == [0]


def test_the_average_leaves_out_the_first_step(cli: Cli) -> None:
    result = cli("step", TINY, "--json").json
    last = result["steps"][1:]
    assert result["average"]["steps_used"] == 2
    assert result["average"]["first_step_included"] is False
    total = sum(step["total_ns"] for step in last)
    assert result["average"]["total_ns"] == (total + 1) // 2
    assert result["median"]["total_ns"] == (total + 1) // 2
    assert any(row["step"] == 2 and "first" in row["reason"] for row in result["skipped"])
    assert [step["gap_before_ns"] > 0 for step in result["steps"]] == [False, True, True]


@pytest.mark.parametrize("by_environment", [False, True])
def test_points(by_environment: bool, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    points = {"FP_POINT": "aten::addmm", "BP_POINT": "aten::mm", "COMM_POINTS": "aten::relu, aten::mm"}
    options: list[str] = []
    if by_environment:
        for name, value in points.items():
            monkeypatch.setenv(name, value)
    else:
        options = ["--fp-point", "aten::addmm", "--bp_point", "aten::mm"]
        options += ["--comm-point", "aten::relu", "--comm_point", "aten::mm"]
    result = cli("step", TINY, *options, "--json").json
    assert (result["forward_start_op"], result["backward_end_op"]) == ("aten::addmm", "aten::mm")
    for step in result["steps"]:
        assert {entry["name"] for entry in step["communication"]} == {"aten::relu", "aten::mm"}
        assert step["forward_backward_ns"] > 0
    for step in result["steps"][1:]:  # the first one's interval is unknown
        assert step["interval_ns"] + step["forward_backward_ns"] + step["tail_ns"] == step["total_ns"]
    assert result != cli("step", DDP2, "--json").json


def test_a_point_that_is_absent_makes_the_parts_unknown(cli: Cli) -> None:
    result = cli("step", TINY, "--fp-point", "nothing", "--json").json
    assert {step["interval_ns"] for step in result["steps"]} == {None}
    assert all(step["total_ns"] for step in result["steps"])
    assert {row["step"] for row in result["skipped"] if "nothing" in row["reason"]} == {2, 3, 4}
    assert result["average"]["interval_ns"] is None
    assert result["average"]["total_ns"] > 0
    assert cli("step", TINY, "--fp-point", "nothing").code == 0


def test_an_option_wins_over_the_environment(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FP_POINT", "nothing")
    assert cli("step", TINY, "--fp-point", "aten::addmm", "--json").json["forward_start_op"] == "aten::addmm"


# ---- op ----


def test_op_filters_sorts_and_limits(cli: Cli) -> None:
    rows = cli("op", TINY, "--by", "name", "--json").json["rows"]
    assert [row["self_ns"] for row in rows] == sorted((row["self_ns"] for row in rows), reverse=True)
    assert abs(sum(row["share"] for row in rows) - 1) < 1e-9
    named = cli("op", TINY, "--by", "name", "--filter", "name=ADDMM", "--json").json
    assert named["rows"] == [row for row in rows if "addmm" in row["name"].lower()]
    assert named["total_rows"] == len(named["rows"]) > 1
    both = cli("op", TINY, "--by", "name", "--filter", "name=aten", "--filter", "op-type=addmm", "--json").json
    assert [row["name"] for row in both["rows"]] == ["aten::addmm"]
    few = cli("op", TINY, "--by", "name", "--limit", 2, "--json").json
    assert few["rows"] == rows[:2]
    assert few["total_rows"] == len(rows)
    by_name = [row["name"] for row in cli("op", TINY, "--by", "name", "--sort", "name", "--json").json["rows"]]
    assert by_name == sorted(by_name)
    counted = [row["count"] for row in cli("op", TINY, "--by", "name", "--sort", "count", "--json").json["rows"]]
    assert counted == sorted(counted, reverse=True)


@pytest.mark.parametrize("sort", sorted(TORCH_SORTS))
def test_op_sorts_by_the_names_of_torch(sort: str, tmp_path: Path, cli: Cli) -> None:
    path = written(tmp_path / "device.json", device_events())
    where, column = TORCH_SORTS[sort]
    for spelling in (sort, sort.replace("_", "-")):
        result = cli("op", path, "--by", "name", "--sort", spelling, "--json").json
        assert result["on"] == where
        values = [row[column] for row in result["rows"]]
        assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("sort", sorted(MEGENGINE_SORTS))
def test_op_sorts_by_the_names_of_megengine(sort: str, cli: Cli) -> None:
    _, column = MEGENGINE_SORTS[sort]
    rows = cli("op", GRAPH_PROFILE, "--by", "full-name", "--sort", sort, "--json").json["rows"]
    values = [{**row, **row["info"]}[column] for row in rows]
    known = [value for value in values if value is not None]
    assert len(known) > 10 and values == sorted(known, reverse=True) + [None] * (len(values) - len(known))


def test_op_by_work_where_none_is_told_is_an_error(cli: Cli) -> None:
    ran = cli("op", TINY, "--sort", "flops")
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)


def test_op_within_bounds(cli: Cli) -> None:
    rows = cli("op", TINY, "--by", "name", "--json").json["rows"]
    for options, bound in ((("--at-least", "self-ns=20000"), 20000), (("--at_least", "self_ns=2e4"), 20000)):
        few = cli("op", TINY, "--by", "name", *options, "--json").json["rows"]
        assert few == [row for row in rows if row["self_ns"] >= bound] != rows
    assert cli("op", TINY, "--by", "name", "--at-most", "count=0", "--json").json["rows"] == []
    assert cli("op", TINY, "--at-least", "self_ns=much").code == 2


def test_op_by_module_and_source(cli: Cli) -> None:
    places = cli("op", LOADER, "--by", "source", "--on", "host", "--json").json["rows"]
    assert any(".py:" in row["name"] or ".py(" in row["name"] for row in places)
    modules = cli("op", EXAMPLE, "--by", "module", "--on", "host", "--json").json["rows"]
    assert any("Conv2d" in row["name"] for row in modules)
    shapes = cli("op", TINY, "--by", "shape", "--on", "host", "--json").json["rows"]
    assert any("[16, 32]" in json.dumps(row) or "[16,32]" in json.dumps(row) for row in shapes)


def test_op_on_the_device_counts_what_operators_launched(tmp_path: Path, cli: Cli) -> None:
    path = written(tmp_path / "device.json", device_events())
    rows = {row["name"]: row for row in cli("op", path, "--by", "kernel", "--json").json["rows"]}
    assert {name: (row["count"], row["total_ns"]) for name, row in rows.items()} == {
        "gemm": (2, 40_000),
        "Memcpy HtoD": (2, 20_000),
        "ncclDevKernel_AllReduce_Sum": (2, 30_000),
    }
    (mm,) = cli("op", path, "--by", "name", "--on", "device", "--json").json["rows"]
    assert (mm["name"], mm["total_ns"], mm["self_ns"]) == ("aten::mm", 90_000, 90_000)
    (host,) = cli("op", path, "--by", "name", "--on", "host", "--json").json["rows"]
    assert (host["name"], host["count"], host["total_ns"]) == ("aten::mm", 2, 60_000)


# ---- folders ----


def test_a_folder_with_notes_and_logs(tmp_path: Path, cli: Cli) -> None:
    """Files that no importer knows are listed, with recordings beside them never an error."""
    for name in ("rank0.json.gz", "rank1.json.gz"):
        shutil.copy(DDP2 / name, tmp_path)
    (tmp_path / "train.log").write_text("epoch 1\n")
    (tmp_path / "notes.md").write_text("# notes\n")
    (tmp_path / "empty").write_text("")
    (tmp_path / "profile.nsys-rep").write_bytes(bytes(50))
    ran = cli("report", tmp_path, "--json")
    assert ran.json["run"]["ranks"] == [0, 1]
    messages = [warning["message"] for warning in ran.json["warnings"] if warning["code"] == "other"]
    assert len(messages) == 4
    for name in ("train.log", "notes.md", "empty", "profile.nsys-rep"):
        assert any(name in message for message in messages)
    assert cli("report", tmp_path, "--json") == ran
    assert "train.log" in cli("report", tmp_path).out


def test_a_glob(tmp_path: Path, cli: Cli) -> None:
    assert cli("report", DDP2 / "rank*.json.gz", "--json").json["run"]["ranks"] == [0, 1]


@pytest.mark.parametrize(
    "text",
    ['{"traceEvents":[]}', '{"schemaVersion":1,"traceEvents":[]}', "[]", "[", '{"traceEvents": [\n]\n}'],
)
def test_a_readable_file_without_events(text: str, tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "none.json"
    path.write_text(text)
    (rank,) = cli("report", path, "--json").json["ranks"]
    assert rank["events"] == {"read": 0, "kept": 0, "dropped": {}}
    for command in ("report", "step", "op"):
        ran = cli(command, path)
        assert ran.code == 0
        assert ran.out
    assert cli("step", path, "--json").json["average"] is None
    assert cli("op", path, "--json").json["rows"] == []


# ---- export ----


@pytest.mark.parametrize("table", SCHEMAS)
def test_export_of_each_table(table: str, tmp_path: Path, cli: Cli) -> None:
    target = tmp_path / f"{table}.csv"
    ran = cli("export", DDP2, "--table", table, "-o", target)
    assert (ran.code, ran.out) == (0, "")
    assert "wrote" in ran.err
    with target.open(newline="") as handle:
        header, *rows = csv.reader(handle)
    counted = cli("sql", DDP2, f"SELECT * FROM {table}", "--json").json
    assert header == counted["columns"]
    assert len(rows) == len(counted["rows"])
    assert all(len(row) == len(header) for row in rows)


def test_export_of_one_rank_compressed(tmp_path: Path, cli: Cli) -> None:
    target = tmp_path / "slices.csv.gz"
    assert cli("export", DDP2, "--table", "slices", "--rank", 1, "-o", target).code == 0
    with gzip.open(target, "rt", newline="") as handle:
        rows = list(csv.DictReader(handle))
    counted = cli("sql", DDP2, "SELECT count(*) FROM slices", "--rank", 1, "--json").json
    assert [[len(rows)]] == counted["rows"]


def test_export_of_chrome_json(tmp_path: Path, cli: Cli, workspace: Workspace) -> None:
    target = tmp_path / "out.json.gz"
    ran = cli("export", DDP2, "--rank", 1, "-o", target)
    assert (ran.code, ran.out) == (0, "")
    assert_equal_traces(import_alone(DDP2 / "rank1.json.gz", workspace), import_alone(target, workspace))


@pytest.mark.parametrize(
    ("name", "options"),
    [("m.svg", ()), ("m.svg.gz", ()), ("drawn", ("--format", "memory_flow.svg"))],
)
def test_export_of_the_memory_as_a_drawing(name: str, options: tuple[str, ...], tmp_path: Path, cli: Cli) -> None:
    ran = cli("export", MEMORY_DRAWING, "-o", tmp_path / name, *options)
    assert (ran.code, ran.out) == (0, "")
    assert cli("memory", tmp_path / name, "--json").json["devices"][0]["allocations"] == 335


def test_export_by_format_whatever_the_name(tmp_path: Path, cli: Cli) -> None:
    assert cli("export", TINY, "-o", tmp_path / "t.svg", "--format", "chrome_timeline.json").code == 0
    assert (tmp_path / "t.svg").read_text().startswith("{")
    assert cli("export", TINY, "-o", tmp_path / "t", "--format", "csv", "--table", "steps").code == 0
    assert (tmp_path / "t").read_text().startswith("step,")


@pytest.mark.parametrize(
    ("code", "options"),
    [
        (1, ("-o", "m.svg")),
        (2, ("-o", "m.svg", "--format", "pdf")),
        (2, ("-o", "m.csv")),
        (2, ("-o", "m.svg", "--format", "memory_flow.svg", "--table", "steps")),
    ],
)
def test_export_that_cannot_be(code: int, options: tuple[str, ...], tmp_path: Path, cli: Cli) -> None:
    output, *rest = options[1:]
    ran = cli("export", TINY, "-o", tmp_path / output, *rest)
    assert (ran.code, ran.out) == (code, "")
    assert code == 2 or ran.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_export_of_several_ranks_says_which_it_takes(tmp_path: Path, cli: Cli) -> None:
    ran = cli("export", DDP2, "-o", tmp_path / "out.json")
    assert ran.code == 0
    assert "rank0.json.gz" in ran.err


# ---- the workspace ----


def _imported(workspace: Path) -> list[str]:
    return sorted(path.name for path in (workspace / "traces").iterdir())


def test_runs_can_be_removed(tmp_path: Path, cli: Cli) -> None:
    place = ("--workspace", tmp_path / "own")
    for path in (DDP2, TINY, THREADS):
        assert cli("import", path, *place).code == 0
    assert len(_imported(tmp_path / "own")) == 4
    runs = {run["name"]: run for run in cli("runs", *place, "--json").json["runs"]}
    assert set(runs) == {"ddp2", TINY.name, THREADS.name}
    for name, handle in ((TINY.name, "key"), ("ddp2", "name"), (THREADS.name, "path")):
        removed = cli("runs", "--remove", runs[name][handle], *place)
        assert removed.code == 0
        assert name in removed.out
    assert cli("runs", *place, "--json").json["runs"] == []
    assert _imported(tmp_path / "own") == []
    assert TINY.is_file()
    assert cli("report", TINY, *place).code == 0


def test_removing_a_run_keeps_traces_of_others(tmp_path: Path, cli: Cli) -> None:
    place = ("--workspace", tmp_path / "own")
    cli("import", DDP2, *place)
    cli("import", DDP2 / "rank0.json.gz", *place)
    assert len(_imported(tmp_path / "own")) == 2
    cli("runs", "--remove", "ddp2", *place)
    assert len(_imported(tmp_path / "own")) == 1
    assert cli("report", DDP2 / "rank0.json.gz", *place).code == 0


def test_runs_shows_keys_and_sizes_whole_beside_a_long_name(tmp_path: Path, cli: Cli) -> None:
    """A key that is cut cannot be given to --remove."""
    place = ("--workspace", tmp_path / "own")
    cli("import", shutil.copy(TINY, tmp_path / f"{'long' * 12}.json.gz"), *place)
    (run,) = cli("runs", *place, "--json").json["runs"]
    page = cli("runs", *place).out
    assert run["key"] in page
    assert "KiB" in page


def test_the_workspace_may_come_from_the_environment(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAPTIME_WORKSPACE", str(tmp_path / "by environment"))
    assert cli("import", TINY).code == 0
    assert len(_imported(tmp_path / "by environment")) == 1
    assert cli("import", TINY, "--workspace", tmp_path / "by option").code == 0
    assert len(_imported(tmp_path / "by option")) == 1


@pytest.mark.parametrize("page", [("report",), ("step",), ("op",), ("runs",), ("sql", "SELECT 1 AS a")], ids=" ".join)
def test_an_unwritable_workspace_falls_back(page: tuple[str, ...], tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "file").write_text("in the way")
    command, *rest = page
    path = () if command == "runs" else (TINY,)
    ran = cli(command, *path, *rest, "--workspace", tmp_path / "file" / "workspace", "--json")
    assert ran.code == 0
    assert ran.json["schema_version"] == 1
    assert ran.err.count("\n") == 1, "the remark is made once"
    assert "cannot be written" in ran.err


def test_a_changed_file_is_imported_again(tmp_path: Path, cli: Cli) -> None:
    path = written(tmp_path / "trace.json", device_events())
    first: dict[str, Any] = cli("report", path, "--json").json
    written(path, device_events()[:-2])
    second = cli("report", path, "--json").json
    assert first["ranks"][0]["events"]["read"] - second["ranks"][0]["events"]["read"] == 2


@pytest.mark.parametrize("damage", ["report", "run", "trace"])
def test_a_damaged_workspace_is_mended(damage: str, tmp_path: Path, cli: Cli) -> None:
    place = ("--workspace", tmp_path / "own")
    whole = cli("report", TINY, *place, "--json")
    if damage == "trace":
        for folder in (tmp_path / "own" / "traces").iterdir():
            shutil.rmtree(folder)
    else:
        for file in (tmp_path / "own" / "runs").glob(f"*/{damage}*.json"):
            file.write_text("{")
    assert cli("report", TINY, *place, "--json") == whole
    assert cli("runs", *place).code == 0
