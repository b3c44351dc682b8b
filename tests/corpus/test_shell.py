"""`laptime shell` on real Ascend recordings, against what their README says of them."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from laptime.__main__ import main
from tests.conftest import corpus_folder

pytestmark = pytest.mark.corpus

JOB3 = ("job3_widedeep_raw", "job3_parsed_r1.1")
TOTAL_MS = 126.436317571
"""Sum over the operators of the mean of their executions."""

Talk = Callable[..., str]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all tests, so that each recording is imported once."""
    return tmp_path_factory.mktemp("workspace")


@pytest.fixture
def talk(workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Talk:
    """What the shell prints for some lines about a recording; all of them go well."""
    folder = corpus_folder()
    if folder is None:
        pytest.skip("no corpus: set LAPTIME_CORPUS to the folder of real recordings")
    monkeypatch.setenv("LAPTIME_WORKSPACE", str(workspace))
    monkeypatch.setenv("COLUMNS", "80")

    def run(name: str, *lines: str, device: int = 1) -> str:
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines)))
        path = folder / "mindinsight" / name
        monkeypatch.setattr(sys, "argv", ["laptime", "shell", "--op_path", str(path), "--device_id", str(device)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        assert not ended.value.code, captured.err
        return captured.out

    return run


def _dumped(talk: Talk, name: str, kind: str, target: Path) -> list[dict[str, str]]:
    talk(name, f"op --op_type {kind} --dump_csv '{target}'")
    with (target / f"{kind}_1.csv").open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


@pytest.mark.parametrize("name", JOB3)
def test_operators_one_by_one(name: str, talk: Talk, tmp_path: Path) -> None:
    rows = _dumped(talk, name, "aicore_detail", tmp_path)
    means = {row["op_name"]: float(row["avg_execution_time (ms)"]) for row in rows}
    assert len(rows) == len(means) == 199
    assert list(means.values()) == sorted(means.values(), reverse=True)
    assert sum(means.values()) == pytest.approx(TOTAL_MS, abs=199 * 5e-7)
    assert means["GatherV2-op55"] == pytest.approx(42.220212142857, abs=5e-7)
    assert means["GatherV2-op33"] == pytest.approx(0.935229333, abs=5e-7)
    longest = talk(name, "op --limit 1").splitlines()[4:]
    assert longest[0].split() == ["GatherV2-op55", "GatherV2", "Default", "42.220212"]
    assert longest[2].strip() == "FLOAT32[184696,8], INT32[128000,39] → FLOAT32[128000,39,8]"
    assert longest[3] == "1 of 199"


@pytest.mark.parametrize("name", JOB3)
def test_operators_by_type(name: str, talk: Talk, tmp_path: Path) -> None:
    rows = {row["op_type"]: list(row.values())[1:] for row in _dumped(talk, name, "aicore_type", tmp_path)}
    assert len(rows) == 29
    assert rows["UnsortedSegmentSum"] == ["44.607826", "28", "35.28"]
    assert rows["GatherV2"] == ["43.155441", "29", "34.13"]
    assert rows["Mul"][0] == "1.902949"
    assert sum(int(row[1]) for row in rows.values()) == 2817
    assert sum(float(row[0]) for row in rows.values()) == pytest.approx(TOTAL_MS, abs=29 * 5e-7)
    assert "2 of 2 that match, 29 in all" in talk(name, "op --op_type aicore_type --filter op_type=Mul")


@pytest.mark.parametrize("name", JOB3)
def test_the_average_step(name: str, talk: Talk) -> None:
    lines = talk(name, "step").splitlines()
    times = {line[:20].strip(" ░█▒"): line.split()[-3:] for line in lines if line.endswith("%")}
    assert float(times["total"][1]) == 205.3809
    assert times["interval"][1:] == ["0.2038", "0.10%"]
    assert float(times["forward+backward"][1]) == pytest.approx(118.054, abs=1.01e-4)  # 118.0539 in whole counts
    assert times["forward+backward"][2] == "57.48%"
    assert times["tail"][1:] == ["87.1231", "42.42%"]
    streams = {label: row for label, row in times.items() if label.startswith("stream ")}
    assert list(streams) == [f"stream {number}" for number in range(520, 542, 2)]
    assert streams["stream 520"][:2] == ["1.4817", "2.8497"]
    assert streams["stream 540"][:2] == ["118.3705", "49.2810"]
    assert "forward starts at Default/Cast-op6" in lines
    assert "backward ends at Default/TransData-op7" in lines


def test_one_step(talk: Talk) -> None:
    lines = talk("job3_widedeep_raw", "step --step_id 204").splitlines()
    assert next(line for line in lines if line.startswith("total")).split()[-2] == "211.4022"


def test_ai_cpu(talk: Talk, tmp_path: Path) -> None:
    talk("job_aicpu", f"op --op_type aicpu --dump_csv '{tmp_path}'", device=0)
    with (tmp_path / "aicpu_0.csv").open(newline="", encoding="utf-8") as handle:
        rows = {row["op_type"]: list(row.values())[2:] for row in csv.DictReader(handle)}
    assert rows["InitData"] == ["1.567", "0.1", "2298200409", "2298200538"]
    assert rows["GetNext"][:2] == ["0.989", "0.087"]
    assert rows["TruncatedNormal"][:2] == ["1.566", "0.105"]


def test_ai_cpu_without_names(talk: Talk, tmp_path: Path) -> None:
    """323 runs whose operator the log does not name."""
    rows = _dumped(talk, "job3_widedeep_raw", "aicpu", tmp_path)
    assert len(rows) == 323
    assert {row["op_type"] for row in rows} == {""}
    assert sum(float(row["total_time (ms)"]) for row in rows) == pytest.approx(324.140)


def test_a_device_of_several(talk: Talk) -> None:
    out = talk("cluster_pp2x2_parsed", "step", device=2)
    assert "device 2, average of 4 steps" in out
    total = next(line for line in out.splitlines() if line.startswith("total"))
    assert total.split()[-2] == "179.3643"


@pytest.mark.parametrize("device", [0, 1])
def test_prof(device: int, talk: Talk, tmp_path: Path) -> None:
    """File names say device 1, host_start.log device 0: either opens."""
    folder = corpus_folder()
    assert folder is not None
    lines = (
        f"prof --job_id job3_widedeep_raw --device_id {device} "
        f"--profiling_dir '{folder / 'mindinsight'}' --output_path '{tmp_path}'",
        "op --limit 1",
        "step",
    )
    out = talk("job3_parsed_r1.1", *lines)
    assert (tmp_path / "profiler" / f"framework_raw_{device}.csv").is_file()
    after = out[out.index("now open: ") :]
    assert f"device {device}\n" in after
    assert "42.220212" in after
    assert "205.3809" in after
