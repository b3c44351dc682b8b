"""MegEngine timelines of the corpus: every fact of facts.json, computed there by a parser of its own."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import Any

import pytest

from laptime.analyses.operators import operator_table
from laptime.analyses.report import report
from laptime.importers.opening import open_run
from laptime.model.trace import Run, Trace
from laptime.model.workspace import Workspace
from tests.conftest import corpus_folder

pytestmark = pytest.mark.corpus


def _facts() -> dict[str, Any]:
    corpus = corpus_folder()
    path = None if corpus is None else corpus / "megengine" / "facts.json"
    return json.loads(path.read_text()) if path is not None and path.is_file() else {}


FACTS = _facts()
TIMELINES = [name for name, facts in FACTS.items() if isinstance(facts, dict) and "ops_dispatched" in facts]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Opens a case once."""
    if not FACTS:
        pytest.skip("no corpus: set LAPTIME_CORPUS to the folder of real recordings")
    place = Workspace.choose(tmp_path_factory.mktemp("megengine"), say=lambda _: None)
    runs: dict[str, Run] = {}

    def open_case(case: str) -> Run:
        if case not in runs:
            folder = corpus_folder()
            assert folder is not None
            path = folder / "megengine" / case
            found = path if path.exists() else path.with_name(f"{path.name}.gz")
            runs[case] = open_run(found, workspace=place)
        return runs[case]

    return open_case


def _rows(run: Run, query: str) -> list[dict[str, Any]]:
    return list(run.sql(query).to_pylist())


SLICES = (
    "SELECT s.*, t.name AS track, s.dur_ns / 1000.0 AS us FROM slices s JOIN tracks t USING (rank_index, track_id) "
    "WHERE {} ORDER BY slice_id"
)


def _slices(run: Run, where: str) -> list[dict[str, Any]]:
    return _rows(run, SLICES.format(where))


def _sums(rows: list[dict[str, Any]], key: str = "name") -> dict[str, list[float]]:
    sums: dict[str, list[float]] = defaultdict(lambda: [0, 0.0])
    for row in rows:
        sums[row[key]][0] += 1
        sums[row[key]][1] += row["us"]
    return {name: [count, round(us, 3)] for name, (count, us) in sums.items()}


def _close(ours: dict[str, list[float]], theirs: dict[str, list[float]]) -> None:
    """Equal counts, and sums equal to the nanosecond (theirs are sums of doubles in us)."""
    assert {name: count for name, (count, _) in ours.items()} == {name: count for name, (count, _) in theirs.items()}
    assert {name: us for name, (_, us) in ours.items()} == pytest.approx(
        {name: us for name, (_, us) in theirs.items()}, abs=2e-3
    )


@pytest.mark.parametrize("case", TIMELINES)
def test_events_and_what_became_of_them(case: str, opened: Any) -> None:
    facts, run = FACTS[case], opened(case)
    (rank,) = report(run)["ranks"]
    assert rank["events"]["read"] == facts["events"]
    assert rank["events"]["dropped"] == {}
    assert rank["format"] == "megengine"
    assert rank["framework"] == "megengine"
    assert run.traces[0].meta["base_unix_ns"] == int(facts["localTime_ns"])
    spans = facts["phases"]["B"] + facts["phases"].get("X", 0)
    assert run.traces[0].slices.row_count == spans
    unbalanced = sum(w["count"] for w in report(run)["warnings"] if w["code"] == "unbalanced")
    assert unbalanced == facts["unbalanced_or_misnested"] + facts["open_at_end"]


@pytest.mark.parametrize("case", TIMELINES)
def test_operators_on_the_host(case: str, opened: Any) -> None:
    facts, run = FACTS[case], opened(case)
    dispatched = _slices(run, "t.name = 'interpreter' AND s.kind IN ('launch', 'op') AND s.external_id IS NOT NULL")
    assert Counter(row["name"] for row in dispatched) == facts["dispatch_by_name"]
    assert len(dispatched) == facts["ops_dispatched"]
    inline = Counter(row["name"] for row in dispatched if row["kind"] == "op")
    assert inline == facts["dispatched_never_executed"]
    executed = _slices(run, "t.name = 'worker' AND s.kind = 'op'")
    assert len(executed) == facts["ops_executed"]
    times = Counter(row["external_id"] for row in executed)
    assert sum(count > 1 for count in times.values()) == facts["re_executed_op_ids"]
    top = _sums(executed)
    _close({name: top[name] for name in facts["exec_host_us_by_name"]}, facts["exec_host_us_by_name"])


