"""--json has every key of CONTRACT.md with its type, and stdout holds nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from laptime.analyses.operators import GROUPINGS
from tests.cli.conftest import Cli
from tests.cli.recordings import DDP2, LOADER, MEMORY_DRAWING, PATHS, TINY, device_events, title, written
from tests.cli.schemas import MEMORY, OP, REPORT, RUNS, SQL, STEP, check
from tests.laws.report_checks import assert_consistent


@pytest.fixture
def device_trace(tmp_path: Path) -> Path:
    """A recording with device work."""
    return written(tmp_path / "device.json", device_events(), deviceProperties=[{"id": 0, "name": "H200"}])


@pytest.mark.parametrize("path", PATHS, ids=title)
def test_report(path: Path, cli: Cli) -> None:
    first = cli("report", path, "--json")
    check(first.json, REPORT)
    assert_consistent(first.json)
    assert first.err == ""
    assert cli("report", path, "--json") == first
    assert cli(path, "--json") == first


def test_report_of_a_device(device_trace: Path, cli: Cli) -> None:
    result = cli(device_trace, "--json").json
    check(result, REPORT)
    (rank,) = result["ranks"]
    (device,) = rank["devices"]
    assert (device["device"], device["name"], device["ops"], device["linked_ops"]) == (0, "H200", 6, 6)
    assert (device["span_ns"], device["busy_ns"]) == (155_000, 90_000)
    assert (device["compute_ns"], device["communication_ns"], device["copy_ns"]) == (40_000, 30_000, 20_000)
    assert [step["budget"]["total_ns"] for step in rank["steps"]] == [100_000, 100_000]
    assert [step["budget"]["basis"] for step in rank["steps"]] == ["device", "device"]


def test_report_leaves_out_what_is_unknown(device_trace: Path, cli: Cli) -> None:
    without_steps = cli(PATHS[0].parent / "threads.pt.trace.json", "--json").json["ranks"][0]
    assert without_steps["step_summary"] is None
    assert without_steps["device_total"] is None
    assert without_steps["steps"] == []
    assert cli(device_trace, "--json").json["run"]["world_size"] is None


def test_ranks_come_in_order(tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for name, source in (
        ("a.json.gz", "rank1.json.gz"),
        ("b.json.gz", "rank0.json.gz"),
        ("c.json.gz", "rank1.json.gz"),
    ):
        (folder / name).write_bytes((DDP2 / source).read_bytes())
    (folder / "z.json").write_bytes(b'{"schemaVersion":1,"traceEvents":[]}')
    result = cli(folder, "--json").json
    found = [(rank["rank"], rank["source"]) for rank in result["ranks"]]
    assert found == [(0, "b.json.gz"), (1, "a.json.gz"), (1, "c.json.gz"), (None, "z.json")]
    assert result["run"]["ranks"] == [0, 1, 1, None]
    assert result["run"]["world_size"] == 2
    step = cli("step", folder, "--rank", 1, "--json")
    assert (step.json["rank"], step.json["source"]) == (1, "a.json.gz")
    assert step.err.count("\n") == 1
    assert "1 more entry of rank 1" in step.err


@pytest.mark.parametrize("path", PATHS, ids=title)
def test_step(path: Path, cli: Cli) -> None:
    result = cli("step", path, "--json").json
    check(result, STEP)
    for step in result["steps"]:
        parts = [step[part] for part in ("interval_ns", "forward_backward_ns", "tail_ns")]
        assert None in parts or sum(parts) == step["total_ns"]
    shown = cli("report", path, "--json").json["ranks"][0]["steps"]
    for step, reported in zip(result["steps"], shown, strict=True):
        assert step["total_ns"] == reported["dur_ns"] + step["gap_before_ns"]


@pytest.mark.parametrize("on", ["host", "device", None])
@pytest.mark.parametrize("by", GROUPINGS)
def test_op(by: str, on: str | None, device_trace: Path, cli: Cli) -> None:
    chosen = () if on is None else ("--on", on)
    for path in (device_trace, LOADER):
        ran = cli("op", path, "--by", by, *chosen, "--json")
        if by == "kernel" and (on == "host" or (on is None and path == LOADER)):
            assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)  # kernels run on devices
            continue
        result = ran.json
        check(result, OP)
        assert result["by"] == by
        assert result["total_rows"] == len(result["rows"])
        assert on is None or result["on"] == on


def test_op_by_default_looks_at_the_device_where_there_is_one(device_trace: Path, cli: Cli) -> None:
    assert cli("op", device_trace, "--json").json["on"] == "device"
    assert cli("op", TINY, "--json").json["on"] == "host"


@pytest.mark.parametrize("path", [*PATHS, MEMORY_DRAWING], ids=title)
def test_memory(path: Path, cli: Cli) -> None:
    result = cli("memory", path, "--json").json
    check(result, MEMORY)
    recorded = path.name.startswith(("memory", "train", "ddp4"))
    assert bool(result["devices"]) == recorded
    for device in result["devices"]:
        assert sum(row["size_bytes"] for row in device["live_at_peak"]) == device["peak_bytes"] > 0


def test_sql(cli: Cli) -> None:
    result = cli("sql", DDP2, "SELECT *, 1.5::DOUBLE AS x, NULL AS n, TRUE AS b FROM slices LIMIT 3", "--json").json
    check(result, SQL)
    assert result["columns"][:3] == ["rank_index", "slice_id", "track_id"]
    assert len(result["rows"]) == 3
    assert all(len(row) == len(result["columns"]) for row in result["rows"])
    counted = cli("sql", DDP2, "SELECT rank_index, count(*) FROM slices GROUP BY 1 ORDER BY 1", "--json").json
    assert [row[0] for row in counted["rows"]] == [0, 1]
    assert type(counted["rows"][0][1]) is int
    one = cli("sql", DDP2, "SELECT DISTINCT rank_index FROM slices", "--rank", 1, "--json").json
    assert one["rows"] == [[1]]


@pytest.mark.parametrize(
    "expression",
    [
        "DATE '2026-01-02'",
        "TIMESTAMP '2026-01-02 03:04:05'",
        "INTERVAL 3 DAY",
        "1.25::DECIMAL(9,2)",
        "'x'::BLOB",
        "uuid()",
        "170141183460469231731687303715884105727::HUGEINT",
        "[1, 2]",
        "{'a': 1, 'b': 'x'}",
        "map(['k'], [1])",
        "'nan'::DOUBLE",
        "'infinity'::DOUBLE",
        "TIME '03:04:05'",
    ],
)
def test_sql_writes_every_type_as_json(expression: str, cli: Cli) -> None:
    result = cli("sql", TINY, f"SELECT {expression} AS v", "--json").json
    check(result, SQL)
    assert result["columns"] == ["v"]


def test_sql_sums_are_integers(cli: Cli) -> None:
    """The example of the help text; DuckDB sums BIGINT as HUGEINT."""
    result = cli("sql", TINY, "SELECT kind, sum(dur_ns) AS ns FROM slices GROUP BY 1", "--json").json
    assert {type(ns) for _, ns in result["rows"]} == {int}


def test_sql_keeps_two_columns_of_one_name(cli: Cli) -> None:
    result = cli("sql", TINY, "SELECT 1 AS a, 2 AS a", "--json").json
    assert result["rows"] == [[1, 2]]


def test_runs_and_import(tmp_path: Path, cli: Cli) -> None:
    place = ("--workspace", tmp_path / "own")
    imported = cli("import", DDP2, *place, "--json").json
    assert [rank["rank"] for rank in imported["ranks"]] == [0, 1]
    assert [rank["events"]["read"] for rank in imported["ranks"]] == [355, 355]
    result = cli("runs", *place, "--json").json
    check(result, RUNS)
    (run,) = result["runs"]
    assert (run["name"], run["path"], run["format"]) == ("ddp2", str(DDP2), "pytorch_kineto")
    assert run["size_bytes"] > 0
