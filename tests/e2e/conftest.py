"""The browser, the server and pages for tests of the web application.

`open_page(run, page, lang, theme)` opens a page of a run, `open_page()` the list of runs; what goes wrong on any of
them fails the test at its end.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.conftest import EXAMPLE, ROOT, SAMPLES
from tests.e2e.pages import AXE, Language, Theme, Watched
from tests.e2e.site import Site, serving

_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
]

OpenPage = Callable[..., Watched]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium of the system; tests that need it are skipped where something is missing.

    Not for the whole session: while Playwright runs, no other test of this thread can start an event loop.
    """
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no browser: install chromium")
    if not (ROOT / "src" / "laptime" / "web" / "static" / "index.html").is_file() or not AXE.is_file():
        pytest.skip("the pages are not built: make setup")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=_ARGUMENTS)
        yield opened
        opened.close()


def _copied(base: Path) -> Path:
    """Recordings of the repository, as a user would have them in a folder."""
    shutil.copytree(EXAMPLE, base / "ddp4-gloo")
    (base / "tiny").mkdir()
    shutil.copy(SAMPLES / "pytorch" / "tiny_train.pt.trace.json.gz", base / "tiny")
    (base / "damaged").mkdir()
    (base / "damaged" / "host.xplane.pb").write_bytes(bytes(range(255, 0, -1)))
    return base


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server over recordings of the repository, all imported."""
    base = _copied(tmp_path_factory.mktemp("runs"))
    with serving(base, tmp_path_factory.mktemp("workspace")) as served:
        served.import_all()
        yield served


@pytest.fixture
def open_page(browser: Browser, site: Site) -> Iterator[OpenPage]:
    """Opens a page of the site; at the end none may have a fault."""
    yield from page_opener(browser, site)


def page_opener(browser: Browser, site: Site) -> Iterator[OpenPage]:
    """The same for any site, for fixtures of other tests."""
    opened: list[Watched] = []

    def open_page(
        run: str | None = None,
        page: str = "overview",
        lang: Language = "en",
        theme: Theme = "light",
        *,
        query: str = "",
        width: int = 1280,
        height: int = 800,
    ) -> Watched:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion="reduce", locale="en-GB"
        )
        context.set_default_timeout(20_000)
        watched = Watched.of(context, site.url)
        opened.append(watched)
        path = "/" if run is None else f"/runs/{site.run(run)}/{page}"
        watched.page.goto(f"{site.url}{path}?lang={lang}{'&' + query if query else ''}")
        watched.page.wait_for_selector("main h1, main [role=alert]", state="attached")
        watched.settle()
        return watched

    yield open_page
    faults = [fault for watched in opened for fault in watched.faults]
    for watched in opened:
        watched.page.context.close()
    assert not faults