@pytest.mark.parametrize("case", TIMELINES)
def test_operators_on_devices(case: str, opened: Any) -> None:
    facts, run = FACTS[case], opened(case)
    kernels = _slices(run, "s.category = 'Kernel'")
    by_row: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for kernel in kernels:
        by_row[kernel["track"]].append(kernel)
    first_event = _rows(run, "SELECT min(start_ns) AS first FROM slices")[0]["first"]
    assert first_event is None or first_event >= 0
    assert set(by_row) == {row for row, values in facts["kernels"].items() if values["count"]}
    for row, own in by_row.items():
        told = facts["kernels"][row]
        assert len(own) == told["count"]
        assert sum(k["us"] for k in own) == pytest.approx(told["sum_us"], abs=2e-3)
        assert _union_us(own) == pytest.approx(told["union_us"], abs=2e-3)
        _close({name: _sums(own)[name] for name in told["by_name"]}, told["by_name"])
    of_steps = defaultdict(list)
    labels = {row["step"]: row["label"] for row in _rows(run, "SELECT step, label FROM steps")}
    for kernel in kernels:
        if kernel["step"] is not None:
            of_steps[f"{labels[kernel['step']]} @ {kernel['track']}"].append(kernel)
    if facts["step_scopes"]:
        ours = {name: [len(rows), sum(row["us"] for row in rows)] for name, rows in of_steps.items()}
        _close(ours, facts["kernels_per_step_scope"])
    launched = "SELECT count(DISTINCT f.to_id) AS n FROM flows f JOIN slices s ON s.slice_id = f.to_id WHERE {}"
    assert _rows(run, launched.format("f.kind = 'launch' AND s.category = 'Kernel'"))[0]["n"] == len(kernels)
    copies = _slices(run, "s.name = 'HostToDevice'")
    assert (len(copies), sum(c["us"] for c in copies)) == pytest.approx(tuple(facts["host_to_device"]), abs=2e-3)
    rows_of_op = defaultdict(set)
    for kernel in kernels:
        rows_of_op[kernel["external_id"]].add(kernel["track"])
    assert sum(len(rows) > 1 for rows in rows_of_op.values()) == facts["ops_with_kernel_on_more_than_one_device"]


def _union_us(rows: list[dict[str, Any]]) -> float:
    total, reached = 0, -1
    for row in sorted(rows, key=lambda row: row["start_ns"]):
        start, end = max(row["start_ns"], reached), row["start_ns"] + row["dur_ns"]
        total += max(end - start, 0)
        reached = max(reached, end)
    return total / 1000


@pytest.mark.parametrize("case", TIMELINES)
def test_waits_commands_and_properties(case: str, opened: Any) -> None:
    facts, run = FACTS[case], opened(case)
    waits = _slices(run, "s.name = 'TensorWaitProp'")
    told = facts["sync_waits"]
    assert len(waits) == told["count"]
    assert sum(wait["us"] for wait in waits) == pytest.approx(told["sum_us"], abs=2e-3)
    assert {wait["kind"] for wait in waits} <= {"sync"}
    longest = sorted((wait["us"] for wait in waits), reverse=True)[: len(told["longest"])]
    assert longest == pytest.approx([us for us, *_ in told["longest"]], abs=2e-3)
    commands = ", ".join(f"'{name}'" for name in facts["commands"])
    rows = _slices(run, f"s.name IN ({commands})") if commands else []
    assert Counter(row["name"] for row in rows) == facts["commands"]
    kinds = _rows(run, "SELECT a.args FROM slices s JOIN args a USING (slice_id) WHERE s.name = 'TensorGetProp'")
    assert Counter(json.loads(row["args"])["kind"] for row in kinds) == facts["tensor_get_prop"]


