"""The real server, on a free port, in a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT

_PATIENCE_S = 60
_ENDED = (0, -signal.SIGTERM, 128 + signal.SIGTERM)


@dataclass(frozen=True)
class Site:
    """A server over some base folder."""

    url: str
    base: Path
    process: subprocess.Popen[str]

    def runs(self) -> list[dict[str, object]]:
        """RUN of all runs."""
        return list(self._ask("/api/runs")["runs"])  # type: ignore[call-overload]

    def run(self, name: str) -> str:
        """Id of the run of that name."""
        return next(str(run["run"]) for run in self.runs() if run["name"] == name)

    def import_all(self) -> None:
        """Imports every run, and waits for the last."""
        end = time.monotonic() + _PATIENCE_S
        while self._ask("/api/runs")["scanning"]:  # until then the list may lack runs
            assert time.monotonic() < end, "the folders are still being searched"
            time.sleep(0.1)
        for run in self.runs():
            self._ask(f"/api/runs/{run['run']}/import", method="POST")
        while pending := [run["name"] for run in self.runs() if run["status"] not in ("ready", "failed")]:
            assert time.monotonic() < end, f"not imported: {pending}"
            time.sleep(0.1)

    def _ask(self, path: str, method: str = "GET") -> dict[str, object]:
        with urllib.request.urlopen(urllib.request.Request(self.url + path, method=method)) as answer:
            return dict(json.load(answer))


@contextmanager
def serving(base: Path, workspace: Path) -> Iterator[Site]:
    """`laptime open` on a folder, until the block ends."""
    command = [sys.executable, "-m", "laptime", "open", str(base), "--port", str(_free_port()), "--no-browser"]
    environment = {**os.environ, "LAPTIME_WORKSPACE": str(workspace), "PYTHONPATH": str(ROOT / "src")}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    try:
        assert server.stdout is not None
        line = next((line for line in server.stdout if "http://" in line), "")
        address = re.search(r"http://[\d.:]+", line)
        assert address, f"the server did not say where it listens, but {line!r}"
        yield Site(address[0], base, server)
    finally:
        server.terminate()
        server.communicate(timeout=30)
    assert server.returncode in _ENDED, f"the server ended with {server.returncode}"


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])
