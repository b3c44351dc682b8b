"""A page of the web application in a real browser, and what must never happen on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Route, expect

from tests.conftest import ROOT

AXE = ROOT / "ui" / "node_modules" / "axe-core" / "axe.min.js"
SCREENSHOTS = ROOT / "build" / "screenshots"

Theme = Literal["light", "dark"]
Language = Literal["en", "zh"]

_WATCH_POLICY = """
document.addEventListener('securitypolicyviolation', (event) =>
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`))
"""
_SERIOUS = """
async () => (await axe.run(document, {resultTypes: ['violations']})).violations
  .filter(({impact}) => impact === 'serious' || impact === 'critical')
  .map(({id, help, nodes}) => `${id}: ${help}: ${nodes.slice(0, 3).map(({html}) => html.slice(0, 160)).join(' | ')}`)
"""


@dataclass
class Watched:
    """A page that notes what goes wrong: console errors, violations of the policy, requests to elsewhere."""

    page: Page
    url: str
    faults: list[str] = field(default_factory=list)

    @staticmethod
    def of(context: BrowserContext, url: str) -> Watched:
        watched = Watched(context.new_page(), url)
        context.route("**/*", watched._admit)
        watched.page.add_init_script(_WATCH_POLICY)
        watched.page.on("console", watched._hear)
        watched.page.on("pageerror", lambda error: watched.faults.append(f"page: {error}"))
        watched.page.on("websocket", lambda socket: watched.faults.append(f"outside: {socket.url}"))
        return watched

    def settle(self) -> None:
        """Waits until what the page asked for has come."""
        expect(self.page.locator(".mantine-Skeleton-root, [aria-busy=true]")).to_have_count(0, timeout=20_000)
        self.page.evaluate("document.fonts.ready")

    def serious_faults(self) -> list[str]:
        """What axe finds to be serious or worse."""
        self.page.evaluate(AXE.read_text(encoding="utf-8") + "\n;0")
        return list(self.page.evaluate(_SERIOUS))

    def shoot(self, name: str) -> Path:
        """Keeps a picture of the page."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{name}.png"
        self.page.screenshot(path=path)
        return path

    def overflow(self) -> int:
        """Pixels that the page is wider than its window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - innerWidth"))

    def _admit(self, route: Route) -> None:
        if route.request.url.startswith((self.url + "/", "data:", "blob:")):
            route.continue_()
            return
        self.faults.append(f"outside: {route.request.url}")
        route.abort()

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"console: {message.text} ({message.location.get('url', '')})")