@pytest.mark.parametrize("case", TIMELINES)
def test_scopes_and_steps(case: str, opened: Any) -> None:
    facts, run = FACTS[case], opened(case)
    ours = _scope_tree(run)
    told = facts["scope_tree_interpreter"]
    told = told.get("top", told)
    assert {path: count for path, (count, _) in ours.items() if path in told} == {
        path: count for path, (count, _) in told.items()
    }
    assert {path: us for path, (_, us) in ours.items() if path in told} == pytest.approx(
        {path: us for path, (_, us) in told.items()}, abs=2e-3
    )
    steps = [[name, us] for thread, name, _, us in facts["step_scopes"] if thread == "interpreter"]
    if steps:
        found = _rows(run, "SELECT label, end_ns - start_ns AS ns FROM steps ORDER BY start_ns")
        assert [row["label"] for row in found] == [name for name, _ in steps]
        assert [row["ns"] / 1000 for row in found] == pytest.approx([us for _, us in steps], abs=2e-3)
    stops = [ts for thread, ts in facts["stop_step_instants"] if thread == "interpreter"]
    if stops and not steps:
        found = _rows(run, "SELECT end_ns FROM steps ORDER BY start_ns")
        origin: Any = run.traces[0].meta["origin_ns"]
        assert [(row["end_ns"] + origin) / 1000 for row in found] == pytest.approx(stops, abs=2e-3)


def _scope_tree(run: Run) -> dict[str, list[float]]:
    """Scopes of the interpreter by path: how many and how long."""
    rows = _slices(run, "t.name = 'interpreter'")
    by_id = {row["slice_id"]: row for row in rows}
    paths: dict[int, str] = {}
    tree: dict[str, list[float]] = defaultdict(lambda: [0, 0.0])
    for row in rows:
        outer = paths.get(row["parent_id"], "") if row["parent_id"] in by_id else ""
        if row["kind"] in ("scope", "step", "data"):
            paths[row["slice_id"]] = f"{outer}/{row['name']}" if outer else row["name"]
            tree[paths[row["slice_id"]]][0] += 1
            tree[paths[row["slice_id"]]][1] += row["us"]
        else:
            paths[row["slice_id"]] = outer
    return tree


@pytest.mark.parametrize("case", TIMELINES)
def test_counters_and_call_stacks(case: str, opened: Any) -> None:
    facts, run = FACTS[case], opened(case)
    rows = _rows(
        run,
        "SELECT t.name, max(c.value) AS most, max_by(c.value, c.ts_ns) AS last FROM counters c "
        "JOIN tracks t USING (rank_index, track_id) GROUP BY t.name",
    )
    assert {row["name"]: row["most"] for row in rows} == pytest.approx(facts["counters_max"])
    told = facts["dispatches_with_python_backtrace"]
    dispatched = "t.name = 'interpreter' AND s.external_id IS NOT NULL AND s.stack_id IS NOT NULL"
    own = _slices(run, f"{dispatched} AND slice_id IN (SELECT slice_id FROM args WHERE args LIKE '%python_backtrace%')")
    assert len(own) == told
    lent = len(_slices(run, dispatched)) - told  # backward operators have their forward operator's
    assert lent == 0 or told > 0
    assert lent > 0 or not case.endswith("_backtrace") or case.startswith("sync_shape")  # which has no backward pass


BUSY = {
    "mlp_default": (23.74, 29.15),
    "mlp_step5": (60.24, 68.35),
    "resnet_default": (64.06, 98.43),
    "transformer_default": (57.92, 72.03),
    "fault_reshape_sync_default": (58.32, 75.45),
    "streams_and_copies": (72.88, 85.43),
    "dtr_recompute": (64.00, 94.61),
}


@pytest.mark.parametrize("case", BUSY)
def test_busy_share_is_recomputed(case: str, opened: Any) -> None:
    stored, right = BUSY[case]
    result = report(opened(case))
    share = result["ranks"][0]["device_total"]["kernel_busy_share"]
    assert 100 * share == pytest.approx(right, abs=0.01)
    messages = [warning["message"] for warning in result["warnings"] if warning["code"] == "mismatch"]
    assert any(f"{stored:.2f} %" in message and "gpu_usgae_ratio" in message for message in messages)


def test_absurd_training_ratios_are_rejected(opened: Any) -> None:
    for case, told in (("mlp_step5", "-176.4 %"), ("loader_starved_workers0", "-44.47 %")):
        messages = [w["message"] for w in report(opened(case))["warnings"] if w["code"] == "mismatch"]
        assert any(told in message and "train_time_ratio" in message for message in messages)


