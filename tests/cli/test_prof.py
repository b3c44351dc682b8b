"""`laptime prof`: which job it finds, what it says, and what it says where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.importers import ascend_jobs as jobs

LATER = b"[Device0]\nclock_realtime: 1591183963784568999\n"


@pytest.fixture
def profiling(tmp_path: Path) -> Path:
    """A machine's folder of jobs: two of device 0, the later one of more steps, and one of device 4."""
    folder = tmp_path / "profiling"
    jobs.write_job(folder / "JOBZZ", jobs.job_files(3))
    jobs.write_job(folder / "JOBAA", {**jobs.job_files(5), jobs.HOST_START: LATER})
    files = {name.replace(".0", ".4"): content for name, content in jobs.job_files(4).items()}
    files[jobs.HOST_START.replace(".0", ".4")] = b"[Device4]\nclock_realtime: 1\n"
    jobs.write_job(folder / "JOBDD", files)
    return folder


def test_a_named_job(profiling: Path, tmp_path: Path, cli: Cli) -> None:
    ran = cli("prof", "--job_id", "JOBZZ", "--device_id", 0, "--output_path", tmp_path, "--profiling-dir", profiling)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[:2] == [
        "JOBZZ: 2 operators, 6 executions, 3 steps",
        f"wrote 14 files to {tmp_path / 'profiler'}",
    ]
    assert f"laptime report {tmp_path / 'profiler'}" in ran.out
    assert (tmp_path / "profiler" / "framework_raw_0.csv").is_file()
    report = cli("step", tmp_path / "profiler", "--json").json
    assert len(report["steps"]) == 3


@pytest.mark.parametrize(("device", "job", "steps"), [((), "JOBAA", 5), (("--device-id", 4), "JOBDD", 4)])
def test_the_newest_job_of_a_device(
    device: tuple[object, ...], job: str, steps: int, profiling: Path, tmp_path: Path, cli: Cli
) -> None:
    ran = cli("prof", *device, "-o", tmp_path / "out", "--profiling-dir", profiling)
    assert ran.out.splitlines()[0] == f"{job}: 2 operators, {2 * steps} executions, {steps} steps"


def test_the_only_device_needs_no_number(profiling: Path, tmp_path: Path, cli: Cli) -> None:
    ran = cli("prof", "--job-id", "JOBDD", "-o", tmp_path / "profiler", "--profiling-dir", profiling)
    assert ran.code == 0
    assert (tmp_path / "profiler" / "framework_raw_4.csv").is_file()


@pytest.mark.parametrize("device", [0, 1])
def test_either_number_where_names_and_log_differ(device: int, tmp_path: Path, cli: Cli) -> None:
    """Files say device 1, host_start.log says device 0."""
    files = {name.replace(".0", ".1"): content for name, content in jobs.job_files().items()}
    job = jobs.write_job(tmp_path / "JOBAA", files)
    ran = cli("prof", "--job-id", job, "--device-id", device, "-o", tmp_path)
    assert ran.code == 0
    assert "names of the job's files say device 1, its host_start.log device 0" in ran.err
    assert (tmp_path / "profiler" / f"step_trace_raw_{device}_detail_time.csv").is_file()


def test_minddata_is_taken_along(tmp_path: Path, cli: Cli) -> None:
    files = {**jobs.job_files(), "device_queue_profiling_0.txt": b"1 64 1 7 10\n0 2 1 4 10\n"}
    job = jobs.write_job(tmp_path / "JOBAA", files)
    assert cli("prof", "--job-id", job, "--device-id", 0, "-o", tmp_path).code == 0
    assert (tmp_path / "profiler" / "device_queue_profiling_0.txt").read_bytes() == b"1 64 1 7 10\n0 2 1 4 10\n"
    queues = cli("pipeline", tmp_path / "profiler", "--json").json["queues"]
    assert [(queue["queue"], queue["mean_size"]) for queue in queues] == [("host", 7.0), ("device", 1.0)]


def test_steps_that_are_left_out_are_named(tmp_path: Path, cli: Cli) -> None:
    steps = jobs.step_points(5)
    steps[2] = steps[2][:-1]
    job = jobs.write_job(tmp_path / "JOBAA", {**jobs.job_files(5), jobs.POINTS: jobs.joined(steps)})
    ran = cli("prof", "--job-id", job, "-o", tmp_path)
    assert "1 step has no whole set of points and is left out of the step trace: 3" in ran.err


FAULTS = [
    (("--job-id", "JOBQQ"), "no job JOBQQ", "jobs there: JOBAA, JOBZZ, JOBDD"),
    (("--device-id", 7), "no job of device 7", "devices there: 0, 4"),
    (("--job-id", "JOBDD", "--device-id", 0), "no device 0 in this job", "choose --device-id 4"),
]


@pytest.mark.parametrize(("options", "what", "remedy"), FAULTS, ids=lambda value: str(value))
def test_what_is_not_there(
    options: tuple[object, ...], what: str, remedy: str, profiling: Path, tmp_path: Path, cli: Cli
) -> None:
    ran = cli("prof", *options, "-o", tmp_path, "--profiling-dir", profiling)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"laptime: {what}: {profiling}")
    assert remedy in ran.err
    assert ran.err.count("\n") == 1
    assert not (tmp_path / "profiler").exists()


def test_no_folder_of_jobs(tmp_path: Path, cli: Cli) -> None:
    ran = cli("prof", "--profiling-dir", tmp_path / "none", "-o", tmp_path)
    assert (ran.code, ran.err.split(":")[1]) == (1, " no folder of profiling jobs")
    (tmp_path / "none").mkdir()
    ran = cli("prof", "--profiling-dir", tmp_path / "none", "-o", tmp_path)
    assert "no JOB folder" in ran.err and "ada daemon" in ran.err


BROKEN = {
    "compressed": ({"hwts.log.data.45.dev.profiler_default_tag.0.slice_0.zip": b"PK"}, "set COMPRESS_SWITCH=0"),
    "never begun": ({"dev_start.log.0": b"cntvct: 1\n"}, "the job has no host_start.log"),
    "never ended": ({jobs.HOST_START: LATER}, "the job holds no recording beside its start logs"),
}


@pytest.mark.parametrize("fault", BROKEN)
@pytest.mark.parametrize("command", ["report", "prof"])
def test_a_broken_job_says_why(fault: str, command: str, tmp_path: Path, cli: Cli) -> None:
    files, told = BROKEN[fault]
    job = jobs.write_job(tmp_path / "JOBAA", files)
    ran = cli("report", job) if command == "report" else cli("prof", "--job-id", job, "-o", tmp_path / "out")
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert told in ran.err


def test_an_empty_profiling_folder_says_why(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "profiling" / "logs").mkdir(parents=True)
    ran = cli("report", tmp_path / "profiling")
    assert ran.err.startswith("laptime: no JOB folder: ")


def test_a_folder_named_like_a_job_may_hold_other_recordings(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "JOB123").mkdir()
    (tmp_path / "JOB123" / "trace.json").write_text(
        '{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]}'
    )
    assert cli("report", tmp_path / "JOB123").code == 0
