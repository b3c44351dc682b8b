"""`laptime report --html`: the file opens from the disk, asks nothing of anyone, and says what the command says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.conftest import EXAMPLE, ROOT
from tests.e2e.pages import SCREENSHOTS, Watched

_BUNDLE = ROOT / "src" / "laptime" / "web" / "static" / "report" / "report.js"
_HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
_MOST_BYTES = 3_000_000

Command = Callable[..., str]


@pytest.fixture
def laptime(tmp_path: Path) -> Command:
    """Runs a command line of laptime; its output."""
    if not _BUNDLE.is_file():
        pytest.skip("the page of reports is not built: make setup")
    environment = {**os.environ, "LAPTIME_WORKSPACE": str(tmp_path / "workspace"), "PYTHONPATH": str(ROOT / "src")}

    def run(*words: object) -> str:
        command = [sys.executable, "-m", "laptime", *map(str, words)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@contextmanager
def _shown(browser: Browser, file: Path, theme: str = "light", *, width: int = 1280) -> Iterator[Watched]:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=theme, offline=True, reduced_motion="reduce"
    )
    context.set_default_timeout(30_000)
    watched = Watched.of(context, file.parent.as_uri())
    requests: list[str] = []
    watched.page.on("request", lambda request: requests.append(request.url))
    watched.page.goto(file.as_uri())
    watched.page.wait_for_selector("main h1")
    watched.settle()
    watched.page.wait_for_function("[...document.querySelectorAll('[role=img] canvas')].every(({width}) => width > 0)")
    yield watched
    assert [url for url in requests if not url.startswith("data:")] == [file.as_uri()]
    assert watched.faults == []
    context.close()


@pytest.mark.parametrize(("lang", "theme"), [("en", "light"), ("zh", "dark")])
def test_the_file_shows_what_the_command_says(
    browser: Browser, laptime: Command, tmp_path: Path, lang: str, theme: str
) -> None:
    file = tmp_path / f"report-{lang}.html"
    laptime("report", EXAMPLE, "--html", file, "--lang", lang)
    assert file.stat().st_size < _MOST_BYTES
    told = json.loads(laptime("report", EXAMPLE, "--json"))
    operators = json.loads(laptime("op", EXAMPLE, "--by", "name", "--limit", 20, "--json"))
    with _shown(browser, file, theme) as watched:
        page = watched.page
        values = set(page.locator("data").evaluate_all("all => all.map(({value}) => value)"))
        budget = told["ranks"][0]["step_summary"]["budget"]
        for part in ("compute_ns", "communication_exposed_ns", "idle_data_wait_ns", "idle_other_ns"):
            assert str(budget[part]) in values, part
        assert {str(row["self_ns"]) for row in operators["rows"]} <= values
        names = page.get_by_role("table", name="按名称统计的算子" if lang == "zh" else "Operators by name")
        expect(names.locator("tbody td:first-child")).to_have_text([row["name"] for row in operators["rows"]])
        expect(page.locator("article")).to_have_count(len(told["findings"]))
        expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", theme)
        expect(page.locator("canvas").nth(4)).to_be_attached()  # charts are drawn after the numbers
        assert watched.serious_faults() == []
        assert watched.overflow() <= 0
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENSHOTS / f"report-{lang}-{theme}.png", full_page=True)
        page.pdf(path=SCREENSHOTS / f"report-{lang}-{theme}.pdf", prefer_css_page_size=True, print_background=True)


def test_on_paper_nothing_is_cut_and_nothing_is_dark(browser: Browser, laptime: Command, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    laptime("report", EXAMPLE, "--html", file)
    with _shown(browser, file, "dark") as watched:
        page = watched.page
        page.emulate_media(media="print", color_scheme="dark")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert _cut(page) == []
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.locator("th").first).to_be_visible()
        expect(page.locator("main [class*=toggle]").first).to_be_hidden()
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")


def _cut(page: Page) -> list[str]:
    """Parts that hold more than they show."""
    return list(
        page.locator("main [role=region]").evaluate_all(
            "all => all.filter((each) => each.scrollHeight > each.clientHeight + 1).map((each) => each.ariaLabel)"
        )
    )


def test_names_in_a_recording_stay_text(browser: Browser, laptime: Command, tmp_path: Path) -> None:
    spans = [(_HOSTILE, 0, 1000, 1), ("<!--<script>", 1000, 500, 1), (_HOSTILE, 2000, 700, 2)]
    events = [
        {"ph": "X", "cat": "cpu_op", "name": name, "ts": start, "dur": dur, "pid": 1, "tid": tid}
        for name, start, dur, tid in spans
    ]
    steps = [
        {
            "ph": "X",
            "cat": "user_annotation",
            "name": f"ProfilerStep#{n}",
            "ts": 1500 * n,
            "dur": 1500,
            "pid": 1,
            "tid": 1,
        }
        for n in range(2)
    ]
    trace = tmp_path / "<b>hostile.pt.trace.json"
    trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [*events, *steps]}), encoding="utf-8")
    file = tmp_path / "report.html"
    laptime("report", trace, "--html", file)
    with _shown(browser, file) as watched:
        page = watched.page
        expect(page.locator("h1")).to_have_text(trace.name)
        expect(page.get_by_role("table", name="Operators by name")).to_contain_text(_HOSTILE)
        time.sleep(0.2)
        assert page.title() == trace.name
        assert page.locator("script").count() == 2
        assert page.locator("main img").count() == 0


def test_a_phone_reads_it_and_chosen_steps_are_told(browser: Browser, laptime: Command, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    laptime("report", EXAMPLE, "--html", file, "--steps", "3-4")
    told = json.loads(laptime("report", EXAMPLE, "--steps", "3-4", "--json"))
    with _shown(browser, file, width=390) as watched:
        expect(watched.page.locator("main")).to_contain_text("steps 3-4 alone")
        values = set(watched.page.locator("data").evaluate_all("all => all.map(({value}) => value)"))
        assert str(told["ranks"][0]["step_summary"]["budget"]["idle_data_wait_ns"]) in values
        assert watched.overflow() <= 0
