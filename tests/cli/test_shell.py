"""`laptime shell` from a pipe: its verbs, what they print and write, and that errors are one line and never the end."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from laptime.cli.shell_session import Profile
from tests.cli.conftest import Cli, Piped
from tests.cli.test_process import environment, loaded
from tests.conftest import EXAMPLE
from tests.importers import ascend_jobs as jobs


def renamed(files: dict[str, bytes], device: int) -> dict[str, bytes]:
    """The files of a job with another device in their names."""
    return {name.replace(".0", f".{device}"): content for name, content in files.items()}


def _table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


# ---- op ----


def test_op_lists_operators_longest_first(job: Path, piped: Piped) -> None:
    ran = piped(job, "op")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[1].split() == ["op_name", "op_type", "subgraph", "avg_execution_time", "(ms)"]
    assert lines[2:4] == ["    full_op_name", "    op_info"]
    assert [line.split() for line in lines[4:10]] == [
        ["Mul-op1", "Mul", "Default", "0.020000"],
        ["Default/net/Mul-op1"],
        ["FLOAT16[32,16]", "→", "FLOAT32[32]"],
        ["Add-op2", "Add", "Gradients", "0.020000"],
        ["Gradients/net/Add-op2"],
        ["FLOAT16[32,16]", "→", "FLOAT32[32]"],
    ]
    assert lines[-1] == "2 of 2"
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ("--filter op_type=MU", ["Mul-op1"]),
        ("--in op_type=add,relu", ["Add-op2"]),
        ("--not_in op_type=Add", ["Mul-op1"]),
        ("--not-in op_type=Add", ["Mul-op1"]),
        ("--sort op_name", ["Add-op2", "Mul-op1"]),
        ("--sort full_op_name --limit 1 --page 1", ["Add-op2"]),
        ("--subgraph Gradients", ["Add-op2"]),
        ("--filter op_type=relu", []),
        ("--filter full-op-name=net/ --filter full_op_name=nothing", ["Mul-op1", "Add-op2"]),
    ],
)
def test_op_chooses_rows(options: str, names: list[str], job: Path, piped: Piped) -> None:
    ran = piped(job, f"op {options}")
    assert (ran.code, ran.err) == (0, "")
    assert [line.split()[0] for line in ran.out.splitlines() if "-op" in line and "/" not in line] == names


def test_op_sorts_by_time_either_way(tmp_path: Path, piped: Piped) -> None:
    """Mul runs 20 us in each step, Add now 40 us."""
    log = jobs.hwts_log(4)
    log.run(3, 30_002, jobs.ZERO + 38_000, jobs.ZERO + 38_000 + 10_000)
    path = jobs.write_job(tmp_path / "JOBAA", {**jobs.job_files(), jobs.HWTS: log.bytes()})
    for options, names in (("", ["Add-op2", "Mul-op1"]), ("--ascending", ["Mul-op1", "Add-op2"])):
        shown = piped(path, f"op {options}").out.splitlines()
        assert [line.split()[0] for line in shown if "-op" in line and "/" not in line] == names


@pytest.mark.parametrize("named", ["aicore_type", "aicore-type", "aicore_cpu"])
def test_types_sum_averages_and_count_executions(named: str, job: Path, piped: Piped) -> None:
    ran = piped(job, "op", options=("--op_type", named))
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[1].split() == ["op_type", "execution_time", "(ms)", "execution_frequency", "percent", "(%)"]
    assert [line.split() for line in lines[2:4]] == [
        ["Mul", "0.020000", "4", "50.00"],
        ["Add", "0.020000", "4", "50.00"],
    ]


def test_ai_cpu_executions(job: Path, piped: Piped) -> None:
    """2 us in all, 1 us of dispatch; the run alone took 30 us on the AI CPU's clock."""
    ran = piped(job, "op --op_type aicpu")
    titles, units, row = (line.split() for line in ran.out.splitlines()[1:4])
    assert titles == ["serial_", "total_time", "dispatch_time", "run_start", "run_end"]
    assert units == ["number", "op_type", "(ms)", "(ms)", "(us)", "(us)"]
    assert row == ["1", "GetNext", "0.002000", "0.001000", "120", "150"]


def test_ai_cpu_run_without_its_second_half_has_no_total(tmp_path: Path, piped: Piped) -> None:
    node = b"Node:Default/GetNext-op3, Run start:120 1012000, Run end:150 1015000\0"
    path = jobs.write_job(tmp_path / "JOBAA", {**jobs.job_files(), jobs.AICPU: node})
    row = piped(path, "op --op_type aicpu").out.splitlines()[3]
    assert row.split() == ["1", "GetNext", "-", "-", "120", "150"]


