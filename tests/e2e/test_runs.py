"""The list of runs, and the frame around every page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.conftest import OpenPage, page_opener
from tests.e2e.pages import Language, Theme, Watched
from tests.e2e.site import Site, serving


@pytest.mark.parametrize(("lang", "theme"), [("en", "light"), ("en", "dark"), ("zh", "light")])
def test_runs_are_listed_and_can_be_read_by_all(open_page: OpenPage, lang: Language, theme: Theme) -> None:
    watched = open_page(lang=lang, theme=theme)
    row = watched.page.locator("tbody tr", has_text="ddp4-gloo")
    expect(row).to_contain_text("78.0\u00a0ms")
    expect(row).to_contain_text("等待数据" if lang == "zh" else "waiting for data")
    expect(watched.page.locator("html")).to_have_attribute("lang", "zh-CN" if lang == "zh" else "en")
    watched.shoot(f"runs-{lang}-{theme}")
    assert watched.serious_faults() == []
    assert watched.overflow() <= 0


def test_search_and_sorting(open_page: OpenPage) -> None:
    watched = open_page()
    names = watched.page.locator("tbody tr td:first-child a")
    watched.page.get_by_role("button", name="Steps", exact=True).click()
    expect(names.first).to_have_text(re.compile("ddp4-gloo|tiny"))
    watched.page.keyboard.press("/")
    watched.page.keyboard.type("tny")
    expect(names).to_have_text(["tiny"])


def test_a_failed_run_says_why(open_page: OpenPage, site: Site) -> None:
    failed = [run for run in site.runs() if run["status"] == "failed"]
    assert [run["name"] for run in failed] == ["damaged"]
    watched = open_page()
    for run in failed:
        expect(watched.page.locator("tbody tr", has_text=str(run["name"]))).to_contain_text(str(run["message"])[:40])


def test_the_page_of_a_failed_run_says_why(open_page: OpenPage, site: Site) -> None:
    (failed,) = [run for run in site.runs() if run["status"] == "failed"]
    what, where, remedy = str(failed["message"]).split(": ")
    note = open_page("damaged").page.get_by_role("alert")
    for part in (what, where, remedy):
        expect(note).to_contain_text(part)
    note = open_page("damaged", lang="zh").page.get_by_role("alert")
    expect(note).to_contain_text(where)
    expect(note).not_to_contain_text(remedy)


def test_keys_and_their_list(open_page: OpenPage) -> None:
    watched = open_page()
    watched.page.keyboard.press("?")
    expect(watched.page.get_by_role("dialog")).to_contain_text("search in the table")
    assert watched.serious_faults() == []
    watched.page.keyboard.press("Escape")
    expect(watched.page.get_by_role("dialog")).to_be_hidden()


def test_a_phone_reads_it(open_page: OpenPage) -> None:
    watched = open_page(width=390, height=780)
    watched.page.get_by_role("button", name="Open the navigation").click()
    expect(watched.page.get_by_role("dialog").get_by_role("link", name="Runs", exact=True)).to_be_visible()
    watched.shoot("runs-phone")
    assert watched.overflow() <= 0


def test_an_empty_folder_explains_itself(browser: Browser, tmp_path: Path) -> None:
    base = tmp_path / "empty"
    base.mkdir()
    with serving(base, tmp_path / "workspace") as site:
        for open_page in page_opener(browser, site):
            watched = open_page()
            expect(watched.page.locator("main")).to_contain_text("laptime open PATH")
            watched.shoot("runs-empty")


def test_the_import_of_a_run_starts_with_its_page(browser: Browser, site: Site, tmp_path: Path) -> None:
    with serving(site.base, tmp_path / "workspace") as fresh:
        for open_page in page_opener(browser, fresh):
            watched = open_page()
            row = watched.page.locator("tbody tr", has_text="tiny")
            row.get_by_role("button", name="Read the recording tiny").click()
            expect(row).to_contain_text("ready", timeout=20_000)  # by an event: the list is asked again after 30 s


def test_what_leaves_the_machine_is_noticed(browser: Browser, site: Site) -> None:
    """The guard that the other tests trust: without the content policy a request to elsewhere is recorded."""
    context = browser.new_context(bypass_csp=True)
    watched = Watched.of(context, site.url)
    watched.page.goto(site.url + "/")
    watched.page.evaluate("fetch('http://laptime.invalid/').catch(() => 0)")
    assert "outside: http://laptime.invalid/" in watched.faults
    context.close()


def test_the_list_fits_on_a_phone(open_page: OpenPage) -> None:
    watched = open_page(width=390, height=780)
    table = watched.page.get_by_role("table")
    assert table.locator("xpath=..").evaluate("place => place.scrollWidth - place.clientWidth") <= 0
    expect(table.get_by_role("row", name="damaged")).to_contain_text("failed")
    watched.page.get_by_role("textbox", name="Search").fill("pytorch")
    expect(table.get_by_role("link")).to_have_count(2)
    assert sorted(table.get_by_role("link").all_inner_texts()) == ["ddp4-gloo", "tiny"]
    assert watched.serious_faults() == []
