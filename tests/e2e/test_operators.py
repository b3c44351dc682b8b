"""The pages of operators and of the data pipeline: their numbers are those of the commands."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Locator, expect

from laptime.cli.units import time_text
from tests.conftest import SAMPLES, corpus_folder
from tests.docs.blocks import run_laptime
from tests.e2e.conftest import OpenPage, page_opener
from tests.e2e.pages import Language, Theme, Watched
from tests.e2e.site import Site, serving

RECORDINGS = {
    "pytorch": "pytorch/hta-nccl-args-a100",
    "raw job": "mindinsight/job3_widedeep_raw",
    "ascend": "ascend/pt-text-level1",
    "megengine": "megengine/loader_starved_workers1",
    "jax": "jax_xplane/jax_cpu_inputbound",
    "mindspore": "mindspore/ms200-graph-slow-map",
}
"""One of each kind, in the corpus."""
_NAME = ".//td[not(.//button)][1]"


@pytest.fixture(scope="module")
def real_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server over real recordings of all kinds, and one of a loader that laptime watched."""
    base = tmp_path_factory.mktemp("real")
    (base / "plain").mkdir()
    shutil.copy(SAMPLES / "laptime" / "plain.laptime.jsonl", base / "plain")
    corpus = corpus_folder()
    for path in RECORDINGS.values() if corpus else ():
        shutil.copytree(corpus / path, base / Path(path).name)  # type: ignore[operator]  # it is there
    with serving(base, tmp_path_factory.mktemp("workspace")) as served:
        served.import_all()
        yield served


@pytest.fixture
def open_real(browser: Browser, real_site: Site) -> Iterator[OpenPage]:
    """Opens a page of a real recording."""
    yield from page_opener(browser, real_site)


def recording(kind: str) -> str:
    """Name of the run of a kind; skips without the corpus."""
    if corpus_folder() is None:
        pytest.skip("no corpus: set LAPTIME_CORPUS to the folder of real recordings")
    return Path(RECORDINGS[kind]).name


def told(site: Site, run: str, resource: str, **query: str) -> dict[str, Any]:
    """The JSON of a command."""
    with urllib.request.urlopen(f"{site.url}/api/runs/{site.run(run)}/{resource}?{urlencode(query)}") as answer:
        return dict(json.load(answer))


def rows_of(table: Locator) -> list[tuple[str, list[str]]]:
    """Names of the rows that are drawn, and the exact numbers beside them."""
    cells = "cells => cells.map((cell) => cell.title)"
    rows = table.locator("tbody tr[data-at]").all()
    return [
        (
            row.locator(f"xpath={_NAME}").locator("span[title]").first.get_attribute("title") or "",
            row.locator("td.numbers").evaluate_all(cells),
        )
        for row in rows[:6]
    ]


def exact(ns: int | None) -> str:
    """A time with all its digits, as hovering shows it."""
    return "" if ns is None else f"{ns:,}\u00a0ns"


@pytest.mark.parametrize("kind", RECORDINGS)
def test_operators_are_those_of_the_command(open_real: OpenPage, real_site: Site, kind: str) -> None:
    run = recording(kind)
    rows = told(real_site, run, "op", on="device")["rows"]
    watched = open_real(run, "operators")
    expect(watched.page.locator("[data-testid=headline]")).to_contain_text(rows[0]["name"].strip("[]")[:60])
    shown = rows_of(watched.page.get_by_role("table", name="All types"))
    assert [name for name, _ in shown] == [row["name"] for row in rows[: len(shown)]]
    for (_, numbers), row in zip(shown, rows, strict=False):
        assert exact(row["self_ns"]) in numbers
        assert exact(row["total_ns"]) in numbers
    assert watched.serious_faults() == []
    assert watched.overflow() <= 0
    watched.shoot(f"operators-{kind.replace(' ', '-')}")


def test_tabs_by_processor_and_a_type_unfolded(open_real: OpenPage, real_site: Site) -> None:
    run = recording("raw job")
    query = {"on": "device", "in": "device_kind=ai_core"}
    types = told(real_site, run, "op", **query)["rows"]
    watched = open_real(run, "operators")
    watched.page.get_by_role("tab", name="AI Core").click()
    table = watched.page.get_by_role("table", name="All types")
    expect(table.locator("tbody tr[data-at='0']").first).to_contain_text(types[0]["name"])
    table.locator("tbody tr[data-at='0']").first.get_by_role("button", name="Show more").click()
    members = [
        row for row in told(real_site, run, "op", by="name", **query)["rows"] if row["op_type"] == types[0]["name"]
    ]
    inner = watched.page.get_by_role("table", name=f"Operators of type {types[0]['name']}")
    expect(inner.locator("tbody tr[data-at]")).to_have_count(len(members))
    assert {name for name, _ in rows_of(inner)} <= {row["name"] for row in members}
    assert sum(row["self_ns"] for row in members) == types[0]["self_ns"]