def test_full_name_tells_inputs_and_outputs(job: Path, piped: Piped) -> None:
    for name in ("Default/net/Mul-op1", "Mul-op1"):
        lines = piped(job, f"op --full_name {name}").out.splitlines()
        assert lines[0] == "Default/net/Mul-op1"
        assert "avg_execution_time: 0.020000 ms (4 executions)" in lines
        assert [line.split() for line in lines[-3:]] == [
            ["format", "data_type", "shape"],
            ["input_0", "NC1HWC0", "FLOAT16", "32,16"],
            ["output_0", "NC1HWC0", "FLOAT32", "32"],
        ]


def test_unknown_names_bring_near_ones(job: Path, piped: Piped) -> None:
    ran = piped(job, "op --full_name net/mul-op", "op --full_name Defolt/net/Mul-op1", "op --full_name zzz")
    assert ran.code == 1
    first, second, third = ran.err.splitlines()
    assert first.endswith("net/mul-op: did you mean Default/net/Mul-op1?")
    assert "did you mean Default/net/Mul-op1" in second
    assert third == "laptime: no operator of that full name: zzz: `op` lists the names"


@pytest.mark.parametrize(
    ("kind", "columns", "first"),
    [
        (
            "aicore_detail",
            ["op_name", "op_type", "avg_execution_time (ms)", "subgraph", "full_op_name", "op_info"],
            ["Mul-op1", "Mul", "0.02", "Default", "Default/net/Mul-op1"],
        ),
        (
            "aicore_type",
            ["op_type", "execution_time (ms)", "execution_frequency", "percent (%)"],
            ["Mul", "0.02", "4", "50"],
        ),
        (
            "aicpu",
            ["serial_number", "op_type", "total_time (ms)", "dispatch_time (ms)", "run_start (us)", "run_end (us)"],
            ["1", "GetNext", "0.002", "0.001", "120", "150"],
        ),
    ],
)
def test_dump_csv(kind: str, columns: list[str], first: list[str], job: Path, tmp_path: Path, piped: Piped) -> None:
    target = tmp_path / "new" / "dump"
    ran = piped(job, f"op --dump_csv '{target}'", options=("--op_type", kind))
    rows = _table(target / f"{kind}_0.csv")
    assert ran.out == f"wrote {target / f'{kind}_0.csv'} ({len(rows)} rows)\n"
    assert list(rows[0]) == columns
    assert list(rows[0].values())[: len(first)] == first
    if kind == "aicore_detail":
        assert json.loads(rows[0]["op_info"]) == {
            "input_0": {"format": "NC1HWC0", "data_type": "FLOAT16", "shape": "32,16"},
            "output_0": {"format": "NC1HWC0", "data_type": "FLOAT32", "shape": "32"},
        }


def test_dump_csv_holds_what_matches(job: Path, tmp_path: Path, piped: Piped) -> None:
    assert piped(job, f"op --dump_csv '{tmp_path}' --filter op_type=add").code == 0
    assert [row["op_name"] for row in _table(tmp_path / "aicore_detail_0.csv")] == ["Add-op2"]


def test_dump_csv_into_what_is_no_folder(job: Path, tmp_path: Path, piped: Piped) -> None:
    (tmp_path / "file").write_text("")
    ran = piped(job, f"op --dump_csv '{tmp_path / 'file'}'", "op --limit 1")
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert ran.err.startswith("laptime: File exists: ")
    assert "Mul-op1" in ran.out


# ---- step ----


def _numbers(line: str) -> list[float]:
    return [float(word.rstrip("%")) for word in line.split()[-3:]]


def test_step_draws_the_average(job: Path, piped: Piped) -> None:
    """In counts of 10 ns forward starts at 600, backward ends at 6100, the step at 10000; region 4100 to 7100."""
    lines = piped(job, "step").out.splitlines()
    assert lines[0].endswith("average of 3 steps, without the first")
    rows = {line.split()[0]: line for line in lines if line.strip() and line.endswith("%")}
    assert _numbers(rows["total"]) == [0, 0.1, 100]
    parts = [line for line in lines if line.startswith("  ")][1:]
    assert [_numbers(line) for line in parts] == [[0, 0.006, 6], [0.006, 0.055, 55], [0.061, 0.039, 39]]
    assert _numbers(rows["stream"]) == [0.041, 0.03, 30]
    total = next(line for line in lines if line.startswith("total"))
    bar = next(line for line in lines if line.startswith("parts"))[20:].rstrip()
    width = total.count("─")
    assert len(bar) == width
    assert abs(bar.count("█") - 0.55 * width) <= 1
    assert rows["stream"].index("▬") - 20 == round(0.41 * width)
    assert rows["stream"].count("▬") == round(0.71 * width) - round(0.41 * width)
    assert "forward starts at Default/net/Mul-op1" in lines
    assert "backward ends at Gradients/net/Add-op2" in lines
    assert max(map(len, lines)) <= 80


