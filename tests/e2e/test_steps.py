"""The pages overview and steps: their numbers are those of the commands."""

from __future__ import annotations

import json
import re
import shutil
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.conftest import corpus_folder
from tests.e2e.conftest import OpenPage, page_opener
from tests.e2e.pages import Language, Theme, Watched
from tests.e2e.site import Site, serving

RECORDINGS = {
    "pytorch": "pytorch/hta-dlrm-v100-2rank-r1",
    "raw job": "mindinsight/job3_widedeep_raw",
    "ascend": "ascend/pt-text-level1",
    "megengine": "megengine/loader_starved_workers0",
    "jax": "jax_xplane/jax_cpu_plain",
}
"""One of each kind, in the corpus."""


@pytest.fixture(scope="module")
def real_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server over real recordings of all kinds."""
    corpus = corpus_folder()
    if corpus is None:
        pytest.skip("no corpus: set LAPTIME_CORPUS to the folder of real recordings")
    base = tmp_path_factory.mktemp("real")
    for path in RECORDINGS.values():
        shutil.copytree(corpus / path, base / Path(path).name)
    with serving(base, tmp_path_factory.mktemp("workspace")) as served:
        served.import_all()
        yield served


@pytest.fixture
def open_real(browser: Browser, real_site: Site) -> Iterator[OpenPage]:
    """Opens a page of a real recording."""
    yield from page_opener(browser, real_site)


def told(site: Site, run: str, resource: str) -> dict[str, Any]:
    """The JSON of a command."""
    with urllib.request.urlopen(f"{site.url}/api/runs/{site.run(run)}/{resource}") as answer:
        return dict(json.load(answer))


def exact(watched: Watched, where: str) -> list[int]:
    """Values behind the numbers that are shown."""
    values = watched.page.locator(f"{where} data").evaluate_all("found => found.map(({value}) => value)")
    return [int(value) for value in values if value]


@pytest.mark.parametrize("kind", RECORDINGS)
def test_overview_says_what_the_report_says(open_real: OpenPage, real_site: Site, kind: str) -> None:
    run = Path(RECORDINGS[kind]).name
    watched = open_real(run)
    budget = told(real_site, run, "report")["ranks"][0]["step_summary"]["budget"]
    shown = exact(watched, "section:has([data-testid=headline])")
    for part in ("compute_ns", "communication_exposed_ns", "copy_exposed_ns", "idle_ns"):
        assert budget[part] in shown, part
    expect(watched.page.get_by_role("heading", name="Timeline")).to_be_visible()  # after the answer
    watched.settle()
    timeline = told(real_site, run, "timeline")
    facts = exact(watched, "section:has(h2:text-is('Timeline'))")
    for fact in ("streams", "tasks", "executions", "total_ns"):
        assert timeline[fact] in facts, fact
    top = told(real_site, run, "op?by=op-type&limit=5")["rows"]
    table = watched.page.get_by_role("table", name="Operators that take most time").locator("tbody tr")
    for place, row in enumerate(top):
        expect(table.nth(place)).to_contain_text(row["name"])
    watched.shoot(f"overview-{kind.replace(' ', '-')}")
    assert watched.serious_faults() == []
    assert watched.overflow() <= 0


@pytest.mark.parametrize("kind", RECORDINGS)
def test_steps_are_those_of_the_command(open_real: OpenPage, real_site: Site, kind: str) -> None:
    run = Path(RECORDINGS[kind]).name
    watched = open_real(run, "steps")
    trace = told(real_site, run, "step")
    rows = watched.page.get_by_role("table", name="All steps")
    assert rows.get_attribute("aria-rowcount") == str(len(trace["steps"]) + 1)
    average = trace["average"]
    if average["tail_ns"] is None:
        expect(watched.page.locator("main")).to_contain_text("The parts of the steps are not known")
    else:
        shown = exact(watched, "main")
        parts = {average["interval_ns"], average["forward_backward_ns"], average["tail_ns"]}
        assert parts - {None} <= set(shown)
    for point in ("forward_start_op", "backward_end_op"):
        expect(watched.page.locator("main")).to_contain_text(trace[point] or "not known")
    watched.shoot(f"steps-{kind.replace(' ', '-')}")
    assert watched.serious_faults() == []
    assert watched.overflow() <= 0


def test_a_step_of_322_is_chosen_drawn_and_its_collective_opens(open_real: OpenPage, real_site: Site) -> None:
    run = "job3_widedeep_raw"
    watched = open_real(run, "steps")
    page = watched.page
    box = page.get_by_role("textbox", name="Step from 1 to 322")
    box.fill("323")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator("main")).to_contain_text("No such step: write a number from 1 to 322")
    box.fill("204")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page).to_have_url(re.compile("step=204"))
    step = told(real_site, run, "step?step_id=204")["steps"][0]
    assert step["tail_ns"] in exact(watched, "section:has(h2:text-is('Step 204'))")
    marks = page.locator("section:has(h2:text-is('Step 204')) [data-slice]")
    assert {int(mark) for mark in marks.evaluate_all("found => found.map(({dataset}) => dataset.slice)")} == {
        each["slice_id"] for each in step["communication"]
    }
    longest = max(step["communication"], key=lambda each: int(each["dur_ns"]))
    page.locator(f"[data-slice='{longest['slice_id']}']").click()
    expect(page.get_by_role("dialog")).to_contain_text(longest["name"])
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Average", exact=True).click()
    expect(page).not_to_have_url(re.compile("step=204"))


@pytest.mark.parametrize(("lang", "theme"), [("en", "light"), ("zh", "dark")])
def test_pages_of_the_example(open_page: OpenPage, site: Site, lang: Language, theme: Theme) -> None:
    """Without the corpus: four ranks, of which one waits for its data."""
    watched = open_page("ddp4-gloo", "steps", lang, theme)
    trace = told(site, "ddp4-gloo", "step")
    assert {trace["average"]["interval_ns"], trace["average"]["tail_ns"]} <= set(exact(watched, "main"))
    watched.shoot(f"steps-{lang}-{theme}")
    assert watched.serious_faults() == []
    overview = open_page("ddp4-gloo", "overview", lang, theme, query="chart=pie")
    ranks = told(site, "ddp4-gloo", "report")["ranks"]
    slowest = max(ranks, key=lambda rank: int(rank["step_summary"]["mean_ns"]))["rank"]
    words = f"rank {slowest} 最慢" if lang == "zh" else f"Rank {slowest} is slowest"
    expect(overview.page.locator("main")).to_contain_text(words)
    overview.shoot(f"overview-{lang}-{theme}")
    assert overview.serious_faults() == []


def test_a_chart_is_shown_as_a_table_and_back(open_page: OpenPage, site: Site) -> None:
    watched = open_page("ddp4-gloo", "steps")
    page = watched.page
    chart = page.get_by_role("img", name="Budget of")
    expect(chart.locator("canvas")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Budget of .*As a table")).click()
    expect(chart).to_have_count(0)
    shown = page.get_by_role("region", name="Budget of").get_by_role("table")
    steps = told(site, "ddp4-gloo", "report")["ranks"][0]["steps"]
    expect(shown.locator("tbody tr")).to_have_count(len(steps))
    for row, step in zip(shown.locator("tbody tr").all(), steps, strict=True):
        cells = row.locator("td").all_inner_texts()
        assert cells[:3] == [
            str(step["step"]),
            *(f"{ns:,}\u00a0ns" for ns in (step["dur_ns"], step["budget"]["compute_ns"])),
        ]
    assert watched.serious_faults() == []
    page.get_by_role("button", name=re.compile("^Budget of .*As a chart")).click()
    expect(chart.locator("canvas")).to_be_visible()
    expect(shown).to_have_count(0)


def test_other_points_change_the_parts(open_page: OpenPage, site: Site) -> None:
    watched = open_page("ddp4-gloo", "steps")
    page = watched.page
    page.get_by_text("Use other operators").click()
    page.get_by_label("Operator where forward begins").fill("aten::linear")
    page.get_by_role("button", name="Apply").click()
    expect(page).to_have_url(re.compile("fp=aten"))
    watched.settle()
    average = told(site, "ddp4-gloo", "step?fp_point=aten::linear")["average"]
    assert average["interval_ns"] != told(site, "ddp4-gloo", "step")["average"]["interval_ns"]
    assert average["interval_ns"] in exact(watched, "main")


def test_a_phone_reads_both(open_page: OpenPage) -> None:
    for page in ("overview", "steps"):
        watched = open_page("ddp4-gloo", page, width=390, height=780)
        watched.shoot(f"{page}-phone")
        assert watched.overflow() <= 0


_PERFETTO = """<!doctype html><title>Perfetto</title><script>
addEventListener('message', ({data, source, origin}) => {
  if (data === 'PING') source.postMessage('PONG', origin)
  else document.title = `${data.perfetto.title}: ${new Uint8Array(data.perfetto.buffer.slice(0, 2)).join()}`
})</script>"""


def test_perfetto_gets_the_timeline_by_a_click(open_page: OpenPage) -> None:
    """A stand-in for the tab answers as Perfetto does; the real one is on the internet."""
    watched = open_page("ddp4-gloo", query="steps=3-4")

    def answer(route: Route) -> None:
        route.fulfill(body=_PERFETTO, content_type="text/html")

    watched.page.context.route("https://ui.perfetto.dev/**", answer)
    with watched.page.context.expect_page() as opened:
        watched.page.get_by_role("button", name="Open in Perfetto").click()
    expect(opened.value).to_have_title("ddp4-gloo-steps3-4: 31,139")  # the first bytes of gzip
    expect(watched.page.locator("main")).to_contain_text("Handed to Perfetto")


def test_the_timeline_can_be_taken_along(open_page: OpenPage) -> None:
    watched = open_page("ddp4-gloo", query="rank=1&steps=3-4")
    with watched.page.expect_download() as taken:
        watched.page.get_by_role("link", name="Download: steps 3-4").click()
    assert taken.value.suggested_filename == "ddp4-gloo-rank1-steps3-4.json.gz"