def test_details_lead_to_the_slice(open_real: OpenPage, real_site: Site) -> None:
    run = recording("pytorch")
    details = told(real_site, run, "op/details", on="device", name="convolution_backward")
    watched = open_real(run, "operators", query="op=convolution_backward&of=op-type")
    drawer = watched.page.get_by_role("dialog")
    expect(drawer.get_by_role("row", name="Self")).to_contain_text("39.5\u00a0ms")
    values = drawer.locator("table data").evaluate_all("found => found.map(({value}) => value)")
    for side in ("host", "device"):
        assert str(details[side]["self_ns"]) in values
        assert str(details[side]["p90_ns"]) in values
    assert watched.serious_faults() == []
    drawer.locator("ol a").first.click()
    expect(watched.page.get_by_role("dialog")).to_contain_text(f"Slice {details['longest'][0]['slice_id']}")
    watched.page.keyboard.press("Escape")
    expect(watched.page.get_by_role("dialog")).to_contain_text("How long executions take")


def test_the_view_is_kept_in_the_address_and_as_csv(open_page: OpenPage, site: Site) -> None:
    rows = told(site, "ddp4-gloo", "op", on="host", by="name", sort="count")["rows"]
    watched = open_page("ddp4-gloo", "operators", query="by=name&sort=-count&q=convolution")
    table = watched.page.get_by_role("table", name="All operators")
    found = [row for row in rows if "convolution" in f"{row['name']} {row['op_type']}".lower()]
    expect(table.locator("tbody tr[data-at='0']")).to_contain_text(str(found[0]["count"]))
    watched.page.get_by_role("button", name="Mean").click()
    expect(watched.page).to_have_url(re.compile("(?=.*sort=-mean_ns)(?=.*q=convolution)"))
    with watched.page.expect_download() as download:
        watched.page.get_by_role("button", name="CSV").click()
    kept = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text())))
    means = [int(row["mean_ns"]) for row in kept]
    assert means == sorted(means, reverse=True)
    assert {row["name"]: row["self_ns"] for row in found}.items() <= {
        row["name"]: int(row["self_ns"]) for row in kept
    }.items()


def test_operators_on_a_phone_in_chinese_as_a_pie(open_page: OpenPage) -> None:
    watched = open_page("tiny", "operators", lang="zh", theme="dark", query="chart=pie", width=390, height=844)
    expect(watched.page.locator("canvas").first).to_be_visible()
    assert watched.overflow() <= 0
    assert watched.serious_faults() == []
    watched.shoot("operators-phone-zh-dark")


def test_what_is_not_told_says_how_to_record_it(open_page: OpenPage) -> None:
    watched = open_page("tiny", "pipeline", query="tab=processing")
    expect(watched.page.locator("main")).to_contain_text("for batch in prof.watch(loader):")
    assert watched.serious_faults() == []


def test_the_pipeline_of_a_watched_loader(open_real: OpenPage, real_site: Site) -> None:
    bound = told(real_site, "plain", "pipeline")["data_bound"]
    watched = open_real("plain", "pipeline")
    values = watched.page.locator("main data").evaluate_all("found => found.map(({value}) => value)")
    assert {str(bound["mean_wait_ns"]), str(bound["wait_ns"]), str(bound["batches"])} <= set(values)
    watched.page.get_by_role("tab", name="Data processing").click()
    expect(watched.page.get_by_role("button", name="Queue from Loader to Training: 62.5\u00a0% full")).to_be_visible()
    watched.settle()
    assert watched.serious_faults() == []


def test_the_slow_operator_is_ringed(open_real: OpenPage, real_site: Site) -> None:
    run = recording("mindspore")
    pipeline = told(real_site, run, "pipeline")
    watched = open_real(run, "pipeline")
    expect(watched.page.locator("main")).to_contain_text("Empty 43 of 60 times (71.7\u00a0%)")
    watched.shoot("pipeline-interval")
    assert watched.serious_faults() == []
    watched.page.get_by_role("tab", name="Data processing").click()
    expect(watched.page.locator("[data-slow=true]")).to_contain_text(pipeline["bottleneck"]["name"])
    watched.page.get_by_role("button", name="Queue from Generator(id=4) to Map(id=3): 84.9\u00a0% full").click()
    expect(watched.page.get_by_role("heading", name="Queue from Generator(id=4) to Map(id=3)")).to_be_visible()
    expect(watched.page).to_have_url(re.compile("queue=4"))
    watched.settle()
    watched.shoot("pipeline-processing")
    assert watched.serious_faults() == []
    assert watched.overflow() <= 0


@pytest.mark.parametrize("kind", ["pytorch", "raw job", "ascend", "megengine", "jax"])
def test_the_pipeline_of_other_recordings(open_real: OpenPage, real_site: Site, kind: str) -> None:
    run = recording(kind)
    pipeline = told(real_site, run, "pipeline")
    watched = open_real(run, "pipeline", lang="en", theme="dark")
    main = watched.page.locator("main")
    if pipeline["data_bound"] is None and not pipeline["queues"]:
        expect(main).to_contain_text("prof.watch(loader)")
    elif pipeline["data_bound"] is not None:
        values = main.locator("data").evaluate_all("found => found.map(({value}) => value)")
        assert str(pipeline["data_bound"]["wait_ns"]) in values
    assert watched.serious_faults() == []
    assert watched.overflow() <= 0


