"""--from, --to and --steps: how they are typed, what they reach, and how they fail."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from laptime.analyses.parts import Part
from laptime.cli.ranges import nanoseconds, part_of, part_text, step_bounds
from tests.cli.conftest import Cli
from tests.cli.recordings import DDP2, MEMORY_DRAWING, TORCH, device_events, written
from tests.cli.schemas import MEMORY, OP, REPORT, STEP, check
from tests.conftest import SAMPLES

WATCHED = SAMPLES / "laptime" / "plain.laptime.jsonl"
"""A loader with a queue, in six steps: 3, 4, 5, 7, 8 and 9."""


@pytest.fixture
def device_trace(tmp_path: Path) -> Path:
    """Two steps of 100 us, numbered 1 and 2, that begin at 0 and 100 us."""
    return written(tmp_path / "device.json", device_events())


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("12.5ms", 12_500_000),
        ("3s", 3_000_000_000),
        ("800us", 800_000),
        ("800µs", 800_000),
        (" 0.001 us ", 1),
        ("120ns", 120),
        ("120", 120),
        ("0", 0),
        ("1234567890.123456789s", 1_234_567_890_123_456_789),
    ],
)
def test_times(text: str, ns: int) -> None:
    assert nanoseconds(text, "--from") == ns


@pytest.mark.parametrize(
    "text", ["", "ms", "-1ms", "1 min", "1e3", "0.5ns", "1.2345us", "nan", "1" * 19, "9" * 18 + "s"]
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(typer.BadParameter, match=r"is no time|no whole number|longer than any"):
        nanoseconds(text, "--from")


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("3", ((3, 3),)),
        ("3-7", ((3, 7),)),
        ("3-", ((3, None),)),
        ("-7", ((None, 7),)),
        ("3,5", ((3, 3), (5, 5))),
        (" 1 - 2 , 9- ", ((1, 2), (9, None))),
    ],
)
def test_steps(text: str, bounds: object) -> None:
    assert step_bounds(text) == bounds


@pytest.mark.parametrize("text", ["", "-", "a", "3-2", "1,,2", "1-2-3", "1.5"])
def test_what_is_no_list_of_steps(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        step_bounds(text)


def test_a_range_ends_after_it_begins() -> None:
    assert part_of("1us", "1.001us", None) == Part(1000, 1001)
    for begin, end in (("1us", "1us"), ("2us", "1us"), (None, "0")):
        with pytest.raises(typer.BadParameter, match="is not after"):
            part_of(begin, end, None)


def test_what_a_page_says_of_its_part() -> None:
    assert part_text(Part()) == ""
    assert part_text(part_of("1ms", "2.5ms", None)) == ", from 1.00 ms to 2.50 ms"
    assert part_text(part_of(None, None, "3")) == ", step 3"
    assert part_text(part_of("1", None, "3-,1")) == ", steps 3-,1 from 1 ns"


def test_commands_tell_their_range(device_trace: Path, cli: Cli) -> None:
    for command, spec in (("report", REPORT), ("op", OP), ("step", STEP), ("memory", MEMORY)):
        whole = cli(command, device_trace, "--json").json
        check(whole, spec)
        assert whole["range"] is None
        result = cli(command, device_trace, "--steps", "-1", "--json").json
        check(result, spec)
        assert result["range"] == {"from_ns": None, "to_ns": None, "steps": [1]}
        result = cli(command, device_trace, "--from", "100us", "--to", "0.2ms", "--json").json
        check(result, spec)
        assert result["range"] == {"from_ns": 100_000, "to_ns": 200_000, "steps": None}


def test_a_range_halves_what_is_counted(device_trace: Path, cli: Cli) -> None:
    for chosen in (("--steps", "2"), ("--from", "100us")):
        rows = cli("op", device_trace, "--by", "kernel", *chosen, "--json").json["rows"]
        assert {row["name"]: row["count"] for row in rows} == {
            "gemm": 1,
            "Memcpy HtoD": 1,
            "ncclDevKernel_AllReduce_Sum": 1,
        }
        assert [step["step"] for step in cli("step", device_trace, *chosen, "--json").json["steps"]] == [2]
        (rank,) = cli("report", device_trace, *chosen, "--json").json["ranks"]
        assert rank["device_total"]["busy_ns"] == 45_000
        assert rank["step_summary"]["steps_used"] == 1


def test_a_range_of_the_report_is_not_kept(device_trace: Path, cli: Cli) -> None:
    before = cli("report", device_trace, "--json").json
    assert cli("report", device_trace, "--steps", "2", "--json").json != before
    assert cli("report", device_trace, "--json").json == before


def test_the_data_pipeline_of_a_part(cli: Cli) -> None:
    whole = cli("pipeline", WATCHED, "--json").json
    assert whole["range"] is None
    part = cli("pipeline", WATCHED, "--steps", "4-5", "--json").json
    assert part["range"] == {"from_ns": None, "to_ns": None, "steps": [4, 5]}
    assert (part["data_bound"]["batches"], part["queues"][0]["samples"]) == (2, 2)
    assert part["data_bound"]["wait_ns"] < whole["data_bound"]["wait_ns"]
    page = cli("pipeline", WATCHED, "--steps", "4-5").out.splitlines()
    assert page[0].endswith("laptime.jsonl, steps 4-5")
    assert page[1].startswith("2 batches; training waited ")
    page = cli("pipeline", WATCHED, "--from", "0", "--to", "1ns").out
    assert "How long training waited for data in this part was not recorded." in page
    assert "no sample" in page


@pytest.mark.corpus
def test_what_is_known_of_all_steps_only_is_said(corpus: Path, cli: Cli) -> None:
    recording = corpus / "mindspore" / "ms200-graph-slow-map"
    words = "Queues between operators were recorded over the whole run only; leave out"
    assert words not in cli("pipeline", recording).out
    page = cli("pipeline", recording, "--steps", "7-9").out
    assert words in page
    assert "not known" in page
    assert "Slowest operator" not in page
    job = cli("pipeline", corpus / "mindinsight" / "job3_widedeep_raw", "--steps", "2-3").out
    assert "Sizes of the queue transfer were recorded over the whole run only" in job
    assert "1 batch, the first: 351 ms, for which the loader starts" in cli("pipeline", recording, "--steps", 1).out


def test_memory_of_a_range(cli: Cli) -> None:
    recording = TORCH / "memory.pt.trace.json.gz"
    (whole,) = cli("memory", recording, "--json").json["devices"]
    steps = [step["step"] for step in cli("step", recording, "--json").json["steps"]]
    assert len(steps) > 1
    peaks = []
    for number in steps:
        result = cli("memory", recording, "--steps", number, "--json").json
        check(result, MEMORY)
        assert result["range"]["steps"] == [number]
        (device,) = result["devices"]
        assert device["allocations"] < whole["allocations"]
        assert sum(row["size_bytes"] for row in device["live_at_peak"]) == device["peak_bytes"]
        peaks.append(device["peak_bytes"])
    assert max(peaks) == whole["peak_bytes"]
    (last,) = cli("memory", recording, "--from", f"{whole['peak_at_ns'] + 1}ns", "--json").json["devices"]
    assert last["peak_at_ns"] > whole["peak_at_ns"]
    (early,) = cli("memory", MEMORY_DRAWING, "--to", "10ms", "--json").json["devices"]  # blocks alone, no slices
    assert early["peak_at_ns"] < 10_000_000


@pytest.mark.parametrize("command", ["report", "op", "step", "memory", "pipeline"])
def test_faults_are_one_line(command: str, device_trace: Path, cli: Cli) -> None:
    ran = cli(command, device_trace, "--steps", "7", "--json")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "laptime: no step 7: step numbers 1, 2: choose some of these\n"
    ran = cli(command, device_trace, "--from", "1s", "--json")
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    for wrong in (("--steps", "x"), ("--from", "1 min"), ("--from", "2us", "--to", "1us")):
        ran = cli(command, device_trace, *wrong)
        assert (ran.code, ran.out) == (2, "")
        assert wrong[-2] in ran.err


def test_pages_say_which_part(device_trace: Path, cli: Cli) -> None:
    assert "steps 1-, from 10.0 µs" not in cli("op", device_trace).out
    assert ", steps 1- from 1.00 µs: device time" in cli("op", device_trace, "--steps", "1-", "--from", "1us").out
    assert ", step 2\n" in cli("step", device_trace, "--steps", 2).out
    page = cli("memory", TORCH / "memory.pt.trace.json.gz", "--from", "500us", "--to", "1ms").out
    curve = page.split("lives at the peak")[0]
    assert ", from 500 µs to 1.00 ms" in " ".join(curve.split())
    assert curve.splitlines()[-1].split() == ["500", "µs", "1.00", "ms"]
    page = cli("report", device_trace, "--to", "50us").out
    assert ", to 50.0 µs\n" in page
    assert "Range budget on the device, of 50.0 µs" in page


def test_by_track_names_the_track(cli: Cli, device_trace: Path) -> None:
    rows = cli("op", device_trace, "--by", "track", "--filter", "track=stream", "--sort", "name", "--json").json["rows"]
    assert next((row["track"], row["name"], row["wall_ns"]) for row in rows) == ("stream 7", "Memcpy HtoD", 20_000)
    assert "thread 1: aten::mm" in cli("op", device_trace, "--by", "track", "--on", "host").out
    assert cli("op", DDP2, "--by", "name", "--filter", "track=x").code == 1
