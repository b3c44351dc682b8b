"""The pages of memory, utilisation and files: what they show is what the commands say."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.conftest import EXAMPLE, ROOT, SAMPLES, corpus_folder
from tests.e2e.conftest import OpenPage, page_opener
from tests.e2e.pages import Language, Theme, Watched
from tests.e2e.site import Site, serving

REAL = (
    "pytorch/tl-h100-bert-small",
    "mindinsight/job3_widedeep_raw",
    "ascend/pt-text-level1",
    "megengine/resnet_default",
    "jax_xplane/rocm_te_fused_attn",
)
PAGES = ("memory", "utilisation", "files")


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server over samples with memory, counters and collectives, and over recordings of each kind of the corpus."""
    base = tmp_path_factory.mktemp("evidence")
    (base / "memory").mkdir()
    shutil.copy(SAMPLES / "pytorch" / "memory.pt.trace.json.gz", base / "memory")
    shutil.copytree(SAMPLES / "laptime", base / "plain")
    shutil.copytree(EXAMPLE, base / "ddp4-gloo")
    corpus = corpus_folder()
    for name in REAL if corpus else ():
        shutil.copytree(Path(str(corpus)) / name, base / name.rpartition("/")[2])
    with serving(base, tmp_path_factory.mktemp("workspace")) as served:
        served.import_all()
        yield served


@pytest.fixture
def open_page(browser: Browser, evidence: Site) -> Iterator[OpenPage]:
    yield from page_opener(browser, evidence)


