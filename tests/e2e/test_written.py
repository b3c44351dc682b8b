"""Pages of recordings that the test writes: a table longer than the page holds, and a run of two devices."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.cli.recordings import Event, device_events, slice_of, written
from tests.e2e.conftest import OpenPage, page_opener
from tests.e2e.site import Site, serving

LENGTH, PART = 6000, 1000
_NAMES = "rows => rows.map((row) => row.querySelector('td span[title]').title)"


def many_operators() -> list[Event]:
    """One execution of each of many operators, whose times are not in the order of their names."""
    at, events = 0, []
    for place in range(LENGTH):
        dur = 1 + place * 7919 % LENGTH
        events.append(slice_of("cpu_op", f"custom::op_{place:04d}", at, dur))
        at += dur + 1
    return events


def two_devices() -> list[Event]:
    """Each kernel of the first device again on the second, half as long."""
    events = device_events()
    kernels = [event for event in events if event["pid"] == 0]
    again = [
        {**event, "pid": 1, "dur": int(event["dur"]) // 2, "args": {**event["args"], "device": 1}}  # type: ignore[call-overload,dict-item]
        for event in kernels
    ]
    return events + again


@pytest.fixture(scope="module")
def written_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server over what is written here."""
    base = tmp_path_factory.mktemp("written")
    for name, events in {"many": many_operators(), "two": two_devices()}.items():
        (base / name).mkdir()
        written(base / name / f"{name}.pt.trace.json", events)
    with serving(base, tmp_path_factory.mktemp("workspace")) as served:
        served.import_all()
        yield served


@pytest.fixture
def open_written(browser: Browser, written_site: Site) -> Iterator[OpenPage]:
    """Opens a page of such a recording."""
    yield from page_opener(browser, written_site)


def told(site: Site, run: str = "many", **query: object) -> dict[str, Any]:
    """What the server says of the operators, by name, for a page of the table."""
    asked = urlencode({"by": "name", "on": "host", "limit": PART, **query})
    with urllib.request.urlopen(f"{site.url}/api/runs/{site.run(run)}/op?{asked}") as answer:
        return dict(json.load(answer))


def names(answer: dict[str, Any], first: int = 8) -> list[str]:
    """Names of its first rows."""
    return [row["name"] for row in answer["rows"]][:first]


def shown_names(table: Locator, first: int = 8) -> list[str]:
    """Names of the first rows that are drawn."""
    drawn = table.locator("tbody tr[data-at]")
    return [str(name) for name in drawn.evaluate_all(_NAMES)][:first]


def test_a_long_table_is_sorted_searched_and_paged_by_the_server(open_written: OpenPage, written_site: Site) -> None:
    watched = open_written("many", "operators", query="by=name")
    page, table = watched.page, watched.page.get_by_role("table", name="All operators")
    assert table.get_attribute("aria-rowcount") == str(LENGTH + 1)
    assert shown_names(table) == names(told(written_site))
    table.get_by_role("button", name="Operator").click()
    table.get_by_role("button", name="Operator").click()
    expect(page).to_have_url(re.compile("sort=-name"))
    watched.settle()
    assert shown_names(table) == names(told(written_site, sort="name", ascending="false"))
    page.get_by_role("textbox", name="Search").fill("op_59")
    expect(page.get_by_role("status").filter(has_text="rows")).to_have_text("100 rows")
    watched.settle()
    found = told(written_site, sort="name", ascending="false", search="op_59")
    assert found["total_rows"] == 100
    assert shown_names(table) == names(found)
    assert watched.serious_faults() == []


def test_a_long_table_keeps_its_place_in_the_address(open_written: OpenPage, written_site: Site) -> None:
    watched = open_written("many", "operators", query="by=name&sort=count&offset=4000")
    page, table = watched.page, watched.page.get_by_role("table", name="All operators")
    rows = told(written_site, sort="count", ascending="true", offset=4000)["rows"]
    on_top = table.locator("tr[data-at='4000']")
    expect(on_top).to_contain_text(rows[0]["name"])
    assert on_top.get_attribute("aria-rowindex") == "4002"
    head = table.locator("thead th").first.bounding_box()
    first = on_top.bounding_box()
    assert head and first and abs(first["y"] - head["y"] - head["height"]) < 2
    place = table.locator("xpath=..")
    place.scroll_into_view_if_needed()
    place.evaluate("place => place.scrollTo(0, place.scrollHeight)")
    last = table.locator(f"tr[data-at='{LENGTH - 1}']")
    expect(last).to_be_in_viewport()
    expect(last).to_contain_text(names(told(written_site, sort="count", ascending="true", offset=5999))[0])
    assert table.locator("tr[data-at]").count() < 100, "rows out of view are drawn too"
    expect(page).to_have_url(re.compile("offset=598"))
    page.get_by_role("textbox", name="Search").fill("op_0123")
    expect(page).not_to_have_url(re.compile("offset="))
    expect(table.locator("tbody tr[data-at]")).to_have_count(1)


def test_an_address_that_means_nothing_shows_the_first_rows(open_written: OpenPage, written_site: Site) -> None:
    watched = open_written("many", "operators", query="sort=nonsense&offset=9999999")
    table = watched.page.get_by_role("table", name="All types")
    assert shown_names(table) == names(told(written_site, by="op-type"))


def test_the_table_by_type_is_asked_for_once(open_written: OpenPage) -> None:
    watched = open_written("two", "operators")
    expect(watched.page.get_by_role("table", name="All types").locator("tr[data-at]")).not_to_have_count(0)
    asked = watched.page.evaluate("performance.getEntriesByType('resource').map(({name}) => name)")
    assert sorted(each.partition("/op?")[2] for each in asked if "/op?" in each) == [
        "on=device&limit=5000&by=op-type",
        "on=host&limit=5000&by=op-type",
    ]


def test_the_device_is_offered_where_it_counts(open_written: OpenPage, written_site: Site) -> None:
    watched = open_written("two", "utilisation")
    page = watched.page
    expect(page.get_by_test_id("headline")).to_contain_text("2 devices")
    page.get_by_role("combobox", name="Device").click()
    page.get_by_role("option", name="Device 1").click()
    expect(page.get_by_test_id("headline")).to_contain_text("29.9")
    page.get_by_role("navigation").get_by_role("link", name="Operators").click()
    expect(page.get_by_role("combobox", name="Device")).to_have_value("Device 1")
    rows = told(written_site, "two", by="op-type", on="device", device=1)["rows"]
    table = page.get_by_role("table", name="All types")
    expect(table.locator("tr[data-at]")).to_have_count(len(rows))
    watched.settle()
    for row in rows:
        shown = table.get_by_role("row").filter(has_text=row["name"]).locator("td.numbers")
        assert f"{row['total_ns']:,}\N{NO-BREAK SPACE}ns" in shown.evaluate_all(
            "cells => cells.map((cell) => cell.title)"
        )
    table.locator("tr[data-at='0'] td.numbers").last.click()
    details = page.get_by_role("dialog")
    expect(details.locator(f"data[value='{rows[0]['total_ns']}']").first).to_be_visible()
    page.keyboard.press("Escape")
    for elsewhere, steps in {"Data pipeline": 1, "Files": 0}.items():
        page.get_by_role("navigation").get_by_role("link", name=elsewhere).click()
        expect(page.locator("main h1")).to_contain_text(elsewhere)
        expect(page.get_by_role("combobox", name="Device")).to_have_count(0)
        expect(page.get_by_role("button", name=re.compile("^Steps"))).to_have_count(steps)
        expect(page).to_have_url(re.compile("device=1"))
