"""`laptime advise`: its page, its JSON, its languages; and the report's part of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.cli.recordings import DDP2, LOADER, PATHS, title
from tests.cli.schemas import ADVISE, check
from tests.cli.test_pages import assert_fits
from tests.conftest import EXAMPLE

Json = dict[str, Any]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("path", PATHS, ids=title)
def test_page_fits_80_columns(path: Path, language: str, cli: Cli) -> None:
    assert_fits(cli("advise", path, "--lang", language))


@pytest.mark.parametrize("path", PATHS, ids=title)
def test_json_is_that_of_the_report(path: Path, cli: Cli) -> None:
    advice, report = cli("advise", path, "--json").json, cli("report", path, "--json").json
    check(advice, ADVISE)
    assert advice["findings"] == report["findings"]
    assert advice["not_recorded"] == report["not_recorded"]
    assert cli("report", path, "--json").json["findings"] == report["findings"]  # the stored one


def test_slices_of_the_evidence_open(cli: Cli) -> None:
    found: Json = cli("advise", EXAMPLE, "--json").json["findings"][0]
    for place in found["slices"]:
        shown = cli("slice", EXAMPLE, place["slice_id"], "--rank", found["rank"], "--json").json
        assert shown["slice"]["kind"] == "data"


def test_only_one_rank(cli: Cli) -> None:
    (first, *_) = cli("advise", EXAMPLE, "--rank", "2", "--json").json["findings"]
    assert first["rank"] == 2
    ran = cli("advise", EXAMPLE, "--rank", "9")
    assert (ran.code, ran.out) == (1, "")
    assert "no rank 9" in ran.err


def test_chinese(cli: Cli) -> None:
    ran = cli("advise", LOADER, "--lang", "zh")
    assert "训练等待数据" in ran.out
    assert cli("advise", LOADER, "--lang", "fr").code == 2


def test_report_shows_what_to_change(cli: Cli) -> None:
    ran = cli("report", EXAMPLE)
    page = ran.out.split("What to change\n")[1].split("\n\n")[0]
    assert page.startswith("Training waits for data: 42.1 ms of each step (53.1 %)\n")
    assert "laptime advise" in page


def test_report_without_findings_has_no_such_part(cli: Cli) -> None:
    path = PATHS[0].parent / "threads.pt.trace.json"
    assert cli("advise", path, "--json").json["findings"] == []
    assert "What to change" not in cli("report", path).out
    assert "Nothing found" in cli("advise", path).out


def test_a_part_of_the_recording_has_its_own_findings(cli: Cli) -> None:
    whole = cli("report", DDP2, "--json").json["findings"]
    part = cli("report", DDP2, "--steps", "2", "--json").json["findings"]
    assert [finding["rule"] for finding in part]
    assert part != whole