@pytest.mark.parametrize("case", ["synthetic_gpu_allreduce_serial", "synthetic_gpu_allreduce_overlap"])
def test_communication_of_several_gpus(case: str, opened: Any) -> None:
    facts = FACTS[case] if isinstance(FACTS[case], list) else [FACTS[case]]
    run = opened(case)
    for rank, told in zip(report(run)["ranks"], facts, strict=True):
        total = rank["device_total"]
        ours = {
            "comm_us": total["communication_ns"] / 1000,
            "compute_us": total["compute_ns"] / 1000,
            "overlap_us": total["communication_overlapped_ns"] / 1000,
            "exposed_comm_us": total["communication_exposed_ns"] / 1000,
            "window_us": total["span_ns"] / 1000,
            "kernels": total["ops"],
        }
        assert ours == {key: told[key] for key in ours}
        assert 100 * total["kernel_busy_share"] == pytest.approx(told["gpu_usgae_ratio"], abs=0.01)
        assert [[s["dur_ns"] / 1000] for s in rank["steps"]] == [[end - start] for start, end in told["step_us"]]
    streams = {
        row["stream"]
        for row in _rows(
            run,
            "SELECT t.stream FROM slices s JOIN tracks t USING (rank_index, track_id) WHERE s.kind = 'communication'",
        )
    }
    assert streams == ({0} if case.endswith("serial") else {1})


def test_rows_of_cupti_count_nowhere(opened: Any) -> None:
    case = "synthetic_gpu_cupti"
    total = report(opened(case))["ranks"][0]["device_total"]
    assert (total["ops"], total["compute_ns"], total["communication_ns"]) == (60, 13_680_000, 0)
    copies = _slices(opened(case), "s.name = 'Memcpy' AND s.kind = 'device_other'")
    assert {copy["bytes"] for copy in copies} == {1_572_864}


def test_copies_on_two_rows_count_once(opened: Any) -> None:
    table: Any = operator_table(opened("streams_and_copies").traces[0], by="name", on="device").rows
    assert {row["name"]: row["count"] for row in table} == {"MatrixMul": 12, "Copy": 8, "ADD": 4}


@pytest.mark.parametrize("case", ["loader_starved_workers0", "loader_starved_workers1"])
def test_starved_loaders_wait_for_data(case: str, opened: Any) -> None:
    """The user's scope `fetch` is 92 to 99 % of each of the six steps; the device works on into it."""
    run = opened(case)
    steps: list[Any] = report(run)["ranks"][0]["steps"]
    fetches = _slices(run, "t.name = 'interpreter' AND s.kind = 'data'")
    assert [row["name"] for row in fetches] == ["fetch"] * 6
    shares = [fetch["dur_ns"] / step["dur_ns"] for fetch, step in zip(fetches, steps, strict=True)]
    assert all(0.92 <= round(share, 2) <= 0.99 for share in shares)
    for step in steps:
        budget = step["budget"]
        assert budget["idle_data_wait_ns"] > 0.8 * step["dur_ns"]
        assert budget["idle_data_wait_ns"] > 0.9 * budget["idle_ns"]


def test_waits_name_what_made_the_tensor(opened: Any) -> None:
    run = opened("sync_shape_value_backtrace")
    makers = _rows(
        run,
        "SELECT p.name, count(*) AS n FROM flows f JOIN slices w ON w.slice_id = f.to_id AND w.kind = 'sync' "
        "JOIN slices p ON p.slice_id = f.from_id WHERE f.kind = 'data' GROUP BY p.name",
    )
    assert sum(row["n"] for row in makers) == 15
    assert {"CondTake"} <= {row["name"] for row in makers}


def test_backward_operators_know_their_forward_ones(opened: Any) -> None:
    run = opened("mlp_default")
    pairs = _rows(
        run,
        "SELECT f.name AS forward, b.name AS backward, o.module, f.step AS step, b.step AS later FROM flows l "
        "JOIN slices f ON f.slice_id = l.from_id JOIN slices b ON b.slice_id = l.to_id JOIN ops o ON o.op_id = b.op_id "
        "WHERE l.kind = 'forward_backward'",
    )
    assert all(row["step"] == row["later"] for row in pairs)
    products = Counter(row["forward"] for row in pairs if row["module"] == "backward/MatrixMulBackward")
    assert set(products) == {"MatrixMul"}
    dropped = Counter(row["forward"] for row in pairs if row["module"] == "backward/DropoutBackward")
    assert set(dropped) == {"Dropout"}


def test_phases(opened: Any) -> None:
    trace: Trace = opened("mlp_default").traces[0]
    rows = _rows(opened("mlp_default"), "SELECT phase, count(*) AS n FROM slices WHERE kind = 'kernel' GROUP BY phase")
    counts = {row["phase"]: row["n"] for row in rows}
    assert set(counts) == {"forward", "backward", "optimizer"}
    assert sum(counts.values()) == 237
    assert trace.steps["backward_end_ns"].min() > 0