def chosen_in_header(watched: Watched, steps: str) -> None:
    """Chooses steps as one does, by the control of the header."""
    watched.page.get_by_role("button", name="Steps: all").click()
    watched.page.get_by_role("textbox", name="Steps to count").fill(steps)
    watched.page.get_by_role("button", name="Apply").click()
    expect(watched.page.get_by_role("button", name=f"Steps: {steps}")).to_be_visible()
    watched.settle()


def said(path: Path, *options: str) -> Any:
    """The JSON of the command itself."""
    _, lines = run_laptime(("pipeline", str(path), *options, "--json"))
    return json.loads(lines[-1])


def facts_of(watched: Watched) -> dict[str, str]:
    """What is told of the waits, by name, with all digits."""
    facts = watched.page.locator("main section:has(h2:text-is('From data to training')) dl:has(data) > div")
    pairs = [(each.locator("dt").inner_text(), each.locator("data").get_attribute("value")) for each in facts.all()]
    return {name: value for name, value in pairs if value is not None}


def figures_agree(watched: Watched, expected: dict[str, Any]) -> None:
    """Waits and queues of the page are those of the command."""
    figures, bound, queue = facts_of(watched), expected["data_bound"], expected["queues"][0]
    assert figures["Batches"] == str(bound["batches"])
    assert figures["All waits"] == str(bound["wait_ns"])
    assert figures["Wait for a batch, mean"] == str(bound["mean_wait_ns"])
    assert ("First batch" in figures) == (bound["first_wait_ns"] is not None)
    main = watched.page.locator("main")
    expect(main).to_contain_text(f"Empty {queue['empty_count']} of {queue['samples']} times")


@pytest.mark.parametrize(("run", "steps"), [("plain", "4-7"), ("mindspore", "11-20"), ("mindspore", "60")])
def test_steps_of_the_header_are_those_of_the_command(
    open_real: OpenPage, real_site: Site, run: str, steps: str
) -> None:
    run = run if run == "plain" else recording(run)
    watched = open_real(run, "pipeline")
    whole, part = said(real_site.base / run), said(real_site.base / run, "--steps", steps)
    assert part["data_bound"]["wait_ns"] != whole["data_bound"]["wait_ns"]
    figures_agree(watched, whole)
    chosen_in_header(watched, steps)
    figures_agree(watched, part)
    watched.page.get_by_role("tab", name="Data processing").click()
    watched.settle()
    unknown = any(op["output_queue"] and op["output_queue"]["samples"] is None for op in part["operators"])
    note = watched.page.get_by_text("The queues between operators were recorded over the whole run only")
    expect(note).to_have_count(1 if unknown else 0)
    assert unknown == (run != "plain")
    assert watched.serious_faults() == []
    assert watched.overflow() <= 0
    watched.page.get_by_role("navigation").get_by_role("link", name="Overview").click()
    waited = time_text(part["data_bound"]["wait_ns"]).replace(" us", " µs").replace(" ", "\u00a0")
    words = f"waits for data {waited} in all" if part["data_bound"]["wait_ns"] else "never waits for data"
    expect(watched.page.locator("main")).to_contain_text(words)


def test_steps_change_the_curves_too(open_real: OpenPage, real_site: Site) -> None:
    run = "plain"
    watched = open_real(run, "pipeline", query="steps=7-9")
    samples = told(real_site, run, "pipeline/samples", steps="7-9")
    watched.page.get_by_role("button", name=re.compile("^batches: size.*As a table")).click()
    rows = watched.page.get_by_role("region", name="batches: size").locator("tbody tr")
    expect(rows).to_have_count(len(samples["samples"]))
    assert [row.locator("td").all_inner_texts() for row in rows.all()] == [
        [str(sample["step"]), str(sample["size"])] for sample in samples["samples"]
    ]


@pytest.mark.parametrize(("lang", "theme"), [("en", "light"), ("zh", "dark")])
def test_what_a_range_cannot_tell_is_said(open_real: OpenPage, lang: Language, theme: Theme) -> None:
    run = recording("mindspore")
    watched = open_real(run, "pipeline", lang, theme, query="steps=1")
    first = {"en": "The first batch took 351\u00a0ms", "zh": "第一个批次用时 351\u00a0ms"}[lang]
    expect(watched.page.get_by_test_id("headline")).to_contain_text(first)
    watched.shoot(f"pipeline-first-{lang}-{theme}")
    part = open_real(run, "pipeline", lang, theme, query="steps=11-20&tab=processing&queue=3")
    whole_only = {"en": "Recorded over the whole run only: choose all steps", "zh": "只有整个记录的统计：选择全部迭代"}[
        lang
    ]
    expect(part.page.locator("main")).to_contain_text(whole_only)
    expect(part.page.locator("[data-slow=true]")).to_have_count(0)
    part.shoot(f"pipeline-part-{lang}-{theme}")
    assert watched.serious_faults() == part.serious_faults() == []
