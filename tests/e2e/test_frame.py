"""What stands around the pages of a run: controls, findings, the drawer of a slice, switches."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.conftest import OpenPage, page_opener
from tests.e2e.pages import Language, Theme
from tests.e2e.site import Site, serving


def test_how_to_record_is_said_in_the_language_of_the_page(open_page: OpenPage) -> None:
    for lang, words in (("en", "if there was a device"), ("zh", "若有设备")):
        code = open_page("tiny", "utilisation", lang=lang).page.locator("code", has_text="ProfilerActivity.CUDA")
        expect(code.first).to_contain_text(words)


@pytest.mark.parametrize(("lang", "theme"), [("en", "light"), ("zh", "dark")])
def test_a_page_of_a_run_can_be_read_by_all(open_page: OpenPage, lang: Language, theme: Theme) -> None:
    watched = open_page("ddp4-gloo", lang=lang, theme=theme)
    expect(watched.page.get_by_test_id("headline")).to_contain_text("78.0\u00a0ms")
    expect(watched.page.get_by_role("complementary")).to_contain_text("等待数据" if lang == "zh" else "waits for data")
    watched.shoot(f"frame-{lang}-{theme}")
    assert watched.serious_faults() == []
    assert watched.overflow() <= 0


def test_rank_and_steps_live_in_the_address(open_page: OpenPage) -> None:
    watched = open_page("ddp4-gloo", query="rank=1&steps=3-4")
    page = watched.page
    expect(page.locator("main")).to_contain_text("Mean of 2 steps")
    page.get_by_role("button", name="Steps: 3-4").click()
    page.get_by_label("Steps to count").fill("5")
    page.get_by_role("button", name="Apply").click()
    expect(page).to_have_url(re.compile(r"rank=1.*steps=5"))
    expect(page.locator("main")).to_contain_text("Mean of 1 step")
    page.get_by_role("combobox", name="Rank").click()
    page.get_by_role("option", name="Rank 2").click()
    expect(page).to_have_url(re.compile(r"rank=2.*steps=5"))


def test_findings_open_their_slices(open_page: OpenPage) -> None:
    watched = open_page("ddp4-gloo")
    page = watched.page
    page.get_by_role("complementary").get_by_role("link", name=re.compile("^Slice")).first.click()
    drawer = page.get_by_role("dialog")
    expect(drawer).to_contain_text("Duration")
    expect(drawer).to_contain_text("__next__")
    expect(page).to_have_url(re.compile("slice="))
    watched.settle()
    watched.shoot("slice")
    assert watched.serious_faults() == []
    drawer.get_by_role("link").first.click()
    expect(drawer).to_contain_text("Inside of")
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    expect(page).not_to_have_url(re.compile("slice="))


def test_colours_and_language_are_kept(open_page: OpenPage) -> None:
    watched = open_page("ddp4-gloo")
    page = watched.page
    page.get_by_role("button", name="Colours").click()
    page.get_by_role("menuitem", name="Dark").click()
    page.get_by_role("button", name="Language").click()
    page.get_by_role("menuitem", name="中文").click()
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    page.goto(watched.url + "/")
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    expect(page.locator("main h1")).to_have_text("有哪些训练，各自慢在哪里？")


def test_an_unknown_page_leads_back(open_page: OpenPage) -> None:
    watched = open_page("ddp4-gloo", "nothing")
    watched.page.get_by_role("link", name="Go to the runs").click()
    expect(watched.page.locator("main h1")).to_be_visible()


def test_a_server_that_stops_is_told(browser: Browser, site: Site, tmp_path: Path) -> None:
    with serving(site.base, tmp_path / "workspace") as stopping:
        for open_page in page_opener(browser, stopping):
            watched = open_page()
            stopping.process.terminate()
            expect(watched.page.locator("main [role=alert]")).to_contain_text("The server does not answer")
            expect(watched.page.locator("tbody")).not_to_have_count(0)
            watched.shoot("server-gone")
            watched.faults[:] = [fault for fault in watched.faults if "ERR_CONNECTION_REFUSED" not in fault]


def test_the_server_of_this_machine_needs_no_network(open_page: OpenPage) -> None:
    watched = open_page("ddp4-gloo")
    watched.page.evaluate("dispatchEvent(new Event('offline'))")
    watched.page.get_by_role("link", name="ddp4-gloo").click()
    expect(watched.page.locator("main h1")).to_contain_text("Which training runs")
