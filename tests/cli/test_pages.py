"""What people see: pages that fit 80 columns, whatever the recording and its path are called."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.cli.conftest import Cli, Ran
from tests.cli.recordings import (
    DDP2,
    GRAPH_PROFILE,
    MEMORY_DRAWING,
    PATHS,
    THREADS,
    TINY,
    device_events,
    slice_of,
    title,
    written,
)
from tests.conftest import EXAMPLE
from tests.importers.ascend_jobs import job_files, write_job

PAGES = (
    ("report",),
    ("report", "--from", "1us"),
    ("step",),
    ("memory",),
    ("memory", "--from", "1us"),
    ("op",),
    ("op", "--by", "name"),
    ("op", "--by", "shape"),
    ("op", "--by", "source"),
    ("op", "--by", "track"),
    ("op", "--from", "1us"),
)


def assert_fits(ran: Ran) -> None:
    """A page of at most 80 columns, without an empty end."""
    assert ran.code == 0, ran.err
    assert ran.out.strip()
    for line in ran.out.splitlines():
        assert cell_len(line) <= 80, line
        assert "\x1b" not in line


@pytest.mark.parametrize("page", PAGES, ids=" ".join)
@pytest.mark.parametrize("path", PATHS, ids=title)
def test_pages_fit_80_columns(path: Path, page: tuple[str, ...], cli: Cli) -> None:
    command, *options = page
    assert_fits(cli(command, path, *options))


def test_memory_page_shows_curve_peak_and_owners(cli: Cli) -> None:
    ran = cli("memory", MEMORY_DRAWING)
    assert_fits(ran)
    assert "335 blocks; most " in ran.out
    assert "█" in ran.out
    assert "lives at the peak" in ran.out and "ConvolutionBackwardFilter" not in ran.out.splitlines()[1]


def test_memory_page_says_what_would_record_it(cli: Cli) -> None:
    ran = cli("memory", TINY)
    assert_fits(ran)
    assert "profile_memory=True" in ran.out


@pytest.mark.parametrize("by", ["op-type", "name", "full-name", "module", "shape"])
@pytest.mark.parametrize("on", ["device", "host"])
def test_pages_of_a_graph_profile(by: str, on: str, cli: Cli) -> None:
    ran = cli("op", GRAPH_PROFILE, "--by", by, "--on", on)
    assert_fits(ran)
    assert "FLO" in ran.out
    assert ("no compute" in ran.out) == (by != "module")


@pytest.mark.parametrize("page", PAGES, ids=" ".join)
def test_pages_fit_with_long_and_odd_names(page: tuple[str, ...], tmp_path: Path, cli: Cli) -> None:
    long_name = "very_long_kernel_name_" * 12
    events = [
        *device_events(),
        slice_of("kernel", f"{long_name}[bold]", 130, 9, device=0, stream=7, correlation=90),
        slice_of("kernel", "漢字" * 40, 141, 8, device=0, stream=7, correlation=91),
        slice_of("kernel", "[/red] \x1b[31m and \x07 control\r\n", 151, 8, device=0, stream=7, correlation=92),
        slice_of("cpu_op", "[/x]", 110, 1),
    ]
    folder = tmp_path / ("a_long_folder_name_" * 8)
    folder.mkdir()
    command, *options = page
    assert_fits(cli(command, written(folder / "trace.json", events), *options))


@pytest.mark.parametrize("page", [("report",), ("step",), ("op",), ("runs",)], ids=" ".join)
def test_brackets_in_a_path_are_no_markup(page: tuple[str, ...], tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "[" / "x]"
    folder.mkdir(parents=True)
    path = Path(shutil.copy(THREADS, folder / "[bold]t.json"))
    command, *options = page
    cli("import", path)
    ran = cli(command, *(() if command == "runs" else (path,)), *options)
    assert_fits(ran)
    assert "[bold]" in ran.out


def test_brackets_in_values_of_a_query_are_no_markup(cli: Cli) -> None:
    ran = cli("sql", TINY, "SELECT '[/x]' AS a, '[red]b' AS \"[bold]c\"")
    assert ran.code == 0
    assert "[/x]" in ran.out
    assert "[red]b" in ran.out


def test_brackets_in_the_name_of_a_rank_are_no_markup(tmp_path: Path, cli: Cli) -> None:
    for name in ("[a].json", "[b].json"):
        written(tmp_path / name, device_events())
    ran = cli("report", tmp_path)
    assert_fits(ran)
    assert "[a].json" in ran.out


def test_the_report_says_what_matters(cli: Cli) -> None:
    page = cli("report", EXAMPLE).out
    for text in ("4 ranks", "A step takes", "waiting for data", "communication", "▲", "▼"):
        assert text in page
    assert "record_shapes=True" not in page
    assert "record_shapes=True" in cli("report", THREADS).out
    assert "prof.step()" in cli("report", THREADS).out


def test_the_headline_names_compilation_that_fills_a_step(tmp_path: Path, cli: Cli) -> None:
    compilation = slice_of("user_annotation", "_compile.compile_inner (dynamo_timed)", 140, 50)
    page = cli("report", written(tmp_path / "trace.json", [*device_events(), compilation])).out
    assert "compilation fills 25.0 % of the step" in " ".join(page.split())
    assert "compilation" not in cli("report", written(tmp_path / "other.json", device_events())).out


def test_slices_that_start_before_their_launch_returns(tmp_path: Path, cli: Cli) -> None:
    slow = [{**event, "dur": 30} if event["cat"] == "cuda_runtime" else event for event in device_events()]
    page = cli("report", written(tmp_path / "trace.json", slow)).out
    assert "Half of its slices start before their launch returns." in page


def test_the_report_names_what_is_wrong_with_the_data(tmp_path: Path, cli: Cli) -> None:
    whole = written(tmp_path / "whole.json", device_events()).read_bytes()
    (tmp_path / "cut.json").write_bytes(whole[: len(whole) // 2])
    page = cli("report", tmp_path / "cut.json").out
    assert "truncated" in page


def test_a_step_is_drawn_to_scale(cli: Cli) -> None:
    page = cli("step", DDP2, "--step-id", 3).out
    assert "step 3" in page
    assert "█" in page


@pytest.mark.parametrize("command", ["report", "step", "op", "runs", "import", "export", "sql"])
def test_help_fits_80_columns(command: str, cli: Cli) -> None:
    ran = cli(command, "--help")
    assert_fits(ran)
    assert "Examples:" in ran.out


def test_operators_of_several_processors_tell_where_they_ran(tmp_path: Path, cli: Cli) -> None:
    job = write_job(tmp_path / "JOBAA", job_files())
    ran = cli("op", job)
    assert_fits(ran)
    cells = {line.split()[0]: line for line in ran.out.splitlines()[2:]}
    assert "AI Core" in cells["Mul"] and "comm." in cells["AllReduce"] and "AI CPU" in cells["GetNext"]
    alone = cli("op", job, "--in", "device_kind=ai_core").out
    assert "Mul" in alone and "AllReduce" not in alone and "AI Core" not in alone