def test_step_draws_one(job: Path, piped: Piped) -> None:
    first, second = (piped(job, f"step --step_id {number}").out.splitlines() for number in (1, 2))
    assert first[0].endswith("step 1 of 4")
    assert any("its interval is unknown" in line for line in first)
    assert second[0].endswith("step 2 of 4")
    sentence = " ".join(second[second.index(next(line for line in second if line.startswith("average:"))) :])
    assert "total 0.1000 ms, interval 0.0060 ms (6.00%)" in " ".join(sentence.split())


def test_step_beyond_the_last(job: Path, piped: Piped) -> None:
    ran = piped(job, "step --step_id 5")
    assert ran.code == 1
    assert "no step 5: " in ran.err
    assert "choose 1 to 4, or 0 for the average" in ran.err


def test_a_stream_of_many_collectives_is_told_in_part(piped: Piped) -> None:
    lines = piped(EXAMPLE, "step", options=("--device_id", 2)).out.splitlines()
    assert any(line.startswith("thread ") and "▬" in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_no_step_is_said(tmp_path: Path, piped: Piped) -> None:
    files = {name: content for name, content in jobs.job_files().items() if name != jobs.POINTS}
    ran = piped(jobs.write_job(tmp_path / "JOBAA", files), "step", "step --step_id 1")
    assert ran.out == "No step is recorded.\n" * 2


# ---- lines ----


def test_help_tells_the_verbs_and_a_verb_its_options(job: Path, piped: Piped) -> None:
    ran = piped(job, "help", "op --help", "help step", "", "  ", "quit", "nonsense")
    assert (ran.code, ran.err) == (0, "")
    for word in ("op --dump_csv DIR", "Usage: op [OPTIONS]", "--full-name", "Usage: step [OPTIONS]"):
        assert word in ran.out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense", "No such command 'nonsense'"),
        ("op --nonsense", "No such option: --nonsense"),
        ("op --limit many", "Invalid value for '--limit'"),
        ("op --limit 0", "Invalid value for '--limit'"),
        ("op --sort nonsense", "'nonsense' is none of: op_name"),
        ("op --sort op_info", "op_info has no order"),
        ("op --filter nonsense=1", "'nonsense' is none of: op_name"),
        ("op --filter op_type", "'op_type' is not COL=TEXT"),
        ("op --op_type host", "'host' is none of: aicore_detail"),
        ("op --subgraph Backward", "'Backward' is none of: all"),
        ("op --op_type aicpu --subgraph Default", "tells no subgraph"),
        ("step --step_id average", "Invalid value for '--step-id'"),
        ("step --step_id -1", "Invalid value for '--step-id'"),
        ('op --filter op_type="x', "No closing quotation"),
        ("prof --profiling_dir nosuch", "no folder of profiling jobs"),
        ("help nonsense", "No such command 'nonsense'"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_not_the_end(line: str, said: str, job: Path, piped: Piped) -> None:
    ran = piped(job, line, "op --limit 1")
    assert ran.code == 1
    assert ran.err.count("\n") == 1, ran.err
    assert ran.err.startswith("laptime: ")
    assert ran.err.count(": ") >= 3
    assert said in ran.err
    assert "Mul-op1" in ran.out


def test_nothing_open(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO("op\nstep\nhelp\n"))
    ran = cli("shell")
    assert ran.code == 1
    assert (
        ran.err.splitlines()
        == ["laptime: no profile is open: data/profiler, data: start with --op-path DIR, or parse a job with `prof`"]
        * 2
    )


def test_a_path_that_cannot_be_opened_is_an_error(tmp_path: Path, piped: Piped) -> None:
    ran = piped(tmp_path / "nosuch", "op")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("laptime: no such file or folder: ")


def test_an_unknown_op_type_is_bad_usage(job: Path, piped: Piped) -> None:
    assert piped(job, "op", options=("--op-type", "host")).code == 2


# ---- devices ----


def test_the_device_asked_for(tmp_path: Path, piped: Piped) -> None:
    files = {
        **renamed(jobs.job_files(2), 4),
        **{name: data for name, data in jobs.job_files(4).items() if ".log" not in name},
    }
    path = jobs.write_job(tmp_path / "JOBAA", {name: data for name, data in files.items() if "_start" not in name})
    for device, steps in ((0, 4), (4, 2)):
        ran = piped(path, "step --step_id 1", options=("--device_id", device))
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.splitlines()[0].endswith(f"device {device}, step 1 of {steps}")
    assert piped(path, "step --step_id 1").out.splitlines()[0].endswith("device 0, step 1 of 4")
    ran = piped(path, "op", options=("--device_id", 3))
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"laptime: no device 3: {path}: devices here: 0, 4\n"


def test_the_only_device_needs_no_number(tmp_path: Path, piped: Piped) -> None:
    files = {name: data for name, data in renamed(jobs.job_files(), 4).items() if "_start" not in name}
    path = jobs.write_job(tmp_path / "JOBAA", files)
    ran = piped(path, f"op --dump_csv '{tmp_path}'")
    assert (ran.code, ran.err) == (0, "laptime: showing device 4, the only one\n")
    assert (tmp_path / "aicore_detail_4.csv").is_file()
    assert piped(path, "op", options=("--device_id", 0)).code == 1


@pytest.mark.parametrize("device", [0, 4])
def test_either_number_where_names_and_log_differ(device: int, tmp_path: Path, piped: Piped) -> None:
    path = jobs.write_job(tmp_path / "JOBAA", renamed(jobs.job_files(), 4))
    ran = piped(path, f"op --dump_csv '{tmp_path}'", options=("--device_id", device))
    assert ran.code == 0
    assert ran.err == f"laptime: files of JOBAA[4] name devices 0 and 4; it is taken as device {device}\n"
    assert (tmp_path / f"aicore_detail_{device}.csv").is_file()
    assert piped(path, "op", options=("--device_id", 1)).code == 1


def test_ranks_stand_for_devices_where_none_is_named(piped: Piped) -> None:
    ran = piped(EXAMPLE, "op", "step", options=("--device_id", 3))
    assert (ran.code, ran.err) == (0, "")
    assert "None is recorded." in ran.out
    assert "device 3, average of 3 steps" in ran.out


# ---- prof ----


def test_prof_parses_a_job_and_opens_it(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs.write_job(tmp_path / "JOBAA", jobs.job_files(5))
    monkeypatch.chdir(tmp_path)
    lines = (f"prof --job_id JOBAA --profiling_dir '{tmp_path}' --output_path out", "op --limit 1", "step --step_id 5")
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines)))
    ran = cli("shell")
    assert ran.code == 0, ran.err
    assert (tmp_path / "out" / "profiler" / "framework_raw_0.csv").is_file()
    shown = ran.out.splitlines()
    assert f"now open: {Path('out', 'profiler')}, device 0" in shown
    assert any(line.split() == ["Mul-op1", "Mul", "Default", "0.020000"] for line in shown)
    assert any(line.endswith("step 5 of 5") for line in shown)


