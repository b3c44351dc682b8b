"""XPlane profiles of the corpus against facts that an independent reader computed from the message schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.operators import operator_table
from laptime.analyses.report import report
from laptime.errors import LaptimeError
from laptime.importers.opening import open_run
from laptime.model.trace import Run
from laptime.model.workspace import Workspace

pytestmark = pytest.mark.corpus

CPU_CASES = ("jax_cpu_dp4", "jax_cpu_inputbound", "jax_cpu_plain", "jax_cpu_python", "jax_cpu_recompile")
GPU_CASES = ("rocm_mi300_conv_min_08", "rocm_te_fused_attn")
Facts = dict[str, Any]


@pytest.fixture
def cases(corpus: Path) -> Path:
    folder = corpus / "jax_xplane"
    if not folder.is_dir():
        pytest.skip("no XPlane profiles in the corpus")
    return folder


@pytest.fixture
def facts(cases: Path) -> Facts:
    return dict(json.loads((cases / "facts.json").read_text()))


def _opened(cases: Path, case: str, workspace: Workspace) -> Run:
    (path,) = (cases / case).glob("*.xplane.pb")
    return open_run(path, workspace=workspace)


def _planes(facts: Facts, case: str) -> list[Facts]:
    (file,) = (value for name, value in facts[case].items() if name.endswith(".xplane.pb"))
    return list(file["planes"])


@pytest.mark.parametrize("case", CPU_CASES + GPU_CASES)
def test_every_event_of_every_line(case: str, cases: Path, facts: Facts, workspace: Workspace) -> None:
    run = _opened(cases, case, workspace)
    expected = {
        (plane["name"], line): count
        for plane in _planes(facts, case)
        for line, count in plane.get("line_events", {}).items()
    }
    rows = run.sql(
        "SELECT t.process, t.name, count(*) AS n FROM slices JOIN tracks t USING (track_id) GROUP BY ALL"
    ).to_pylist()
    assert {(row["process"], row["name"]): row["n"] for row in rows} == expected
    (rank,) = report(run)["ranks"]
    assert rank["events"] == {"read": sum(expected.values()), "kept": sum(expected.values()), "dropped": {}}


@pytest.mark.parametrize("case", CPU_CASES)
def test_steps_and_what_is_in_them(case: str, cases: Path, facts: Facts, workspace: Workspace) -> None:
    run = _opened(cases, case, workspace)
    rows = run.sql(
        "SELECT s.step, s.label, s.source, s.complete, s.end_ns - s.start_ns AS dur,"
        " (SELECT sum(dur_ns)::BIGINT FROM slices d WHERE d.name = 'load_batch' AND d.kind = 'data'"
        "  AND d.step = s.step) AS load,"
        " (SELECT count(*) FROM slices d JOIN tracks t USING (track_id) WHERE d.kind = 'compile' AND t.name = 'python'"
        "  AND d.step = s.step) AS compiled FROM steps s ORDER BY s.start_ns"
    ).to_pylist()
    (host,) = (plane for plane in _planes(facts, case) if plane["name"] == "/host:CPU")
    assert [(row["step"], row["label"], row["dur"] / 1e6, row["load"] / 1e6, row["compiled"]) for row in rows] == [
        (step["step"], step["name"], step["ms"], step["load_batch_ms"], step.get("compile_events", 0))
        for step in host["steps"]
    ]
    assert {(row["source"], row["complete"]) for row in rows} == {("marked", True)}


@pytest.mark.parametrize("case", CPU_CASES + GPU_CASES)
def test_sums_by_name_on_the_host(case: str, cases: Path, facts: Facts, workspace: Workspace) -> None:
    run = _opened(cases, case, workspace)
    (host,) = (plane for plane in _planes(facts, case) if plane["name"] == "/host:CPU")
    for name, count, ms in host["top_by_count"]:
        (row,) = run.sql(
            "SELECT count(*) AS n, sum(dur_ns)::BIGINT AS total FROM slices JOIN tracks t USING (track_id)"
            f" WHERE t.process = '/host:CPU' AND slices.name = '{name}'"
        ).to_pylist()
        assert (row["n"], round(row["total"] / 1e6, 3)) == (count, ms), name


@pytest.mark.parametrize("case", GPU_CASES)
def test_devices(case: str, cases: Path, facts: Facts, workspace: Workspace) -> None:
    run = _opened(cases, case, workspace)
    (rank,) = report(run)["ranks"]
    expected = [plane for plane in _planes(facts, case) if plane["name"].startswith("/device:") and plane["events"]]
    devices = rank["devices"]
    assert [device["device"] for device in devices] == list(range(len(expected)))
    for device, plane in zip(devices, expected, strict=True):
        assert device["name"] == "AMD GPU"
        assert device["streams"] == plane["lines"]
        assert device["ops"] == device["linked_ops"] == plane["events"]
        assert device["busy_ns"] / 1e3 == plane["busy_union_us"]
        assert device["span_ns"] / 1e3 == plane["span_us"]
        (row,) = run.sql(
            "SELECT sum(dur_ns)::BIGINT AS total, count(DISTINCT correlation) AS ids"
            f" FROM slices JOIN tracks t USING (track_id) WHERE t.process = '{plane['name']}'"
        ).to_pylist()
        assert (row["total"] / 1e3, row["ids"]) == (plane["busy_sum_us"], plane["correlation_ids"])
        for name, count, total_us in plane["top_names"]:
            (row,) = run.sql(
                "SELECT count(*) AS n, sum(dur_ns)::BIGINT AS total FROM slices JOIN tracks t USING (track_id)"
                f" WHERE t.process = '{plane['name']}' AND starts_with(slices.name, '{name}')"
            ).to_pylist()
            assert (row["n"], row["total"] / 1e3) == (count, total_us), name


def test_an_input_bound_run_waits_for_its_loader(cases: Path, workspace: Workspace) -> None:
    (rank,) = report(_opened(cases, "jax_cpu_inputbound", workspace))["ranks"]
    budget = rank["step_summary"]["budget"]
    assert budget["basis"] == "device"
    assert round(budget["idle_data_wait_ns"] / budget["total_ns"], 3) == 0.485
    assert budget["compile_ns"] is None  # nothing was compiled: not known, and not 0


def test_a_run_that_recompiles_says_so(cases: Path, workspace: Workspace) -> None:
    (rank,) = report(_opened(cases, "jax_cpu_recompile", workspace))["ranks"]
    budget = rank["step_summary"]["budget"]
    assert round(budget["compile_ns"] / budget["total_ns"], 3) == 0.769
    assert all(step["budget"]["compile_ns"] for step in rank["steps"])


def test_collectives_of_four_devices(cases: Path, workspace: Workspace) -> None:
    run = _opened(cases, "jax_cpu_dp4", workspace)
    (row,) = run.sql(
        "SELECT count(*) AS n, sum(dur_ns)::BIGINT AS total FROM slices WHERE kind = 'communication'"
    ).to_pylist()
    assert (row["n"], round(row["total"] / 1e6, 1)) == (32, 357.5)
    (rank,) = report(run)["ranks"]
    assert rank["device_total"]["communication_ns"] > 0
    assert rank["step_summary"]["budget"]["communication_exposed_ns"] > 0


def test_operators_are_told_by_their_module(cases: Path, workspace: Workspace) -> None:
    run = _opened(cases, "jax_cpu_plain", workspace)
    rows = run.sql("SELECT * FROM ops WHERE device_kind = 'HOST_CPU'").to_pylist()
    dot = next(row for row in rows if row["name"] == "dot.1")
    assert (dot["op_type"], dot["subgraph"]) == ("dot", "jit_train_step")
    assert dot["full_name"] == "jit(train_step)/transpose(jvp(layer1))/transpose"
    assert dot["module"] == "layer1"
    assert json.loads(dot["input_shapes"]) and json.loads(dot["output_shapes"])
    assert set(json.loads(dot["input_dtypes"])) == {"f32"}
    stack = run.sql(
        "SELECT DISTINCT stacks.depth, function, line FROM slices JOIN stacks USING (stack_id)"
        " WHERE name = 'dot.1' AND kind = 'kernel' ORDER BY stacks.depth"
    ).to_pylist()
    assert [(row["function"], row["line"]) for row in stack][-1] == ("<module>", 32)


def test_device_time_by_line_of_the_model(cases: Path, workspace: Workspace) -> None:
    run = _opened(cases, "jax_cpu_plain", workspace)
    table = operator_table(run.traces[0], by="source")
    assert table.on == "device"
    assert {str(row["name"]).rpartition(":")[0].rpartition("/")[2] for row in table.rows[:3]} == {"rec.py"}
    (device,) = report(run)["ranks"][0]["devices"]
    assert sum(row["count"] for row in table.rows) == device["ops"]


def test_memory_of_the_allocator(cases: Path, workspace: Workspace) -> None:
    run = _opened(cases, "rocm_te_fused_attn", workspace)
    peaks = run.sql(
        "SELECT t.name, max(value) AS peak FROM counters JOIN tracks t USING (track_id) GROUP BY ALL"
    ).to_pylist()
    assert {row["name"]: row["peak"] for row in peaks}["peak bytes in use of GPU_0_bfc"] == 663_228_416
    (row,) = run.sql(
        "SELECT count(*) FILTER (start_ns IS NOT NULL) AS born, count(*) FILTER (end_ns IS NOT NULL) AS freed"
        " FROM allocations WHERE device = 'hip:0'"
    ).to_pylist()
    assert (row["born"], row["freed"]) == (30, 29)


def test_a_folder_counts_its_json_once(cases: Path, workspace: Workspace) -> None:
    result = report(open_run(cases / "jax_cpu_plain", workspace=workspace))
    assert [rank["source"] for rank in result["ranks"]] == ["vm.xplane.pb"]
    notes = [row["message"] for row in result["warnings"] if row["code"] == "other"]
    assert len([note for note in notes if "vm.xplane.pb" in note]) == 2  # vm.trace.json.gz, perfetto_trace.json.gz


@pytest.mark.parametrize("case", CPU_CASES)
def test_the_json_alone_is_read_and_is_not_cut(case: str, cases: Path, facts: Facts, workspace: Workspace) -> None:
    for told in facts[case]["json"]:
        result = report(open_run(cases / case / told["file"], workspace=workspace))
        assert result["ranks"][0]["events"]["read"] == sum(told["phases"].values())
        assert result["ranks"][0]["events"]["dropped"] == {"blank": 1}  # JAX ends its list with {}
        assert result["warnings"] == []


def test_an_empty_file_is_refused(cases: Path, workspace: Workspace) -> None:
    with pytest.raises(LaptimeError, match=r"^the file is empty: empty\.xplane\.pb: "):
        open_run(cases / "malformed" / "empty.xplane.pb", workspace=workspace)


def test_a_truncated_file_names_where(cases: Path, workspace: Workspace) -> None:
    result = report(open_run(cases / "malformed" / "truncated.xplane.pb", workspace=workspace))
    (warning,) = (row for row in result["warnings"] if row["code"] == "truncated")
    assert "byte " in warning["message"]
    assert result["ranks"][0]["events"]["read"] == 0


def test_a_file_mangled_by_a_text_conversion_is_refused(cases: Path, workspace: Workspace) -> None:
    with pytest.raises(LaptimeError, match=r"^damaged by a text conversion .*: utf8_mangled_head\.xplane\.pb: "):
        open_run(cases / "malformed" / "utf8_mangled_head.xplane.pb", workspace=workspace)
