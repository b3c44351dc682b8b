"""`laptime slice`: its JSON, its page, a name for a number, and faults."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from tests.cli.conftest import Cli, Ran
from tests.cli.recordings import PATHS, device_events, slice_of, title, written
from tests.cli.schemas import MAYBE_NS, NS, TEXT, OneOf, check
from tests.conftest import EXAMPLE
from tests.docs.test_coverage import ALL_DOCS

REFERENCE = {
    "slice_id": int,
    "name": str,
    "kind": str,
    "track": TEXT,
    "step": (int, None),
    "start_ns": NS,
    "dur_ns": MAYBE_NS,
}
LINKED = {
    **REFERENCE,
    "link": OneOf("launch", "data", "forward_backward", "async", "queue", "wait"),
    "depth": int,
    "via": int,
    "gap_ns": NS,
}
TENSOR = {"format": TEXT, "data_type": TEXT, "shape": TEXT}
SLICE = {
    "schema_version": int,
    "rank": (int, None),
    "source": str,
    "slice": {
        **REFERENCE,
        "category": TEXT,
        "phase": TEXT,
        "track_kind": str,
        "process": TEXT,
        "device": (int, None),
        "stream": (int, None),
        "self_ns": MAYBE_NS,
        "host_ns": MAYBE_NS,
        "device_ns": MAYBE_NS,
        "device_slices": int,
        "bytes": (int, None),
        "correlation": (int, None),
        "external_id": (int, None),
        "arguments": (dict, str, None),
        "operator": (
            {"name": str, "op_type": TEXT, "full_name": TEXT, "subgraph": TEXT, "module": TEXT},
            None,
        ),
        "inputs": [TENSOR],
        "outputs": [TENSOR],
        "source": TEXT,
        "stack": [{"function": TEXT, "file": TEXT, "line": (int, None)}],
        "parents": [REFERENCE],
        "elsewhere": [REFERENCE],
        "elsewhere_left_out": int,
    },
    "waited_for": [LINKED],
    "waited_by": [LINKED],
    "left_out": {"waited_for": int, "waited_by": int, "candidates": int},
    "candidates": [REFERENCE],
}


@pytest.fixture
def device_trace(tmp_path: Path) -> Path:
    """A recording with device work."""
    return written(tmp_path / "device.json", device_events())


def _assert_fits(ran: Ran) -> None:
    assert ran.code == 0, ran.err
    assert not [line for line in ran.out.splitlines() if cell_len(line) > 80 or "\x1b" in line]


def _keys(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(_keys, value))
    if not isinstance(value, dict):
        return set()
    return set(value).union(*(_keys(inner) for key, inner in value.items() if key != "arguments"))


@pytest.mark.parametrize("path", PATHS, ids=title)
def test_slices_of_all_samples(path: Path, cli: Cli) -> None:
    """The first, a middle and the last one, whatever they are."""
    count = cli("sql", path, "SELECT count(*) FROM slices WHERE rank_index = 0", "--json").json["rows"][0][0]
    for number in (0, count // 3, count // 2, count - 1):
        result = cli("slice", path, number, "--depth", 3, "--json").json
        check(result, SLICE)
        assert result["slice"]["slice_id"] == number
        _assert_fits(cli("slice", path, number, "--depth", 3))
    ran = cli("slice", path, count)
    assert (ran.code, ran.out) == (1, "")
    assert re.search(rf"laptime: no slice {count}: slices 0 to {count - 1} of ", ran.err)


def test_every_key_is_documented(device_trace: Path, cli: Cli) -> None:
    documented = set(re.findall(r"`(\w+)`", ALL_DOCS)) | {"schema_version"}
    result = cli("slice", device_trace, "gemm", "--json").json
    one = cli("slice", device_trace, result["candidates"][0]["slice_id"], "--json").json
    assert not sorted((_keys(result) | _keys(one)) - documented)


def test_a_name_lists_its_slices(device_trace: Path, cli: Cli) -> None:
    result = cli("slice", device_trace, "gemm", "--json").json
    assert (result["slice"], result["waited_for"], result["waited_by"]) == (None, [], [])
    assert [(row["name"], row["step"]) for row in result["candidates"]] == [("gemm", 1), ("gemm", 2)]
    page = cli("slice", device_trace, "gemm")
    _assert_fits(page)
    assert "Slices gemm of" in page.out
    number = result["candidates"][0]["slice_id"]
    assert cli("slice", device_trace, "ProfilerStep#1").out.startswith("Slice ")
    assert f"Slice {number} of" in cli("slice", device_trace, number).out


def test_a_kernel_on_the_page(device_trace: Path, cli: Cli) -> None:
    number = cli("slice", device_trace, "Memcpy HtoD", "--json").json["candidates"][1]["slice_id"]
    page = cli("slice", device_trace, number)
    _assert_fits(page)
    lines = {line.split("  ")[0].strip(): line for line in page.out.splitlines()}
    assert "copy (gpu_memcpy), step 2" in lines["kind"]
    assert "10.0 µs in 1 slice" in lines["device"]
    assert "Waited for" in lines
    assert "queue" in page.out
    assert "launch" in page.out


def test_names_of_any_kind_and_length_fit(tmp_path: Path, cli: Cli) -> None:
    odd = "漢字" * 40 + " [bold] \x1b[31m"
    events = [
        *device_events(),
        slice_of("cpu_op", odd, 205, 5, **{odd: odd, "many": list(range(500)), **{f"k{n}": n for n in range(40)}}),
        slice_of("kernel", odd, 290, 5, device=0, stream=7, correlation=33),
    ]
    path = written(tmp_path / ("x" * 90 + ".json"), events)
    _assert_fits(cli("slice", path, odd))
    for row in cli("slice", path, odd, "--json").json["candidates"]:
        _assert_fits(cli("slice", path, row["slice_id"], "--depth", 2))


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("nosuchname",), 1, "laptime: no slice named nosuchname: "),
        (("99999999999999999999",), 1, "laptime: no slice 99999999999999999999: "),
        (("0", "--depth", "-1"), 2, "--depth"),
        (("0", "--limit", "0"), 2, "--limit"),
        ((), 2, "ID"),
    ],
)
def test_faults(arguments: tuple[str, ...], code: int, text: str, cli: Cli) -> None:
    ran = cli("slice", EXAMPLE, *arguments, *(("--rank", "0") if arguments else ()))
    assert (ran.code, ran.out) == (code, "")
    assert text in ran.err