def _said(evidence: Site, run: str, *command: str) -> Any:
    """The JSON of a command."""
    arguments = [sys.executable, "-m", "laptime", *command[:1], str(evidence.base / run), *command[1:], "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return json.loads(subprocess.run(arguments, capture_output=True, check=True, env=environment).stdout)


def _headline(watched: Watched) -> str:
    return watched.page.get_by_test_id("headline").inner_text().replace("\u00a0", " ")


def _mib(size: int) -> str:
    """Three significant digits of MiB or KiB, as the pages write sizes."""
    unit, factor = ("MiB", 2**20) if size >= 2**20 * 0.9995 else ("KiB", 2**10)
    return f"{size / factor:#.3g}".rstrip(".") + f" {unit}"


def test_the_peak_and_what_lives_then_are_those_of_the_command(open_page: OpenPage, evidence: Site) -> None:
    (device,) = _said(evidence, "memory", "memory")["devices"]
    watched = open_page("memory", "memory")
    assert _mib(device["peak_bytes"]) in _headline(watched)
    blocks = watched.page.get_by_role("table", name=re.compile("What lives after"))
    largest = device["live_at_peak"][0]
    expect(blocks.locator("tbody tr").first).to_contain_text(_mib(largest["size_bytes"]).replace(" ", "\u00a0"))
    assert watched.serious_faults() == []
    watched.shoot("memory-en-light")


@pytest.mark.parametrize(("lang", "theme"), [("en", "light"), ("zh", "dark")])
def test_chosen_steps_count_alone(open_page: OpenPage, evidence: Site, lang: Language, theme: Theme) -> None:
    """In the header the steps are chosen; peak, blocks, tables and the overview say what the command says of them."""
    (whole,) = _said(evidence, "memory", "memory")["devices"]
    (device,) = _said(evidence, "memory", "memory", "--steps", "3")["devices"]
    assert whole["peak_at_ns"] < device["peak_at_ns"] and device["allocations"] < whole["allocations"]
    watched = open_page("memory", "memory", lang, theme, query=f"at={whole['peak_at_ns']}")
    page, tables = watched.page, watched.page.locator("main [aria-rowcount]")
    assert _after(whole["peak_at_ns"]) in _headline(watched)
    expect(tables.last).to_have_attribute("aria-rowcount", str(whole["allocations"] + 1))
    page.get_by_role("button", name=re.compile("^(Steps|迭代)")).click()
    page.get_by_role("textbox", name=re.compile("Steps to count|要统计的迭代")).fill("3")
    page.get_by_role("button", name=re.compile("^(Apply|应用)$")).click()
    expect(page).to_have_url(re.compile("steps=3"))
    expect(page.get_by_test_id("headline")).to_contain_text("迭代 3" if lang == "zh" else "In step 3")
    watched.settle()
    assert _mib(device["peak_bytes"]) in _headline(watched) and _after(device["peak_at_ns"]) in _headline(watched)
    expect(tables.last).to_have_attribute("aria-rowcount", str(device["allocations"] + 1))
    # The instant of the address lies outside: the peak of the step takes its place.
    shown = page.get_by_test_id("instant").get_attribute("title")
    assert re.sub(r"\D", "", str(shown)) == str(device["peak_at_ns"])
    expect(tables.first).to_have_attribute("aria-rowcount", str(device["live_at_peak_count"] + 1))
    _blocks_are(tables.first, device["live_at_peak"])
    page.get_by_text("按算子" if lang == "zh" else "By operator", exact=True).click()
    operators = page.get_by_role("table", name=re.compile("By operator|按算子"))
    made = {block["op"] or block["name"] for block in device["live_at_peak"]}
    expect(operators.locator("tbody tr", has_text=sorted(made)[0]).first).to_be_visible()
    assert watched.serious_faults() == []
    watched.shoot(f"memory-steps-{lang}-{theme}")
    overview = open_page("memory", "overview", lang, theme, query="steps=3")
    card = overview.page.locator(
        "section", has=overview.page.get_by_role("heading", name=re.compile("^(Memory|内存)$"))
    )
    expect(card).to_contain_text(_after(device["peak_at_ns"]).replace(" ", "\u00a0"))


def _after(ns: int) -> str:
    """A time of some milliseconds or less, as the pages write times."""
    value, unit = (ns / 1e6, "ms") if ns >= 999_500 else (ns / 1e3, "µs")
    return f"{value:#.3g}".rstrip(".") + f" {unit}"


def _blocks_are(table: Locator, blocks: list[dict[str, Any]]) -> None:
    """The rows begin at the times that the command tells, as hovering shows them."""
    shown = {str(title) for title in table.locator("[title]").evaluate_all("cells => cells.map(({title}) => title)")}
    for block in blocks:
        if block["start_ns"] is not None:
            assert f"{block['start_ns']:,}\u00a0ns" in shown, block


def test_steps_without_a_sample_are_told(open_page: OpenPage) -> None:
    """A recording of totals alone, ten a second: single steps are shorter."""
    watched = open_page("plain", "memory", query="steps=3")
    assert "No total of memory was sampled in the chosen steps" in _headline(watched)
    assert "resident memory" in _headline(open_page("plain", "memory"))


def test_keys_choose_an_instant_that_the_address_keeps(open_page: OpenPage, evidence: Site) -> None:
    watched = open_page("memory", "memory")
    peak = watched.page.get_by_test_id("instant").inner_text()
    watched.page.get_by_role("group", name="Memory over time").press("Home")
    expect(watched.page.get_by_test_id("instant")).not_to_have_text(peak)
    assert "at=0" in watched.page.url
    watched.page.get_by_role("group", name="Memory over time").press("p")
    expect(watched.page.get_by_test_id("instant")).to_have_text(peak)
    assert "at=" not in watched.page.url


def test_allocations_are_sorted_and_searched_by_the_server(open_page: OpenPage, evidence: Site) -> None:
    watched = open_page("memory", "memory", query="by=operator")
    expect(watched.page.get_by_role("table", name="Allocations: By operator").locator("tbody tr").first).to_be_visible()
    watched.page.get_by_text("Each block").click()
    table = watched.page.get_by_role("table", name="Allocations")
    table.get_by_role("button", name="Size").click()
    expect(table.get_by_role("columnheader", name="Size")).to_have_attribute("aria-sort", "ascending")
    assert "sort=size_bytes" in watched.page.url
    table.locator("tbody tr", has_text=re.compile("aten")).first.click()
    expect(watched.page.get_by_role("dialog")).to_contain_text("Slice")


def test_collectives_of_the_host_and_counters(open_page: OpenPage, evidence: Site) -> None:
    watched = open_page("ddp4-gloo", "utilisation")
    expect(watched.page.get_by_role("table", name="Collectives")).to_contain_text("gloo")
    assert watched.serious_faults() == []
    plain = open_page("plain", "utilisation")
    expect(plain.page.locator("main")).to_contain_text("resident memory")


def test_a_query_answers_as_the_command_and_tells_its_faults(open_page: OpenPage, evidence: Site) -> None:
    query = "SELECT kind, count(*) AS n FROM slices GROUP BY kind ORDER BY n DESC"
    rows = _said(evidence, "memory", "sql", query)["rows"]
    watched = open_page("memory", "files")
    box = watched.page.get_by_role("textbox", name="Query")
    box.fill(query)
    box.press("Control+Enter")
    result = watched.page.get_by_role("table", name="Result")
    expect(result.locator("tbody tr")).to_have_count(len(rows))
    assert result.locator("tbody tr").first.inner_text().split() == [rows[0][0], f"{rows[0][1]:,}"]
    assert "sql=SELECT" in watched.page.url
    assert watched.serious_faults() == []
    watched.shoot("files-en-light")


def test_a_name_is_written_where_the_cursor_is(open_page: OpenPage, evidence: Site) -> None:
    watched = open_page("memory", "files")
    watched.page.locator("main details", has_text="slices").first.locator("summary").click()
    watched.page.get_by_role("button", name="dur_ns", exact=True).first.click()
    expect(watched.page.get_by_role("textbox", name="Query")).to_have_value("dur_ns")


def test_what_was_read_is_what_the_report_says(open_page: OpenPage, evidence: Site) -> None:
    report = _said(evidence, "ddp4-gloo", "report")
    read = sum(rank["events"]["read"] for rank in report["ranks"])
    assert f"{read:,} events read" in _headline(open_page("ddp4-gloo", "files"))


@pytest.mark.parametrize("name", REAL)
def test_real_recordings(open_page: OpenPage, evidence: Site, name: str) -> None:
    run = name.rpartition("/")[2]
    if not (evidence.base / run).is_dir():
        pytest.skip("no corpus: set LAPTIME_CORPUS to the folder of real recordings")
    for page in PAGES:
        watched = open_page(run, page, theme="dark")
        expect(watched.page.locator("main section").first).to_be_visible()
        assert watched.overflow() <= 0
        watched.shoot(f"{page}-{run}-dark")
    device, *_ = _said(evidence, run, "report")["ranks"][0]["devices"]
    watched = open_page(run, "utilisation")
    if device["busy_ns"] is not None:
        assert f"{device['busy_ns'] / device['span_ns']:.1%}".replace("%", " %") in _headline(watched)
    assert watched.serious_faults() == []


@pytest.mark.parametrize("page", PAGES)
def test_a_phone_reads_it_in_chinese(open_page: OpenPage, evidence: Site, page: str) -> None:
    watched = open_page("memory", page, lang="zh", width=390, height=780)
    watched.shoot(f"{page}-zh-phone")
    assert watched.overflow() <= 0