def test_the_usual_folder_is_opened(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        cli("prof", "--job_id", jobs.write_job(tmp_path / "JOBAA", jobs.job_files()), "-o", tmp_path / "data").code == 0
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO("op --limit 1\n"))
    ran = cli("shell")
    assert ran.code == 0, ran.err
    assert ran.out.startswith(f"AI Core operators of {Path('data', 'profiler').as_posix()}, device 0")


# ---- as a process ----


def test_profiler_cli_is_the_shell(job: Path, tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("profiler_cli")
    done = subprocess.run(
        [program, "--op_type", "aicore_type", "--op_path", str(job), "--device_id", "0"],
        input="op\nexit\nop\n",
        env=environment(tmp_path / "workspace", COLUMNS="80"),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("Types of AI Core operators") == 1
    assert "prompt" not in done.stdout


def test_a_pipe_loads_no_line_editor(job: Path, tmp_path: Path) -> None:
    assert "prompt_toolkit" not in loaded("shell", "--help", workspace=tmp_path)
    if os.isatty(0):
        pytest.skip("stdin is a terminal")
    assert "prompt_toolkit" not in loaded("shell", "--op-path", job, workspace=tmp_path)


def test_ctrl_c_ends_a_pipe(job: Path, piped: Piped, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(profile: Profile, op_type: str) -> list[object]:
        raise KeyboardInterrupt

    monkeypatch.setattr(Profile, "rows", interrupted)
    ran = piped(job, "op", "step")
    assert (ran.code, ran.out) == (130, "")
